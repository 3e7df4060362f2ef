"""For one wish: the number that must meet its target, as a function of blocks and law.

A planner is a monotone predicate plus a search that returns the passing side. The predicate
lives here; it calls the same bounds as the certificate, which decides in the end.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from replearn import bounds
from replearn.bounds import ThresholdLaw
from replearn.bounds._numeric import smallest_integer
from replearn.certificates import Design, promised
from replearn.planning._wish import Wish

WIDTHS = np.linspace(0.02, 1.0, 50)
"""Half-widths that are tried where no closed search exists; the smallest passing one is refined."""

REFINEMENTS = 24

MARGIN = 1.0 - 1e-5
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
        request = self.wish.request
        return request.notion == "pointwise" and request.runs == 2 and self.wish.heavy is None

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
            return bounds.programme_law(n_blocks, self.target or 1.0)
        if wish.width is not None:
            return bounds.make_law(wish.law, n_blocks, width=wish.width)
        found = None if self.target is None else self._narrowest(n_blocks)
        return self._best(n_blocks) if found is None else found

    def _make(self, n_blocks: int) -> Callable[[float], ThresholdLaw]:
        name = self.wish.law
        assert isinstance(name, str)
        return lambda width: bounds.make_law(name, n_blocks, width=float(width))

    def _narrowest(self, n_blocks: int) -> ThresholdLaw | None:
        make = self._make(n_blocks)
        if self._simple:
            return self._narrowest_simple(n_blocks, make)
        failing = 0.0
        for width in WIDTHS:
            if self.meets(n_blocks, make(width)):
                return make(self._refine(make, n_blocks, failing, float(width)))
            failing = float(width)
        return None

    def _narrowest_simple(
        self, n_blocks: int, make: Callable[[float], ThresholdLaw]
    ) -> ThresholdLaw | None:
        assert self.target is not None
        kind = {"law": str(self.wish.law), "vote": self.wish.vote}
        width = bounds.smallest_width(self.target * MARGIN, n_blocks, **kind)
        if width is None:
            width = bounds.smallest_width(self.target, n_blocks, **kind)
        if width is None:
            return None
        readable = make(min(1.0, math.ceil(width * 1e4) / 1e4))
        return readable if self.meets(n_blocks, readable) else make(width)

    def _refine(
        self, make: Callable[[float], ThresholdLaw], n_blocks: int, failing: float, passing: float
    ) -> float:
        for _ in range(REFINEMENTS):
            middle = (failing + passing) / 2
            if middle > 0 and self.meets(n_blocks, make(middle)):
                passing = middle
            else:
                failing = middle
        return passing

    def _best(self, n_blocks: int) -> ThresholdLaw:
        make = self._make(n_blocks)
        # The widest uniform law flips least; the arcsine law has its best width below 1.
        widths = WIDTHS[-1:] if self.wish.law == "uniform" else WIDTHS[len(WIDTHS) // 2 :]
        return min((make(width) for width in widths), key=lambda law: self.bound(n_blocks, law))

    # -- blocks ----------------------------------------------------------------------------------
    def smallest_blocks(self) -> int | None:
        """Return the smallest number of blocks that meets the target; None if there is none."""
        wish, target = self.wish, self.target
        if target is None:
            return 1
        if isinstance(wish.law, ThresholdLaw):
            return wish.law.n_blocks if self.meets(wish.law.n_blocks, wish.law) else None
        if self._simple and not wish.binary:
            return bounds.smallest_blocks_multiclass(target, wish.n_classes)
        if self._simple and wish.law != "programme":
            return bounds.smallest_blocks(target, law=wish.law, width=wish.width, vote=wish.vote)
        return smallest_integer(self._some_law_meets, limit=bounds_limit(wish))

    def _some_law_meets(self, n_blocks: int) -> bool:
        return self.meets(n_blocks, self.law_for(n_blocks))


def bounds_limit(wish: Wish) -> int:
    """Return how many blocks the search tries at most: linear programmes are slow beyond 2,000."""
    return 2_000 if wish.law == "programme" else 1_000_000
