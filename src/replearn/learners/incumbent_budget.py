"""Budgets of change: a band from held-out rows, or the changes of one batch that fit into it."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from replearn.bounds import binomial_limits
from replearn.learners.incumbent_rule import Codes, Floats

CONFIDENCE = 0.95
"""Confidence of the upper limit of the share of changes that comes with a band."""


class Budget(NamedTuple):
    """What may change between two models, as shares of the rows; None if anything may.

    Parameters
    ----------
    max_changes : float or None
        Predictions that may change.
    max_negative_flips : float or None
        Predictions that may change from right to wrong.
    keep_rate : float or None
        By how much the share of ``classes[1]`` among the predictions may move; two classes.
    """

    max_changes: float | None = None
    max_negative_flips: float | None = None
    keep_rate: float | None = None

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing is limited."""
        return all(value is None for value in self)

    def limits(self, n_rows: int) -> tuple[float, float, float]:
        """Return the budgets as numbers of rows.

        >>> Budget(max_changes=0.02).limits(300)
        (6.0, inf, inf)
        """
        # A share of whole rows must come out whole: 0.07 * 100 is 7.000000000000001.
        counts = [
            float("inf") if share is None else float(np.floor(share * n_rows * (1 + 1e-12)))
            for share in self
        ]
        if self.max_negative_flips is not None:
            counts[1] = self.max_negative_flips * n_rows  # expected flips need not be whole
        return counts[0], counts[1], counts[2]


class Moves(NamedTuple):
    """Rows whose prediction would change: evidence, direction, and how likely it is for the worse.

    Parameters
    ----------
    row : ndarray of int
        Which rows.
    strength : ndarray
        Evidence beyond the threshold, in units of the band.
    direction : ndarray of int
        1 towards ``classes[1]``, -1 away from it, 0 between other classes.
    cost : ndarray
        1 for a negative flip, 0 for none, or its probability.
    """

    row: Codes
    strength: Floats
    direction: Codes
    cost: Floats


def budget_band(moves: Moves, budget: Budget, n_rows: int, band: float) -> tuple[float, int]:
    """Return the smallest band that keeps a budget on held-out rows, and the changes left.

    >>> moves = Moves(np.arange(3), np.array([0.3, 0.2, 0.15]), np.ones(3, int), np.zeros(3))
    >>> budget_band(moves, Budget(max_changes=0.02), 100, 0.1)
    (0.15, 2)
    """
    order = np.argsort(-moves.strength, kind="stable")
    strength = moves.strength[order]
    changes, flips, rate = budget.limits(n_rows)
    count = np.arange(1, len(order) + 1)
    fits = (
        (count <= changes)
        & (np.cumsum(moves.cost[order]) <= flips)
        & (np.abs(np.cumsum(moves.direction[order])) <= rate)
    )
    # The next row is at the band and stays; so do ties with it.
    fits &= np.append(strength[:-1] > strength[1:], True) if len(order) else fits
    n_kept = int(np.flatnonzero(fits)[-1]) + 1 if fits.any() else 0
    if n_kept == len(order):
        return band, n_kept
    return float(max(band, strength[n_kept])), n_kept


def choose_changes(moves: Moves, budget: Budget, n_rows: int) -> NDArray[np.bool_]:
    """Tell which moves of one batch are made: the strongest first, none beyond the budget.

    A move that would push the share of ``classes[1]`` too far waits for one in the other
    direction.

    >>> moves = Moves(np.arange(3), np.array([0.3, 0.2, 0.1]), np.array([1, 1, -1]), np.zeros(3))
    >>> choose_changes(moves, Budget(keep_rate=0.0), 100).tolist()
    [True, False, True]
    """
    changes, flips, rate = budget.limits(n_rows)
    made = np.zeros(len(moves.row), dtype=bool)
    if rate < np.inf:  # pairs of opposite moves stand for each other
        return _balanced(moves, changes, flips, rate)
    n_made = 0
    spent = 0.0
    for index in np.argsort(-moves.strength, kind="stable"):
        if n_made + 1 > changes:
            break
        if spent + moves.cost[index] <= flips:
            made[index] = True
            n_made += 1
            spent += float(moves.cost[index])
    return made


def _balanced(moves: Moves, changes: float, flips: float, rate: float) -> NDArray[np.bool_]:
    """Make moves so that the rate is kept at every step: one by one, or in opposite pairs."""
    made = np.zeros(len(moves.row), dtype=bool)
    waiting: dict[int, deque[int]] = {1: deque(), -1: deque()}
    order = deque(np.argsort(-moves.strength, kind="stable").tolist())
    n_made = 0
    net = 0
    spent = 0.0
    while order:
        index = order.popleft()
        direction = int(moves.direction[index])
        group = [index]
        if abs(net + direction) > rate:
            if not waiting[-direction]:
                waiting[direction].append(index)
                continue
            group.append(waiting[-direction].popleft())
        cost = float(moves.cost[group].sum())
        if n_made + len(group) > changes or spent + cost > flips:
            continue
        made[group] = True
        n_made += len(group)
        spent += cost
        net += int(moves.direction[group].sum())
        if len(group) == 1 and waiting[-direction]:  # one that waits fits now
            order.appendleft(waiting[-direction].popleft())
    return made


def share_limit(n_changes: int, n_rows: int) -> float:
    """Return the upper confidence limit of the share of changes (Clopper and Pearson).

    >>> round(share_limit(20, 1000), 3)
    0.029
    """
    return float(binomial_limits(n_changes, n_rows, 2.0 * (1.0 - CONFIDENCE))[1])
