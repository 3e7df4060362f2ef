"""The population stability index (PSI) of scores and, with reference rows, of columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._table import columns, factorize, is_numeric

Floats = NDArray[np.float64]
N_BANDS = 10
SMALL = 0.1
LARGE = 0.25
"""The usual marks: below the first a shift is called small, from the second on large."""

MAX_CATEGORIES = 50
"""Rarer categories are one category."""


@dataclass(frozen=True)
class StabilityIndex:
    """How far two distributions are apart.

    Parameters
    ----------
    name : str
        What was compared.
    psi : float
        Sum over bands of (share - reference share) * log(share / reference share).
    by_chance : float
        What two samples of one population of these sizes give on average: about
        (bands - 1) * (1 / n + 1 / m). 0 for two models on the same rows.
    n_bands : int
        Number of bands.
    """

    name: str
    psi: float
    by_chance: float
    n_bands: int

    @property
    def size(self) -> str:
        """The usual word: small, moderate or large."""
        return "small" if self.psi < SMALL else "moderate" if self.psi < LARGE else "large"


def psi(counts: Floats, reference: Floats) -> float:
    """Return the index of two lists of counts; an empty band counts as half a row.

    >>> round(psi(np.array([50.0, 50.0]), np.array([40.0, 60.0])), 4)
    0.0405
    """
    used = (counts > 0) | (reference > 0)
    shares = np.maximum(counts[used], 0.5) / counts.sum()
    others = np.maximum(reference[used], 0.5) / reference.sum()
    return float(((shares - others) * np.log(shares / others)).sum())


def band_edges(values: Floats, n_bands: int = N_BANDS) -> Floats:
    """Return the inner edges of bands with about equally many values.

    >>> band_edges(np.arange(100.0), 4).tolist()
    [25.0, 50.0, 75.0]
    """
    inner = np.linspace(0, 1, n_bands + 1)[1:-1]
    return np.unique(np.quantile(values, inner, method="higher"))


def band_counts(values: Floats, edges: Floats) -> Floats:
    """Count values in bands; an edge belongs to the band above it.

    >>> band_counts(np.array([0.1, 0.5, 0.9]), np.array([0.5])).tolist()
    [1.0, 2.0]
    """
    indices = np.searchsorted(edges, values, side="right")
    return np.bincount(indices, minlength=len(edges) + 1).astype(np.float64)


def column_shifts(X: Any, reference: Any) -> Iterator[StabilityIndex]:
    """Compare the columns of two samples of rows; bands are those of the reference.

    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> [(shift.name, shift.psi) for shift in column_shifts(X, X)]
    [('column 0', 0.0)]
    """
    others = dict(columns(reference))
    for name, values in columns(X):
        if name not in others:
            raise ValueError(f"reference has no column {name!r}; it has {list(others)[:20]}.")
        yield column_shift(name, values, others[name])


def column_shift(name: str, values: NDArray[Any], others: NDArray[Any]) -> StabilityIndex:
    """Compare the values of one column with those of the reference rows."""
    numeric = is_numeric(values) and is_numeric(others)
    counts, reference = _numbers(values, others) if numeric else _categories(values, others)
    n_bands = int(np.count_nonzero((counts > 0) | (reference > 0)))
    by_chance = (n_bands - 1) * (1 / len(values) + 1 / len(others))
    return StabilityIndex(name, psi(counts, reference), by_chance, n_bands)


def _numbers(values: NDArray[Any], others: NDArray[Any]) -> tuple[Floats, Floats]:
    """Count numbers in bands, and the missing ones in one of their own."""
    both = [part.astype(np.float64) for part in (values, others)]
    known = [part[~np.isnan(part)] for part in both]
    edges = band_edges(known[1]) if len(known[1]) else np.empty(0)
    counts, reference = (
        np.append(band_counts(some, edges), len(part) - len(some))
        for some, part in zip(known, both, strict=True)
    )
    return counts, reference


def _categories(values: NDArray[Any], others: NDArray[Any]) -> tuple[Floats, Floats]:
    names, codes = factorize(np.concatenate([values.astype(object), others.astype(object)]))
    counts, reference = (
        np.bincount(part, minlength=len(names)).astype(np.float64)
        for part in (codes[: len(values)], codes[len(values) :])
    )
    order = np.argsort(-reference, kind="stable")
    rare = order[MAX_CATEGORIES:]
    kept = order[:MAX_CATEGORIES]
    counts, reference = (np.append(part[kept], part[rare].sum()) for part in (counts, reference))
    return counts, reference
