"""A fit from files is the fit in memory: plan, models, bits, certificate."""

import os
import warnings

import joblib
import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import replearn
from replearn import PointwiseReplicableClassifier
from replearn.outofcore import fit as fitting, fit_files, ordering, pieces
from replearn.outofcore.engines import LocalEngine
from replearn.tables.encoder import TableEncoder

pytestmark = pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
N = 2400


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Several pieces and several buckets, at a size that is quick to fit."""
    monkeypatch.setattr(pieces, "PIECE_BYTES", 1 << 14)
    monkeypatch.setattr(ordering, "ROWS_PER_BUCKET", 500)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    X[1000:1400] = X[:400]  # equal rows, in other pieces of the file
    X[:, 2] = rng.integers(0, 4, N)
    y = X[:, 0] + rng.normal(size=N) > 0
    y[1000:1400] = y[:400]
    return pl.DataFrame({"b": X[:, 0], "a": X[:, 1], "c": X[:, 2].astype(np.int64), "y": y})


def write(frame, place, row_group_size=250):
    frame.write_parquet(place / "rows.parquet", row_group_size=row_group_size)
    return place / "rows.parquet"


def learner(estimator=None, **params):
    params = {"n_blocks": 10, "rho": 0.9, "max_fits": 20, "shared_key": "k"} | params
    return PointwiseReplicableClassifier(estimator or GaussianNB(), **params)


def from_memory(model, frame, container="polars"):
    X, y = frame.drop("y"), frame["y"].to_numpy()
    X = {"polars": X, "pandas": X.to_pandas(), "numpy": X.to_numpy()}[container]
    return model.fit(X, y), X


def assert_same(one, two, X):
    assert one.plan_ == two.plan_
    assert one.certificate_ == two.certificate_
    assert one.joint_variance_ == two.joint_variance_
    assert one.usefulness_ == two.usefulness_
    assert one.n_features_in_ == two.n_features_in_
    assert (one.classes_ == two.classes_).all()
    assert (one.predict_proba(X) == two.predict_proba(X)).all()
    assert (one.predict(X) == two.predict(X)).all()


PLAN = {"n": 2000, "rho": 0.9, "n_blocks": 10, "max_fits": 20, "classes": [False, True]}
SETTINGS = {
    "several partitions": lambda: learner(max_fits=20),
    "logistic regression": lambda: learner(LogisticRegression()),
    "seeds": lambda: learner(DecisionTreeClassifier(max_features=1, max_depth=4)),
    "decimals": lambda: learner(decimals=1),
    "surplus": lambda: learner(plan=replearn.plan(**PLAN), n_blocks=None, rho=0.1, max_fits=None),
    "surplus and decimals": lambda: learner(
        plan=replearn.plan(**PLAN, decimals=1), n_blocks=None, rho=0.1, max_fits=None
    ),
    "soft": lambda: learner(vote="soft"),
    "threshold of each block": lambda: learner(LogisticRegression(), threshold="prevalence"),
    "prevalence of each block": lambda: learner(LogisticRegression(), threshold="prevalence"),
    "masses": lambda: learner(d=4, alpha=0.2, beta=0.1),
}


LONG = set(SETTINGS) - {"several partitions", "recall of each block", "surplus and decimals"}


def some_long(names, long):
    """Mark the names that belong to the long suite."""
    return [pytest.param(name, marks=pytest.mark.long if name in long else ()) for name in names]


@pytest.mark.parametrize("setting", some_long(SETTINGS, LONG))
def test_same_as_in_memory(frame, tmp_path, setting):
    fitted = fit_files(SETTINGS[setting](), write(frame, tmp_path), "y")
    expected, X = from_memory(SETTINGS[setting](), frame)
    assert_same(fitted, expected, X)


@pytest.mark.parametrize("container", some_long(["pandas", "numpy"], ["pandas"]))
def test_same_in_other_containers(frame, tmp_path, container):
    fitted = fit_files(learner(), write(frame, tmp_path), "y", container=container)
    expected, X = from_memory(learner(), frame, container)
    assert_same(fitted, expected, X)


@pytest.mark.long
def test_text_and_several_classes(tmp_path):
    rng = np.random.default_rng(1)
    towns = np.array(["Ulm", "Rom", None])[rng.integers(0, 3, N)]
    size = rng.normal(size=N)
    y = np.array(["low", "mid", "high"])[np.digitize(size + rng.normal(size=N), [-0.5, 0.5])]
    frame = pl.DataFrame({"town": towns, "size": size, "y": y})
    model = make_pipeline(TableEncoder(), LogisticRegression())
    fitted = fit_files(learner(model), write(frame, tmp_path), "y")
    expected, X = from_memory(learner(model), frame)
    assert_same(fitted, expected, X)


def test_the_order_of_the_file_does_not_matter(frame, tmp_path):
    one = fit_files(learner(), write(frame, tmp_path), "y")
    (tmp_path / "parts").mkdir()
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)
    for number, part in enumerate(shuffled.iter_slices(700)):
        part.write_parquet(tmp_path / "parts" / f"{number}.parquet")
    two = fit_files(learner(), tmp_path / "parts", "y")
    assert_same(one, two, frame.drop("y"))


def test_workers_do_not_matter(frame, tmp_path):
    path = write(frame, tmp_path)
    one = fit_files(learner(LogisticRegression()), path, "y")
    with joblib.parallel_config("threading"):
        two = fit_files(learner(LogisticRegression(), n_jobs=2), path, "y")
    assert_same(one, two, frame.drop("y"))


@pytest.mark.long
def test_features_are_chosen(frame, tmp_path):
    fitted = fit_files(learner(), write(frame, tmp_path), "y", features=["c", "a"])
    expected, X = from_memory(learner(), frame.select("c", "a", "y"))
    assert_same(fitted, expected, X)


# -- interrupted -----------------------------------------------------------------------------------
class Stops(Exception):
    pass


def run_until(monkeypatch, step, count):
    """Let the engine stop after so many pieces of one step; return how much is done of each."""
    done = {}
    run = LocalEngine.run

    def counted(self, work, numbers, what):
        def one(number):
            if what == step and done.get(step, 0) >= count:
                raise Stops
            work(number)
            done[what] = done.get(what, 0) + 1

        run(self, one, numbers, what)

    monkeypatch.setattr(LocalEngine, "run", counted)
    return done


STEPS = ["pieces hashed", "buckets ranked", "pieces routed", "blocks fitted"]


@pytest.mark.parametrize("step", some_long(STEPS, STEPS[:3]))
def test_continues_after_an_interruption(frame, tmp_path, monkeypatch, step):
    path, two = write(frame, tmp_path), {"max_fits": 20}
    expected = fit_files(learner(**two), path, "y")
    with monkeypatch.context() as patch:
        before = run_until(patch, step, 3)
        with pytest.raises(Stops):
            fit_files(learner(**two), path, "y", folder=tmp_path / "work")
    after = run_until(monkeypatch, "", 0)
    fitted = fit_files(learner(**two), path, "y", folder=tmp_path / "work")
    assert_same(fitted, expected, frame.drop("y"))
    assert before[step] == 3
    total = {"blocks fitted": 20}
    assert before.get("blocks fitted", 0) + after["blocks fitted"] == total["blocks fitted"]
    n_pieces = before["pieces looked through"]
    assert before["pieces hashed"] + after.get("pieces hashed", 0) == n_pieces
    assert before.get("pieces routed", 0) + after["pieces routed"] == 2 * n_pieces


def test_a_finished_fit_is_read_back(frame, tmp_path, monkeypatch):
    path = write(frame, tmp_path)
    one = fit_files(learner(), path, "y", folder=tmp_path / "work")
    done = run_until(monkeypatch, "", 0)
    two = fit_files(learner(), path, "y", folder=tmp_path / "work")
    assert_same(one, two, frame.drop("y"))
    assert done == {}
    assert not (tmp_path / "work" / "blocks" / "partition-0").exists()


def test_the_folder_of_another_fit_is_refused(frame, tmp_path):
    path = write(frame, tmp_path)
    fit_files(learner(), path, "y", folder=tmp_path / "work")
    with pytest.raises(ValueError, match="not the same key"):
        fit_files(learner(shared_key="other"), path, "y", folder=tmp_path / "work")
    with pytest.raises(ValueError, match="not the same features"):
        fit_files(learner(), path, "y", features=["a"], folder=tmp_path / "work")
    write(frame.head(1500), tmp_path)
    with pytest.raises(ValueError, match="not the same files"):
        fit_files(learner(), path, "y", folder=tmp_path / "work")


def test_the_folder_holds_no_key(frame, tmp_path):
    key = replearn.SharedKey.generate()
    fit_files(learner(shared_key=key), write(frame, tmp_path), "y", folder=tmp_path / "work")
    secret = key.export().split("-")[1]
    for file in (tmp_path / "work").rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert secret.encode() not in content
            assert bytes.fromhex(secret) not in content
    assert (tmp_path / "work").stat().st_mode & 0o077 == 0


SOURCES = {
    "parquet": write,
    "text": lambda frame, place: frame.write_csv(place / "rows.csv") or place / "rows.csv",
    "frame": lambda frame, _: frame,
    "batches": lambda frame, _: iter(frame.to_arrow().to_batches()),
}


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
@pytest.mark.parametrize("kind", SOURCES)
def test_rows_are_for_their_owner_only_in_an_existing_folder_too(frame, tmp_path, kind):
    work = tmp_path / "work"
    work.mkdir(mode=0o755)
    before = os.umask(0o022)
    try:
        fit_files(learner(), SOURCES[kind](frame, tmp_path), "y", folder=work)
    finally:
        os.umask(before)
    found = {path: path.stat().st_mode & 0o777 for path in work.rglob("*")}
    assert any(path.is_file() for path in found)
    assert {mode for path, mode in found.items() if path.is_file()} == {0o600}
    assert {mode for path, mode in found.items() if path.is_dir()} == {0o700}
    assert work.stat().st_mode & 0o777 == 0o755


# -- conditions ------------------------------------------------------------------------------------
class Forgetful(GaussianNB):
    """Depends on a counter, and not on its rows alone."""

    calls = 0

    def fit(self, X, y):
        Forgetful.calls += 1
        super().fit(X, y)
        self.theta_ = self.theta_ + Forgetful.calls
        return self


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::replearn.exceptions.UsefulnessWarning")
def test_blocks_are_fitted_again(frame, tmp_path, monkeypatch):
    trusted = [f"{Forgetful.__module__}.Forgetful"]
    path = write(frame, tmp_path)
    fitted = fit_files(learner(Forgetful(), rho=1.0), path, "y", trusted_types=trusted)
    assert not fitted.certificate_.certified
    assert "fitted again" in str(fitted.certificate_.identity.failed_conditions)


class Ranks(GaussianNB):
    """Depends on the other rows of the batch."""

    def predict_proba(self, X):
        X = np.asarray(X)
        return super().predict_proba(X.argsort(axis=0).argsort(axis=0) / len(X))


def test_rows_are_scored_alone_and_together(frame, tmp_path, monkeypatch):
    trusted = [f"{Ranks.__module__}.Ranks"]
    settings = {"rho": 1.0, "vote": "soft"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = learner(Ranks(), **settings)
        fitted = fit_files(model, write(frame, tmp_path), "y", trusted_types=trusted)
        expected, _ = from_memory(learner(Ranks(), **settings), frame)
    failed = fitted.certificate_.identity.failed_conditions
    assert failed == expected.certificate_.identity.failed_conditions
    assert "other rows" in str(failed)


@pytest.mark.long
def test_constant_blocks_are_warned_about(tmp_path):
    rng = np.random.default_rng(6)
    frame = pl.DataFrame({"a": rng.normal(size=N), "y": rng.random(N) < 0.5})
    never = DecisionTreeClassifier(min_samples_leaf=0.9)
    with pytest.warns(
        replearn.exceptions.ConstantBlocksWarning, match="block estimators are constant"
    ) as found:
        fit_files(learner(never), write(frame, tmp_path), "y")
    with pytest.warns(replearn.exceptions.ConstantBlocksWarning) as expected:
        from_memory(learner(never), frame)
    assert str(found[0].message) == str(expected[0].message)


# -- errors ----------------------------------------------------------------------------------------
def test_errors_say_what_to_do(frame, tmp_path):
    path = write(frame, tmp_path)
    with pytest.raises(TypeError, match="PointwiseReplicableClassifier"):
        fit_files(GaussianNB(), path, "y")
    with pytest.raises(ValueError, match="client= needs folder="):
        fit_files(learner(), path, "y", client="tcp://127.0.0.1:1")
    with pytest.raises(ValueError, match="no column 'z'"):
        fit_files(learner(), path, "z")
    with pytest.raises(ValueError, match="among the features"):
        fit_files(learner(), path, "y", features=["a", "y"])
    with pytest.raises(ValueError, match="does not exist"):
        fit_files(learner(), tmp_path / "none.parquet", "y")
    gaps = frame.with_columns(pl.when(pl.col("a") > 2).then(None).otherwise(pl.col("y")).alias("y"))
    with pytest.raises(ValueError, match="'y' is missing in some rows"):
        fit_files(learner(), write(gaps, tmp_path), "y")
    with pytest.raises(ValueError, match="one class only"):
        fit_files(learner(), write(frame.with_columns(pl.lit(True).alias("y")), tmp_path), "y")


def test_a_failed_fit_leaves_no_half_fitted_learner(frame, tmp_path, monkeypatch):
    model = learner()
    run_until(monkeypatch, "blocks fitted", 3)
    with pytest.raises(Stops):
        fit_files(model, write(frame, tmp_path), "y")
    assert not hasattr(model, "estimators_")
    assert not hasattr(model, "certificate_")


def test_a_tie_at_a_cut_is_refused(tmp_path):
    folder = fitting.Folder(tmp_path)
    order = ordering.Order("o", replearn.SharedKey(0))
    ranks = np.array([5, 9, 9, 12], dtype=np.uint64) << np.uint64(40)
    cells = np.bincount((ranks >> np.uint64(48)).astype(np.intp), minlength=1 << 16)
    starts = np.array([0, 4], dtype=np.int64)
    parts = (starts, cells.astype(np.int64), ranks)
    folder.write(order.rank_file(0), *[part.tobytes() for part in parts])
    found = ordering.find_cuts(folder, order, 1, [1, 3], lambda work: work(0))
    assert found.tolist() == ranks[[1, 3]].tolist()
    with pytest.raises(RuntimeError, match="same 64-bit rank"):
        ordering.find_cuts(folder, order, 1, [2], lambda work: work(0))


def test_a_wide_table_is_sketched_alike(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(1000, 80)).round(3), orient="row")
    frame = frame.with_columns(y=pl.Series(rng.integers(0, 2, 1000) > 0))
    read = fit_files(
        learner(max_fits=10), write(frame, tmp_path, 500), "y", folder=tmp_path / "work"
    )
    kept, X = from_memory(learner(max_fits=10), frame)
    assert_same(read, kept, X)
