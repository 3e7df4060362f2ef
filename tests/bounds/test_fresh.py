"""What one run says about a fresh sample: exact coverage, not simulation."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize, stats

from replearn.bounds import arcsine_law, flip_estimate, flip_limits, table_law, uniform_law
from replearn.bounds.foreseen import _between_variance, _within_variance, crossing_bound
from replearn.bounds.fresh import soft_flip_limits

LAWS = [
    uniform_law(1),
    uniform_law(2),
    uniform_law(9, 0.4),
    arcsine_law(16, 0.8),
    uniform_law(32),
    arcsine_law(64, 0.65),
    table_law([0, 0, 0.1, 0.9, 1, 1]),
]
IDS = [f"{law.name}-{law.n_blocks}" for law in LAWS]
THRESHOLDS = [0.0, 0.013, 0.25, 0.5, 0.77, 0.999]
SHARES = np.linspace(0, 1, 21)


def true_flips(law, q, u):
    """Flip probability for each count seen, given the threshold u."""
    needed = np.searchsorted(law.probabilities, u, side="right")
    seen = np.arange(law.n_blocks + 1)
    down = stats.binom.cdf(needed - 1, law.n_blocks, q)
    up = stats.binom.sf(needed - 1, law.n_blocks, q)
    return np.where(seen >= needed, down, up)


@pytest.mark.parametrize("law", LAWS, ids=IDS)
@pytest.mark.parametrize("delta", [0.02, 0.3])
def test_limits_of_one_partition_cover(law, delta):
    counts = np.arange(law.n_blocks + 1)
    for u in THRESHOLDS:
        lower, upper = flip_limits(law, counts, np.full(len(counts), u), delta=delta)
        for q in SHARES:
            truth = true_flips(law, q, u)
            missed = (truth > upper * (1 + 1e-9) + 1e-15) | (truth < lower - 1e-9)
            assert stats.binom.pmf(counts, law.n_blocks, q)[missed].sum() <= delta


def test_the_cover_of_one_partition_is_not_vacuous():
    """Just beyond a Clopper-Pearson limit the failure probability is the allowed one."""
    law, u, delta = uniform_law(32), 0.5, 0.1
    counts = np.arange(33)
    _, upper = flip_limits(law, counts, np.full(33, u), delta=delta)
    worst = 0.0
    for q in np.linspace(0.5, 1, 201):
        missed = true_flips(law, q, u) > upper
        worst = max(worst, stats.binom.pmf(counts, 32, q)[missed].sum())
    assert 0.8 * delta / 2 <= worst <= delta


def joint_counts(n_blocks, q, common):
    """Two partitions that share ``common`` votes: pairs of counts and their probabilities."""
    own = n_blocks - common
    c, a, b = np.indices((common + 1, own + 1, own + 1)).reshape(3, -1)
    shared = stats.binom.pmf(np.arange(common + 1), common, q)
    single = stats.binom.pmf(np.arange(own + 1), own, q)
    return np.stack([c + a, c + b], axis=1), shared[c] * single[a] * single[b]


@pytest.mark.parametrize("common", [0, 3, 6])
@pytest.mark.parametrize("law", [uniform_law(6), arcsine_law(6, 0.7)], ids=["uniform", "arcsine"])
def test_limits_of_two_partitions_cover(law, common):
    delta = 0.2
    pairs, _ = joint_counts(6, 0.5, common)
    for u in THRESHOLDS:
        answers = u < law.probabilities[pairs].mean(axis=1)
        lower, upper = flip_limits(law, pairs, np.full(len(pairs), u), delta=delta)
        for q in np.linspace(0, 1, 9):
            _, masses = joint_counts(6, q, common)
            one = masses[answers].sum()
            truth = np.where(answers, 1 - one, one)
            missed = (truth > upper + 1e-9) | (truth < lower - 1e-9)
            assert masses[missed].sum() <= delta


def worst_coupling(levels, masses, u):
    """Largest P(mean of two scores > u) over all couplings, by a linear programme."""
    size = len(levels)
    crossing = (levels[:, None] + levels) / 2 > u
    rows = np.kron(np.eye(size), np.ones(size))
    columns = np.kron(np.ones(size), np.eye(size))
    solution = optimize.linprog(
        -crossing.ravel().astype(float),
        A_eq=np.vstack([rows, columns]),
        b_eq=np.concatenate([masses, masses]),
    )
    return -solution.fun


@pytest.mark.parametrize("q", [0.1, 0.4, 0.8])
@pytest.mark.parametrize("u", [0.2, 0.45, 0.7, 0.95])
def test_two_partitions_in_the_worst_coupling(q, u):
    law = arcsine_law(6, 0.8)
    worst = worst_coupling(law.probabilities, stats.binom.pmf(np.arange(7), 6, q), u)
    bound = crossing_bound(
        law.probabilities, np.array([q]), np.array([0]), np.array([u]), n_partitions=2, strict=True
    )
    assert worst <= bound[0] + 1e-9


def test_many_partitions_attain_the_hinge_bound():
    """A Latin square in the upper tail: every run of the tail has exactly the tail's mean.

    With T = 2 and q = 1/2 the counts 1, 1, 2 make up the tail of probability 3/4; rotating them
    among three partitions gives the score (1/2 + 1/2 + 1)/3 = 2/3 whenever the tail occurs.
    """
    bound = crossing_bound(
        uniform_law(2).probabilities,
        np.array([0.5]),
        np.array([0]),
        np.array([2 / 3]),
        n_partitions=3,
        strict=False,
    )
    assert bound[0] == pytest.approx(0.75, rel=1e-6)
    # What one partition would say is exceeded by this coupling.
    assert stats.binom.sf(1, 2, 0.5) < 0.75


def share_variance(votes, n_blocks):
    """Estimate of the variance of the mean share that `joint_variance` sums over points."""
    shares = votes / n_blocks
    return _within_variance(shares, n_blocks) - _between_variance(shares)


@pytest.mark.parametrize("common", [0, 2, 4])
def test_share_variance_is_unbiased(common):
    for q in (0.1, 0.5, 0.7):
        pairs, masses = joint_counts(4, q, common)
        mean = pairs.mean(axis=1) / 4
        variance = masses @ mean**2 - (masses @ mean) ** 2
        assert masses @ share_variance(pairs, 4) == pytest.approx(variance, abs=1e-12)


def test_pooling_partitions_as_votes_would_understate_the_variance():
    pairs, masses = joint_counts(4, 0.5, 3)
    pooled = pairs.sum(axis=1) / 8
    naive = masses @ (pooled * (1 - pooled)) / 7
    assert naive < 0.7 * (masses @ share_variance(pairs, 4))


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_limits_are_ordered_and_do_not_depend_on_company(n_blocks, n_partitions, seed):
    rng = np.random.default_rng(seed)
    law = uniform_law(n_blocks, 0.9)
    votes = rng.integers(0, n_blocks + 1, (30, n_partitions))
    u = rng.random(30)
    lower, upper = flip_limits(law, votes, u, delta=0.1)
    assert np.all((lower >= 0) & (upper <= 1))
    alone = flip_limits(law, votes[:1], u[:1], delta=0.1)
    assert alone[0][0] == pytest.approx(lower[0], abs=1e-12)
    assert alone[1][0] == pytest.approx(upper[0], rel=1e-9)
    wider = flip_limits(law, votes, u, delta=0.01)
    assert np.all(wider[1] >= upper - 1e-9)
    assert np.all(wider[0] <= lower + 1e-9)
    estimate = flip_estimate(law, votes, u, joint=0.7)
    assert np.all((estimate >= 0) & (estimate <= 1))


def test_classes_are_treated_alike():
    law = arcsine_law(16, 0.8)
    votes = np.array([[3, 5], [8, 9], [16, 15]])
    u = np.array([0.3, 0.4, 0.6])
    mirrored = np.array([0.7, 0.6, 0.4])
    np.testing.assert_allclose(
        flip_limits(law, votes, u)[1], flip_limits(law, 16 - votes, mirrored)[1], rtol=1e-9
    )
    np.testing.assert_allclose(
        flip_estimate(law, votes, u, joint=0.7),
        flip_estimate(law, 16 - votes, mirrored, joint=0.7),
        atol=1e-12,
    )


@pytest.mark.parametrize(
    ("votes", "thresholds", "message"),
    [
        ([33], [0.5], "n_blocks=32"),
        ([-1], [0.5], "votes"),
        ([1.5], [0.5], "whole numbers"),
        ([3], [1.0], "thresholds"),
        ([3], [0.1, 0.2], "thresholds"),
    ],
)
def test_bad_votes_and_thresholds_are_named(votes, thresholds, message):
    with pytest.raises(ValueError, match=message):
        flip_limits(uniform_law(32), votes, thresholds)


def test_no_points():
    empty = np.zeros((0, 3), dtype=int)
    assert flip_estimate(uniform_law(8), empty, np.zeros(0), joint=0.5).shape == (0,)
    assert flip_limits(uniform_law(8), empty, np.zeros(0))[1].shape == (0,)


@pytest.mark.parametrize("n_partitions", [1, 3])
def test_limits_of_soft_votes_hold_for_scores_of_any_shape(n_partitions):
    # Scores of blocks are beta variables of mean q; all partitions have the same scores.
    rng, n_blocks, delta, runs = np.random.default_rng(0), 40, 0.1, 400
    law = uniform_law(n_blocks, 0.8)
    for q, shape in ((0.5, 0.2), (0.7, 3.0), (0.9, 0.5)):
        draw = rng.beta(q * shape, (1 - q) * shape, (2 * runs, n_blocks)).mean(axis=1)
        scores = np.repeat(draw[:runs, None], n_partitions, axis=1)
        for u in (0.3, 0.55):
            lower, upper = soft_flip_limits(law, scores, np.full(runs, u), delta=delta)
            answers = u < law.at(draw[:runs])
            chance = np.where(answers, np.mean(u >= law.at(draw)), np.mean(u < law.at(draw)))
            failed = (chance < lower - 0.08) | (chance > upper + 0.08)
            assert failed.mean() <= delta
            assert (lower <= upper).all()


def test_limits_of_soft_votes_are_narrow_far_from_the_threshold():
    law = uniform_law(200, 0.5)
    lower, upper = soft_flip_limits(law, [[0.99], [0.01], [0.5]], [0.2, 0.8, 0.5])
    assert upper[0] < 1e-6
    assert upper[1] < 1e-6
    assert lower[2] == 0
    assert upper[2] == 1
