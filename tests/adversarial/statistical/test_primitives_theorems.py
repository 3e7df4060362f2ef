"""The promises of the primitives on inputs made to break them.

Every trial is a pair of runs on fresh samples; pairs are independent, so the number of failures is
binomial. A promise is refuted when it exceeds a limit that chance exceeds with probability 1e-8.
"""

import numpy as np
import pytest

from replearn.paper.coins import decide_coins, smallest_throws
from replearn.paper.heavy_hitters import (
    MembershipLaw,
    SetLaw,
    find_heavy_hitters,
    membership_flip_bound,
    set_flip_bound,
)
from replearn.paper.heavy_labels import label_heavy_hitters
from replearn.paper.signs import estimate_signs
from replearn.randomness.key import SharedKey
from tests.factories import limit

# -- coins ---------------------------------------------------------------------------------------
GAPS = [(-1.0, 1.0), (-0.3, 0.3), (-0.96, -0.8), (0.7, 0.95)]


def throw(rng, n, p, n_coins):
    return rng.random((n, n_coins)) < (1 + p) / 2


@pytest.mark.parametrize(
    ("p0", "q0"),
    [*GAPS[:2], *(pytest.param(*gap, marks=pytest.mark.statistical) for gap in GAPS[2:])],
)
def test_coins_agree_and_are_right(p0, q0):
    """A thousand coins of each bias, each with a threshold of its own: a thousand pairs."""
    rho, beta, n_coins = 0.15, 0.05, 1000
    n, rng, key = smallest_throws(rho, beta, p0, q0), np.random.default_rng(0), SharedKey("coins")
    for p in (p0, q0, (p0 + q0) / 2, 0.75 * p0 + 0.25 * q0, 0.0 if p0 < 0 < q0 else p0):
        runs = [
            decide_coins(throw(rng, n, p, n_coins), p0, q0, key=key, rho=rho, beta=beta)
            for _ in range(2)
        ]
        assert runs[0].certificate.certified
        flips = int((runs[0].decisions != runs[1].decisions).sum())
        assert flips <= limit(n_coins, runs[0].certificate.value("coin_flip_bound"))
        if p in (p0, q0):
            wrong = int((runs[0].decisions != (1 if p == q0 else -1)).sum())
            assert wrong <= limit(n_coins, runs[0].certificate.value("coin_error_bound"))


@pytest.mark.parametrize("broken", ["fixed threshold", "own key", "place in a stream"])
def test_coins_break_without_shared_thresholds_keyed_by_the_coin(broken):
    n, n_coins, rng = smallest_throws(0.1, 0.05, -0.3, 0.3), 400, np.random.default_rng(1)
    decisions = []
    for run in range(2):
        flips = throw(rng, n, 0.0, n_coins)
        if broken == "fixed threshold":
            decisions.append(flips.mean(axis=0) > 0.5)
            continue
        key = SharedKey(run if broken == "own key" else 0)
        # by place: the coins come in another order in the second run
        names = np.arange(n_coins) if broken == "own key" else rng.permutation(n_coins)
        decisions.append(decide_coins(flips, -0.3, 0.3, key=key, names=names.tolist()).decisions)
    assert int((decisions[0] != decisions[1]).sum()) > limit(n_coins, 0.1)


@pytest.mark.statistical
@pytest.mark.parametrize(("method", "n", "d"), [("thresholds", 20_000, 10), ("joint", 20_000, 10)])
@pytest.mark.parametrize("p", [0.0, 0.02, "spread"])
def test_sign_vectors_agree(method, n, d, p):
    biases = np.linspace(-0.05, 0.05, d) if p == "spread" else np.full(d, p)
    n_pairs, rng, rho, different = 120, np.random.default_rng(2), 0.25, 0
    for pair in range(n_pairs):
        # counts are enough: the primitive sees throws in one order only
        signs = []
        for _ in range(2):
            heads = rng.binomial(n, (1 + biases) / 2)
            flips = np.arange(n)[:, None] < heads
            found = estimate_signs(flips, 0.5, key=SharedKey(pair), rho=rho, method=method)
            signs.append(found.signs)
        different += bool((signs[0] != signs[1]).any())
    step = "joint_sign_flip_bound" if method == "joint" else "sign_flip_bound"
    assert found.certificate.value(step) <= rho
    assert different <= limit(n_pairs, found.certificate.value(step))


# -- heavy points --------------------------------------------------------------------------------


def draw(rng, masses, n):
    counts = rng.multinomial(n, [*masses, max(0.0, 1 - sum(masses))])
    heavy = np.repeat(np.arange(len(masses), dtype=float), counts[:-1])
    return np.concatenate([heavy, 10**6 + rng.random(counts[-1])])[:, np.newaxis]


@pytest.mark.statistical
@pytest.mark.parametrize("law", ["standard", "paper"])
@pytest.mark.parametrize("part", [1 / 16, 0.2, 0.4, 0.7, 1.0, 1.3, 2.0])
def test_membership_flips_stay_below_the_bound_at_every_mass(law, part):
    """Twelve points of one mass, 150 pairs: each point is a trial of its own pair."""
    nu, n, n_pairs = 0.04, 1500, 150
    masses = [part * nu] * min(12, int(1 / (part * nu)))
    rng, flips = np.random.default_rng(3), 0
    places = np.arange(len(masses), dtype=float)[:, None]
    for pair in range(n_pairs):
        first, second = (
            find_heavy_hitters(draw(rng, masses, n), nu, key=SharedKey(pair), law=law)
            for _ in range(2)
        )
        # one point per pair keeps the trials independent
        chosen = pair % len(masses)
        flips += first.contains(places)[chosen] != second.contains(places)[chosen]
    assert flips <= limit(n_pairs, membership_flip_bound(n, first.law))


@pytest.mark.statistical
@pytest.mark.parametrize(
    "masses",
    [[0.05] * 20, [0.1] * 10, [1.0], np.geomspace(0.04, 0.16, 12).tolist(), [0.0995] * 10],
    ids=["at low", "at nu", "one atom", "spread", "many equal"],
)
def test_whole_sets_agree_on_adversarial_masses(masses):
    nu, n, n_pairs = 0.1, 12_000, 200
    masses = [m / max(1.0, sum(masses)) for m in masses]
    rng, different, law = np.random.default_rng(4), 0, SetLaw.standard(nu)
    for pair in range(n_pairs):
        sets = [
            sorted(
                find_heavy_hitters(
                    draw(rng, masses, n), nu, key=SharedKey(pair), notion="replicable"
                ).values.ravel()
            )
            for _ in range(2)
        ]
        different += sets[0] != sets[1]
    assert different <= limit(n_pairs, set_flip_bound(n, law))


@pytest.mark.statistical
def test_approximate_sets_differ_on_little_mass():
    """Cores equal and D(S1 xor S2) <= gamma, except with the stated probability."""
    rho, gamma, nu, n, n_pairs = 0.5, 0.9, 0.05, 60_000, 40
    masses = np.array([0.35, 0.2, 0.1, *[0.02] * 12])
    rng, bad = np.random.default_rng(5), 0
    for pair in range(n_pairs):
        found = [
            find_heavy_hitters(
                draw(rng, masses, n),
                nu,
                key=SharedKey(pair),
                notion="approximate",
                rho=rho,
                gamma=gamma,
            )
            for _ in range(2)
        ]
        cores = [set(f.values[f.core].ravel()) for f in found]
        sets = [set(f.values.ravel()) for f in found]
        mass = sum(masses[int(x)] for x in sets[0] ^ sets[1])
        bad += cores[0] != cores[1] or mass > gamma
    total = found[0].certificate.value("union_bound")
    assert total <= rho
    assert bad <= limit(n_pairs, total)


@pytest.mark.statistical
@pytest.mark.parametrize("bias", [0.0, 0.1, -0.3])
def test_heavy_labels_agree(bias):
    law, n, n_pairs = MembershipLaw("sqrt", 0.1, 0.15), 1200, 150
    rng, flips = np.random.default_rng(7), 0
    for pair in range(n_pairs):
        labels = []
        for _ in range(2):
            X = rng.integers(0, 4, n)[:, None]
            y = (rng.random(n) < (1 + bias) / 2).astype(int)
            heavy = find_heavy_hitters(X, 0.15, key=SharedKey(pair), law=law)
            found = label_heavy_hitters(X, y, heavy, key=SharedKey(pair), classes=[0, 1])
            labels.append(dict(zip(heavy.values[:, 0].tolist(), found.labels, strict=True)))
        flips += labels[0][pair % 4] != labels[1][pair % 4]
    assert flips <= limit(n_pairs, found.certificate.value("label_flip_bound"))


def test_a_hundred_thousand_light_points():
    """Nothing is heavy, and nothing is found, in either run."""
    rng = np.random.default_rng(8)
    for notion in ("pointwise", "replicable", "approximate"):
        found = find_heavy_hitters(
            rng.integers(0, 10**5, (20_000, 1)), 0.05, key=SharedKey(0), notion=notion
        )
        assert len(found) == 0
