"""Many hypotheses at once, as arrays: predict, sum and compare without a Python loop."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.paper.hypotheses._inputs import Floats, Labels, as_labels, as_rows, as_sample
from replearn.paper.hypotheses._sums import box_sums, labelled_sums
from replearn.paper.hypotheses.hypothesis import Hypothesis, Predictor, make_box

# Cells of one block of predictions (hypotheses x rows): about 4 MB as booleans.
BLOCK_CELLS = 2**22
# Sums work on smaller blocks, which stay in the cache.
_SUM_CELLS = 2**18


class Rules(ABC):
    """A sequence of hypotheses over the same features: arrays with one line for each.

    `rules[i]` is a single frozen hypothesis; `rules.errors(X, y)` scores all of them without
    ever holding a matrix of all predictions.
    """

    n_features: int

    @abstractmethod
    def __getitem__(self, index: int) -> Any: ...

    def __len__(self) -> int:
        return len(self._arrays()[0])

    def _arrays(self) -> list[NDArray[Any]]:
        return [getattr(self, one.name) for one in fields(self)]  # type: ignore[arg-type]

    def take(self, rows: NDArray[Any] | slice) -> Self:
        """Return the rules at these indices."""
        return type(self)(*(array[rows] for array in self._arrays()))

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Return the rules of all parts, one after the other."""
        arrays = zip(*(part._arrays() for part in parts), strict=True)
        return cls(*map(np.concatenate, arrays))

    @abstractmethod
    def _labels(self, rows: Floats) -> Labels: ...

    def predict(self, X: ArrayLike) -> Labels:
        """Return the matrix of labels: one line for each rule, one column for each row of X."""
        return self._labels(as_rows(X, self.n_features))

    def sums(self, X: ArrayLike, values: NDArray[Any]) -> NDArray[Any]:
        """Return for each rule the sum of `values` over the rows that it labels 1.

        `values` are 64-bit integers of shape (n,) or (n, c); arithmetic is exact (modulo 2**64).
        """
        rows = as_rows(X, self.n_features)
        step = max(1, _SUM_CELLS // max(len(rows), 1))
        parts = [
            labelled_sums(self.take(slice(start, start + step))._labels(rows), values)
            for start in range(0, len(self), step)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, *values.shape[1:]), values.dtype)

    def errors(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Floats:
        """Return the weighted error rate of each rule on a labelled sample.

        Examples
        --------
        >>> rules = BoxRules(lower=np.array([[0.0], [1.5]]), upper=np.array([[9.0], [9.0]]))
        >>> rules.errors([1, 2, 3, 4], [0, 1, 1, 1]).tolist()
        [0.25, 0.0]
        """
        sample = as_sample(X, y, sample_weight, self.n_features)
        return sample.errors(self.sums(sample.rows, sample.gains))

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))


@dataclass(frozen=True, eq=False)
class BoxRules(Rules):
    """Axis-parallel boxes lower < x <= upper; infinite bounds are absent ones.

    Examples
    --------
    >>> rules = BoxRules(lower=np.array([[0.0], [1.5]]), upper=np.array([[9.0], [np.inf]]))
    >>> [str(rule) for rule in rules]
    ['0 < x0 <= 9', 'x0 > 1.5']
    """

    lower: Floats
    upper: Floats

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of columns."""
        return int(self.lower.shape[1])

    def __getitem__(self, index: int) -> Hypothesis:
        bounds = zip(self.lower[index].tolist(), self.upper[index].tolist(), strict=True)
        return make_box((feature, lower, upper) for feature, (lower, upper) in enumerate(bounds))

    def _labels(self, rows: Floats) -> Labels:
        inside = np.ones((len(self), len(rows)), dtype=bool)
        bounded = (self.lower > -np.inf) | (self.upper < np.inf)
        for feature in np.flatnonzero(bounded.any(axis=0)):
            concerned = bounded[:, feature]
            lower = self.lower[concerned, feature]
            upper = self.upper[concerned, feature]
            column = rows[:, feature]
            inside[concerned] &= (column > lower[:, None]) & (column <= upper[:, None])
        return inside

    def sums(self, X: ArrayLike, values: NDArray[Any]) -> NDArray[Any]:
        """Return for each box the sum of `values` inside it, by prefix sums where that is cheap."""
        rows = as_rows(X, self.n_features)
        sums = np.zeros((len(self), *values.shape[1:]), dtype=values.dtype)
        rest = box_sums(self.lower, self.upper, rows, values, out=sums)
        if rest.any():
            sums[rest] = Rules.sums(self.take(rest), rows, values)
        return sums


@dataclass(frozen=True, eq=False)
class ListedRules(Rules):
    """Any predictors, one after the other: hypotheses, fitted estimators, ...

    Examples
    --------
    >>> rules = ListedRules((make_box([(0, 1.5, np.inf)]),), n_features=1)
    >>> rules.predict([1, 2])
    array([[False,  True]])
    """

    predictors: tuple[Predictor, ...]
    n_features: int

    def __getitem__(self, index: int) -> Predictor:
        return self.predictors[index]

    def take(self, rows: NDArray[Any] | slice) -> Self:
        """Return the rules at these indices."""
        indices = np.arange(len(self))[rows]
        return type(self)(tuple(self.predictors[index] for index in indices), self.n_features)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Return the rules of all parts, one after the other."""
        listed = tuple(predictor for part in parts for predictor in part.predictors)
        return cls(listed, parts[0].n_features)

    def _labels(self, rows: Floats) -> Labels:
        labels = np.zeros((len(self), len(rows)), dtype=bool)
        if len(rows):
            for line, predictor in enumerate(self.predictors):
                labels[line] = as_labels(predictor.predict(rows), len(rows))
        return labels
