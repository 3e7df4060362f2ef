"""Choosing one of N hypotheses by their empirical errors and shared Gumbel noise.

The hypothesis with the smallest ``t * error - Gumbel`` is chosen; the Gumbels are keyed by the
hypothesis and shared between runs. A larger sharpness t is more accurate and less stable.

Two bounds for fresh samples, the smaller counts. One goes through the largest deviation and pays
for it with ln N; the other averages over the candidates, pays nothing for their number, and needs
that both runs have the same ones. Proofs: docs/theory/hypothesis-selection.md.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds.multiclass import log_weight_agreement
from replearn.bounds.numeric import upper_probability
from replearn.bounds.theorem import theorem
from replearn.records.checks import (
    check_count,
    check_counts,
    check_fraction,
    check_fractions,
    check_positive,
)
from replearn.records.search import bisect, require_pair


@theorem("hypothesis-selection")
def selection_flip_bound(sharpness: float, deviation: float) -> float:
    """Probability that two runs choose differently when no error moves by more than this.

    Returns ``tanh(t * deviation / 2)``, rounded up; half the range of the differences is enough.

    >>> round(selection_flip_bound(50.0, 0.004), 6)
    0.099668
    """
    check_positive("sharpness", sharpness, zero=True)
    check_positive("deviation", deviation, zero=True)
    return upper_probability(math.tanh(sharpness * deviation / 2.0))


@theorem("hypothesis-selection")
def selection_error_tail_sampled(
    sharpness: float, n_hypotheses: int, alpha: float, m: int
) -> float:
    """Probability, over sample and Gumbels, of a choice worse than the best by ``alpha``.

    Returns ``min(1, (N - 1) exp(-t alpha + t^2 / (2 m)))``, rounded up; needs no statement about
    all errors at once.

    >>> round(selection_error_tail_sampled(60.0, 20, 0.1, 270_000), 4)
    0.0474
    """
    check_counts(n_hypotheses=n_hypotheses, m=m)
    check_positive("sharpness", sharpness, zero=True)
    check_positive("alpha", alpha)
    exponent = sharpness * (sharpness / (2.0 * m) - alpha)
    return upper_probability((n_hypotheses - 1) * math.exp(min(exponent, 0.0)))


def selection_scale(n_hypotheses: int, alpha: float, beta: float, m: int) -> float | None:
    """Return the smallest sharpness t that is within ``alpha`` except with ``beta``, or None.

    >>> round(selection_scale(20, 0.1, 0.05, 270_000), 2)
    59.47
    """
    check_fractions(alpha=alpha, beta=beta)
    if selection_error_tail_sampled(0.0, n_hypotheses, alpha, m) <= beta:
        return 0.0
    needed = math.log((n_hypotheses - 1) / beta) + 1e-9
    root = alpha * alpha - 2.0 * needed / m
    if root < 0.0:
        return None
    # t (alpha - t / 2m) = needed, written without cancellation.
    scale = 2.0 * needed / (alpha + math.sqrt(root))
    return scale if selection_error_tail_sampled(scale, n_hypotheses, alpha, m) <= beta else None


def selection_agreement(sharpness: float, errors: ArrayLike, other_errors: ArrayLike) -> float:
    """Return the exact probability that two runs with these errors choose the same hypothesis.

    >>> round(selection_agreement(50.0, [0.2, 0.204], [0.204, 0.2]), 6)
    0.900332
    """
    check_positive("sharpness", sharpness, zero=True)
    first = np.asarray(errors, float)
    second = np.asarray(other_errors, float)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        raise ValueError("errors and other_errors must be vectors of the same length.")
    return log_weight_agreement(-sharpness * first, -sharpness * second)


@theorem("hypothesis-selection")
def selection_flip_bound_sampled(
    sharpness: float, n_hypotheses: int, m: int, *, drift: float | None = None
) -> float:
    """Bound the probability that two runs with fresh samples of size ``m`` choose differently.

    Parameters
    ----------
    sharpness : float
        Scale t of the errors relative to the Gumbels.
    n_hypotheses : int
        Number of hypotheses N.
    m : int
        Sample size of each run.
    drift : float, optional
        Largest difference of a true error between the runs, if the candidates themselves differ;
        None if both runs have the same candidates.

    Returns
    -------
    float
        ``tanh((t / 2) (drift + sqrt(ln N / m)))``, for the same candidates at most about
        ``t / sqrt(2 pi m)`` whatever their number; rounded up.

    Examples
    --------
    >>> round(selection_flip_bound_sampled(60.0, 20, 270_000), 4)
    0.0459
    >>> round(selection_flip_bound_sampled(60.0, 20, 270_000, drift=0.0), 4)
    0.0996
    """
    check_counts(n_hypotheses=n_hypotheses, m=m)
    check_positive("drift", drift or 0.0, zero=True)
    deviation = (drift or 0.0) + math.sqrt(math.log(n_hypotheses) / m)
    by_largest = selection_flip_bound(sharpness, deviation)
    return (
        by_largest
        if drift is not None
        else min(by_largest, same_candidates_flip_bound(sharpness, m))
    )


def same_candidates_flip_bound(sharpness: float, m: int) -> float:
    """Bound by the mean difference of two candidates: the same candidates in both runs.

    Whatever their number, and also for candidates that are drawn by prior weights.

    >>> round(same_candidates_flip_bound(60.0, 270_000), 4)
    0.0459
    """
    if sharpness * sharpness > m:
        return 1.0
    scale = sharpness / (2.0 * m)
    # Y = m (d_i - d_j), i and j drawn by their weights: its second moment, its mean size.
    square = 2.0 * m * m / (2.0 * m - 1.0)
    size = min(math.sqrt(square), math.sqrt(2.0 * square / math.pi) + 2.0)
    # E(e^{sY} - 1) = E sinh + E(cosh - 1), sinh x <= x (2 + cosh x) / 3
    fourth = square * max(math.expm1(8.0 * m * scale**2) / (8.0 * m) - scale**2, 0.0)
    odd = scale * size + scale / 3.0 * math.sqrt(square * fourth)
    even = square / (4.0 * m) * math.expm1(2.0 * m * scale**2)
    # theorem: hypothesis-selection
    return upper_probability((odd + even) / (1.0 + odd + even))


def stable_scale(rho: float, n_hypotheses: int, m: int, *, drift: float | None = None) -> float:
    """Largest sharpness t at which two runs differ with probability at most ``rho``.

    >>> round(stable_scale(0.1, 20, 270_000), 1)
    131.7
    """
    check_fraction("rho", rho)
    check_count("n_hypotheses", n_hypotheses, least=2)
    check_count("m", m)
    spread = (drift or 0.0) + math.sqrt(math.log(n_hypotheses) / m)
    # Beyond sqrt(m) only the bound by the largest deviation says anything.
    by_largest = 2.0 * math.atanh(min(rho, 1.0 - 1e-12)) / spread
    return bisect(
        lambda t: selection_flip_bound_sampled(t, n_hypotheses, m, drift=drift) <= rho,
        0.0,
        max(by_largest, math.sqrt(m)) * (1.0 + 1e-6),
        tolerance=1e-9,
    )


def smallest_sample_selection(
    rho: float, alpha: float, beta: float, n_hypotheses: int, *, drift: float | None = None
) -> tuple[int, float]:
    """Find the sample size and sharpness for a choice that is both accurate and replicable.

    Parameters
    ----------
    rho : float
        Largest probability that two runs choose differently, in (0, 1].
    alpha : float
        Largest excess error, in (0, 1].
    beta : float
        Failure probability of accuracy, in (0, 1].
    n_hypotheses, drift
        As for `selection_flip_bound_sampled`.

    Returns
    -------
    m : int
        Sample size: m passes and m - 1 fails.
    sharpness : float
        Sharpness to use with it.

    Examples
    --------
    >>> m, sharpness = smallest_sample_selection(0.1, 0.1, 0.05, 20)
    >>> m, round(sharpness, 2)
    (56083, 59.72)
    """
    check_fraction("rho", rho)

    return require_pair(
        lambda m: selection_scale(n_hypotheses, alpha, beta, m),
        lambda m, t: selection_flip_bound_sampled(t, n_hypotheses, m, drift=drift) <= rho,
        f"rho={rho!r}, alpha={alpha!r}, drift={drift!r} cannot be reached: a drift must stay "
        "below about 2 rho alpha / ln(N / beta).",
        limit=10**15,
    )
