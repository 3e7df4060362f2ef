"""The hypothesis class: what estimators use of it, and what each class has to define."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.paper.hypotheses._identity import as_identity, point_codes
from replearn.paper.hypotheses._inputs import (
    Floats,
    Integers,
    Labels,
    as_rows,
    as_sample,
    distinct_rows,
)
from replearn.paper.hypotheses.rules import BLOCK_CELLS, Rules


@dataclass(frozen=True, eq=False)
class Cover:
    """All dichotomies of a pool as a list of candidates: rules and identities, no labels.

    For every hypothesis of the class there is exactly one candidate that agrees with it on the
    whole pool. This is the cover of semi-replicable learning; two runs that share the pool
    share the list and the identities.

    Attributes
    ----------
    rules : Rules
        The candidates in canonical order; `rules.errors(X, y)` scores all of them.
    identity : uint32 array of shape (N, 4)
        What the dichotomy is: a function of the set of points labelled 1, whatever the order of
        the pool's rows. Key shared randomness by these numbers, never by the line number.
    """

    rules: Rules
    identity: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, index: int) -> Any:
        return self.rules[index]

    def errors(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Floats:
        """Return the weighted error rate of each candidate on a labelled sample."""
        return self.rules.errors(X, y, sample_weight)


@dataclass(frozen=True, eq=False)
class Dichotomies(Cover):
    """A block of dichotomies of a pool: some of the cover's candidates, with their labels.

    Attributes
    ----------
    labels : bool array of shape (k, n)
        One line for each dichotomy, one column for each row of the pool as it was given.
    """

    labels: Labels


class HypothesisClass(ABC):
    """A class of functions from rows to {0, 1}.

    Subclasses are frozen values. They define `n_features`, `vc_dimension`, `shattered_set`, the
    canonical enumeration `_rules` and the solver `_best`; everything else follows.

    Ties are broken in one way: among hypotheses of equal error, `erm` returns the one that comes
    first in the canonical order of `dichotomies`. That order depends on the set of points, not
    on the order of their rows.
    """

    document_kind: ClassVar[str] = "HypothesisClass"

    n_features: int

    @property
    @abstractmethod
    def vc_dimension(self) -> int:
        """Size of the largest set of points on which all labellings occur."""

    @abstractmethod
    def shattered_set(self) -> Floats:
        """Return `vc_dimension` points on which the class realises all labellings."""

    @abstractmethod
    def _rules(self, points: Floats, size: int) -> Iterator[Rules]:
        """Yield, in canonical order and at most about `size` at a time, one rule for each
        dichotomy of distinct, lexicographically sorted points.
        """  # noqa: D205

    @abstractmethod
    def _best(self, rows: Floats, gains: Integers) -> Any:
        """Return the first hypothesis whose labels collect the largest sum of gains."""

    def growth_bound(self, n_points: int) -> int:
        """Return an upper bound on the number of dichotomies of n points (Sauer's, or better).

        Examples
        --------
        >>> from replearn.paper.hypotheses import Intervals
        >>> Intervals().growth_bound(10)
        56
        """
        return sauer_bound(n_points, self.vc_dimension)

    def dichotomies(
        self, pool: ArrayLike, *, max_cells: int = BLOCK_CELLS
    ) -> Iterator[Dichotomies]:
        """Yield all dichotomies of a pool, each once, in canonical order, block by block.

        Parameters
        ----------
        pool : array of shape (n, n_features)
            Unlabelled rows; duplicates count once.
        max_cells : int
            Largest number of labels of a block, approximately, so that memory is bounded.

        Examples
        --------
        >>> from replearn.paper.hypotheses import Thresholds
        >>> (block,) = Thresholds(">").dichotomies([30, 50, 40])
        >>> [f"{rule}: {line}" for rule, line in zip(block.rules, block.labels.astype(int))]
        ['never: [0 0 0]', 'always: [1 1 1]', 'x0 > 35: [0 1 1]', 'x0 > 45: [0 1 0]']
        """
        if max_cells < 1:
            raise ValueError(f"max_cells is {max_cells}: give a positive number of labels")
        points, index = distinct_rows(as_rows(pool, self.n_features, "pool"))
        codes = point_codes(len(points))
        for rules in self._rules(points, max(1, max_cells // max(len(index), 1))):
            identity = as_identity(rules.sums(points, codes))
            yield Dichotomies(rules, identity, rules.predict(points)[:, index])

    def cover(self, pool: ArrayLike, *, max_candidates: int = 10**7) -> Cover:
        """Return one candidate for each dichotomy of the pool, with its identity.

        Parameters
        ----------
        pool : array of shape (n, n_features)
            Unlabelled rows that the runs share.
        max_candidates : int
            Largest number of candidates; a longer list raises a ValueError.

        Examples
        --------
        >>> from replearn.paper.hypotheses import Stumps
        >>> cover = Stumps(2).cover([[30, 0.5], [50, 0.1], [40, 0.9]])
        >>> len(cover), str(cover[int(cover.errors([[35, 0.2], [45, 0.3]], [0, 1]).argmin())])
        (8, 'x0 > 35')
        """
        points, _ = distinct_rows(as_rows(pool, self.n_features, "pool"))
        codes = point_codes(len(points))
        parts = []
        words = []
        count = 0
        for rules in self._rules(points, 2**16):
            parts.append(rules)
            words.append(rules.sums(points, codes))
            count += len(rules)
            if count > max_candidates:
                raise ValueError(
                    f"the pool of {len(points)} distinct rows has more than max_candidates = "
                    f"{max_candidates} dichotomies: take a smaller pool or a smaller class"
                )
        return Cover(type(parts[0]).join(parts), as_identity(np.concatenate(words)))

    def erm(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Return a hypothesis of smallest weighted error; exact, with ties by canonical order.

        Rows of weight zero are ignored. Weights are used as exact integers, so the result
        does not depend on the order of the rows.

        Examples
        --------
        >>> from replearn.paper.hypotheses import Thresholds
        >>> print(Thresholds().erm([20, 35, 48, 60, 70], [0, 0, 1, 1, 0]))
        x0 > 42
        """
        sample = as_sample(X, y, sample_weight, self.n_features)
        return self._best(sample.rows, sample.gains)

    def consistent(self, X: ArrayLike, y: ArrayLike) -> Any | None:
        """Return a hypothesis without error on the sample, or None if the class has none.

        Examples
        --------
        >>> from replearn.paper.hypotheses import Thresholds
        >>> print(Thresholds().consistent([20, 35, 48, 60], [0, 0, 1, 1]))
        x0 > 42
        >>> Thresholds().consistent([1, 2, 3], [0, 1, 0]) is None
        True
        """
        sample = as_sample(X, y, None, self.n_features)
        hypothesis = self._fitting(sample.rows, sample.gains)
        wrong = hypothesis.predict(sample.rows) != (sample.gains > 0) if sample.total else False
        return None if np.any(wrong) else hypothesis

    def shatters(self, points: ArrayLike) -> bool:
        """Return whether the class realises all labellings of these points.

        Examples
        --------
        >>> from replearn.paper.hypotheses import Intervals
        >>> Intervals().shatters([1, 2]), Intervals().shatters([1, 2, 3])
        (True, False)
        """
        distinct, index = distinct_rows(as_rows(points, self.n_features, "points"))
        if len(distinct) < len(index) or len(index) > self.vc_dimension:
            return False
        count = sum(len(rules) for rules in self._rules(distinct, BLOCK_CELLS))
        return count == int(2 ** len(index))

    def to_dict(self) -> dict[str, Any]:
        """Return the class as plain JSON data: its name and its parameters."""
        return {"class": type(self).__name__, **asdict(self)}  # type: ignore[call-overload]

    def _fitting(self, rows: Floats, gains: Integers) -> Any:
        """Return a hypothesis that is without error if the class has one."""
        return self._best(rows, gains)


def sauer_bound(n_points: int, vc_dimension: int) -> int:
    """Return the sum of C(n, i) over i <= d: no class has more dichotomies of n points.

    Examples
    --------
    >>> sauer_bound(10, 2)
    56
    """
    return sum(comb(n_points, i) for i in range(min(vc_dimension, n_points) + 1))


def check_feature_count(n_features: int) -> None:
    """Raise unless the number of features is a positive integer."""
    if not isinstance(n_features, int | np.integer) or n_features < 1:
        raise ValueError(f"n_features is {n_features!r}: give a positive integer")
