import numpy as np
import pytest
from scipy import stats

from replearn.bounds.incumbent import (
    dead_band_change_rate,
    drift_lag,
    ever_changed,
    expected_changes,
    incumbent_change_rate,
    remembered_change_rate,
    score_spread,
    score_travel,
    shift_lag,
)

ALARM = 1e-8


def changes(scores, band, start):
    """Count the changes of chains around threshold 0; one row per chain."""
    prediction = np.full(len(scores), start)
    count = np.zeros(len(scores), dtype=int)
    for step in scores.T:
        new = np.where(step > band, True, np.where(step < -band, False, prediction))
        count += new != prediction
        prediction = new
    return count


def remembered(scores, memory):
    """Mix scores along the columns."""
    mixed = [scores[:, 0]]
    for column in scores.T[1:]:
        mixed.append(memory * mixed[-1] + (1 - memory) * column)
    return np.array(mixed).T


def changed_at_last(mixed, band):
    """Tell which chains change at their last step, after a long time."""
    before = np.zeros(len(mixed), dtype=bool)
    for column in mixed.T[:-1]:
        before = np.where(column > band, True, np.where(column < -band, False, before))
    last = mixed[:, -1]
    return np.where(last > band, True, np.where(last < -band, False, before)) != before


@pytest.mark.parametrize("mean", [0.0, 0.03, 0.1])
@pytest.mark.parametrize("law", ["normal", "two points", "heavy tails"])
def test_chains_change_no_more_often_than_the_bound(law, mean):
    rng, sigma, band, steps, chains = np.random.default_rng(3), 0.08, 0.1, 40, 4000
    size = (chains, steps)
    noise = {
        "normal": lambda: rng.standard_normal(size),
        "two points": lambda: rng.choice([-1.0, 1.0], size),
        "heavy tails": lambda: rng.standard_t(5, size) / np.sqrt(5 / 3),
    }[law]()
    for start in (False, True):
        found = changes(mean + sigma * noise, band, start)
        slack = 6 * found.std() / np.sqrt(chains) + 1e-9
        assert found.mean() <= expected_changes(sigma, band, steps) + slack


def test_the_rate_is_attained():
    """Mass at both edges and the rest between: the variance is all spent on changes."""
    p, band = 0.2, 0.1
    sigma = np.sqrt(2 * p) * band
    rng = np.random.default_rng(5)
    scores = rng.choice([-1.001 * band, 0.0, 1.001 * band], (500, 400), p=[p, 1 - 2 * p, p])
    rate = changes(scores, band, True).mean() / 400
    assert rate == pytest.approx(incumbent_change_rate(sigma, band), rel=0.03)


def test_without_a_band_half_of_the_retrainings_may_change():
    assert incumbent_change_rate(0.1, 0.01) == 0.5
    assert incumbent_change_rate(0.0, 0.01) == 0.0


def test_ever_changed_is_geometric():
    rng = np.random.default_rng(1)
    scores = rng.standard_normal((20_000, 12))
    clear = stats.norm.cdf(-1.5)
    share = int((changes(scores, 1.5, True) > 0).sum())
    assert stats.binomtest(share, 20_000, ever_changed(clear, 12)).pvalue > 1e-8


LAWS = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "two points": lambda rng, size: rng.choice([-1.0, 1.0], size),
    "rare jumps": lambda rng, size: (
        rng.choice([-1.0, 0.0, 1.0], size, p=[0.05, 0.9, 0.05]) * np.sqrt(10)
    ),
}
N_CHAINS = 20_000


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("memory", [0.0, 0.1, 0.5, 0.8])
@pytest.mark.parametrize("mean", [0.0, 0.4])
def test_remembered_scores_change_no_more_often_than_the_bound(law, memory, mean):
    """The chains of one step are independent: an exact binomial limit, false alarm 1e-8."""
    rng = np.random.default_rng(11)
    scores = mean + LAWS[law](rng, (N_CHAINS, 40))
    mixed = remembered(scores, memory)
    for band in (0.3, 0.6, 0.8, 1.5):
        count = int(changed_at_last(mixed, band).sum())
        bound = remembered_change_rate(1.0, band, memory)
        assert count <= stats.binom.isf(ALARM, N_CHAINS, bound)


def test_half_of_the_bound_is_broken():
    """The test above can fail: scores of two values come within a factor of two."""
    rng = np.random.default_rng(11)
    mixed = remembered(rng.choice([-1.0, 1.0], (N_CHAINS, 40)), 0.1)
    count = int(changed_at_last(mixed, 0.8).sum())
    bound = remembered_change_rate(1.0, 0.8, 0.1)
    assert count > stats.binom.isf(ALARM, N_CHAINS, bound / 2)


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("n_months", [1, 6, 12])
def test_spread_and_travel_of_rolling_windows(memory, n_months):
    """A score that is a mean over the months of a window: correlations fall linearly."""
    rng = np.random.default_rng(2)
    noise = rng.standard_normal((N_CHAINS, 80 + n_months))
    sums = np.cumsum(noise, axis=1)
    scores = (sums[:, n_months:] - sums[:, :-n_months]) / np.sqrt(n_months)
    mixed = remembered(scores, memory)
    window = [1 - month / n_months for month in range(1, n_months)]
    spread = score_spread(1.0, memory, window)
    travel = score_travel(1.0, memory, window)
    assert mixed[:, -1].std() == pytest.approx(spread, rel=0.03)
    step = mixed[:, -1] - mixed[:, -2]
    assert step.std() == pytest.approx(travel, rel=0.03)
    assert np.abs(step).mean() <= travel
    count = int(changed_at_last(mixed, 0.5).sum())
    bound = remembered_change_rate(1.0, 0.5, memory, window)
    assert count <= stats.binom.isf(ALARM, N_CHAINS, bound)


def test_the_travel_of_independent_samples_is_the_closed_form():
    for memory in (0.0, 0.3, 0.5, 0.8):
        expected = (1 - memory) * 0.2 * np.sqrt(2 / (1 + memory))
        assert score_travel(0.2, memory) == pytest.approx(expected, rel=1e-9)
        assert score_travel(0.2, memory) >= expected


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("memory", [0.0, 0.5, 0.8])
def test_dead_bands_change_no_more_often_than_the_bound(law, memory):
    rng = np.random.default_rng(7)
    mixed = remembered(LAWS[law](rng, (N_CHAINS, 40)), memory)
    for band in (0.5, 2.0, 6.0):
        kept = mixed[:, 0]
        for column in mixed.T[1:]:
            before = kept
            kept = np.where(np.abs(column - kept) > band, column, kept)
        count = int((kept != before).sum())
        bound = dead_band_change_rate(1.0, band, memory)
        assert count <= stats.binom.isf(ALARM, N_CHAINS, bound)


@pytest.mark.parametrize("memory", [0.0, 0.3, 0.5, 0.7, 0.8])
@pytest.mark.parametrize("edge", [0.41, 0.55, 0.6, 0.79])
def test_lag_after_a_shift_by_recursion(memory, edge):
    score = 0.2
    months = 0
    while score <= edge:
        score = memory * score + (1 - memory) * 0.8
        months += 1
    assert abs(shift_lag(memory, 0.2, 0.8, edge) - months) <= (abs(score - edge) < 1e-9)


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("band", [0.0, 0.05])
def test_lag_of_a_steady_change_by_recursion(memory, band):
    speed = 0.001
    mean = -0.5
    score = -0.5
    crossed = None
    for month in range(2000):
        score = memory * score + (1 - memory) * mean
        if crossed is None and mean > 0:
            crossed = month
        if score > band:
            break
        mean += speed
    lag = drift_lag(memory, band, speed)
    assert lag - 1 <= month - crossed <= lag + 1


def test_what_is_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"edge=0.9 must lie between"):
        shift_lag(0.5, 0.2, 0.8, 0.9)
    with pytest.raises(ValueError, match="correlations"):
        score_spread(0.1, 0.5, [1.5])
    with pytest.raises(ValueError, match="memory"):
        score_travel(0.1, 1.0)
