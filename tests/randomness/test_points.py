import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from replearn.exceptions import UnsupportedValueError
from replearn.randomness.key import SharedKey
from replearn.randomness.points import LANES, Points, as_points, canonical_order

KEY = SharedKey("points")


def mixed_rows(n_rows, seed=0):
    generator = np.random.default_rng(seed)
    numbers = generator.normal(size=n_rows)
    whole = generator.integers(-5, 5, size=n_rows)
    colours = generator.choice(["red", "green", "blue"], size=n_rows)
    gaps = np.where(generator.random(n_rows) < 0.3, np.nan, numbers)
    return numbers.tolist(), whole.tolist(), colours.tolist(), gaps.tolist()


def test_one_table_in_many_containers():
    n_rows = LANES + 100  # two runs, the second shorter
    numbers, whole, colours, gaps = mixed_rows(n_rows)
    rows = list(zip(numbers, whole, colours, gaps, strict=True))
    columns = {"b_whole": whole, "d_gaps": gaps, "a_number": numbers, "c_colour": colours}
    frame = pd.DataFrame(columns)
    expected = KEY.hashes(rows)
    assert len(set(expected.tolist())) == n_rows
    for same in (
        np.array(rows, dtype=object),
        [list(row) for row in rows],
        frame,
        frame.astype({"c_colour": "category", "b_whole": "Int8", "d_gaps": "Float64"}),
        pl.DataFrame(columns),
        pl.DataFrame(columns, schema_overrides={"c_colour": pl.Categorical, "b_whole": pl.Int16}),
        pa.table(columns),
    ):
        assert (KEY.hashes(same) == expected).all(), type(same)


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("n_columns", [1, 2, 13, 14, 15, 16, 17, 33])
def test_arrays_and_sparse_rows_of_any_width(layout, n_columns):
    generator = np.random.default_rng(n_columns)
    dense = np.asarray(
        generator.normal(size=(50, n_columns)) * (generator.random((50, n_columns)) < 0.3),
        order=layout,
    )
    expected = KEY.hashes(dense.tolist())
    assert (KEY.hashes(dense) == expected).all()
    for kind in ("csr", "csc", "coo", "lil", "dok", "bsr"):
        assert (KEY.hashes(scipy.sparse.csr_array(dense).asformat(kind)) == expected).all()


def test_sparse_duplicates_are_summed():
    matrix = scipy.sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    assert (KEY.hashes(matrix) == KEY.hashes([[0, 3]])).all()
    rows = scipy.sparse.csr_array(([1.0, 2.0], [1, 1], [0, 2]), shape=(1, 2))
    assert (KEY.hashes(rows) == KEY.hashes([[0.0, 3.0]])).all()


def test_the_message_of_a_point():
    """Words of 8 bytes, then kinds two per byte: hashed here by the second implementation."""
    from siphash24 import siphash24

    from replearn.randomness.hashing import Purpose, derive

    for n_columns in (1, 3, 14, 15, 16, 31, 40):
        row = [f"text {i}" if i % 3 == 0 else None if i % 3 == 1 else i for i in range(n_columns)]
        words, kinds = as_points([row]).encoded()
        nibbles = [*kinds[0].tolist(), 0]
        packed = bytes(nibbles[i] | nibbles[i + 1] << 4 for i in range(0, n_columns, 2))
        message = words[0].astype("<u8").tobytes() + packed
        secret = derive(KEY._secret, Purpose.POINT)
        expected = int.from_bytes(siphash24(message, key=secret).digest(), "little")
        assert KEY.hashes([row])[0] == expected


def test_rows_of_different_width_differ():
    hashes = {int(KEY.hashes([[0] * width])[0]) for width in range(1, 80)}
    assert len(hashes) == 79


def test_kinds_are_part_of_the_point():
    as_integer = 2**62 + 1
    as_number = float(np.uint64(as_integer).view(np.float64))
    assert KEY.hashes([as_integer])[0] != KEY.hashes([as_number])[0]
    assert KEY.hashes([None])[0] != KEY.hashes([0])[0]
    assert KEY.hashes([[None, 0]])[0] != KEY.hashes([[0, None]])[0]


def test_columns_are_ordered_by_name_and_names_are_not_hashed():
    frame = pd.DataFrame({"b": [1, 2], "a": [3, 4]})
    assert (KEY.hashes(frame) == KEY.hashes([[3, 1], [4, 2]])).all()
    renamed = frame.rename(columns={"a": "x", "b": "y"})
    assert (KEY.hashes(frame) == KEY.hashes(renamed)).all()
    assert as_points(frame).names == ("a", "b")
    assert as_points(np.zeros((1, 2))).names == (0, 1)


def test_a_frame_made_from_an_array_keeps_its_order():
    array = np.random.default_rng(1).normal(size=(5, 12))
    frame = pd.DataFrame(array)
    as_text = frame.rename(columns=str)  # as after a trip through a text file
    assert (KEY.hashes(frame) == KEY.hashes(array)).all()
    assert (KEY.hashes(as_text) == KEY.hashes(array)).all()


def test_canonical_order():
    assert canonical_order(["B", "a", "é", "_", "10", 9, ("x", 1)]) == [5, 4, 6, 0, 3, 1, 2]


def test_index_of_a_frame_does_not_matter():
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "y"])
    assert (KEY.hashes(frame) == KEY.hashes([1, 2])).all()
    for column in (frame["a"], pd.Index([1, 2]), pd.array([1, 2]), pd.Categorical([1, 2])):
        assert (KEY.hashes(column) == KEY.hashes([1, 2])).all()


def frames(columns):
    return [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]


def test_take_equals_hashing_the_taken_rows():
    numbers, whole, colours, gaps = mixed_rows(300)
    columns = {"a": numbers, "b": whole, "c": colours, "d": gaps}
    rows = list(zip(numbers, whole, colours, gaps, strict=True))
    chosen = np.random.default_rng(3).integers(-300, 300, size=500)
    expected = KEY.hashes(rows)[chosen]
    dense = np.array([numbers, whole]).T
    sparse = scipy.sparse.csr_array(dense)
    for container in [rows, np.array(rows, dtype=object), *frames(columns)]:
        assert (KEY.hashes(as_points(container).take(chosen)) == expected).all()
    for container in (dense, sparse):
        points = as_points(container).take(chosen)
        assert (KEY.hashes(points) == KEY.hashes(dense[chosen])).all()


def test_take_by_mask_slice_and_twice():
    points = as_points(np.arange(10.0))
    everything = KEY.hashes(points)
    mask = np.arange(10) % 3 == 0
    assert (KEY.hashes(points.take(mask)) == everything[mask]).all()
    assert (KEY.hashes(points[2:7:2]) == everything[2:7:2]).all()
    assert (KEY.hashes(points[::-1].take([0, 1])) == everything[[9, 8]]).all()
    assert len(points.take([])) == 0
    assert (KEY.hashes(points.take(4)) == everything[[4]]).all()
    with pytest.raises(IndexError):
        points.take([10])


def test_beside_appends_columns():
    left, right = [[1, "a"], [2, "b"]], pl.Series("y", [True, None])
    together = as_points(left).beside(as_points(right))
    assert isinstance(together, Points)
    assert (KEY.hashes(together) == KEY.hashes([[1, "a", 1], [2, "b", None]])).all()
    swapped = together.take([1, 0])
    assert (KEY.hashes(swapped) == KEY.hashes(together)[::-1]).all()
    with pytest.raises(ValueError, match="2 and 3"):
        together.beside(as_points([1, 2, 3]))


@pytest.mark.parametrize("row", [0, 5, LANES - 1, LANES, LANES + 7])
def test_errors_name_column_and_row(row):
    array = np.zeros((LANES + 10, 3))
    array[row, 1] = np.inf
    with pytest.raises(UnsupportedValueError, match=f"X, column 1, row {row}: inf is infinite"):
        KEY.uniforms(array)
    frame = pd.DataFrame(array, columns=["x", "age", "z"])
    with pytest.raises(UnsupportedValueError, match=f"X, column 'age', row {row}: inf"):
        KEY.uniforms(frame)
    with pytest.raises(UnsupportedValueError, match=f"X, column 'age', row {row}: inf"):
        KEY.uniforms(frame.astype({"age": "category"}))
    with pytest.raises(UnsupportedValueError, match=f"X, column 'age', row {row}: inf"):
        KEY.uniforms(as_points(pl.from_pandas(frame)).take([1, row]))


def test_an_unused_category_can_do_no_harm():
    categories = pd.Categorical([1.0, 2.0], categories=[np.inf, 2.0, 1.0])
    assert (KEY.hashes(pd.Series(categories)) == KEY.hashes([1, 2])).all()


def test_masked_cells_hide_what_is_below_them():
    masked = np.ma.masked_array([[1.0, np.inf], [2.0, 3.0]], mask=[[False, True], [False, False]])
    assert (KEY.hashes(masked) == KEY.hashes([[1, None], [2, 3]])).all()


def test_no_rows():
    for nothing in ([], np.empty(0), np.empty((0, 3)), pd.DataFrame(), pl.DataFrame({"a": []})):
        assert len(as_points(nothing)) == 0
        assert KEY.uniforms(nothing).shape == (0,)
        assert KEY.order(nothing).shape == (0,)
        assert KEY.gumbels(nothing, [0, 1]).shape == (0, 2)


def test_a_numpy_matrix_is_its_array():
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1, 2], [3, 4]])
    assert (KEY.hashes(matrix) == KEY.hashes([[1, 2], [3, 4]])).all()


@pytest.mark.parametrize("method", ["uniforms", "hashes"])
def test_extra_memory_is_below_half_of_the_input(method):
    array = np.random.default_rng(0).normal(size=(200_000, 10))
    getattr(KEY, method)(array[:10])
    tracemalloc.start()
    getattr(KEY, method)(array)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.5 * array.nbytes


def test_the_input_is_left_alone():
    array = np.array([[-0.0, np.nan, 0.123456789]])
    before = array.tobytes()
    KEY.uniforms(array, decimals=2)
    KEY.uniforms(np.asfortranarray(array))
    assert array.tobytes() == before
    array.flags.writeable = False
    KEY.uniforms(array)


def test_a_row_of_a_mixed_frame_alone_has_the_hash_it_has_among_others():
    columns = {
        "b": [1.5, -0.0, float("nan")],
        "text": ["Ulm", None, ""],
        "a": [2.0, float("nan"), 3.0],
        "whole": [1, 2, 3],
        "flag": [True, False, True],
        "when": np.array(["2020-01-01", "NaT", "2021-05-06"], dtype="datetime64[us]"),
        "short": np.array([0.1, 0.2, 0.3], dtype=np.float32),
    }
    frame = pd.DataFrame(columns)
    frame["level"] = pd.Categorical(["x", "y", None])
    frame["known"] = pd.array([1, None, 3], dtype="Int64")
    frame["object"] = pd.Series(["u", 7, None], dtype=object)
    key = KEY
    for table in (frame, pl.DataFrame(columns)):
        together = key.hashes(as_points(table))
        alone = [key.hashes(as_points(table[row : row + 1]))[0] for row in range(3)]
        chosen = [key.hashes(as_points(table).take([row]))[0] for row in range(3)]
        assert together.tolist() == alone == chosen
    with pytest.raises(UnsupportedValueError, match="column 'b', row 0"):
        key.hashes(as_points(pd.DataFrame({"a": [1.0], "b": [np.inf], "c": [2.0]})))
