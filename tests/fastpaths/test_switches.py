"""Every plug-in on or off, every base estimator: the votes are those of the plain loop."""

import os
import subprocess
import sys
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from replearn.execution import plugins
from replearn.execution.constant import ConstantVote
from replearn.execution.fitting import fit_blocks, make_blocks
from replearn.execution.plugins import Plugin, active, plain_loop, register
from replearn.execution.voting import BlockEnsemble, LoopPredictor
from replearn.fastpaths import PLUGINS
from replearn.fastpaths.rowwise import ConstantPredictor, RowwisePredictor
from replearn.randomness.key import SharedKey
from replearn.tables.encoder import TableEncoder

KEY = SharedKey("switches")
N, N_BLOCKS, N_PARTITIONS = 1080, 2, 2
NUMBERS = [f"x{i}" for i in range(5)]


def codes(last):
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return make_pipeline(
        make_column_transformer((SimpleImputer(), NUMBERS), (encoder, ["city"])), last
    )


def levels(last):
    encoder = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(
        make_column_transformer((StandardScaler(), NUMBERS), (encoder, ["city"])), last
    )


BOOSTING = HistGradientBoostingClassifier(max_iter=5)
TREE = DecisionTreeClassifier(max_depth=5)
LOGISTIC = LogisticRegression(max_iter=1000)

LEARNERS = {
    "logistic": ("array", LOGISTIC),
    "ridge": ("array", RidgeClassifier()),
    "sgd": ("array", SGDClassifier()),
    "perceptron": ("array", Perceptron()),
    "linear svc": ("array", make_pipeline(StandardScaler(), LinearSVC())),
    "lda": ("array", LinearDiscriminantAnalysis()),
    "sparse logistic": ("sparse", LOGISTIC),
    "tree": ("array", TREE),
    "extra tree": ("array", ExtraTreeClassifier(max_depth=5)),
    "sparse tree": ("sparse", TREE),
    "forest": ("array", RandomForestClassifier(n_estimators=4)),
    "extra trees": ("array", ExtraTreesClassifier(n_estimators=4)),
    "bayes": ("array", GaussianNB()),
    "boosting": ("array", BOOSTING),
    "dummy": ("array", DummyClassifier()),
    "scaled logistic": ("array", make_pipeline(StandardScaler(), LOGISTIC)),
    "levels, logistic": ("frame", levels(LOGISTIC)),
    "table, logistic": ("frame", make_pipeline(TableEncoder(), LOGISTIC)),
    "codes, tree": ("frame", codes(TREE)),
    "codes, boosting": ("frame", codes(BOOSTING)),
    "table, forest": (
        "frame",
        make_pipeline(TableEncoder(for_trees=True), RandomForestClassifier(n_estimators=4)),
    ),
    "levels, tree": ("frame", levels(TREE)),
    "levels, bayes": ("frame", levels(GaussianNB())),
    "scaled boosting": ("array", make_pipeline(StandardScaler(), BOOSTING)),
    "bernoulli": ("array", BernoulliNB()),
    "neighbours": ("array", KNeighborsClassifier()),
    "scaled neighbours": ("array", make_pipeline(StandardScaler(), KNeighborsClassifier())),
    "projection": ("array", make_pipeline(PCA(3), LOGISTIC)),
}
IS_LINEAR = ("logistic", "lda", "projection")
"""Their probabilities come from products of matrices, whose last bit is nobody's promise."""


@cache
def data(n_classes):
    rng = np.random.default_rng([3, n_classes])
    X = rng.normal(size=(N, 5)) * rng.uniform(0.1, 30, size=5) + rng.normal(size=5)
    score = X @ rng.normal(size=5) / 20 + rng.normal(size=N)
    y = np.clip(np.floor(score + n_classes / 2), 0, n_classes - 1).astype(int)
    city = np.array(["Ulm", "Bern", "Graz"])[rng.integers(0, 3, N)]
    frame = pd.DataFrame(X, columns=NUMBERS).assign(city=city)
    counts = sparse.csr_matrix(rng.poisson(0.4, size=(N, 12)).astype(float))
    return {"array": X, "frame": frame, "sparse": counts}, y


def fit(name, n_classes):
    kind, estimator = LEARNERS[name]
    tables, y = data(n_classes)
    X = tables[kind]
    blocks = make_blocks(KEY, X, y, N_BLOCKS, 150, partition=range(N_PARTITIONS))
    keys = [KEY.child("seed", number) for number in range(len(blocks))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = fit_blocks(estimator, X, y, blocks, keys)
    return BlockEnsemble(models, range(n_classes), N_PARTITIONS)


def votes(panel, name, n_classes):
    X = data(n_classes)[0][LEARNERS[name][0]]
    has_shares = all(hasattr(one.model, "predict_proba") for one in panel._block_models)
    return panel.vote_counts(X), panel.soft_scores(X) if has_shares else np.zeros(0)


@cache
def plain(name, n_classes):
    with plain_loop():
        panel = fit(name, n_classes)
        return panel, votes(panel, name, n_classes)


def assert_same(answer, expected, name):
    np.testing.assert_array_equal(answer[0], expected[0])
    if any(word in name for word in IS_LINEAR):
        np.testing.assert_allclose(answer[1], expected[1], rtol=1e-12, atol=1e-15)
    else:
        assert answer[1].tobytes() == expected[1].tobytes()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", LEARNERS)
def test_votes_with_all_plug_ins_are_those_of_the_plain_loop(name, n_classes):
    assert_same(votes(fit(name, n_classes), name, n_classes), plain(name, n_classes)[1], name)


def test_votes_of_a_mixed_panel_are_those_of_the_plain_loop():
    X, y = data(2)[0]["array"], data(2)[1]
    models = [clone(LEARNERS[name][1]).fit(X[:300], y[:300]) for name in ("tree", "lda", "bayes")]
    panel = BlockEnsemble(
        [*models, ConstantVote(1), ConstantVote(0), BernoulliNB().fit(X, y)], [0, 1]
    )
    counts, shares = panel.vote_counts(X), panel.soft_scores(X)
    with plain_loop():
        np.testing.assert_array_equal(panel.vote_counts(X), counts)
        np.testing.assert_allclose(panel.soft_scores(X), shares, rtol=1e-12)


VOTING = [plugin for plugin in PLUGINS if plugin.predictor not in (None, ConstantPredictor)]


@pytest.mark.parametrize("plugin", VOTING, ids=lambda plugin: plugin.predictor.__name__)
def test_every_plug_in_takes_some_learner(plugin):
    taken = [name for name in LEARNERS if plugin.may_take(LEARNERS[name][1])]
    soft = plugin.predictor is RowwisePredictor  # hard votes of boosting are taken before
    groups = [predictor for name in taken for predictor in plain(name, 2)[0]._grouped(soft=soft)]
    assert plugin.predictor in {type(predictor) for predictor in groups}


@pytest.mark.parametrize("name", LEARNERS)
def test_without_plug_ins_there_is_the_plain_loop_only(name):
    with plain_loop():
        assert [type(predictor) for predictor in plain(name, 2)[0]._grouped(soft=False)] == [
            LoopPredictor
        ]


def test_an_error_inside_switches_the_plug_ins_on_again():
    with pytest.raises(RuntimeError), plain_loop():
        raise RuntimeError
    assert len(active()) == len(PLUGINS)


def test_the_environment_switches_all_off():
    code = "from replearn.execution import plugins; print(len(plugins.active()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "REPLEARN_FASTPATHS": "off"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["0"]


def test_worker_processes_have_the_plug_ins():
    # Whatever is sent to a worker brings a voter or a fit of a plug-in along.
    tasks = (delayed(lambda plugin: active())(plugin) for plugin in PLUGINS[:2])
    assert Parallel(n_jobs=2, backend="loky")(tasks) == [list(PLUGINS)] * 2


def test_a_plug_in_of_ones_own_is_asked_and_can_decline():
    asked = []

    def decline(model, X, y):
        asked.append(type(model))
        return False

    mine = Plugin(frozenset({BernoulliNB}), fit=decline)
    try:
        register(mine)
        assert_same(votes(fit("bernoulli", 2), "bernoulli", 2), plain("bernoulli", 2)[1], "")
        assert set(asked) == {BernoulliNB}
    finally:
        plugins._plugins.remove(mine)
