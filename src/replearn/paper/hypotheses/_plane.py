"""Points of the plane, with an exact test on which side of a line they lie, and the best line.

Coordinates that are decimals with few digits (or integers) are taken as such: 0.1, 0.2 and 0.3 are
equally spaced. They become 64-bit integers, and the test is exact integer arithmetic. Other
coordinates are taken as the doubles they are: the determinant is computed in doubles, and where
its error bound leaves the sign open, in fractions.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, cmp_to_key

import numpy as np
from numpy.typing import NDArray

from replearn.paper.hypotheses._cuts import cut_between
from replearn.paper.hypotheses._inputs import Floats, Indices, Integers, Labels, sums_by_index
from replearn.paper.hypotheses.rules import HalfspaceRules

_INTEGER_LIMIT = 2.0**29  # differences below 2**30, products below 2**60
_MAX_DECIMALS = 8
# Shewchuk (1997): the computed determinant has the right sign if it exceeds this share of the
# sum of the absolute products.
_ERROR_SHARE = (3 + 16 * 2.0**-53) * 2.0**-53
_UNDERFLOW = 1e-280


@dataclass(frozen=True, eq=False)
class Plane:
    """Distinct points in lexicographic order, ready for exact orientation tests.

    >>> plane = Plane(np.array([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.3, 0.4]]))
    >>> plane.orientation(0, 1, np.array([2, 3])).tolist()
    [0, 1]
    """

    points: Floats

    @cached_property
    def _whole(self) -> Integers | None:
        """The points times a power of ten as integers, if they are such decimals."""
        for decimals in range(_MAX_DECIMALS + 1):
            scale = 10.0**decimals
            whole = np.rint(self.points * scale)
            if np.abs(whole).max(initial=0.0) >= _INTEGER_LIMIT:
                return None
            if (whole / scale == self.points).all():
                return whole.astype(np.int64)
        return None

    @cached_property
    def _scaled(self) -> Floats:
        largest = np.frexp(np.abs(self.points).max(initial=0.0))[1]
        return np.ldexp(self.points, -int(largest))

    def orientation(self, first: int, second: int | Indices, third: Indices) -> NDArray[np.int8]:
        """Return 1 where third lies left of the line first -> second, -1 right, 0 on it."""
        points = self._scaled if self._whole is None else self._whole
        a = points[first]
        b = points[second]
        c = points[third]
        left = (b[..., 0] - a[0]) * (c[..., 1] - a[1])
        right = (b[..., 1] - a[1]) * (c[..., 0] - a[0])
        determinant = left - right
        sign: NDArray[np.int8] = np.sign(determinant).astype(np.int8)
        if self._whole is None:
            size = np.abs(left) + np.abs(right)
            open_sign = (np.abs(determinant) <= _ERROR_SHARE * size) | (size < _UNDERFLOW)
            seconds, thirds = np.broadcast_arrays(second, third)
            for at in zip(*np.nonzero(open_sign), strict=True):
                sign[at] = self._exact_sign(first, int(seconds[at]), int(thirds[at]))
        return sign

    def _exact_sign(self, first: int, second: int, third: int) -> int:
        if len({first, second, third}) < 3:
            return 0
        (ax, ay), (bx, by), (cx, cy) = (
            map(Fraction, self.points[index].tolist()) for index in (first, second, third)
        )
        determinant = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        return (determinant > 0) - (determinant < 0)


def named_lines(plane: Plane, first: int, second: Indices) -> HalfspaceRules:
    """Return halfspaces for those lines first -> second that have no point in between.

    The halfspace holds what lies left of the line, and on it up to `first`.

    >>> plane = Plane(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    >>> named_lines(plane, 0, np.array([1, 2])).predict(plane.points)
    array([[ True, False, False],
           [ True,  True, False]])
    """
    everyone = np.arange(len(plane.points))
    side = plane.orientation(first, second[:, None], everyone[None, :])
    low = np.minimum(first, second)
    high = np.maximum(first, second)
    between = (everyone > low[:, None]) & (everyone < high[:, None])
    named = ~((side == 0) & between).any(axis=1)
    second = second[named]
    side = side[named]
    # Points are sorted, so along a line the index tells what comes first.
    behind = np.where((second > first)[:, None], everyone <= first, everyone >= first)
    labels = (side > 0) | ((side == 0) & behind)
    weights = _turned(plane.points, first, second, side)
    return HalfspaceRules(weights, _offsets(plane.points, weights, labels))


def _turned(points: Floats, first: int, second: Indices, side: NDArray[np.int8]) -> Floats:
    """Return the normals of lines turned around their middle, half-way to the next point.

    Square roots and divisions only: the same points give the same line on every machine.
    """
    along = points[second] - points[first]
    across = np.column_stack([-along[:, 1], along[:, 0]])
    middle = points[first] / 2 + points[second] / 2
    x = points[:, 0] - middle[:, :1]
    y = points[:, 1] - middle[:, 1:]
    ahead = x * along[:, :1] + y * along[:, 1:]
    left = side * np.abs(x * across[:, :1] + y * across[:, 1:])
    with np.errstate(divide="ignore", invalid="ignore"):
        # The point that the turning line meets first has the largest cotangent.
        cotangent = np.where(side != 0, ahead / left, -np.inf).max(axis=1)
    alone = np.isneginf(cotangent)  # all points on one line: a quarter turn
    cotangent = np.clip(np.where(alone, 0.0, cotangent), -1e100, 1e100)
    root = np.sqrt(1 + cotangent**2)
    half = np.where(cotangent > 0, 1 / (root + np.abs(cotangent)), root - cotangent)
    less = across - 0.5 * half[:, None] * along
    more = across - 1.5 * half[:, None] * along
    return _readable(np.where(alone[:, None], -along, less), np.where(alone[:, None], -along, more))


def _readable(less: Floats, more: Floats) -> Floats:
    """Return normals between the two given ones: one weight +-1, the other with few digits."""
    middle = less + more
    line = np.arange(len(middle))
    large = np.argmax(np.abs(middle), axis=1)
    scale = np.abs(middle[line, large])
    normals: Floats = middle / scale[:, None]
    sign = normals[line, large]
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.sort(
            [side[line, 1 - large] / (side[line, large] * sign) for side in (less, more)], axis=0
        )
    # A turn across an axis would change the sign of the large weight: keep the middle then.
    simple = (less[line, large] * sign > 0) & (more[line, large] * sign > 0) & (ends[0] < ends[1])
    short = cut_between(np.where(simple, ends[0], 0.0), np.where(simple, ends[1], 1.0))
    normals[line, 1 - large] = np.where(simple, short, normals[line, 1 - large])
    return normals


def _offsets(points: Floats, weights: Floats, labels: Labels) -> Floats:
    """Return offsets in the middle of the gap between the two sides."""
    scores = weights[:, :1] * points[:, 0] + weights[:, 1:] * points[:, 1]
    above = np.where(labels, scores, np.inf).min(axis=1, initial=np.inf)
    below = np.where(labels, -np.inf, scores).max(axis=1, initial=-np.inf)
    if not (below < above).all():
        raise ValueError(
            "some points are collinear up to rounding errors, but not exactly: no line in double "
            "precision separates them; round the points to fewer decimals first"
        )
    return cut_between(below, above)


def best_line(plane: Plane, gains: Integers, first: int) -> tuple[int, int]:
    """Return the largest gain of the lines from one point, and the point that this line meets.

    Turn a line around `first` from pointing down to pointing up. A point after `first` in
    order lies left of the line until the line passes it; a point before `first`, afterwards.
    """
    others, group = _by_slope(plane, first)
    n_groups = int(group[-1]) + 1
    after = others > first
    ahead = sums_by_index(group[after], gains[others[after]], n_groups)
    behind = sums_by_index(group[~after], gains[others[~after]], n_groups)
    passed_ahead = np.cumsum(ahead)
    passed_behind = np.cumsum(behind)
    left = (passed_ahead[-1] - passed_ahead) + (passed_behind - behind)
    right = (passed_ahead - ahead) + (passed_behind[-1] - passed_behind)
    gain = np.stack([left + behind, right + ahead]) + gains[first]
    # Forwards the nearest point is the first in order, backwards the last.
    nobody = len(plane.points)
    nearest = np.full((2, n_groups), nobody)
    np.minimum.at(nearest[0], group[after], others[after])
    nearest[1] = -1
    np.maximum.at(nearest[1], group[~after], others[~after])
    possible = (nearest >= 0) & (nearest < nobody)
    best = gain[possible].max()
    return int(best), int(nearest[possible & (gain == best)].min())


def _by_slope(plane: Plane, first: int) -> tuple[Indices, Indices]:
    """Return the other points by the slope of their line through `first`, and line numbers."""
    others = np.delete(np.arange(len(plane.points)), first)
    step = plane.points[others] - plane.points[first]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        slope = np.where(step[:, 0] == 0, np.inf, step[:, 1] / step[:, 0])
    others = others[np.argsort(slope, kind="stable")]
    turns = _turns(plane, first, others[:-1], others[1:])
    if (turns < 0).any():  # slopes that rounding cannot tell apart: sort by the exact test

        def compare(a: int, b: int) -> int:
            return -int(_turns(plane, first, np.array([a]), np.array([b]))[0])

        others = np.array(sorted(others.tolist(), key=cmp_to_key(compare)))
        turns = _turns(plane, first, others[:-1], others[1:])
    return others, np.concatenate([[0], np.cumsum(turns != 0)])


def _turns(plane: Plane, first: int, a: Indices, b: Indices) -> NDArray[np.int8]:
    """Return the sign of slope(b) - slope(a), for lines through `first`."""
    mirrored = (a > first) != (b > first)
    sign = plane.orientation(first, a, b)
    return np.where(mirrored, -sign, sign)
