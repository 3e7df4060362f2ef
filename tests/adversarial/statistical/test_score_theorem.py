"""The conditional theorem of thresholds in standard errors, and learners on fresh samples."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

from replearn import ScoreReplicableClassifier
from replearn.bounds.scores import (
    any_score_flip_bound,
    mismatch_flip_bound,
    normal_flip_bound,
    score_half_width,
)

pytestmark = pytest.mark.statistical

FALSE_ALARM = 1e-9
TRIALS = 1_000_000


def _two_points(rng, size):
    return np.where(rng.random(size) < 0.1, 3.0, -1.0 / 3.0)


def _heavy(rng, size):
    return rng.standard_t(3, size=size) / np.sqrt(3.0)


SHAPES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "skewed": lambda rng, size: rng.exponential(size=size) - 1.0,
    "two points": _two_points,
    "heavy tails": _heavy,
    "uniform": lambda rng, size: np.sqrt(3.0) * rng.uniform(-1.0, 1.0, size=size),
}


def count_flips(shape, centre, scales, seed):
    """Flips of two runs around ``centre``, each standardised by its own scale."""
    rng, width = np.random.default_rng(seed), score_half_width(0.1)
    v = rng.uniform(-width, width, size=TRIALS)
    runs = [(centre + SHAPES[shape](rng, TRIALS)) / scale for scale in scales]
    return int(((runs[0] > v) != (runs[1] > v)).sum())


def at_most(count, bound):
    return stats.binomtest(count, TRIALS, min(bound, 1.0), "greater").pvalue > FALSE_ALARM


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("centre", [0.0, 3.0, 5.6])
def test_flips_stay_below_the_bound_of_their_shape(shape, centre):
    flips = count_flips(shape, centre, (1.0, 1.0), seed=1)
    width = score_half_width(0.1)
    bound = normal_flip_bound(width) if shape == "normal" else any_score_flip_bound(width)
    assert at_most(flips, bound)
    if centre == 0.0 and shape in ("normal", "uniform"):
        assert flips / TRIALS > 0.98 * bound  # attained


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_standard_error_flips_up_to_twice_as_often(shape):
    flips = count_flips(shape, 0.0, (0.5, 0.5), seed=2)
    width = score_half_width(0.1)
    assert at_most(flips, any_score_flip_bound(width, excess=2.0))
    if shape != "two points":  # these differ seldom, whatever their variance
        assert flips / TRIALS > any_score_flip_bound(width)  # the curve's promise is broken


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("centre", [0.0, 4.0, 5.6])
def test_scales_that_differ_add_what_is_said(shape, centre):
    flips = count_flips(shape, centre, (1.0, 1.25), seed=3)
    bound = any_score_flip_bound(score_half_width(0.1)) + mismatch_flip_bound(1.25)
    assert at_most(flips, bound)


def test_learners_on_fresh_samples_flip_as_estimated():
    rng, n, pairs = np.random.default_rng(5), 600, 60
    points = rng.normal(size=(400, 3))

    def sample():
        X = rng.normal(size=(n, 3))
        return X, (X[:, 0] + rng.logistic(size=n) > 0).astype(int)

    flips, expected = np.zeros(400), []
    for pair in range(pairs):
        labs = [
            ScoreReplicableClassifier(LogisticRegression(), shared_key=pair).fit(*sample())
            for _ in range(2)
        ]
        flips += labs[0].predict(points) != labs[1].predict(points)
        expected.append(labs[0].flip_probability(points).mean())
    in_band = np.abs(points[:, 0]) < 0.4
    rate = (flips / pairs)[in_band].mean()
    # Pairs are independent, points of a pair are not: a wide band around the nominal 0.1.
    assert 0.06 < rate < 0.13
    assert np.mean(expected) == pytest.approx(flips.mean() / pairs, rel=0.3)
