"""Approximate replicability: two whole models differ on little mass, except with probability rho.

The direct route concentrates the expected disagreement over the blocks and over the thresholds;
the Markov route needs nothing but the pointwise bound. A plan takes the smaller.
"""

import math

from replearn.bounds.flips import flip_bound
from replearn.bounds.laws import ThresholdLaw
from replearn.bounds.numeric import round_up, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_fraction, check_positive


@theorem("approximate-direct")
def disagreement_tail(
    law: ThresholdLaw,
    gamma: float,
    *,
    max_point_mass: float = 0.0,
    vote: str = "hard",
) -> float:
    """Bound the probability that two models disagree on more than ``gamma`` of the mass.

    Parameters
    ----------
    law : ThresholdLaw
        The law of the thresholds.
    gamma : float
        Mass on which the models may differ.
    max_point_mass : float
        Sum of squared masses of the points that are decided by votes; 0 for continuous data.
    vote : {"hard", "soft"}
        Votes of the blocks.

    Returns
    -------
    float
        rho, rounded up; 1 if the bound says nothing.

    Examples
    --------
    >>> from replearn.bounds.laws import uniform_law
    >>> round(disagreement_tail(uniform_law(500), 0.1), 4)
    0.0611
    """
    check_positive("gamma", gamma)
    mean, spread = vote_mean_and_spread(law, vote=vote)
    return deviation_tail(mean, spread + point_mass_spread(max_point_mass), gamma)


def deviation_tail(mean: float, spread: float, gamma: float) -> float:
    """Probability of more than gamma, from mean and spread."""
    excess = gamma - mean
    # theorem: approximate-direct
    return 1.0 if excess <= 0.0 else upper_probability(math.exp(-excess * excess / spread))


@theorem("approximate-direct")
def disagreement_bound(
    law: ThresholdLaw,
    rho: float,
    *,
    max_point_mass: float = 0.0,
    vote: str = "hard",
) -> float:
    """Bound the mass on which two models differ, except with probability ``rho``.

    Parameters
    ----------
    law : ThresholdLaw
        The law of the thresholds.
    rho : float
        Failure probability in (0, 1].
    max_point_mass, vote
        As for `disagreement_tail`.

    Returns
    -------
    float
        gamma, rounded up. It may exceed 1, and then promises nothing.

    Examples
    --------
    >>> from replearn.bounds.laws import uniform_law
    >>> round(disagreement_bound(uniform_law(500), 0.05), 4)
    0.1026
    """
    mean, spread = vote_mean_and_spread(law, vote=vote)
    return deviation_bound(mean, spread + point_mass_spread(max_point_mass), rho)


def deviation_bound(mean: float, spread: float, rho: float) -> float:
    """Return what is exceeded with probability rho at most, from mean and spread."""
    check_fraction("rho", rho)
    # theorem: approximate-direct
    # Rounded up twice: the tail of the result, itself rounded up, must not exceed rho.
    return round_up(round_up(mean + math.sqrt((-math.log(rho) + 1e-11) * spread)))


def point_mass_spread(max_point_mass: float) -> float:
    """Return what the thresholds of points that carry mass add to the spread."""
    return check_fraction("max_point_mass", max_point_mass, zero=True) / 2.0


@theorem("approximate-direct")
def vote_mean_and_spread(law: ThresholdLaw, *, vote: str = "hard") -> tuple[float, float]:
    """Mean and spread of the expected disagreement of the votes of two models.

    ``E exp(s Z) <= exp(s mean + s^2 spread / 4)`` for every s >= 0, where Z is the expected
    disagreement over the thresholds. Arguments as for `disagreement_tail`.

    >>> from replearn.bounds.laws import uniform_law
    >>> mean, spread = vote_mean_and_spread(uniform_law(100))
    >>> round(mean, 4), round(spread, 6)
    (0.0563, 0.01)
    """
    # One block moves every score by one step at most; for soft votes too, since a continuous law
    # joins the levels by straight lines.
    return flip_bound(law, vote), law.n_blocks * law.largest_step**2


@theorem("approximate-markov")
def markov_gamma(pointwise: float, rho: float) -> float:
    """Mass on which two pointwise replicable models differ, except with probability ``rho``.

    Returns ``pointwise / rho``, rounded up.

    >>> round(markov_gamma(0.01, 0.1), 6)
    0.1
    """
    check_fraction("pointwise", pointwise, zero=True)
    check_fraction("rho", rho)
    return round_up(pointwise / rho)


@theorem("approximate-markov")
def markov_rho(pointwise: float, gamma: float) -> float:
    """Probability that two pointwise replicable models differ on more than ``gamma``.

    Returns ``min(1, pointwise / gamma)``, rounded up.

    >>> round(markov_rho(0.01, 0.05), 6)
    0.2
    """
    check_fraction("pointwise", pointwise, zero=True)
    check_positive("gamma", gamma)
    return upper_probability(pointwise / gamma)
