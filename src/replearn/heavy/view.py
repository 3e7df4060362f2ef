"""Membership and labels of points in the heavy stage, and their flip probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from replearn.bounds import (
    binomial_cdf,
    binomial_limits,
    binomial_sf,
    false_member_bound,
    membership_flip_bound,
    missed_point_bound,
)
from replearn.guarantees import HeavyStage
from replearn.heavy.label_rule import Floats, LabelRule
from replearn.primitives import below_levels
from replearn.randomness import Points

# Points with fewer than this share of n low occurrences are not remembered.
_REMEMBERED = 8.0


def fewest_remembered(n: int, stage: HeavyStage) -> int:
    """Return how often a point must occur to be remembered."""
    return max(1, int(n * stage.low / _REMEMBERED))


class Seen(NamedTuple):
    """Counts and labels of points that occur often in the training sample, without the key."""

    values: Any
    counts: NDArray[np.int64]
    tallies: NDArray[np.int64]
    n: int


@dataclass(frozen=True, eq=False)
class Known:
    """The same with what follows from the key: members, their thresholds, labels."""

    seen: Seen
    points: Points
    member: NDArray[np.bool_]
    member_thresholds: Floats
    rule: LabelRule


@dataclass(frozen=True, eq=False)
class HeavyView:
    """Membership and labels of some points, row by row."""

    known: Known  # all points that occur often
    stage: HeavyStage
    numbers: NDArray[np.intp]  # which of the known points each row is, or -1

    @property
    def member(self) -> NDArray[np.bool_]:
        """Whether the point is heavy."""
        member = np.zeros(len(self.numbers), dtype=bool)
        known = self.numbers >= 0
        member[known] = self.known.member[self.numbers[known]]
        return member

    @property
    def rule(self) -> LabelRule:
        """How known points are labelled."""
        return self.known.rule

    def replace(self, column: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
        """Return a column of the votes with the members' values (one per known point) put in."""
        member = self.member
        result = column.copy()
        result[member] = values[self.numbers[member]]
        return result

    # -- a fresh sample, under this key ----------------------------------------------------------
    def flips(self, vote_chances: Floats, vote_predictions: NDArray[np.intp]) -> Floats:
        """Estimate the flip probability under this key: a fresh sample predicts another class.

        Membership and label of the fresh sample both count, each by its predictive probability;
        ``vote_chances`` are those of its votes, (n, classes).
        """
        chances = vote_chances.copy()
        rows = np.flatnonzero(self.numbers >= 0)
        at = self.numbers[rows]
        joins = self._joins()[at][:, np.newaxis]
        chances[rows] = joins * self.rule.chances()[at] + (1.0 - joins) * chances[rows]
        predictions = self.replace(vote_predictions, self.rule.label_codes)
        # The other classes are summed, so that tiny probabilities stay right.
        chances[np.arange(len(predictions)), predictions] = 0.0
        return np.asarray(chances.sum(axis=1))

    def _joins(self) -> Floats:
        """Predictive probability that each known point is a member in a fresh run."""
        n = self.known.seen.n
        counts = self.known.seen.counts.astype(float)
        needed = self._needed()
        # A fresh count is beta-binomial; at these sizes its normal approximation is as good.
        mean = n * (counts + 0.5) / (n + 1.0)
        spread = np.sqrt(np.maximum(mean * (1.0 - mean / n), 0.25) * 2.0)
        return special.ndtr((mean - needed + 0.5) / spread)

    def _needed(self) -> Floats:
        """Fewest occurrences that make each known point a member."""
        law = self.stage.law
        n = self.known.seen.n
        u = self.known.member_thresholds
        needed = np.ceil(n * law.frequency(u))
        for step in (1.0, 0.0):  # the table is rounded: move by one where that matters
            reached = below_levels(u, law.table(needed - step, n))
            needed = np.where(reached, needed - step, needed + (1.0 - step))
        return needed

    def limits(self, votes: tuple[Floats, Floats], delta: float) -> tuple[Floats, Floats]:
        """Return limits of the flip probability: membership plus label, or membership plus votes.

        Union bounds that fail with probability ``delta`` for each point, from the limits for the
        votes alone at ``delta / 2``; the lower limit is 0.
        """
        # theorem: fresh-sample-point, sample-reuse
        changes = self._membership_limit(delta / 2.0)
        labels = self.rule.limits(delta / 2.0)
        upper = votes[1].copy()
        rows = np.flatnonzero(self.numbers >= 0)
        at = self.numbers[rows]
        upper[rows] = np.where(self.member[rows], labels[at], upper[rows]) + changes[at]
        upper[self.numbers < 0] += self._unknown_limit(delta / 2.0)
        return np.zeros(len(upper)), np.minimum(upper, 1.0)

    def _membership_limit(self, delta: float) -> Floats:
        n = self.known.seen.n
        counts = self.known.seen.counts
        needed = self._needed()
        low, high = binomial_limits(counts, n, delta)
        leaves = binomial_cdf(needed - 1.0, n, low)
        joins = binomial_sf(needed - 1.0, n, high)
        return np.minimum(np.where(self.known.member, leaves, joins) * (1.0 + 1e-9), 1.0)

    def _unknown_limit(self, delta: float) -> float:
        """Chance to become a member for a point that was seen too seldom to be remembered."""
        n = self.known.seen.n
        most = max(0, fewest_remembered(n, self.stage) - 1)
        high = float(binomial_limits(most, n, delta)[1])
        needed = np.ceil(n * self.stage.low * (1.0 - 1e-12))
        return float(binomial_sf(needed - 1.0, n, high)) * (1.0 + 1e-9)

    # -- two fresh samples, averaged over keys ---------------------------------------------------
    def average_flips(self, vote_flips: Floats) -> Floats:
        """Estimate how likely two fresh samples predict differently, averaged over keys.

        Membership differs, or both are members and labels differ, or neither and votes do.
        """
        rows, at, numbers = self._known_points()
        result = vote_flips.copy()
        if not len(rows):
            return result
        seen = self.known.seen
        law = self.stage.law
        masses = (seen.counts[numbers] + 0.5) / (seen.n + 1.0)
        missed = np.array([missed_point_bound(seen.n, law, mass) for mass in masses])
        # 2 p (1 - p) for one threshold; concave, so the mean over thresholds is no larger.
        member = np.minimum(membership_flip_bound(seen.n, law), 2.0 * missed * (1.0 - missed))
        labels = self.rule.average_flips()[numbers]
        result[rows] = (member + (1.0 - missed) * labels)[at] + missed[at] * vote_flips[rows]
        return np.minimum(result, 1.0)

    def rate_limit(self, delta: float) -> float:
        """Upper limit of what membership and labels add to the flip rate over the points.

        That is the mean of P(membership differs) + P(heavy in both, labels differ), except with
        probability ``delta`` for all points together.
        """
        _, at, numbers = self._known_points()
        seen = self.known.seen
        law = self.stage.law
        bound = membership_flip_bound(seen.n, law)
        # The points are fixed, which of them are remembered is not: all share delta.
        part = delta / max(1, len(self.numbers))
        # theorem: fresh-sample-rate (section "heavy stage")
        low, high = binomial_limits(seen.counts[numbers], seen.n, part)
        joins = np.array([false_member_bound(seen.n, law, max(mass, 1e-300)) for mass in high])
        leaves = np.array([missed_point_bound(seen.n, law, max(mass, 1e-300)) for mass in low])
        each = np.minimum(np.minimum(2.0 * joins, 2.0 * leaves), bound)
        each = each + np.minimum(joins, 1.0) * self.rule.flip_bound
        unknown = np.count_nonzero(self.numbers < 0)
        total = each[at].sum() + unknown * self._unknown_rate(part, bound)
        return float(total / max(1, len(self.numbers)))

    def _unknown_rate(self, delta: float, bound: float) -> float:
        """Return the same for a point that was seen too seldom to be remembered."""
        joins = min(1.0, self._unknown_limit(delta))
        return float(min(2.0 * joins, bound) + joins * self.rule.flip_bound)

    def _known_points(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Rows of known points, their index among the distinct ones, and the distinct ones."""
        rows = np.flatnonzero(self.numbers >= 0)
        numbers, at = np.unique(self.numbers[rows], return_inverse=True)
        return rows, at, numbers
