"""How scores move: bands, stability index, ranks, top rows, calibration of both models."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from replearn.auditing._row_limits import Mask
from replearn.auditing._stability_index import StabilityIndex, band_edges, psi
from replearn.auditing._statistics import ReliabilityBin, reliability

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Migration:
    """Rows by the band of their old score (lines) and of their new one (columns).

    Parameters
    ----------
    edges : tuple of float
        Inner edges of the bands: tenths of the rows by the old scores.
    counts : tuple of tuple of int
        One line per old band, one column per new band.
    """

    edges: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def names(self) -> list[str]:
        """The bands in words."""
        ends = [0.0, *self.edges, 1.0]
        return [f"{low:.3g} to {high:.3g}" for low, high in pairwise(ends)]

    @property
    def same_band(self) -> float:
        """Share of rows that stay in their band."""
        counts = np.array(self.counts)
        return float(np.trace(counts) / counts.sum())


@dataclass(frozen=True)
class TopRows:
    """The rows with the highest scores: ``k`` of them, and the share that both lists have."""

    k: int
    overlap: float


@dataclass(frozen=True)
class Calibration:
    """Estimated and observed share of the positive label in bins of both models' scores."""

    a: tuple[ReliabilityBin, ...]
    b: tuple[ReliabilityBin, ...]


@dataclass(frozen=True)
class ScoreChanges:
    """What happens to the scores of a two-class model.

    Parameters
    ----------
    pos_label : str
        The label whose probability the scores are.
    mean_change, mean_absolute_change : float
        Mean of new minus old score, and of its absolute value.
    rank_correlation : float or None
        Spearman's, of old and new scores; None if one of them is constant.
    stability : StabilityIndex
        Of the new scores against the old ones. It compares two distributions, not rows: rows can
        exchange their scores while it is 0.
    migration : Migration
        Rows by old and new band.
    top : TopRows or None
        Overlap of the rows with the highest scores.
    calibration : Calibration or None
        Of both models, when the truth is known.
    """

    pos_label: str
    mean_change: float
    mean_absolute_change: float
    rank_correlation: float | None
    stability: StabilityIndex
    migration: Migration
    top: TopRows | None
    calibration: Calibration | None


def score_changes(
    scores: tuple[Floats, Floats], pos_label: str, events: Mask | None, top_k: int | None
) -> ScoreChanges:
    """Describe how scores move; ``events`` says which rows have the positive label.

    >>> scores = np.linspace(0, 1, 100)
    >>> found = score_changes((scores, scores**2), "yes", None, 10)
    >>> round(found.rank_correlation, 6), found.top.overlap, found.stability.size
    (1.0, 1.0, 'large')
    """
    old, new = scores
    counts = migration_counts(old, new, band_edges(old))
    edges = tuple(band_edges(old).tolist())
    index = psi(counts.sum(axis=0), counts.sum(axis=1))
    return ScoreChanges(
        pos_label=pos_label,
        mean_change=float((new - old).mean()),
        mean_absolute_change=float(np.abs(new - old).mean()),
        rank_correlation=_spearman(old, new),
        stability=StabilityIndex("scores", index, 0.0, len(counts)),
        migration=Migration(edges, tuple(map(tuple, counts.astype(int).tolist()))),
        top=None if top_k is None else TopRows(top_k, top_overlap(old, new, top_k)),
        calibration=None
        if events is None
        else Calibration(*(_calibration(side, events) for side in scores)),
    )


def migration_counts(old: Floats, new: Floats, edges: Floats) -> Floats:
    """Count rows by the bands of two scores.

    >>> migration_counts(np.array([0.1, 0.9]), np.array([0.7, 0.8]), np.array([0.5])).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    n_bands = len(edges) + 1
    before, after = (np.searchsorted(edges, side, side="right") for side in (old, new))
    counts = np.bincount(before * n_bands + after, minlength=n_bands**2)
    return counts.reshape(n_bands, n_bands).astype(np.float64)


def _spearman(old: Floats, new: Floats) -> float | None:
    ranks = [stats.rankdata(side) for side in (old, new)]
    if any(side.min() == side.max() for side in ranks):
        return None
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def top_overlap(old: Floats, new: Floats, k: int) -> float:
    """Share of the k rows with the highest old scores that are among those of the new ones.

    Of rows with equal scores at the end of a list, each counts with the chance that it has when
    the list is completed at random.

    >>> top_overlap(np.array([0.9, 0.8, 0.1]), np.array([0.9, 0.1, 0.8]), 2)
    0.5
    """
    return float((_top_chances(old, k) * _top_chances(new, k)).sum() / k)


def _top_chances(scores: Floats, k: int) -> Floats:
    """Chance of each row to be among the k highest, ties drawn at random."""
    last = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = scores > last
    tied = scores == last
    return above + tied * (k - np.count_nonzero(above)) / np.count_nonzero(tied)


def _calibration(scores: Floats, events: Mask) -> tuple[ReliabilityBin, ...]:
    edges = tuple(band_edges(scores).tolist())
    return reliability(scores, events.astype(np.float64), edges)
