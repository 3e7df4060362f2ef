"""Where to cut between two neighbouring values: near the middle, at a number one can read."""

import numpy as np
from numpy.typing import ArrayLike

from replearn.paper.hypotheses._inputs import Floats, Indices, Labels

_LARGEST_EXPONENT = 300
# Powers of ten as the nearest doubles: a table, because log10 and pow may differ in the last
# digit between machines, and two labs must find the same cut.
_POWERS = np.array([float(f"1e{k}") for k in range(-_LARGEST_EXPONENT, _LARGEST_EXPONENT + 1)])


def cut_between(below: ArrayLike, above: ArrayLike) -> Floats:
    """Return cuts c with below <= c < above, so that below <= c and above > c.

    The cut is the middle, rounded to as few decimals as keep it in the middle half of the gap.
    Only additions, multiplications, divisions and roundings of IEEE doubles are used: the
    same two values give the same cut on every machine.

    >>> cut_between([41.0, 1234.17], [42.0, 1391.88]).tolist()
    [41.5, 1310.0]
    """
    low, high = np.broadcast_arrays(np.asarray(below, float), np.asarray(above, float))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        middle = low / 2 + high / 2
        index = np.searchsorted(_POWERS, (high - low) / 2, side="right") - 1
        index = np.clip(index, 0, len(_POWERS) - 1)
        step = _POWERS[index]
        inverse = _POWERS[len(_POWERS) - 1 - index]
        # Dividing by a whole power of ten gives the double nearest to the short decimal;
        # multiplying by 0.1 would not.
        readable = np.where(
            index >= _LARGEST_EXPONENT,
            np.rint(middle / step) * step,
            np.rint(middle * inverse) / inverse,
        )
    cut = np.where(_separates(middle, low, high), middle, low)
    return np.where(_separates(readable, low, high), readable, cut) + 0.0


def cuts_of(values: Floats) -> Floats:
    """Return the len(values) + 1 cuts around sorted distinct values, -inf and inf at the ends.

    Value number i lies above cut i and not above cut i + 1.
    """
    if len(values) == 0:
        return np.array([-np.inf])
    return np.concatenate([[-np.inf], cut_between(values[:-1], values[1:]), [np.inf]])


def ranks_and_cuts(rows: Floats) -> tuple[Indices, list[Floats]]:
    """Return each value's rank among the distinct values of its column, and the cuts around them.

    >>> ranks, cuts = ranks_and_cuts(np.array([[2.0, 7.0], [1.0, 7.0]]))
    >>> ranks.tolist(), [cut.tolist() for cut in cuts]
    ([[1, 0], [0, 0]], [[-inf, 1.5, inf], [-inf, inf]])
    """
    ranks = np.empty(rows.shape, dtype=np.intp)
    cuts = []
    for feature, column in enumerate(rows.T):
        distinct, inverse = np.unique(column, return_inverse=True)
        ranks[:, feature] = inverse.reshape(-1)
        cuts.append(cuts_of(distinct))
    return ranks, cuts


def _separates(cut: Floats, low: Floats, high: Floats) -> Labels:
    return (low <= cut) & (cut < high)
