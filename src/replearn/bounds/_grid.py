"""Values of the flip curve on a grid of q: quick estimates for searches, never a bound."""

import math
from collections.abc import Callable

import numpy as np

from replearn.bounds._binomial import Floats, distribution_functions, windows
from replearn.bounds._supremum import not_all_equal
from replearn.bounds.laws import ROUNDING, portable_arcsine

MATRIX_SIZE = 4_000_000
"""Most entries of a matrix of levels."""


def level_matrix(n_blocks: int, q: Floats, runs: int = 2) -> Floats:
    """Return 1 - F_k(q)^runs - (1 - F_k(q))^runs: one row per q, one column per count k < T."""
    matrix = np.zeros((len(q), n_blocks))
    for row, chance in enumerate(q):
        k = windows(n_blocks, np.array([chance]), np.array([chance]))
        matrix[row, k[0]] = not_all_equal(distribution_functions(n_blocks, q[[row]], k), runs)[0]
    return matrix


class GridEstimate:
    """Largest H over a grid of q, for many widths at once: never above the supremum."""

    def __init__(self, n_blocks: int, law: str, runs: int, density: int = 64) -> None:
        count = int(min(density * math.sqrt(n_blocks) + 64, MATRIX_SIZE / n_blocks))
        grid = np.sin(np.linspace(0.0, math.pi / 4.0, count + 1)[1:]) ** 2
        self.n_blocks = n_blocks
        self.levels = level_matrix(n_blocks, grid, runs)
        self.scale: Callable[[Floats], Floats] = (
            portable_arcsine if law == "arcsine" else np.positive
        )
        self.position = self.scale(2.0 * np.arange(n_blocks + 1) / n_blocks - 1.0)

    def largest_flips(self, widths: Floats, every: int = 1) -> Floats:
        """Return the largest H on (a part of) the grid for each width, with an unrounded table."""
        reach = 2.0 * self.scale(np.minimum(widths, 1.0))
        values = np.clip(0.5 + self.position / reach[:, np.newaxis], 0.0, 1.0)
        largest: Floats = (np.diff(values, axis=1) @ self.levels[::every].T).max(axis=1)
        return largest - ROUNDING
