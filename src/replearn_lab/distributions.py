"""Hard distributions of the paper, with everything known about them.

Labels are 0 and 1 as in scikit-learn; a bias is the mean of the label read as -1 or +1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.records.checks import check_count, check_fraction

Floats = NDArray[np.float64]
Sample = tuple[Floats, NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class PlantedCoins:
    """Finitely many points, each labelled by a coin of its own."""

    points: Floats  # one row each
    biases: Floats  # mean of the label -1 or +1 of each point
    masses: Floats  # probability of each point

    def draw(self, rng: np.random.Generator, n: int) -> Sample:
        """Draw n labelled rows."""
        places = rng.choice(len(self.points), n, p=self.masses)
        return self.points[places], self.label(rng, places)

    def label(self, rng: np.random.Generator, places: NDArray[Any]) -> NDArray[np.intp]:
        """Throw the coins of the points at these places."""
        return (rng.random(len(places)) < (1.0 + self.biases[places]) / 2.0).astype(np.intp)

    def error(self, labels: ArrayLike) -> float:
        """Return the error of a rule, given by its labels of all points."""
        signs = 2.0 * np.asarray(labels, dtype=float) - 1.0
        return float(self.masses @ (1.0 - signs * self.biases) / 2.0)

    def excess(self, labels: ArrayLike) -> float:
        """Return by how much a rule errs more often than the best one."""
        return self.error(labels) - float(self.masses @ (1.0 - np.abs(self.biases)) / 2.0)

    def distance(self, labels: ArrayLike, others: ArrayLike) -> float:
        """Return the mass of the points on which two rules differ."""
        return float(self.masses @ (np.asarray(labels) != np.asarray(others)))


def numbered(d: int) -> Floats:
    """Return d points on a line, 0, ..., d - 1: the domain of all these distributions."""
    return np.arange(check_count("d", d), dtype=float)[:, np.newaxis]


def shattered(biases: ArrayLike) -> PlantedCoins:
    """Return the uniform distribution on a shattered set with planted coins."""
    given = np.asarray(biases, dtype=float)
    if np.any(np.abs(given) > 1.0):
        raise ValueError(f"biases must lie between -1 and 1, got {given.tolist()}.")
    return PlantedCoins(numbered(len(given)), given, np.full(len(given), 1.0 / len(given)))


@dataclass(frozen=True)
class RandomBias:
    """M_alpha: a coin whose bias is uniform in [-alpha, alpha]."""

    alpha: float

    def __post_init__(self) -> None:
        check_fraction("alpha", self.alpha)

    def draw(self, rng: np.random.Generator, size: int | None = None) -> Any:
        """Draw one bias, or several independent ones."""
        return rng.uniform(-self.alpha, self.alpha, size)


def realizable_coins(signs: ArrayLike, alpha: float) -> PlantedCoins:
    """Return the realizable hard distribution: point 0 has mass 1 - 100 alpha and label -1.

    The other points, one for each sign, share the mass 100 alpha evenly.
    """
    light = np.asarray(signs, dtype=float)
    if not 0.0 < 100.0 * alpha < 1.0:
        raise ValueError(f"alpha={alpha!r} must lie between 0 and 0.01: point 0 has 1 - 100 alpha.")
    masses = np.full(len(light) + 1, 100.0 * alpha / len(light))
    masses[0] = 1.0 - 100.0 * alpha
    return PlantedCoins(numbered(len(masses)), np.concatenate([[-1.0], light]), masses)


@dataclass(frozen=True, eq=False)
class Marginals:
    """A product of d coins: one sample is a vector of -1 and +1."""

    biases: Floats

    def draw(self, rng: np.random.Generator, n: int) -> NDArray[np.intp]:
        """Draw n vectors."""
        heads = rng.random((n, len(self.biases))) < (1.0 + self.biases) / 2.0
        return 2 * heads.astype(np.intp) - 1

    def loss(self, signs: ArrayLike) -> float:
        """Return mean |p_i| - v_i p_i: an alpha-accurate vector has at most alpha."""
        return float(np.mean(np.abs(self.biases) - np.asarray(signs) * self.biases))


@dataclass(frozen=True, eq=False)
class ThresholdsOnAxes:
    """Conjunctions of thresholds on [n]^d, seen through points on the axes.

    An axis is drawn evenly, then a number from 1 to n on it; the other coordinates are 0, which
    every threshold ``x <= t`` accepts. So the label is that of the axis's own threshold.
    """

    cuts: Floats  # the thresholds t_i, from 0 to n
    n: int  # largest coordinate

    @property
    def d(self) -> int:
        """Number of axes."""
        return len(self.cuts)

    def draw(self, rng: np.random.Generator, size: int) -> Sample:
        """Draw labelled points."""
        axes = rng.integers(0, self.d, size)
        values = rng.integers(1, self.n + 1, size)
        X = on_axes(axes, values, self.d)
        return X, (values <= self.cuts[axes]).astype(np.intp)

    def error(self, cuts: ArrayLike) -> float:
        """Return the error of the conjunction with other thresholds."""
        return float(np.mean(np.abs(np.asarray(cuts) - self.cuts)) / self.n)


def threshold_rows(rng: np.random.Generator, cut: float, n: int, domain: int) -> Sample:
    """Draw n numbers from 1 to ``domain``, labelled by one threshold."""
    values = rng.integers(1, domain + 1, n).astype(float)
    return values[:, np.newaxis], (values <= cut).astype(np.intp)


def on_axes(axes: NDArray[Any], values: ArrayLike, d: int) -> Floats:
    """Return points that are 0 but on one axis each."""
    X = np.zeros((len(axes), d))
    X[np.arange(len(axes)), axes] = values
    return X
