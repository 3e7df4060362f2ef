"""Covers from a shared pool: how far the nearest candidate can be from the best hypothesis."""

import math

from replearn.bounds._checks import check_fraction, checked_count
from replearn.bounds.theorem import theorem
from replearn.bounds.vc import realizable_tail_within

__all__ = ["cover_distance"]

# Bisection of a distance: far below what any sample could resolve.
_HALVINGS = 40


@theorem("semi-replicable")
def cover_distance(n_shared: int, d: int, beta: float) -> float:
    """Mass on which the best hypothesis and its candidate in the cover of a pool may differ.

    Parameters
    ----------
    n_shared : int
        Rows of the shared, unlabelled pool.
    d : int
        VC dimension of the class.
    beta : float
        Failure probability, in (0, 1].

    Returns
    -------
    float
        Every candidate that agrees with a fixed hypothesis on the pool is within this mass of it,
        except with probability ``beta``; 1 when the pool is too small to say anything.

    Examples
    --------
    >>> round(cover_distance(1000, 1, 0.025), 4)
    0.0143
    """
    checked_count(n_shared, name="n_shared", smallest=1)
    checked_count(d, name="d", smallest=0)
    check_fraction("beta", beta)
    # theorem: semi-replicable
    failing, passing = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (failing + passing) / 2.0
        if middle > 0.0 and realizable_tail_within(n_shared, d, middle, beta):
            passing = middle
        else:
            failing = middle
    return math.nextafter(passing, 1.0) if passing < 1.0 else 1.0
