"""Semi-private learning of conjunctions of thresholds, and the paper's two reductions from it.

A semi-private learner is a function of public rows, private rows and a random generator that
returns a classifier; it is private with respect to the private rows only. Thresholds accept small
numbers: ``x <= t``. Conjunctions are seen through points on the axes, as in
`replearn_lab.distributions.ThresholdsOnAxes`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from replearn.records.checks import check_count, check_positive
from replearn_lab.distributions import Sample, on_axes
from replearn_lab.learning import fit_quietly

SemiPrivateLearner = Callable[[Sample, Sample, np.random.Generator], Any]


@dataclass(frozen=True, eq=False)
class AxisCuts:
    """The conjunction ``x_i <= t_i`` of all axes."""

    cuts: NDArray[np.float64]

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Predict 1 where every coordinate is at most its cut."""
        accepted = np.asarray(X, dtype=float) <= self.cuts
        return np.asarray(accepted.all(axis=1), dtype=np.intp)


@dataclass(frozen=True)
class PublicCutsLearner:
    """Cuts at public points, chosen by their errors on the private rows: epsilon-private.

    On each axis the candidates are 0 and the public points of that axis; the exponential
    mechanism draws one with weights ``exp(-epsilon errors / 2)``. The draws of all axes together
    are the exponential mechanism on the sum of errors, which one private row moves by at most 1:
    the whole choice is epsilon-private.

    Parameters
    ----------
    epsilon : float
        Privacy of one private row.

    Examples
    --------
    >>> from replearn_lab.distributions import ThresholdsOnAxes
    >>> hard, rng = ThresholdsOnAxes(np.array([30.0, 60.0]), 100), np.random.default_rng(0)
    >>> model = PublicCutsLearner(1.0)(hard.draw(rng, 200), hard.draw(rng, 2000), rng)
    >>> hard.error(model.cuts) < 0.05
    True
    """

    epsilon: float

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon)

    def __call__(self, public: Sample, private: Sample, rng: np.random.Generator) -> AxisCuts:
        """Choose one cut for each axis."""
        P, _ = public
        X, y = private
        if (np.count_nonzero(X, axis=1) > 1).any():
            raise ValueError(
                "private rows must lie on the axes: only one coordinate may differ from 0."
            )
        d = X.shape[1]
        return AxisCuts(np.array([self._cut(P[:, i], X[:, i], y, rng) for i in range(d)]))

    def _cut(self, public: Any, private: Any, y: Any, rng: np.random.Generator) -> float:
        cuts = np.unique(np.concatenate([[0.0], public]))
        mine = private > 0
        values = private[mine]
        labels = y[mine].astype(bool)
        accepted = np.sort(values[labels])
        refused = np.sort(values[~labels])
        wrong = len(accepted) - np.searchsorted(accepted, cuts, "right")
        wrong = wrong + np.searchsorted(refused, cuts, "right")
        weights = -self.epsilon * wrong / 2.0 + rng.gumbel(size=len(cuts))
        return float(cuts[weights.argmax()])


def with_pool(estimator: Any) -> SemiPrivateLearner:
    """Return the learner that fits a clone of a classifier with ``fit(X, y, pool)``.

    Its pool are the public rows without their labels, its ``shared_key``, if it has one, comes from
    the generator. Whether it is private is the classifier's own matter.
    """

    def learn(public: Sample, private: Sample, rng: np.random.Generator) -> Any:
        model = clone(estimator)
        if "shared_key" in model.get_params(deep=False):
            model.set_params(shared_key=int(rng.integers(2**32)))
        return fit_quietly(model, *private, public[0])

    return learn


@dataclass(frozen=True)
class ThresholdFromConjunctions:
    """SemiPrivateHardnessAmplification: one threshold hides among d - 1 others of its kind.

    Parameters
    ----------
    learner : callable of (public, private, rng) to a classifier of d columns
        A semi-private learner of conjunctions.
    d : int
        Number of axes.

    Examples
    --------
    >>> amplified = ThresholdFromConjunctions(PublicCutsLearner(1.0), 3)
    >>> amplified.rows_of_learner(10, 200)
    (30, 600)
    """

    learner: SemiPrivateLearner
    d: int

    def __post_init__(self) -> None:
        check_count("d", self.d)

    def rows_of_learner(self, public: int, private: int) -> tuple[int, int]:
        """Return how many public and private rows the learner gets for so many of our own."""
        return self.d * public, self.d * private

    def __call__(
        self,
        public: Sample,
        private: Sample,
        fresh: Callable[[np.random.Generator], tuple[Sample, Sample]],
        rng: np.random.Generator,
    ) -> Any:
        """Learn one threshold from its public and private rows, of one column each.

        ``fresh`` draws public and private rows of another threshold of the same kind, as many.
        Returns a classifier of one column.
        """
        place = int(rng.integers(self.d))
        parts = [(public, private) if i == place else fresh(rng) for i in range(self.d)]
        lifted = [[(_lifted(X, i, self.d), y) for X, y in part] for i, part in enumerate(parts)]
        one, two = (_stacked(samples) for samples in zip(*lifted, strict=True))
        return OneAxis(self.learner(one, two, rng), place, self.d)


@dataclass(frozen=True, eq=False)
class OneAxis:
    """A classifier of d columns, seen on one axis."""

    model: Any
    place: int
    d: int

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Predict the points of one column."""
        return np.asarray(self.model.predict(_lifted(X, self.place, self.d)))


@dataclass(frozen=True)
class PrivateFromSemiPrivate:
    """A private learner out of a semi-private one: its public rows are all the same dummy.

    The learner is told that a row of the population is a dummy with probability
    ``1 - 1/(100 public)``; then its public rows say nothing about the rest, with probability 0.99.

    Parameters
    ----------
    learner : callable of (public, private, rng) to a classifier
        A semi-private learner.
    public, private : int
        Rows that it takes.

    Examples
    --------
    >>> reduced = PrivateFromSemiPrivate(PublicCutsLearner(1.0), public=5, private=20_000)
    >>> reduced.rows, reduced.error_factor
    (400, 500)
    """

    learner: SemiPrivateLearner
    public: int
    private: int

    def __post_init__(self) -> None:
        check_count("public", self.public)
        check_count("private", self.private)

    @property
    def rows(self) -> int:
        """Rows of the private learner: n_priv / (10 n_pub), rounded up."""
        return math.ceil(self.private / (10 * self.public))

    @property
    def error_factor(self) -> int:
        """How much larger the error of the private learner may be: 100 n_pub."""
        return 100 * self.public

    def __call__(self, sample: Sample, dummy: Any, rng: np.random.Generator) -> Any | None:
        """Learn privately; ``dummy`` is a row with its label. None if the rows did not suffice."""
        X, y = sample
        row = np.asarray(dummy[0], dtype=float)
        label = int(dummy[1])
        used = int(rng.binomial(self.private, 1.0 / (100 * self.public)))
        if used > min(len(y), self.rows):
            return None
        public = (np.tile(row, (self.public, 1)), np.full(self.public, label))
        rest = self.private - used
        mixed = (
            np.vstack([X[:used], np.tile(row, (rest, 1))]),
            np.concatenate([y[:used], np.full(rest, label)]),
        )
        return self.learner(public, mixed, rng)


def _lifted(X: Any, place: int, d: int) -> NDArray[np.float64]:
    values = np.asarray(X, dtype=float).ravel()
    return on_axes(np.full(len(values), place), values, d)


def _stacked(samples: Iterable[Sample]) -> Sample:
    X, y = zip(*samples, strict=True)
    return np.vstack(X), np.concatenate(y)
