"""Two whole models differ on more than gamma: Jensen's inequality instead of bounded differences.

The mass on which two models differ is a mean over points, so a convex function of it is at most the
mean of that function, point by point, where vote counts are two independent binomial variables.
Proofs: docs/theory/approximate-jensen.md.
"""

from functools import lru_cache

import numpy as np

from replearn.bounds.flips import binomial_masses
from replearn.bounds.laws import ThresholdLaw
from replearn.bounds.numeric import Floats, round_up, upper_probability
from replearn.bounds.pairs import gap_coefficients, largest_mean
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_choice, check_fraction, check_positive

MAX_BLOCKS = 4000
"""With more blocks this bound is not computed: bounded differences are as good there, and fast."""

_TRIED_CHANCES = (0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05)
_TRIED_OFFSETS = 256
_SHARES_OF_RHO = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Parts of rho that may be spent on points that carry mass."""


@theorem("approximate-jensen")
def jensen_bound(
    law: ThresholdLaw, rho: float, *, max_point_mass: float = 0.0, vote: str = "hard"
) -> float:
    """Bound the mass on which two models differ, except with probability ``rho``; at most 1.

    >>> from replearn.bounds.approximate import disagreement_bound
    >>> from replearn.bounds.laws import uniform_law
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

    >>> from replearn.bounds.approximate import disagreement_tail
    >>> from replearn.bounds.laws import uniform_law
    >>> law = uniform_law(70)
    >>> round(jensen_tail(law, 0.2), 4), round(disagreement_tail(law, 0.2), 4)
    (0.0454, 0.2916)
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

    Soft votes: with ``g |B1 - B2|`` instead of the difference, g the law's largest step.

    >>> from replearn.bounds.laws import uniform_law
    >>> round(excess_supremum(uniform_law(1), 0.5), 3)
    0.25
    """
    # theorem: binomial-pairs
    return largest_mean(gap_coefficients(_heights(law, vote), offset))
