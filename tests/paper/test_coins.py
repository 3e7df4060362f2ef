import itertools

import numpy as np
import pytest
from scipy.stats import binom

from replearn.paper import coins
from replearn.paper.coins import (
    CoinLaw,
    coin_error_bound,
    coin_flip_bound,
    coin_law,
    decide_coin,
    decide_coins,
    smallest_throws,
)
from replearn.randomness.key import SharedKey

LAWS = [(0.0, 1.0), (0.4, 0.6), (0.0, 0.1), (0.02, 0.08), (0.9, 0.95), (0.1, 0.7)]


def exact_flip(n, law, q):
    """E|G(c1/n) - G(c2/n)| by enumeration."""
    counts = np.arange(n + 1)
    mass, level = binom.pmf(counts, n, q), law.probabilities(counts, n)
    return float(mass @ np.abs(level[:, None] - level[None, :]) @ mass)


@pytest.mark.parametrize("ends", LAWS)
@pytest.mark.parametrize("n", [1, 7, 60, 200])
def test_flip_bound_holds_for_every_bias(n, ends):
    law = CoinLaw("arcsine", *ends)
    bound = coin_flip_bound(n, law)
    worst = max(exact_flip(n, law, q) for q in np.linspace(0, 1, 101))
    assert worst <= bound + 1e-12


@pytest.mark.parametrize("ends", [(0.4, 0.6), (0.01, 0.05), (0.94, 0.99)])
def test_closed_formulas_hold_too(ends, monkeypatch):
    monkeypatch.setattr(coins, "HALVED", 0)
    law, n = CoinLaw("arcsine", *ends), 400
    bound = coin_flip_bound.__wrapped__(n, law)
    worst = max(exact_flip(n, law, q) for q in np.linspace(0, 1, 201))
    assert worst <= bound <= 1.5 * worst


@pytest.mark.parametrize(("p0", "q0"), [(-1, 1), (-0.3, 0.3), (-0.9, -0.6), (0.2, 0.7)])
def test_errors_are_bounded_at_the_ends_of_the_gap(p0, q0):
    n, law = 60, coin_law(60, p0, q0, 0.3)
    counts = np.arange(n + 1)
    level = law.probabilities(counts, n)
    wrong_above = float(binom.pmf(counts, n, (1 + q0) / 2) @ (1 - level))
    wrong_below = float(binom.pmf(counts, n, (1 + p0) / 2) @ level)
    bound = coin_error_bound(n, law, p0, q0)
    assert max(wrong_above, wrong_below) <= bound + 1e-12
    assert bound <= max(wrong_above, wrong_below) * 1.05 + 2e-3


@pytest.mark.parametrize(("p0", "q0"), [(-1, 1), (-0.2, 0.2), (-1, -0.9), (0.5, 0.9)])
def test_planned_throws_pass_and_one_fewer_fails(p0, q0):
    rho, beta = 0.15, 0.05
    n = smallest_throws(rho, beta, p0, q0)
    for throws, passes in ((n, True), (n - 1, False)):
        law = coin_law(throws, p0, q0, rho)
        good = coin_flip_bound(throws, law) <= rho
        assert (good and coin_error_bound(throws, law, p0, q0) <= beta) is passes


def test_skewed_coins_need_fewer_throws_than_fair_ones():
    """The paper's q0' / (alpha^2 rho^2): a gap of .04 near -1 against one around 0."""
    assert smallest_throws(0.1, 0.1, -0.98, -0.94) < smallest_throws(0.1, 0.1, -0.02, 0.02) / 8


def test_one_sided_coins_are_never_called_wrongly():
    for seed, side in itertools.product(range(50), (-1, 1)):
        found = decide_coin([side] * 19, key=SharedKey(seed))
        assert found.decisions[0] == side
    assert found.certificate.value("coin_error_bound") == 0.0
    assert found.certificate.certified


def test_thresholds_belong_to_the_coins_not_to_their_places():
    flips = np.random.default_rng(0).integers(0, 2, (200, 6))
    names, key = list("abcdef"), SharedKey("k")
    found = decide_coins(flips, -0.1, 0.1, key=key, names=names)
    order = [3, 1, 5, 0, 2, 4]
    again = decide_coins(flips[:, order], -0.1, 0.1, key=key, names=[names[i] for i in order])
    assert (found.decisions[order] == again.decisions).all()
    assert (found.thresholds[order] == again.thresholds).all()


def test_signs_and_bits_are_the_same_throws():
    bits = np.random.default_rng(0).integers(0, 2, (300, 3))
    results = [
        decide_coins(flips, -0.2, 0.2, key=SharedKey(1)).decisions.tolist()
        for flips in (bits, 2 * bits - 1, bits.astype(bool), bits.astype(float))
    ]
    assert all(result == results[0] for result in results)


def test_too_few_throws_are_not_certified():
    found = decide_coins(np.zeros((10, 1)), -0.1, 0.1, key=SharedKey(0), rho=0.05)
    assert not found.certificate.certified
    assert "requested rho=0.05" in found.certificate.reason
    found.certificate.check()


@pytest.mark.parametrize(
    ("flips", "message"),
    [([[0, 2]], "flips"), (np.zeros((0, 1)), "flips"), (np.zeros((2, 2, 2)), "flips")],
)
def test_bad_throws_are_named(flips, message):
    with pytest.raises(ValueError, match=message):
        decide_coins(flips, -0.1, 0.1, key=SharedKey(0))


def test_bad_parameters_are_named():
    with pytest.raises(ValueError, match="p0"):
        decide_coins([[1]], 0.1, -0.1, key=SharedKey(0))
    with pytest.raises(ValueError, match="rho"):
        decide_coins([[1]], -0.1, 0.1, key=SharedKey(0), rho=0)
    with pytest.raises(ValueError, match="names"):
        decide_coins([[1, 0]], -0.1, 0.1, key=SharedKey(0), names=["a"])
    with pytest.raises(ValueError, match="one row"):
        decide_coin([[1, 0]], key=SharedKey(0))
    with pytest.raises(ValueError, match="low"):
        CoinLaw("arcsine", 0.6, 0.4)
    with pytest.raises(ValueError, match="kind"):
        CoinLaw("sqrt", 0.1, 0.4)


@pytest.mark.parametrize("rho", [0.2, 0.1, 0.05])
def test_errors_below_exp_of_minus_one_over_rho_cost_a_constant_factor(rho):
    """lem:replicable-coin-testing errs with probability min(beta, exp(-1/rho))."""
    usual = smallest_throws(rho, 0.05, -0.3, 0.3)
    rare = smallest_throws(rho, min(0.05, np.exp(-1 / rho)), -0.3, 0.3)
    assert usual < rare < 3 * usual
    assert rare < 3 / (rho * 0.6) ** 2
