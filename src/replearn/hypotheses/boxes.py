"""Axis-parallel boxes; and, with some sides fixed at infinity, intervals and conjunctions."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from replearn.hypotheses._best_box import best_box
from replearn.hypotheses._cuts import cuts_of
from replearn.hypotheses._inputs import dense_ranks
from replearn.hypotheses._tight import Corners, Side, corner_bounds, tight_boxes
from replearn.hypotheses.base import HypothesisClass, check_feature_count
from replearn.hypotheses.hypothesis import Constant, Hypothesis
from replearn.hypotheses.rules import BoxRules


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

    def shattered_set(self) -> NDArray[np.float64]:
        """Return one point for each free side: the only one that this side can exclude."""
        points = []
        for feature, side in enumerate(self._sides):
            for sign in {">": (-1.0,), "<=": (1.0,), "both": (-1.0, 1.0)}[side]:
                point = np.zeros(self.n_features)
                point[feature] = sign
                points.append(point)
        return np.array(points)

    def _rules(self, points: NDArray[np.float64], size: int) -> Iterator[BoxRules]:
        yield _never(self.n_features)
        if len(points) == 0:
            return
        ranks, values = dense_ranks(points)
        cuts = [cuts_of(distinct) for distinct in values]
        for corners in tight_boxes(ranks, self._sides, size):
            yield BoxRules(*corner_bounds(corners, cuts, self._sides))

    def _best(self, rows: NDArray[np.float64], gains: NDArray[np.int64]) -> Hypothesis:
        ranks, values = dense_ranks(rows)
        box = best_box(ranks, gains, self._sides)
        if box is None:
            return Constant(False)
        corner = np.array([box.corner])
        return self._rule_at((corner[:, :, 0], corner[:, :, 1]), values)

    def _fitting(self, rows: NDArray[np.float64], gains: NDArray[np.int64]) -> Hypothesis:
        """Return the tight box around the positive rows: O(n d log n) in any dimension."""
        ranks, values = dense_ranks(rows)
        positive = ranks[gains > 0]
        if len(positive) == 0:
            return Constant(False)
        corners = positive.min(axis=0)[np.newaxis], positive.max(axis=0)[np.newaxis]
        return self._rule_at(corners, values)

    def _rule_at(self, corners: Corners, values: list[NDArray[np.float64]]) -> Hypothesis:
        cuts = [cuts_of(distinct) for distinct in values]
        return BoxRules(*corner_bounds(corners, cuts, self._sides))[0]


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
    in the worst case for d features, less where a branch cannot win. `consistent` is O(n d log n)
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


def _never(n_features: int) -> BoxRules:
    shape = (1, n_features)
    return BoxRules(np.full(shape, np.inf), np.full(shape, np.inf))
