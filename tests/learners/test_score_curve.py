"""The standard error of scores: unbiased by rows and partitions, pooled into a curve."""

import numpy as np
import pytest

from replearn.learners.score_rule import (
    ErrorCurve,
    RowErrors,
    block_variances,
    fit_curve,
    leading_pairs,
    own_blocks,
)


@pytest.mark.parametrize("n_partitions", [1, 3])
def test_variance_of_the_mean_is_estimated_without_bias(n_partitions):
    # A model is the squared mean of its rows; partitions share rows.
    rng, n_blocks, rows = np.random.default_rng(1), 4, 48
    truth, estimates = [], []
    for _ in range(4000):
        sample = rng.exponential(size=rows)
        scores = [
            sample[rng.permutation(rows)].reshape(n_blocks, -1).mean(axis=1) ** 2
            for _ in range(n_partitions)
        ]
        scores = np.concatenate(scores)[np.newaxis]
        found = block_variances(scores, np.full((1, n_partitions), -1), n_partitions)
        truth.append(found.scores[0])
        estimates.append(found.variances[0])
    assert np.mean(estimates) == pytest.approx(np.var(truth), rel=0.1)


def test_a_block_that_knows_the_row_does_not_count():
    scores = np.array([[0.1, 0.3, 0.2, 0.99], [0.99, 0.1, 0.3, 0.2]])
    rows = block_variances(scores, np.array([[3], [0]]), 1)
    assert rows.scores == pytest.approx([0.2, 0.2])
    assert rows.variances == pytest.approx([0.01 / 4] * 2)
    assert rows.singles == pytest.approx([0.01] * 2)


def test_own_blocks():
    blocks = [np.array([0, 1]), np.array([2, 3]), np.array([3, 0]), np.array([1, 2])]
    own = own_blocks(blocks, np.array([0, 3, 4]), 2, 5)
    assert own.tolist() == [[0, 0], [1, 0], [-1, -1]]


@pytest.mark.parametrize("threshold", [0.5, 0.1, 0.05, 0.9])
def test_a_curve_is_found_in_noisy_variances(threshold):
    rng = np.random.default_rng(3)
    curve = ErrorCurve(0.02, threshold)
    scores = rng.beta(0.5, 0.5, size=20_000)
    noisy = curve.errors(scores) ** 2 * (rng.chisquare(3, size=len(scores)) / 3)
    found = fit_curve(RowErrors(scores, noisy, noisy, 3.0), threshold)
    assert found.level == pytest.approx(0.02, rel=0.1)
    near = np.linspace(threshold - 0.04, threshold + 0.04, 9)
    assert found.errors(near) == pytest.approx(curve.errors(near), rel=0.2)


def test_one_half_is_flat_and_counts_rows_in_reach_only():
    scores = np.concatenate([np.full(1000, 0.45), np.full(9000, 0.01)])
    variances = np.concatenate([np.full(1000, 0.03**2), np.full(9000, 0.002**2)])
    curve = fit_curve(RowErrors(scores, variances, variances, np.inf), 0.5)
    assert curve.errors(scores[[0, -1]]) == pytest.approx(curve.level)
    assert curve.level == pytest.approx(0.03, rel=0.05)
    assert curve.reach == pytest.approx(0.5 / curve.level, rel=1e-3)


def test_estimates_below_zero_enter_as_they_are():
    variances = np.tile([0.003, -0.001], 500)
    rows = RowErrors(np.full(1000, 0.5), variances, np.ones(1000), np.inf)
    assert fit_curve(rows, 0.5).level == pytest.approx(np.sqrt(0.001))
    none = RowErrors(np.full(9, 0.5), np.full(9, -1.0), np.zeros(9), 3.0)
    assert fit_curve(none, 0.5).level == pytest.approx(1e-9)


def test_the_level_is_the_mean_standard_error_of_uneven_rows():
    variances = np.tile([0.01**2, 0.05**2], 5000)
    scores = np.full(10_000, 0.4)
    assert fit_curve(RowErrors(scores, variances, variances, np.inf), 0.4).level == pytest.approx(
        0.03
    )
    draws = np.random.default_rng(0).chisquare(6, size=10_000) / 6
    noisy = RowErrors(scores, variances * draws, variances * draws, 6.0)
    assert fit_curve(noisy, 0.4).level == pytest.approx(0.03, rel=0.03)


def test_there_and_back():
    curve = ErrorCurve(0.04, 0.3)
    scores = np.linspace(0.01, 0.99, 99)
    assert curve.scores(curve.standardised(scores)) == pytest.approx(scores, abs=1e-9)
    assert (np.diff(curve.standardised(scores)) > 0).all()
    assert curve.standardised(np.array([0.3])) == pytest.approx([0.0], abs=1e-9)
    step = curve.standardised(np.array([0.31])) - curve.standardised(np.array([0.29]))
    assert step == pytest.approx([0.02 / 0.04], rel=1e-2)
    assert curve.least_error(1e9) == curve.errors(np.array([0.0]))[0]


def test_leading_classes_are_named_by_strangers():
    scores = np.zeros((1, 3, 3))
    scores[0] = [[0.0, 0.0, 1.0], [0.6, 0.4, 0.0], [0.8, 0.2, 0.0]]
    rows = leading_pairs(scores, np.array([[0]]), 1)
    assert rows.scores == pytest.approx([0.7])
    assert rows.variances == pytest.approx([0.02 / 3])
