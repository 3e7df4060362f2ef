"""Determinism: the same bits whatever works beside, however the process is set up."""

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from replearn import PointwiseReplicableClassifier, ScoreReplicableClassifier

from .cases import CASES
from .matrix import bits_of, workers

FEW = (
    "votes: two classes hard",
    "bases: mixed columns",
    "bases: gaussian bayes",
    "score: two classes",
)
SET_UPS = {
    "threads": ("threading", {}),
    "processes": ("loky", {}),
    "dask": ("dask", {}),
    "hash seed 1": ("serial", {"PYTHONHASHSEED": "1"}),
    "hash seed 4294967295": ("serial", {"PYTHONHASHSEED": "4294967295"}),
    "four OpenMP and BLAS threads": (
        "serial",
        {"OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "4"},
    ),
    "another locale and time zone": (
        "serial",
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "Asia/Kathmandu"},
    ),
    "optimised": ("serial", {"PYTHONOPTIMIZE": "1"}),
}


def elsewhere(back_end, names=(), **environment):
    """Return the bits of all cases in a fresh process."""
    path = os.pathsep.join(filter(None, sys.path))
    kept = {"PYTHONPATH": path, **environment}
    command = [sys.executable, "-m", "tests.corpus.matrix", back_end, *names]
    done = subprocess.run(
        command, capture_output=True, check=False, text=True, env=os.environ | kept, timeout=3000
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def plain():
    return elsewhere("serial", PYTHONHASHSEED="0", OMP_NUM_THREADS="1")


@pytest.mark.parametrize("back_end", ["threading"])
def test_some_cases_do_not_depend_on_workers(back_end):
    expected = {name: bits_of(name) for name in FEW}
    with workers(back_end):
        assert {name: bits_of(name) for name in FEW} == expected


@pytest.mark.long
@pytest.mark.parametrize("name", SET_UPS)
def test_no_case_depends_on_the_set_up(name, plain):
    back_end, environment = SET_UPS[name]
    if back_end == "dask" and importlib.util.find_spec("distributed") is None:
        pytest.skip("dask is not installed")
    found = elsewhere(back_end, **environment)
    assert set(found) == set(CASES)
    other = [case for case in CASES if found[case] != plain[case]]
    assert not other


# -- order and batches of rows ---------------------------------------------------------------------
RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5))
Y = RNG.integers(0, 3, 600) % 2 + (X[:, 0] > 1)
NEW = RNG.normal(size=(500, 5))
BASES = {
    "trees": DecisionTreeClassifier(max_depth=4),
    "forests": RandomForestClassifier(5, max_depth=3),
    "boosting": HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5),
    "logistic": LogisticRegression(),
    "scaled": make_pipeline(StandardScaler(), LogisticRegression()),
    "bayes": GaussianNB(),
    "neighbours": KNeighborsClassifier(),
    "kernel": SVC(),
}


def fitted(kind, base, rows):
    few = {"shared_key": "matrix"}
    if kind == "score":
        return ScoreReplicableClassifier(base, n_blocks=4, **few).fit(X[rows], Y[rows])
    learner = PointwiseReplicableClassifier(base, n_blocks=10, rho=0.5, max_fits=10, **few)
    return learner.fit(X[rows], Y[rows])


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
@pytest.mark.filterwarnings(
    "ignore::replearn.exceptions.UsefulnessWarning"
)  # labels are nearly random
@pytest.mark.parametrize("kind", ["votes", "score"])
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "bayes" else pytest.mark.long) for name in BASES],
)
def test_order_and_batches_of_rows(name, kind):
    if kind == "score" and name == "kernel":
        pytest.skip("has no probabilities")
    model = fitted(kind, BASES[name], np.arange(len(Y)))
    expected = model.predict_proba(NEW)
    for seed in range(2):
        order, asked = (
            np.random.default_rng(seed).permutation(size) for size in (len(Y), len(NEW))
        )
        other = fitted(kind, BASES[name], order)
        assert (other.predict_proba(NEW[asked]) == expected[asked]).all()
        assert (other.predict(NEW[asked]) == model.predict(NEW)[asked]).all()
    for size in (1, 7, 200):
        parts = [model.predict_proba(NEW[start : start + size]) for start in range(0, 70, size)]
        assert (np.concatenate(parts)[:70] == expected[:70]).all()
