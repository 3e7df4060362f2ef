"""Choosing one of N hypotheses by their empirical errors and shared Gumbel noise.

The hypothesis with the smallest ``t * error - Gumbel`` is chosen; the Gumbels are keyed by the
hypothesis and shared between runs. A larger ``t`` is more accurate and less stable.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds._agreement import log_weight_agreement
from replearn.bounds._numeric import upper_probability
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count, check_fraction, check_positive

__all__ = [
    "selection_agreement",
    "selection_error_tail",
    "selection_error_tail_sampled",
    "selection_flip_bound",
    "selection_scale",
]


@theorem("hypothesis-selection")
def selection_flip_bound(t: float, deviation: float) -> float:
    """Probability that two runs choose differently when no error moves by more than this.

    Parameters
    ----------
    t : float
        Scale of the errors against the Gumbels.
    deviation : float
        Largest difference of an empirical error between the runs; half the range of these
        differences is enough.

    Returns
    -------
    float
        ``tanh(t * deviation / 2)``, rounded up.

    Examples
    --------
    >>> round(selection_flip_bound(50.0, 0.004), 6)
    0.099668
    """
    check_positive("t", t, zero=True)
    check_positive("deviation", deviation, zero=True)
    # theorem: hypothesis-selection
    return upper_probability(math.tanh(t * deviation / 2.0))


def selection_error_tail(
    t: float, n_hypotheses: int, alpha: float, deviation: float = 0.0
) -> float:
    """Probability that the choice is worse than the best by more than ``alpha``.

    Parameters
    ----------
    t : float
        Scale of the errors against the Gumbels.
    n_hypotheses : int
        Number of hypotheses N.
    alpha : float
        Excess error allowed.
    deviation : float
        Largest distance of an empirical error from the true one.

    Returns
    -------
    float
        ``x / (1 + x)`` with ``x = (N - 1) exp(-t (alpha - 2 deviation))``, rounded up.

    Examples
    --------
    >>> round(selection_error_tail(60.0, 20, 0.1), 4)
    0.045
    """
    check_count("n_hypotheses", n_hypotheses)
    check_positive("t", t, zero=True)
    check_positive("alpha", alpha)
    check_positive("deviation", deviation, zero=True)
    # theorem: hypothesis-selection
    exponent = t * (alpha - 2.0 * deviation)
    if exponent > 700.0:
        return upper_probability((n_hypotheses - 1) * math.exp(-700.0))
    worse = n_hypotheses - 1
    return upper_probability(worse / (worse + math.exp(exponent)))


@theorem("hypothesis-selection")
def selection_error_tail_sampled(t: float, n_hypotheses: int, alpha: float, m: int) -> float:
    """Probability, over sample and Gumbels, of a choice worse than the best by ``alpha``.

    Parameters
    ----------
    t : float
        Scale of the errors against the Gumbels.
    n_hypotheses : int
        Number of hypotheses N.
    alpha : float
        Excess error allowed.
    m : int
        Sample size.

    Returns
    -------
    float
        ``min(1, (N - 1) exp(-t alpha + t^2 / (2 m)))``, rounded up; needs no statement about all
        errors at once.

    Examples
    --------
    >>> round(selection_error_tail_sampled(60.0, 20, 0.1, 270_000), 4)
    0.0474
    """
    check_count("n_hypotheses", n_hypotheses)
    check_count("m", m)
    check_positive("t", t, zero=True)
    check_positive("alpha", alpha)
    # theorem: hypothesis-selection
    exponent = t * (t / (2.0 * m) - alpha)
    return upper_probability((n_hypotheses - 1) * math.exp(min(exponent, 0.0)))


def selection_scale(n_hypotheses: int, alpha: float, beta: float, m: int) -> float | None:
    """Smallest scale t at which the choice is within ``alpha`` except with probability ``beta``.

    Parameters
    ----------
    n_hypotheses : int
        Number of hypotheses N.
    alpha : float
        Excess error allowed, in (0, 1].
    beta : float
        Failure probability, in (0, 1].
    m : int
        Sample size.

    Returns
    -------
    float or None
        None when no scale is enough at this sample size.

    Examples
    --------
    >>> round(selection_scale(20, 0.1, 0.05, 270_000), 2)
    59.47
    """
    check_fraction("alpha", alpha)
    check_fraction("beta", beta)
    if selection_error_tail_sampled(0.0, n_hypotheses, alpha, m) <= beta:
        return 0.0
    needed = math.log((n_hypotheses - 1) / beta) + 1e-9
    root = alpha * alpha - 2.0 * needed / m
    if root < 0.0:
        return None
    # t (alpha - t / 2m) = needed, written without cancellation.
    scale = 2.0 * needed / (alpha + math.sqrt(root))
    return scale if selection_error_tail_sampled(scale, n_hypotheses, alpha, m) <= beta else None


def selection_agreement(t: float, errors: ArrayLike, other_errors: ArrayLike) -> float:
    """Exact probability that two runs with these empirical errors choose the same hypothesis.

    Parameters
    ----------
    t : float
        Scale of the errors against the Gumbels.
    errors, other_errors : array_like
        Empirical errors of the same hypotheses in the two runs.

    Returns
    -------
    float
        Over the shared Gumbels; N log N time.

    Examples
    --------
    >>> round(selection_agreement(50.0, [0.2, 0.204], [0.204, 0.2]), 6)
    0.900332
    """
    check_positive("t", t, zero=True)
    first, second = np.asarray(errors, float), np.asarray(other_errors, float)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        raise ValueError("errors and other_errors must be vectors of the same length.")
    return log_weight_agreement(-t * first, -t * second)
