"""No claim is broken by a search for its worst case: small here, 10^6 pairs in the long suite.

False alarm: the limits of one claim are wrong with probability 1e-9, and there are fewer than 100.
"""

import math

import numpy as np
import pytest

from replearn.bounds.laws import arcsine_law
from replearn.guarantees.theorems import THEOREMS
from replearn.paper.heavy_hitters import SetLaw

from .attack import Finding, attack
from .claims import BY_NAME, CLAIMS
from .decision_thresholds import BlockThresholds, Prevalences, WholeSampleThreshold
from .heavy import Crowd
from .table import record
from .votes import LawOfVotes, levels

QUICK = {"tries": 10, "steps": 6, "pairs": 1000}
# A search that has to simulate at every step is shorter.
LONG = {
    True: {"tries": 600, "steps": 800, "pairs": 1_000_000},
    False: {"tries": 250, "steps": 250, "pairs": 1_000_000},
}

SHARP = [name for name, claim in BY_NAME.items() if claim.exact and not claim.slack]


def test_names_and_theorems():
    assert len(BY_NAME) == len(CLAIMS) >= 40
    assert {claim.theorem for claim in CLAIMS} <= set(THEOREMS)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_short_search_breaks_nothing(name):
    claim = BY_NAME[name]
    tries, steps = (round(claim.quick * QUICK[item]) for item in ("tries", "steps"))
    found = attack(claim, tries=tries, steps=steps, pairs=QUICK["pairs"])
    assert not found.complaints, "\n".join(found.complaints)


@pytest.mark.statistical
@pytest.mark.parametrize("name", BY_NAME)
def test_a_long_search_breaks_nothing(name):
    claim = BY_NAME[name]
    found = attack(claim, **LONG[claim.exact], seed=1)
    record(found)
    assert not found.complaints, "\n".join(found.complaints)
    assert found.pairs >= 10**6
    if name in SHARP:  # an attack that comes nowhere near would not notice a wrong bound
        assert found.ratio > 0.8


class NotShared(LawOfVotes):
    """Every run draws thresholds of its own."""

    def value(self, case):
        return math.nan

    def simulate(self, case, rng, pairs):
        votes = rng.binomial(case.law.n_blocks, 0.5, (2, pairs))
        one, two = rng.random((2, pairs)) < case.law.probabilities[votes]
        return (one != two).sum()


def test_thresholds_that_are_not_shared_are_noticed():
    claim = NotShared("uniform")
    claim.exact = False
    assert "simulated" in attack(claim, tries=5, steps=0, pairs=5000).complaints[0]


def test_a_threshold_from_the_whole_sample_is_noticed():
    claim = WholeSampleThreshold()
    law = arcsine_law(18, 0.9)
    case = Prevalences(law, 5, 0.5, (0.5, 0.5), 1.0)
    rng = np.random.default_rng(0)
    found = Finding(claim, case, claim.certified(case), math.nan, 1)
    found.pairs = 5000
    found.hits = claim.simulate(case, rng, found.pairs)
    assert found.limits[0] > 2 * found.certified
    kept = BlockThresholds()
    assert kept.simulate(case, rng, 5000) < 5000 * found.certified * 1.2


class TooSmall(LawOfVotes):
    """The promise is a tenth smaller than what is true at one half."""

    def certified(self, case):
        return 0.9 * super().certified(case)


def test_a_bound_that_is_a_tenth_too_small_is_noticed():
    found = attack(TooSmall("uniform"), tries=60, steps=60, pairs=2000)
    assert any("exact" in text for text in found.complaints)


class WrongSum(LawOfVotes):
    """The closed sum is not what the rule does."""

    def value(self, case):
        return 0.5 * super().value(case)


def test_a_sum_that_contradicts_the_rule_is_noticed():
    found = attack(WrongSum("arcsine"), tries=20, steps=0, pairs=20_000)
    assert any("outside" in text for text in found.complaints)


def test_whole_sets_come_near_their_bound():
    masses = np.array([0.151, 0.263, 0.249, 0.337])
    case = Crowd(20_000, SetLaw("power", 0.1, 0.42), masses)
    claim = BY_NAME["heavy points: whole set"]
    assert 0.7 < claim.value(case) / claim.certified(case) <= 1.0


def test_votes_of_one_block_are_coins():
    law = BY_NAME["pointwise, uniform law"].case(np.zeros(16)).law
    assert law.n_blocks == 1
    assert levels(np.array([0.5, 0.5]), law) == 0.5
