"""Masses of single points: what a promise assumes about them, tested on the sample.

A plan states a bound on the sum of squared probabilities of single points and must not look at
data. The sample does: equal rows refute a bound that is clearly too small.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.bounds.collisions import point_mass_limits
from replearn.checks.sample import EQUAL_ROWS
from replearn.exceptions import NotCertifiedWarning, warn_user
from replearn.guarantees.certificate import Certificate, Identity
from replearn.guarantees.plan import Plan
from replearn.guarantees.promise import rounded_up
from replearn.randomness.points import Points

DELTA = 1e-6
"""Chance that a true assumption is called refuted."""

_FIRST_COLUMNS = 3
_PROMISED = ("rho", "gamma", "alpha", "beta")


def refuted_point_mass(
    points: Points, assumed: float, groups: NDArray[Any] | None = None
) -> str | None:
    """Say in words that equal rows of the sample refute the assumed bound; None if they do not.

    With groups the first row of each group counts: the others may depend on it.
    """
    if groups is not None:
        points = points.take(np.unique(groups, return_index=True)[1])
    n = len(points)
    return refuted_by_pairs(n, count_equal_pairs(points), assumed) if n >= 2 else None


def refuted_by_pairs(n: int, equal: int, assumed: float) -> str | None:
    """Say in words that this many equal pairs among n rows refute the assumed bound."""
    # theorem: collisions
    lower, upper = point_mass_limits(n, equal, DELTA)
    if lower <= assumed:
        return None
    return (
        f"max_point_mass = {assumed:g} is refuted: {equal} pairs of the {n} rows are equal, so the "
        f"sum of squared probabilities of single points is at least {lower:.3g}, and at most "
        f"{rounded_up(upper)} (either fails with probability {DELTA:g})"
    )


def has_distinct_column(X: Any) -> bool:
    """Whether one of the first columns distinguishes all rows: a sort is cheaper than a hash."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f":
        return False
    columns = (np.sort(column) for column in X.T[:_FIRST_COLUMNS])
    return any(bool((c[1:] > c[:-1]).all()) for c in columns)


def count_equal_pairs(points: Points) -> int:
    """Return how many pairs of rows are equal."""
    counts = np.unique(EQUAL_ROWS.hashes(points), return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def without_masses(plan: Plan, refuted: str, identity: Identity, **changed: Any) -> Certificate:
    """Issue the certificate of a plan whose assumption about point masses is refuted.

    What remains is usually Markov's bound, which holds whatever the masses are.
    """
    # theorem: approximate-markov (the sum of squares is at most 1, whatever the population)
    certificate = plan.certificate(identity, max_point_mass=1.0, **changed)
    if any(_is_lost(name, plan, certificate) for name in _PROMISED):
        warn_user(f"{refuted}. {_way_out(plan)}", NotCertifiedWarning)
    if certificate.certified:
        return certificate
    failed = (*identity.failed_conditions, refuted)
    identity = replace(identity, failed_conditions=failed)
    return plan.certificate(identity, max_point_mass=1.0, **changed)


def _is_lost(name: str, plan: Plan, certificate: Certificate) -> bool:
    """Whether a number of the certificate is worse than requested, or planned where none was."""
    delivered = getattr(certificate, name)
    requested = plan.inputs[name]
    if delivered == getattr(plan, name):
        return False
    return requested is None or delivered is None or bool(delivered > requested)


def _way_out(plan: Plan) -> str:
    number = "Plan with the larger number (max_point_mass=...)"
    if plan.task == "approximate":
        return f"{number}, or with more blocks: rho * gamma at each point needs no such number."
    return f"{number}."
