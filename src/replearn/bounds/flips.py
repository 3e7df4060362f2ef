"""The probability that two runs predict one point differently, for any law of the threshold.

Two runs with votes B1, B2 and one shared threshold differ with probability E|G(B1) - G(B2)|; for
hard votes with chance q each this is ``H(q) = 2 sum_k dG_k F_k(q) (1 - F_k(q))``.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds.laws import MAX_BLOCKS, ROUNDING, VOTES, ThresholdLaw, uniform_law
from replearn.bounds.numeric import Floats
from replearn.bounds.suprema import (
    LARGEST_BATCH,
    MAX_BLOCKS_BY_CELLS,
    distribution_functions,
    not_all_equal,
    supremum_by_cells,
    supremum_of_smooth_law,
    window_radius,
    windows,
)
from replearn.bounds.theorem import theorem
from replearn.records import check_choice, check_count

MAX_KNOWN_SUPREMA = 100_000

# by digest and not by law, so that no tables of millions of entries are kept alive
_known_suprema: dict[tuple[str, int], float] = {}


@lru_cache(maxsize=4096)
def central_binomial(n_blocks: int) -> float:
    """Return f(T) = C(2T, T) / 4^T, rounded up: the flips of T hard votes, uniform threshold.

    >>> round(central_binomial(32), 6)
    0.099347
    """
    n_blocks = check_count("n_blocks", n_blocks, most=MAX_BLOCKS)
    if n_blocks <= 500:
        exact = Fraction(math.comb(2 * n_blocks, n_blocks), 4**n_blocks)
        nearest = float(exact)
        return nearest if nearest >= exact else float(np.nextafter(nearest, 1.0))
    # Stirling's series envelops ln f: cut off after a positive term, it is too large
    log_correction = 1.0 / (192.0 * n_blocks**3) - 1.0 / (8.0 * n_blocks)
    return math.exp(log_correction) / math.sqrt(math.pi * n_blocks) * (1.0 + 1e-15)


def flip_curve(law: ThresholdLaw, q: ArrayLike, *, runs: int = 2) -> Floats:
    """Return H(q): how often runs are not all equal if each block votes 1 with chance q.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold.
    q : array-like of float
        Chances of a vote for 1, in [0, 1].
    runs : int, default=2
        Number of runs, at least 2.

    Returns
    -------
    ndarray of float
        ``sum_k dG_k phi(F_k(q))`` with ``phi(x) = 1 - x^runs - (1 - x)^runs``, exact up to float
        rounding; see `flip_supremum` for a bound over all q.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> flip_curve(uniform_law(32), [0.1, 0.5]).round(4).tolist()
    [0.0587, 0.0993]
    """
    check_count("runs", runs, least=2)
    chances = np.atleast_1d(np.asarray(q, dtype=np.float64))
    if not np.all((chances >= 0.0) & (chances <= 1.0)):
        raise ValueError("q must be in [0, 1]")
    flat = chances.ravel()
    rows = max(1, LARGEST_BATCH // min(law.n_blocks, 2 * window_radius(law.n_blocks) + 3))
    values = [_curve_batch(law, flat[i : i + rows], runs) for i in range(0, len(flat), rows)]
    return np.concatenate([np.zeros(0), *values]).reshape(np.shape(q))


def _curve_batch(law: ThresholdLaw, q: Floats, runs: int) -> Floats:
    """Evaluate the curve at a few q, one row each."""
    k = windows(law.n_blocks, q, q)
    levels = not_all_equal(distribution_functions(law.n_blocks, q, k), runs)
    weights = np.where(k < law.n_blocks, law.steps[np.minimum(k, law.n_blocks - 1)], 0.0)
    return np.asarray((weights * levels).sum(axis=1))


@theorem("pointwise-threshold")
def flip_supremum(law: ThresholdLaw, *, runs: int = 2) -> float:
    """Return a rigorous upper bound of sup_q H(q) for hard votes.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold.
    runs : int, default=2
        Number of runs, at least 2.

    Returns
    -------
    float
        At most a relative 1e-6 above the supremum for T <= 2,048 and 1e-5 for T <= 20,000.
        Beyond, f(T) / width for the uniform law, and a bound that is close for other smooth laws
        unless their width is near 1.

    Examples
    --------
    >>> from replearn.bounds import arcsine_law
    >>> flip_supremum(arcsine_law(32, 0.85)) <= 0.1
    True
    >>> flip_supremum(arcsine_law(64, 0.65)) <= 0.1
    False
    """
    if check_count("runs", runs, least=2) > 2:
        return level_supremum(law, runs)  # theorem: many-runs
    steepest = _steepest_line_bound(law)
    if law.name != "uniform" or law.width is None:
        return min(steepest, level_supremum(law, runs=2))
    closed_form = min(steepest, uniform_flip_bound(law.n_blocks, law.width))
    if law.width == 1.0 or law.n_blocks > MAX_BLOCKS_BY_CELLS:
        return closed_form  # attained at q = 1/2 when the width is 1
    return min(closed_form, level_supremum(law, runs=2))


def _steepest_line_bound(law: ThresholdLaw) -> float:
    """Return g E|B1 - B2| at q = 1/2, which is g T f(T): every step taken as the largest."""
    bound = law.largest_step * law.n_blocks * central_binomial(law.n_blocks)
    return min(bound * (1.0 + 1e-14), 1.0)


def uniform_flip_bound(n_blocks: int, width: float) -> float:
    """Return f(T) / width, hard or soft votes, with the rounding of the uniform law's table."""
    exact_table = width == 1.0 and n_blocks & (n_blocks - 1) == 0  # k / T has at most 30 bits
    bound = central_binomial(n_blocks) / width + (0.0 if exact_table else ROUNDING)
    return min(bound, 1.0)


def level_supremum(law: ThresholdLaw, runs: int) -> float:
    """Bound the supremum of `flip_curve` over q in [0, 1]; depends on the table alone."""
    key = (law.digest, runs)
    if key in _known_suprema:
        return _known_suprema[key]
    by_cells = law.n_blocks <= MAX_BLOCKS_BY_CELLS
    supremum = supremum_by_cells if by_cells else supremum_of_smooth_law
    bound = supremum(law.steps, runs)
    if not law.is_symmetric:
        # q > 1/2 is the mirrored law at 1 - q: F_k(1 - q) = 1 - F_{T-1-k}(q)
        bound = max(bound, supremum(law.steps[::-1], runs))
    if len(_known_suprema) >= MAX_KNOWN_SUPREMA:
        _known_suprema.clear()
    _known_suprema[key] = min(bound, 1.0 - 2.0 ** (1 - runs))  # r fair coins: no law does worse
    return _known_suprema[key]


def flip_bound(law: ThresholdLaw, vote: str = "hard") -> float:
    """Return what a certificate quotes: at most this often do two runs differ at a point.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold.
    vote : {"hard", "soft"}, default="hard"
        Whether blocks vote 0 or 1, or with a score in between (uniform and arcsine laws only).

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> round(flip_bound(uniform_law(32)), 5), round(flip_bound(uniform_law(32), "soft"), 5)
    (0.09935, 0.09935)
    """
    if check_choice("vote", vote, VOTES) == "hard":
        return flip_supremum(law)
    return soft_flip_bound(law)


@theorem("soft-votes")
def soft_flip_bound(law: ThresholdLaw) -> float:
    """Return the flip bound of soft votes: 2 L f(T), L the slope of the steepest line of the law.

    >>> from replearn.bounds import arcsine_law
    >>> round(soft_flip_bound(arcsine_law(32, 0.8)), 4)
    0.1543
    """
    if law.lipschitz is None:
        raise ValueError(
            f"soft votes need a continuous law, but {law.name!r} laws have atoms: "
            "use vote='hard', or the uniform or arcsine law"
        )
    bound = _steepest_line_bound(law)  # L = g T / 2
    if law.name == "uniform" and law.width is not None:
        bound = min(bound, uniform_flip_bound(law.n_blocks, law.width))
    return bound


@theorem("many-runs")
def runs_bound(law: ThresholdLaw, runs: int = 2, vote: str = "hard") -> float:
    """Return what a certificate quotes: at most this often are the runs not all equal at a point.

    Parameters
    ----------
    law, vote
        As for `flip_bound`.
    runs : int, default=2
        Number of runs, at least 2.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> round(runs_bound(uniform_law(32), runs=12, vote="soft"), 3)
    0.286
    """
    if check_count("runs", runs, least=2) == 2:
        return flip_bound(law, vote)
    if check_choice("vote", vote, VOTES) == "hard":
        return flip_supremum(law, runs=runs)
    if law.lipschitz is None:
        return flip_bound(law, vote)  # says that a law with atoms takes hard votes only
    # the range of the mean scores is largest for coins, and its image shrinks by 2 L
    spread = flip_supremum(uniform_law(law.n_blocks), runs=runs) + ROUNDING
    return min(2.0 * law.lipschitz * spread * (1.0 + 1e-12), 1.0)


@theorem("training-rows")
def training_row_bound(
    law: ThresholdLaw,
    *,
    vote: str = "hard",
    runs: int = 2,
    trained: int = 1,
    repeated: bool = False,
) -> float:
    """Return how often at most runs differ at a point on which some of them were trained.

    The bound for fresh points plus the law's largest step per run that has seen the row; twice as
    large where equal rows can occur (``repeated``) while blocks are cut by content.

    >>> from replearn.bounds import uniform_law
    >>> round(training_row_bound(uniform_law(32)), 4)
    0.1306
    """
    runs = check_count("runs", runs, least=2)
    trained = check_count("trained", trained, least=0, most=runs)
    if repeated and trained:
        pair = 2.0 * runs_bound(law, 2, vote) + min(trained, 2) * law.largest_step
        bound = (runs - 1) * pair
    else:
        bound = runs_bound(law, runs, vote) + trained * law.largest_step
    return min(bound * (1.0 + 1e-15), 1.0)


@theorem("training-rows")
def repeated_row_bound(law: ThresholdLaw, *, vote: str = "hard", runs: int = 2) -> float:
    """Return `training_row_bound` for data in which equal rows occur.

    >>> from replearn.bounds import uniform_law
    >>> round(repeated_row_bound(uniform_law(32)), 4)
    0.2299
    """
    return training_row_bound(law, vote=vote, runs=runs, repeated=True)
