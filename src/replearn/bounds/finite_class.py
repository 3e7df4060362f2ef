"""A finite class learned by shared random order and random threshold (Bun et al. 2023).

The first hypothesis in a shared random order whose error is at most the best one plus a shared
random margin, uniform on [0, width]. Proofs: docs/theory/finite-class.md.
"""

import math

from replearn.bounds._numeric import upper_probability
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count, check_fraction, check_positive
from replearn.records.search import smallest_integer

__all__ = [
    "order_error_tail",
    "order_flip_bound",
    "order_width",
    "smallest_sample_order",
]


@theorem("finite-class")
def order_flip_bound(n_hypotheses: int, width: float, m: int) -> float:
    """Probability that two runs with fresh samples of size ``m`` choose differently.

    Parameters
    ----------
    n_hypotheses : int
        Number of hypotheses N.
    width : float
        Largest margin above the best error.
    m : int
        Sample size of each run.

    Returns
    -------
    float
        ``2 sqrt(ln N / m) (1 + ln N) / width``, rounded up.

    Examples
    --------
    >>> round(order_flip_bound(20, 0.09, 5_000_000), 4)
    0.0687
    """
    check_count("n_hypotheses", n_hypotheses)
    check_count("m", m)
    check_positive("width", width)
    log_n = math.log(n_hypotheses)
    # theorem: finite-class
    return upper_probability(2.0 * math.sqrt(log_n / m) * (1.0 + log_n) / width)


@theorem("finite-class")
def order_error_tail(n_hypotheses: int, width: float, m: int, alpha: float) -> float:
    """Probability that the choice is worse than the best by more than ``alpha``.

    Parameters
    ----------
    n_hypotheses : int
        Number of hypotheses N.
    width : float
        Largest margin above the best error.
    m : int
        Sample size.
    alpha : float
        Excess error allowed, in (0, 1].

    Returns
    -------
    float
        ``(N - 1) exp(-m (alpha - width)^2 / 2)``, rounded up; 1 unless width < alpha.

    Examples
    --------
    >>> round(order_error_tail(20, 0.08, 50_000, 0.1), 6)
    0.000863
    """
    check_count("n_hypotheses", n_hypotheses)
    check_count("m", m)
    check_fraction("alpha", alpha)
    if n_hypotheses == 1:
        return 0.0
    if width >= alpha:
        return 1.0
    # theorem: finite-class
    return upper_probability((n_hypotheses - 1) * math.exp(-m * (alpha - width) ** 2 / 2.0))


def order_width(n_hypotheses: int, alpha: float, beta: float, m: int) -> float | None:
    """Largest width at which the choice is within ``alpha`` except with probability ``beta``.

    Parameters
    ----------
    n_hypotheses : int
        Number of hypotheses N.
    alpha, beta : float
        Excess error allowed and its failure probability, in (0, 1].
    m : int
        Sample size.

    Returns
    -------
    float or None
        None when the sample is too small for any width.

    Examples
    --------
    >>> round(order_width(20, 0.1, 0.05, 50_000), 4)
    0.0846
    """
    check_fraction("beta", beta)
    check_count("m", m)
    needed = max(math.log(max(n_hypotheses - 1, 1) / beta), 0.0) + 1e-9
    width = check_fraction("alpha", alpha) - math.sqrt(2.0 * needed / m)
    return width if width > 0.0 else None


def smallest_sample_order(
    rho: float, alpha: float, beta: float, n_hypotheses: int
) -> tuple[int, float]:
    """Find the sample size and width for a choice that is both accurate and replicable.

    Parameters
    ----------
    rho : float
        Probability that two runs may choose differently, in (0, 1].
    alpha, beta : float
        Excess error allowed and its failure probability, in (0, 1].
    n_hypotheses : int
        Number of hypotheses N.

    Returns
    -------
    m : int
        Sample size: m passes and m - 1 fails.
    width : float
        Largest margin above the best error.

    Examples
    --------
    >>> m, width = smallest_sample_order(0.1, 0.1, 0.05, 20)
    >>> m, round(width, 4)
    (2009719, 0.0976)
    """
    check_fraction("rho", rho)

    def passes(m: int) -> bool:
        width = order_width(n_hypotheses, alpha, beta, m)
        return width is not None and order_flip_bound(n_hypotheses, width, m) <= rho

    m = smallest_integer(passes, limit=10**15)
    width = None if m is None else order_width(n_hypotheses, alpha, beta, m)
    if m is None or width is None:
        raise ValueError(f"rho={rho!r}, alpha={alpha!r} need more than 10**15 rows.")
    return m, width
