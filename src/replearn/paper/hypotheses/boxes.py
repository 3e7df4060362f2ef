"""Axis-parallel boxes; and, with some sides fixed at infinity, intervals and conjunctions."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

import numpy as np

from replearn.paper.hypotheses._best_box import best_box
from replearn.paper.hypotheses._cuts import ranks_and_cuts
from replearn.paper.hypotheses._inputs import Floats, Integers
from replearn.paper.hypotheses._tight import Side, corner_bounds, tight_boxes
from replearn.paper.hypotheses.base import HypothesisClass, check_feature_count
from replearn.paper.hypotheses.hypothesis import Constant, Hypothesis
from replearn.paper.hypotheses.rules import BoxRules


class BoxFamily(HypothesisClass):
    """Boxes of which some sides may move: what boxes, intervals and conjunctions share.

    The canonical order: never, then the tight boxes, small ones early (see `_tight`).
    """

    @property
    @abstractmethod
    def _sides(self) -> tuple[Side, ...]:
        """Which sides of each feature are free."""

    @property
    def vc_dimension(self) -> int:
        """The number of free sides."""
        return sum(2 if side == "both" else 1 for side in self._sides)

    def growth_bound(self, n_points: int) -> int:
        """Return the smaller of Sauer's bound and the product over the features.

        Exact for one feature, where the two agree.
        """
        pairs = n_points * (n_points + 1) // 2
        product = 1 + prod(pairs if side == "both" else n_points for side in self._sides)
        return min(product, super().growth_bound(n_points))

    def shattered_set(self) -> Floats:
        """Return one point for each free side: the only one that this side can exclude."""
        signs = {">": (-1.0,), "<=": (1.0,), "both": (-1.0, 1.0)}
        corners = [(axis, sign) for axis, side in enumerate(self._sides) for sign in signs[side]]
        points = np.zeros((len(corners), self.n_features))
        for point, (axis, sign) in zip(points, corners, strict=True):
            point[axis] = sign
        return points

    def _rules(self, points: Floats, size: int) -> Iterator[BoxRules]:
        nothing = np.full((1, self.n_features), np.inf)
        yield BoxRules(nothing, nothing)
        ranks, cuts = ranks_and_cuts(points)
        for corners in tight_boxes(ranks, self._sides, size):
            yield BoxRules(*corner_bounds(corners, cuts, self._sides))

    def _best(self, rows: Floats, gains: Integers) -> Hypothesis:
        ranks, cuts = ranks_and_cuts(rows)
        box = best_box(ranks, gains, self._sides)
        if box is None:
            return Constant(False)
        corner = np.array(box.corner).T
        return BoxRules(*corner_bounds(corner[np.newaxis], cuts, self._sides))[0]

    def _fitting(self, rows: Floats, gains: Integers) -> Hypothesis:
        """Return the tight box around the positive rows: O(n d log n) in any dimension."""
        ranks, cuts = ranks_and_cuts(rows)
        positive = ranks[gains > 0]
        if len(positive) == 0:
            return Constant(False)
        corner = np.stack([positive.min(axis=0), positive.max(axis=0)])
        return BoxRules(*corner_bounds(corner[np.newaxis], cuts, self._sides))[0]


@dataclass(frozen=True)
class Boxes(BoxFamily):
    """All axis-parallel boxes, the empty one and the whole space included.

    Parameters
    ----------
    n_features : int, default 2
        Number of columns. The VC dimension is 2 n_features.

    Notes
    -----
    `erm` is exact: O(n^2 log n) in the plane (some seconds for 2000 rows), and O(n^(2d - 2) log n)
    in the worst case for d features, less if branches can be cut off. `consistent` is O(n d log n)
    in any dimension.

    Examples
    --------
    >>> X = [[1, 1], [2, 5], [3, 4], [4, 6], [5, 2]]
    >>> print(Boxes(2).erm(X, [0, 1, 1, 0, 0]).rule(["age", "dose"]))
    1.5 < age <= 3.5 and 3 < dose <= 5.5
    """

    n_features: int = 2

    def __post_init__(self) -> None:
        check_feature_count(self.n_features)

    @property
    def _sides(self) -> tuple[Side, ...]:
        return tuple("both" for _ in range(self.n_features))


@dataclass(frozen=True)
class Intervals(BoxFamily):
    """All rules "a < x <= b", the two constants and the two rays included.

    VC dimension 2; n(n + 1)/2 + 1 dichotomies of n points, as many as Sauer allows; `erm` is one
    sort and one pass.

    Examples
    --------
    >>> print(Intervals().erm([1, 2, 3, 4, 5], [0, 1, 1, 0, 0]))
    1.5 < x0 <= 3.5
    """

    n_features: int = field(default=1, init=False)

    @property
    def _sides(self) -> tuple[Side, ...]:
        return ("both",)


@dataclass(frozen=True)
class Conjunctions(BoxFamily):
    """All rules "x0 > t0 and x1 > t1 and ...", with the direction of each feature given.

    A condition may be absent (its cut at infinity).

    Parameters
    ----------
    n_features : int
        Number of columns, which is also the VC dimension.
    directions : tuple of {">", "<="}, optional
        One direction for each feature; ">" for all by default.

    Notes
    -----
    `erm` is exact: O(n log n) for one feature, at most O(n^2) in the plane, O(n^d) for d.
    `consistent` is O(n d log n) in any dimension.

    Examples
    --------
    >>> both = Conjunctions(2, directions=(">", "<="))
    >>> X = [[30, 1], [50, 1], [60, 2], [70, 9]]
    >>> print(both.erm(X, [0, 1, 1, 0]).rule(["age", "dose"]))
    age > 40 and dose <= 6
    """

    n_features: int
    directions: tuple[Side, ...] | None = None

    def __post_init__(self) -> None:
        check_feature_count(self.n_features)
        given = (">",) * self.n_features if self.directions is None else tuple(self.directions)
        if len(given) != self.n_features or not set(given) <= {">", "<="}:
            raise ValueError(
                f"directions is {self.directions!r}: give '>' or '<=' for each of "
                f"{self.n_features} features"
            )
        # Stored in one form, so that equal classes compare equal.
        object.__setattr__(self, "directions", given)

    @property
    def _sides(self) -> tuple[Side, ...]:
        return self.directions or ()
