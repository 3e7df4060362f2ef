"""Votes of naive Bayes by one product: the same as feature by feature, whatever the numbers."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from replearn.execution.plugins import BlockModel
from replearn.fastpaths import bayes
from replearn.fastpaths.bayes import GaussianPredictor


def voter_of(X, y, n_models=9, **parameters):
    models = [GaussianNB(**parameters).fit(X[i::n_models], y[i::n_models]) for i in range(n_models)]
    return GaussianPredictor([BlockModel(model, 0, np.array([0, 1])) for model in models])


def counts_of(predictor, X):
    counts = np.zeros((len(X), 1, 2), dtype=np.int32)
    predictor.add_votes(predictor.prepare(X), counts)
    return counts[:, 0, 1]


def counts_by_definition(predictor, X):
    return predictor._second_is_likelier(predictor._log_likelihoods(X)).sum(axis=1)


def ordinary(rng):
    X, y = make_classification(900, 6, n_informative=4, flip_y=0.1, random_state=1)
    return X, y, rng.permutation(X)


def far_from_zero(rng):
    X, y, rows = ordinary(rng)
    return X + 1e9, y, rows + 1e9


def nearly_constant_in_one_class(rng):
    X, y, rows = ordinary(rng)
    return X * np.where(y == 1, 1.0, 1e-7)[:, np.newaxis], y, rows


def outliers(rng):
    X, y, rows = ordinary(rng)
    return X, y, rows * 10.0 ** rng.integers(0, 150, size=(len(rows), 1))


def scales_apart(rng):
    X, y, rows = ordinary(rng)
    scales = 10.0 ** np.array([-6, -3, 0, 3, 6, 1])
    return X * scales, y, rows * scales


def ties(rng):
    # Two classes that mirror each other: rows on the axis are as likely under both.
    half = rng.normal(size=(450, 6)) + 1
    X, y = np.vstack([half, -half]), np.repeat([0, 1], 450)
    rows = rng.normal(size=(600, 6))
    rows[:300] = 0.0
    rows[300:450] = np.nextafter(0.0, 1.0)
    return X, y, rows


WORLDS = [ordinary, far_from_zero, nearly_constant_in_one_class, outliers, scales_apart, ties]


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)
def test_votes_are_those_of_the_sum_feature_by_feature(world):
    X, y, rows = world(np.random.default_rng(0))
    predictor = voter_of(X, y)
    np.testing.assert_array_equal(counts_of(predictor, rows), counts_by_definition(predictor, rows))


def test_without_smoothing_a_constant_feature_leaves_everything_to_the_sum():
    X, y, rows = ordinary(np.random.default_rng(0))
    X[:, 2] = 5.0
    with np.errstate(divide="ignore", invalid="ignore"):
        predictor = voter_of(X, y, var_smoothing=0.0)
        expected = counts_by_definition(predictor, rows)
        np.testing.assert_array_equal(counts_of(predictor, rows), expected)


def test_few_ordinary_rows_are_unsure():
    X, y, rows = ordinary(np.random.default_rng(0))
    _, unsure = voter_of(X, y)._quadratic.compare(rows)
    assert unsure.sum() == 0


def test_ties_need_the_bound(monkeypatch):
    X, y, rows = ties(np.random.default_rng(0))
    predictor = voter_of(X, y)
    assert predictor._quadratic.compare(rows)[1][:450].all()
    monkeypatch.setattr(bayes, "EPSILON", 0.0)
    assert (counts_of(predictor, rows) != counts_by_definition(predictor, rows)).any()
