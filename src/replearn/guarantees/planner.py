"""Plans of blocks that vote: give all but one of the numbers, and the missing one is solved.

Every search returns the passing side of a monotone predicate, and the promise's own derivation has
the last word.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from inspect import signature
from typing import Any

from replearn.bounds.flips import flip_bound, uniform_flip_bound
from replearn.bounds.laws import LAWS_OF_A_WIDTH, ThresholdLaw, arcsine_law
from replearn.bounds.multiclass import least_sharpness, smallest_blocks_multiclass
from replearn.guarantees.design import LAWS, MIN_BLOCK, OPEN, TASKS_OF_VOTES, VoteDesign
from replearn.guarantees.plan import Plan
from replearn.guarantees.promise import Ledger, derive, rounded_up, task_named
from replearn.guarantees.votes import block_size_needed, error_slack, promised
from replearn.records.checks import (
    check_choice,
    check_count,
    check_fraction,
    check_number,
    check_positive,
    if_given,
)
from replearn.records.search import bisect, smallest_integer
from replearn.registry import PLANNED, entries_of

GOLDEN = (math.sqrt(5) - 1) / 2
STEPS_TO_BEST_WIDTH = 9
STEPS_TO_NARROWEST = 24
STEPS_TO_SHARPEST = 40
SHARPEST = 8
SOFT_WIDTHS = range(50, 100)
MAX_BLOCKS = 1_000_000
MAX_BLOCKS_SEARCHED = 4_000

MARGIN = 1.0 - 2e-6
"""Another machine may compute a supremum a relative 1e-6 larger: where possible, keep a margin."""

DEFAULT_BLOCKS = 88
"""Blocks used when the sample allows it, for rho = 0.1 or more; for less they grow as 1 / rho^2.

So the arcsine law keeps a half-width of about 0.57. Flips become rarer with every block, and easier
to foresee. On Adult logistic regression loses 0.05 points from 75 to 96 blocks and as much again
to 120, forests 0.2 from 75 to 100; trees and small files gain accuracy with every block, boosting
loses beyond 32."""

CLASS_BLOCKS = 4 * DEFAULT_BLOCKS
"""The same for more than two classes: sharper draws are worth more than larger blocks.

20,000 rows, rho = 0.1, logistic regression and trees: accuracy grows up to about 350 blocks on all
of five files with three and four classes, by up to 5 points from 160 blocks, and hardly beyond."""

MAX_FITS = 8 * DEFAULT_BLOCKS
"""Base estimators trained by default, over all partitions: 8 partitions at rho = 0.1, 2 at 0.05.

Partitions change no expected accuracy, they only make flips rarer, and easier to foresee: with 64
blocks on Adult, logistic regression, 0.91, 0.75, 0.73, 0.70 of the single fit's for 1, 4, 6, 12 of
them, with 96 blocks 0.592, 0.586, 0.582, 0.580 for 8, 10, 12, 16."""

MAX_BLOCKS_WITHOUT_TARGET = 4_000
"""Blocks used at most when no target is given or none is reached."""

MAX_PARTITIONS = 16
"""More partitions than this no longer change the predictions noticeably."""


# The arcsine law spends a pointwise budget evenly; the uniform one has the smallest steps, which
# is what the concentration of the approximate notion pays for.
DEFAULT_LAWS = {"pointwise": "arcsine", "approximate": "uniform"}


@dataclass(frozen=True)
class Search:
    """What is searched: an open design, and what limits it.

    Parameters
    ----------
    task : {"pointwise", "approximate"}
        What is promised.
    design : VoteDesign
        Targets and whatever is given; n, n_blocks, n_partitions may be None.
    law : {"arcsine", "uniform"} or ThresholdLaw
        Kind of law, or the law itself.
    width : float or None
        Half-width of the law. If None, the smallest one that meets the targets.
    block_size : int or None
        Smallest number of rows of a block.
    max_fits : int or None
        Largest number of base estimators, over all partitions.
    min_block : int or None
        Rows per block below which fewer blocks are used.
    """

    task: str
    design: VoteDesign
    law: str | ThresholdLaw
    width: float | None = None
    block_size: int | None = None
    max_fits: int | None = None
    min_block: int | None = None

    # -- the predicate ---------------------------------------------------------------------------
    @property
    def target(self) -> float | None:
        """The number the bound must not exceed; None when it is what is to be solved."""
        if self.task == "pointwise":
            return self.design.rho
        return self.design.gamma if self.design.rho is not None else None

    def bound(
        self, n_blocks: int, law: ThresholdLaw | None, sharpness: float | None = None
    ) -> float:
        """Return the number that is compared with the target."""
        if sharpness is None and not self.design.binary:
            sharpness = least_sharpness(self.design.n_classes)
        rows = max(self.design.n or 0, n_blocks)
        tried = replace(
            self.design, n=rows, n_blocks=n_blocks, n_partitions=1, law=law, sharpness=sharpness
        )
        rho, gamma = promised(self.task, Ledger(), tried)
        return rho if gamma is None or self.design.rho is None else gamma

    def meets(self, n_blocks: int, law: ThresholdLaw | None) -> bool:
        """Whether the target is met."""
        return self.target is None or self.bound(n_blocks, law) <= self.target

    # -- laws ------------------------------------------------------------------------------------
    def sharpness_for(self, n_blocks: int) -> float | None:
        """Return the largest sharpness that meets the target with this many blocks, rounded down.

        The least when none does, or when there is no target. None for two classes.
        """
        if self.design.binary:
            return None
        target = self.target
        least = least_sharpness(self.design.n_classes)
        if target is None or not self.meets(n_blocks, None):
            return least
        # one vote more is then enough for the most voted class to be the prediction
        largest = max(SHARPEST * n_blocks, least)
        if self.bound(n_blocks, None, largest) <= target:
            return largest
        sharpest = bisect(
            lambda sharpness: self.bound(n_blocks, None, sharpness) <= target * MARGIN,
            least,
            largest,
            halvings=STEPS_TO_SHARPEST,
        )
        return max(least, math.floor(sharpest * 1e4) / 1e4)

    def law_for(self, n_blocks: int) -> ThresholdLaw | None:
        """Return the law to use with this many blocks: the narrowest that meets the target.

        When none does, or when there is no target, the one with the smallest bound.
        """
        if not self.design.binary:
            return None
        if isinstance(self.law, ThresholdLaw):
            return self.law
        if self.width is not None:
            return self._make(n_blocks, self.width)
        return self._best(n_blocks) if self.target is None else self._narrowest(n_blocks)

    def _make(self, n_blocks: int, width: float) -> ThresholdLaw:
        return LAWS_OF_A_WIDTH[str(self.law)](n_blocks, width)

    def _narrowest(self, n_blocks: int) -> ThresholdLaw:
        """Bisect below a width that meets the target; the best law if none does."""
        best = self._best(n_blocks, self.target)
        if not self.meets(n_blocks, best) or best.width is None:
            return best
        target = self.target
        assert target is not None
        if self.bound(n_blocks, best) <= target * MARGIN:
            target *= MARGIN

        def passes(width: float) -> bool:
            return self.bound(n_blocks, self._make(n_blocks, width)) <= target

        width = bisect(passes, best.width, 0.0, halvings=STEPS_TO_NARROWEST)
        readable = min(1.0, math.ceil(width * 1e4) / 1e4)
        return self._make(n_blocks, readable if passes(readable) else width)

    def _best(self, n_blocks: int, enough: float | None = None) -> ThresholdLaw:
        """Return the law with the smallest bound, or the first that is found with ``enough``.

        A golden section in the arcsine scale: the bound falls and rises again.
        """
        if self.law == "uniform":
            return self._make(n_blocks, 1.0)
        if self.design.vote == "soft":
            return best_soft_law(n_blocks)
        tried: dict[float, float] = {}

        def height(angle: float) -> float:
            if angle not in tried:
                tried[angle] = self.bound(n_blocks, self._make(n_blocks, math.sin(angle)))
            return tried[angle]

        # the best half-width approaches 1 like 1 / sqrt(T)
        high = math.pi / 2
        high -= 0.3 / math.sqrt(n_blocks)
        low = max(math.pi / 4, high - 1.5 / math.sqrt(n_blocks))
        for _ in range(STEPS_TO_BEST_WIDTH):
            left = high - GOLDEN * (high - low)
            right = low + GOLDEN * (high - low)
            if height(left) <= height(right):
                high = right
            else:
                low = left
            if enough is not None and min(tried.values()) <= enough * MARGIN:
                break
        best = math.sin(min(tried, key=lambda angle: tried[angle]))
        return self._make(n_blocks, math.ceil(best * 1e4) / 1e4)

    # -- blocks ----------------------------------------------------------------------------------
    def smallest_blocks(self) -> int | None:
        """Return the smallest number of blocks that meets the target; None if there is none."""
        law = self.law
        target = self.target
        if isinstance(law, ThresholdLaw):
            return law.n_blocks if self.meets(law.n_blocks, law) else None
        if target is None:
            return 1
        design = self.design
        start = 1
        limit = MAX_BLOCKS
        is_pair = self.task == "pointwise" and design.runs == 2
        if is_pair and not design.binary:
            return smallest_blocks_multiclass(target, design.n_classes)
        if is_pair and self.width is None:
            # theorem: pointwise-threshold (uniform law: about 1 / (pi rho^2) blocks)
            uniform = smallest_integer(lambda t: uniform_flip_bound(t, 1.0) <= target, limit=limit)
            if law == "uniform" or uniform is None or uniform > MAX_BLOCKS_SEARCHED:
                return uniform
            if design.vote == "hard":
                # the bound falls like 1 / sqrt(T): one value tells where to search
                tried = max(1, int(0.45 * uniform))
                ratio = self.bound(tried, self._best(tried)) / target
                start = max(1, int(0.97 * ratio**2 * tried) - 1)
                limit = min(uniform + 2, math.ceil(1.03 * ratio**2 * tried) + 2)
        return smallest_integer(self.some_law_meets, start=start, limit=limit)

    def some_law_meets(self, n_blocks: int) -> bool:
        """Whether this many blocks can meet the target."""
        if not self.design.binary or self.width is not None:
            return self.meets(n_blocks, self.law_for(n_blocks))
        return self.meets(n_blocks, self._best(n_blocks, self.target))

    # -- rows and partitions ---------------------------------------------------------------------
    @property
    def smallest_block(self) -> int:
        """Rows per block that are enough without an accuracy target."""
        return self.block_size or self.min_block or MIN_BLOCK

    def partitions(self, n_blocks: int) -> int:
        """Return the number of partitions."""
        if self.design.n_partitions is not None:
            return self.design.n_partitions
        return partitions_for(n_blocks, self.max_fits or MAX_FITS)

    def rows_per_block(self, n_blocks: int) -> int | None:
        """Return how many rows a block needs at least; None if no number is enough."""
        if not self.design.wants_accuracy:
            return self.smallest_block
        size = _accurate_block(self.design, n_blocks, self.partitions(n_blocks))
        return None if size is None else max(size, self.smallest_block)

    def needed_n(self) -> int | None:
        """Return the smallest n that meets all targets; None if no n does."""
        n_blocks = self.design.n_blocks or self.smallest_blocks()
        size = None if n_blocks is None else self.rows_per_block(n_blocks)
        return None if size is None or n_blocks is None else n_blocks * size

    def largest_blocks(self) -> int:
        """Return the largest number of blocks that leaves each block large enough; at least 1."""
        n = self.design.n
        if not self.design.wants_accuracy:
            return max(1, n // self.smallest_block)

        def is_too_large(count: int) -> bool:
            size = self.rows_per_block(count)
            return size is None or n // count < size

        # all blocks together need more rows as blocks get more
        first = smallest_integer(is_too_large, limit=n + 1)
        return max(1, (n + 1 if first is None else first) - 1)

    def choose_blocks(self) -> int:
        """Choose the number of blocks from n and the targets, never from data."""
        if isinstance(self.law, ThresholdLaw):
            return self.law.n_blocks
        affordable = self.largest_blocks()
        budget = None
        if self.max_fits is not None:
            budget = self.max_fits // (self.design.n_partitions or 1)
            affordable = min(affordable, budget)
        without_target = min(affordable, MAX_BLOCKS_WITHOUT_TARGET)
        target = self.target
        if target is None:
            return without_target
        if self.task == "pointwise":
            usual = DEFAULT_BLOCKS if self.design.binary else CLASS_BLOCKS
            preferred = min(affordable, preferred_blocks(self.design.n, target, budget, usual))
            if self.some_law_meets(preferred):
                return preferred
        smallest = self.smallest_blocks()
        return without_target if smallest is None or smallest > affordable else smallest

    def solve(self) -> VoteDesign:
        """Fix blocks, law, partitions and the open accuracy for a sample of n rows."""
        n_blocks = self.design.n_blocks or self.choose_blocks()
        solved = replace(
            self.design,
            n_blocks=n_blocks,
            law=self.law_for(n_blocks),
            n_partitions=self.partitions(n_blocks),
            sharpness=self.sharpness_for(n_blocks),
        )
        return _with_accuracy(solved)


@lru_cache(maxsize=1024)
def best_soft_law(n_blocks: int) -> ThresholdLaw:
    """Return the arcsine law with the smallest soft bound: a closed formula, but not a smooth one.

    >>> best_soft_law(91).width
    0.8
    """
    laws = [arcsine_law(n_blocks, width / 100) for width in SOFT_WIDTHS]
    return min(laws, key=lambda law: flip_bound(law, vote="soft"))


# -- plans -----------------------------------------------------------------------------------------
def plan_votes(
    task: str,
    *,
    law: str | ThresholdLaw | None = None,
    width: float | None = None,
    block_size: int | None = None,
    max_fits: int | None = None,
    min_block: int | None = None,
    **params: Any,
) -> Plan:
    """Plan blocks that vote, and compute what the arguments leave open.

    Parameters
    ----------
    task : {"pointwise", "approximate"}
        What is promised.
    law : {"arcsine", "uniform"} or ThresholdLaw, default=None
        Law of the shared threshold. If None, "arcsine" for task "pointwise", and "uniform" for task
        "approximate" or if alpha, beta or d is given.
    width : float, default=None
        Half-width of the law. If None, the smallest one that meets the targets.
    block_size : int, default=None
        Smallest number of rows of a block.
    max_fits : int, default=None
        Largest number of base estimators, over all partitions. If None, 704.
    min_block : int, default=None
        Number of rows per block below which fewer blocks are used. If None, 25.
    **params
        Fields of :class:`replearn.guarantees.design.VoteDesign`.

    Returns
    -------
    Plan
        If the targets are out of reach, it says what n can promise and which n they need.

    Examples
    --------
    >>> plan_votes("pointwise", rho=0.1, block_size=100).n
    1800
    """
    design = VoteDesign.of(**params)
    has_accuracy = {design.alpha, design.beta, design.d} != {None}
    if law is None and has_accuracy:
        # theorem: accuracy-factor (only the widest uniform law keeps OPT + alpha as it is)
        law = "uniform"
        width = 1.0 if width is None else width
    is_open = law is None and width is None and design.n_blocks is None
    search = Search(
        task,
        design,
        law=DEFAULT_LAWS[task] if law is None else law,
        width=if_given(check_fraction, "width", width),
        block_size=if_given(check_count, "block_size", block_size),
        max_fits=if_given(check_count, "max_fits", max_fits),
        min_block=if_given(check_count, "min_block", min_block),
    )
    _check_given(search)
    made = _plan(search)
    is_open = is_open and task == "approximate" and design.binary
    if not is_open or None in (design.rho, design.gamma) or design.max_point_mass == 0:
        return made  # without point masses the direct bounds need fewer rows at any target
    by_points = _plan_by_points(search)
    if made.certified and by_points.certified:
        return min(made, by_points, key=lambda route: route.n)
    if by_points.certified:
        return by_points
    needed = [route.needed_n for route in (made, by_points) if route.needed_n is not None]
    return made if made.certified else replace(made, needed_n=min(needed, default=None))


@lru_cache(maxsize=256)
def _plan(search: Search) -> Plan:
    """Solve what was left open and derive the promise; name the items that were solved."""
    n = search.needed_n() if search.design.n is None else search.design.n
    if n is None:
        raise ValueError("no number of rows reaches these targets: weaken one of them")
    sized = replace(search, design=replace(search.design, n=n))
    promise = derive(search.task, sized.solve().to_dict())
    made = Plan.of(promise, solved=_solved(search))
    return made if made.certified else _with_advice(made, sized)


def _plan_by_points(search: Search) -> Plan:
    """Take blocks and law of the pointwise plan that implies this approximate one."""
    design = search.design
    assert design.rho is not None
    assert design.gamma is not None
    pointwise = _plan(
        replace(
            search,
            task="pointwise",
            design=replace(
                design,
                rho=design.rho * design.gamma,  # theorem: approximate-markov
                gamma=None,
                max_point_mass=0.0,
            ),
            law="arcsine",
        )
    )
    if not pointwise.certified:
        return pointwise
    found = pointwise.design
    assert found is not None
    assert found.law is not None
    chosen = replace(design, n_blocks=found.n_blocks)
    return _plan(replace(search, design=chosen, law=found.law))


def _with_advice(uncertified: Plan, search: Search) -> Plan:
    """Add what this n can promise, and which blocks and rows the request needs."""
    design = search.design
    unlimited = replace(search, design=replace(design, n_blocks=OPEN), max_fits=None)
    rho, gamma = promised(search.task, Ledger(), unlimited.solve())
    name, best = ("rho", rho) if gamma is None or search.task == "pointwise" else ("gamma", gamma)
    advice = [f"n={design.n} can certify {name}={rounded_up(best)}"]
    needed_n = replace(unlimited, design=replace(unlimited.design, n=OPEN)).needed_n()
    needed_blocks = unlimited.smallest_blocks()
    if needed_n is not None:
        blocks = "" if needed_blocks is None else f"{needed_blocks} blocks and "
        advice.append(f"the request needs {blocks}n={needed_n} {design.unit}")
        n_blocks = uncertified.inputs["n_blocks"]
        if needed_n <= design.n and (needed_blocks or 0) > n_blocks:
            advice.append(f"raise n_blocks or max_fits to at least {needed_blocks}")
    return replace(uncertified, advice=tuple(advice), needed_n=needed_n)


def _solved(search: Search) -> tuple[str, ...]:
    design = search.design
    solved = [name for name in ("n", "n_blocks") if getattr(design, name) is None]
    if search.width is None and design.binary and isinstance(search.law, str):
        solved.append("width")
    if design.rho is None:
        solved.append("rho")
    if design.gamma is None and search.task == "approximate":
        solved.append("gamma")
    return tuple(solved + _open_accuracy(design))


# -- arguments that belong together ----------------------------------------------------------------
def _check_given(search: Search) -> None:
    _check_targets(search)
    _check_blocks(search)
    _check_law(search)


def _check_targets(search: Search) -> None:
    design = search.design
    if search.task == "pointwise" and design.gamma is not None:
        raise ValueError(
            f"gamma={design.gamma!r} belongs to the approximate notion: "
            'call plan("approximate", ...), or leave gamma out'
        )
    if search.task == "approximate" and design.runs != 2:
        raise ValueError(
            f"runs={design.runs} is for the pointwise notion; the approximate one compares two"
        )
    if search.task == "approximate" and design.rho is None and design.gamma is None:
        raise ValueError("the approximate notion needs rho or gamma (or both)")
    missing = _open_accuracy(design)
    if len(missing) == 2:
        raise ValueError(f"{' and '.join(missing)} are both missing: give two of alpha, beta and d")
    if design.n is not None:
        return
    if len(missing) == 1:
        raise ValueError(f"{missing[0]} and n are both missing: give one of them")
    targets = (design.rho,) if search.task == "pointwise" else (design.rho, design.gamma)
    if None in targets and design.n_blocks is None:
        raise ValueError("n and a target are both missing: give n, or all of rho (and gamma)")


def _check_blocks(search: Search) -> None:
    design = search.design
    law = search.law
    n_blocks = law.n_blocks if isinstance(law, ThresholdLaw) else design.n_blocks or 1
    unit = design.unit
    if design.n is not None and n_blocks > design.n:
        raise ValueError(
            f"n_blocks={n_blocks} is larger than n={design.n}: every block needs a "
            f"{unit.removesuffix('s')}"
        )
    if design.n is not None and search.block_size is not None:
        n_needed = n_blocks * search.block_size
        if n_needed > design.n:
            raise ValueError(
                f"n_blocks={n_blocks} with block_size={search.block_size} need {n_needed} {unit}, "
                f"but n={design.n}: give fewer or smaller blocks"
            )
    n_partitions = design.n_partitions or 1
    n_fits = n_blocks * n_partitions
    if search.max_fits is not None and n_fits > search.max_fits:
        raise ValueError(
            f"max_fits={search.max_fits} is not enough for {n_blocks} blocks in {n_partitions} "
            f"partitions ({n_fits} fits): raise max_fits, or lower n_blocks or n_partitions"
        )


def _check_law(search: Search) -> None:
    law = search.law
    if not isinstance(law, ThresholdLaw):
        check_choice("law", law, LAWS)
        return
    if search.width is not None and search.design.binary:
        raise ValueError(f"width={search.width} cannot be set: the given law has its own width")
    if search.design.n_blocks not in (None, law.n_blocks):
        raise ValueError(
            f"n_blocks={search.design.n_blocks}, but the law is for {law.n_blocks} blocks"
        )
    if search.design.vote == "soft" and not law.is_continuous:
        raise ValueError('vote="soft" requires a continuous law: use law="arcsine" or "uniform"')


# -- accuracy --------------------------------------------------------------------------------------
ACCURACY_ITEMS = ("alpha", "beta", "d")
MAX_SAMPLE = 10**13


def _open_accuracy(design: VoteDesign) -> list[str]:
    """List the open ones of alpha, beta, d, when some of them are given."""
    missing = [name for name in ACCURACY_ITEMS if getattr(design, name) is None]
    return [] if len(missing) == 3 else missing


def _accurate_block(design: VoteDesign, n_blocks: int, n_partitions: int) -> int | None:
    assert design.alpha is not None
    assert design.beta is not None
    assert design.d is not None
    mass = design.max_point_mass
    return block_size_needed(
        design.d,
        design.alpha,
        design.beta,
        n_blocks,
        n_partitions,
        not design.label_noise,
        slack=error_slack(design.beta, mass) if mass > 0 else 0.0,
    )


def _with_accuracy(design: VoteDesign) -> VoteDesign:
    """Fill the one open item of alpha, beta and d with the best value the blocks allow."""
    missing = _open_accuracy(design)
    if not missing:
        return design
    name = missing[0]

    def fits(value: Any) -> bool:
        tried = replace(design, **{name: value})
        size = _accurate_block(tried, design.n_blocks, design.n_partitions)
        return size is not None and size <= design.block_size

    if name == "d":
        first = smallest_integer(lambda d: not fits(d), limit=MAX_SAMPLE)
        best: Any = None if first in (1, None) else int(first or 0) - 1
    else:
        best = _smallest_fraction(fits)
    if best is None:
        raise ValueError(
            f"no {name} can be promised with {design.block_size} {design.unit} per block: "
            "use more rows or fewer blocks"
        )
    return replace(design, **{name: best})


def _smallest_fraction(fits: Callable[[float], bool]) -> float | None:
    """Return the smallest fraction that fits, to nine digits, on the fitting side."""
    largest = 1.0 - 1e-12
    if not fits(largest):
        return None
    return bisect(fits, largest, 0.0, tolerance=1e-9, least_gap=1e-300, mean=_between)


def _between(passing: float, failing: float) -> float:
    """Bisect the logarithm while the two are far apart: beta may be tiny."""
    if passing < 2 * failing:
        return (passing + failing) / 2
    return (passing * failing) ** 0.5 if failing > 0 else passing / 4


# -- any task --------------------------------------------------------------------------------------
_FRACTIONS = ("gamma", "alpha", "beta", "rho", "nu", "delta", "standard_error")
_MEANS = ("p0", "q0")
_POSITIVE = ("epsilon", "resolution", "tau")


def plan(task: str = "pointwise", **params: Any) -> Plan:
    """Plan a promise: give all numbers but one, and the missing one is computed.

    A plan depends on these arguments only, never on data, so that all labs get the same one.

    Parameters
    ----------
    task : str or class
        What is planned. Blocks that vote are "pointwise" (the same prediction at each fixed point)
        or "approximate" (on all but a small mass of points). Other tasks are "score", "regression",
        "selection" and those of the paper. The class of an estimator stands for its
        task.
    **params
        ``n``, rows (or groups) of each sample; left out, the smallest number that meets the
        targets. ``rho``, ``gamma``, ``alpha``, ``beta`` as in the glossary. For votes also ``d``,
        ``n_blocks``, ``block_size``, ``law``, ``width``, ``vote``, ``n_partitions``, ``max_fits``,
        ``classes``, ``n_classes``, ``runs``, ``unit``, ``decimals``, ``label_noise``,
        ``max_point_mass``, ``min_block``, ``small_blocks``: see
        :func:`replearn.guarantees.planner.plan_votes` and
        :class:`replearn.guarantees.design.VoteDesign`. The arguments of other tasks are those of
        the estimator or function that follows the plan.

    Returns
    -------
    Plan
        ``certified`` is False if the targets are out of reach; ``reason`` then says what this n
        can promise, and which n the targets need.

    Examples
    --------
    >>> plan(rho=0.1, block_size=100).n
    1800
    >>> small = plan(n=300, rho=0.1)
    >>> small.certified, small.needed_n
    (False, 450)
    >>> plan("selection", n_hypotheses=3, rho=0.2, alpha=0.2).n
    1517
    """
    name = _task_name(task)
    if name in TASKS_OF_VOTES:
        _check_names(name, params, [*_names_of(plan_votes), *_names_of(VoteDesign)])
        return plan_votes(name, **params)
    solve = task_named(name).solve
    if solve is None:
        raise ValueError(f"task {name!r} has no plan; its certificate says what it promises.")
    arguments = signature(solve).parameters
    _check_names(name, params, list(arguments))
    given = {key: _checked(key, value) for key, value in params.items() if value is not None}
    missing = [
        key for key, item in arguments.items() if item.default is item.empty and key not in given
    ]
    if missing:
        raise TypeError(f"plan({name!r}) needs {missing}; it takes {', '.join(arguments)}")
    made = Plan.of(derive(name, solve(**given)), solved=() if "n" in given else ("n",))
    if made.certified or "n" not in given or arguments["n"].default is not None:
        return made
    needed = derive(name, solve(**{**given, "n": None}))
    if not needed.certified or needed.n is None:
        return made
    advice = (f"{needed.n} rows are needed, there are {made.n}",)
    return replace(made, advice=advice, needed_n=needed.n)


def _task_name(task: Any) -> str:
    """Return the name of a task; the class of an estimator stands for its first one."""
    name = getattr(task, "__name__", task)
    if name in PLANNED:
        return str(name)
    tasks = (key for key, entry in entries_of(PLANNED).items() if name in entry.learners)
    return next(tasks, None) or check_choice("task", name, tuple(PLANNED))


def _names_of(function: Any) -> list[str]:
    return [name for name in signature(function).parameters if name not in ("task", "params")]


def _check_names(task: str, params: dict[str, Any], known: list[str]) -> None:
    unknown = [name for name in params if name not in known]
    if unknown:
        raise TypeError(f"plan({task!r}) does not take {unknown}; it takes {', '.join(known)}")


def _checked(name: str, value: Any) -> Any:
    if name in _FRACTIONS:
        return check_fraction(name, value)
    if name in _MEANS:
        return check_number(name, value)
    if name in _POSITIVE:
        return check_positive(name, value)
    return value if isinstance(value, bool | str | tuple | list) else check_count(name, value)


# -- defaults: pure functions of sizes and budgets, never of data; constants from measurement ------
def preferred_blocks(n: int, rho: float, max_fits: int | None, usual: int = DEFAULT_BLOCKS) -> int:
    """Return how many blocks to try first: as many as wanted while blocks stay large.

    >>> preferred_blocks(30_000, 0.1, None), preferred_blocks(30_000, 0.05, None)
    (88, 352)
    >>> preferred_blocks(3_000, 0.1, None), preferred_blocks(30_000, 0.1, 40)
    (88, 40)
    """
    wanted = max(usual, math.ceil(usual * (0.1 / rho) ** 2 * (1 - 1e-12)))
    budget = MAX_FITS if max_fits is None else max_fits
    return max(1, min(wanted, budget, n // MIN_BLOCK))


def partitions_for(n_blocks: int, max_fits: int) -> int:
    """Return how many partitions the compute budget allows.

    >>> partitions_for(88, 704), partitions_for(88, 150), partitions_for(3183, 704)
    (8, 1, 1)
    """
    if n_blocks == 1:
        return 1  # every partition would be the same
    return max(1, min(MAX_PARTITIONS, max_fits // n_blocks))
