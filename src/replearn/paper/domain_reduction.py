"""From finite domains to all domains (``prop:domain-reduction-apx-repl``).

An estimator that keeps an approximate promise on every finite domain is run on n indices of a huge
imagined sample, of which only the rows that are asked for are ever drawn. Theory page: domain-
reduction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.bounds.numeric import round_up, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count, check_counts, check_fraction, check_positive

Draw = Callable[[np.random.Generator, int], tuple[NDArray[Any], NDArray[Any]]]


@theorem("domain-reduction")
def collision_bound(size: int, draws: int) -> float:
    """Bound the probability that this many independent indices are not all different.

    Returns ``draws (draws - 1) / (2 size)``, at most 1.

    >>> round(collision_bound(365, 10), 4)
    0.1233
    """
    check_counts(size=size, draws=draws)
    return upper_probability(draws * (draws - 1) / (2.0 * size))


@theorem("domain-reduction")
def reduced_disagreement(gamma: float, size: int, n: int, slack: float) -> float:
    """Disagreeing mass on the real domain.

    Returns ``gamma size / (size - 2 n) + slack`` for a disagreeing share gamma of the imagined
    sample.

    >>> round(reduced_disagreement(0.1, 10_000, 1000, 0.01), 6)
    0.135
    """
    check_fraction("gamma", gamma, zero=True)
    check_positive("slack", slack)
    rest = size - 2 * check_count("n", n)
    if rest <= 0:
        raise ValueError(f"size={size!r} must be above 2 n = {2 * n}.")
    return round_up(gamma * size / rest + slack)


@theorem("domain-reduction")
def reduced_failure(rho: float, size: int, n: int, slack: float) -> float:
    """Probability that two models disagree on more than `reduced_disagreement`.

    Returns ``rho + P(collision) + exp(-2 (size - 2 n) slack^2)``, cut at 1.

    >>> round(reduced_failure(0.05, 10**9, 1000, 0.01), 4)
    0.052
    """
    check_fraction("rho", rho, zero=True)
    check_positive("slack", slack)
    rest = size - 2 * check_count("n", n)
    if rest <= 0:
        return 1.0
    return upper_probability(
        rho + collision_bound(size, 2 * n) + math.exp(-2.0 * rest * slack * slack)
    )


class LazyDomain:
    """A finite domain of ``size`` rows, drawn from a distribution one by one when first asked for.

    A learner for finite domains runs on indices of this domain; the run uses as many rows of the
    distribution as it asks for different indices (theorem: domain-reduction).

    Parameters
    ----------
    draw : callable of (Generator, int) to (X, y)
        Draws rows of the distribution.
    size : int
        Number of rows of the imagined sample, N.
    rng : numpy Generator
        What the rows are drawn with.

    Attributes
    ----------
    n_drawn : int
        Rows drawn so far.

    Examples
    --------
    >>> def draw(rng, n):
    ...     return rng.random((n, 1)), rng.integers(0, 2, n)
    >>> domain = LazyDomain(draw, 10**12, np.random.default_rng(0))
    >>> indices = domain.sample_indices(np.random.default_rng(1), 5)
    >>> X, y = domain.rows(indices)
    >>> again, _ = domain.rows(indices[::-1])
    >>> X.shape, domain.n_drawn, bool((again == X[::-1]).all())
    ((5, 1), 5, True)
    """

    def __init__(self, draw: Draw, size: int, rng: np.random.Generator) -> None:
        self.size = check_count("size", size)
        self._draw = draw
        self._rng = rng
        self._indices: dict[int, int] = {}
        self._X: list[NDArray[Any]] = []
        self._y: list[NDArray[Any]] = []

    @property
    def n_drawn(self) -> int:
        """Rows drawn so far."""
        return len(self._indices)

    def sample_indices(
        self, rng: np.random.Generator, n: int, *, collision_free: bool = False
    ) -> NDArray[np.int64]:
        """Draw independent indices.

        Parameters
        ----------
        rng : numpy Generator
            What the indices are drawn with.
        n : int
            How many.
        collision_free : bool, default=False
            Draw until all are different and no row of the domain has been drawn for them before:
            then the rows are independent rows of the distribution.

        Returns
        -------
        ndarray of int
        """
        if not collision_free:
            return rng.integers(0, self.size, n)
        if n + self.n_drawn > self.size:
            raise ValueError(f"n={n!r} indices are not left among {self.size - self.n_drawn}.")
        fresh: dict[int, None] = {}
        while len(fresh) < n:
            for index in rng.integers(0, self.size, n - len(fresh)).tolist():
                if index not in self._indices:
                    fresh[index] = None
        return np.fromiter(fresh, dtype=np.int64, count=n)

    def rows(self, indices: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the rows of these indices, drawing those that were never asked for.

        Parameters
        ----------
        indices : ndarray of int
            Indices from 0 to ``size - 1``.

        Returns
        -------
        X, y : ndarray
            One row per index; equal indices give equal rows, in every call.
        """
        asked = [int(index) for index in np.asarray(indices).ravel()]
        if asked and not 0 <= min(asked) <= max(asked) < self.size:
            raise ValueError(f"indices must lie between 0 and size - 1 = {self.size - 1}.")
        fresh = list(dict.fromkeys(index for index in asked if index not in self._indices))
        if fresh:
            X, y = self._draw(self._rng, len(fresh))
            for index in fresh:
                self._indices[index] = len(self._indices)
            self._X += list(np.asarray(X))
            self._y += list(np.asarray(y))
        places = [self._indices[index] for index in asked]
        return np.array([self._X[i] for i in places]), np.array([self._y[i] for i in places])

    def collision_bound(self, n: int, runs: int = 2) -> float:
        """Probability that so many runs of n indices hit any index twice.

        Parameters
        ----------
        n : int
            Indices of one run.
        runs : int, default=2
            Number of runs.

        Returns
        -------
        float
        """
        return collision_bound(self.size, n * runs)  # theorem: domain-reduction
