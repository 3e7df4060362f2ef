"""What replicability costs in accuracy: the law, the thresholds of light points, heavy labels.

``max_point_mass`` is the sum of squared masses of the points that are decided by votes. It is at
most the largest of these masses, and 0 for continuous data. With a heavy stage, heavy points of
total mass s cost at most ``clear * s`` and light points of total mass 1 - s deviate by about
``sqrt(mass * (1 - s))``: never both at full size.
"""

import math

from replearn.bounds.numeric import round_up, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records import check_fraction, check_fractions


@theorem("light-point-deviation")
def light_point_slack(beta: float, max_point_mass: float) -> float:
    """Excess of the error over its mean, except with probability ``beta``.

    Returns ``sqrt(max_point_mass ln(1/beta) / 2)``, rounded up.

    >>> round(light_point_slack(0.05, 0.005), 5)
    0.08654
    """
    check_fraction("beta", beta)
    check_fraction("max_point_mass", max_point_mass, zero=True)
    return round_up(math.sqrt(max_point_mass * (-math.log(beta) + 1e-11) / 2.0))


def light_allowance(alpha: float, clear: float) -> float:
    """Largest B with ``clear * s + B sqrt(1 - s) <= alpha`` for all s in [0, 1].

    0 if the heavy labels alone may cost more than alpha.

    >>> round(light_allowance(0.1, 0.075), 4), light_allowance(0.1, 1.0), light_allowance(0.1, 0.2)
    (0.0866, 0.1, 0.0)
    """
    check_fractions(alpha=alpha, clear=clear)
    cost = 0.0 if clear >= 1.0 else clear  # 1: every point has one label only
    if cost >= alpha:
        return 0.0
    return alpha if cost <= alpha / 2.0 else 2.0 * math.sqrt(cost * (alpha - cost))


@theorem("light-point-deviation")
def heavy_light_tail(alpha: float, clear: float, mass: float) -> float:
    """Probability that light points exceed their allowance, if none is heavier than ``mass``.

    Returns ``exp(-2 B^2 / mass)``, rounded up; see `light_allowance`.

    >>> round(heavy_light_tail(0.1, 0.075, 0.004), 4)
    0.0235
    """
    allowance = light_allowance(alpha, clear)
    return upper_probability(math.exp(-2.0 * allowance**2 / check_fraction("mass", mass)))


def light_mass(alpha: float, clear: float, beta: float) -> float:
    """Largest mass of light points for which `heavy_light_tail` is at most ``beta``.

    >>> heavy_light_tail(0.1, 0.075, light_mass(0.1, 0.075, 0.025)) <= 0.025
    True
    """
    check_fraction("beta", beta, one=False)
    allowance = light_allowance(alpha, clear)
    return min(1.0, 2.0 * allowance**2 / (-math.log(beta) + 1e-11) * (1.0 - 1e-12))
