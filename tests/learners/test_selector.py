"""Which model goes live: by name, certified without any assumption about training."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from replearn import NotCertifiedWarning
from replearn.learners import ReplicableSelector


def _draw(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, (X[:, 0] + rng.standard_normal(n) > 0).astype(int)


@pytest.fixture(scope="module")
def models():
    X, y = _draw(400, 0)
    return {
        "line": LogisticRegression().fit(X, y),
        "stump": DecisionTreeClassifier(max_depth=1).fit(X, y),
        "tree": DecisionTreeClassifier(random_state=0).fit(X, y),
    }


def test_chooses_delegates_and_certifies(models):
    X, y = _draw(60_000, 1)
    choice = ReplicableSelector(models, rho=0.2, alpha=0.15, shared_key="k").fit(X, y)
    choice.certificate_.check()
    assert choice.certificate_.certified
    np.testing.assert_array_equal(choice.predict(X[:50]), choice.selected_.predict(X[:50]))
    assert choice.score(X, y) == pytest.approx(1 - choice.selection_.error)
    assert choice.predict_proba(X[:5]).shape == (5, 2)


def test_the_name_counts_not_the_place(models):
    X, y = _draw(60_000, 1)
    for key in range(4):
        names = set()
        for order in (list(models), list(models)[::-1]):
            listed = {name: models[name] for name in order}
            choice = ReplicableSelector(listed, rho=0.2, alpha=0.15, shared_key=key).fit(X, y)
            names.add(choice.selected_name_)
        assert len(names) == 1


def test_says_when_the_sample_is_too_small(models):
    X, y = _draw(500, 1)
    with pytest.warns(NotCertifiedWarning, match="requested rho=0.1"):
        ReplicableSelector(models).fit(X, y)


def test_clone_keeps_frozen_candidates_and_pickle_the_choice(models):
    X, y = _draw(60_000, 1)
    frozen = {name: FrozenEstimator(model) for name, model in models.items()}
    choice = clone(ReplicableSelector(frozen, rho=0.2, alpha=0.15)).fit(X, y)
    again = pickle.loads(pickle.dumps(choice))
    np.testing.assert_array_equal(again.predict(X), choice.predict(X))


def test_functions_have_no_probabilities():
    X, y = _draw(60_000, 1)
    choice = ReplicableSelector({"rule": lambda X: X[:, 0] > 0}, alpha=0.15).fit(X, y)
    assert not hasattr(choice, "predict_proba")


def test_errors():
    with pytest.raises(ValueError, match="candidates"):
        ReplicableSelector([1, 2]).fit([[1.0]], [1])
    with pytest.raises(ValueError, match="at least one"):
        ReplicableSelector({}).fit([[1.0]], [1])
