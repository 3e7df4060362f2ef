"""Drift against an incumbent: how late it is, what a kept prediction costs, what the limits cover.

Every cell of the first column is a chain of its own: the estimator's score is the share of label 1
among the rows of the cell, so its mean is the probability of the label, exactly.
"""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin

from replearn import IncumbentClassifier
from replearn.learners.chain import (
    WINDOW_LEVEL,
    NewRows,
    Replay,
    cross_fitted,
    folds_of,
    new_rows_are_worse,
    why_labels_worse,
)

FALSE_ALARM = 1e-8
N_CELLS = 1500
N_ROWS = 49
"""Rows of a cell: odd, so that no share is 1/2."""

MEMORIES = [0.0, 0.5, 0.7]


def shift_lag(memory, before, after, edge):
    """Retrainings until the mean score has passed an edge, after a sudden shift: section 10."""
    lag = 1
    while abs(memory**lag * (after - before)) >= abs(after - edge):
        lag += 1
    return lag


def drift_lag(memory, band, speed):
    """Retrainings by which a prediction is late if the mean score moves steadily: section 10."""
    return band / speed + memory / (1 - memory)


class CellShare(ClassifierMixin, BaseEstimator):
    """Score of a point: the share of label 1 in its cell."""

    def __init__(self, n_cells=N_CELLS):
        self.n_cells = n_cells

    def fit(self, X, y):
        cells = X[:, 0].astype(int)
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = 1
        count = np.maximum(np.bincount(cells, minlength=self.n_cells), 1)
        self.share_ = np.bincount(cells, weights=y, minlength=self.n_cells) / count
        return self

    def predict_proba(self, X):
        share = self.share_[X[:, 0].astype(int)]
        return np.column_stack([1.0 - share, share])

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)


POINTS = np.arange(N_CELLS, dtype=float)[:, None]


def retrain(incumbent, eta, rng, *, n_rows=N_ROWS, **params):
    """Retrain on a fresh sample in which the labels of a cell are 1 with probability eta."""
    y = (rng.random((n_rows, N_CELLS)) < eta).astype(int).ravel()
    X = np.tile(POINTS, (n_rows, 1))
    return IncumbentClassifier(CellShare(), incumbent, **params).fit(X, y)


def start(eta, rng, n_months=1, **params):
    model = None
    for _ in range(n_months):
        model = retrain(model, eta, rng, **params)
    return model


def at_least_half(count, n):
    """Tell whether a share of at least one half could show so few; exact binomial limit."""
    return count >= binom.ppf(FALSE_ALARM, n, 0.5)


def at_most_half(count, n):
    return count <= binom.isf(FALSE_ALARM, n, 0.5)


@pytest.mark.statistical
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("before", [0.3, 0.7], ids=["rises", "falls"])
@pytest.mark.parametrize("size", [0.2, 0.35, 0.45])
def test_the_score_passes_the_edge_when_it_is_said_to(memory, before, size):
    """Scores are nearly symmetric around their mean: beyond the edge in half of the cells."""
    rng = np.random.default_rng([1, int(100 * size)])
    band = 0.05
    turn = 1.0 if before < 0.5 else -1.0
    after = before + turn * (0.2 + size)
    edge = 0.5 + turn * band
    lag = shift_lag(memory, before, after, edge)
    model = start(np.full(N_CELLS, before), rng, 12, memory=memory, band=band)
    for month in range(1, lag + 1):
        model = retrain(model, np.full(N_CELLS, after), rng, memory=memory, band=band)
        mean = after + memory**month * (before - after)
        beyond = int((turn * (model.predict_proba(POINTS)[:, 1] - edge) > 0).sum())
        if turn * (mean - edge) > 0.01:  # half of a row is the skewness of a share
            assert at_least_half(beyond, N_CELLS)
            changed = int((model.predict(POINTS) == (turn > 0)).sum())
            assert at_least_half(changed, N_CELLS)
        if turn * (mean - edge) < -0.01:
            assert month < lag
            assert at_most_half(beyond, N_CELLS)
    assert turn * (after + memory**lag * (before - after) - edge) > 0


@pytest.mark.statistical
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("band", [0.0, 0.06])
def test_a_steady_drift_is_followed_as_late_as_is_said(memory, band):
    """Until one retraining before the lag at most half of the scores are beyond the edge."""
    rng = np.random.default_rng(2)
    speed = 0.02
    first = 0.25
    model = start(np.full(N_CELLS, first), rng, 12, memory=memory, band=band)
    lag = drift_lag(memory, band, speed)
    crossing = (0.5 - first) / speed
    for month in range(1, 30):
        eta = np.full(N_CELLS, min(first + speed * month, 1.0))
        model = retrain(model, eta, rng, memory=memory, band=band)
        late = month - crossing
        beyond = int((model.predict_proba(POINTS)[:, 1] > 0.5 + band).sum())
        if late <= lag - 1:
            assert at_most_half(beyond, N_CELLS)
        if late >= lag + 1:
            assert at_least_half(beyond, N_CELLS)
            assert at_least_half(int(model.predict(POINTS).sum()), N_CELLS)


def worst(model, eta, rng):
    """Reverse the labels of a cell as soon as the model has learned them."""
    learned = model.predict(POINTS) == (eta > 0.5)
    return np.where(learned, 1.0 - eta, eta)


def swinging(model, eta, rng):
    return 0.5 + 0.3 * np.sin(rng.uniform(0, 2 * np.pi, N_CELLS))


def creeping(model, eta, rng):
    """Stay just inside the band, on the wrong side of the prediction."""
    return np.where(model.predict(POINTS) == 1, 0.5 - 0.095, 0.5 + 0.095)


@pytest.mark.statistical
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("attack", [worst, swinging, creeping])
def test_no_drift_makes_a_prediction_cost_or_change_more(memory, attack):
    """What a prediction costs, and how often it changes, for scores that an adversary moves."""
    rng = np.random.default_rng(3)
    band = 0.1
    eta = rng.random(N_CELLS)
    model = start(eta, rng, memory=memory, band=band)
    score = model.predict_proba(POINTS)[:, 1]
    travel = np.zeros(N_CELLS)
    n_changes = np.zeros(N_CELLS, dtype=int)
    dearest = 0.0
    for _ in range(14):  # shorter than a chain, so that nothing is dropped
        eta = attack(model, eta, rng)
        before = model.predict(POINTS)
        model = retrain(model, eta, rng, memory=memory, band=band)
        moved = model.predict_proba(POINTS)[:, 1]
        travel += np.abs(moved - score)
        score = moved
        prediction = model.predict(POINTS)
        n_changes += prediction != before
        cost = np.where(prediction == (eta > 0.5), 0.0, np.abs(2 * eta - 1))
        assert (cost <= 2 * (band + np.abs(score - eta)) + 1e-12).all()
        dearest = max(dearest, cost.max())
    assert (n_changes <= 1 + travel / (2 * band) + 1e-12).all()
    assert dearest > (band if attack is creeping else 2 * band)  # the attack works


@pytest.mark.statistical
@pytest.mark.parametrize("memory", [0.5, 0.7])
def test_what_is_as_good_as_the_new_scores_is_called_worse_at_the_level(memory):
    """Remembered and new scores of one law: in half of the samples the remembered ones are worse.

    Each cell is scored by two independent samples, and the labels decide; the adversary gives both
    the same quality, so that no memory is worse than the new scores alone.
    """
    rng = np.random.default_rng([4, int(10 * memory)])
    n_samples = 600
    found = 0
    for _ in range(n_samples):
        eta = rng.uniform(0.2, 0.8, 400)
        old, new = rng.binomial(200, eta, (2, 400)) / 200
        y = (rng.random(400) < eta).astype(np.intp)
        codes = (old > 0.5).astype(np.intp)
        rows = NewRows(new, y, np.ones(400), None, rng.random((400, 2)))
        reason = why_labels_worse(
            Replay(old, codes, codes, 0 * codes),
            rows,
            memory,
            0.1,
            threshold=0.5,
            equal_costs=0.5,
            kind="predict_proba",
        )
        found += reason is not None
    assert found <= binom.isf(FALSE_ALARM, n_samples, 0.02)


@pytest.mark.statistical
@pytest.mark.parametrize("positives", [0.1, 0.5])
def test_windows_without_drift_raise_no_alarm(positives):
    """New rows of 2,000 windows; every score depends on the other rows of its cell."""
    rng = np.random.default_rng(5)
    n_windows = 2000
    is_new = np.arange(360) >= 330
    alarms = 0
    seen = 0
    for _ in range(n_windows):
        X = rng.integers(0, 30, (360, 1)).astype(float)
        y = (rng.random(360) < positives).astype(int)
        turned = np.where(is_new & (rng.random(360) < 0.9), 1 - y, y)
        for number, labels in enumerate((y, turned)):
            folds = folds_of(labels, None, is_stratified=True)
            score = cross_fitted(CellShare(30), X, labels, folds, {})
            alarm = new_rows_are_worse((score > 0.5) != labels, is_new)
            alarms += alarm and number == 0
            seen += alarm and number == 1
    assert alarms <= binom.isf(FALSE_ALARM, n_windows, WINDOW_LEVEL)
    assert positives == 0.5 or seen > 0.9 * n_windows
