"""Bits: same key, data and environment give the same votes, however the work is done.

Run as a script, this file prints the digests of all families: the test of a fresh process.
"""

import hashlib
import json
import subprocess
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import replearn.fastpaths  # noqa: F401  (registers the plug-ins, in this process and in a fresh one)
from replearn import compat
from replearn.execution import fitting
from replearn.execution.fitting import fit_blocks, make_blocks
from replearn.execution.voting import BlockEnsemble
from replearn.randomness.key import SharedKey
from replearn.tables.rows import slice_rows, take_rows

KEY = SharedKey("bits")
N, N_BLOCKS, N_PARTITIONS = 1100, 2, 2


def tables():
    rng = np.random.default_rng(17)
    X = rng.normal(size=(N, 7)) * rng.uniform(0.1, 30, size=7) + rng.normal(size=7)
    y = (X @ rng.normal(size=7) / 20 + rng.normal(size=N) > 0).astype(int)
    city = np.array(["Ulm", "Bern", "Graz"])[rng.integers(0, 3, N)]
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(7)]).assign(city=city)
    counts = sparse.csr_matrix(rng.poisson(0.4, size=(N, 30)).astype(float))
    return {"array": X, "frame": frame, "sparse": counts}, y


def mixed_pipeline(last):
    numbers = [f"x{i}" for i in range(7)]
    return make_pipeline(
        make_column_transformer(
            (StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), ["city"])
        ),
        last,
    )


FAMILIES = {
    "logistic": ("array", LogisticRegression(max_iter=1000)),
    "tree": ("array", DecisionTreeClassifier(max_features=2)),
    "forest": ("array", RandomForestClassifier(n_estimators=5)),
    "boosting": ("array", HistGradientBoostingClassifier(max_iter=6)),
    "bayes": ("array", GaussianNB()),
    "network": ("array", make_pipeline(StandardScaler(), MLPClassifier((9,), tol=0.1))),
    "projection": ("array", make_pipeline(PCA(3), LogisticRegression())),
    "mixed frame": ("frame", mixed_pipeline(LogisticRegression())),
    "mixed frame, trees": ("frame", mixed_pipeline(DecisionTreeClassifier(max_depth=5))),
    "sparse": ("sparse", LogisticRegression()),
}


def fit(name, order=None, n_jobs=None):
    kind, estimator = FAMILIES[name]
    data, y = tables()
    X = data[kind]
    if order is not None:
        X, y = take_rows(X, order), y[order]
    blocks, keys = [], []
    for partition in range(N_PARTITIONS):
        blocks += make_blocks(KEY, X, y, N_BLOCKS, 250, partition=partition)
        keys += [KEY.child("seed", partition, block) for block in range(N_BLOCKS)]
    models = fit_blocks(estimator, X, y, blocks, keys, n_jobs=n_jobs)
    return BlockEnsemble(models, [0, 1], N_PARTITIONS)


@cache
def fitted(name):
    return fit(name)


def answers(panel, X, n_jobs=None):
    return panel.vote_counts(X, n_jobs=n_jobs), panel.soft_scores(X, n_jobs=n_jobs)


@cache
def reference(name):
    return answers(fitted(name), tables()[0][FAMILIES[name][0]])


def assert_same_bits(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert one.tobytes() == other.tobytes()


def digests():
    return {
        name: [hashlib.sha256(part.tobytes()).hexdigest() for part in reference(name)]
        for name in FAMILIES
    }


@pytest.mark.parametrize("name", FAMILIES)
def test_order_of_the_rows_to_predict(name):
    X = tables()[0][FAMILIES[name][0]]
    order = np.random.default_rng(1).permutation(N)
    found = answers(fitted(name), take_rows(X, order))
    assert_same_bits(found, [part[order] for part in reference(name)])


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("name", FAMILIES)
def test_size_of_the_batches(name, size):
    X = tables()[0][FAMILIES[name][0]]
    starts = range(0, N, size) if size > 7 else range(600, 600 + 3 * size, size)
    for start in starts:
        stop = min(start + size, N)
        found = answers(fitted(name), slice_rows(X, start, stop))
        assert_same_bits(found, [part[start:stop] for part in reference(name)])


@pytest.mark.parametrize("name", FAMILIES)
def test_order_of_the_training_file(name):
    order = np.random.default_rng(2).permutation(N)
    X = tables()[0][FAMILIES[name][0]]
    assert_same_bits(answers(fit(name, order), X), reference(name))


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("name", FAMILIES)
def test_workers(name, backend, monkeypatch):
    monkeypatch.setattr(fitting, "_workers_pay", lambda *_: True)
    monkeypatch.setattr("replearn.execution.voting.MIN_ROWS_PER_TASK", 1)
    X = tables()[0][FAMILIES[name][0]]
    with parallel_config(backend):
        panel = fit(name, n_jobs=2)
        running = compat.reusable_executor._executor
        assert_same_bits(answers(panel, X, n_jobs=2), reference(name))
        assert compat.reusable_executor._executor is running, "processes are started once"


@pytest.mark.parametrize("name", ["logistic", "bayes", "projection"])
def test_memory_layout_of_the_table(name):
    X = tables()[0]["array"]
    for table in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        assert_same_bits(answers(fitted(name), table), reference(name))


@pytest.mark.long
def test_fresh_process():
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == digests()


if __name__ == "__main__":
    json.dump(digests(), sys.stdout)
