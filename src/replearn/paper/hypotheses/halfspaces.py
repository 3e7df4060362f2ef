"""Halfspaces in the plane, exactly: every line through two points, turned a little.

A dichotomy that splits the points into S and the rest has exactly one directed line p -> q with
p in S, q not in S, S on its left or on it up to p, and the rest on its right or on it from q on:
one of the two inner tangents of the convex hulls. So the ordered pairs (p, q) without a point
between them name the non-constant dichotomies, each once; n(n - 1) of them in general position.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from replearn.paper.hypotheses._inputs import (
    Floats,
    Indices,
    Integers,
    distinct_rows,
    sums_by_index,
)
from replearn.paper.hypotheses._plane import Plane, best_line, named_lines
from replearn.paper.hypotheses.base import HypothesisClass
from replearn.paper.hypotheses.hypothesis import Constant, Halfspace, Hypothesis
from replearn.paper.hypotheses.rules import BLOCK_CELLS, HalfspaceRules

# The realizable estimator starts with this many points, and adds this many that are still wrong.
_FIRST_POINTS = 32
_MORE_POINTS = 8


@dataclass(frozen=True)
class Halfspaces(HypothesisClass):
    """All rules "a x0 + b x1 > c" in the plane, the two constants included.

    VC dimension 3; n^2 - n + 2 dichotomies of n points in general position, fewer if some are
    collinear. Collinear and repeated points are handled exactly. The canonical order: never,
    always, then the pairs (p, q) of the module's text, by the lexicographic order of points.

    Notes
    -----
    `erm` is exact, an angular sweep around each point: O(n^2 log n), seconds for 2000 points.
    `consistent` needs few of the points, so that 10^5 points are feasible. Points that are neither
    exactly collinear nor separable in double precision raise an error that advises to round them.

    Examples
    --------
    >>> X = [[0, 0], [0, 2], [2, 0], [2, 2]]
    >>> print(Halfspaces().erm(X, [0, 1, 1, 1]).rule(["age", "dose"]))
    age + 0.6*dose > 0.6
    """

    n_features: int = field(default=2, init=False)

    @property
    def vc_dimension(self) -> int:
        """Three: the corners of a triangle, never four points."""
        return 3

    def growth_bound(self, n_points: int) -> int:
        """Return n^2 - n + 2, which points in general position attain."""
        return n_points**2 - n_points + 2 if n_points else 1

    def shattered_set(self) -> Floats:
        """Return the corners of a triangle."""
        return np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])

    def _rules(self, points: Floats, size: int) -> Iterator[HalfspaceRules]:
        constants = HalfspaceRules(np.zeros((2, 2)), np.array([0.0, -1.0]))  # never, always
        yield constants if len(points) else constants.take(slice(1))
        plane = Plane(points)
        everyone = np.arange(len(points))
        step = max(1, min(size, BLOCK_CELLS // max(len(points), 1)))
        for first in range(len(points)):
            others = np.delete(everyone, first)
            for start in range(0, len(others), step):
                rules = named_lines(plane, first, others[start : start + step])
                if len(rules):
                    yield rules

    def _best(self, rows: Floats, gains: Integers) -> Hypothesis:
        points, index = distinct_rows(rows)
        sums = sums_by_index(index, gains, len(points))
        total = int(sums.sum())
        plane = Plane(points)
        best_gain = max(total, 0)
        pair = None
        for first in range(len(points) if len(points) > 1 else 0):
            gain, second = best_line(plane, sums, first)
            if gain > best_gain:
                best_gain = gain
                pair = (first, second)
        if pair is None:
            return Constant(total > 0)
        return named_lines(plane, pair[0], np.array([pair[1]]))[0]

    def _fitting(self, rows: Floats, gains: Integers) -> Hypothesis:
        """Separate some points, add points that are still wrong, until none is."""
        points, index = distinct_rows(rows)
        wanted = np.zeros(len(points), dtype=bool)
        wanted[index] = gains > 0  # a point with both labels is found out by the caller
        signs = np.where(wanted, 1, -1)
        active = _spread(np.arange(len(points)), _FIRST_POINTS)
        while True:
            hypothesis = self._best(points[active], signs[active])
            wrong = np.flatnonzero(hypothesis.predict(points) != wanted)
            if len(wrong) == 0 or np.isin(wrong, active).any():
                return hypothesis
            worst_last = wrong[np.argsort(_distance(hypothesis, points[wrong]), kind="stable")]
            active = np.union1d(active, _spread(worst_last, _MORE_POINTS))


def _spread(indices: Indices, count: int) -> Indices:
    """Return about `count` of the indices, evenly spread, the last one included."""
    chosen = np.linspace(len(indices) - 1, 0, min(count, len(indices))).astype(np.intp)
    return indices[np.unique(chosen)]


def _distance(hypothesis: Hypothesis, points: Floats) -> Floats:
    """Return how far points lie from the line (0 without one)."""
    if not isinstance(hypothesis, Halfspace):
        return np.zeros(len(points))
    scores = hypothesis.weights[0] * points[:, 0] + hypothesis.weights[1] * points[:, 1]
    return np.abs(scores - hypothesis.offset)
