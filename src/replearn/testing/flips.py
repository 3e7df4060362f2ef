"""An assertion for your own tests: a new model changes few predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replearn.auditing.comparison import ModelComparison, compare
from replearn.auditing.gate import gates

MAX_ROWS = 5


def assert_flips_below(
    old: Any,
    new: Any,
    X: Any,
    limit: float | None = 0.02,
    *,
    limits: Mapping[str, float] | None = None,
    **settings: Any,
) -> ModelComparison:
    """Fail if a new model changes more predictions than is allowed.

    Parameters
    ----------
    old, new : fitted models, or arrays of predictions
        The model in use, and the one that would replace it; lists of several runs of one version.
    X : array-like or frame of shape (n, n_features)
        Rows that neither model was trained on.
    limit : float or None, default=0.02
        The largest share of changed predictions that passes; None is not judged.
    limits : dict of str to float, default=None
        The largest other numbers that pass, as in `replearn.auditing.gate.gates`: "upper flips",
        "becomes wrong", "worst group", "added flips".
    **settings
        Other parameters of `replearn.compare`: ``y``, ``subgroups``, ``must_not_change`` and so on.

    Returns
    -------
    ModelComparison
        Everything that was found.

    Raises
    ------
    AssertionError
        With flip rate, limit, worst group, and the first rows that change.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.testing import assert_flips_below
    >>> old, new = np.zeros(200, dtype=int), np.zeros(200, dtype=int)
    >>> new[7] = 1
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> assert_flips_below(old, new, X, limit=0.02)
    ModelComparison(1 of 200 rows flip)
    >>> assert_flips_below(old, new, X, limit=0.001)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: 1 of 200 predictions change. FAILED: flips 0.50 % (limits 0.01 to 2.75 %), ...
    """
    found = compare(old, new, X, **settings)
    allowed = ({} if limit is None else {"flips": limit}) | dict(limits or {})
    failed = [f"{gate}." for gate in gates(found, allowed) if not gate.passed]
    if failed:
        raise AssertionError(" ".join([_counted(found), *failed, *_details(found)]))
    return found


def _counted(found: ModelComparison) -> str:
    return f"{len(found.flipped)} of {len(found.old)} predictions change."


def _details(found: ModelComparison) -> list[str]:
    details = []
    groups = found.table.groups()
    if groups:
        group = max(groups, key=lambda group: group.lower)
        details.append(f"Worst group: {group.group} with {group} of {group.rows} rows.")
    if found.violations:
        named = ", ".join(row.id for row in found.violations[:MAX_ROWS])
        details.append(f"Must not change, but do: {named}.")
    rows = ", ".join(
        f"{row} ({found.old[row]} → {found.new[row]})" for row in found.flipped[:MAX_ROWS].tolist()
    )
    return [
        *details,
        f"Rows that change: {rows}{', ...' if len(found.flipped) > MAX_ROWS else ''}",
    ]
