"""Points of the plane with an exact test on which side of a line a point lies.

Coordinates that are decimals with few digits (or integers) are taken as such: 0.1, 0.2 and 0.3 are
equally spaced. They become 64-bit integers, and the test is exact integer arithmetic. Other
coordinates are taken as the doubles they are: the determinant is computed in doubles, and where
its error bound leaves the sign open, in fractions.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

_INTEGER_LIMIT = 2.0**29  # differences below 2**30, products below 2**60
_MOST_DECIMALS = 8
# Shewchuk (1997): the computed determinant has the right sign if it exceeds this share of the
# sum of the absolute products.
_ERROR_SHARE = (3 + 16 * 2.0**-53) * 2.0**-53
_UNDERFLOW = 1e-280


@dataclass(frozen=True, eq=False)
class Plane:
    """Distinct points in lexicographic order, ready for exact orientation tests.

    Examples
    --------
    >>> plane = Plane(np.array([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.3, 0.4]]))
    >>> plane.orientation(0, 1, np.array([2, 3])).tolist()
    [0, 1]
    """

    points: NDArray[np.float64]

    @cached_property
    def _whole(self) -> NDArray[np.int64] | None:
        """The points times a power of ten as integers, if they are such decimals."""
        for decimals in range(_MOST_DECIMALS + 1):
            scale = 10.0**decimals
            whole = np.rint(self.points * scale)
            if np.abs(whole).max(initial=0.0) >= _INTEGER_LIMIT:
                return None
            if (whole / scale == self.points).all():
                return whole.astype(np.int64)
        return None

    @cached_property
    def _scaled(self) -> NDArray[np.float64]:
        largest = np.frexp(np.abs(self.points).max(initial=0.0))[1]
        return np.ldexp(self.points, -int(largest))

    def orientation(
        self, first: int, second: int | NDArray[np.intp], third: NDArray[np.intp]
    ) -> NDArray[np.int8]:
        """Return 1 where third lies left of the line first -> second, -1 right, 0 on it."""
        if self._whole is not None:
            left, right = _products(self._whole, first, second, third)
            whole_sign: NDArray[np.int8] = np.sign(left - right).astype(np.int8)
            return whole_sign
        left, right = _products(self._scaled, first, second, third)
        determinant, size = left - right, np.abs(left) + np.abs(right)
        sign: NDArray[np.int8] = np.sign(determinant).astype(np.int8)
        open_sign = np.abs(determinant) <= _ERROR_SHARE * size
        open_sign |= size < _UNDERFLOW
        if open_sign.any():
            seconds, thirds = np.broadcast_arrays(second, third)
            for place in np.argwhere(open_sign):
                at = tuple(place)
                sign[at] = self._exact_sign(first, int(seconds[at]), int(thirds[at]))
        return sign

    def _exact_sign(self, first: int, second: int, third: int) -> int:
        if len({first, second, third}) < 3:
            return 0
        (ax, ay), (bx, by), (cx, cy) = (
            map(Fraction, self.points[place].tolist()) for place in (first, second, third)
        )
        determinant = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        return (determinant > 0) - (determinant < 0)


def _products(
    points: NDArray[Any], first: int, second: int | NDArray[np.intp], third: NDArray[np.intp]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the two products whose difference is the determinant."""
    a, b, c = points[first], points[second], points[third]
    return (
        (b[..., 0] - a[0]) * (c[..., 1] - a[1]),
        (b[..., 1] - a[1]) * (c[..., 0] - a[0]),
    )
