"""Accuracy of a learner with a heavy stage: what heavy labels and light thresholds cost together.

Heavy points of total mass s cost at most ``clear * s``, light points of total mass 1 - s deviate by
about ``sqrt(mass * (1 - s))``: never both at full size.
"""

import math

from replearn.bounds._numeric import upper_probability
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_fraction

__all__ = ["heavy_light_tail", "light_allowance", "light_mass"]


def light_allowance(alpha: float, clear: float) -> float:
    """Largest B with ``clear * s + B sqrt(1 - s) <= alpha`` for all s in [0, 1].

    Parameters
    ----------
    alpha : float
        Excess error allowed, in (0, 1].
    clear : float
        Heavy labels cost at most this per unit of mass; 1: realizable, they cost nothing.

    Returns
    -------
    float
        0 if the heavy labels alone may cost more than alpha.

    Examples
    --------
    >>> round(light_allowance(0.1, 0.075), 4), light_allowance(0.1, 1.0), light_allowance(0.1, 0.2)
    (0.0866, 0.1, 0.0)
    """
    check_fraction("alpha", alpha)
    check_fraction("clear", clear)
    cost = 0.0 if clear >= 1.0 else clear
    if cost >= alpha:
        return 0.0
    return alpha if cost <= alpha / 2.0 else 2.0 * math.sqrt(cost * (alpha - cost))


@theorem("light-point-deviation")
def heavy_light_tail(alpha: float, clear: float, mass: float) -> float:
    """Probability that light points exceed their allowance, if none is heavier than ``mass``.

    Parameters
    ----------
    alpha : float
        Excess error allowed, in (0, 1].
    clear : float
        Heavy labels cost at most this per unit of mass; 1: realizable.
    mass : float
        Largest mass of a light point, in (0, 1].

    Returns
    -------
    float
        ``exp(-2 B^2 / mass)``, rounded up; see `light_allowance`.

    Examples
    --------
    >>> round(heavy_light_tail(0.1, 0.075, 0.004), 4)
    0.0235
    """
    allowance = light_allowance(alpha, clear)
    # theorem: light-point-deviation
    return upper_probability(math.exp(-2.0 * allowance**2 / check_fraction("mass", mass)))


def light_mass(alpha: float, clear: float, beta: float) -> float:
    """Largest mass of light points for which `heavy_light_tail` is at most ``beta``.

    Parameters
    ----------
    alpha : float
        Excess error allowed, in (0, 1].
    clear : float
        Heavy labels cost at most this per unit of mass; 1: realizable.
    beta : float
        Failure probability, in (0, 1).

    Returns
    -------
    float
        At most 1.

    Examples
    --------
    >>> heavy_light_tail(0.1, 0.075, light_mass(0.1, 0.075, 0.025)) <= 0.025
    True
    """
    check_fraction("beta", beta, one=False)
    allowance = light_allowance(alpha, clear)
    return min(1.0, 2.0 * allowance**2 / (-math.log(beta) + 1e-11) * (1.0 - 1e-12))
