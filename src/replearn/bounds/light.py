"""Accuracy on light points: the error hardly depends on the thresholds when no mass is large.

``atoms`` is the sum of squared masses of the points that are decided by votes. It is at most the
largest of these masses, and 0 for continuous data.
"""

import math

from replearn.bounds._numeric import round_up, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_fraction, check_positive

__all__ = ["largest_atoms", "light_point_slack", "light_point_tail"]


def light_point_tail(t: float, atoms: float) -> float:
    """Probability that the error exceeds its mean over the thresholds by more than ``t``.

    Parameters
    ----------
    t : float
        Excess, positive.
    atoms : float
        Sum of squared masses of the light points, in [0, 1].

    Returns
    -------
    float
        ``exp(-2 t^2 / atoms)``, rounded up.

    Examples
    --------
    >>> round(light_point_tail(0.1, 0.005), 6), light_point_tail(0.1, 0.0)
    (0.018316, 0.0)
    """
    check_positive("t", t)
    check_fraction("atoms", atoms, zero=True)
    if atoms == 0.0:
        return 0.0
    # theorem: light-point-deviation
    return upper_probability(math.exp(-2.0 * t * t / atoms))


@theorem("light-point-deviation")
def light_point_slack(beta: float, atoms: float) -> float:
    """Excess of the error over its mean, except with probability ``beta``.

    Parameters
    ----------
    beta : float
        Failure probability, in (0, 1].
    atoms : float
        Sum of squared masses of the light points, in [0, 1].

    Returns
    -------
    float
        ``sqrt(atoms ln(1/beta) / 2)``, rounded up.

    Examples
    --------
    >>> round(light_point_slack(0.05, 0.005), 5)
    0.08654
    """
    check_fraction("beta", beta)
    check_fraction("atoms", atoms, zero=True)
    # theorem: light-point-deviation
    return round_up(math.sqrt(atoms * (-math.log(beta) + 1e-11) / 2.0))


def largest_atoms(t: float, beta: float) -> float:
    """Largest sum of squared masses for which the excess ``t`` has probability ``beta``.

    Parameters
    ----------
    t : float
        Excess, positive.
    beta : float
        Failure probability, in (0, 1].

    Returns
    -------
    float
        At most ``2 t^2 / ln(1/beta)`` and at most 1, rounded down; also a mass from which points
        have to be heavy.

    Examples
    --------
    >>> round(largest_atoms(0.1, 0.05), 6)
    0.006676
    """
    check_positive("t", t)
    check_fraction("beta", beta)
    return min(1.0, 2.0 * t * t / (-math.log(beta) + 1e-11) * (1.0 - 1e-12))
