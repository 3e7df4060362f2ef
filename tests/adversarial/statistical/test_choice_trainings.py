"""The search by many trainings against learners that make everything depend on their rows."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from replearn import NotCertifiedWarning
from replearn.bounds import selection_flip_bound_sampled
from replearn.bounds.selection import smallest_sample_search
from replearn.learners import ReplicableSearchCV
from tests.factories import limit

pytestmark = pytest.mark.statistical


class CoinTosser(ClassifierMixin, BaseEstimator):
    """Right on every row or on none, by a coin that the training rows toss.

    The features beside the first are coins: configuration i is right with probability ``p``.
    """

    def __init__(self, coin=1, p=0.5):
        self.coin = coin
        self.p = p

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        # any number of rows toss one fair coin: the sum of uniforms modulo 1 is uniform
        self.right_ = np.asarray(X)[:, self.coin].sum() % 1.0 < self.p
        return self

    def predict(self, X):
        label = np.asarray(X)[:, 0].astype(int)
        return label if self.right_ else 1 - label


N_COINS, SIZE = 4, 4


def _draw(rng, n):
    y = rng.integers(0, 2, n)
    return np.column_stack([y, rng.random((n, N_COINS))]), y


def _differing(model, n, pairs, seed):
    rng, differ = np.random.default_rng(seed), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        for pair in range(pairs):
            model.set_params(shared_key=pair)
            found = {model.fit(*_draw(rng, n)).best_params_["coin"] for _ in range(2)}
            differ += len(found) == 2
    return differ


def test_planned_rows_agree_even_if_every_training_tosses_a_coin():
    rho, pairs = 0.25, 80
    n, _ = smallest_sample_search(rho, 0.6, 0.2, N_COINS, SIZE)
    model = ReplicableSearchCV(
        CoinTosser(), {"coin": [1, 2, 3, 4]}, rho=rho, alpha=0.6, beta=0.2, train_size=SIZE,
        refit=False,
    )  # fmt: skip
    differ = _differing(model, n, pairs, 0)
    assert model.certificate_.certified
    bound = selection_flip_bound_sampled(model.sharpness_, N_COINS, n // (SIZE + 1))
    assert bound <= rho
    assert differ <= limit(pairs, bound)


def test_folds_break_a_promise_that_ignores_training():
    # The same learner, with the false assumption that trainings do not move the error.
    rho, pairs = 0.25, 60
    model = ReplicableSearchCV(
        CoinTosser(), {"coin": [1, 2, 3, 4]}, rho=rho, alpha=0.6, beta=0.2,
        cv=2, drift=0.0, refit=False,
    )  # fmt: skip
    differ = _differing(model, 4000, pairs, 1)
    assert model.certificate_.certified
    assert differ > limit(pairs, rho)


def test_the_better_coin_is_found():
    n, _ = smallest_sample_search(0.5, 0.5, 0.2, 2, SIZE)
    rng, bad, runs = np.random.default_rng(2), 0, 60
    for run in range(runs):
        search = ReplicableSearchCV(
            CoinTosser(), {"coin": [1], "p": [0.2, 0.75]}, rho=0.5, alpha=0.5, beta=0.2,
            train_size=SIZE, refit=False, shared_key=run,
        )  # fmt: skip
        bad += search.fit(*_draw(rng, n)).best_params_["p"] == 0.2
        assert search.certificate_.certified
    assert bad <= limit(runs, 0.2)
