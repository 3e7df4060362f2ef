"""One sample for membership, heavy labels and votes: the cost is the largest, not the sum."""

from replearn.bounds._numeric import upper_probability
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_fraction

__all__ = ["reuse_flip_bound"]


@theorem("sample-reuse")
def reuse_flip_bound(membership: float, labels: float, votes: float) -> float:
    """Pointwise flip bound of a learner with a heavy stage that uses its sample three times.

    Parameters
    ----------
    membership : float
        Bound of P(the point is heavy in one run only).
    labels : float
        Bound of P(its labels differ), for a point that is heavy in both runs.
    votes : float
        Bound of P(its votes decide differently), as if there were no heavy stage.

    Returns
    -------
    float
        ``membership + max(labels, votes)``, cut at 1 and rounded up.

    Examples
    --------
    >>> round(reuse_flip_bound(0.02, 0.05, 0.08), 6)
    0.1
    """
    for name, value in (("membership", membership), ("labels", labels), ("votes", votes)):
        check_fraction(name, value, zero=True)
    # theorem: sample-reuse
    return upper_probability(membership + max(labels, votes))
