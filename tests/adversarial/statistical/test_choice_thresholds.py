"""Thresholds with atoms: the promise at the planned n, the literal version failing, plain ERM.

Populations live on finitely many values, so that samples of any size are multinomial counts and
every mass and every error is known exactly.
"""

import numpy as np
import pytest

from replearn.bounds.multiclass import log_weight_agreement
from replearn.paper.quantiles import cuts_of_sample
from replearn.paper.thresholds import draw_cut, smallest_sample_threshold, threshold_flip_bound
from replearn.primitives.selection import choose_by_errors
from replearn.randomness.key import SharedKey
from tests.factories import limit

RHO, GAMMA, ALPHA, BETA = 0.2, 0.2, 0.2, 0.1


class World:
    """Values 0, 1, 2, ... with masses and probabilities of label 1."""

    def __init__(self, masses, ones):
        self.masses = np.asarray(masses, dtype=float) / np.sum(masses)
        self.ones = np.broadcast_to(np.asarray(ones, dtype=float), self.masses.shape)
        self.below = np.concatenate([[0.0], np.cumsum(self.masses)])
        wrong_below = np.concatenate([[0.0], np.cumsum(self.masses * self.ones)])
        right_below = np.concatenate([[0.0], np.cumsum(self.masses * (1 - self.ones))])
        self.errors = wrong_below + right_below[-1] - right_below  # of the rule x > i - 1

    def draw(self, rng, n):
        counts = rng.multinomial(n, self.masses)
        return counts, rng.binomial(counts, self.ones)

    def place(self, value):
        return 0 if value == -np.inf else int(value) + 1

    def distance(self, one, two):
        return abs(self.below[self.place(one)] - self.below[self.place(two)])

    def excess(self, value):
        return self.errors[self.place(value)] - self.errors.min()


def _one_atom(ones):
    masses = np.full(4001, 1 / 8000)
    masses[2000] = 0.5
    return World(masses, ones)


CONTINUOUS = np.full(5000, 1.0)
RAMP = np.linspace(0, 1, 5000)
WORLDS = {
    "continuous, noise": World(CONTINUOUS, 0.5),
    "continuous, ramp": World(CONTINUOUS, RAMP),
    "one atom of 1/2, noise": _one_atom(0.5),
    "one atom of 1/2, best cuts on both sides": _one_atom(
        np.r_[np.zeros(2000), 0.5, np.ones(2000)]
    ),
    "40 equal atoms, noise": World(np.ones(40), 0.5),
    "40 equal atoms, ramp": World(np.ones(40), np.linspace(0, 1, 40)),
    "two atoms": World(np.ones(2), [0.4, 0.6]),
    "ties of all sizes": World(1 / np.arange(1, 3000) ** 1.2, 0.5),
    "mixed": World(np.r_[np.full(1000, 1e-4), np.full(6, 0.15)], 0.5),
}


def _ours(world, rng, n, t, pair):
    counts, ones = world.draw(rng, n)
    cuts = cuts_of_sample(np.arange(len(counts))[counts > 0], ones[counts > 0], counts[counts > 0])
    return draw_cut(cuts, t, ">", SharedKey(pair))[1]


def _literal(world, rng, n, t, pair, n_quantiles=40):
    """The paper's box: quantiles of the sample by place, h_i: x >= t_i, keyed by i."""
    counts, ones = world.draw(rng, n)
    cuts = cuts_of_sample(np.arange(len(counts))[counts > 0], ones[counts > 0], counts[counts > 0])
    ranks = (np.arange(n_quantiles + 1) * n / n_quantiles).clip(1, n) / n
    # The quantile is the first value whose level reaches the rank; "x >= v" is the cut before it.
    places = np.searchsorted(cuts.levels, ranks - 1e-12) - 1
    places = np.concatenate([[0], places, [len(cuts.values) - 1]])
    index, _ = choose_by_errors(
        cuts.errors[places], np.arange(len(places)), sharpness=t, key=SharedKey(pair)
    )
    return float(cuts.values[places[index]])


def _erm(world, rng, n, t, pair):
    counts, ones = world.draw(rng, n)
    cuts = cuts_of_sample(np.arange(len(counts))[counts > 0], ones[counts > 0], counts[counts > 0])
    return float(cuts.values[np.argmin(cuts.errors)])


def failures(learner, world, n, t, pairs, seed=0, gamma=GAMMA):
    """Number of pairs of rules that differ on more than gamma, and all excess errors."""
    rng = np.random.default_rng(seed)
    far, excess = 0, []
    for pair in range(pairs):
        one, two = (learner(world, rng, n, t, pair) for _ in range(2))
        far += world.distance(one, two) > gamma
        excess += [world.excess(one), world.excess(two)]
    return far, np.array(excess)


@pytest.mark.statistical
@pytest.mark.parametrize("name", WORLDS)
def test_promise_at_the_planned_size(name):
    n, t = smallest_sample_threshold(RHO, GAMMA, ALPHA, BETA)
    assert threshold_flip_bound(t, n, GAMMA) <= RHO
    pairs = 150
    far, excess = failures(_ours, WORLDS[name], n, t, pairs)
    assert far <= limit(pairs, RHO)
    assert (excess[::2] > ALPHA).sum() <= limit(pairs, BETA)


@pytest.mark.statistical
@pytest.mark.parametrize("name", WORLDS)
def test_promise_where_the_bound_is_loose_in_n(name):
    # A smaller sample and a larger promise: the bound itself is tested, not only one plan.
    n, t, pairs = 3_000, 9.0, 150
    far, _ = failures(_ours, WORLDS[name], n, t, pairs, seed=1)
    assert far <= limit(pairs, threshold_flip_bound(t, n, GAMMA))


def _levels_differ(world, rng, n, t, n_directions):
    """Exact probability, given two samples, that the runs draw different levels."""
    steps, errors = [], []
    for _ in range(2):
        counts, ones = world.draw(rng, n)
        cuts = cuts_of_sample(np.arange(len(counts)), ones, counts)
        steps.append(cuts.switches)
        errors.append(cuts.errors)
    ends = np.unique(np.concatenate([[0.0, 1.0], *steps]))
    middles, lengths = (ends[:-1] + ends[1:]) / 2, np.tile(np.diff(ends), n_directions)
    logs = []
    for switches, error in zip(steps, errors, strict=True):
        above = error[np.searchsorted(switches, middles, side="right")]
        logs.append(-t * np.concatenate([above, 1 - above][:n_directions]) + np.log(lengths))
    # Within an interval both runs have one weight each: log_weight_agreement with prior weights.
    return 1.0 - log_weight_agreement(logs[0], logs[1])


@pytest.mark.parametrize("n_directions", [1, 2])
@pytest.mark.parametrize("name", WORLDS)
def test_levels_differ_no_more_often_than_the_bound_says(name, n_directions):
    # gamma = 1: the terms of heavy atoms and of the distance vanish, the rest is compared.
    n, t, pairs = 5_000, 9.0, 12
    rng = np.random.default_rng(2)
    found = [_levels_differ(WORLDS[name], rng, n, t, n_directions) for _ in range(pairs)]
    limit = np.mean(found) + 6 * np.std(found) / np.sqrt(pairs)
    assert 0.001 < limit <= threshold_flip_bound(t, n, 1.0, n_directions)


UPPER_EDGE = _one_atom(np.r_[np.zeros(2001), np.ones(2000)])


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("world", "t"),
    [(WORLDS["40 equal atoms, noise"], 40.0), (UPPER_EDGE, 300.0)],
    ids=["40 equal atoms", "one atom of 1/2, best cut at its upper edge"],
)
def test_the_literal_version_fails_at_every_n_and_ours_does_not(world, t):
    # Quantiles fall on the edges of atoms: a run takes the atom or the value next to it.
    pairs, gamma = 100, 0.02
    for n, most in ((20_000, 0.35), (2_000_000, 0.12)):
        literal, _ = failures(_literal, world, n, t, pairs, gamma=gamma)
        ours, _ = failures(_ours, world, n, t, pairs, gamma=gamma)
        assert literal > 0.15 * pairs
        assert ours <= min(most * pairs, literal / 2)


@pytest.mark.statistical
def test_plain_erm_is_not_replicable_on_noise():
    for name in ("continuous, noise", "40 equal atoms, noise", "one atom of 1/2, noise"):
        far, _ = failures(_erm, WORLDS[name], 20_000, 0.0, 60)
        assert far > 20
        ours, _ = failures(_ours, WORLDS[name], 20_000, 40.0, 60)
        assert ours < far / 2
