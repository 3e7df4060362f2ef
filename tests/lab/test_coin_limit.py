"""The coin's exact limit: thresholds are enough, both sides meet, other arguments prove less."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from replearn.bounds.flips import flip_supremum
from replearn.bounds.laws import arcsine_law
from replearn_lab import coin_limit, information_limit
from replearn_lab.coin_limit import (
    acceptance,
    flips,
    guaranteed_flips,
    guaranteed_flips_exactly,
    rule_flips,
)


def test_known_values():
    assert coin_limit(1).upper == pytest.approx(1 / 2, abs=1e-4)
    assert coin_limit(2).upper == pytest.approx(3 / 8, abs=1e-4)


@pytest.mark.parametrize("n", [5, 16, 40])
def test_both_sides_meet(n):
    limit = coin_limit(n)
    assert limit.lower <= limit.upper <= 1.0001 * limit.lower
    best = min(flip_supremum(arcsine_law(n, width)) for width in (0.9, 0.95, 0.98, 0.99))
    assert limit.upper <= best * (1 + 1e-5)
    assert limit.lower <= flip_supremum(arcsine_law(n, 0.99)) <= 1.1 * limit.lower
    assert 0.2 * limit.lower < information_limit(n) <= limit.lower


def test_the_lower_side_holds_in_rational_numbers():
    limit = coin_limit(24)
    exact = guaranteed_flips_exactly(24, limit.biases, limit.masses)
    assert float(exact) == pytest.approx(limit.lower, abs=1e-10)
    assert exact >= limit.lower


@pytest.mark.parametrize("alpha", [1.0, 0.6])
@pytest.mark.parametrize("seed", range(6))
def test_thresholds_are_enough(alpha, seed):
    """Against any mixture of biases in the gap and any price, no set of counts beats them all."""
    n, rng = 7, np.random.default_rng(seed)
    biases = rng.uniform(-alpha, alpha, 5)
    masses, price = rng.dirichlet(np.ones(5)), rng.exponential(0.3)
    sets = np.array(list(product([0.0, 1.0], repeat=n + 1)))

    def accepted(bias):
        return sets @ binom.pmf(np.arange(n + 1), n, (1 + bias) / 2)

    cost = sum(m * flips(accepted(b)) for m, b in zip(masses, biases, strict=True))
    cost = cost - price * (accepted(alpha) - accepted(-alpha)) + price * 0.8
    found = guaranteed_flips(n, biases, masses, alpha=alpha, beta=0.1, price=price)
    assert cost.min() == pytest.approx(found, abs=1e-9)


def test_an_accuracy_that_may_fail_is_worth_its_share():
    """A rule may answer at random with probability 2 beta: the limit falls by that factor."""
    limit, relaxed = coin_limit(12), coin_limit(12, beta=1 / 3)
    assert relaxed.upper == pytest.approx(limit.upper / 3, rel=1e-4)


def test_a_gap_costs_flips_and_may_be_too_narrow():
    wide, narrow = coin_limit(60, alpha=0.6, beta=0.05), coin_limit(60, alpha=0.3, beta=0.05)
    assert wide.upper < narrow.lower
    assert narrow.upper < 1.001 * narrow.lower
    ends = acceptance(60, np.array([0.3, -0.3])) @ narrow.weights
    assert ends[0] >= 0.95 - 1e-7
    assert ends[1] <= 0.05 + 1e-7
    assert coin_limit(10, alpha=0.1, beta=0.01) is None


def test_constants_do_not_flip():
    assert rule_flips(np.array([0.5, 0.0, 0.0, 0.5])) == 0.0
    with pytest.raises(ValueError, match="alpha"):
        coin_limit(5, alpha=0.0)


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_no_rule_beats_the_adversary(alpha):
    """Any mixture of any sets of counts that is accurate enough flips as often as stated."""
    n, beta, rng = 12, 0.1, np.random.default_rng(1)
    limit, tried = coin_limit(n, alpha=alpha, beta=beta), 0
    heads = np.arange(n + 1)

    def accepted(rules, bias):
        return rules @ binom.pmf(heads, n, (1 + bias) / 2)

    while tried < 50:
        cuts = np.sort(rng.normal(n / 2, rng.uniform(0.3, 3.0), 30))
        rules = (heads > cuts[:, np.newaxis]) ^ (rng.random((30, n + 1)) < 0.01)
        if min(accepted(rules, alpha).mean(), 1 - accepted(rules, -alpha).mean()) < 1 - beta:
            continue
        tried += 1
        mean = [flips(accepted(rules, bias)).mean() for bias in limit.biases]
        assert limit.masses @ np.array(mean) >= limit.lower - 1e-12
