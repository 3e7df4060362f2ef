"""Choosing one of N hypotheses on fresh samples: how often two runs differ, how many rows it takes.

Two bounds, the smaller counts. One goes through the largest deviation and pays for it with ln N;
the other averages over the candidates, pays nothing for their number, and asks that both runs
have the same ones. Proofs: docs/theory/hypothesis-selection.md.
"""

import math

from replearn.bounds._numeric import upper_probability
from replearn.bounds.selection import selection_flip_bound, selection_scale
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count, check_fraction, check_positive
from replearn.records.search import bisect, smallest_integer

__all__ = [
    "selection_flip_bound_sampled",
    "smallest_sample_search",
    "smallest_sample_selection",
    "stable_scale",
]


@theorem("hypothesis-selection")
def selection_flip_bound_sampled(
    t: float, n_hypotheses: int, m: int, *, drift: float | None = None
) -> float:
    """Probability that two runs with fresh samples of size ``m`` choose differently.

    Parameters
    ----------
    t : float
        Scale of the errors against the Gumbels.
    n_hypotheses : int
        Number of hypotheses N.
    m : int
        Sample size of each run.
    drift : float, optional
        Largest difference of a true error between the runs, when the candidates themselves
        differ; None: both runs have the same candidates.

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
    check_count("n_hypotheses", n_hypotheses)
    check_count("m", m)
    check_positive("drift", drift or 0.0, zero=True)
    # theorem: hypothesis-selection
    by_largest = selection_flip_bound(t, (drift or 0.0) + math.sqrt(math.log(n_hypotheses) / m))
    return by_largest if drift is not None else min(by_largest, _by_mean(t, m))


def _by_mean(t: float, m: int) -> float:
    """Bound by the mean difference of two candidates: the same candidates in both runs."""
    if t * t > m:
        return 1.0
    scale = t / (2.0 * m)
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
    """Largest scale t at which two runs differ with probability at most ``rho``.

    Parameters
    ----------
    rho : float
        Budget, in (0, 1].
    n_hypotheses : int
        Number of hypotheses N, at least 2.
    m : int
        Sample size of each run.
    drift : float, optional
        As for `selection_flip_bound_sampled`.

    Returns
    -------
    float
        On the passing side, to nine digits.

    Examples
    --------
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
    """Find the sample size and scale for a choice that is both accurate and replicable.

    Parameters
    ----------
    rho : float
        Probability that two runs may choose differently, in (0, 1].
    alpha : float
        Excess error allowed, in (0, 1].
    beta : float
        Failure probability of accuracy, in (0, 1].
    n_hypotheses : int
        Number of hypotheses N.
    drift : float, optional
        Largest difference of a true error between the runs, when the candidates themselves
        differ; None: both runs have the same candidates.

    Returns
    -------
    m : int
        Sample size: m passes and m - 1 fails.
    t : float
        Scale to use with it.

    Examples
    --------
    >>> m, t = smallest_sample_selection(0.1, 0.1, 0.05, 20)
    >>> m, round(t, 2)
    (56083, 59.72)
    """
    check_fraction("rho", rho)

    def passes(m: int) -> bool:
        t = selection_scale(n_hypotheses, alpha, beta, m)
        if t is None:
            return False
        return selection_flip_bound_sampled(t, n_hypotheses, m, drift=drift) <= rho

    m = smallest_integer(passes, limit=10**15)
    t = None if m is None else selection_scale(n_hypotheses, alpha, beta, m)
    if m is None or t is None:
        raise ValueError(
            f"rho={rho!r}, alpha={alpha!r}, drift={drift!r} cannot be reached: a drift must stay "
            "below about 2 rho alpha / ln(N / beta)."
        )
    return m, t


def smallest_sample_search(
    rho: float, alpha: float, beta: float, n_hypotheses: int, train_size: int
) -> tuple[int, float]:
    """Find the rows for a search over configurations by many trainings, for every learner.

    Parameters
    ----------
    rho : float
        Probability that two runs may choose differently, in (0, 1].
    alpha, beta : float
        Excess of the expected error allowed and its failure probability, in (0, 1].
    n_hypotheses : int
        Number of configurations N.
    train_size : int
        Rows of each training.

    Returns
    -------
    n : int
        Rows: one test row beside each training.
    t : float
        Scale to use with them.

    Examples
    --------
    >>> smallest_sample_search(0.2, 0.2, 0.05, 20, 30)[0]
    115692
    """
    check_count("train_size", train_size)
    # theorem: search-trainings
    count, t = smallest_sample_selection(rho, alpha, beta, n_hypotheses)
    return count * (train_size + 1), t
