"""Limits over rows, groups and differences: closed forms, enumeration, simulation."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from replearn.auditing.limits import difference_limits, exact_difference, limits, mean_limits
from tests.factories import limit


def row(values):
    return np.asarray(values, dtype=float)[np.newaxis]


def test_shares_without_groups_are_clopper_and_pearson():
    which = np.arange(200) < 13
    found = limits(row(which))
    exact = stats.binomtest(13, 200).proportion_ci(0.95, "exact")
    assert (found.lower, found.upper) == pytest.approx((exact.low, exact.high), abs=1e-9)
    assert limits(row(which), rows=np.arange(200) < 26).value == 0.5


def test_means_without_groups_are_a_paired_t_test():
    values = np.random.default_rng(0).normal(0.1, 1, 80)
    found = mean_limits(row(values), 0.05, within=(-np.inf, np.inf))
    wanted = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert (found.lower, found.upper) == pytest.approx((wanted.low, wanted.high))


def test_groups_of_equal_size_are_a_t_test_of_their_means():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(60), 7)
    which = rng.normal(size=420) + rng.normal(size=60)[groups] > 0
    found = limits(row(which), 0.05, groups)
    shares = which.reshape(60, 7).mean(axis=1)
    wanted = stats.ttest_1samp(shares, 0.0).confidence_interval(0.95)
    assert np.count_nonzero(shares) >= 30
    assert np.count_nonzero(shares < 1) >= 30
    assert (found.lower, found.upper) == pytest.approx((wanted.low, wanted.high))


def test_one_group_shows_nearly_nothing():
    assert limits(np.zeros((1, 500)), 0.05, np.zeros(500, dtype=int)).upper > 0.95


def whole_groups(share, n_groups, size):
    """All rows of a group change, or none: the worst dependence."""

    def draw(rng):
        return size * (rng.random(n_groups) < share), np.full(n_groups, size)

    return draw


def beta_groups(a, b, n_groups):
    """Groups of different sizes with shares of their own."""

    def draw(rng):
        sizes = rng.integers(1, 12, n_groups)
        return rng.binomial(sizes, rng.beta(a, b, n_groups)), sizes

    return draw


def drawn(draw, rng):
    """Return rows with events, and their groups."""
    totals, sizes = draw(rng)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    place = np.concatenate([np.arange(size) for size in sizes])
    return row(place < totals[groups]), groups


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
    rng, runs, missed = np.random.default_rng(7), 400, 0
    for _ in range(runs):
        events, groups = drawn(draw, rng)
        found = limits(events, 0.05, groups)
        missed += not found.lower <= truth <= found.upper
    assert missed <= limit(runs, 0.07)


def test_limits_that_ignore_groups_miss_far_more_often():
    """The sibling of the test above: without groups the same rows seem to show too much."""
    rng, runs, missed = np.random.default_rng(8), 300, 0
    for _ in range(runs):
        found = limits(drawn(whole_groups(0.3, 40, 20), rng)[0])
        missed += not found.lower <= 0.3 <= found.upper
    assert missed > limit(runs, 0.07)


# -- differences -----------------------------------------------------------------------------------
def test_the_sign_of_a_difference_is_that_of_mcnemars_test():
    """Six gains and no loss are significant, but separate limits of both shares include 0."""
    shown = 0
    for gained, lost in product(range(15), repeat=2):
        table = row(np.r_[np.ones(gained), -np.ones(lost), np.zeros(400 - gained - lost)])
        found = difference_limits(table, 0.05)
        p_value = stats.binomtest(lost, gained + lost).pvalue if gained + lost else 1.0
        excludes = found.value != 0 and not found.lower < 0 < found.upper
        assert excludes == (p_value <= 0.05)
        shown += excludes
    assert 0 < shown < 15**2 / 2


def test_exact_limits_of_a_difference_miss_at_most_as_often_as_they_say():
    """All numbers of gains and losses among 14 rows: no simulation."""
    n = 14
    found = {
        (g, m): exact_difference(g, m, n, 0.05) for g in range(n + 1) for m in range(n + 1 - g)
    }
    for changing, better in product(np.linspace(0.05, 1, 20), np.linspace(0, 1, 21)):
        truth = changing * (2 * better - 1)
        law = stats.multinomial(n, [changing * better, changing * (1 - better), 1 - changing])
        missed = [
            law.pmf([gained, lost, n - gained - lost])
            for (gained, lost), e in found.items()
            if not e.lower <= truth <= e.upper or (truth == 0 and (e.lower >= 0) != (e.upper <= 0))
        ]
        assert sum(missed) <= 0.05


@pytest.mark.parametrize("clustered", [False, True])
def test_few_fractions_that_change_have_wide_limits(clustered):
    """Three of 60 rows gain in a third of the runs: normal limits would say far too much."""
    rng, runs, missed = np.random.default_rng(9), 400, 0
    groups = np.arange(60) // 2 if clustered else None
    truth = 0.03 / 3 - 0.02 * 2 / 3
    for _ in range(runs):
        kind = rng.random(30).repeat(2) if clustered else rng.random(60)
        table = row((kind < 0.03) / 3 - (kind > 0.98) * 2 / 3)
        found = difference_limits(table, 0.05, groups)
        missed += not found.lower <= truth <= found.upper
    assert missed <= limit(runs, 0.05)
