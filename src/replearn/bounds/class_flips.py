"""More than two classes: what one run tells about a fresh sample's prediction at a point.

The prediction is ``argmax_c (log W_c + gumbel_c)``, W the `class_weights` of the vote shares.
Given the
point's Gumbels, class c can beat class a only if its share exceeds that of a by a gap that follows
from ``gumbel_a - gumbel_c``: a statement about two counts.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds.multiclass import class_weights
from replearn.bounds.numeric import Floats, binomial_limits, kl_lower, kl_upper
from replearn.records import check_count, check_fraction

_DRAWS = 1000
_SEED = 20260101
_CELLS = 2_000_000
# Exponents of Chernoff's inequality that are tried; every one gives a valid bound.
_EXPONENTS = np.geomspace(1e-3, 30.0, 90)


def class_predictions(weights: ArrayLike, gumbels: ArrayLike) -> NDArray[np.intp]:
    """Return the class that each point's weights and shared Gumbels name.

    >>> class_predictions([[0.0, 3.0, 1.0]], [[9.0, 0.1, 0.2]]).tolist()
    [1]
    """
    with np.errstate(divide="ignore"):
        scores = np.log(np.asarray(weights, float)) + np.asarray(gumbels)
    predictions: NDArray[np.intp] = np.argmax(scores, axis=-1)
    return predictions


def class_flip_estimate(
    shares: ArrayLike, n_blocks: int, gumbels: ArrayLike, sharpness: float
) -> Floats:
    """Estimate the probability that a fresh sample predicts differently under the same key.

    Chance of all classes but the one that is named now; see `class_prediction_chances`.

    >>> class_flip_estimate([[1.0, 0.0, 0.0]], 64, [[0.0, 0.0, 0.0]], 4.0).tolist()
    [0.0]
    """
    parts, noise = _checked_parts(shares, gumbels)
    chances = class_prediction_chances(parts, n_blocks, noise, sharpness)
    now = class_predictions(class_weights(parts.mean(axis=1), sharpness), noise)
    chances[np.arange(len(now)), now] = 0.0
    return np.asarray(chances.sum(axis=1), float)


def class_prediction_chances(
    shares: ArrayLike, n_blocks: int, gumbels: ArrayLike, sharpness: float
) -> Floats:
    """Estimate how likely a fresh sample names each class under the same key.

    ``shares`` are vote shares of shape (points, [partitions,] classes). The same 1000 predictive
    vote vectors (Jeffreys' prior) serve every call: the estimate is a function of its arguments.

    >>> class_prediction_chances([[1.0, 0.0, 0.0]], 64, [[0.0, 0.0, 0.0]], 4.0).tolist()
    [[1.0, 0.0, 0.0]]
    """
    parts, noise = _checked_parts(shares, gumbels)
    worth = _effective_votes(parts, check_count("n_blocks", n_blocks))
    with np.errstate(divide="ignore"):
        return _chances(
            parts.mean(axis=1), worth, lambda fresh: np.log(class_weights(fresh, sharpness)), noise
        )


def label_prediction_chances(
    tallies: ArrayLike, n_labels: int, band: float, gumbels: ArrayLike
) -> Floats:
    """Estimate how likely fresh labels of a heavy point name each class under the same key.

    ``tallies`` count the classes among ``n_labels`` labels; ``band`` is the scale of the Gumbels.

    >>> bool(label_prediction_chances([[9, 1, 0]], 10, 0.1, [[0.0, 0.0, 0.0]])[0, 0] > 0.9)
    True
    """
    counts = np.asarray(tallies, float)
    noise = np.asarray(gumbels, float)
    worth = np.full(len(counts), float(check_count("n_labels", n_labels)))
    return _chances(counts / n_labels, worth, lambda fresh: fresh / band, noise)


def _chances(
    mean: Floats, worth: Floats, score: Callable[[Floats], Floats], noise: Floats
) -> Floats:
    """Share of predictive vectors that name each class."""
    chances = np.empty(mean.shape)
    size = max(1, _CELLS // (_DRAWS * mean.shape[1]))
    for start in range(0, len(mean), size):
        part = slice(start, start + size)
        scores = score(_predictive(mean[part], worth[part])) + noise[part, np.newaxis]
        predictions = np.argmax(scores, axis=-1)
        for label in range(mean.shape[1]):
            chances[part, label] = (predictions == label).mean(axis=1)
    return chances


def _predictive(mean: Floats, worth: Floats) -> Floats:
    """Vote shares of fresh samples: Dirichlet-multinomial, drawn with a fixed seed."""
    flat = np.empty((len(mean), _DRAWS, mean.shape[1]))
    for row, (shares, votes) in enumerate(zip(mean, worth, strict=True)):
        rng = np.random.default_rng(_SEED)
        chances = rng.dirichlet(shares * votes + 0.5, _DRAWS)
        whole = max(1, round(votes))
        flat[row] = rng.multinomial(whole, chances) / whole
    return flat


def _effective_votes(parts: Floats, n_blocks: int) -> Floats:
    """How many independent votes the partitions together are worth, between T and all.

    The variance of the mean share is that of one partition minus (1 - 1/J) times the variance
    between partitions (theorem: fresh-sample-point), here summed over the classes.
    """
    n_partitions, n_classes = parts.shape[1:]
    if n_partitions == 1:
        return np.full(len(parts), float(n_blocks))
    smoothed = (parts.mean(axis=1) * n_blocks + 0.5) / (n_blocks + 0.5 * n_classes)
    single = (smoothed * (1.0 - smoothed)).sum(axis=1) / n_blocks
    between = parts.var(axis=1, ddof=1).sum(axis=1) * (1.0 - 1.0 / n_partitions)
    joint = np.maximum(single - between, single / n_partitions)
    return np.asarray(n_blocks * single / joint, float)


def class_flip_limits(
    shares: ArrayLike,
    n_blocks: int,
    gumbels: ArrayLike,
    sharpness: float,
    *,
    delta: float = 0.05,
    counted: bool = True,
) -> tuple[Floats, Floats]:
    """Return limits of the probability that a fresh sample predicts differently with the same key.

    Both hold at once except with probability ``delta``, for each point. ``counted`` shares are
    counts of one partition over T and have exact binomial limits; others average partitions or
    scores.

    >>> lower, upper = class_flip_limits([[0.9, 0.1, 0.0]], 64, [[1.0, 0.0, 0.0]], 4.0)
    >>> float(lower[0]), bool(upper[0] < 1e-6)
    (0.0, True)
    """
    check_fraction("delta", delta, one=False)
    mean, noise = _checked(shares, gumbels)
    low, high = _share_limits(mean, n_blocks, delta / mean.shape[1], counted)
    now = class_predictions(class_weights(mean, sharpness), noise)
    every = np.arange(len(mean))
    lead = noise[every, now][:, np.newaxis] - noise
    others = np.ones_like(mean, dtype=bool)
    others[every, now] = False
    # theorem: fresh-sample-point (section "more than two classes")
    gap = _gap_to_win(lead) / sharpness
    beaten = _duel_bound(high, low[every, now][:, np.newaxis], gap, n_blocks)
    upper = np.minimum(np.where(others, beaten, 0.0).sum(axis=1), 1.0)
    gap = _gap_to_win(-lead) / sharpness
    kept = _duel_bound(high[every, now][:, np.newaxis], low, gap, n_blocks)
    lower = np.where(others, 1.0 - kept, 0.0).max(axis=1)
    return np.maximum(lower, 0.0), upper


def _gap_to_win(lead: Floats) -> Floats:
    """By how much the share must exceed the other's, times the sharpness, against this lead."""
    return np.where(lead > 0.0, 2.0 * np.tanh(np.maximum(lead, 0.0) / 2.0), lead) - 1e-12


def _share_limits(
    mean: Floats, n_blocks: int, delta: float, counted: bool
) -> tuple[Floats, Floats]:
    if counted:
        return binomial_limits(np.rint(mean * n_blocks), n_blocks, delta)
    mean = np.clip(mean, 0.0, 1.0)
    low = np.maximum(kl_lower(mean, n_blocks, delta / 2.0), 0.0)
    return low, kl_upper(mean, n_blocks, delta / 2.0)


def _duel_bound(rises: Floats, falls: Floats, gap: Floats, n_blocks: int) -> Floats:
    """Bound P(X - Y >= gap), X and Y shares of T votes with chances at most / at least these.

    Chernoff: (1 + p (e^t - 1) + q (e^-t - 1))^T e^(-t T gap), smallest over t; the chances are cut
    so that they sum to at most 1, the larger first.
    """
    rises, falls, gap = np.broadcast_arrays(rises, falls, gap)
    rises = np.minimum(rises, 1.0 - falls)
    best = np.ones(rises.shape)
    for t in _EXPONENTS:
        growth = rises * np.expm1(t) + falls * np.expm1(-t)
        logs = n_blocks * (np.log1p(np.maximum(growth, -1.0 + 1e-300)) - t * gap)
        best = np.minimum(best, np.exp(np.minimum(logs, 0.0)))
    return np.where(gap > 1.0, 0.0, np.minimum(best * (1.0 + 1e-9), 1.0))


def _checked_parts(shares: ArrayLike, gumbels: ArrayLike) -> tuple[Floats, Floats]:
    """Shares with an axis for partitions."""
    parts = np.asarray(shares, float)
    if parts.ndim == 2:
        parts = parts[:, np.newaxis]
    if parts.ndim != 3 or not parts.shape[1]:
        raise ValueError(f"shares {parts.shape} must have shape (points, [partitions,] classes).")
    return parts, _checked(parts.mean(axis=1), gumbels)[1]


def _checked(shares: ArrayLike, gumbels: ArrayLike) -> tuple[Floats, Floats]:
    mean = np.asarray(shares, float)
    noise = np.asarray(gumbels, float)
    if mean.ndim != 2 or mean.shape != noise.shape:
        raise ValueError(f"shares {mean.shape} and gumbels {noise.shape} must have equal shapes.")
    if mean.size and (mean.min() < 0.0 or mean.sum(axis=1).max() > 1.0 + 1e-9):
        raise ValueError("shares must be nonnegative and sum to at most 1 in every row.")
    return mean, noise
