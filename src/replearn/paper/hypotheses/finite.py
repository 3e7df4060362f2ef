"""Any finite list of hypotheses: rules written by experts, fitted models, a vendor's scores."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from replearn.paper.hypotheses._inputs import (
    Floats,
    Indices,
    Integers,
    Labels,
    as_rows,
    distinct_rows,
)
from replearn.paper.hypotheses.base import HypothesisClass, check_feature_count
from replearn.paper.hypotheses.hypothesis import Predictor, canonical_text
from replearn.paper.hypotheses.rules import BLOCK_CELLS, ListedRules


@dataclass(frozen=True)
class FiniteClass(HypothesisClass):
    """A list of predictors of 0 and 1, whose order does not matter.

    The canonical order is by the labels on the pool. Hypotheses with equal labels are represented
    by the one with the alphabetically first description (or, for other predictors, which have no
    description, by the first of the list). So neither `dichotomies` nor a tie in `erm` depends on
    indices in the list.

    Parameters
    ----------
    hypotheses : sequence of Hypothesis or of objects with `predict`
        At least one. Predictions must be 0 and 1.
    n_features : int
        Number of columns.

    Examples
    --------
    >>> from replearn.paper.hypotheses import make_box
    >>> rules = FiniteClass([make_box([(0, cut, np.inf)]) for cut in (18, 40, 65)], n_features=1)
    >>> print(rules.erm([20, 35, 48, 60], [0, 0, 1, 1]).rule(["age"]))
    age > 40
    """

    hypotheses: Sequence[Predictor]
    n_features: int

    def __post_init__(self) -> None:
        check_feature_count(self.n_features)
        if len(self.hypotheses) == 0:
            raise ValueError("hypotheses is empty: give at least one")
        for index, hypothesis in enumerate(self.hypotheses):
            if not callable(getattr(hypothesis, "predict", None)):
                raise TypeError(f"hypotheses[{index}] is {hypothesis!r}, which has no predict(X)")
        object.__setattr__(self, "hypotheses", tuple(self.hypotheses))

    @property
    def vc_dimension(self) -> int:
        """An upper bound: log2 of the number of hypotheses, rounded down."""
        return len(self.hypotheses).bit_length() - 1

    def growth_bound(self, n_points: int) -> int:
        """Return the smaller of Sauer's bound and the number of hypotheses."""
        return min(len(self.hypotheses), super().growth_bound(n_points))

    def shattered_set(self, domain: ArrayLike | None = None) -> Floats:
        """Return a largest shattered subset of a finite domain, found by search.

        Examples
        --------
        >>> from replearn.paper.hypotheses import make_box
        >>> rules = FiniteClass([make_box([(0, cut, np.inf)]) for cut in (18, 40)], n_features=1)
        >>> rules.shattered_set([10, 30, 50])
        array([[30.]])
        """
        if domain is None:
            raise ValueError("domain is None: a finite list has no points of its own; give rows")
        points, _ = distinct_rows(as_rows(domain, self.n_features, "domain"))
        labels = self._listed.predict(points)
        return points[_largest_shattered(np.unique(labels, axis=0), [], 0, self.vc_dimension)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data; raises TypeError for predictors that are not hypotheses."""
        for hypothesis in self.hypotheses:
            if not hasattr(hypothesis, "to_dict"):
                raise TypeError(f"{hypothesis!r} has no to_dict(): only hypotheses can be written")
        listed = [hypothesis.to_dict() for hypothesis in self.hypotheses]  # type: ignore[attr-defined]
        return {"class": "FiniteClass", "hypotheses": listed, "n_features": self.n_features}

    @property
    def _listed(self) -> ListedRules:
        return ListedRules(tuple(self.hypotheses), self.n_features)

    def _rules(self, points: Floats, size: int) -> Iterator[ListedRules]:
        order = [index for _, _, index in sorted(self._descriptions(points).values())]
        for start in range(0, len(order), size):
            yield self._listed.take(np.array(order[start : start + size]))

    def _best(self, rows: Floats, gains: Integers) -> Any:
        sums = self._listed.sums(rows, gains)
        best = np.flatnonzero(sums == sums.max())
        points, _ = distinct_rows(rows)
        _, _, index = min(self._descriptions(points, best).values())
        return self.hypotheses[index]

    def _descriptions(
        self, points: Floats, indices: Indices | None = None
    ) -> dict[bytes, tuple[bytes, str, int]]:
        """Return, for each dichotomy, its labels and the text and index of its representative."""
        indices = np.arange(len(self.hypotheses)) if indices is None else indices
        by_labels: dict[bytes, tuple[bytes, str, int]] = {}
        step = max(1, BLOCK_CELLS // max(len(points), 1))
        for start in range(0, len(indices), step):
            block = indices[start : start + step]
            packed = np.packbits(self._listed.take(block).predict(points), axis=1)
            for index, line in zip(block.tolist(), packed, strict=True):
                labels = line.tobytes()
                mine = (labels, canonical_text(self.hypotheses[index]), index)
                by_labels[labels] = min(mine, by_labels.get(labels, mine))
        return by_labels


def _largest_shattered(labels: Labels, chosen: list[int], start: int, limit: int) -> list[int]:
    """Extend a shattered set of columns as far as possible; depth first, subsets are shattered."""
    best = chosen
    for column in range(start, labels.shape[1]):
        if len(best) == limit:
            break
        extended = [*chosen, column]
        if len(np.unique(labels[:, extended], axis=0)) == 2 ** len(extended):
            candidate = _largest_shattered(labels, extended, column + 1, limit)
            best = max(best, candidate, key=len)
    return best
