"""Approximate replicability: two whole models differ on little mass, except with probability rho.

The direct route concentrates the expected disagreement over the blocks and over the thresholds;
the Markov route needs nothing but the pointwise bound. A plan takes the smaller.
"""

import math

from replearn.bounds._checks import checked_width
from replearn.bounds._numeric import (
    check_fraction,
    check_positive,
    round_up,
    smallest_integer,
    upper_probability,
)
from replearn.bounds.flips import flip_bound
from replearn.bounds.laws import ThresholdLaw, arcsine_law, uniform_law

__all__ = [
    "disagreement_bound",
    "disagreement_tail",
    "heavy_disagreement_tail",
    "markov_gamma",
    "markov_rho",
    "smallest_blocks_approximate",
]

# Ways of splitting gamma that are tried: every one is valid, so more only sharpens.
_SPLITS = 400


def disagreement_tail(
    law: ThresholdLaw,
    gamma: float,
    *,
    atoms: float = 0.0,
    shared_rows: bool = False,
    vote: str = "hard",
) -> float:
    """Probability that two models disagree on more than ``gamma`` of the mass.

    Parameters
    ----------
    law : ThresholdLaw
        The law of the thresholds.
    gamma : float
        Mass on which the models may differ.
    atoms : float
        Sum of squared masses of the points that are decided by votes; 0 for continuous data.
    shared_rows : bool
        Whether the partition is keyed by content and a row can occur in both samples.
    vote : {"hard", "soft"}
        Votes of the blocks.

    Returns
    -------
    float
        rho, rounded up; 1 where the bound says nothing.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> round(disagreement_tail(uniform_law(500), 0.1), 4)
    0.0611
    """
    check_positive("gamma", gamma)
    mean, spread = _mean_and_spread(law, atoms, shared_rows, vote)
    excess = gamma - mean
    # theorem: approximate-direct
    return 1.0 if excess <= 0.0 else upper_probability(math.exp(-excess * excess / spread))


def disagreement_bound(
    law: ThresholdLaw,
    rho: float,
    *,
    atoms: float = 0.0,
    shared_rows: bool = False,
    vote: str = "hard",
) -> float:
    """Mass on which two models differ, except with probability ``rho``.

    Parameters
    ----------
    law : ThresholdLaw
        The law of the thresholds.
    rho : float
        Failure probability in (0, 1].
    atoms : float
        Sum of squared masses of the points that are decided by votes; 0 for continuous data.
    shared_rows : bool
        Whether the partition is keyed by content and a row can occur in both samples.
    vote : {"hard", "soft"}
        Votes of the blocks.

    Returns
    -------
    float
        gamma, rounded up; may exceed 1, and then promises nothing.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> round(disagreement_bound(uniform_law(500), 0.05), 4)
    0.1026
    """
    check_fraction("rho", rho)
    mean, spread = _mean_and_spread(law, atoms, shared_rows, vote)
    # theorem: approximate-direct
    # Rounded up twice: disagreement_tail of the result, itself rounded up, must not exceed rho.
    return round_up(round_up(mean + math.sqrt((-math.log(rho) + 1e-11) * spread)))


def _mean_and_spread(
    law: ThresholdLaw, atoms: float, shared_rows: bool, vote: str
) -> tuple[float, float]:
    """E Z at most, and s with P(distance > mean + t) <= exp(-t^2 / s)."""
    check_fraction("atoms", atoms, zero=True)
    pointwise = flip_bound(law, vote)
    # One block moves every score by one step at most; for soft votes too, since a continuous law
    # joins the levels by straight lines.
    blocks = law.n_blocks * law.largest_step**2
    if shared_rows:
        return 2.0 * pointwise, 2.0 * blocks + atoms / 2.0
    return pointwise, blocks + atoms / 2.0


def smallest_blocks_approximate(
    rho: float,
    gamma: float,
    *,
    law: str = "uniform",
    width: float = 1.0,
    shared_rows: bool = False,
) -> int:
    """Smallest number of blocks for (rho, gamma) by the direct route, without atoms.

    Parameters
    ----------
    rho : float
        Failure probability in (0, 1].
    gamma : float
        Mass on which the models may differ, in (0, 1].
    law : {"uniform", "arcsine"}
        Kind of law.
    width : float
        Its half-width in (0, 1].
    shared_rows : bool
        Whether the partition is keyed by content and a row can occur in both samples.

    Returns
    -------
    int
        T passes and T - 1 fails.

    Examples
    --------
    >>> smallest_blocks_approximate(0.05, 0.1)
    527
    """
    check_fraction("rho", rho)
    check_fraction("gamma", gamma)
    checked_width(width)
    if law not in ("uniform", "arcsine"):
        raise ValueError(f"law={law!r} must be 'uniform' or 'arcsine'.")
    build = uniform_law if law == "uniform" else arcsine_law

    def passes(n_blocks: int) -> bool:
        tail = disagreement_tail(build(n_blocks, width), gamma, shared_rows=shared_rows)
        return tail <= rho

    found = smallest_integer(passes, limit=10**7)
    if found is None:
        raise ValueError(f"rho={rho!r}, gamma={gamma!r} need more than 10**7 blocks.")
    return found


def markov_gamma(pointwise: float, rho: float) -> float:
    """Mass on which two pointwise replicable models differ, except with probability ``rho``.

    Parameters
    ----------
    pointwise : float
        Pointwise flip bound.
    rho : float
        Failure probability in (0, 1].

    Returns
    -------
    float
        ``pointwise / rho``, rounded up.

    Examples
    --------
    >>> round(markov_gamma(0.01, 0.1), 6)
    0.1
    """
    check_fraction("pointwise", pointwise, zero=True)
    check_fraction("rho", rho)
    # theorem: approximate-markov
    return round_up(pointwise / rho)


def markov_rho(pointwise: float, gamma: float) -> float:
    """Probability that two pointwise replicable models differ on more than ``gamma``.

    Parameters
    ----------
    pointwise : float
        Pointwise flip bound.
    gamma : float
        Mass on which the models may differ, positive.

    Returns
    -------
    float
        ``min(1, pointwise / gamma)``, rounded up.

    Examples
    --------
    >>> round(markov_rho(0.01, 0.05), 6)
    0.2
    """
    check_fraction("pointwise", pointwise, zero=True)
    check_positive("gamma", gamma)
    # theorem: approximate-markov
    return upper_probability(pointwise / gamma)


def heavy_disagreement_tail(
    law: ThresholdLaw,
    gamma: float,
    *,
    heavy: float,
    atoms: float = 0.0,
    shared_rows: bool = False,
) -> float:
    """Disagreement of whole models whose heavy points have their own membership and labels.

    Parameters
    ----------
    law : ThresholdLaw
        The law of the vote thresholds.
    gamma : float
        Mass on which the models may differ.
    heavy : float
        Pointwise bound for membership plus that for heavy labels.
    atoms : float
        Sum of squared masses of the points outside the heavy set, at most their largest mass.
    shared_rows : bool
        Whether the partition is keyed by content and a row can occur in both samples.

    Returns
    -------
    float
        The smallest ``heavy / g + disagreement_tail(law, gamma - g)`` over splits of gamma.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> round(heavy_disagreement_tail(uniform_law(2000), 0.1, heavy=0.001, atoms=1e-4), 3)
    0.035
    """
    check_fraction("heavy", heavy, zero=True)
    check_positive("gamma", gamma)
    if heavy == 0.0:
        return disagreement_tail(law, gamma, atoms=atoms, shared_rows=shared_rows)
    best = 1.0
    for share in range(1, _SPLITS):
        part = gamma * share / _SPLITS
        # The subtraction may round up: leave the votes a hair less than what remains.
        rest = (gamma - part) * (1.0 - 1e-12)
        votes = disagreement_tail(law, rest, atoms=atoms, shared_rows=shared_rows)
        best = min(best, markov_rho(heavy, part) + votes)
    return best
