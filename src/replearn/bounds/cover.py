"""Covers from a shared pool: how far the nearest candidate can be from the best hypothesis."""

import math

from replearn.bounds.theorem import theorem
from replearn.bounds.vc import realizable_tail_within
from replearn.records.checks import check_count, check_fraction
from replearn.records.search import bisect

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
    check_count("n_shared", n_shared)
    check_count("d", d, least=0)
    check_fraction("beta", beta)
    # theorem: semi-replicable
    distance = bisect(
        lambda mass: realizable_tail_within(n_shared, d, mass, beta), 1.0, 0.0, halvings=_HALVINGS
    )
    return math.nextafter(distance, 1.0)
