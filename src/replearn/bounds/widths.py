"""How narrow may the threshold's law be, how few blocks suffice: inverses of the flip bound.

Everything is searched with quick estimates, but only what passes the rigorous bound is returned.
"""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from replearn.bounds.flips import (
    MAX_BLOCKS_BY_CELLS,
    GridEstimate,
    central_binomial,
    flip_supremum,
    runs_bound,
    uniform_flip_bound,
)
from replearn.bounds.laws import (
    LAWS_OF_A_WIDTH,
    MAX_BLOCKS,
    SCALES,
    VOTES,
    ThresholdLaw,
    uniform_law,
)
from replearn.bounds.numeric import Floats
from replearn.bounds.optimal import MAX_BLOCKS_OF_OPTIMAL_LAW, optimal_law, tightest_law
from replearn.records import check_choice, check_count, check_fraction, require_integer

# Significant digits of the widths that `smallest_width` returns.
DIGITS = 4

COARSE_WIDTHS = 256


@lru_cache(maxsize=1024)
def smallest_width(
    rho: float, n_blocks: int, *, law: str = "arcsine", vote: str = "hard", runs: int = 2
) -> float | None:
    """Return the smallest half-width with which a law keeps flips within a budget.

    A narrow law is close to a plain majority. The worst case of the arcsine law is not monotone in
    its width, so widths are scanned, not bisected.

    Parameters
    ----------
    rho : float
        Budget for the flips of two runs, in (0, 1].
    n_blocks : int
        Number of blocks T.
    law : {"arcsine", "uniform"}, default="arcsine"
        Kind of law.
    vote : {"hard", "soft"}, default="hard"
        Kind of votes.
    runs : int, default=2
        Number of runs that must all be equal.

    Returns
    -------
    float or None
        A width of four significant digits that passes `runs_bound`, or None if no width does.
        It is at least 1 / T: all narrower laws are the plain majority as well.

    Examples
    --------
    >>> [smallest_width(0.1, n_blocks) for n_blocks in (32, 64, 128)]
    [0.847, 0.651, 0.4794]
    >>> smallest_width(0.1, 64, law="uniform")
    0.7039
    >>> smallest_width(0.1, 17) is None
    True
    """
    rho = check_fraction("rho", rho)
    n_blocks = check_count("n_blocks", n_blocks, most=MAX_BLOCKS)
    build = _builder(law)
    check_choice("vote", vote, VOTES)

    closed_form = vote == "soft" or n_blocks > MAX_BLOCKS_BY_CELLS

    def passes(width: float) -> bool:
        if closed_form and law == "uniform" and runs == 2:
            return uniform_flip_bound(n_blocks, width) <= rho
        return runs_bound(build(n_blocks, width), runs, vote) <= rho

    if vote == "soft" and (law != "uniform" or runs != 2):
        return next(filter(passes, _gentle_widths(n_blocks, law, runs, rho)), None)
    if closed_form:
        # No law of half-width w with one step per count can pass below this width.
        start = min(max(central_binomial(n_blocks) / (2.0 * rho), 1.0 / n_blocks), 1.0)
        return _by_bisection(start, passes)
    return next(filter(passes, _not_ruled_out(GridEstimate(n_blocks, law, runs), rho)), None)


def _builder(law: str) -> Callable[[int, float], ThresholdLaw]:
    """Return the constructor of a law that has a width."""
    if law not in LAWS_OF_A_WIDTH:
        raise ValueError(f"law must be 'uniform' or 'arcsine' to have a width, got {law!r}")
    return LAWS_OF_A_WIDTH[law]


def _round_up(width: float) -> float:
    """Round up to `DIGITS` significant digits."""
    if width >= 1.0:
        return 1.0
    indices = DIGITS - 1 - math.floor(math.log10(width))
    scale = 10.0**indices
    return min(math.ceil(width * scale - 1e-9) / scale, 1.0)


def _next_width(width: float) -> float:
    """Return the next width of `DIGITS` significant digits."""
    return _round_up(width * (1.0 + 10.0 ** (-DIGITS - 1)))


def _by_bisection(start: float, passes: Callable[[float], bool]) -> float | None:
    """Find a passing width next to a failing one, from geometric steps upwards."""
    low = 0.0
    high = start
    while not passes(_round_up(high)):
        if high >= 1.0:
            return None
        low = high
        high = min(high * 1.05, 1.0)
    while _next_width(_round_up(max(low, high / 1.05))) < _round_up(high):
        middle = (max(low, high / 1.05) + high) / 2.0
        if passes(_round_up(middle)):
            high = middle
        else:
            low = middle
    return _round_up(high)


def _gentle_widths(n_blocks: int, law: str, runs: int, rho: float) -> Iterator[float]:
    """Yield increasing widths whose steepest line is gentle enough for soft votes.

    A wider law is flatter inside, but a line enters at its end whenever it reaches another count:
    the steepest line rises and falls with the width, so all stretches between counts are looked at.
    """
    spread = (
        central_binomial(n_blocks) if runs == 2 else flip_supremum(uniform_law(n_blocks), runs=runs)
    )
    slope = rho / (n_blocks * spread)  # no step of the law may be larger
    ends = SCALES[law](np.arange(n_blocks % 2, n_blocks + 1, 2) / n_blocks)
    inner = np.maximum.accumulate(np.diff(ends, prepend=-ends[0] if n_blocks % 2 else 0.0))
    # Between two ends: the inner steps fall with the width, the one that is cut by it grows.
    low = np.maximum(ends, inner / (2.0 * slope))
    high = np.append(ends[1:], ends[-1])
    if slope < 0.5:
        high = np.minimum(high, ends / (1.0 - 2.0 * slope))
    unscale: Callable[[Floats], Floats] = np.sin if law == "arcsine" else np.positive
    for cell in np.flatnonzero((low <= high) & (high > 0.0)):
        first, last = unscale(np.array([low[cell], high[cell]]))
        first = max(first * (1.0 - 1e-9), 1.0 / n_blocks)
        yield from (w for w in _lattice(first, max(last, first)) if w <= last * (1.0 + 1e-9))


MAX_CELLS = 2**28
FEWER_CELLS = 2**22
"""Widths times counts that are looked at together: 2 GB.

Beyond (3,000 blocks and very narrow laws) some hundred widths of equal ratios are tried instead of
all; what is certified is computed from the width that is chosen.
"""


def _not_ruled_out(estimate: GridEstimate, rho: float) -> Iterator[float]:
    """Yield increasing widths whose largest value of H on the grid stays within the budget."""
    coarse = np.sin(np.linspace(0.0, math.pi / 2.0, COARSE_WIDTHS + 1))
    coarse = np.unique(np.maximum(coarse, 1.0 / estimate.n_blocks - 1e-9))
    first = np.flatnonzero(estimate.largest_flips(coarse[1:], every=4) <= rho * (1.0 + 1e-4))
    for cell in first:
        widths = _lattice(coarse[cell], coarse[cell + 1])
        if len(widths) * estimate.n_blocks > MAX_CELLS:
            few = max(2, FEWER_CELLS // estimate.n_blocks)
            first_width = float(widths[0])
            last_width = float(widths[-1])
            spread = np.geomspace(first_width, last_width, few)
            widths = np.array([_round_up(width) for width in spread.tolist()])
        yield from widths[estimate.largest_flips(widths) <= rho].tolist()


def _lattice(low: float, high: float) -> Floats:
    """Return all widths in (low, high], rounded up to as many decimals as `DIGITS` gives low."""
    scale = 10.0 ** (DIGITS - 1 - math.floor(math.log10(low)))
    return np.arange(math.floor(low * scale) + 1, math.ceil(high * scale - 1e-9) + 1) / scale


@lru_cache(maxsize=1024)
def smallest_blocks(
    rho: float,
    *,
    law: str = "uniform",
    width: float | None = 1.0,
    vote: str = "hard",
    runs: int = 2,
) -> int:
    """Return the smallest number of blocks that keeps flips within a budget.

    Parameters
    ----------
    rho, vote, runs
        As for `smallest_width`.
    law : {"uniform", "arcsine", "optimal"}, default="uniform"
        Kind of law.
    width : float or None, default=1.0
        Half-width of the law. None allows any width, and is required for "optimal".

    Returns
    -------
    int
        A number of blocks that passes; one block fewer fails.

    Examples
    --------
    >>> [smallest_blocks(rho) for rho in (0.1, 0.05, 0.02, 0.01)]
    [32, 128, 796, 3183]
    >>> smallest_blocks(0.1, law="arcsine", width=None)
    18
    >>> smallest_blocks(0.1, law="optimal", width=None)
    16
    """
    rho = check_fraction("rho", rho)
    check_count("runs", runs, least=2)
    passes = _passing(rho, law, width, check_choice("vote", vote, VOTES), runs)
    largest = MAX_BLOCKS_OF_OPTIMAL_LAW if law == "optimal" else MAX_BLOCKS
    return require_integer(
        passes, f"rho={rho:g} needs more than {largest} blocks: raise it", limit=largest
    )


def _passing(
    rho: float, law: str, width: float | None, vote: str, runs: int
) -> Callable[[int], bool]:
    """Return the predicate "this many blocks keep flips within the budget"."""
    if law == "optimal":
        if vote == "soft" or width is not None or runs != 2:
            raise ValueError("law='optimal' takes width=None, hard votes and two runs")
        return lambda n_blocks: flip_supremum(tightest_law(n_blocks)) <= rho
    build = _builder(law)
    if law == "uniform" and (width is None or width == 1.0) and runs == 2:
        # theorem: pointwise-threshold
        return lambda n_blocks: uniform_flip_bound(n_blocks, 1.0) <= rho
    if width is None:
        return lambda n_blocks: _some_width_passes(rho, n_blocks, law, vote, runs)
    half_width = check_fraction("width", width)
    return lambda n_blocks: runs_bound(build(n_blocks, half_width), runs, vote) <= rho


def _some_width_passes(rho: float, n_blocks: int, law: str, vote: str, runs: int) -> bool:
    """Whether a law of some width keeps flips within the budget; doubtful cases are scanned."""
    if vote == "hard" and n_blocks <= MAX_BLOCKS_BY_CELLS:
        width, estimate = _best_width(law, n_blocks, runs)
        if estimate > 1.02 * rho:
            return False
        if runs_bound(_builder(law)(n_blocks, width), runs, vote) <= rho:
            return True
    return smallest_width(rho, n_blocks, law=law, vote=vote, runs=runs) is not None


@lru_cache(maxsize=1024)
def _best_width(law: str, n_blocks: int, runs: int = 2) -> tuple[float, float]:
    """Return a width with nearly the smallest worst case for hard votes, and its estimate."""
    widths = np.sin(np.linspace(0.5, math.pi / 2.0, 128))
    flips = GridEstimate(n_blocks, law, runs, density=12).largest_flips(widths)
    best = int(np.argmin(flips))
    return _round_up(float(widths[best])), float(flips[best])


def make_law(
    name: str, n_blocks: int, *, width: float | None = None, rho: float | None = None
) -> ThresholdLaw:
    """Return a law by name, with a given width or the narrowest one within a flip budget.

    Parameters
    ----------
    name : {"uniform", "arcsine", "optimal"}
        Kind of law.
    n_blocks : int
        Number of blocks T.
    width : float, optional
        Half-width; not for "optimal".
    rho : float, optional
        Flip budget for hard votes, which is used if no width is given.

    Examples
    --------
    >>> make_law("arcsine", 32, rho=0.1).width
    0.847
    """
    if (width is None) == (rho is None):
        raise ValueError(f"give either width or rho, got width={width!r} and rho={rho!r}")
    if name == "optimal":
        if rho is None:
            raise ValueError(f"an optimal law is made from rho, not from width={width!r}")
        return optimal_law(n_blocks, rho)
    build = _builder(name)
    if width is None and rho is not None:
        width = smallest_width(rho, n_blocks, law=name)
    if width is None:
        raise ValueError(
            f"no {name} law on {n_blocks} blocks keeps flips within rho={rho!r}; the smallest rho "
            f"for this many blocks is {_smallest_budget(name, n_blocks):.4g}: use more blocks"
        )
    return build(n_blocks, width)


def _smallest_budget(name: str, n_blocks: int) -> float:
    """Return the certified worst case of the best width, rounded up to four digits."""
    widest = name == "uniform" or n_blocks > MAX_BLOCKS_BY_CELLS
    width = 1.0 if widest else _best_width(name, n_blocks)[0]
    return _round_up(flip_supremum(_builder(name)(n_blocks, width)))
