"""Much of everything: threads, processes, blocks, pairs, fits, classes, columns, long cells."""

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn import audit, load, save
from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points
from tests.factories import voting

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning"),
    pytest.mark.filterwarnings("ignore::replearn.exceptions.ConstantBlocksWarning"),
]


def sample(n, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


def learner(base, n_blocks, **params):
    fixed = {"rho": 0.5, "shared_key": "load", "n_partitions": 1, "max_fits": n_blocks}
    return voting(base, n_blocks=n_blocks, **fixed | params)


BASES = {
    "fast path": DecisionTreeClassifier(max_depth=4),
    "folded": make_pipeline(StandardScaler(), LogisticRegression()),
    "plain loop": KNeighborsClassifier(),
}


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_many_threads_predict_with_one_model(base):
    """64 threads, batches of all sizes; the first questions meet a panel not grouped yet."""
    X, y = sample(1000)
    new, _ = sample(2000, seed=1)
    expected = learner(base, 20).fit(X, y).predict_proba(new)
    model = learner(base, 20).fit(X, y)

    def ask(number):
        rng = np.random.default_rng(number)
        rows = rng.integers(0, len(new), size=int(rng.choice([1, 3, 100, 900])))
        return (model.predict_proba(new[rows]) == expected[rows]).all()

    with ThreadPoolExecutor(64) as pool:
        assert all(pool.map(ask, range(400)))


def test_a_thousand_pairs_of_audit(tmp_path):
    X, y = sample(600)
    whole = {"nb": GaussianNB()}, X, y
    design = {"test_size": 100, "train_size": 100}
    result = audit(*whole, n_pairs=1000, **design, shared_key="k", resume=tmp_path)
    assert result.design.n_pairs == 1000
    assert len(list(tmp_path.glob("contender-*.pair"))) == 1000
    again = audit(*whole, n_pairs=1000, **design, shared_key="k", resume=tmp_path)
    assert again.to_json(timings=False) == result.to_json(timings=False)


def test_ten_thousand_blocks(tmp_path):
    X, y = sample(60_000)
    model = learner(DecisionTreeClassifier(max_depth=2), 10_000).fit(X, y)
    assert len(model.estimators_) == 10_000
    new, _ = sample(300, seed=1)
    save(model, tmp_path / "m.replearn")
    assert (load(tmp_path / "m.replearn", shared_key="load").margin(new) == model.margin(new)).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_sixty_four_processes_with_one_file(tmp_path):
    """Each loads the model, predicts, and saves it again under the same name."""
    X, y = sample(1000)
    new, _ = sample(200, seed=1)
    model, path = (
        learner(DecisionTreeClassifier(max_depth=4), 20).fit(X, y),
        tmp_path / "m.replearn",
    )
    save(model, path)
    np.savez(tmp_path / "new.npz", new=new)
    script = (
        "import os, sys, numpy as np; from replearn import load, save\n"
        f"path, new = {str(path)!r}, np.load({str(tmp_path / 'new.npz')!r})['new']\n"
        f"expected = {hashlib.sha256(model.margin(new).tobytes()).hexdigest()!r}\n"
        "import hashlib\n"
        "def one():\n"
        "    model = load(path, shared_key='load')\n"
        "    save(model, path)\n"
        "    return hashlib.sha256(model.margin(new).tobytes()).hexdigest() == expected\n"
        "children = []\n"
        "for _ in range(64):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        try: good = one()\n"
        "        except BaseException: good = False\n"
        "        os._exit(0 if good else 1)\n"
        "    children.append(child)\n"
        "ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]\n"
        "sys.exit(sum(map(bool, ends)))\n"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", script], check=False, env=env, timeout=900)
    assert done.returncode == 0
    assert [item.name for item in tmp_path.glob("*.replearn")] == ["m.replearn"]


def test_a_thousand_fits_do_not_fill_the_memory():
    """Resident memory after 1000 fits, saves and predictions, against that after 300."""
    script = """
import gc, os, warnings, numpy as np
warnings.simplefilter("ignore")
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from replearn import PointwiseReplicableClassifier
X = np.random.default_rng(0).normal(size=(240, 4)); y = (X[:, 0] > 0).astype(int)
def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20
for turn in range(1000):
    base = GaussianNB() if turn % 2 else DecisionTreeClassifier(max_depth=2 + turn % 3)
    plan = {"n_partitions": 1}
    model = PointwiseReplicableClassifier(base, n_blocks=8, rho=0.5, **plan, shared_key=turn)
    model.fit(X + turn, y).predict(X)
    if turn == 299:
        before = resident()
print(before, resident())
"""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, check=True, env=env, capture_output=True, text=True, timeout=900)
    before, after = map(float, done.stdout.split())
    assert after - before < 10.0, f"{before:.0f} MB after 300 fits, {after:.0f} MB after 1000"


def test_two_hundred_classes(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 4))
    y = np.array([f"class {number}" for number in rng.integers(0, 200, 8000)])
    model = learner(DecisionTreeClassifier(max_depth=6), 10).fit(X, y)
    assert len(model.classes_) == 200
    shares = model.predict_proba(X[:50])
    assert shares.shape == (50, 200)
    assert np.allclose(shares.sum(axis=1), 1)
    save(model, tmp_path / "m.replearn")
    again = load(tmp_path / "m.replearn", shared_key="load")
    assert (again.predict(X[:50]) == model.predict(X[:50])).all()


@pytest.mark.parametrize("base", [LogisticRegression(), GaussianNB()])
def test_five_thousand_columns(base, tmp_path):
    X, y = sample(600, 5000)
    model = learner(base, 10).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    again = learner(base, 10).fit(X[order], y[order])
    assert (again.margin(X[:20]) == model.margin(X[:20])).all()
    save(model, tmp_path / "m.replearn")
    loaded = load(tmp_path / "m.replearn", shared_key="load")
    assert (loaded.margin(X[:20]) == model.margin(X[:20])).all()


def test_cells_of_a_megabyte(tmp_path):
    """Texts of 1 MB each: encoded, learned from, read from a file."""
    pytest.importorskip("pandas")
    from sklearn.feature_extraction.text import CountVectorizer

    rng = np.random.default_rng(0)
    words = np.array(["alpha ", "beta ", "gamma ", "delta "])
    texts = ["".join(words[rng.integers(0, 4, 180_000)]) for _ in range(16)]
    assert min(map(len, texts)) > 900_000
    key = SharedKey("k")
    hashes = key.hashes(as_points(texts))
    assert len(set(hashes.tolist())) == 16
    assert (key.hashes(as_points(texts[::-1]))[::-1] == hashes).all()
    labels = np.arange(16) % 2
    model = learner(make_pipeline(CountVectorizer(), GaussianDense()), 4).fit(texts, labels)
    assert model.predict(texts[:2]).shape == (2,)

    from replearn.tables.files import read_table

    path = tmp_path / "long.csv"
    lines = [f'"{text}",{label}' for text, label in zip(texts, labels, strict=True)]
    path.write_text("\n".join(["text,y", *lines]), encoding="utf-8")
    table = read_table(path)
    assert table.frame["text"].to_list() == [text.strip() for text in texts]


class GaussianDense(GaussianNB):
    """Counts of words as an array."""

    def fit(self, X, y):
        return super().fit(X.toarray(), y)

    def predict(self, X):
        return super().predict(X.toarray())

    def predict_proba(self, X):
        return super().predict_proba(X.toarray())
