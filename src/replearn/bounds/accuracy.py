"""What replicability costs in accuracy: the thresholds of light points.

``max_point_mass`` is the sum of squared masses of the points that are decided by votes. It is at
most the largest of these masses, and 0 for continuous data.
"""

import math

from replearn.bounds.numeric import round_up
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_fraction


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
