"""The warning that block models ignore the features, and its silent twins."""

import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from replearn.exceptions import (
    ConstantBlocksWarning,
    NotCertifiedWarning,
    PublicKeyWarning,
    UsefulnessWarning,
)
from replearn.learners import training
from replearn.paper.finite_randomness import FiniteRandomnessClassifier
from tests.factories import voting, whole_models
from tests.populations import FirstRowLearner

N, T = 702, 18  # 39 rows per block: one too few for two leaves of 20
BOOSTING = HistGradientBoostingClassifier(max_iter=3)
UNSPLIT = DecisionTreeClassifier(min_impurity_decrease=9.0)  # its parameters do not say so


def sample(n=N, share=0.5, *, noise=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    score = rng.normal(size=n) if noise else X[:, 0] + 0.3 * rng.normal(size=n)
    return X, (score > np.quantile(score, 1 - share)).astype(int)


def learner(base, **params):
    cut = {"n_blocks": T, "n_partitions": 1, "small_blocks": "keep"}
    params = cut | {"shared_key": "tests"} | params
    return voting(base, **params)


def said_of(model, *data):
    """Everything that a fit says but for its certificate."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", NotCertifiedWarning)
        warnings.simplefilter("ignore", UsefulnessWarning)
        model.fit(*data)
    return [str(one.message) for one in caught if one.category is not PublicKeyWarning]


def fit_silently(model, *data, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NotCertifiedWarning)
        warnings.simplefilter("ignore", UsefulnessWarning)
        return model.fit(*data, **params)


# -- said --------------------------------------------------------------------------------------


def test_boosting_in_blocks_that_it_cannot_split_is_told_before_the_fit():
    X, y = sample()
    with pytest.warns(ConstantBlocksWarning) as caught:
        model = learner(BOOSTING).fit(X, y)
    message = str(caught[0].message)
    for words in (
        "blocks of 39 rows",
        "HistGradientBoostingClassifier with min_samples_leaf=20 predicts a single class",
        "fewer than 40 rows",
        "n_blocks=17 (instead of 18) gives blocks of 40 rows and rho = 0.1026",
        "80 rows per block are useful",
    ):
        assert words in message
    assert len(caught) == 1
    assert len(np.unique(model.predict_proba(X)[:, 1])) == 1  # it is as bad as the warning says


def test_models_that_do_not_split():
    X, y = sample()
    with pytest.warns(ConstantBlocksWarning) as caught:
        model = learner(UNSPLIT).fit(X, y)
    message = str(caught[0].message)
    for words in (
        "16 of the 16 models of DecisionTreeClassifier(min_impurity_decrease=9.0) that were "
        "checked, each trained on 39 rows, give",
        "for all of 256 training rows",
        "although 50% of the labels differ",
        "or the features are unrelated to the labels",
        "min_samples_leaf=5",
        "n_blocks below 18",
    ):
        assert words in message
    assert len(caught) == 1
    assert len(np.unique(model.predict_proba(X)[:, 1])) == 1  # it is as bad as the warning says


@pytest.mark.parametrize(("n_told", "said"), [(7, True), (8, False)])
def test_half_of_the_models_that_are_asked_decide(n_told, said):
    seen = []

    class Sometimes(GaussianNB):
        def predict_proba(self, X):
            seen.append(len(X))
            return super().predict_proba(X if len(seen) > 16 - n_told else X[:1])

    if said:
        with pytest.warns(ConstantBlocksWarning, match="9 of the 16 models of Sometimes"):
            learner(Sometimes()).fit(*sample())
    else:
        fit_silently(learner(Sometimes()), *sample())
    assert seen[:16] == [256] * 16


@pytest.mark.parametrize(
    "data",
    [
        (pd.DataFrame(sample()[0], columns=list("abc")), np.array(["no", "yes"])[sample()[1]]),
        (sample()[0], np.digitize(sample()[0][:, 0], [-0.4, 0.4])),
    ],
    ids=["frame", "three classes"],
)
def test_other_tables_and_labels(data):
    with pytest.warns((ConstantBlocksWarning, NotCertifiedWarning)) as caught:
        learner(BOOSTING).fit(*data)
    assert ConstantBlocksWarning in {item.category for item in caught}


@pytest.mark.parametrize(
    "base",
    [
        DecisionTreeClassifier(min_samples_leaf=20),
        KNeighborsClassifier(39),
        LogisticRegression(C=1e-4, l1_ratio=1, solver="liblinear"),
    ],
    ids=lambda base: type(base).__name__,
)
def test_other_learners_that_ignore_the_features(base):
    with pytest.warns(ConstantBlocksWarning, match=type(base).__name__):
        learner(base).fit(*sample())


def test_groups_are_counted_as_groups():
    groups = np.arange(N) // 2
    with pytest.warns(ConstantBlocksWarning, match="trained on 19 groups, .* or more groups"):
        learner(HistGradientBoostingClassifier(max_iter=3)).fit(*sample(), groups=groups)


def test_blocks_of_one_row():
    with pytest.warns(ConstantBlocksWarning, match="trained on 1 row, "):
        learner(GaussianNB(), n_blocks=N).fit(*sample())


def test_the_approximate_learner_says_so_too():
    cut = {"n_blocks": T, "n_partitions": 1, "small_blocks": "keep"}
    model = whole_models(BOOSTING, **cut)
    with pytest.warns((ConstantBlocksWarning, NotCertifiedWarning)) as caught:
        model.fit(*sample())
    assert ConstantBlocksWarning in {item.category for item in caught}


def test_blocks_behind_shared_thresholds_say_so_too():
    X, y = sample(1003)  # 702 rows train
    with pytest.warns((ConstantBlocksWarning, NotCertifiedWarning)) as caught:
        model = FiniteRandomnessClassifier(BOOSTING, n_blocks=T).fit(X, y)
    said = [item for item in caught if item.category is ConstantBlocksWarning]
    assert len(said) == 1
    assert "trained on 39 rows" in str(said[0].message)
    assert "n_blocks below 18" in str(said[0].message)
    assert said[0].filename == __file__
    assert len(np.unique(model.vote_share(X))) == 1


SIZES = {"min_samples_leaf": [20, 30]}


# -- its silent twins --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "data"),
    [
        (HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5), sample()),
        (BOOSTING, sample(T * 45)),
        (LogisticRegression(), sample()),
        (LogisticRegression(), sample(noise=True)),
        (LogisticRegression(), sample(share=0.2, noise=True)),
        (DecisionTreeClassifier(), sample(noise=True)),
        (LinearSVC(), sample(noise=True)),
        (UNSPLIT, sample(share=0.01)),
        (LogisticRegression(), sample(share=0.01)),
        (UNSPLIT, (np.ones((N, 3)), sample()[1])),
        (DummyClassifier(), sample()),
        (FirstRowLearner(), sample()),
    ],
    ids=[
        "small leaves",
        "larger blocks",
        "an estimator that learns",
        "noise",
        "noise with few positives",
        "noise and a tree",
        "noise and lines",
        "rare positives that a constant ignores",
        "rare positives",
        "equal rows",
        "a dummy",
        "a test of the theory",
    ],
)
def test_silent_twins(base, data):
    assert said_of(learner(base), *data) == []


def test_answers_may_be_constant_where_scores_are_not():
    """Where one label prevails it is a plausible prediction to all, and something was learned."""
    X, y = sample(share=0.1, noise=True)
    model = fit_silently(learner(LogisticRegression(C=0.1)), X, y)
    assert len(np.unique(model.predict(X))) == 1


def test_models_that_cannot_be_asked_are_not_accused():
    assert said_of(learner(RadiusNeighborsClassifier(radius=1e-9)), *sample()) == []


def test_warnings_of_the_probe_are_not_heard():
    class Chatty(GaussianNB):
        def predict_proba(self, X):
            warnings.warn("asked", UserWarning, stacklevel=2)
            return super().predict_proba(X)

    model = fit_silently(learner(Chatty(), vote="soft", rho=0.5), *sample())
    with pytest.warns(UserWarning, match="asked"):
        model.predict(sample()[0])


# -- and nothing else --------------------------------------------------------------------------


@pytest.mark.parametrize("base", [BOOSTING, GaussianNB()], ids=["constant", "not constant"])
@pytest.mark.filterwarnings("ignore::replearn.exceptions.ConstantBlocksWarning")
def test_the_fit_is_the_same_without_the_probe(base, monkeypatch):
    X, y = sample()
    probed = vars(learner(base).fit(X, y))
    monkeypatch.setattr(training, "warn_if_constant", lambda *_, **cut: False)
    assert joblib.hash(vars(learner(base).fit(X, y))) == joblib.hash(probed)


def test_the_rows_that_are_asked_about_do_not_depend_on_the_file():
    asked = []

    class Spy(GaussianNB):
        def predict_proba(self, X):
            asked.append(np.array(X))
            return super().predict_proba(X)

    X, y = sample()
    order = np.random.default_rng(1).permutation(N)
    learner(Spy()).fit(X, y)
    learner(Spy()).fit(X[order], y[order])
    first, second = asked[: len(asked) // 2], asked[len(asked) // 2 :]
    probes = [rows for rows in first if len(rows) == 256]
    assert len(probes) == 8 + 2  # half of the sixteen models clear all; a block fitted twice
    for ours, theirs in zip(first, second, strict=True):
        np.testing.assert_array_equal(ours, theirs)
