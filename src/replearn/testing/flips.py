"""An assertion for your own tests: a new model changes few predictions."""

from __future__ import annotations

from typing import Any

from replearn.auditing import ModelComparison, compare, update_gates

MAX_ROWS = 5


def assert_flips_below(  # noqa: PLR0913
    old: Any,
    new: Any,
    X: Any,
    limit: float | None = 0.02,
    *,
    y: Any = None,
    negative_limit: float | None = None,
    subgroup_limit: float | None = None,
    psi_limit: float | None = None,
    must_not_change: Any = None,
    subgroups: Any = None,
    upper: bool = False,
    delta: float = 0.05,
    **settings: Any,
) -> ModelComparison:
    """Fail if a new model changes more predictions than is allowed.

    Parameters
    ----------
    old, new : fitted models, or arrays of predictions
        The model in use, and the one that would replace it.
    X : array-like or frame of shape (n, n_features)
        Rows that neither model was trained on.
    limit : float or None, default=0.02
        The largest share of changed predictions that passes; None is not judged.
    y : array-like of shape (n,), default=None
        True labels.
    negative_limit : float, default=None
        The largest share of rows that become wrong; requires ``y``.
    subgroup_limit : float, default=None
        The largest share of changed predictions in any subgroup with at least ten rows.
    psi_limit : float, default=None
        The largest PSI of the scores.
    must_not_change : array-like, default=None
        Rows whose predictions must not change: positions, ids or a mask.
    subgroups : "auto", None, list of column names, or dict of name to labels, default=None
        The worst of them is named if the assertion fails.
    upper : bool, default=False
        Whether to judge the upper limit of the share instead of the share in these rows. It passes
        only if these rows show that the share in the population is smaller.
    delta : float, default=0.05
        The limits fail with probability at most delta.
    **settings
        Other parameters of `replearn.auditing.compare`: ``ids``, ``groups``, ``scores`` and so on.

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
    AssertionError: 1 of 200 predictions change. FAILED: flip rate 0.50 % (0.01 to 2.75 %), ...
    """
    rows = {"subgroups": subgroups, "must_not_change": must_not_change}
    found = compare(old, new, X, y, delta=delta, **rows, **settings)
    gates = update_gates(
        found,
        **{"fail_above_limit" if upper else "fail_above": limit},
        fail_negative_above=negative_limit,
        fail_subgroup_above=subgroup_limit,
        fail_psi_above=psi_limit,
    )
    failed = [f"{gate}." for gate in gates if not gate.passed]
    if failed:
        raise AssertionError(" ".join([_counted(found), *failed, *_details(found)]))
    return found


def _counted(found: ModelComparison) -> str:
    return f"{len(found.flipped)} of {len(found.predictions_a)} predictions change."


def _details(found: ModelComparison) -> list[str]:
    details = []
    if found.by_subgroup:
        group = found.worst_subgroups()[0]
        details.append(f"Worst group: {group.name} with {group} of {group.rows} rows.")
    golden = found.golden_set
    if golden is not None and golden.violations:
        named = ", ".join(violation.id for violation in golden.violations[:MAX_ROWS])
        details.append(f"Must not change, but do: {named}.")
    rows = ", ".join(
        f"{row} ({found.predictions_a[row]} → {found.predictions_b[row]})"
        for row in found.flipped[:MAX_ROWS].tolist()
    )
    return [
        *details,
        f"Rows that change: {rows}{', ...' if len(found.flipped) > MAX_ROWS else ''}",
    ]
