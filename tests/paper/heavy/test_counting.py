import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from replearn.exceptions import UnsupportedValueError
from replearn.paper.heavy_hitters import PointIndex, count_points
from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points


def as_dict(found):
    values = found.values
    rows = values.rows() if hasattr(values, "rows") else np.asarray(values).tolist()
    return {tuple(row): int(count) for row, count in zip(rows, found.counts, strict=True)}


@pytest.fixture(params=["polars", "numpy"])
def backend(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setitem(sys.modules, "polars", None)
    return request.param


def test_counts_are_those_of_a_dictionary(backend):
    X = np.random.default_rng(0).integers(0, 3, (500, 4)).astype(float)
    expected = {}
    for row in X.tolist():
        expected[tuple(row)] = expected.get(tuple(row), 0) + 1
    assert as_dict(count_points(X)) == expected
    heavy = {row: count for row, count in expected.items() if count >= 9}
    assert as_dict(count_points(X, at_least=9)) == heavy


def test_both_back_ends_give_the_same_order(monkeypatch):
    X = np.random.default_rng(1).integers(0, 4, (300, 2))
    first = count_points(X)
    monkeypatch.setitem(sys.modules, "polars", None)
    second = count_points(X[::-1])
    assert (first.values == second.values).all()
    assert (first.counts == second.counts).all()
    assert (np.diff(first.counts) <= 0).all()


def test_equal_values_are_one_point_whatever_their_sign_or_missing_marker(backend):
    X = np.array([[0.0, np.nan], [-0.0, np.nan], [0.0, 1.0]])
    found = count_points(X)
    assert found.counts.tolist() == [2, 1]


def test_nan_and_null_are_one_missing_value():
    frame = pl.DataFrame({"a": [1.0, 1.0, 1.0], "b": [None, float("nan"), 2.0]})
    assert count_points(frame).counts.tolist() == [2, 1]


def test_containers_agree(backend):
    X = np.random.default_rng(2).integers(0, 3, (200, 3)).astype(float)
    expected = sorted(count_points(X).counts.tolist())
    frame = pd.DataFrame(X, columns=list("abc"))
    for other in (frame, pl.from_pandas(frame), sparse.csr_array(X), X.tolist()):
        assert sorted(count_points(other).counts.tolist()) == expected


def test_text_and_decimals(backend):
    assert count_points(["a", "b", "a"]).counts.tolist() == [2, 1]
    assert count_points(np.array([[0.12], [0.1199999]]), decimals=2).counts.tolist() == [2]
    assert count_points(np.array([[0.12], [0.1199999]])).counts.tolist() == [1, 1]


def test_infinite_numbers_are_refused(backend):
    with pytest.raises(UnsupportedValueError):
        count_points(np.array([[1.0], [np.inf]]))


def test_rows_that_share_a_hash_are_told_apart(monkeypatch):
    """Were all hashes equal, counting would still be exact."""
    monkeypatch.setitem(sys.modules, "polars", None)
    X = np.random.default_rng(3).integers(0, 2, (100, 3)).astype(float)
    expected = as_dict(count_points(X))
    monkeypatch.setattr(
        SharedKey, "hashes", lambda self, points, **_: np.zeros(len(points), np.uint64)
    )
    assert as_dict(count_points(X)) == expected


def test_empty_samples(backend):
    assert len(count_points(np.zeros((0, 2))).counts) == 0
    assert len(count_points(np.zeros((3, 2)), at_least=9).counts) == 0


def test_index_finds_points_exactly():
    known = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    index = PointIndex(as_points(known))
    asked = as_points(np.array([[5.0, 6.0], [1.0, 2.5], [1.0, 2.0]]))
    assert index.locate(asked).tolist() == [2, -1, 0]
    assert PointIndex(as_points(known[:0])).locate(asked).tolist() == [-1, -1, -1]


def test_index_does_not_trust_its_hash(monkeypatch):
    monkeypatch.setattr(
        SharedKey, "hashes", lambda self, points, **_: np.zeros(len(points), np.uint64)
    )
    known = np.array([[1.0], [2.0], [3.0]])
    index = PointIndex(as_points(known))
    assert index.locate(as_points(np.array([[3.0], [9.0], [1.0]]))).tolist() == [2, -1, 0]
