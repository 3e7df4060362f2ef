"""Labels of heavy points from exactly k of their observed labels and a shared threshold.

The threshold on the mean label is uniform on [-a, a] (or follows the arcsine law of that width).
"""

import math

import numpy as np

from replearn.bounds._crossing import binomial_rows
from replearn.bounds._numeric import upper_probability
from replearn.bounds.flips import central_binomial, flip_bound
from replearn.bounds.laws import MOST_BLOCKS, ROUNDING, ThresholdLaw, arcsine_law, uniform_law
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_choice, check_count, check_fraction
from replearn.records.search import smallest_integer

__all__ = ["label_error_bound", "label_flip_bound", "label_law", "smallest_labels"]

# Up to here the error is summed exactly; beyond, Hoeffding's inequality has to do.
_EXACT_LABELS = 100_000


def label_law(k: int, a: float, law: str = "uniform") -> ThresholdLaw:
    """Return the frozen law for the label of a heavy point.

    Parameters
    ----------
    k : int
        Number of labels used.
    a : float
        Half-width of the threshold on the mean label, in (0, 1].
    law : {"uniform", "arcsine"}
        Kind of law.

    Returns
    -------
    ThresholdLaw

    Examples
    --------
    >>> label_law(4, 0.5).probabilities.tolist()
    [0.0, 0.0, 0.5, 1.0, 1.0]
    """
    check_choice("law", law, ("uniform", "arcsine"))
    return uniform_law(k, a) if law == "uniform" else arcsine_law(k, a)


@theorem("heavy-labels")
def label_flip_bound(k: int, a: float, law: str = "uniform") -> float:
    """Probability that two runs label a heavy point differently.

    Parameters
    ----------
    k : int
        Number of labels used, the same in both runs.
    a : float
        Half-width of the threshold on the mean label, in (0, 1].
    law : {"uniform", "arcsine"}
        Kind of law.

    Returns
    -------
    float
        ``f(k) / a`` for the uniform law; the exact supremum for the arcsine law.

    Examples
    --------
    >>> round(label_flip_bound(1000, 0.2), 4)
    0.0892
    """
    check_count("k", k, most=MOST_BLOCKS)
    check_fraction("a", a)
    # theorem: heavy-labels
    if law == "uniform":
        return upper_probability(central_binomial(k) / a + ROUNDING)
    return flip_bound(label_law(k, a, law))


@theorem("heavy-labels")
def label_error_bound(k: int, alpha: float, a: float, law: str = "uniform") -> float:
    """Probability that a heavy point with a clear majority gets the other label.

    Parameters
    ----------
    k : int
        Number of labels used.
    alpha : float
        The mean label is at least ``alpha`` away from 0, in (0, 1].
    a : float
        Half-width of the threshold on the mean label, in (0, 1].
    law : {"uniform", "arcsine"}
        Kind of law.

    Returns
    -------
    float
        Averaged over thresholds; at most ``exp(-k (alpha - a)^2 / 2)`` where ``a < alpha``.

    Examples
    --------
    >>> label_error_bound(1000, 0.4, 0.2) < 2e-9
    True
    >>> label_error_bound(10, 1.0, 1.0)
    0.0
    """
    check_count("k", k, most=MOST_BLOCKS)
    check_fraction("alpha", alpha)
    check_fraction("a", a)
    # theorem: heavy-labels
    hoeffding = math.exp(-k * (alpha - a) ** 2 / 2.0) if a < alpha else 1.0
    if k > _EXACT_LABELS:
        return upper_probability(hoeffding)
    wrong = 1.0 - label_law(k, a, law).probabilities
    exact = float(binomial_rows(k, np.array([(1.0 + alpha) / 2.0]))[0] @ wrong)
    return upper_probability(min(hoeffding, exact * (1.0 + 1e-8)))


def smallest_labels(
    rho: float, beta: float, alpha: float, *, n_points: int = 1
) -> tuple[int, float]:
    """Find how many labels of each heavy point are needed, and the width that goes with them.

    Parameters
    ----------
    rho : float
        Flip budget for each point, in (0, 1].
    beta : float
        Probability that any of the points is labelled wrongly, in (0, 1].
    alpha : float
        Points whose mean label is within ``alpha`` of 0 may get either label; 1 in the
        realizable setting.
    n_points : int
        Number of heavy points; a set whose members all have frequency at least ``low`` has at
        most ``1 / low``.

    Returns
    -------
    k : int
        Number of labels: k passes and k - 1 fails.
    a : float
        Half-width for the uniform law, the smallest that keeps the flip budget.

    Examples
    --------
    >>> k, a = smallest_labels(0.1, 0.05, 0.2, n_points=100)
    >>> k, round(a, 4)
    (1502, 0.1456)
    """
    check_fraction("rho", rho)
    check_fraction("beta", beta)
    check_fraction("alpha", alpha)
    check_count("n_points", n_points)

    def passes(k: int) -> bool:
        a = _smallest_width(k, rho)
        return a is not None and n_points * label_error_bound(k, alpha, a) <= beta

    k = smallest_integer(passes, limit=10**7)
    a = None if k is None else _smallest_width(k, rho)
    if k is None or a is None:
        raise ValueError(f"rho={rho!r}, alpha={alpha!r} need more than 10**7 labels of a point.")
    return k, a


def _smallest_width(k: int, rho: float) -> float | None:
    """Half-width at which the uniform law keeps the budget, or None if even 1 does not."""
    if label_flip_bound(k, 1.0) > rho:
        return None
    if rho >= 1.0:
        # Any width would do, and a narrow one errs least; this one has a single level.
        return min(1.0, 1.0 / k)
    return min(1.0, central_binomial(k) / (rho - 2.0 * ROUNDING) * (1.0 + 1e-11))
