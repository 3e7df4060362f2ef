"""Rows whose predictions must not change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Violation:
    """A row of the golden set whose prediction is not the expected one.

    Parameters
    ----------
    id : str
        Which row.
    expected, predicted : str
        The prediction that must stay, and that of the new model.
    """

    id: str
    expected: str
    predicted: str


@dataclass(frozen=True)
class GoldenSet:
    """Rows whose predictions must not change, and those that do.

    Parameters
    ----------
    rows : int
        Number of rows in the set.
    violations : tuple of Violation
        Every row whose prediction changes.
    """

    rows: int
    violations: tuple[Violation, ...]


def check_golden_set(
    names: Sequence[str], expected: Sequence[Any], predicted: Sequence[Any], changed: Any
) -> GoldenSet:
    """List the rows whose prediction changes.

    >>> check_golden_set(["p1", "p2"], [0, 1], [0, 0], [False, True]).violations
    (Violation(id='p2', expected='1', predicted='0'),)
    """
    rows = zip(names, expected, predicted, changed, strict=True)
    violations = [Violation(str(n), str(old), str(new)) for n, old, new, differs in rows if differs]
    return GoldenSet(len(names), tuple(violations))


def golden_rows(wanted: Any, names: NDArray[Any] | None, n_rows: int) -> NDArray[np.intp]:
    """Return the positions of the rows that are named by id, by position or by a mask.

    >>> golden_rows(["p2"], np.array(["p1", "p2"]), 2).tolist()
    [1]
    """
    chosen = np.asarray(wanted)
    if chosen.dtype == bool:
        if chosen.shape != (n_rows,):
            raise ValueError(
                f"must_not_change has shape {chosen.shape}, but X has {n_rows} rows: a mask needs "
                "one entry for each."
            )
        return np.flatnonzero(chosen)
    if names is None:
        if chosen.dtype.kind not in "iu" or np.any((chosen < 0) | (chosen >= n_rows)):
            raise ValueError(
                "must_not_change must be a mask, or positions of rows of X; names of rows require "
                "ids."
            )
        return chosen.astype(np.intp)
    known = {name: index for index, name in enumerate(names.tolist())}
    missing = [name for name in chosen.tolist() if name not in known]
    if missing:
        raise ValueError(
            f"must_not_change: {len(missing)} of {len(chosen)} ids are not among the compared rows "
            f"(the first: {missing[0]!r})."
        )
    return np.array([known[name] for name in chosen.tolist()], dtype=np.intp)
