"""For one wish: the number that must meet its target, as a function of blocks and law.

A planner is a monotone predicate plus a search that returns the passing side. The predicate is
the certificate's own derivation, so that planner and certificate cannot disagree.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from replearn import bounds
from replearn.bounds import ThresholdLaw
from replearn.bounds._numeric import smallest_integer
from replearn.certificates import Design, promised
from replearn.planning._wish import Wish

GOLDEN = (math.sqrt(5) - 1) / 2
STEPS_TO_BEST_WIDTH = 14
STEPS_TO_NARROWEST = 24
SOFT_WIDTHS = range(50, 100)
LARGEST_PROGRAMME = 2_000
MOST_BLOCKS = 1_000_000
MOST_BLOCKS_SEARCHED = 20_000

MARGIN = 1.0 - 2e-6
"""Another machine may compute a supremum a relative 1e-6 larger: leave room where there is some."""


@dataclass(frozen=True)
class Promise:
    """The bound a wish is measured by, and its target, for a sample of n rows."""

    wish: Wish
    n: int | None = None

    @cached_property
    def target(self) -> float | None:
        """The number the bound must not exceed; None when it is what is to be solved."""
        request = self.wish.request
        if request.notion == "pointwise":
            return request.rho
        return request.gamma if request.rho is not None else None

    def bound(self, n_blocks: int, law: ThresholdLaw | None) -> float:
        """Return the number that is compared with the target."""
        wish = self.wish
        design = Design(
            request=wish.request,
            n=n_blocks if self.n is None else max(self.n, n_blocks),
            n_blocks=n_blocks,
            law=law,
            vote=wish.vote,
            n_classes=wish.n_classes,
            atoms=wish.atoms,
            shared_rows=wish.shared_rows,
            heavy=wish.heavy,
        )
        rho, gamma = promised(design)
        return rho if gamma is None or wish.request.rho is None else gamma

    def meets(self, n_blocks: int, law: ThresholdLaw | None) -> bool:
        """Whether the target is met."""
        return self.target is None or self.bound(n_blocks, law) <= self.target

    # -- laws ------------------------------------------------------------------------------------
    @property
    def _simple(self) -> bool:
        """Whether the searches in bounds apply: pointwise, two runs, no heavy stage."""
        wish, request = self.wish, self.wish.request
        if wish.vote == "soft" and wish.law == "arcsine" and wish.width is None:
            return False  # the soft bound jumps as the law widens: scan instead
        return request.notion == "pointwise" and request.runs == 2 and wish.heavy is None

    def law_for(self, n_blocks: int) -> ThresholdLaw | None:
        """Return the law to use with so many blocks: the narrowest that meets the target.

        When none does, or when there is no target, the one with the smallest bound.
        """
        wish = self.wish
        if not wish.binary:
            return None
        if isinstance(wish.law, ThresholdLaw):
            return wish.law
        if wish.law == "programme":
            return self._programme(n_blocks)
        if wish.width is not None:
            return self._make(n_blocks, wish.width)
        if self.target is None:
            return self._best(n_blocks)
        found = self._narrowest_simple(n_blocks) if self._simple else None
        return self._narrowest(n_blocks) if found is None else found

    def _make(self, n_blocks: int, width: float) -> ThresholdLaw:
        assert isinstance(self.wish.law, str)
        return bounds.make_law(self.wish.law, n_blocks, width=width)

    def _programme(self, n_blocks: int) -> ThresholdLaw:
        if self.target is not None:
            try:
                return bounds.programme_law(n_blocks, self.target)
            except ValueError:
                if n_blocks > LARGEST_PROGRAMME:
                    raise
        return bounds.tightest_law(n_blocks)

    def _narrowest_simple(self, n_blocks: int) -> ThresholdLaw | None:
        """Use the exact search of the bounds."""
        assert self.target is not None
        law, vote = str(self.wish.law), self.wish.vote
        width = bounds.smallest_width(self.target * MARGIN, n_blocks, law=law, vote=vote)
        if width is None:
            width = bounds.smallest_width(self.target, n_blocks, law=law, vote=vote)
        return None if width is None else self._make(n_blocks, width)

    def _narrowest(self, n_blocks: int) -> ThresholdLaw:
        """Bisect below the best width, keeping the passing side; the best one if none passes."""
        best = self._best(n_blocks)
        if not self.meets(n_blocks, best) or best.width is None:
            return best
        failing, passing = 0.0, best.width
        for _ in range(STEPS_TO_NARROWEST):
            middle = (failing + passing) / 2
            if self.meets(n_blocks, self._make(n_blocks, middle)):
                passing = middle
            else:
                failing = middle
        readable = self._make(n_blocks, min(1.0, math.ceil(passing * 1e4) / 1e4))
        return readable if self.meets(n_blocks, readable) else self._make(n_blocks, passing)

    def _best(self, n_blocks: int) -> ThresholdLaw:
        """Return the law with the smallest bound (golden section in the arcsine scale)."""
        if self.wish.law == "uniform":
            return self._make(n_blocks, 1.0)
        if self.wish.vote == "soft":
            return best_soft_law(n_blocks)
        low, high = math.pi / 4, math.pi / 2
        tried: dict[float, float] = {}

        def height(angle: float) -> float:
            if angle not in tried:
                tried[angle] = self.bound(n_blocks, self._make(n_blocks, math.sin(angle)))
            return tried[angle]

        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        for _ in range(STEPS_TO_BEST_WIDTH):
            if height(left) <= height(right):
                high, right = right, left
                left = high - GOLDEN * (high - low)
            else:
                low, left = left, right
                right = low + GOLDEN * (high - low)
        best = math.sin(min(tried, key=lambda angle: tried[angle]))
        return self._make(n_blocks, round(best, 4))

    # -- blocks ----------------------------------------------------------------------------------
    def smallest_blocks(self) -> int | None:
        """Return the smallest number of blocks that meets the target; None if there is none."""
        wish, target = self.wish, self.target
        if isinstance(wish.law, ThresholdLaw):
            return wish.law.n_blocks if self.meets(wish.law.n_blocks, wish.law) else None
        if target is None:
            return 1
        try:
            return self._search_blocks(target)
        except ValueError:  # more blocks than the bounds can handle
            return None

    def _search_blocks(self, target: float) -> int | None:
        wish = self.wish
        if self._simple and not wish.binary:
            return bounds.smallest_blocks_multiclass(target, wish.n_classes)
        if not self._simple:
            return smallest_integer(self.some_law_meets, limit=MOST_BLOCKS)
        if wish.law == "arcsine" and wish.width is None and wish.vote == "hard":
            return smallest_arcsine_blocks(target)
        width = None if wish.law == "programme" else wish.width
        return bounds.smallest_blocks(target, law=str(wish.law), width=width, vote=wish.vote)

    def some_law_meets(self, n_blocks: int) -> bool:
        """Whether so many blocks can meet the target."""
        if self.wish.binary and self.wish.width is None and not self._simple:
            return self.meets(n_blocks, self._best(n_blocks))
        return self.meets(n_blocks, self.law_for(n_blocks))


@lru_cache(maxsize=1024)
def best_soft_law(n_blocks: int) -> ThresholdLaw:
    """Return the arcsine law with the smallest soft bound: a closed formula, but not a smooth one.

    Examples
    --------
    >>> best_soft_law(91).width
    0.8
    """
    laws = [bounds.arcsine_law(n_blocks, width / 100) for width in SOFT_WIDTHS]
    return min(laws, key=lambda law: bounds.flip_bound(law, vote="soft"))


@lru_cache(maxsize=256)
def smallest_arcsine_blocks(rho: float) -> int:
    """Return the smallest number of blocks for which some arcsine law stays within rho.

    The general search of the bounds doubles from 1; this one starts next to the answer. Beyond
    20,000 blocks of the uniform law it settles for that number, which is not the smallest.

    Examples
    --------
    >>> smallest_arcsine_blocks(0.1)
    18
    """
    uniform = bounds.smallest_blocks(rho, law="uniform", width=1.0)

    def passes(n_blocks: int) -> bool:
        return bounds.smallest_width(rho, n_blocks, law="arcsine") is not None

    if uniform > MOST_BLOCKS_SEARCHED:
        return uniform
    # measured: 18 / 65 / 369 / 1424 arcsine blocks do what 32 / 128 / 796 / 3183 uniform ones do
    return smallest_near(round(uniform * (0.43 + 0.75 / math.sqrt(uniform))), passes)


def smallest_near(guess: int, passes: Callable[[int], bool]) -> int:
    """Return a count that passes while the one before it fails, searching outwards from a guess.

    Examples
    --------
    >>> [smallest_near(guess, lambda count: count >= 37) for guess in (1, 36, 37, 90)]
    [37, 37, 37, 37]
    """
    step = max(1, guess // 128)
    failing, passing = guess, guess
    if passes(guess):
        while failing > 0 and passes(failing):
            passing, failing, step = failing, max(0, failing - step), 2 * step
    else:
        while not passes(passing):
            failing, passing, step = passing, passing + step, 2 * step
    while passing - failing > 1:
        middle = (failing + passing) // 2
        failing, passing = (failing, middle) if passes(middle) else (middle, passing)
    return passing
