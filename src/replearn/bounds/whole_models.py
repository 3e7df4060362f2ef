"""Two whole models differ on more than gamma: Jensen's inequality instead of bounded differences.

The mass on which two models differ is a mean over points, so a convex function of it is at most the
mean of that function, point by point, where vote counts are two independent binomial variables.
Proofs: docs/theory/approximate-jensen.md.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from replearn.bounds.flips import FLOAT_SLACK, NEGLECTED, binomial_masses, window_radius
from replearn.bounds.laws import ThresholdLaw
from replearn.bounds.numeric import Floats, round_up, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records import check_choice, check_fraction, check_positive

MAX_BLOCKS = 4000
"""With more blocks this bound is not computed: bounded differences are as good there, and fast."""

TOLERANCE = 1e-3
"""Gap between the returned supremum and the largest value evaluated, relative to the latter."""

_SMALL = 5e-4
"""Of smaller suprema the gap is relative to this: with many blocks they are as good as 0."""

_FIRST_CELLS = 64
_PARTS = 8
_BATCH = 256
_TRIED_CHANCES = (0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05)
_TRIED_OFFSETS = 256
_SHARES_OF_RHO = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Parts of rho that may be spent on points that carry mass."""


@theorem("approximate-jensen")
def jensen_bound(
    law: ThresholdLaw, rho: float, *, max_point_mass: float = 0.0, vote: str = "hard"
) -> float:
    """Bound the mass on which two models differ, except with probability ``rho``; at most 1.

    >>> from replearn.bounds import disagreement_bound, uniform_law
    >>> law = uniform_law(70)
    >>> round(jensen_bound(law, 0.05), 4), round(disagreement_bound(law, 0.05), 4)
    (0.1974, 0.2742)
    """
    check_fraction("rho", rho)
    if law.n_blocks > MAX_BLOCKS:
        return 1.0
    offsets, excesses = _excess_curve(law, vote)
    bounds = [1.0]
    for spent, reach in _point_mass_options(rho, max_point_mass):
        left = rho - spent
        offset = float(offsets[np.argmin(offsets + excesses / left)])  # any offset is valid
        # theorem: approximate-jensen (Markov's inequality for (Z - a)+)
        bounds.append(round_up(offset + excess_supremum(law, offset, vote) / left + reach))
    return min(bounds)


@theorem("approximate-jensen")
def jensen_tail(
    law: ThresholdLaw, gamma: float, *, max_point_mass: float = 0.0, vote: str = "hard"
) -> float:
    """Probability that two models differ on more than ``gamma``; 1 if nothing is known.

    >>> from replearn.bounds import disagreement_tail, uniform_law
    >>> law = uniform_law(70)
    >>> round(jensen_tail(law, 0.2), 4), round(disagreement_tail(law, 0.2), 4)
    (0.0455, 0.2916)
    """
    check_positive("gamma", gamma)
    if law.n_blocks > MAX_BLOCKS:
        return 1.0
    offsets, excesses = _excess_curve(law, vote)
    bounds = [1.0]
    for spent, reach in _point_mass_options(None, max_point_mass):
        left = gamma - reach
        if left <= 0.0:
            continue
        below = offsets < left * (1.0 - 1e-9)
        offset = float(offsets[np.argmin(excesses[below] / (left - offsets[below]))])
        # theorem: approximate-jensen (Markov's inequality for (Z - a)+)
        tail = excess_supremum(law, offset, vote) / (left - offset) + spent
        bounds.append(upper_probability(tail))
    return min(bounds)


def _point_mass_options(rho: float | None, max_point_mass: float) -> list[tuple[float, float]]:
    """Return pairs of a probability and how far point masses carry the difference beyond its mean.

    Thresholds of points that carry mass: P(W - Z > s) <= exp(-2 s^2 / q).
    """
    check_fraction("max_point_mass", max_point_mass, zero=True)
    if max_point_mass == 0.0:
        return [(0.0, 0.0)]
    parts = (rho or 0.1) * np.array(_SHARES_OF_RHO)
    # theorem: approximate-jensen, section "Points that carry mass"
    reaches = np.sqrt(max_point_mass * -np.log(parts) / 2.0) * (1.0 + 1e-12)
    return list(zip(parts.tolist(), reaches.tolist(), strict=True))


@lru_cache(maxsize=256)
def _excess_curve(law: ThresholdLaw, vote: str) -> tuple[Floats, Floats]:
    """Approximate the supremum as a function of the offset, from binned differences."""
    offsets = np.arange(_TRIED_OFFSETS) / _TRIED_OFFSETS
    curve = np.zeros(_TRIED_OFFSETS)
    heights = _heights(law, vote)
    counts = np.arange(law.n_blocks + 1)[np.newaxis, :]
    for chance in _TRIED_CHANCES:
        masses = binomial_masses(law.n_blocks, np.array([chance]), counts)[0]
        near = np.flatnonzero(masses > 1e-9)
        gaps = np.abs(np.subtract.outer(heights[near], heights[near])).ravel()
        weights = np.multiply.outer(masses[near], masses[near]).ravel()
        bins = np.minimum((gaps * _TRIED_OFFSETS).astype(np.intp), _TRIED_OFFSETS - 1)
        mass = np.bincount(bins, weights, _TRIED_OFFSETS)[::-1].cumsum()[::-1]
        total = np.bincount(bins, weights * gaps, _TRIED_OFFSETS)[::-1].cumsum()[::-1]
        curve = np.maximum(curve, total - offsets * mass)
    return offsets, curve


def _heights(law: ThresholdLaw, vote: str) -> Floats:
    """Return the law's values, or for soft votes the line with its largest slope."""
    if check_choice("vote", vote, ("hard", "soft")) == "hard":
        return law.probabilities
    return law.largest_step * np.arange(law.n_blocks + 1.0)


@lru_cache(maxsize=256)
def excess_supremum(law: ThresholdLaw, offset: float, vote: str = "hard") -> float:
    """Return an upper bound of sup over p of E(|G(B1) - G(B2)| - offset)+, B1, B2 ~ Bin(T, p).

    Soft votes: with ``g |B1 - B2|`` instead of the difference, g the law's largest step. On a cell
    [l, r] of p a function is at most the larger end value plus M (r - l)^2 / 8, if its second
    derivative is at least -M; cells that could still exceed the best value are divided.

    >>> from replearn.bounds import uniform_law
    >>> round(excess_supremum(uniform_law(1), 0.5), 3)
    0.25
    """
    curvature = _curvature(law, offset)
    last = 0.5 if law.is_symmetric or vote == "soft" else 1.0
    edges = np.linspace(0.0, last, _FIRST_CELLS + 1)
    low = edges[:-1]
    high = edges[1:]
    best = 0.0
    settled = 0.0
    while len(low):
        chances, found = np.unique(np.concatenate([low, high]), return_inverse=True)
        values = _excesses(law, offset, vote, chances)[found]
        ends = np.maximum(values[: len(low)], values[len(low) :])
        best = max(best, float(ends.max()))
        # theorem: approximate-jensen, section "The supremum"
        limits = ends + curvature * (high - low) ** 2 / 8.0
        is_open = limits > best + TOLERANCE * max(best, _SMALL) + FLOAT_SLACK
        settled = max(settled, float(limits[~is_open].max(initial=0.0)))
        parts = np.linspace(0.0, 1.0, _PARTS + 1)
        cuts = low[is_open, np.newaxis] + (high - low)[is_open, np.newaxis] * parts
        low = cuts[:, :-1].ravel()
        high = cuts[:, 1:].ravel()
    return min(max(settled, best) + 2.0 * (FLOAT_SLACK + NEGLECTED), 1.0)


def _curvature(law: ThresholdLaw, offset: float) -> float:
    """Return a bound of the second derivative, from second differences of the function of counts.

    The mean over 2 T coins of one chance p has the second derivative 2 T (T - 1) times the mean
    second difference in one count plus 2 T^2 times the mean mixed difference. A vote moves the
    excess by one step g at most, in a direction that two votes cannot turn round if a >= g.
    """
    n_blocks = law.n_blocks
    change = law.largest_step * (1.0 if offset >= law.largest_step else 2.0)
    return float(2.0 * n_blocks * (2.0 * n_blocks - 1.0) * change * (1.0 + 1e-9))


def _excesses(law: ThresholdLaw, offset: float, vote: str, chances: Floats) -> Floats:
    """Return the mean excess at each of some sorted chances.

    Twice the sum over i of b_i (G_j - G_i - a) b_j over all j with G_j >= G_i + a: these are the
    last ones, the same for all chances.
    """
    heights = _heights(law, vote)
    n_blocks = law.n_blocks
    radius = window_radius(n_blocks)
    found = np.empty(len(chances))
    for start in range(0, len(chances), _BATCH):
        part = chances[start : start + _BATCH]
        first = max(math.floor(n_blocks * part[0]) - radius, 0)
        last = min(math.ceil(n_blocks * part[-1]) + radius, n_blocks)
        counts: NDArray[np.intp] = np.arange(first, last + 1)[np.newaxis, :].repeat(len(part), 0)
        masses = binomial_masses(n_blocks, part, counts)
        levels = heights[first : last + 1]
        above = np.searchsorted(levels, levels + offset)
        mass = _suffix_sums(masses)[:, above]
        total = _suffix_sums(masses * levels)[:, above]
        excess = masses * np.maximum(total - (levels + offset) * mass, 0.0)
        found[start : start + _BATCH] = 2.0 * excess.sum(axis=1)
    return found


def _suffix_sums(values: Floats) -> Floats:
    """Return the sums from each column to the last, and a zero behind them."""
    sums: Floats = np.zeros((len(values), values.shape[1] + 1))
    np.cumsum(values[:, ::-1], axis=1, out=sums[:, -2::-1])
    return sums
