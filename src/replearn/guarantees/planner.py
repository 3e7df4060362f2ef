"""The function ``plan``: give all but one of the numbers, and the missing one is solved.

Every search returns the passing side of a monotone predicate, and the certificate's own
derivation has the last word.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any

from replearn.bounds import (
    ThresholdLaw,
    arcsine_law,
    flip_bound,
    least_sharpness,
    smallest_blocks_multiclass,
)
from replearn.bounds.flips import uniform_flip_bound
from replearn.bounds.laws import LAWS_OF_A_WIDTH
from replearn.guarantees.choices import ChoiceDesign
from replearn.guarantees.design import MIN_BLOCK, NOTIONS, Design, PlanRequest
from replearn.guarantees.guarantee import Ledger
from replearn.guarantees.plan import Plan
from replearn.guarantees.votes import block_size_needed, error_slack, promised
from replearn.randomness import ENCODING_VERSION
from replearn.records import bisect, check_choice, smallest_integer
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


@dataclass(frozen=True)
class Promise:
    """The bound a request is measured by, and its target, for a sample of n rows.

    The request has a law.
    """

    request: PlanRequest
    n: int | None = None

    @cached_property
    def target(self) -> float | None:
        """The number the bound must not exceed; None when it is what is to be solved."""
        request = self.request
        if request.task == "pointwise":
            return request.rho
        return request.gamma if request.rho is not None else None

    def bound(
        self, n_blocks: int, law: ThresholdLaw | None, sharpness: float | None = None
    ) -> float:
        """Return the number that is compared with the target."""
        request = self.request
        if sharpness is None and not request.binary:
            sharpness = least_sharpness(request.n_classes)
        n = n_blocks if self.n is None else max(self.n, n_blocks)
        design = Design(request, n, n_blocks, law=law, sharpness=sharpness)
        rho, gamma = promised(Ledger(), design)
        return rho if gamma is None or request.rho is None else gamma

    def meets(self, n_blocks: int, law: ThresholdLaw | None) -> bool:
        """Whether the target is met."""
        return self.target is None or self.bound(n_blocks, law) <= self.target

    # -- laws ------------------------------------------------------------------------------------
    def sharpness_for(self, n_blocks: int) -> float | None:
        """Return the largest sharpness that meets the target with this many blocks, rounded down.

        The least when none does, or when there is no target. None for two classes.
        """
        if self.request.binary:
            return None
        target = self.target
        least = least_sharpness(self.request.n_classes)
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
        request = self.request
        if not request.binary:
            return None
        if isinstance(request.law, ThresholdLaw):
            return request.law
        if request.width is not None:
            return self._make(n_blocks, request.width)
        return self._best(n_blocks) if self.target is None else self._narrowest(n_blocks)

    def _make(self, n_blocks: int, width: float) -> ThresholdLaw:
        return LAWS_OF_A_WIDTH[str(self.request.law)](n_blocks, width)

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
        if self.request.law == "uniform":
            return self._make(n_blocks, 1.0)
        if self.request.vote == "soft":
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
        law = self.request.law
        target = self.target
        if isinstance(law, ThresholdLaw):
            return law.n_blocks if self.meets(law.n_blocks, law) else None
        if target is None:
            return 1
        request = self.request
        if not request.binary and request.task == "pointwise" and request.runs == 2:
            return smallest_blocks_multiclass(target, request.n_classes)
        start = 1
        limit = MAX_BLOCKS
        if request.task == "pointwise" and request.runs == 2 and request.width is None:
            # theorem: pointwise-threshold (two runs need about 1 / (pi rho^2) blocks with the
            # uniform law, and at least 0.4 times as many with the arcsine law)
            uniform = smallest_integer(lambda t: uniform_flip_bound(t, 1.0) <= target, limit=limit)
            if request.law == "uniform" or uniform is None or uniform > MAX_BLOCKS_SEARCHED:
                return uniform
            if request.vote == "hard":
                start = max(1, int(0.4 * uniform))
                limit = uniform + 2
        return smallest_integer(self.some_law_meets, start=start, limit=limit)

    def some_law_meets(self, n_blocks: int) -> bool:
        """Whether this many blocks can meet the target."""
        request = self.request
        if not request.binary or request.width is not None:
            return self.meets(n_blocks, self.law_for(n_blocks))
        return self.meets(n_blocks, self._best(n_blocks, self.target))


@lru_cache(maxsize=1024)
def best_soft_law(n_blocks: int) -> ThresholdLaw:
    """Return the arcsine law with the smallest soft bound: a closed formula, but not a smooth one.

    >>> best_soft_law(91).width
    0.8
    """
    laws = [arcsine_law(n_blocks, width / 100) for width in SOFT_WIDTHS]
    return min(laws, key=lambda law: flip_bound(law, vote="soft"))


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

DEFAULT_PARTITIONS = {"any": 8, "forest": 4, "boosting": 2}
"""Partitions at rho = 0.1, by family of the base estimator; fewer where there are more blocks.

Forests and boosting take long to fit. Expected flips of 88 x 2 boosted models are 1.1 to 1.32 times
those of 88 x 8 on three files (docs/speed.md), at the same accuracy; those of 88 x 4 forests 1 to
1.1 times."""

MAX_FITS = DEFAULT_PARTITIONS["any"] * DEFAULT_BLOCKS
"""Base estimators trained by default, over all partitions: 8 partitions at rho = 0.1, 2 at 0.05.

Partitions change no expected accuracy, they only make flips rarer, and easier to foresee: with 64
blocks on Adult, logistic regression, 0.91, 0.75, 0.73, 0.70 of the single fit's for 1, 4, 6, 12 of
them, with 96 blocks 0.592, 0.586, 0.582, 0.580 for 8, 10, 12, 16."""

MAX_CELLS = 320_000_000
"""Cells that all partitions train on together by default: 8 partitions of a million rows of 40
columns, five minutes or so with a linear model."""

MAX_BLOCKS_WITHOUT_TARGET = 4_000
"""Blocks used at most when no target is given or none is reached."""

MAX_PARTITIONS = 16
"""More partitions than this no longer change the predictions noticeably."""

MAX_SAMPLE = 10**13
ACCURACY_ITEMS = ("alpha", "beta", "d")


def plan(
    task: str = "pointwise",
    *,
    n: int | None = None,
    rho: float | None = None,
    gamma: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    d: int | None = None,
    **options: Any,
) -> Plan:
    """Plan a promise: give all numbers but one, and the missing one is computed.

    A plan depends on these arguments only, never on data, so that all labs get the same one.

    Parameters
    ----------
    task : str or class
        What is planned. Blocks that vote are "pointwise" (the same prediction at each fixed point)
        or "approximate" (on all but a small mass of points). Other tasks are "selection",
        "search", "thresholds", "realizable", "semi", "finite randomness", "heavy",
        "heavy, whole set", "coins" and "score". The class of an estimator
        stands for its task.
    n : int or None
        Rows (or groups) of each sample. If None, the smallest number that meets the targets.
    rho : float or None
        Probability that two runs differ. If None, the smallest one that n allows (for votes), or
        0.1.
    gamma : float or None
        Mass of points on which two models may differ. If None, the smallest one (for votes), or
        the default of the task.
    alpha, beta : float or None
        Excess error, and the probability that it is exceeded. For votes it is relative to the best
        hypothesis of a class of VC dimension ``d``.
    d : int or None
        VC dimension of the class of hypotheses.
    **options
        Options of votes, explained in :class:`replearn.guarantees.PlanRequest`: ``n_blocks``,
        ``block_size``, ``law``, ``width``, ``vote``, ``n_partitions``, ``max_fits``, ``classes``,
        ``n_classes``, ``runs``, ``unit``, ``decimals``, ``label_noise``, ``max_point_mass``,
        ``min_block``, ``small_blocks``, ``family``, ``n_columns``.
        Options of other tasks: ``n_hypotheses`` ("selection", "search"),
        ``train_size`` or ``drift`` and ``cv`` ("search"), ``n_directions`` ("thresholds"),
        ``n_shared`` ("semi", "semi-private"), ``epsilon`` and ``delta`` ("semi-private"),
        ``y_span``, ``resolution`` and ``block_size`` ("regression"),
        ``n_candidates`` and ``block_size`` ("finite randomness"), ``nu`` ("heavy"),
        ``p0`` and ``q0`` ("coins"), ``standard_error``, ``n_classes``, ``n_blocks`` and
        ``n_partitions`` ("score", which needs n and is an estimate: ``verdict``).

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
    >>> plan("search", n_hypotheses=20, train_size=50, rho=0.2, alpha=0.2).n
    190332
    >>> plan("thresholds", n=10_000).reason
    '885934 rows are needed, there are 10000'
    """
    name = _task_name(task)
    params = {"n": n, "rho": rho, "gamma": gamma, "alpha": alpha, "beta": beta, "d": d, **options}
    if name in NOTIONS:
        _check_names(name, params)
        return plan_votes(PlanRequest(name, **params))
    design = ChoiceDesign.solve(name, **params)
    return Plan.of(design, solved=("n",) if n is None else (), needed_n=design.needed.n)


def _task_name(task: Any) -> str:
    """Return the name of a task; the class of an estimator stands for its first one."""
    name = getattr(task, "__name__", task)
    if name in PLANNED:
        return str(name)
    tasks = (key for key, entry in entries_of(PLANNED).items() if name in entry.learners)
    return next(tasks, None) or check_choice("task", name, tuple(PLANNED))


def _check_names(task: str, params: dict[str, Any]) -> None:
    known = [field.name for field in fields(PlanRequest)]
    unknown = [name for name in params if name not in known]
    if unknown:
        options = ", ".join(name for name in known if name != "task")
        raise TypeError(f"plan({task!r}) does not take {unknown}; its options are {options}")


@lru_cache(maxsize=256)
def plan_votes(request: PlanRequest) -> Plan:
    """Plan blocks that vote, and compute what the request leaves open.

    Parameters
    ----------
    request : PlanRequest
        The arguments of :func:`plan`.

    Returns
    -------
    Plan
        If the targets are out of reach, it says what n can promise and which n they need.

    Examples
    --------
    >>> plan_votes(PlanRequest(rho=0.1, block_size=100)).n
    1800
    """
    made = _plan_directly(request)
    chosen = (request.n_blocks, request.law, request.width)
    is_open = request.task == "approximate" and request.binary and chosen == (None, None, None)
    if not is_open or None in (request.rho, request.gamma) or request.max_point_mass == 0:
        return made  # without point masses the direct bounds need fewer rows at any target
    by_points = _plan_by_points(request)
    if made.certified and by_points.certified:
        return min(made, by_points, key=lambda route: route.n)
    if by_points.certified:
        return by_points
    needed = [route.needed_n for route in (made, by_points) if route.needed_n is not None]
    return made if made.certified else replace(made, needed_n=min(needed, default=None))


def _plan_directly(request: PlanRequest) -> Plan:
    request = request.with_default_law()
    solved_plan = _solve(request)
    return solved_plan if solved_plan.certified else _add_suggestions(solved_plan, request)


def _plan_by_points(request: PlanRequest) -> Plan:
    """Take blocks and law of the pointwise plan that implies this approximate one."""
    assert request.rho is not None
    assert request.gamma is not None
    pointwise = _plan_directly(
        replace(
            request,
            task="pointwise",
            rho=request.rho * request.gamma,  # theorem: approximate-markov
            gamma=None,
            law="arcsine",
            max_point_mass=0.0,
        )
    )
    if not pointwise.certified:
        return pointwise
    return _plan_directly(replace(request, n_blocks=pointwise.n_blocks, law=pointwise.law))


def _solve(request: PlanRequest) -> Plan:
    """Solve what was left open and fix the design; name the items that were solved."""
    _check_enough_given(request)
    n = needed_sample(request) if request.n is None else request.n
    if n is None:
        raise ValueError("no number of rows reaches these targets: weaken one of them")
    design = design_for(request, n)
    accurate = _solve_accuracy(design)
    design = replace(design, request=accurate.without_design())
    return Plan.of(design, solved=_solved_items(request))


def _add_suggestions(uncertified: Plan, request: PlanRequest) -> Plan:
    """Add what this n can promise, and which blocks and rows the request needs."""
    n = uncertified.n
    unlimited = replace(request, n_blocks=None, max_fits=None)
    rho, gamma = promised(Ledger(), design_for(unlimited, n))
    return replace(
        uncertified,
        reachable={"rho": rho, "gamma": gamma},
        needed_n=needed_sample(unlimited),
        needed_blocks=Promise(unlimited, n).smallest_blocks(),
    )


def _check_enough_given(request: PlanRequest) -> None:
    open_accuracy = _open_accuracy(request)
    if len(open_accuracy) == 2:
        raise ValueError(
            f"{' and '.join(open_accuracy)} are both missing: give two of alpha, beta and d"
        )
    if request.task == "approximate" and request.rho is None and request.gamma is None:
        raise ValueError("the approximate notion needs rho or gamma (or both)")
    if request.n is not None:
        return
    if len(open_accuracy) == 1:
        raise ValueError(f"{open_accuracy[0]} and n are both missing: give one of them")
    targets = (request.rho,) if request.task == "pointwise" else (request.rho, request.gamma)
    if None in targets and request.n_blocks is None:
        raise ValueError("n and a target are both missing: give n, or all of rho (and gamma)")


def _open_accuracy(request: PlanRequest) -> list[str]:
    """List the open ones of alpha, beta, d, when some of them are given."""
    missing = [name for name in ACCURACY_ITEMS if getattr(request, name) is None]
    return [] if len(missing) == 3 else missing


def _solved_items(request: PlanRequest) -> tuple[str, ...]:
    solved = [name for name in ("n", "n_blocks") if getattr(request, name) is None]
    if request.width is None and request.binary and isinstance(request.law, str):
        solved.append("width")
    if request.rho is None:
        solved.append("rho")
    if request.gamma is None and request.task == "approximate":
        solved.append("gamma")
    return tuple(solved + _open_accuracy(request))


# -- sample size -----------------------------------------------------------------------------------
def needed_sample(request: PlanRequest) -> int | None:
    """Return the smallest n that meets all targets; None if no n does."""
    n_blocks = request.n_blocks or Promise(request).smallest_blocks()
    if n_blocks is None:
        return None
    size = block_needed(request, n_blocks)
    return None if size is None else n_blocks * size


def block_needed(request: PlanRequest, n_blocks: int) -> int | None:
    """Return how many rows a block needs at least; None if no number is enough."""
    if not request.wants_accuracy:
        return request.smallest_block
    size = _accurate_block(request, n_blocks, _partitions(request, n_blocks))
    return None if size is None else max(size, request.smallest_block)


def _partitions(request: PlanRequest, n_blocks: int, n: int | None = None) -> int:
    """Return the number of partitions; by default fewer if a table of n rows is large."""
    if request.n_partitions is not None:
        return request.n_partitions
    if request.max_fits is not None:
        return partitions_for(n_blocks, request.max_fits)
    n_partitions = partitions_for(n_blocks, DEFAULT_BLOCKS * DEFAULT_PARTITIONS[request.family])
    if request.n_columns is None or n is None:
        return n_partitions
    return min(n_partitions, max(1, MAX_CELLS // (n * request.n_columns)))


def _accurate_block(request: PlanRequest, n_blocks: int, n_partitions: int) -> int | None:
    assert request.alpha is not None
    assert request.beta is not None
    assert request.d is not None
    mass = request.max_point_mass
    return block_size_needed(
        request.d,
        request.alpha,
        request.beta,
        n_blocks,
        n_partitions,
        request.realizable,
        slack=error_slack(request.beta, mass) if mass > 0 else 0.0,
    )


# -- design ----------------------------------------------------------------------------------------
def design_for(request: PlanRequest, n: int) -> Design:
    """Fix blocks, law and partitions for a sample of n rows."""
    promise = Promise(request, n)
    n_blocks = request.n_blocks or choose_blocks(request, n, promise)
    return Design(
        request,
        n,
        n_blocks,
        law=promise.law_for(n_blocks),
        n_partitions=_partitions(request, n_blocks, n),
        encoding=str(ENCODING_VERSION),
        sharpness=promise.sharpness_for(n_blocks),
    )


def choose_blocks(request: PlanRequest, n: int, promise: Promise) -> int:
    """Choose the number of blocks from n and the targets, never from data."""
    if isinstance(request.law, ThresholdLaw):
        return request.law.n_blocks
    largest = largest_blocks(request, n)
    budget = request.affordable_blocks
    affordable = largest if budget is None else min(largest, budget)
    without_target = min(affordable, MAX_BLOCKS_WITHOUT_TARGET)
    if promise.target is None:
        return without_target
    if request.task == "pointwise":
        usual = DEFAULT_BLOCKS if request.binary else CLASS_BLOCKS
        preferred = min(affordable, preferred_blocks(n, promise.target, budget, usual))
        if promise.some_law_meets(preferred):
            return preferred
    smallest = promise.smallest_blocks()
    return without_target if smallest is None or smallest > affordable else smallest


def largest_blocks(request: PlanRequest, n: int) -> int:
    """Return the largest number of blocks that leaves each block large enough; at least 1."""
    if not request.wants_accuracy:
        return max(1, n // request.smallest_block)
    # the first number of blocks that is too large; a block needs more rows as blocks get more
    first = smallest_integer(lambda count: not _fits(request, n, count), limit=n + 1)
    return max(1, (n + 1 if first is None else first) - 1)


def _fits(request: PlanRequest, n: int, n_blocks: int) -> bool:
    size = block_needed(request, n_blocks)
    return size is not None and n // n_blocks >= size


# -- accuracy --------------------------------------------------------------------------------------
def _solve_accuracy(design: Design) -> PlanRequest:
    """Fill the one open item of alpha, beta and d with the best value the blocks allow."""
    request = design.request
    missing = _open_accuracy(request)
    if not missing:
        return request
    name = missing[0]

    def fits(value: Any) -> bool:
        tried = replace(request, **{name: value})
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
    return replace(request, **{name: best})


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
