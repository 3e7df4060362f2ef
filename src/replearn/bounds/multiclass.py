"""More than two classes: votes, sharpened, and a label drawn with Gumbels keyed by the label.

`class_weights` turns vote shares into chances W. Each run predicts ``argmax_c (log W_c +
Gumbel_c)``
with the shared Gumbels of the point, so it predicts c with probability W_c, and two runs mostly
agree: they differ with probability at most ``sharpness / 4`` times the range of the differences of
their shares.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds.approximate import deviation_bound, deviation_tail, point_mass_spread
from replearn.bounds.laws import MAX_BLOCKS
from replearn.bounds.numeric import Floats, round_up
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count, check_fraction, check_positive
from replearn.records.search import require_integer


def agreement_probability(p: ArrayLike, q: ArrayLike) -> Floats:
    """Return the exact chance that two runs with given vote distributions predict the same label.

    Returns ``sum_i 1 / sum_j max(p_j / p_i, q_j / q_i)``.

    >>> agreement_probability([0.5, 0.5], [0.5, 0.5]).item()
    1.0
    >>> round(agreement_probability([0.6, 0.4], [0.4, 0.6]).item(), 4)
    0.8
    """
    first = _shares(p, "p")
    second = _shares(q, "q")
    total = np.zeros(np.broadcast_shapes(first.shape, second.shape)[:-1])
    # theorem: multiclass-vote
    for label in range(first.shape[-1]):
        mine = first[..., label]
        other = second[..., label]
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
    log_p = log_p[possible]
    log_q = log_q[possible]
    order = np.argsort(log_p - log_q, kind="stable")
    log_p = log_p[order]
    log_q = log_q[order]
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


def class_weights(shares: ArrayLike, sharpness: float) -> Floats:
    """Return the chance, over keys, that votes with these shares predict each class.

    Weights ``exp(sharpness * share)``; a class with more weight x than all others together,
    ``x = exp(y) : 1`` with y > 0, is predicted with probability ``min(1, 1/2 + y/4)`` instead of
    the smaller ``x / (1 + x)``. For two classes that is the threshold uniform on
    ``+- 2 / sharpness`` around even votes. Shares sum to one in each row.

    >>> class_weights([[0.6, 0.3, 0.1], [0.9, 0.1, 0.0]], 4.5).round(3).tolist()
    [[0.752, 0.176, 0.072], [1.0, 0.0, 0.0]]
    """
    given = np.asarray(shares, dtype=np.float64)
    weights = np.exp(sharpness * (given - given.max(axis=-1, keepdims=True)))
    top = np.argmax(given, axis=-1)[..., np.newaxis]
    np.put_along_axis(weights, top, 0.0, axis=-1)
    others = weights.sum(axis=-1, keepdims=True)  # the largest class has weight 1
    # theorem: multiclass-vote
    with np.errstate(divide="ignore"):
        clear = np.minimum(0.5 - np.log(others) / 4.0, 1.0)
    chance = np.where(others < 1.0, clear, 1.0 / (1.0 + others))
    weights *= (1.0 - chance) / np.where(others > 0.0, others, 1.0)
    np.put_along_axis(weights, top, chance, axis=-1)
    return np.asarray(weights)


def least_sharpness(n_classes: int) -> float:
    """Return the sharpness from which on unanimous votes are never overruled.

    >>> least_sharpness(2), round(least_sharpness(3), 4)
    (2.0, 2.6931)
    """
    n_classes = check_count("n_classes", n_classes, least=2)
    return 2.0 + math.log(n_classes - 1)


def mean_range(n_blocks: int, n_classes: int) -> float:
    """Bound the mean range of the differences between two runs' vote shares, rounded up.

    >>> from replearn.bounds.pairs import central_binomial
    >>> abs(mean_range(64, 2) / (2 * central_binomial(64)) - 1) < 0.005
    True
    """
    n_blocks = check_count("n_blocks", n_blocks, most=MAX_BLOCKS)
    n_classes = check_count("n_classes", n_classes, least=2)
    # theorem: multiclass-vote; Gamma(T + 1) / Gamma(T + 1/2) <= sqrt(T + 1/pi)
    decay = math.sqrt(n_blocks + 1.0 / math.pi) / n_blocks
    by_pairs = math.sqrt(2.0 * n_classes / math.pi) * decay
    by_squares = 2.0 * math.sqrt((1.0 - 1.0 / n_classes) / n_blocks)
    return round_up(min(by_pairs, by_squares))


@theorem("multiclass-vote")
def multiclass_flip_bound(n_blocks: int, n_classes: int, sharpness: float) -> float:
    """Return a bound on how often two runs differ at a point, for several classes.

    Parameters
    ----------
    n_blocks : int
        Number of blocks T; hard or soft votes, one or several partitions.
    n_classes : int
        Number of classes K, at least 2.
    sharpness : float
        Scale of the shares relative to the shared Gumbels; see `class_weights`.

    Examples
    --------
    >>> round(multiclass_flip_bound(250, 3, 4.5), 4)
    0.0984
    """
    check_positive("sharpness", sharpness)
    return min(round_up(sharpness / 4.0 * mean_range(n_blocks, n_classes)), 1.0)


@theorem("accuracy-factor")
def class_error_factor(n_classes: int, sharpness: float) -> float:
    """Return C: the mean error over keys is at most this many times that of the estimators.

    Needs a sharpness of at least `least_sharpness`.

    >>> class_error_factor(3, 4.5)
    2.0
    """
    check_positive("sharpness", sharpness)
    # theorem: accuracy-factor (section "more than two classes")
    spread = math.log1p(
        (check_count("n_classes", n_classes, least=2) - 2) * math.exp(-sharpness / 2)
    )
    return max(2.0, round_up(1.0 + spread / 2.0))


def smallest_blocks_multiclass(rho: float, n_classes: int) -> int:
    """Return the smallest number of blocks that keeps flips within a budget, several classes.

    At the least sharpness; more blocks allow a sharper rule.

    >>> smallest_blocks_multiclass(0.1, 3), smallest_blocks_multiclass(0.1, 4)
    (87, 154)
    """
    rho = check_fraction("rho", rho)
    sharpness = least_sharpness(n_classes)
    return require_integer(
        lambda n_blocks: multiclass_flip_bound(n_blocks, n_classes, sharpness) <= rho,
        f"rho={rho:g} with {n_classes} classes needs more than {MAX_BLOCKS} blocks: raise it",
        limit=MAX_BLOCKS,
    )


@theorem("approximate-direct")
def class_mean_and_spread(n_blocks: int, n_classes: int, sharpness: float) -> tuple[float, float]:
    """Mean and spread of the expected disagreement of class votes; see `vote_mean_and_spread`.

    >>> mean, spread = class_mean_and_spread(250, 3, 4.5)
    >>> round(mean, 4), round(spread, 5)
    (0.0984, 0.02025)
    """
    # theorem: approximate-direct (section "more than two classes")
    mean = round_up(sharpness / 4.0 * mean_range(n_blocks, n_classes))
    return mean, round_up(sharpness**2 / (4.0 * n_blocks))


@theorem("approximate-direct")
def class_disagreement_tail(
    n_blocks: int,
    n_classes: int,
    sharpness: float,
    gamma: float,
    *,
    max_point_mass: float = 0.0,
) -> float:
    """Probability that two models with several classes disagree on more than ``gamma``.

    As `disagreement_tail`, for hard or soft votes and one or several partitions.

    >>> round(class_disagreement_tail(1000, 3, 4.0, 0.2), 5)
    0.00223
    """
    check_positive("gamma", gamma)
    mean, spread = class_mean_and_spread(n_blocks, n_classes, sharpness)
    return deviation_tail(mean, spread + point_mass_spread(max_point_mass), gamma)


@theorem("approximate-direct")
def class_disagreement_bound(
    n_blocks: int,
    n_classes: int,
    sharpness: float,
    rho: float,
    *,
    max_point_mass: float = 0.0,
) -> float:
    """Mass on which two models with several classes differ, except with probability ``rho``.

    >>> round(class_disagreement_bound(1000, 3, 4.0, 0.1), 4)
    0.1397
    """
    mean, spread = class_mean_and_spread(n_blocks, n_classes, sharpness)
    return deviation_bound(mean, spread + point_mass_spread(max_point_mass), rho)
