"""Rows of any container: kinds stay, layouts are canonical, nothing is imported for it."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from replearn.tables.rows import is_frame, n_rows, pad_rows, slice_rows, take_rows

ARRAY = np.arange(12.0).reshape(6, 2)
ROWS = np.array([4, 0, 4])


def as_array(X):
    if sparse.issparse(X):
        return X.toarray()
    return X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)


CONTAINERS = {
    "array": ARRAY,
    "fortran": np.asfortranarray(ARRAY),
    "reversed view": ARRAY[::-1][::-1],
    "pandas": pd.DataFrame(ARRAY, columns=["a", "b"], index=list("uvwxyz")),
    "polars": pl.DataFrame({"a": ARRAY[:, 0], "b": ARRAY[:, 1]}),
    "csr": sparse.csr_matrix(ARRAY),
    "csc": sparse.csc_array(ARRAY),
    "coo": sparse.coo_array(ARRAY),
    "list": ARRAY.tolist(),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_take_slice_and_pad_agree_with_numpy(name):
    X = CONTAINERS[name]
    assert n_rows(X) == 6
    np.testing.assert_array_equal(as_array(take_rows(X, ROWS)), ARRAY[ROWS])
    np.testing.assert_array_equal(as_array(slice_rows(X, 2, 5)), ARRAY[2:5])
    np.testing.assert_array_equal(as_array(pad_rows(X, 8)), ARRAY[[0, 1, 2, 3, 4, 5, 5, 5]])


@pytest.mark.parametrize("name", ["pandas", "polars", "list"])
def test_container_keeps_its_type(name):
    X = CONTAINERS[name]
    for taken in (take_rows(X, ROWS), slice_rows(X, 1, 3), pad_rows(X, 9)):
        assert type(taken) is type(X)


@pytest.mark.parametrize("name", ["array", "fortran", "reversed view"])
def test_arrays_come_out_c_contiguous(name):
    X = CONTAINERS[name]
    assert take_rows(X, ROWS).flags.c_contiguous
    assert slice_rows(X, 1, 4).flags.c_contiguous


@pytest.mark.parametrize("name", ["csr", "csc", "coo"])
def test_sparse_comes_out_as_csr(name):
    assert take_rows(CONTAINERS[name], ROWS).format == "csr"
    assert slice_rows(CONTAINERS[name], 1, 4).format == "csr"


def test_pandas_index_and_dtypes():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None]}, index=[7, 7, 9])
    taken = take_rows(frame, np.array([2, 0]))
    assert list(taken.index) == [0, 1]
    assert taken.dtypes.equals(frame.dtypes)


def test_frames():
    assert is_frame(CONTAINERS["pandas"])
    assert is_frame(CONTAINERS["polars"])
    assert not is_frame(ARRAY)
    assert not is_frame(CONTAINERS["pandas"]["a"])


def test_series_and_labels():
    assert list(take_rows(pd.Series(list("abc"), index=[5, 6, 7]), np.array([2, 0]))) == ["c", "a"]
    assert list(take_rows(pl.Series(list("abc")), np.array([2, 0]))) == ["c", "a"]


def test_refusals():
    with pytest.raises(TypeError, match="single value"):
        n_rows(np.float64(3.0))
    with pytest.raises(ValueError, match="cannot pad 6 rows to 5"):
        pad_rows(ARRAY, 5)


def test_polars_is_not_imported():
    # pandas is imported by scikit-learn itself where it is installed
    code = "import sys, replearn.tables; print('polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
