"""Decision stumps: one feature, one cut, one direction."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from replearn.paper.hypotheses._chains import largest_shattered, shattered_by_stumps
from replearn.paper.hypotheses._cuts import cut_between, ranks_and_cuts
from replearn.paper.hypotheses._identity import first_of_each, point_codes
from replearn.paper.hypotheses._inputs import Floats, Indices, Integers, sums_by_index
from replearn.paper.hypotheses.base import HypothesisClass, check_feature_count
from replearn.paper.hypotheses.hypothesis import Constant, Hypothesis, make_box
from replearn.paper.hypotheses.rules import BoxRules

Direction = Literal[">", "<=", "both"]


@dataclass(frozen=True)
class Stumps(HypothesisClass):
    """All rules "feature > cut" and "feature <= cut", and the two constants.

    The canonical order is: never, always, then for each feature the cuts of "> cut" in ascending
    order and the cuts of "<= cut" in ascending order. A dichotomy that several features give
    belongs to the first of them.

    Parameters
    ----------
    n_features : int
        Number of columns.
    direction : {"both", ">", "<="}
        Which of the two kinds of rules the class contains.

    Notes
    -----
    The VC dimension is the largest n with C(n, n // 2) <= 2 n_features (Gey 2018), about
    log2(n_features): 7 for 30 features. In one direction: <= n_features. The growth bound
    2 + 2 n_features (n - 1) is far below Sauer's.

    Examples
    --------
    >>> stumps = Stumps(2)
    >>> stump = stumps.erm([[30, 1], [50, 0], [40, 1]], [0, 1, 0])
    >>> print(stump.rule(["age", "smoker"]))
    age > 45
    """

    n_features: int
    direction: Direction = "both"

    def __post_init__(self) -> None:
        check_feature_count(self.n_features)
        if self.direction not in get_args(Direction):
            raise ValueError(f"direction is {self.direction!r}: choose '>', '<=' or 'both'")

    @property
    def vc_dimension(self) -> int:
        """The largest n with C(n, n // 2) <= 2 n_features (<= n_features in one direction)."""
        return largest_shattered(self.n_features * len(self._directions))

    @property
    def _directions(self) -> tuple[str, ...]:
        return (">", "<=") if self.direction == "both" else (self.direction,)

    def growth_bound(self, n_points: int) -> int:
        """Return the smaller of Sauer's bound and 2 + directions * n_features * (n - 1)."""
        if n_points < 1:
            return 1
        counted = 2 + len(self._directions) * self.n_features * (n_points - 1)
        return min(counted, super().growth_bound(n_points))

    def shattered_set(self) -> Floats:
        """Return a largest set of points on which all labellings occur."""
        points = shattered_by_stumps(self.n_features, self.direction == "both")
        return -points if self.direction == "<=" else points

    def _rules(self, points: Floats, size: int) -> Iterator[BoxRules]:
        feature, lower, upper, words = self._candidates(points)
        kept = first_of_each(words)
        for start in range(0, len(kept), size):
            chosen = kept[start : start + size]
            line = np.arange(len(chosen))
            below = np.full((len(chosen), self.n_features), -np.inf)
            above = np.full((len(chosen), self.n_features), np.inf)
            below[line, feature[chosen]] = lower[chosen]
            above[line, feature[chosen]] = upper[chosen]
            yield BoxRules(below, above)

    def _candidates(self, points: Floats) -> tuple[Indices, Floats, Floats, NDArray[np.uint64]]:
        """Return feature, bounds and name of every stump, in canonical order, with repetitions."""
        codes = point_codes(len(points))
        total = codes.sum(axis=0)
        infinite = np.full(1, np.inf)
        first = np.zeros(1, dtype=np.intp)
        parts = [(first, infinite, infinite, 0 * total[None])]
        parts.append((first, -infinite, infinite, total[None]))
        ranks, cuts = ranks_and_cuts(points)
        for feature, around in enumerate(cuts):
            inner = around[1:-1]
            below = np.cumsum(sums_by_index(ranks[:, feature], codes, len(around) - 1), axis=0)[:-1]
            open_end = np.full(len(inner), np.inf)
            mine = np.full(len(inner), feature)
            if self.direction != "<=":
                parts.append((mine, inner, open_end, total - below))
            if self.direction != ">":
                parts.append((mine, -open_end, inner, below))
        features, lower, upper, words = map(np.concatenate, zip(*parts, strict=True))
        return features, lower, upper, words

    def _best(self, rows: Floats, gains: Integers) -> Hypothesis:
        total = int(gains.sum())
        best_gain = max(total, 0)
        best: Hypothesis = Constant(total > 0)
        for feature in range(self.n_features):
            order = np.argsort(rows[:, feature])
            column = rows[order, feature]
            below = np.cumsum(gains[order])
            ends = np.flatnonzero(column[:-1] < column[1:])
            for direction in self._directions if len(ends) else ():
                scores = total - below[ends] if direction == ">" else below[ends]
                index = int(np.argmax(scores))  # the first of the largest
                if scores[index] > best_gain:
                    best_gain = int(scores[index])
                    end = ends[index]
                    cut = float(cut_between(column[end], column[end + 1]))
                    bounds = (cut, np.inf) if direction == ">" else (-np.inf, cut)
                    best = make_box([(feature, *bounds)])
        return best


@dataclass(frozen=True)
class Thresholds(Stumps):
    """All rules "x > t" (and "x <= t"), the two constants included.

    Parameters
    ----------
    direction : {"both", ">", "<="}
        ">" is the class of thresholds of learning theory: VC dimension 1, n + 1 dichotomies of n
        points. "both" has VC dimension 2 and 2n dichotomies.

    Examples
    --------
    >>> Thresholds(">").vc_dimension, Thresholds().vc_dimension
    (1, 2)
    >>> print(Thresholds(">").erm([20, 35, 48, 60], [0, 0, 1, 1]).rule(["age"]))
    age > 42
    """

    n_features: int = field(default=1, init=False)
