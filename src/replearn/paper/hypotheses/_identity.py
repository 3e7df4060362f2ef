"""What a dichotomy is: 128 bits that depend on the set of points labelled 1, and on nothing else.

Each distinct point of the pool, in lexicographic order, has two 64-bit codes; a dichotomy is the
sum of the codes of the points it labels 1, modulo 2**64. Sums can be taken by prefix sums, so
that a million dichotomies are named without writing down a single label. Two different
dichotomies of one pool share a name with probability about 2**-128.
"""

import numpy as np
from numpy.typing import NDArray

from replearn.paper.hypotheses._inputs import Indices, sorted_rows


def point_codes(n_points: int) -> NDArray[np.uint64]:
    """Return two 64-bit codes for each distinct point, by its index among the sorted points."""
    counter = np.arange(1, 2 * n_points + 1, dtype=np.uint64).reshape(n_points, 2)
    # The finaliser of SplitMix64 (Steele, Lea and Flood 2014): a fixed bijection of 64 bits.
    state = counter * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def as_identity(words: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return each pair of 64-bit words as four 32-bit integers, which doubles hold exactly."""
    halves = np.ascontiguousarray(words, dtype="<u8").view("<u4")  # the low half first
    return halves.astype(np.uint32)


def first_of_each(words: NDArray[np.uint64]) -> Indices:
    """Return, in increasing order, the indices at which a name occurs for the first time."""
    order, new = sorted_rows(words)  # stable: the first index comes first
    return np.sort(order[new])
