"""The heavy stage: points that occur often are labelled from their own labels, not by votes.

It exists for accuracy with high probability: a point of large mass must not depend on one
threshold. One sample serves membership, labels and votes (theorem: sample-reuse); members occur at
least n low times, so each of them has the k labels that the plan wants.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.guarantees import HeavyStage
from replearn.heavy.counting import PointIndex, by_frequency, count_points
from replearn.heavy.heavy_hitters import draw_members
from replearn.heavy.label_rule import count_labels, first_labels, label_points
from replearn.heavy.plain_values import plain_values, rows_of
from replearn.heavy.view import HeavyView, Known, Seen, fewest_remembered
from replearn.randomness import Points, SharedKey, as_points
from replearn.tables import import_pandas, take_rows


class HeavyPoints:
    """The heavy points of a fitted estimator.

    Parameters
    ----------
    known : Known
        All points that occur often enough to matter.
    stage : HeavyStage
        The plan's treatment of heavy points.
    classes : ndarray
        The labels.

    Attributes
    ----------
    points : container of rows
        The members, most frequent first.
    masses : ndarray of float
        Their frequencies in the training sample.
    labels : ndarray
        Their labels.
    shares : ndarray of float, shape (members, classes)
        Share of each class among the labels that were used.
    n_labels : int
        How many labels of each were used, k.
    """

    def __init__(self, known: Known, stage: HeavyStage, classes: NDArray[Any]) -> None:
        self._known = known
        self._stage = stage
        self._index = PointIndex(known.points)
        member = np.flatnonzero(known.member)
        self.points = take_rows(known.seen.values, member)
        self.masses = known.seen.counts[member] / known.seen.n
        self.labels = classes[known.rule.label_codes[member]]
        self.shares = known.rule.shares[member]
        self.n_labels = stage.n_labels

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"HeavyPoints({len(self)} points, mass {float(self.masses.sum()):.4g})"

    def frame(self) -> Any:
        """Return the members as a pandas DataFrame: features, mass and label."""
        rows = self.points.toarray() if hasattr(self.points, "toarray") else self.points
        if hasattr(rows, "columns"):
            rows = {name: list(rows[name]) for name in rows.columns}
        return import_pandas().DataFrame(rows).assign(mass=self.masses, label=self.labels)

    def to_state(self, decimals: int | None) -> dict[str, Any]:
        """Return the state as plain values, without the key and what follows from it."""
        seen = self._known.seen
        values = plain_values(seen.values, self._known.points, decimals)
        return {"values": values, "counts": seen.counts, "tallies": seen.tallies, "n": seen.n}

    @staticmethod
    def from_state(
        state: dict[str, Any],
        stage: HeavyStage,
        classes: NDArray[Any],
        key: SharedKey,
        decimals: int | None,
    ) -> HeavyPoints:
        """Build the stage again from `to_state` and the key."""
        seen = Seen(rows_of(state["values"]), state["counts"], state["tallies"], state["n"])
        return _decide(seen, stage, classes, key, decimals)

    def view(self, points: Points) -> HeavyView:
        """Return membership and labels of some points."""
        return HeavyView(self._known, self._stage, self._index.locate(points))


def fit_heavy(
    X: Any,
    codes: NDArray[np.intp],
    classes: NDArray[Any],
    stage: HeavyStage,
    key: SharedKey,
    decimals: int | None,
) -> HeavyPoints:
    """Find the heavy points of the planned rows and label them; codes are indices into ``classes``.

    >>> X, y = np.repeat([[1.0], [2.0]], [60, 40], axis=0), np.repeat([0, 1], [60, 40])
    >>> stage = HeavyStage(low=0.2, high=0.3, n_labels=20)
    >>> heavy = fit_heavy(X, y, np.array(["no", "yes"]), stage, SharedKey(0), None)
    >>> heavy.labels.tolist(), heavy.masses.tolist()
    (['no', 'yes'], [0.6, 0.4])
    """
    sample = as_points(X, decimals=decimals)
    counted = count_points(X, at_least=fewest_remembered(len(sample), stage), decimals=decimals)
    index = PointIndex(counted.points).locate(sample)
    labels = count_labels(codes, index, len(counted.counts), max(2, len(classes)))
    return heavy_from_counts(counted.values, labels, counted.n, classes, stage, key, decimals)


def heavy_from_counts(
    values: Any,
    label_counts: NDArray[np.int64],
    n: int,
    classes: NDArray[Any],
    stage: HeavyStage,
    key: SharedKey,
    decimals: int | None,
) -> HeavyPoints:
    """Label the points that occur often from counts alone.

    ``values`` are the distinct points that occur at least `fewest_remembered` times among n rows,
    ``label_counts`` say how often each has each label.

    >>> stage, names = HeavyStage(low=0.2, high=0.3, n_labels=20), np.array(["no", "yes"])
    >>> counts = np.array([[60, 0], [0, 40]])
    >>> values, key = np.array([[1.0], [2.0]]), SharedKey(0)
    >>> heavy = heavy_from_counts(values, counts, 100, names, stage, key, None)
    >>> heavy.labels.tolist(), heavy.masses.tolist()
    (['no', 'yes'], [0.6, 0.4])
    """
    order = by_frequency(as_points(values, decimals=decimals), label_counts.sum(axis=1))
    values = take_rows(values, order)
    label_counts = label_counts[order]
    counts = label_counts.sum(axis=1)
    points = as_points(values, decimals=decimals)
    # Points with fewer than k labels cannot be members; they have no label of their own.
    k = np.where(counts >= stage.n_labels, stage.n_labels, 0)
    seen = Seen(values, counts, first_labels(points, label_counts, k, key), n)
    return _decide(seen, stage, classes, key, decimals)


def _decide(
    seen: Seen, stage: HeavyStage, classes: NDArray[Any], key: SharedKey, decimals: int | None
) -> HeavyPoints:
    """Decide membership and labels by the shared random numbers."""
    points = as_points(seen.values, decimals=decimals)
    member, uniforms = draw_members(points, seen.counts, seen.n, stage.law, key)
    rule = label_points(points, seen.tallies, stage.n_labels, stage.band, classes, key)
    return HeavyPoints(Known(seen, points, member, uniforms, rule), stage, classes)
