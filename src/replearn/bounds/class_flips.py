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
from replearn.bounds.numeric import Floats
from replearn.records.checks import check_count

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
