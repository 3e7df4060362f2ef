"""Damaged folders of interrupted work: fitted again, or refused; never another result."""

import shutil

import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from replearn import audit
from replearn.persistence.block_folder import resumable
from tests.adversarial.fuzz.damage import damaged, generators, within
from tests.factories import voting

X, Y = make_classification(240, n_informative=4, random_state=0)


def fit(folder):
    base, plan = DecisionTreeClassifier(max_depth=2), {"n_partitions": 1}
    model = voting(base, n_blocks=6, rho=0.5, **plan, shared_key="k")
    return model.fit(X, Y, context=resumable(folder)).margin(X).tobytes()


def measure(folder):
    found = audit({"nb": GaussianNB()}, X, Y, n_pairs=3, shared_key="k", resume=folder)
    return found.to_json(timings=False)


WORK = {"fit": fit, "audit": measure}


def check(kind, home, count, seed):
    """Damage one file or several, and go on; return how often the folder was refused."""
    whole, work, refused = home / "whole", WORK[kind], 0
    expected = work(whole)
    for number, rng in generators(count, seed):
        folder = home / "damaged"
        shutil.copytree(whole, folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        for place in rng.choice(len(files), size=int(rng.integers(1, 4))):
            files[place].write_bytes(damaged(files[place].read_bytes(), rng))
        if rng.random() < 0.2:
            files[int(rng.integers(len(files)))].unlink(missing_ok=True)
        with within(60):
            try:
                assert work(folder) == expected
            except ValueError:
                refused += 1
            except BaseException as error:
                error.add_note(f"folder {number} of seed {seed}")
                raise
        shutil.rmtree(folder)
    return refused


@pytest.mark.parametrize("kind", WORK)
def test_some_damaged_folders(kind, tmp_path):
    assert check(kind, tmp_path, 5, 0) < 5


@pytest.mark.long
@pytest.mark.parametrize("kind", WORK)
def test_damaged_folders(kind, tmp_path):
    assert 0 < check(kind, tmp_path, 400, 1) < 400
