"""What every hypothesis class accepts: finite rows, binary labels, non-negative weights."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
Labels = NDArray[np.bool_]

# Weights become integers whose total stays below 2**62: sums are then exact in int64.
WEIGHT_BITS = 62


def as_rows(X: ArrayLike, n_features: int, name: str = "X") -> Floats:
    """Return X as a finite float matrix with `n_features` columns.

    A one-dimensional array is one column of a class over one feature.
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.size == 0 and (rows.ndim < 2 or rows.shape[1] != n_features):
        rows = rows.reshape(0, n_features)
    if rows.ndim == 1 and n_features == 1:
        rows = rows[:, np.newaxis]
    if rows.ndim != 2 or rows.shape[1] != n_features:
        raise ValueError(
            f"{name} has shape {rows.shape}, but this class is over {n_features} feature(s): "
            f"give a matrix with {n_features} column(s)"
        )
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        raise ValueError(
            f"{name}[{row}, {column}] is {rows[row, column]}: a hypothesis needs finite values; "
            "impute or drop missing and infinite values first"
        )
    return rows + 0.0  # the two zeros of IEEE arithmetic are one value


def as_labels(y: ArrayLike, n_rows: int) -> Labels:
    """Return y as booleans; only the labels 0 and 1 are known here."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y has shape {labels.shape}: give one label for each of {n_rows} rows")
    if labels.dtype != np.bool_ and not np.isin(labels, (0, 1)).all():
        wrong = labels[~np.isin(labels, (0, 1))][0]
        raise ValueError(f"y contains {wrong!r}: encode the two classes as 0 and 1")
    return labels.astype(np.bool_)


def as_weights(sample_weight: ArrayLike | None, n_rows: int) -> Integers:
    """Return weights as integers, scaled by one power of two.

    Every later sum and comparison is then exact, so that neither the order of the rows nor
    rounding can decide a tie. Weights with up to about 60 bits between the total and the last
    digit of the smallest one are represented exactly.
    """
    if sample_weight is None:
        sample_weight = np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}: give one weight for each of {n_rows} rows"
        )
    if not (np.isfinite(weights) & (weights >= 0)).all():
        wrong = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise ValueError(f"sample_weight contains {wrong}: weights are finite and not negative")
    # Scaling by the largest weight first keeps the total finite.
    largest = int(np.frexp(weights.max(initial=0.0))[1])
    bits = WEIGHT_BITS - max(n_rows - 1, 0).bit_length()
    return np.rint(np.ldexp(weights, bits - largest)).astype(np.int64)


@dataclass(frozen=True)
class Sample:
    """A labelled sample as the solvers see it; rows of weight zero are gone.

    The gain of a row is its weight if it is labelled 1, and minus its weight otherwise. The error
    of a hypothesis is (positive - sum of the gains it labels 1) / total.
    """

    rows: Floats
    gains: Integers
    positive: int  # weight of the rows labelled 1
    total: int

    def errors(self, sums: Integers) -> Floats:
        """Turn sums of gains into weighted error rates (0 on an empty sample)."""
        return (self.positive - np.asarray(sums)) / max(self.total, 1)


def as_sample(
    X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, n_features: int
) -> Sample:
    """Check a labelled sample and turn its labels into gains."""
    rows = as_rows(X, n_features)
    labels = as_labels(y, len(rows))
    weights = as_weights(sample_weight, len(rows))
    present = weights > 0
    rows = rows[present]
    labels = labels[present]
    weights = weights[present]
    return Sample(
        rows=rows,
        gains=np.where(labels, weights, -weights),
        positive=int(weights[labels].sum()),
        total=int(weights.sum()),
    )


def distinct_rows(rows: Floats) -> tuple[Floats, Indices]:
    """Return the distinct rows in lexicographic order and, for each row, its index there.

    >>> points, index = distinct_rows(np.array([[2.0, 1.0], [1.0, 5.0], [2.0, 1.0]]))
    >>> points.tolist(), index.tolist()
    ([[1.0, 5.0], [2.0, 1.0]], [1, 0, 1])
    """
    order, new = sorted_rows(rows)
    index = np.empty(len(rows), dtype=np.intp)
    index[order] = np.cumsum(new) - 1
    return rows[order[new]], index


def sorted_rows(rows: NDArray[Any]) -> tuple[Indices, Labels]:
    """Return the stable lexicographic order of rows, and where in it a new row comes."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order, new


def sums_by_index(index: Indices, values: NDArray[Any], size: int | None = None) -> NDArray[Any]:
    """Return for each index the exact sum of the 64-bit integers that belong to it."""
    size = int(index.max()) + 1 if size is None else size
    sums = np.zeros((size, *values.shape[1:]), dtype=values.dtype)
    np.add.at(sums, index, values)
    return sums
