"""Counts of values, piece by piece: as if all had been counted at once."""

import numpy as np
import pytest

from replearn.outofcore import ValueCounts


@pytest.mark.parametrize("n_values", [1, 80, 100, 101, 130, 1000, 5000])
@pytest.mark.parametrize("n_pieces", [1, 3, 7])
def test_counts_do_not_depend_on_the_pieces(n_values, n_pieces):
    rng = np.random.default_rng([n_values, n_pieces])
    values = rng.integers(0, 2**64, n_values, dtype=np.uint64)
    cells = rng.permutation(np.repeat(values, rng.integers(1, 9, n_values)))
    counted = ValueCounts(100)
    for piece in np.array_split(cells, n_pieces):
        counted.add(piece)
    n_halved = next(
        n for n in range(64) if np.sum(values <= np.uint64(2**64 - 1) >> np.uint64(n)) <= 100
    )
    found, counts = np.unique(cells, return_counts=True)
    kept = found <= np.uint64(2**64 - 1) >> np.uint64(n_halved)
    assert counted.n_rows == len(cells)
    assert counted.n_halved == n_halved
    assert np.array_equal(counted.hashes, found[kept])
    assert np.array_equal(counted.counts, counts[kept])
