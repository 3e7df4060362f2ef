"""Subgroups: which rows they have, and which of them change more often than the other rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from replearn.auditing.limits import (
    FEW_ROWS,
    MIN_GROUP_ROWS,
    SIGNED,
    Estimate,
    Floats,
    Mask,
    limits,
    mean_limits,
)

Groups = Mapping[str, tuple[list[str], NDArray[np.intp]]]
"""Name of a column to its values, and the index of each row's value among them."""


def members(groups: Groups) -> Iterator[tuple[str, str, Mask]]:
    """Yield column, value and rows of every group that is large enough.

    >>> town = {"town": (["Rom", "Ulm"], np.arange(22) // 20)}
    >>> [(name, value, int(rows.sum())) for name, value, rows in members(town)]
    [('town', 'Rom', 20)]
    """
    for name, (values, indices) in groups.items():
        for index, value in enumerate(values):
            here = indices == index
            if here.sum() >= MIN_GROUP_ROWS:
                yield name, value, here


@dataclass(frozen=True)
class Excess:
    """A group whose predictions change more often than those of the other rows."""

    name: str
    rows: int
    inside: float
    outside: float
    difference: Estimate


def changes_more(
    flips: Floats, groups: Groups, delta: float, clusters: NDArray[np.intp] | None = None
) -> list[Excess]:
    """Return the groups that change more often than the others, beyond chance, the worst first.

    The lower limits of the differences hold for all values of a column at once (Bonferroni): each
    column is a question of its own, so that more columns do not hide what one of them shows.

    >>> town = {"town": (["Rom", "Ulm"], np.arange(400) % 2)}
    >>> flips = (np.arange(400) % 4 == 1).astype(float)[np.newaxis]
    >>> [(found.name, found.inside, found.outside) for found in changes_more(flips, town, 0.05)]
    [('town = Ulm', 0.5, 0.0)]
    """
    found = []
    for name, levels in groups.items():
        here = [(value, rows) for _, value, rows in members({name: levels})]
        judged = [(v, rows) for v, rows in here if (~rows).sum() >= MIN_GROUP_ROWS]
        for value, rows in judged:
            inside, outside = float(flips[:, rows].mean()), float(flips[:, ~rows].mean())
            difference = _difference(flips, rows, delta / len(judged), clusters)
            if difference.lower > 0:
                name_of_group = f"{name} = {value}"
                found.append(Excess(name_of_group, int(rows.sum()), inside, outside, difference))
    return sorted(found, key=lambda excess: (-excess.difference.lower, -excess.inside))


def _difference(
    flips: Floats, here: Mask, delta: float, clusters: NDArray[np.intp] | None
) -> Estimate:
    """Flip rate inside minus that outside."""
    inside, outside = float(flips[:, here].mean()), float(flips[:, ~here].mean())
    ever = np.asarray((flips > 0).any(axis=0))
    if min(np.count_nonzero(ever[here]), np.count_nonzero(ever[~here])) < FEW_ROWS:
        # Too few for a normal approximation: both limits at half of delta.
        one, two = (limits(flips, delta / 2, clusters, rows=rows) for rows in (here, ~here))
        return Estimate(inside - outside, one.lower - two.upper, one.upper - two.lower)
    # A table whose mean is the difference of the two rates: its value plus each row's part in it.
    parts = np.where(here, (flips - inside) / here.mean(), (outside - flips) / (~here).mean())
    return mean_limits(inside - outside + parts, delta, clusters, within=SIGNED)
