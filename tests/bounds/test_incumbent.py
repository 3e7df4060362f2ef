import numpy as np
import pytest
from scipy import stats

from replearn.bounds.incumbent import ever_changed, expected_changes, incumbent_change_rate


def changes(scores, band, start):
    """Predictions of a chain around threshold 0; one row per chain."""
    answer = np.full(len(scores), start)
    count = np.zeros(len(scores), dtype=int)
    for step in scores.T:
        new = np.where(step > band, True, np.where(step < -band, False, answer))
        count += new != answer
        answer = new
    return count


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
