"""Populations and base learners that are as bad for replicability as they can be.

Each entry is a distribution to draw from, a learner to put into the blocks, and a fixed point at
which two runs are compared. They attack the promise from different sides: votes at one half, votes
where a law's flip curve peaks, learners that ignore the data, rows that are all equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from replearn_lab.experiments.domain_size import MedianCut

Sample = tuple[NDArray[np.float64], NDArray[np.intp]]


class _BlockLearner(ClassifierMixin, BaseEstimator):
    """Predict one label for every point, by a rule that a subclass applies to the block."""

    def fit(self, X: Any, y: Any) -> _BlockLearner:
        """Apply the rule to the block."""
        self.classes_ = np.array([0, 1])
        self.label_ = int(self._rule(np.asarray(X), np.asarray(y)))
        return self

    def _rule(self, X: NDArray[Any], y: NDArray[np.intp]) -> int:
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Predict the block's label for every point."""
        return np.full(len(X), self.label_, dtype=np.intp)

    def __sklearn_tags__(self) -> Any:
        """Say that nothing good is to be expected: no warning is needed."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class FirstRowLearner(_BlockLearner):
    """Vote by the label of the first row: the least stable learner there is."""

    def _rule(self, X: NDArray[Any], y: NDArray[np.intp]) -> int:
        return y[0]


class ParityLearner(_BlockLearner):
    """Vote by the parity of the labels: every row of the block can turn the vote."""

    def _rule(self, X: NDArray[Any], y: NDArray[np.intp]) -> int:
        return y.sum() % 2


class MajorityLearner(_BlockLearner):
    """Vote by the majority of the labels, ties by the first row."""

    def _rule(self, X: NDArray[Any], y: NDArray[np.intp]) -> int:
        return y[0] if 2 * y.sum() == len(y) else 2 * y.sum() > len(y)


class SeededRowLearner(_BlockLearner):
    """Vote by the label of a row that the seed picks."""

    def __init__(self, random_state: int | None = None):
        self.random_state = random_state

    def _rule(self, X: NDArray[Any], y: NDArray[np.intp]) -> int:
        return y[np.random.default_rng(self.random_state).integers(len(y))]


class CoinLearner(SeededRowLearner):
    """Ignore the data and throw a coin with the given seed."""

    def _rule(self, X: NDArray[Any], y: NDArray[np.intp]) -> int:
        return int(np.random.default_rng(self.random_state).integers(2))


class ConstantLearner(_BlockLearner):
    """Ignore the data and always predict 1."""

    def _rule(self, X: NDArray[Any], y: NDArray[np.intp]) -> int:
        return 1


class NearestRowLearner(ClassifierMixin, BaseEstimator):
    """Predict the label of the nearest row (first feature)."""

    def fit(self, X: Any, y: Any) -> NearestRowLearner:
        """Keep the rows."""
        self.classes_ = np.array([0, 1])
        self.rows_ = np.asarray(X)[:, 0]
        self.labels_ = np.asarray(y)
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Predict class labels."""
        return self.labels_[np.abs(np.asarray(X)[:, :1] - self.rows_).argmin(axis=1)]


@dataclass(frozen=True)
class Population:
    """A distribution, a base learner and a point to attack.

    Parameters
    ----------
    name : str
        What it attacks.
    draw : callable of (Generator, int) to (X, y)
        Draws a sample.
    learner : classifier
        The base learner.
    point : tuple of float
        Where two runs are compared.
    """

    name: str
    draw: Callable[[np.random.Generator, int], Sample]
    learner: Any
    point: tuple[float, ...] = (0.0, 0.0)


def biased_labels(q: float) -> Callable[[np.random.Generator, int], Sample]:
    """Labels 1 with probability q, whatever the features.

    Examples
    --------
    >>> biased_labels(1.0)(np.random.default_rng(0), 3)[1].tolist()
    [1, 1, 1]
    """

    def draw(rng: np.random.Generator, n: int) -> Sample:
        return rng.standard_normal((n, 2)), (rng.random(n) < q).astype(np.intp)

    return draw


def _equal_rows(rng: np.random.Generator, n: int) -> Sample:
    return np.ones((n, 2)), rng.integers(0, 2, n)


def _few_rows(rng: np.random.Generator, n: int) -> Sample:
    return rng.integers(0, 2, (n, 2)).astype(float), rng.integers(0, 2, n)


def _heavy_tails(rng: np.random.Generator, n: int) -> Sample:
    X = rng.standard_cauchy((n, 2))
    return X, (X[:, 0] > rng.standard_cauchy(n)).astype(np.intp)


def _continuous(rng: np.random.Generator, n: int) -> Sample:
    X = rng.standard_normal((n, 2))
    return X, (rng.random(n) < 1 / (1 + np.exp(-X[:, 0]))).astype(np.intp)


def adversarial_populations(peak: float) -> list[Population]:
    """Populations that attack the promise of a learner with two classes.

    Parameters
    ----------
    peak : float
        The position of the peak of the flip curve of the law: the probability of a vote for 1.

    Returns
    -------
    list of Population
        At least ten.

    Examples
    --------
    >>> len(adversarial_populations(0.3)) >= 10
    True
    """
    fair = biased_labels(0.5)
    return [
        Population("pure noise, majority", fair, MajorityLearner()),
        Population("votes at one half", fair, FirstRowLearner()),
        Population("votes at the peak of the flip curve", biased_labels(peak), FirstRowLearner()),
        Population("parity of the block", fair, ParityLearner()),
        Population("learner that ignores the data", fair, CoinLearner()),
        Population("constant learner", fair, ConstantLearner()),
        Population("row picked by the seed", fair, SeededRowLearner()),
        Population("imbalanced", biased_labels(0.02), FirstRowLearner()),
        Population("all rows equal", _equal_rows, FirstRowLearner(), (1.0, 1.0)),
        Population("four distinct rows", _few_rows, NearestRowLearner(), (1.0, 0.0)),
        Population("heavy tails", _heavy_tails, MedianCut(), (0.9, 0.0)),
        Population("continuous, nearest row", _continuous, NearestRowLearner()),
        Population("continuous, stump at its cut", _continuous, MedianCut(), (0.42, 0.0)),
    ]
