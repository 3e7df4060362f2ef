"""PointwiseReplicableRegressor: conventions, identical values, what breaks them."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from replearn import plan
from replearn.exceptions import NotCertifiedWarning
from replearn.learners.regressor import PointwiseReplicableRegressor

quiet = pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
TREE = DecisionTreeRegressor(max_depth=4, random_state=0)


@parametrize_with_checks([PointwiseReplicableRegressor()])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def _draw(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, np.clip(10 * X[:, 0] + rng.normal(0, 3, n), 0, 10)


NEW = np.random.default_rng(99).random((400, 3))


@quiet
def test_predictions_are_middles_of_cells_near_the_mean():
    X, y = _draw(3000, 0)
    model = PointwiseReplicableRegressor(TREE, resolution=2.0, n_blocks=30).fit(X, y)
    mean = np.mean([block.predict(NEW) for block in model.estimators_], axis=0)
    assert np.abs(model.predict(NEW) - mean).max() <= 1.0
    # offsets differ from point to point, and the rounding has no bias over them
    assert len(np.unique(model.predict(NEW) % 2.0)) > 300
    assert abs((model.predict(NEW) - mean).mean()) < 6 * 2.0 / np.sqrt(12 * len(NEW))


@quiet
def test_order_jobs_batches_and_the_container_do_not_matter():
    X, y = _draw(1500, 1)
    model = PointwiseReplicableRegressor(TREE, n_blocks=12, shared_key="k")
    expected = clone(model).fit(X, y).predict(NEW)
    order = np.random.default_rng(0).permutation(len(y))
    other = clone(model).set_params(n_jobs=2).fit(X[order], y[order])
    np.testing.assert_array_equal(other.predict(NEW), expected)
    np.testing.assert_array_equal(other.predict(NEW[::-1])[::-1], expected)
    assert other.predict(NEW[7:8]) == expected[7]
    names = ["a", "b", "c"]
    framed = clone(model).fit(pd.DataFrame(X, columns=names), y)
    assert framed.predict(pd.DataFrame(NEW, columns=names)).shape == (400,)
    keyed = other.predict(NEW, ids=np.arange(400))
    assert (keyed != expected).mean() > 0.9


@quiet
def test_predictions_are_within_the_range_and_different_cells_stay_different():
    X, y = _draw(3000, 0)
    model = PointwiseReplicableRegressor(TREE, resolution=6.0, y_range=(0, 10), n_blocks=20)
    model.fit(X, y)
    predictions = model.predict(NEW)
    means = model.block_mean(NEW)
    assert predictions.min() == 0.0
    assert predictions.max() == 10.0
    assert np.abs(predictions - means).max() <= 3.0
    # at one offset, all means of the range: as many values as cells
    row = np.repeat(NEW[:1], 1001, axis=0)
    every_mean = np.linspace(0.0, 10.0, 1001)
    cells, _ = model._cells(row, None, every_mean)
    model._moments = lambda X: (every_mean, np.zeros(1001))
    assert len(np.unique(model.predict(row))) == len(np.unique(cells)) > 1


def test_a_grid_wider_than_the_range_is_refused():
    X, y = _draw(300, 0)
    wide = PointwiseReplicableRegressor(y_range=(0, 12), resolution=100)
    with pytest.raises(ValueError, match="resolution=100 must not exceed the width of y_range"):
        wide.fit(X, y)


def _pairs(model, pairs, n, shared=True):
    """Share of (pair, point) with different values, and the points of each pair."""
    flips = []
    for pair in range(pairs):
        keys = (pair, pair) if shared else (pair, -pair - 1)
        one, two = (
            clone(model).set_params(shared_key=key).fit(*_draw(n, (5, pair, run)))
            for run, key in enumerate(keys)
        )
        flips.append(np.mean(one.predict(NEW) != two.predict(NEW)))
    return np.array(flips), one


@quiet
def test_fresh_samples_flip_as_estimated_and_an_unshared_grid_breaks_it():
    model = PointwiseReplicableRegressor(TREE, resolution=4.0, y_range=(0, 10), n_blocks=40)
    flips, fitted = _pairs(model, 5, 2000)
    # Both estimates average over the same flips; the first is the larger one by Jensen.
    assert 0.3 * fitted.flip_rate(NEW) < flips.mean() < 1.3 * fitted.flip_rate(NEW)
    assert fitted.flip_probability(NEW).mean() == pytest.approx(flips.mean(), rel=0.5)
    assert flips.mean() < fitted.certificate_.rho
    apart, _ = _pairs(model, 1, 2000, shared=False)
    assert apart.mean() > 0.9


@pytest.mark.statistical
def test_the_promise_against_a_learner_that_tosses_coins():
    class Coin(LinearRegression):
        """Predictions one end of the range or the other, by a row of its block."""

        def fit(self, X, y):
            self.end_ = 10.0 * (X[0, 2] < 0.5)
            return self

        def predict(self, X):
            return np.full(len(X), self.end_)

    model = PointwiseReplicableRegressor(Coin(), resolution=5.0, y_range=(0, 10), n_blocks=128)
    found = []
    for pair in range(300):
        one, two = (
            clone(model).set_params(shared_key=pair).fit(*_draw(256, (6, pair, run)))
            for run in range(2)
        )
        found.append(one.predict(NEW[:1]) != two.predict(NEW[:1]))
    assert one.certificate_.certified
    assert np.sum(found) <= binom.isf(1e-8, 300, one.certificate_.rho)


def test_certified_with_a_range_and_enough_blocks():
    made = plan("regression", y_range=(0, 10), resolution=5.0, rho=0.15, block_size=20)
    X, y = _draw(made.n + 50, 3)
    model = PointwiseReplicableRegressor(TREE, plan=made).fit(X, y)
    model.certificate_.check()
    assert model.certificate_.certified
    assert model.certificate_.theorems == ("rounded-regression",)
    assert model.certificate_.inputs["n"] == made.n
    assert len(model.estimators_) == made.inputs["n_blocks"]
    with pytest.raises(ValueError, match="n_blocks is set by `plan`"):
        clone(model).set_params(n_blocks=20).fit(X, y)
    free = clone(model).set_params(
        rho=0.15, resolution=5.0, y_range=(0, 10), n_blocks=20, plan=None
    )
    with pytest.warns(NotCertifiedWarning, match="requested rho=0.15"):
        free.fit(X, y)
    with pytest.warns(NotCertifiedWarning, match="y_range is not given"):
        free.set_params(y_range=None).fit(X, y)


@quiet
def test_a_range_cuts_predictions_off_and_one_block_has_no_estimate():
    X, y = _draw(200, 4)
    model = PointwiseReplicableRegressor(TREE, y_range=(4, 5), resolution=0.5, n_blocks=1).fit(X, y)
    assert model.predict(NEW).min() >= 3.75
    assert model.predict(NEW).max() <= 5.25
    assert np.isnan(model.flip_probability(NEW)).all()
    assert np.isnan(model.flip_rate(NEW))


@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        ({"resolution": 0}, None, "resolution"),
        ({"y_range": (3, 1)}, None, "y_range"),
        ({"y_range": (1, 2, 3)}, None, "y_range"),
        ({"n_blocks": 50}, None, "n_blocks=50"),
        ({}, ["a"] * 30, "y must be numbers"),
        ({}, [np.inf] * 30, "NaN or infinity"),
    ],
)
def test_errors_name_the_parameter(params, y, message):
    X, numbers = _draw(30, 0)
    with pytest.raises(ValueError, match=message):
        PointwiseReplicableRegressor(**params).fit(X, numbers if y is None else y)


@quiet
def test_parameters_that_are_changed_after_fit_change_nothing():
    X, y = _draw(1000, 0)
    settings = {"resolution": 5.0, "y_range": (0, 10), "n_blocks": 40}
    model = PointwiseReplicableRegressor(TREE, **settings).fit(X, y)
    expected = model.predict(NEW)
    model.set_params(resolution=1.0, y_range=(0, 1), n_blocks=3)
    np.testing.assert_array_equal(model.predict(NEW), expected)
    assert model.flip_rate(NEW) > 0


@quiet
def test_ids_are_one_per_row():
    X, y = _draw(1000, 0)
    model = PointwiseReplicableRegressor(TREE, n_blocks=10).fit(X, y)
    assert (model.predict(NEW, ids=np.arange(400)) != model.predict(NEW)).all()
    with pytest.raises(ValueError, match="ids has 1 entries, but X has 400 rows"):
        model.predict(NEW, ids=[7])


def test_a_classifier_and_weights_are_refused():
    X, y = _draw(100, 0)
    with pytest.raises(ValueError, match=r"estimator=GaussianNB\(\) is a classifier: give a reg"):
        PointwiseReplicableRegressor(GaussianNB()).fit(X, y)
    with pytest.raises(TypeError, match=r"sample_weight is not supported\.$"):
        PointwiseReplicableRegressor().fit(X, y, sample_weight=y)


@quiet
def test_a_key_that_was_changed_after_fit_is_refused():
    model = PointwiseReplicableRegressor().fit(*_draw(100, 0)).set_params(shared_key="other")
    with pytest.raises(ValueError, match="shared_key was changed"):
        model.predict(NEW)


@pytest.mark.filterwarnings("ignore::replearn.exceptions.PreprocessingWarning")
def test_a_scaler_in_front_voids_the_promise():
    X, y = _draw(2600, 3)
    model = PointwiseReplicableRegressor(TREE, y_range=(0, 10), resolution=5.0, n_blocks=128)
    assert model.fit(X, y).certificate_.certified
    with pytest.warns(NotCertifiedWarning):
        model.fit(StandardScaler().fit_transform(X), y)
    assert model.certificate_.identity.failed_conditions


@pytest.mark.parametrize("y_range", ["ab", (1, None), (0, 1, 2), [[0, 1]], (0, np.inf)], ids=str)
def test_a_range_that_is_none(y_range):
    X, y = _draw(300, 0)
    with pytest.raises(ValueError, match=r"y_range=.* must be two finite numbers"):
        PointwiseReplicableRegressor(y_range=y_range).fit(X, y)


def test_dates_are_no_numbers():
    X, _ = _draw(300, 0)
    dates = pd.date_range("2026-01-01", periods=300)
    for times in (dates, dates - dates[0]):
        with pytest.raises(ValueError, match=r"y must be numbers, got (datetime|timedelta)64"):
            PointwiseReplicableRegressor().fit(X, times)
