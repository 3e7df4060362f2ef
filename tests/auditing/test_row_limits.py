"""Limits over rows and over groups: closed forms, and attacked by simulation."""

import numpy as np
import pytest
from scipy import stats

from replearn.auditing._row_limits import RowLimits, clustered_share, group_totals
from tests.factories import limit


def test_shares_without_groups_are_clopper_and_pearson():
    which = np.arange(200) < 13
    found = RowLimits(0.05).share(which)
    exact = stats.binomtest(13, 200).proportion_ci(0.95, "exact")
    assert (found.lower, found.upper) == pytest.approx((exact.low, exact.high), abs=1e-9)
    some = RowLimits(0.05).share(which, np.arange(200) < 26)
    assert some.value == 0.5
    assert RowLimits(0.05).share(which, np.zeros(200, dtype=bool)) is None


def test_means_without_groups_are_a_paired_t_test():
    values = np.random.default_rng(0).normal(0.1, 1, 80)
    found, p_value = RowLimits(0.05).mean(values)
    test = stats.ttest_1samp(values, 0.0)
    limits = test.confidence_interval(0.95)
    assert p_value == pytest.approx(test.pvalue)
    assert (found.lower, found.upper) == pytest.approx((limits.low, limits.high))


def test_groups_of_equal_size_are_a_t_test_of_their_means():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(60), 7)
    values = rng.normal(size=420) + rng.normal(size=60)[groups]
    _, p_value = RowLimits(0.05, groups).mean(values)
    means = values.reshape(60, 7).mean(axis=1)
    assert p_value == pytest.approx(stats.ttest_1samp(means, 0.0).pvalue)
    which = values > 0
    share = RowLimits(0.05, groups).share(which)
    shares = which.reshape(60, 7).mean(axis=1)
    limits = stats.ttest_1samp(shares, 0.0).confidence_interval(0.95)
    totals = which.reshape(60, 7).sum(axis=1)
    assert np.count_nonzero(totals) >= 30
    assert np.count_nonzero(totals < 7) >= 30
    assert (share.lower, share.upper) == pytest.approx((limits.low, limits.high))


def test_one_group_shows_nearly_nothing():
    found = RowLimits(0.05, np.zeros(500, dtype=int)).share(np.zeros(500, dtype=bool))
    assert found.upper > 0.95
    estimate, p_value = RowLimits(0.05, np.zeros(5, dtype=int)).mean(np.arange(5.0))
    assert p_value is None
    assert (estimate.lower, estimate.upper) == (-np.inf, np.inf)


def missed(rng, draw, truth, runs, delta=0.05):
    """Count limits that do not hold the truth."""
    count = 0
    for _ in range(runs):
        totals, sizes = draw(rng)
        found = clustered_share(totals, sizes, delta)
        count += not found.lower <= truth <= found.upper
    return count


def whole_groups(share, n_groups, size):
    """All rows of a group change, or none: the worst dependence."""

    def draw(rng):
        return size * (rng.random(n_groups) < share), np.full(n_groups, float(size))

    return draw


def beta_groups(a, b, n_groups):
    """Groups of different sizes with shares of their own."""

    def draw(rng):
        sizes = rng.integers(1, 12, n_groups).astype(float)
        return rng.binomial(sizes.astype(int), rng.beta(a, b, n_groups)).astype(float), sizes

    return draw


@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (whole_groups(0.02, 60, 8), 0.02),
        (whole_groups(0.3, 15, 8), 0.3),
        (whole_groups(0.5, 200, 3), 0.5),
        (beta_groups(0.2, 1.8, 50), 0.1),
        (beta_groups(2, 2, 120), 0.5),
    ],
)
def test_limits_over_groups_miss_at_most_as_often_as_they_say(draw, truth):
    """Student's limits are approximate: 7 % are allowed for 5 %."""
    runs = 400
    allowed = limit(runs, 0.07)
    assert missed(np.random.default_rng(7), draw, truth, runs) <= allowed


def test_limits_that_ignore_groups_miss_far_more_often():
    """The sibling of the test above: without groups the same rows seem to show too much."""
    runs = 300
    rng = np.random.default_rng(8)
    draw = whole_groups(0.3, 40, 20)
    count = 0
    for _ in range(runs):
        totals, sizes = draw(rng)
        rows = np.arange(int(sizes.sum())) < totals.sum()
        found = RowLimits(0.05).share(rows)
        count += not found.lower <= 0.3 <= found.upper
    assert count > limit(runs, 0.07)


def test_totals_of_groups_that_occur():
    totals, sizes = group_totals(np.array([1.0, 1.0, 0.0]), np.array([5, 0, 5]))
    assert totals.tolist() == [1, 1]
    assert sizes.tolist() == [1, 2]
