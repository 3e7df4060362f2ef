"""The probability that two runs predict one point differently, for any law of the threshold.

Two runs with votes B1, B2 and one shared threshold differ with probability E|G(B1) - G(B2)|; for
hard votes with chance q each this is ``H(q) = 2 sum_k dG_k F_k(q) (1 - F_k(q))``. The bound is the
supremum over q, from the coefficients of `replearn.bounds.pairs`.

Two disjoint halves of one finite file are exchangeable, not independent: they have a bound of their
own.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from replearn.bounds.laws import ROUNDING, VOTES, ThresholdLaw, uniform_law
from replearn.bounds.numeric import Floats
from replearn.bounds.pairs import (
    BATCH,
    FLOAT_SLACK,
    MAX_PAIRS,
    central_binomial,
    gap_coefficients,
    largest_mean,
    log_choose,
    window_radius,
)
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_choice, check_count


def flip_curve(law: ThresholdLaw, q: ArrayLike, *, runs: int = 2) -> Floats:
    """Return H(q): how often runs are not all equal if a block votes 1 with probability q.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold.
    q : array-like of float
        Probabilities of a vote for 1, in [0, 1].
    runs : int, default=2
        Number of runs, at least 2.

    Returns
    -------
    ndarray of float
        ``sum_k dG_k phi(F_k(q))`` with ``phi(x) = 1 - x^runs - (1 - x)^runs``, exact up to float
        rounding; see `flip_supremum` for a bound over all q.

    Examples
    --------
    >>> from replearn.bounds.laws import uniform_law
    >>> flip_curve(uniform_law(32), [0.1, 0.5]).round(4).tolist()
    [0.0587, 0.0993]
    """
    check_count("runs", runs, least=2)
    chances = np.atleast_1d(np.asarray(q, dtype=np.float64))
    if not np.all((chances >= 0.0) & (chances <= 1.0)):
        raise ValueError("q must be in [0, 1]")
    flat = chances.ravel()
    rows = max(1, BATCH // min(law.n_blocks, 2 * window_radius(law.n_blocks) + 3))
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
        For two runs the relative distance to the supremum is at most 1e-6 for T <= 4,000, for more
        runs 1e-3. For larger T the bound is simpler: the largest coefficient for T <= 20,000, and
        beyond the bound in which every step of the law is its largest one.

    Examples
    --------
    >>> from replearn.bounds.laws import arcsine_law
    >>> flip_supremum(arcsine_law(32, 0.85)) <= 0.1
    True
    >>> flip_supremum(arcsine_law(64, 0.65)) <= 0.1
    False
    """
    if check_count("runs", runs, least=2) > 2:
        return _supremum_of_runs(law, runs)
    steepest = _steepest_line_bound(law)
    if law.name == "uniform" and law.width is not None:
        steepest = min(steepest, uniform_flip_bound(law.n_blocks, law.width))
        if law.width == 1.0:
            return steepest  # attained at q = 1/2
    return steepest if law.n_blocks > MAX_PAIRS else min(steepest, _supremum_of_pairs(law))


@lru_cache(maxsize=256)
def _supremum_of_pairs(law: ThresholdLaw) -> float:
    # theorem: binomial-pairs (two fair coins: no law does worse than 1/2)
    return min(0.5, largest_mean(gap_coefficients(law.probabilities)))


def _steepest_line_bound(law: ThresholdLaw) -> float:
    """Return g E|B1 - B2| at q = 1/2, which is g T f(T): every step taken as the largest."""
    bound = law.largest_step * law.n_blocks * central_binomial(law.n_blocks)
    return min(bound * (1.0 + 1e-14), 1.0)


def uniform_flip_bound(n_blocks: int, width: float) -> float:
    """Return f(T) / width, hard or soft votes, with the rounding of the uniform law's table."""
    exact_table = width == 1.0 and n_blocks & (n_blocks - 1) == 0  # k / T has at most 30 bits
    bound = central_binomial(n_blocks) / width + (0.0 if exact_table else ROUNDING)
    return min(bound, 1.0)


def flip_bound(law: ThresholdLaw, vote: str = "hard") -> float:
    """Return the bound that certificates state on how often two runs differ at a point.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold.
    vote : {"hard", "soft"}, default="hard"
        Whether blocks vote 0 or 1, or with a score in between (uniform and arcsine laws only).

    Examples
    --------
    >>> from replearn.bounds.laws import uniform_law
    >>> round(flip_bound(uniform_law(32)), 5), round(flip_bound(uniform_law(32), "soft"), 5)
    (0.09935, 0.09935)
    """
    if check_choice("vote", vote, VOTES) == "hard":
        return flip_supremum(law)
    return soft_flip_bound(law)


@theorem("soft-votes")
def soft_flip_bound(law: ThresholdLaw) -> float:
    """Return the flip bound of soft votes: 2 L f(T), L the slope of the steepest line of the law.

    >>> from replearn.bounds.laws import arcsine_law
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
    """Return the bound that certificates state on how often runs are not all equal at a point.

    Parameters
    ----------
    law, vote
        As for `flip_bound`.
    runs : int, default=2
        Number of runs, at least 2.

    Examples
    --------
    >>> from replearn.bounds.laws import uniform_law
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

    >>> from replearn.bounds.laws import uniform_law
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

    >>> from replearn.bounds.laws import uniform_law
    >>> round(repeated_row_bound(uniform_law(32)), 4)
    0.2299
    """
    return training_row_bound(law, vote=vote, runs=runs, repeated=True)


# -- sums over counts near their mean --------------------------------------------------------------
def binomial_masses(n: int, q: Floats, k: NDArray[np.intp]) -> Floats:
    """P(Bin(n, q) = k) row by row: q of shape (rows,), k of shape (rows, columns), 0 beyond n."""
    inside = np.minimum(k, n)
    q = np.clip(q, 1e-300, 1.0)[:, np.newaxis]
    logs = log_choose(n)[inside] + inside * np.log(q) + special.xlog1py(n - inside, -q)
    masses: Floats = np.exp(logs)
    masses[k > n] = 0.0
    return masses


def windows(n_blocks: int, low: Floats, high: Floats) -> NDArray[np.intp]:
    """Return the counts k < T (and padding beyond) that matter for any q in [low, high]."""
    radius = window_radius(n_blocks)
    first = np.maximum(np.floor(n_blocks * low).astype(np.intp) - radius, 0)
    last = np.minimum(np.ceil(n_blocks * high).astype(np.intp) + radius, n_blocks - 1)
    columns = int((last - first).max()) + 1
    return first[:, np.newaxis] + np.arange(columns)


def distribution_functions(n_blocks: int, q: Floats, k: NDArray[np.intp]) -> Floats:
    """F_k(q) = P(Bin(T, q) <= k) row by row, for consecutive k that start below the window."""
    return np.minimum(np.cumsum(binomial_masses(n_blocks, q, k), axis=1), 1.0)


# -- more than two runs ----------------------------------------------------------------------------
TOLERANCE_OF_RUNS = 1e-3
"""Gap between the bound for more than two runs and the largest value found, relative to that."""


@lru_cache(maxsize=256)
def _supremum_of_runs(law: ThresholdLaw, runs: int) -> float:
    """Bound sup_q sum_k dG_k phi(F_k(q)), phi(x) = 1 - x^r - (1 - x)^r."""
    # theorem: many-runs (phi(x) <= (r / 2) 2 x (1 - x); r fair coins: no law does worse)
    bound = min(runs / 2.0 * flip_supremum(law), 1.0 - 2.0 ** (1 - runs))
    if law.n_blocks > MAX_PAIRS:
        return bound
    bound = min(bound, _supremum_on_cells(law.steps, runs))
    if law.is_symmetric:
        return bound
    # q > 1/2 is the mirrored law at 1 - q: F_k(1 - q) = 1 - F_{T-1-k}(q)
    return max(bound, _supremum_on_cells(law.steps[::-1], runs))


def _supremum_on_cells(steps: Floats, runs: int) -> float:
    """Bound the sum for q in [0, 1/2], on cells that are divided while they could hold more.

    F_k falls in q, so on a cell [a, b] it lies in [F_k(b), F_k(a)], and phi is largest at 1/2.
    """
    edges = np.linspace(0.0, math.pi / 4.0, 16 + 4 * math.isqrt(len(steps)))
    cells = np.column_stack([edges[:-1], edges[1:]])
    largest_value = 0.0
    bound = 0.0
    while len(cells):
        values, limits = _evaluate_cells(steps, runs, cells)
        largest_value = max(largest_value, float(values.max()))
        is_open = limits > largest_value * (1.0 + TOLERANCE_OF_RUNS) + FLOAT_SLACK
        bound = max(bound, float(limits[~is_open].max(initial=0.0)))
        cuts = np.linspace(cells[is_open, 0], cells[is_open, 1], 5, axis=1)
        cells = np.column_stack([cuts[:, :-1].ravel(), cuts[:, 1:].ravel()])
    return min(bound + runs * FLOAT_SLACK, 1.0)


def _evaluate_cells(steps: Floats, runs: int, cells: Floats) -> tuple[Floats, Floats]:
    """Return the sum at the right end of each cell (angles, q = sin^2) and its limit."""
    n_blocks = len(steps)
    q = np.minimum(np.sin(cells) ** 2, 0.5)
    widest = int(n_blocks * float(np.ptp(q, axis=1).max())) + 2 * window_radius(n_blocks) + 3
    rows = max(1, BATCH // min(n_blocks, widest))
    values = []
    limits = []
    for start in range(0, len(q), rows):
        low, high = q[start : start + rows].T
        k = windows(n_blocks, low, high)
        weights = np.where(k < n_blocks, steps[np.minimum(k, n_blocks - 1)], 0.0)
        upper = distribution_functions(n_blocks, low, k)
        lower = distribution_functions(n_blocks, high, k)
        values.append((weights * not_all_equal(lower, runs)).sum(axis=1))
        limits.append((weights * not_all_equal(np.clip(0.5, lower, upper), runs)).sum(axis=1))
    return np.concatenate(values), np.concatenate(limits)


def not_all_equal(x: Floats, runs: int) -> Floats:
    """Chance that ``runs`` runs, each below a level with probability x, are not all equal."""
    if runs == 2:
        return 2.0 * x * (1.0 - x)
    return 1.0 - x**runs - (1.0 - x) ** runs


# -- two disjoint halves of one file: exchangeable, not independent --------------------------------
@theorem("halves-of-one-file")
def halves_supremum(law: ThresholdLaw, vote: str = "hard") -> float:
    """Return how often runs on two random halves of one file can differ at a point.

    An audit that cuts a file in two must compare with this number instead of `flip_supremum`: if
    one half has many votes for 1, the other has few.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold, for at most 20,000 blocks.
    vote : {"hard", "soft"}, default="hard"
        Kind of votes.

    Returns
    -------
    float
        The maximum over the number j of votes for 1 in both halves, rounded up.

    Examples
    --------
    >>> from replearn.bounds.flips import flip_supremum
    >>> from replearn.bounds.laws import uniform_law
    >>> round(halves_supremum(uniform_law(32)) / flip_supremum(uniform_law(32)), 4)
    1.0232
    """
    if law.n_blocks > MAX_PAIRS:
        raise ValueError(
            f"halves of a file are bounded up to {MAX_PAIRS} blocks, got n_blocks={law.n_blocks}"
        )
    if check_choice("vote", vote, VOTES) == "soft":
        if law.lipschitz is None:
            return flip_bound(law, vote)  # says that a law with atoms takes hard votes only
        spread = halves_supremum(uniform_law(law.n_blocks)) + ROUNDING
        return min(2.0 * law.lipschitz * spread * (1.0 + 1e-12), 1.0)
    return _hard_supremum(law)


@lru_cache(maxsize=64)
def _hard_supremum(law: ThresholdLaw) -> float:
    """Return the largest coefficient: the chance of halves with j votes for 1 in both together."""
    # theorem: halves-of-one-file
    return min(1.0, float(gap_coefficients(law.probabilities).max()) + FLOAT_SLACK)
