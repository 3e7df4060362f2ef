"""Cuts, levels and the shared Poisson process."""

import numpy as np
import pytest
from scipy.stats import binomtest

from replearn.paper.quantiles import cuts_of_sample, draw_level, quantile_grid
from replearn.randomness.key import SharedKey

FALSE_ALARM = 1e-8


def test_cuts_against_brute_force():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 7, 60).astype(float), rng.random(60) < 0.4
    cuts = cuts_of_sample(x, y)
    for value, level, error in zip(cuts.values, cuts.levels, cuts.errors, strict=True):
        assert level == pytest.approx((x <= value).mean())
        assert error == pytest.approx(((x > value) != y).mean())
    values, counts = np.unique(x, return_counts=True)
    ones = [y[x == value].sum() for value in values]
    np.testing.assert_allclose(cuts_of_sample(values, ones, counts).errors, cuts.errors)


def test_a_level_goes_to_the_nearest_cut():
    cuts = cuts_of_sample([0, 1, 1, 1, 1, 1, 1, 1, 1, 2])
    levels = np.linspace(0.001, 0.999, 333)
    distance = np.abs(cuts.levels[:, None] - levels)
    np.testing.assert_allclose(
        np.abs(cuts.levels[cuts.nearest(levels)] - levels), distance.min(axis=0)
    )


def test_an_atom_is_never_cut_in_two():
    # Half of the mass in one value: its levels are split in the middle, between both sides.
    cuts = cuts_of_sample([1.0, 5.0, 5.0, 9.0])
    assert cuts.values[cuts.nearest(0.49)] == 1.0
    assert cuts.values[cuts.nearest(0.51)] == 5.0


def test_levels_are_drawn_by_the_weights_of_their_cuts():
    cuts = cuts_of_sample([0.0, 1.0, 2.0, 3.0], [False, True, False, True])
    t, trials = 3.0, 800
    edges = np.concatenate([[0.0], cuts.switches, [1.0]])
    weights = np.diff(edges) * np.exp(-t * cuts.errors)
    weights /= weights.sum()
    drawn = [draw_level(cuts, sharpness=t, key=SharedKey(k))[1] for k in range(trials)]
    for place, weight in enumerate(weights):
        assert binomtest(drawn.count(place), trials, weight).pvalue > FALSE_ALARM


def test_several_rules_share_the_levels():
    cuts = cuts_of_sample(np.arange(50.0), np.arange(50) < 30)
    errors = np.array([cuts.errors, 1 - cuts.errors])
    for key in range(5):
        _, place, rule = draw_level(cuts, sharpness=3000.0, key=SharedKey(key), errors=errors)
        assert rule == 1
        assert abs(cuts.values[place] - 29) <= 2


def test_similar_samples_draw_the_same_level():
    rng = np.random.default_rng(0)
    alike = 0
    for pair in range(60):
        levels = set()
        for _ in range(2):
            x = rng.random(20_000)
            cuts = cuts_of_sample(x, (x > 0.6) ^ (rng.random(20_000) < 0.2))
            levels.add(draw_level(cuts, sharpness=30.0, key=SharedKey(pair))[0])
        alike += len(levels) == 1
    assert alike >= 45


def test_the_grid_is_shared_and_moves_little():
    rng = np.random.default_rng(0)
    grids = []
    for _ in range(2):
        x = np.concatenate([np.zeros(5000), rng.random(5000)])
        grids.append(quantile_grid(x, 20, key=SharedKey("grid")))
    np.testing.assert_array_equal(grids[0].levels, grids[1].levels)
    np.testing.assert_allclose(grids[0].masses, grids[1].masses, atol=0.02)
    assert (grids[0].values == 0).sum() == (grids[1].values == 0).sum() > 3
    assert np.isneginf(grids[0].values).sum() == np.isneginf(grids[1].values).sum() > 3


def test_errors():
    with pytest.raises(ValueError, match="finite"):
        cuts_of_sample([np.nan])
    with pytest.raises(ValueError, match="at least one"):
        cuts_of_sample([])
    with pytest.raises(ValueError, match="no errors"):
        draw_level(cuts_of_sample([1.0]), sharpness=1.0, key=SharedKey(0))
    with pytest.raises(ValueError, match="n_levels"):
        quantile_grid([1.0], 0, key=SharedKey(0))
    cuts = cuts_of_sample([0.0, 1.0], [False, True])
    assert cuts.errors.min() == 0


def _exact_disagreement(one, two, t, gamma, beta):
    """P(different levels, or one level with cuts far apart), exactly, for two given samples."""
    edges = np.unique(np.concatenate([[0.0, 1.0], one.switches, two.switches]))
    widths, middles = np.diff(edges), (edges[:-1] + edges[1:]) / 2
    first, second = one.nearest(middles), two.nearest(middles)
    weights = np.exp(-t * np.array([one.errors[first], two.errors[second]]))
    ratios = (weights[:, None, :] / weights[:, :, None]).max(axis=0)
    same = widths / (ratios * widths).sum(axis=1)
    # Mass of sample 1 between the two cuts.
    level = one.levels[np.searchsorted(one.values, two.values[second], side="right") - 1]
    far = np.abs(one.levels[first] - level) > gamma / 2 + 2 * beta + 1e-12
    return 1 - same[~far].sum()


@pytest.mark.parametrize("n_values", [2, 3, 6, 40])
def test_the_chain_of_the_proof_holds_for_every_pair_of_samples(n_values):
    # Every step before expectations are taken, on samples made to disagree about atoms.
    rng = np.random.default_rng(n_values)
    closest = 0.0
    for _ in range(150):
        n, gamma = int(np.exp(rng.uniform(3, 12))), rng.choice([0.05, 0.2, 0.5])
        t = float(np.exp(rng.uniform(0, 5)))
        masses = rng.dirichlet(np.full(n_values, rng.choice([0.3, 3.0, 100.0])))
        ones = rng.choice([0.0, 0.5, 1.0], n_values)
        cuts, curves, shares = [], [], []
        for _ in range(2):
            counts = rng.multinomial(n, masses)
            labels = rng.binomial(counts, ones)
            kept = counts > 0
            cuts.append(cuts_of_sample(np.flatnonzero(kept), labels[kept], counts[kept]))
            everywhere = cuts_of_sample(np.arange(n_values), labels, counts)
            curves.append(everywhere.errors)
            shares.append(everywhere.levels)
        beta = np.abs(shares[0] - shares[1]).max()
        half = np.ptp(curves[0] - curves[1]) / 2
        bound = max(t, 4 / gamma) * beta + np.tanh(t * beta) + np.tanh(t * half / 2)
        exact = _exact_disagreement(*cuts, t, gamma, beta)
        assert exact <= bound + 1e-9
        if 0 < bound < 1:
            closest = max(closest, exact / bound)
    assert closest > 0.1
