"""Agreement of a search, measured on halves of one file; alpha that is too small for n."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from replearn import NotCertifiedWarning
from replearn.learners import ReplicableSearchCV
from replearn.learners.agreement import warn_if_alpha_is_too_small


class Ruler(ClassifierMixin, BaseEstimator):
    """Wrong on the rows whose cell of column ``column`` is below ``error``; learns nothing."""

    def __init__(self, column=0, error=0.3):
        self.column, self.error = column, error

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        X = np.asarray(X)
        return np.where(X[:, self.column] < self.error, 1 - X[:, -1], X[:, -1]).astype(int)


def _table(n, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.random((n, 8)), np.arange(n) % 2])
    return X, X[:, -1].astype(int)


TIES = {"column": list(range(8))}


@pytest.mark.filterwarnings("ignore::replearn.NotCertifiedWarning")
def test_ties_agree_by_shared_numbers_and_not_by_the_best_score():
    X, y = _table(3000)
    search = ReplicableSearchCV(Ruler(), TIES, alpha=0.3, cv=2, shared_key="k").fit(X, y)
    found = search.agreement(X, y, n_splits=12)
    assert found is search.agreement_
    assert found.n_agreeing >= 9
    assert found.n_best_agreeing <= 6
    assert found.lower < found.n_agreeing / 12 <= found.upper
    assert 0.7 < found.over_keys < 1
    assert str(found).startswith(
        f"{found.n_agreeing} of 12 half splits chose the same configuration ("
    )
    assert search.agreement(X, y, n_splits=2) == search.agreement(X, y, n_splits=2)
    # a scale as sharp as this follows the best score
    sharp = ReplicableSearchCV(Ruler(), TIES, alpha=0.001, cv=2).agreement(X, y, n_splits=12)
    assert sharp.over_keys < 0.6
    assert sharp.n_agreeing <= 7


@pytest.mark.filterwarnings("ignore::replearn.NotCertifiedWarning")
def test_a_clear_winner_is_always_chosen():
    X, y = _table(800)
    grid = {"error": [0.05, 0.6]}
    found = ReplicableSearchCV(Ruler(), grid, cv=2).agreement(X, y, n_splits=4)
    assert (found.n_agreeing, found.n_best_agreeing, found.upper) == (4, 4, 1.0)
    assert found.over_keys > 0.999


def test_alpha_that_is_too_small_is_said_before_the_first_training():
    X, y = _table(400)
    trained = []

    class Watched(Ruler):
        def fit(self, X, y):
            trained.append(len(X))
            return super().fit(X, y)

    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCertifiedWarning)
        with pytest.raises(
            NotCertifiedWarning, match=r"alpha=0.02 is too small for 400 rows.*0\.1"
        ):
            ReplicableSearchCV(Watched(), TIES, alpha=0.02).fit(X, y)
    assert not trained
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_alpha_is_too_small(TIES, 400, 0.2, 0.05)
        warn_if_alpha_is_too_small({"column": [1]}, 400, 0.0001, 0.05)
    with pytest.warns(NotCertifiedWarning, match="use more rows"):
        warn_if_alpha_is_too_small(TIES, 5, 0.9, 0.05)


def test_splits_are_counted():
    with pytest.raises(ValueError, match="n_splits"):
        ReplicableSearchCV(Ruler(), TIES).agreement(*_table(40), n_splits=0)
