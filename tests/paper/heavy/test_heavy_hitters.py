import math

import numpy as np
import pytest

from replearn.paper.heavy_hitters import MembershipLaw, find_heavy_hitters, membership_flip_bound
from replearn.randomness.key import SharedKey
from tests.factories import limit


def draw(rng, masses, n):
    """Points 0, 1, ... with these masses; the rest is spread over fresh points."""
    cells = rng.multinomial(n, [*masses, max(0.0, 1 - sum(masses))])
    heavy = np.repeat(np.arange(len(masses), dtype=float), cells[:-1])
    light = 1000 + rng.random(cells[-1])
    return np.concatenate([heavy, light])[:, np.newaxis]


def member_in(found, value):
    return bool(found.contains(np.array([[float(value)]]))[0])


def test_membership_is_decided_by_count_threshold_and_law():
    X = np.repeat(np.arange(6.0), [400, 250, 150, 100, 60, 40])[:, np.newaxis]
    law, key = MembershipLaw.standard(0.2), SharedKey("k")
    found = find_heavy_hitters(X, 0.2, key=key)
    points = np.arange(6.0)[:, np.newaxis]
    u = key.child("membership").uniforms(points)
    expected = u < law.probabilities([400, 250, 150, 100, 60, 40], 1000)
    assert (found.contains(points) == expected).all()
    assert found.contains(points)[:2].all()


def test_nothing_depends_on_the_order_of_the_rows():
    rng = np.random.default_rng(0)
    X = draw(rng, [0.1, 0.05, 0.02], 2000)
    for notion in ("pointwise", "replicable", "approximate"):
        first = find_heavy_hitters(X, 0.05, key=SharedKey(3), notion=notion)
        again = find_heavy_hitters(rng.permutation(X), 0.05, key=SharedKey(3), notion=notion)
        assert (first.values == again.values).all()
        assert (first.core == again.core).all()


@pytest.mark.parametrize("law", ["standard", "paper"])
def test_pointwise_flips_stay_below_the_certificate_at_the_peak(law):
    """Mass at the peak of the membership curve; 150 pairs with a key each."""
    nu, n, n_pairs = 0.1, 600, 150
    single = find_heavy_hitters(np.zeros((n, 1)), nu, key=SharedKey(0), law=law).law
    peak = 0.4 * nu if law == "standard" else 1.2 * nu
    rng, flips = np.random.default_rng(0), 0
    for pair in range(n_pairs):
        a, b = (
            member_in(find_heavy_hitters(draw(rng, [peak], n), nu, key=SharedKey(pair), law=law), 0)
            for _ in range(2)
        )
        flips += a != b
    bound = membership_flip_bound(n, single)
    assert flips <= limit(n_pairs, bound)
    assert flips > 0


@pytest.mark.parametrize("broken", ["fixed threshold", "own key", "place in a stream"])
def test_what_the_promise_rests_on(broken):
    """Mass at the middle of the law: without shared thresholds membership is two coins."""
    nu, n, n_pairs = 0.1, 4000, 80
    law = MembershipLaw.standard(nu)
    bound = membership_flip_bound(n, law)
    rng, flips = np.random.default_rng(1), 0
    middle = float(law.frequency(0.5))
    for pair in range(n_pairs):
        member = []
        for run in range(2):
            X = draw(rng, [middle], n)
            if broken == "fixed threshold":
                member.append((X == 0).mean() > middle)
            elif broken == "own key":
                found = find_heavy_hitters(X, nu, key=SharedKey(2 * pair + run))
                member.append(member_in(found, 0))
            else:
                values, counts = np.unique(X, return_counts=True)
                # the generator is shared, but consumed in the order in which points appear
                order = rng.permutation(len(values))
                u = np.random.default_rng(pair).random(len(values))[order]
                level = law.probabilities(counts, n)
                member.append(bool((u < level)[values == 0][0]))
        flips += member[0] != member[1]
    assert flips > limit(n_pairs, bound)


def test_completeness_and_soundness_of_the_certificate():
    nu, n = 0.1, 2000
    cert = find_heavy_hitters(np.zeros((n, 1)), nu, key=SharedKey(0), beta=0.2).certificate
    found_from, none_below = cert.value("found_from"), cert.value("false_members_below")
    assert none_below < nu / 16 < nu < found_from < 1.5 * nu
    rng, missed, wrong, n_runs = np.random.default_rng(2), 0, 0, 150
    heavies = [found_from] * math.floor(0.6 / found_from)
    lights = [none_below] * math.floor(0.3 / none_below)
    for run in range(n_runs):
        X = draw(rng, heavies + lights, n)
        found = find_heavy_hitters(X, nu, key=SharedKey(run))
        places = np.arange(len(heavies + lights), dtype=float)[:, np.newaxis]
        member = found.contains(places)
        missed += not member[: len(heavies)].all()
        wrong += member[len(heavies) :].any()
    assert missed <= limit(n_runs, 0.1)
    assert wrong <= limit(n_runs, 0.1)


def test_one_atom_of_mass_one_and_no_atom_at_all():
    for notion in ("pointwise", "replicable", "approximate"):
        found = find_heavy_hitters(np.ones((500, 2)), 0.1, key=SharedKey(0), notion=notion)
        assert found.values.tolist() == [[1.0, 1.0]]
        assert found.masses.tolist() == [1.0]
        spread = np.arange(20_000.0)[:, np.newaxis]
        light = find_heavy_hitters(spread, 0.1, key=SharedKey(0), notion=notion)
        assert len(light) == 0
        assert not light.contains(spread[:5]).any()


def test_core_is_a_part_of_the_approximate_set():
    rng = np.random.default_rng(3)
    X = draw(rng, [0.3, 0.2, 0.05, 0.02, 0.01], 20_000)
    found = find_heavy_hitters(X, 0.01, key=SharedKey(1), notion="approximate", gamma=0.4, rho=0.2)
    assert found.gamma_prime == pytest.approx(0.4 / (2 * math.log(10)))
    assert found.core[:2].all()
    assert not found.core[-1]
    assert found.notion == "approximate"
    found.certificate.check()


def test_bad_parameters_are_named():
    X = np.zeros((5, 1))
    for name, value in (("nu", 0.0), ("beta", 2.0), ("gamma", -1.0), ("rho", 0.0)):
        with pytest.raises(ValueError, match=name):
            find_heavy_hitters(X, **{"nu": 0.1, "key": SharedKey(0)} | {name: value})
    with pytest.raises(ValueError, match="notion"):
        find_heavy_hitters(X, 0.1, key=SharedKey(0), notion="private")
    with pytest.raises(ValueError, match="law"):
        find_heavy_hitters(X, 0.1, key=SharedKey(0), law="normal")
