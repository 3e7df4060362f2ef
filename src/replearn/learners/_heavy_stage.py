"""The heavy stage: points that occur often are labelled from their own labels, not by votes.

It exists for accuracy with high probability: a point of large mass must not depend on one
threshold. One sample serves membership, labels and votes (theorem: sample-reuse); members occur at
least n low times, so each of them has the k labels that the plan wants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from replearn.bounds import (
    MembershipLaw,
    binomial_limits,
    flip_estimate,
    flip_limits,
    label_law,
)
from replearn.bounds._numeric import binomial_cdf, binomial_sf
from replearn.certificates import HeavyStage
from replearn.primitives._counting import PointIndex, count_points
from replearn.primitives._rule import below_levels
from replearn.primitives.labels import decide_labels, first_labels
from replearn.randomness import Points, SharedKey, as_points
from replearn.tables import take_rows

# Points with fewer than this share of n low occurrences are not remembered.
_REMEMBERED = 8.0


class HeavyPoints:
    """The heavy points of a fitted learner.

    Parameters
    ----------
    known : Known
        All points that occur often enough to matter.
    stage : HeavyStage
        The plan's treatment of heavy points.
    classes : ndarray
        The two labels.

    Attributes
    ----------
    points : container of rows
        The members, most frequent first.
    masses : ndarray of float
        Their frequencies in the training sample.
    labels : ndarray
        Their labels.
    n_labels : int
        How many labels of each were used, k.
    """

    def __init__(self, known: Known, stage: HeavyStage, classes: NDArray[Any]) -> None:
        self._known, self._stage = known, stage
        self._index = PointIndex(known.points)
        member = np.flatnonzero(known.member)
        self.points = take_rows(known.values, member)
        self.masses = known.counts[member] / known.n
        self.labels = classes[known.answers[member]]
        self.n_labels = stage.n_labels

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"HeavyPoints({len(self)} points, mass {float(self.masses.sum()):.4g})"

    def to_state(self) -> dict[str, Any]:
        """Return what was seen as plain values, without the key and what follows from it."""
        known = self._known
        values = known.values
        if hasattr(values, "columns"):  # frames are read by the names of their columns
            names = sorted(values.columns)
            values = [
                list(row) for row in zip(*(list(values[name]) for name in names), strict=True)
            ]
        return {"values": values, "counts": known.counts, "ones": known.ones, "n": known.n}

    @classmethod
    def from_state(
        cls,
        state: dict[str, Any],
        stage: HeavyStage,
        classes: NDArray[Any],
        key: SharedKey,
        decimals: int | None,
    ) -> HeavyPoints:
        """Build the stage again from `to_state` and the key."""
        seen = Seen(state["values"], state["counts"], state["ones"], state["n"])
        return cls(_decide(seen, stage, key, decimals), stage, classes)

    def view(self, points: Points) -> HeavyView:
        """See what the stage knows of some points.

        Parameters
        ----------
        points : Points
            Canonical points.

        Returns
        -------
        HeavyView
        """
        return HeavyView(self._known, self._stage, self._index.locate(points))


class Seen(NamedTuple):
    """What the training sample says of points that occur often; nothing of the key."""

    values: Any
    counts: NDArray[np.int64]
    ones: NDArray[np.int64]
    n: int


@dataclass(frozen=True, eq=False)
class Known:
    """The same, and what follows from it with the key; members or not."""

    values: Any
    counts: NDArray[np.int64]
    ones: NDArray[np.int64]
    n: int
    points: Points
    member: NDArray[np.bool_]
    member_thresholds: NDArray[np.float64]
    label_thresholds: NDArray[np.float64]
    answers: NDArray[np.intp]


def fit_heavy(
    X: Any,
    codes: NDArray[np.intp],
    classes: NDArray[Any],
    stage: HeavyStage,
    key: SharedKey,
    decimals: int | None,
) -> HeavyPoints:
    """Find the heavy points of the sample and label them.

    Parameters
    ----------
    X : container of rows
        The planned rows.
    codes : ndarray of int
        Their labels, 0 or 1.
    classes : ndarray
        The two labels.
    stage : HeavyStage
        From the plan.
    key : SharedKey
        The learner's key.
    decimals : int or None
        Rounding of the points.

    Returns
    -------
    HeavyPoints

    Examples
    --------
    >>> X, y = np.repeat([[1.0], [2.0]], [60, 40], axis=0), np.repeat([0, 1], [60, 40])
    >>> stage = HeavyStage(low=0.2, high=0.3, n_labels=20)
    >>> heavy = fit_heavy(X, y, np.array(["no", "yes"]), stage, SharedKey(0), None)
    >>> heavy.labels.tolist(), heavy.masses.tolist()
    (['no', 'yes'], [0.6, 0.4])
    """
    sample = as_points(X, decimals=decimals)
    fewest = max(1, int(len(sample) * stage.low / _REMEMBERED))
    counted = count_points(X, at_least=fewest, decimals=decimals)
    place = PointIndex(counted.points).locate(sample)
    # Points with fewer than k labels cannot be members; they have no label of their own.
    k = np.where(counted.counts >= stage.n_labels, stage.n_labels, 0)
    seen = Seen(
        counted.values, counted.counts, first_labels(sample, codes, place, k, key), counted.n
    )
    return HeavyPoints(_decide(seen, stage, key, decimals), stage, classes)


def _decide(seen: Seen, stage: HeavyStage, key: SharedKey, decimals: int | None) -> Known:
    """Compare what was seen with the shared thresholds."""
    points = as_points(seen.values, decimals=decimals)
    law = MembershipLaw(stage.kind, stage.low, stage.high)
    uniforms = key.child("membership").uniforms(points)
    # theorem: heavy-membership
    member = below_levels(uniforms, law.table(seen.counts, seen.n))
    thresholds, answers = decide_labels(points, seen.ones, stage.n_labels, stage.band, key)
    return Known(*seen, points, member, uniforms, thresholds, answers)


@dataclass(frozen=True, eq=False)
class HeavyView:
    """What the heavy stage says of some points, row by row."""

    known: Known
    stage: HeavyStage
    numbers: NDArray[np.intp]

    @property
    def member(self) -> NDArray[np.bool_]:
        """Whether the point is heavy."""
        member = np.zeros(len(self.numbers), dtype=bool)
        found = self.numbers >= 0
        member[found] = self.known.member[self.numbers[found]]
        return member

    def replace(self, column: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
        """Put what the stage says of its members into a column of the votes."""
        member = self.member
        result = column.copy()
        result[member] = values[self.numbers[member]]
        return result

    @property
    def law_values(self) -> NDArray[np.float64]:
        """Level of each known point's labels."""
        return label_law(self.stage.n_labels, self.stage.band).probabilities[self.known.ones]

    def flips(
        self, votes_differ: NDArray[np.float64], vote_answers: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Estimate how likely a fresh sample answers differently.

        Parameters
        ----------
        votes_differ : ndarray of float
            The same for the votes alone.
        vote_answers : ndarray of int
            What the votes answer, 0 or 1.

        Returns
        -------
        ndarray of float
            Membership and label of the fresh sample both count, each by its predictive
            probability.
        """
        result = votes_differ.copy()
        rows = np.flatnonzero(self.numbers >= 0)
        at = self.numbers[rows]
        if not len(rows):
            return result
        joins = self._joins()[at]
        label_differs = flip_estimate(
            label_law(self.stage.n_labels, self.stage.band),
            self.known.ones,
            self.known.label_thresholds,
        )[at]
        # Who had too few labels has no label yet to lose: either may come.
        label_differs[self.known.counts[at] < self.stage.n_labels] = 0.5
        answer = np.where(self.member[rows], self.known.answers[at], vote_answers[rows])
        by_label = np.where(answer == self.known.answers[at], label_differs, 1.0 - label_differs)
        by_vote = np.where(
            answer == vote_answers[rows], votes_differ[rows], 1.0 - votes_differ[rows]
        )
        result[rows] = joins * by_label + (1.0 - joins) * by_vote
        return result

    def _joins(self) -> NDArray[np.float64]:
        """Predictive probability that each known point is a member in a fresh run."""
        n, counts = self.known.n, self.known.counts.astype(float)
        needed = self._needed()
        # A fresh count is beta-binomial; at these sizes its normal approximation is as good.
        mean = n * (counts + 0.5) / (n + 1.0)
        spread = np.sqrt(np.maximum(mean * (1.0 - mean / n), 0.25) * 2.0)
        return special.ndtr((mean - needed + 0.5) / spread)

    def _needed(self) -> NDArray[np.float64]:
        """Fewest occurrences that make each known point a member."""
        law = MembershipLaw(self.stage.kind, self.stage.low, self.stage.high)
        n, u = self.known.n, self.known.member_thresholds
        needed = np.ceil(n * law.frequency(u))
        for step in (1.0, 0.0):  # the table is rounded: move by one where that matters
            reached = below_levels(u, law.table(needed - step, n))
            needed = np.where(reached, needed - step, needed + (1.0 - step))
        return needed

    def limits(
        self, votes: tuple[NDArray[np.float64], NDArray[np.float64]], delta: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Limits of the flip probability: membership plus label, or membership plus votes.

        Parameters
        ----------
        votes : pair of ndarray
            Limits for the votes alone, at ``delta / 2``.
        delta : float
            Failure probability for each point.

        Returns
        -------
        lower, upper : ndarray
            Union bounds; the lower limit is 0.
        """
        # theorem: fresh-sample-point, sample-reuse
        changes = self._membership_limit(delta / 2.0)
        labels = flip_limits(
            label_law(self.stage.n_labels, self.stage.band),
            self.known.ones,
            self.known.label_thresholds,
            delta=delta / 2.0,
        )[1]
        upper = votes[1].copy()
        rows = np.flatnonzero(self.numbers >= 0)
        at = self.numbers[rows]
        upper[rows] = np.where(self.member[rows], labels[at], upper[rows]) + changes[at]
        upper[self.numbers < 0] += self._unknown_limit(delta / 2.0)
        return np.zeros(len(upper)), np.minimum(upper, 1.0)

    def _membership_limit(self, delta: float) -> NDArray[np.float64]:
        n, counts, needed = self.known.n, self.known.counts, self._needed()
        low, high = binomial_limits(counts, n, delta)
        leaves = binomial_cdf(needed - 1.0, n, low)
        joins = binomial_sf(needed - 1.0, n, high)
        return np.minimum(np.where(self.known.member, leaves, joins) * (1.0 + 1e-9), 1.0)

    def _unknown_limit(self, delta: float) -> float:
        """Chance to become a member for a point that was seen too seldom to be remembered."""
        n = self.known.n
        most = max(0, max(1, int(n * self.stage.low / _REMEMBERED)) - 1)
        high = float(binomial_limits(most, n, delta)[1])
        needed = np.ceil(n * self.stage.low * (1.0 - 1e-12))
        return float(binomial_sf(needed - 1.0, n, high)) * (1.0 + 1e-9)
