"""What one run says about a fresh sample: exact coverage, not simulation."""

import numpy as np
import pytest
from scipy import optimize, stats

from replearn.bounds.foreseen import _between_variance, _within_variance
from replearn.bounds.laws import arcsine_law, table_law, uniform_law

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


def joint_counts(n_blocks, q, common):
    """Two partitions that share ``common`` votes: pairs of counts and their probabilities."""
    own = n_blocks - common
    c, a, b = np.indices((common + 1, own + 1, own + 1)).reshape(3, -1)
    shared = stats.binom.pmf(np.arange(common + 1), common, q)
    single = stats.binom.pmf(np.arange(own + 1), own, q)
    return np.stack([c + a, c + b], axis=1), shared[c] * single[a] * single[b]


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
