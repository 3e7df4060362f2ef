"""Cuts of a real distribution that two runs share, atoms included.

A cut c splits the line into x <= c and x > c; its level is the mass below. A level of the
distribution function is turned into the cut with the nearest level, so that an atom belongs to
one side as a whole, and two runs can only disagree about a level in the middle of an atom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.randomness.key import SharedKey
from replearn.records.checks import check_count

# Points of the shared Poisson process that are looked at first; then twice as many each time.
_FIRST_POINTS = 1 << 8
_MAX_POINTS = 1 << 24


@dataclass(frozen=True, eq=False)
class Cuts:
    """All cuts of a weighted sample.

    Parameters
    ----------
    values : ndarray of shape (k + 1,)
        Cut i is "x > values[i]"; the first is -inf.
    levels : ndarray of shape (k + 1,)
        Share of the sample at or below the cut: from 0 to 1.
    errors : ndarray of shape (k + 1,) or None
        Empirical error of "1 if x > values[i], else 0".
    """

    values: NDArray[np.float64]
    levels: NDArray[np.float64]
    errors: NDArray[np.float64] | None

    @property
    def switches(self) -> NDArray[np.float64]:
        """Levels at which the nearest cut changes: the midpoints of neighbouring levels."""
        return (self.levels[:-1] + self.levels[1:]) / 2.0

    def nearest(self, levels: ArrayLike) -> NDArray[np.intp]:
        """Return for each level the index of the cut with the nearest level.

        Examples
        --------
        >>> cuts_of_sample([1, 2, 2, 2]).nearest([0.1, 0.3, 0.9]).tolist()
        [0, 1, 2]
        """
        return np.searchsorted(self.switches, np.asarray(levels, dtype=np.float64), side="right")


@dataclass(frozen=True, eq=False)
class QuantileGrid:
    """Cuts at evenly spaced levels with a shared random offset.

    Parameters
    ----------
    levels : ndarray of float
        The levels, shared by all runs.
    values : ndarray of float
        The cuts "x > value"; -inf or inf if a level is nearest to 0 or 1.
    masses : ndarray of float
        Share of this sample at or below each cut.
    """

    levels: NDArray[np.float64]
    values: NDArray[np.float64]
    masses: NDArray[np.float64]


def cuts_of_sample(
    x: ArrayLike, y: ArrayLike | None = None, counts: ArrayLike | None = None
) -> Cuts:
    """Return all cuts of a sample, with their levels and errors.

    Parameters
    ----------
    x : array-like of shape (n,)
        Finite numbers; ties are one value.
    y : array-like of bool of shape (n,), default=None
        Labels, or numbers of ones among ``counts``.
    counts : array-like of int of shape (n,), default=None
        Number of rows that each entry represents.

    Examples
    --------
    >>> cuts = cuts_of_sample([3.0, 1.0, 1.0], [True, False, False])
    >>> cuts.values.tolist(), cuts.levels.round(2).tolist(), cuts.errors.round(2).tolist()
    ([-inf, 1.0, 3.0], [0.0, 0.67, 1.0], [0.67, 0.0, 0.33])
    """
    points = np.asarray(x, dtype=np.float64)
    if points.ndim != 1 or len(points) == 0 or not np.isfinite(points).all():
        raise ValueError("x must be at least one finite number, one for each row.")
    weights = np.ones(len(points), dtype=np.int64) if counts is None else np.asarray(counts)
    values, index = np.unique(points + 0.0, return_inverse=True)
    mass = np.bincount(index, weights=weights, minlength=len(values))
    below = np.concatenate([[0.0], np.cumsum(mass)])
    errors = None
    if y is not None:
        ones = np.bincount(index, weights=np.asarray(y, dtype=np.float64), minlength=len(values))
        ones_below = np.concatenate([[0.0], np.cumsum(ones)])
        # Wrong are ones at or below the cut and zeros above it.
        errors = (ones_below + (below[-1] - below) - (ones.sum() - ones_below)) / below[-1]
    levels = below / below[-1]
    return Cuts(np.concatenate([[-np.inf], values]), levels, errors)


def draw_level(
    cuts: Cuts,
    *,
    sharpness: float,
    key: SharedKey | str | bytes | int,
    errors: NDArray[np.float64] | None = None,
) -> tuple[float, int, int]:
    """Draw a level with density proportional to ``exp(-sharpness * error of its cut)``.

    All runs share one Poisson process of levels: the point with the smallest
    ``arrival * exp(sharpness * error)`` is drawn. Two runs with similar errors draw the same point.

    Parameters
    ----------
    cuts : Cuts
        With errors.
    sharpness : float
        Scale of the errors.
    key : SharedKey, str, bytes or int
        The same in both runs.
    errors : ndarray of shape (n_rules, k + 1), default=None
        Errors of several rules for each cut. If None, there is one rule with ``cuts.errors``.

    Returns
    -------
    level : float
        The drawn level.
    cut : int
        Index of its cut.
    rule : int
        Which of the rules.

    Examples
    --------
    >>> cuts = cuts_of_sample(np.arange(100.0), np.arange(100) >= 40)
    >>> level, cut, rule = draw_level(cuts, sharpness=2000.0, key="k")
    >>> float(cuts.values[cut])
    39.0
    """
    if errors is None:
        if cuts.errors is None:
            raise ValueError("cuts have no errors: give y to cuts_of_sample.")
        errors = cuts.errors[np.newaxis]
    key = SharedKey(key)
    lowest = float(errors.min())
    best = math.inf
    drawn = (0.0, 0, 0)
    start = 0
    clock = 0.0
    while start < _MAX_POINTS:
        stop = max(2 * start, _FIRST_POINTS)
        levels, rules, arrivals = _process(key, np.arange(start, stop), len(errors), clock)
        indices = cuts.nearest(levels)
        # theorem: thresholds-proper
        scores = np.log(arrivals) + sharpness * (errors[rules, indices] - lowest)
        first = int(np.argmin(scores))
        if scores[first] < best:
            best = float(scores[first])
            drawn = (float(levels[first]), int(indices[first]), int(rules[first]))
        clock = float(arrivals[-1])
        start = stop
        if math.log(clock) > best:  # later points arrive too late even without any error
            return drawn
    raise ValueError(
        f"sharpness={sharpness!r} is too large: more than {_MAX_POINTS} shared levels were tried."
    )


def _process(
    key: SharedKey, numbers: NDArray[np.intp], n_rules: int, clock: float
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
    """Some points of the shared Poisson process: levels, rules and arrival times."""
    levels = key.child("level").uniforms(numbers)
    rules = (key.child("rule").uniforms(numbers) * n_rules).astype(np.intp)
    gaps = -np.log1p(-key.child("arrival").uniforms(numbers))
    return levels, rules, clock + np.cumsum(np.maximum(gaps, 1e-300))


def quantile_grid(
    x: ArrayLike, n_levels: int, *, key: SharedKey | str | bytes | int
) -> QuantileGrid:
    """Return cuts at evenly spaced levels that two runs share.

    Parameters
    ----------
    x : array-like of shape (n,)
        Finite numbers, ties allowed.
    n_levels : int
        Number of levels; they lie at (i + u) / n_levels with one shared random u.
    key : SharedKey, str, bytes or int
        The same in both runs.

    Returns
    -------
    QuantileGrid
        Two runs differ at a level by more than a small mass only if the level lies within the
        sampling error of the middle of an atom.

    Examples
    --------
    >>> grid = quantile_grid([0.0] * 50 + list(range(1, 51)), 4, key="k")
    >>> grid.values.tolist()
    [-inf, 0.0, 8.0, 33.0]
    """
    check_count("n_levels", n_levels)
    offset = float(SharedKey(key).child("offset").uniforms([0])[0])
    levels = (np.arange(n_levels) + offset) / n_levels
    cuts = cuts_of_sample(x)
    indices = cuts.nearest(levels)
    values = np.where(indices == len(cuts.values) - 1, np.inf, cuts.values[indices])
    return QuantileGrid(levels, values, cuts.levels[indices])
