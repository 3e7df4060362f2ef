"""Blocks: disjoint, equal, and a function of what the rows say, not of where they stand."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from replearn.execution.fitting import make_blocks
from replearn.randomness import points
from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points

KEY = SharedKey("partition tests")
RNG = np.random.default_rng(3)
X = RNG.normal(size=(103, 4))
Y = RNG.integers(0, 2, size=103)


def contents(blocks, X, y):
    return [[(tuple(X[row]), y[row]) for row in block] for block in blocks]


def test_blocks_are_disjoint_equal_and_drop_the_surplus():
    blocks = make_blocks(KEY, X, Y, 10, 10)
    assert [len(block) for block in blocks] == [10] * 10
    assert len(np.unique(np.concatenate(blocks))) == 100
    order = KEY.child("partition", 0).order(X, Y)
    np.testing.assert_array_equal(np.concatenate(blocks), order[:100])


def test_order_of_the_file_does_not_matter():
    shuffle = np.random.default_rng(4).permutation(len(X))
    moved = make_blocks(KEY, X[shuffle], Y[shuffle], 10, 10)
    assert contents(moved, X[shuffle], Y[shuffle]) == contents(make_blocks(KEY, X, Y, 10, 10), X, Y)


def test_equal_rows_may_swap_but_blocks_hold_the_same_content():
    twins = np.repeat(X[:30], 3, axis=0)
    labels = np.repeat(Y[:30], 3)
    shuffle = np.random.default_rng(4).permutation(len(twins))
    first = make_blocks(KEY, twins, labels, 5, 18)
    second = make_blocks(KEY, twins[shuffle], labels[shuffle], 5, 18)
    assert contents(first, twins, labels) == contents(second, twins[shuffle], labels[shuffle])


def test_key_partition_number_and_labels_matter():
    base = np.concatenate(make_blocks(KEY, X, Y, 10, 10))
    for other in (
        make_blocks(KEY, X, Y, 10, 10, partition=1),
        make_blocks(SharedKey("another"), X, Y, 10, 10),
        make_blocks(KEY, X, 1 - Y, 10, 10),
    ):
        assert not np.array_equal(base, np.concatenate(other))


@pytest.mark.parametrize("kind", ["int", "text"])
def test_groups_stay_together_and_blocks_have_equal_numbers_of_groups(kind):
    numbers = np.random.default_rng(5).integers(0, 23, size=len(X))
    groups = numbers if kind == "int" else np.array([f"patient {g}" for g in numbers], dtype=object)
    n_groups = len(np.unique(numbers))
    blocks = make_blocks(KEY, X, Y, 4, n_groups // 4, groups=groups)
    seen = [set(numbers[block]) for block in blocks]
    assert [len(groups_of_block) for groups_of_block in seen] == [n_groups // 4] * 4
    assert len(set.union(*seen)) == 4 * (n_groups // 4)
    for block, groups_of_block in zip(blocks, seen, strict=True):
        assert sum(np.isin(numbers, list(groups_of_block))) == len(block)


def test_groups_do_not_depend_on_the_order_of_the_file():
    groups = np.random.default_rng(5).integers(0, 23, size=len(X))
    shuffle = np.random.default_rng(4).permutation(len(X))
    first = make_blocks(KEY, X, Y, 4, 5, groups=groups)
    second = make_blocks(KEY, X[shuffle], Y[shuffle], 4, 5, groups=groups[shuffle])
    assert contents(first, X, Y) == contents(second, X[shuffle], Y[shuffle])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((11, 10), {}, "11 blocks of 10 rows need 110 rows, got 103"),
        ((0, 10), {}, "at least 1"),
        ((4, 5), {"groups": [1, 2]}, "2 entries for 103 rows"),
        ((4, 5), {"groups": [1] * 103}, "groups need 20 groups, got 1"),
        ((4, 5), {"groups": [[1]] * 103}, "one-dimensional"),
        ((4, 5), {"groups": [None] * 103}, "must not be missing"),
        ((4, 5), {"groups": [np.nan] * 103}, "must not be missing"),
    ],
)
def test_refusals(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        make_blocks(KEY, X, Y, *arguments, **options)


FRAME = pd.DataFrame(X, columns=list("dbca")).assign(
    town=pd.Series(["Ulm", None, "Bern"] * 35)[:103],
    kind=pd.Categorical(["x", "y", None] * 34 + ["x"]),
    day=pd.Timestamp("2026-01-05"),
    count=pd.array([1, None, 3] * 34 + [7], dtype="Int64"),
)
TABLES = {
    "numbers": X,
    "holes": np.where(X > 1, np.nan, X),
    "objects": FRAME[["town", "a"]].to_numpy(),
    "frame": FRAME,
    "sparse": sparse.csr_array(np.where(X > 1, X, 0.0)),
    "list": FRAME[["town", "a"]].to_numpy().tolist(),
    "masked": np.ma.masked_array(X, X > 1),
}


@pytest.mark.parametrize("decimals", [None, 2])
@pytest.mark.parametrize("name", TABLES)
def test_several_partitions_at_once_are_those_made_one_by_one(name, decimals):
    points = as_points(TABLES[name], decimals=decimals).take(np.arange(103)[::-1])
    groups = np.arange(103) // 2
    for options in ({}, {"groups": groups}):
        together = make_blocks(KEY, points, Y, 5, 6, partition=range(3), **options)
        alone = [make_blocks(KEY, points, Y, 5, 6, partition=j, **options) for j in range(3)]
        expected = [block.tolist() for blocks in alone for block in blocks]
        assert [block.tolist() for block in together] == expected


def test_cells_are_encoded_once_for_all_partitions(monkeypatch):
    calls, reader_of = [], points._pandas_reader

    def counting(series):
        read = reader_of(series)
        return lambda rows: calls.append(id(series)) or read(rows)

    monkeypatch.setattr(points, "_pandas_reader", counting)
    make_blocks(KEY, FRAME, Y, 5, 6, partition=range(4))
    assert len(calls) == len(set(calls)) == len(FRAME.columns)
