"""The probability that two runs predict one point differently, for any law of the threshold.

Two runs with votes B1, B2 and one shared threshold differ with probability E|G(B1) - G(B2)|; for
hard votes with chance q each this is ``H(q) = 2 sum_k dG_k F_k(q) (1 - F_k(q))``. The bound is the
supremum over q; it is computed by cells instead of a grid, so that it is rigorous.

Two disjoint halves of one finite file are exchangeable, not independent: they have a bound of their
own. So have mean scores. A score is divided by its standard error (Z), and the point's threshold is
uniform on [-c, c]; these numbers are conditional on the standard error, which no worst-case theorem
knows, but for the worst case of the same design.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from replearn.bounds.laws import (
    MAX_BLOCKS,
    ROUNDING,
    SCALES,
    VOTES,
    ThresholdLaw,
    frozen,
    uniform_law,
)
from replearn.bounds.numeric import Floats, Integers, round_up, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records import check_choice, check_count, check_fraction, check_positive

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
        The relative distance to the supremum is at most 1e-6 for T <= 2,048 and 1e-5 for
        T <= 20,000. For larger T it is f(T) / width for the uniform law, and for other smooth laws
        a bound that is close unless their width is near 1.

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
    """Return the bound that certificates state on how often two runs differ at a point.

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
    """Return the bound that certificates state on how often runs are not all equal at a point.

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


# -- the supremum over q ---------------------------------------------------------------------------
# Of sum_k dG_k phi(F_k(q)), where F_k(q) = P(Bin(T, q) <= k) and phi(x) = 1 - x^r - (1 - x)^r, the
# chance that r runs are not all equal (2 x (1 - x) for two). On a cell [a, b] of q two upper bounds
# hold, and the smaller one is used; cells that could still exceed the best value are divided.
#
# First order: F_k falls in q, so F_k lies in [F_k(b), F_k(a)], and phi is concave around 1/2.
# Second order: a function with second derivative >= -M on the cell is at most the larger end value
# plus M (b - a)^2 / 8; M is bounded by interval arithmetic.
#
# Outside |k - T q| <= window_radius(T) a binomial variable has mass at most `NEGLECTED` on each
# side (Hoeffding), so T = 10^7 costs no more than its few ten thousand relevant counts.

# Mass that may lie outside a window, on each side.
NEGLECTED = 1e-18

# Up to here the supremum is computed closely; beyond, a bound for smooth laws takes over.
MAX_BLOCKS_BY_CELLS = 20_000

# Relative gap between the returned bound and the largest value evaluated (T <= 2,048).
TOLERANCE = 1e-6

# Added per run: masses are right to about 5e-11 for T <= 20,000 and the weights sum to one.
FLOAT_SLACK = 5e-10

# Numbers held per array: keeps the memory of one pass to a few megabytes.
LARGEST_BATCH = 400_000

# Most entries of a matrix of levels.
MATRIX_SIZE = 4_000_000


def window_radius(n_blocks: int) -> int:
    """Radius around T q outside which Bin(T, q) and Bin(T - 1, q) have mass `NEGLECTED` a side."""
    # Hoeffding: P(B <= T q - h) <= exp(-2 h^2 / T); one more for the shift between T and T - 1.
    return math.ceil(math.sqrt(-math.log(NEGLECTED) * n_blocks / 2.0)) + 1


@lru_cache(maxsize=16)
def log_choose(n: int) -> Floats:
    """Logarithms of the binomial coefficients C(n, 0), ..., C(n, n)."""
    factorials = special.gammaln(np.arange(n + 1) + 1.0)
    return frozen(factorials[-1] - factorials - factorials[::-1])


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


def mean_difference_limit(n_blocks: int, q: Floats) -> Floats:
    """Return an upper bound of E|B1 - B2| for independent B1, B2 ~ Bin(T, q).

    With s = 2 q (1 - q) and e(s) = P(two binomials of T - 1 are equal), E|B1 - B2| is the integral
    of T e over [0, s], and e(s) <= exp(-(T-1) s) I_0((T-1) s); tight up to a factor 1 + O(1 / T).
    """
    spread = 2.0 * q * (1.0 - q)
    if n_blocks == 1:
        return spread
    z = (n_blocks - 1) * spread
    factor = n_blocks / (n_blocks - 1) * (1.0 + 1e-12)
    return np.asarray(factor * z * (special.i0e(z) + special.i1e(z)))


def supremum_by_cells(steps: Floats, runs: int = 2) -> float:
    """Return an upper bound of sup over q in [0, 1/2], tight up to `TOLERANCE`."""
    n_blocks = len(steps)
    # theorem: pointwise-threshold
    edges = np.linspace(0.0, math.pi / 4.0, 16 + 4 * math.isqrt(n_blocks))
    low = edges[:-1]
    high = edges[1:]
    tolerance = TOLERANCE * max(1.0, n_blocks / 2048)
    best = 0.0
    settled = 0.0
    while len(low):
        value, bound = _evaluate(steps, runs, low, high)
        best = max(best, float(value.max()))
        open_ = bound > best * (1.0 + tolerance) + FLOAT_SLACK
        settled = max(settled, float(bound[~open_].max(initial=0.0)))
        gap = (bound[open_] - best) / (best * tolerance + FLOAT_SLACK)
        low, high = _divide(low[open_], high[open_], np.clip(np.cbrt(gap), 2.0, 6.0))
    return min(settled + runs * (FLOAT_SLACK + NEGLECTED), 1.0)


def _divide(low: Floats, high: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Cut each cell into about as many equal parts as wanted."""
    parts = np.ceil(wanted).astype(np.intp)
    cell = np.repeat(np.arange(len(low)), parts)
    index = np.arange(len(cell)) - np.repeat(np.cumsum(parts) - parts, parts)
    part = (high - low)[cell] / parts[cell]
    start = low[cell] + index * part
    end = np.where(index == parts[cell] - 1, high[cell], low[cell] + (index + 1) * part)
    return start, end


def _evaluate(steps: Floats, runs: int, low: Floats, high: Floats) -> Floats:
    """Evaluate cells given by angles (q = sin^2), in batches that fit into memory."""
    n_blocks = len(steps)
    a = np.sin(low) ** 2
    b = np.minimum(np.sin(high) ** 2, 0.5)
    widest = int(n_blocks * float((b - a).max())) + 2 * window_radius(n_blocks) + 3
    rows = max(1, LARGEST_BATCH // min(n_blocks, widest))
    parts = [
        _evaluate_batch(steps, runs, a[i : i + rows], b[i : i + rows])
        for i in range(0, len(a), rows)
    ]
    return np.concatenate(parts, axis=1)


def _evaluate_batch(steps: Floats, runs: int, a: Floats, b: Floats) -> Floats:
    """Return the larger end value of the curve on each cell [a, b], and an upper bound on it."""
    cells = _Cells.around(len(steps), a, b)
    weights = np.where(cells.k < len(steps), steps[np.minimum(cells.k, len(steps) - 1)], 0.0)
    value = np.maximum(
        (weights * not_all_equal(cells.upper, runs)).sum(axis=1),
        (weights * not_all_equal(cells.lower, runs)).sum(axis=1),
    )
    middle = np.clip(0.5, cells.lower, cells.upper)
    first_order = (weights * not_all_equal(middle, runs)).sum(axis=1)
    bend = (weights * (_bend_of_phi(cells, runs) + _bend_of_levels(cells, runs))).sum(axis=1)
    neglected = 2.0 * NEGLECTED * (runs * len(steps)) ** 2 / cells.least_variance[:, 0]
    second_order = value + np.maximum(bend + neglected, 0.0) * (b - a) ** 2 / 8.0
    second_order[a == 0.0] = np.inf  # 1 / (q (1 - q)) has no bound there
    return np.stack([value, np.minimum(first_order, second_order)])


@dataclass(frozen=True)
class _Cells:
    """What is known of F_k and its derivatives on cells [a, b] of q (columns), for counts k."""

    n_blocks: int
    a: Floats
    b: Floats
    k: NDArray[np.intp]
    lower: Floats  # F_k(b)
    upper: Floats  # F_k(a)
    least_slope: Floats  # of -F_k' = T P(Bin(T - 1, q) = k) on the cell
    most_slope: Floats
    least_variance: Floats  # of q (1 - q) on the cell, where a > 0

    @classmethod
    def around(cls, n_blocks: int, a: Floats, b: Floats) -> "_Cells":
        """Evaluate both ends of each cell, and what lies between."""
        k = windows(n_blocks, a, b)
        n = n_blocks - 1
        at_a = binomial_masses(n, a, k)
        at_b = binomial_masses(n, b, k)
        a = a[:, np.newaxis]
        b = b[:, np.newaxis]
        # P(Bin(T, q) = k) = P(Bin(T - 1, q) = k) T (1 - q) / (T - k) for k < T
        share = n_blocks / np.maximum(n_blocks - k, 1)
        upper = np.minimum(np.cumsum(at_a * share * (1.0 - a), axis=1), 1.0)
        lower = np.minimum(np.cumsum(at_b * share * (1.0 - b), axis=1), upper)
        variance = a * (1.0 - a) + (a == 0.0)  # a cell from q = 0 has no second order
        # The mass rises in q up to k / n and falls from there; inside the cell its peak exceeds
        # the ends by at most exp(n KL), and KL(k / n, a) <= (b - a)^2 / (a (1 - a)).
        peak_inside = (k > n * a) & (k < n * b)
        excess = n * (b - a) ** 2 / variance
        factor = np.where(excess < 600.0, np.exp(np.minimum(excess, 600.0)), np.inf)
        ends = np.maximum(at_a, at_b)
        most = np.where(peak_inside, np.minimum(np.maximum(ends, 1e-300) * factor, 1.0), ends)
        slopes = n_blocks * np.minimum(at_a, at_b), n_blocks * most
        return cls(n_blocks, a, b, k, lower, upper, *slopes, least_variance=variance)


def _bend_of_phi(cells: _Cells, runs: int) -> Floats:
    """Bound -phi''(F) F'^2 from above on each cell."""
    if runs == 2:
        return 4.0 * cells.most_slope**2
    # -phi'' is convex in x, so its largest value is at an end of [lower, upper]
    ends = [x ** (runs - 2) + (1.0 - x) ** (runs - 2) for x in (cells.lower, cells.upper)]
    return np.asarray(runs * (runs - 1) * np.maximum(ends[0], ends[1]) * cells.most_slope**2)


def _bend_of_levels(cells: _Cells, runs: int) -> Floats:
    """Bound -phi'(F) F'' = phi'(F) |F'| (k - (T - 1) q) / (q (1 - q)) from above on each cell."""
    slopes = [
        runs * ((1.0 - x) ** (runs - 1) - x ** (runs - 1)) for x in (cells.lower, cells.upper)
    ]
    offsets = [cells.k - (cells.n_blocks - 1) * q for q in (cells.a, cells.b)]
    corners = [slope * offset for slope in slopes for offset in offsets]
    most = np.maximum.reduce(corners)
    if_positive = cells.most_slope / cells.least_variance
    if_negative = cells.least_slope / (cells.b * (1.0 - cells.b))
    return np.asarray(most * np.where(most >= 0.0, if_positive, if_negative))


def supremum_of_smooth_law(steps: Floats, runs: int = 2) -> float:
    """Return a simple upper bound for very many blocks, tight for laws with smooth steps.

    Near T q the steps are at most their local maximum g_0, and sum_k 2 F_k (1 - F_k) = E|B1 - B2|
    rises in q up to 1/2; each wider ring adds its growth of the maximum times a Hoeffding tail.
    """
    n_blocks = len(steps)
    # theorem: pointwise-threshold
    edges = np.minimum(np.sin(np.linspace(0.0, math.pi / 4.0, 4097)) ** 2, 0.5)
    edges[-1] = 0.5
    radii = [int(r) for r in np.ceil(math.sqrt(n_blocks) * np.arange(0.25, 4.5, 0.25))]
    rings = [_largest_nearby(steps, edges, radius) for radius in [*radii, n_blocks]]
    tails = [_tail_beyond(n_blocks, radius) for radius in radii]
    difference = mean_difference_limit(n_blocks, edges[1:])
    bound = rings[-1] * difference  # start from the widest ring, add inner ones where they help
    beyond = np.zeros_like(difference)
    for ring, wider, tail in zip(rings[-2::-1], rings[:0:-1], tails[::-1], strict=True):
        beyond += (wider - ring) * tail
        bound = np.minimum(bound, ring * difference + beyond)
    # r runs: phi(x) <= (r / 2) 2 x (1 - x)
    return float(min(runs / 2.0 * bound.max() * (1.0 + 1e-9), 1.0))


def _largest_nearby(steps: Floats, edges: Floats, radius: int) -> Floats:
    """Largest step among the counts within ``radius`` of T q, for each cell of q."""
    from scipy import ndimage  # slow to import: only where it is used

    n_blocks = len(steps)
    if radius >= n_blocks:
        return np.full(len(edges) - 1, float(steps.max()))
    spread = ndimage.maximum_filter1d(steps, size=2 * radius + 3, mode="nearest")
    first = np.floor(edges[:-1] * n_blocks).astype(np.intp)
    last = np.minimum(np.ceil(edges[1:] * n_blocks).astype(np.intp), n_blocks - 1)
    ends = np.column_stack([first, last + 1]).ravel()
    return np.asarray(np.maximum.reduceat(np.append(spread, 0.0), ends)[::2])


def _tail_beyond(n_blocks: int, radius: int) -> float:
    """Bound the sum of 2 F_k (1 - F_k) over the counts farther than ``radius`` from T q."""
    # Hoeffding for each count, the sum by its first term and an integral, on both sides
    rate = 2.0 / n_blocks
    integral = math.sqrt(math.pi / rate) / 2.0 * special.erfc(radius * math.sqrt(rate))
    return 4.0 * (math.exp(-rate * radius**2) + float(integral))


def not_all_equal(x: Floats, runs: int) -> Floats:
    """Chance that ``runs`` runs, each below a level with probability x, are not all equal."""
    if runs == 2:
        return 2.0 * x * (1.0 - x)
    return 1.0 - x**runs - (1.0 - x) ** runs


def level_matrix(n_blocks: int, q: Floats, runs: int = 2) -> Floats:
    """Return 1 - F_k(q)^runs - (1 - F_k(q))^runs: one row per q, one column per count k < T."""
    matrix = np.zeros((len(q), n_blocks))
    for row, chance in enumerate(q):
        k = windows(n_blocks, np.array([chance]), np.array([chance]))
        matrix[row, k[0]] = not_all_equal(distribution_functions(n_blocks, q[[row]], k), runs)[0]
    return matrix


class GridEstimate:
    """Largest H over a grid of q, for many widths at once: never above the supremum."""

    def __init__(self, n_blocks: int, law: str, runs: int, density: int = 64) -> None:
        count = int(min(density * math.sqrt(n_blocks) + 64, MATRIX_SIZE / n_blocks))
        grid = np.sin(np.linspace(0.0, math.pi / 4.0, count + 1)[1:]) ** 2
        self.n_blocks = n_blocks
        self.levels = level_matrix(n_blocks, grid, runs)
        self.scale = SCALES[law]
        self.position = self.scale(2.0 * np.arange(n_blocks + 1) / n_blocks - 1.0)

    def largest_flips(self, widths: Floats, every: int = 1) -> Floats:
        """Return the largest H on (a part of) the grid for each width, with an unrounded table."""
        reach = 2.0 * self.scale(np.minimum(widths, 1.0))
        values = np.clip(0.5 + self.position / reach[:, np.newaxis], 0.0, 1.0)
        largest: Floats = (np.diff(values, axis=1) @ self.levels[::every].T).max(axis=1)
        return largest - ROUNDING


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
    >>> from replearn.bounds import flip_supremum, uniform_law
    >>> round(halves_supremum(uniform_law(32)) / flip_supremum(uniform_law(32)), 4)
    1.0232
    """
    if law.n_blocks > MAX_BLOCKS_BY_CELLS:
        raise ValueError(
            f"halves of a file are bounded up to {MAX_BLOCKS_BY_CELLS} blocks, "
            f"got n_blocks={law.n_blocks}"
        )
    if check_choice("vote", vote, VOTES) == "soft":
        if law.lipschitz is None:
            return flip_bound(law, vote)  # says that a law with atoms takes hard votes only
        spread = halves_supremum(uniform_law(law.n_blocks)) + ROUNDING
        return min(2.0 * law.lipschitz * spread * (1.0 + 1e-12), 1.0)
    return _hard_supremum(law)


@lru_cache(maxsize=64)
def _hard_supremum(law: ThresholdLaw) -> float:
    """Return the largest value of `halves_curve`, rounded up; depends on the table alone."""
    # theorem: halves-of-one-file
    most = float(halves_curve(law).max())
    return min(most * (1.0 + FLOAT_SLACK) + FLOAT_SLACK + 2.0 * NEGLECTED, 1.0)


def halves_curve(law: ThresholdLaw) -> Floats:
    """Return E|G(S) - G(j - S)| for j = 0, ..., 2 T votes for 1, S ~ Hypergeometric(2 T, j, T).

    >>> from replearn.bounds import uniform_law
    >>> halves_curve(uniform_law(1)).round(6).tolist()
    [0.0, 1.0, 0.0]
    """
    n_blocks = law.n_blocks
    totals = np.arange(n_blocks + 1 if law.is_symmetric else 2 * n_blocks + 1)
    # Hoeffding holds for draws without replacement, too
    reach = np.arange(-window_radius(n_blocks) - 1, window_radius(n_blocks) + 2)
    rows = max(1, LARGEST_BATCH // len(reach))
    parts = [_expected_gaps(law, totals[i : i + rows], reach) for i in range(0, len(totals), rows)]
    values = np.concatenate(parts)
    return np.concatenate([values, values[-2::-1]]) if law.is_symmetric else values


def _expected_gaps(law: ThresholdLaw, totals: Integers, reach: Integers) -> Floats:
    """Return E|G(S) - G(j - S)| for some totals j."""
    n_blocks = law.n_blocks
    j = totals[:, np.newaxis]
    first = j // 2 + reach
    second = j - first
    possible = (np.minimum(first, second) >= 0) & (np.maximum(first, second) <= n_blocks)
    first = np.clip(first, 0, n_blocks)
    second = np.clip(second, 0, n_blocks)
    choose = log_choose(n_blocks)
    logs = choose[first] + choose[second] - log_choose(2 * n_blocks)[j]
    masses = np.exp(np.where(possible, logs, -np.inf))
    gaps = np.abs(law.probabilities[first] - law.probabilities[second])
    return np.asarray((masses * gaps).sum(axis=1))


# -- thresholds in standard errors of a score ------------------------------------------------------
NORMAL_DIFFERENCE = 2.0 / math.sqrt(math.pi)
"""E|Z - Z'| of two independent normal numbers, in standard deviations."""

LARGEST_DIFFERENCE = 2.0 / math.sqrt(3.0)
"""The largest E|Z - Z'| of any distribution, in standard deviations: that of the uniform one."""


@theorem("score-thresholds")
def score_half_width(rho: float, reach: float | None = None) -> float:
    """Return the half-width c of the thresholds, in standard errors, with normal flips ``rho``.

    At most ``reach``, the distance to scores of 0 or 1, which no threshold overrules.

    >>> round(score_half_width(0.1), 3), score_half_width(0.1, reach=4.5)
    (5.642, 4.5)
    """
    width = round_up(NORMAL_DIFFERENCE / (2.0 * check_fraction("rho", rho)))
    return width if reach is None else min(width, check_positive("reach", reach))


@theorem("score-thresholds")
def normal_flip_bound(half_width: float, excess: float = 1.0) -> float:
    """Bound the flips of normal scores whose standard error is ``excess`` times the assumed one.

    >>> round(normal_flip_bound(score_half_width(0.1), excess=2.0), 6)
    0.2
    """
    width = check_positive("half_width", half_width)
    return upper_probability(check_positive("excess", excess) * NORMAL_DIFFERENCE / (2.0 * width))


@theorem("score-thresholds")
def any_score_flip_bound(half_width: float, excess: float = 1.0) -> float:
    """Bound the flips of scores of any distribution, by their standard error alone.

    >>> round(any_score_flip_bound(score_half_width(0.1)), 5)
    0.10233
    """
    width = check_positive("half_width", half_width)
    return upper_probability(check_positive("excess", excess) * LARGEST_DIFFERENCE / (2.0 * width))


@theorem("score-thresholds")
def mismatch_flip_bound(ratio: float) -> float:
    """Bound what is added if the standard errors of two runs differ by a factor of up to ``ratio``.

    >>> round(mismatch_flip_bound(1.05), 4)
    0.0238
    """
    factor = check_positive("ratio", ratio)
    return upper_probability((1.0 - min(factor, 1.0 / factor)) / 2.0)


@theorem("score-thresholds")
def worst_score_flip_bound(
    n_blocks: int, half_width: float, standard_error: float, n_classes: int = 2
) -> float:
    """Bound the flips of any estimator whatever its scores do, for thresholds fixed beforehand.

    The score is a mean over ``n_blocks`` independent blocks. At most 1, which says nothing.

    >>> round(worst_score_flip_bound(8, score_half_width(0.1), 0.05), 3)
    0.348
    """
    width = check_positive("half_width", half_width) * check_positive(
        "standard_error", standard_error
    )
    pairs = math.comb(check_count("n_classes", n_classes, least=2), 2)
    return upper_probability(pairs * central_binomial(n_blocks) / (2.0 * width))


def sphere_peak(dimension: int) -> float:
    """Largest density of one coordinate of a uniform point on the unit sphere.

    >>> round(sphere_peak(3), 4), round(sphere_peak(4), 4)
    (0.5, 0.6366)
    """
    half = dimension / 2.0
    return math.exp(math.lgamma(half) - math.lgamma(half - 0.5)) / math.sqrt(math.pi)
