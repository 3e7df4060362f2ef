"""What replicability costs in accuracy: the law, the thresholds of light points, heavy labels.

``max_point_mass`` is the sum of squared masses of the points that are decided by votes. It is at
most the largest of these masses, and 0 for continuous data. With a heavy stage, heavy points of
total mass s cost at most ``clear * s`` and light points of total mass 1 - s deviate by about
``sqrt(mass * (1 - s))``: never both at full size.
"""

import math

from replearn.bounds.laws import ThresholdLaw, error_factor
from replearn.bounds.numeric import round_up, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_fraction, check_positive


def vote_error_bound(law: ThresholdLaw, learner_error: float, *, bayes_risk: float = 0.0) -> float:
    """Return a bound of the vote's mean error over thresholds, given that of its learners.

    Returns ``bayes_risk + C_G (learner_error - bayes_risk)``, at most 1.

    >>> from replearn.bounds import arcsine_law
    >>> round(vote_error_bound(arcsine_law(64, 0.651), 0.15, bayes_risk=0.14), 4)
    0.1521
    """
    learner_error = check_fraction("learner_error", learner_error)
    if not 0.0 <= bayes_risk <= learner_error:
        raise ValueError(f"bayes_risk must be in [0, learner_error], got {bayes_risk!r}")
    # theorem: accuracy-factor
    bound = bayes_risk + error_factor(law) * (learner_error - bayes_risk)
    return min(bound * (1.0 + 1e-15), 1.0)


def light_point_tail(excess: float, max_point_mass: float) -> float:
    """Probability that the error exceeds its mean over the thresholds by more than ``excess``.

    ``exp(-2 excess^2 / max_point_mass)``, rounded up.

    >>> round(light_point_tail(0.1, 0.005), 6), light_point_tail(0.1, 0.0)
    (0.018316, 0.0)
    """
    check_positive("excess", excess)
    check_fraction("max_point_mass", max_point_mass, zero=True)
    if max_point_mass == 0.0:
        return 0.0
    # theorem: light-point-deviation
    return upper_probability(math.exp(-2.0 * excess * excess / max_point_mass))


@theorem("light-point-deviation")
def light_point_slack(beta: float, max_point_mass: float) -> float:
    """Excess of the error over its mean, except with probability ``beta``.

    Returns ``sqrt(max_point_mass ln(1/beta) / 2)``, rounded up.

    >>> round(light_point_slack(0.05, 0.005), 5)
    0.08654
    """
    check_fraction("beta", beta)
    check_fraction("max_point_mass", max_point_mass, zero=True)
    # theorem: light-point-deviation
    return round_up(math.sqrt(max_point_mass * (-math.log(beta) + 1e-11) / 2.0))


def light_allowance(alpha: float, clear: float) -> float:
    """Largest B with ``clear * s + B sqrt(1 - s) <= alpha`` for all s in [0, 1].

    0 if the heavy labels alone may cost more than alpha.

    >>> round(light_allowance(0.1, 0.075), 4), light_allowance(0.1, 1.0), light_allowance(0.1, 0.2)
    (0.0866, 0.1, 0.0)
    """
    check_fraction("alpha", alpha)
    check_fraction("clear", clear)
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
    # theorem: light-point-deviation
    return upper_probability(math.exp(-2.0 * allowance**2 / check_fraction("mass", mass)))


def light_mass(alpha: float, clear: float, beta: float) -> float:
    """Largest mass of light points for which `heavy_light_tail` is at most ``beta``.

    >>> heavy_light_tail(0.1, 0.075, light_mass(0.1, 0.075, 0.025)) <= 0.025
    True
    """
    check_fraction("beta", beta, one=False)
    allowance = light_allowance(alpha, clear)
    return min(1.0, 2.0 * allowance**2 / (-math.log(beta) + 1e-11) * (1.0 - 1e-12))
