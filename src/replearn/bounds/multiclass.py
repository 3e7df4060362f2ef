"""More than two classes: correlated sampling from the votes with Gumbels keyed by the label.

Each run answers ``argmax_c (log p_c + Gumbel_c)`` with its own vote distribution p and the shared
Gumbels of the point, so it answers c with probability p_c, and two runs mostly agree.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds.approximate import deviation_bound, deviation_tail, point_mass_spread
from replearn.bounds.laws import MOST_BLOCKS
from replearn.bounds.numeric import Floats
from replearn.bounds.suprema import (
    MOST_BLOCKS_BY_CELLS,
    distribution_functions,
    mean_difference_limit,
    not_all_equal,
    windows,
)
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count, check_fraction, check_positive
from replearn.records.search import require_integer


def agreement_probability(p: ArrayLike, q: ArrayLike) -> Floats:
    """Return the exact chance that two runs with given vote distributions answer the same label.

    Returns ``sum_i 1 / sum_j max(p_j / p_i, q_j / q_i)``.

    >>> agreement_probability([0.5, 0.5], [0.5, 0.5]).item()
    1.0
    >>> round(agreement_probability([0.6, 0.4], [0.4, 0.6]).item(), 4)
    0.8
    """
    first, second = _shares(p, "p"), _shares(q, "q")
    total = np.zeros(np.broadcast_shapes(first.shape, second.shape)[:-1])
    # theorem: multiclass-vote
    for label in range(first.shape[-1]):
        mine, other = first[..., label], second[..., label]
        both = (mine > 0.0) & (other > 0.0)
        scaled = np.maximum(
            first / np.where(both, mine, 1.0)[..., np.newaxis],
            second / np.where(both, other, 1.0)[..., np.newaxis],
        )
        total = total + np.where(both, 1.0 / scaled.sum(axis=-1), 0.0)
    return np.minimum(total, 1.0)


def log_weight_agreement(log_p: Floats, log_q: Floats) -> float:
    """P(argmax of log p + Gumbel is argmax of log q + Gumbel), weights not normalised.

    The sum over i of 1 / sum_j max(p_j / p_i, q_j / q_i). Sorted by p_j / q_j the maximum is the
    first ratio above i and the second below, so that running sums give it in N log N time.
    """
    possible = (log_p > -np.inf) | (log_q > -np.inf)
    log_p, log_q = log_p[possible], log_q[possible]
    order = np.argsort(log_p - log_q, kind="stable")
    log_p, log_q = log_p[order], log_q[order]
    above = np.logaddexp.accumulate(log_p[::-1])[::-1]
    below = np.concatenate([[-np.inf], np.logaddexp.accumulate(log_q)[:-1]])
    both = (log_p > -np.inf) & (log_q > -np.inf)
    with np.errstate(over="ignore"):
        rivals = np.exp((above - log_p)[both]) + np.exp((below - log_q)[both])
        return min(1.0, float((1.0 / rivals).sum()))


def _shares(weights: ArrayLike, name: str) -> Floats:
    """Return weights as shares that sum to one."""
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim == 0 or not np.all(values >= 0.0) or not np.all(values.sum(axis=-1) > 0.0):
        raise ValueError(f"{name} must hold nonnegative weights with a positive sum per row")
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


@lru_cache(maxsize=4096)
def mean_difference(n_blocks: int, q: float) -> float:
    """Return E|B1 - B2| / T for independent B1, B2 ~ Bin(T, q), rounded up.

    >>> from replearn.bounds.flips import central_binomial
    >>> abs(mean_difference(32, 0.5) / central_binomial(32) - 1) < 1e-8
    True
    """
    n_blocks = check_count("n_blocks", n_blocks, most=MOST_BLOCKS)
    if not 0.0 <= q <= 1.0:
        raise ValueError(f"q must be in [0, 1], got {q!r}")
    chance = np.array([q])
    limit = float(mean_difference_limit(n_blocks, chance)[0]) / n_blocks
    if n_blocks > MOST_BLOCKS_BY_CELLS:
        return limit
    levels = not_all_equal(
        distribution_functions(n_blocks, chance, windows(n_blocks, chance, chance)), 2
    )
    # counts outside the window have mass 1e-18 at most, and the masses are right to 5e-11
    return min(limit, float(levels.sum()) / n_blocks * (1.0 + 1e-9) + 1e-12)


@theorem("multiclass-vote")
def multiclass_flip_bound(n_blocks: int, n_classes: int) -> float:
    """Return how often at most two runs differ at a point, for several classes.

    Parameters
    ----------
    n_blocks : int
        Number of blocks T; hard or soft votes, one or several partitions.
    n_classes : int
        Number of classes K, at least 2. For two classes a shared threshold is twice as good.

    Returns
    -------
    float

    Examples
    --------
    >>> round(multiclass_flip_bound(128, 3), 4)
    0.1316
    """
    n_classes = check_count("n_classes", n_classes, least=2)
    # theorem: multiclass-vote
    tau = n_classes / 2.0 * mean_difference(n_blocks, 1.0 / n_classes) * (1.0 + 1e-15)
    return min(2.0 * tau / (1.0 + tau) * (1.0 + 1e-15), 1.0)


def smallest_blocks_multiclass(rho: float, n_classes: int) -> int:
    """Return the smallest number of blocks that keeps flips within a budget, several classes.

    >>> smallest_blocks_multiclass(0.1, 3)
    230
    """
    rho = check_fraction("rho", rho)
    check_count("n_classes", n_classes, least=2)
    return require_integer(
        lambda n_blocks: multiclass_flip_bound(n_blocks, n_classes) <= rho,
        f"rho={rho:g} with {n_classes} classes needs more than {MOST_BLOCKS} blocks: raise it",
        limit=MOST_BLOCKS,
    )


@theorem("approximate-direct")
def class_mean_and_spread(n_blocks: int, n_classes: int) -> tuple[float, float]:
    """Mean and spread of the expected disagreement of class votes; see `vote_mean_and_spread`.

    >>> mean, spread = class_mean_and_spread(230, 3)
    >>> round(mean, 4), round(spread, 4)
    (0.0999, 0.0142)
    """
    tau = n_classes / 2.0 * mean_difference(n_blocks, 1.0 / n_classes) * (1.0 + 1e-12)
    # theorem: approximate-direct (section "more than two classes")
    # 2 tv / (1 + tv) is concave: it lies below its tangent at tau.
    slope = 2.0 / (1.0 + tau) ** 2
    return 2.0 * tau / (1.0 + tau), slope**2 / n_blocks


@theorem("approximate-direct")
def class_disagreement_tail(
    n_blocks: int,
    n_classes: int,
    gamma: float,
    *,
    max_point_mass: float = 0.0,
) -> float:
    """Probability that two models with several classes disagree on more than ``gamma``.

    As `disagreement_tail`, for hard or soft votes and one or several partitions.

    >>> round(class_disagreement_tail(1000, 3, 0.2), 5)
    0.00187
    """
    check_positive("gamma", gamma)
    mean, spread = class_mean_and_spread(n_blocks, n_classes)
    return deviation_tail(mean, spread + point_mass_spread(max_point_mass), gamma)


@theorem("approximate-direct")
def class_disagreement_bound(
    n_blocks: int,
    n_classes: int,
    rho: float,
    *,
    max_point_mass: float = 0.0,
) -> float:
    """Mass on which two models with several classes differ, except with probability ``rho``.

    >>> round(class_disagreement_bound(1000, 3, 0.1), 4)
    0.1405
    """
    mean, spread = class_mean_and_spread(n_blocks, n_classes)
    return deviation_bound(mean, spread + point_mass_spread(max_point_mass), rho)
