"""For one request: the number that must meet its target, as a function of blocks and law.

A planner is a monotone predicate plus a search that returns the passing side. The predicate is
the certificate's own derivation, so that planner and certificate cannot disagree.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

from replearn.bounds import (
    ThresholdLaw,
    arcsine_law,
    flip_bound,
    heavy_disagreement_bound,
    least_sharpness,
    make_law,
    membership_flip_bound,
    optimal_law,
    smallest_blocks,
    smallest_blocks_multiclass,
    smallest_width,
    tightest_law,
)
from replearn.guarantees.design import Design
from replearn.guarantees.heavy_stage import label_flip
from replearn.guarantees.request import PlanRequest
from replearn.guarantees.steps import Ledger
from replearn.guarantees.votes import promised
from replearn.records import bisect, smallest_integer

GOLDEN = (math.sqrt(5) - 1) / 2
STEPS_TO_BEST_WIDTH = 14
STEPS_TO_NARROWEST = 24
STEPS_TO_SHARPEST = 40
SHARPEST = 8
SOFT_WIDTHS = range(50, 100)
MAX_BLOCKS_OPTIMAL = 2_000
MAX_BLOCKS = 1_000_000
MAX_BLOCKS_SEARCHED = 20_000

MARGIN = 1.0 - 2e-6
"""Another machine may compute a supremum a relative 1e-6 larger: where possible, keep a margin."""


@dataclass(frozen=True)
class Promise:
    """The bound a request is measured by, and its target, for a sample of n rows.

    The request has a law, and its heavy stage, if any, is planned.
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
        design = Design(request, n, n_blocks, law=law, heavy=request.stage, sharpness=sharpness)
        rho, gamma = promised(Ledger(), design)
        return rho if gamma is None or request.rho is None else gamma

    def meets(self, n_blocks: int, law: ThresholdLaw | None) -> bool:
        """Whether the target is met."""
        return self.target is None or self.bound(n_blocks, law) <= self.target

    # -- laws ------------------------------------------------------------------------------------
    def sharpness_for(self, n_blocks: int) -> float | None:
        """Return the largest sharpness that meets the target with so many blocks, rounded down.

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

    @property
    def _simple(self) -> bool:
        """Whether the searches in bounds apply: pointwise, no heavy stage."""
        request = self.request
        if request.task != "pointwise" or request.stage is not None:
            return False
        if not request.binary:
            return request.runs == 2
        # the soft bound of the arcsine law jumps as the law widens: scanned here instead
        return request.vote == "hard" or request.law != "arcsine" or request.width is not None

    def law_for(self, n_blocks: int) -> ThresholdLaw | None:
        """Return the law to use with so many blocks: the narrowest that meets the target.

        When none does, or when there is no target, the one with the smallest bound.
        """
        request = self.request
        if not request.binary:
            return None
        if isinstance(request.law, ThresholdLaw):
            return request.law
        if request.law == "optimal":
            return self._optimal(n_blocks)
        if request.width is not None:
            return self._make(n_blocks, request.width)
        if self.target is None:
            return self._best(n_blocks)
        law = self._narrowest_simple(n_blocks) if self._simple else None
        return self._narrowest(n_blocks) if law is None else law

    def _make(self, n_blocks: int, width: float) -> ThresholdLaw:
        assert isinstance(self.request.law, str)
        return make_law(self.request.law, n_blocks, width=width)

    def _optimal(self, n_blocks: int) -> ThresholdLaw:
        if self.target is not None:
            try:
                return optimal_law(n_blocks, self.target)
            except ValueError:
                if n_blocks > MAX_BLOCKS_OPTIMAL:
                    raise
        return tightest_law(n_blocks)

    def _narrowest_simple(self, n_blocks: int) -> ThresholdLaw | None:
        """Use the exact search of the bounds."""
        assert self.target is not None
        request = self.request
        for budget in (self.target * MARGIN, self.target):
            width = smallest_width(
                budget, n_blocks, law=str(request.law), vote=request.vote, runs=request.runs
            )
            if width is not None:
                return self._make(n_blocks, width)
        return None

    def _narrowest(self, n_blocks: int) -> ThresholdLaw:
        """Bisect below the best width, keeping the passing side; the best one if none passes."""
        best = self._best(n_blocks)
        if not self.meets(n_blocks, best) or best.width is None:
            return best
        width = bisect(
            lambda narrower: self.meets(n_blocks, self._make(n_blocks, narrower)),
            best.width,
            0.0,
            halvings=STEPS_TO_NARROWEST,
        )
        readable = self._make(n_blocks, min(1.0, math.ceil(width * 1e4) / 1e4))
        return readable if self.meets(n_blocks, readable) else self._make(n_blocks, width)

    def _best(self, n_blocks: int) -> ThresholdLaw:
        """Return the law with the smallest bound (golden section in the arcsine scale)."""
        if self.request.law == "uniform":
            return self._make(n_blocks, 1.0)
        if self.request.vote == "soft":
            return best_soft_law(n_blocks)
        low = math.pi / 4
        high = math.pi / 2
        tried: dict[float, float] = {}

        def height(angle: float) -> float:
            if angle not in tried:
                tried[angle] = self.bound(n_blocks, self._make(n_blocks, math.sin(angle)))
            return tried[angle]

        left = high - GOLDEN * (high - low)
        right = low + GOLDEN * (high - low)
        for _ in range(STEPS_TO_BEST_WIDTH):
            if height(left) <= height(right):
                high = right
                right = left
                left = high - GOLDEN * (high - low)
            else:
                low = left
                left = right
                right = low + GOLDEN * (high - low)
        best = math.sin(min(tried, key=lambda angle: tried[angle]))
        return self._make(n_blocks, round(best, 4))

    # -- blocks ----------------------------------------------------------------------------------
    def smallest_blocks(self) -> int | None:
        """Return the smallest number of blocks that meets the target; None if there is none."""
        law = self.request.law
        target = self.target
        if isinstance(law, ThresholdLaw):
            return law.n_blocks if self.meets(law.n_blocks, law) else None
        if target is None:
            return 1
        if self._hopeless(target):
            return None
        try:
            return self._search_blocks(target)
        except ValueError:  # more blocks than the bounds can handle
            return None

    def _hopeless(self, target: float) -> bool:
        """Whether the heavy stage alone exceeds the target, so that no blocks help."""
        request = self.request
        stage = request.stage
        n = self.n
        if stage is None or n is None:
            return False
        member = membership_flip_bound(n, stage.law)
        labels = label_flip(Ledger(), stage, request.n_classes)
        if request.task == "pointwise":
            return member + labels > target
        if request.rho is None:
            return False
        flips = {"membership_flip": member, "label_flip": labels}
        alone = heavy_disagreement_bound((0.0, 0.0), request.rho, n=n, law=stage.law, **flips)
        return min(alone, (member + labels) / request.rho) > target

    def _search_blocks(self, target: float) -> int | None:
        request = self.request
        if not self._simple:
            return smallest_integer(self.some_law_meets, limit=MAX_BLOCKS)
        if not request.binary:
            return smallest_blocks_multiclass(target, request.n_classes)
        law = str(request.law)
        if law == "arcsine" and request.width is None:
            enough = smallest_blocks(target, law="uniform", runs=request.runs)
            if enough > MAX_BLOCKS_SEARCHED:
                return enough  # not the smallest number, but found in an instant
        width = None if law == "optimal" else request.width
        return smallest_blocks(target, law=law, width=width, vote=request.vote, runs=request.runs)

    def some_law_meets(self, n_blocks: int) -> bool:
        """Whether so many blocks can meet the target."""
        if self.request.binary and self.request.width is None and not self._simple:
            return self.meets(n_blocks, self._best(n_blocks))
        return self.meets(n_blocks, self.law_for(n_blocks))


@lru_cache(maxsize=1024)
def best_soft_law(n_blocks: int) -> ThresholdLaw:
    """Return the arcsine law with the smallest soft bound: a closed formula, but not a smooth one.

    >>> best_soft_law(91).width
    0.8
    """
    laws = [arcsine_law(n_blocks, width / 100) for width in SOFT_WIDTHS]
    return min(laws, key=lambda law: flip_bound(law, vote="soft"))
