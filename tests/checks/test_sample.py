"""Transformers in front of the classifier: which are noticed, and what is not suspected."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
)

from replearn import PointwiseReplicableClassifier
from replearn.checks.sample import added, failed_by_sample, moments, scaler_mark
from replearn.exceptions import PreprocessingWarning

NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return np.exp(rng.normal(size=(500, 3))) @ rng.normal(size=(3, 3))


def said(X):
    """Everything that is said of a table."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        failed_by_sample(X, np.zeros(len(X) if isinstance(X, list) else X.shape[0]))
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(
    ("transformer", "name"),
    [
        (StandardScaler(), "a StandardScaler"),
        (MinMaxScaler(), "a MinMaxScaler"),
        (QuantileTransformer(n_quantiles=100), "a MinMaxScaler"),
        (MaxAbsScaler(), "a MaxAbsScaler"),
        (StandardScaler(with_mean=False), "a StandardScaler"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_marks_of_fitted_transformers(table, transformer, name, output):
    assert said(table) == []
    transformed = transformer.set_output(transform=output).fit_transform(table)
    with pytest.warns(PreprocessingWarning, match=f"^X looks as if {name}"):
        failed_by_sample(transformed, np.arange(500) % 2)


@pytest.mark.parametrize(
    "kind",
    [
        sparse.csr_matrix,
        sparse.coo_array,
        lambda rows: rows.astype(object),
        lambda rows: np.column_stack([np.full(len(rows), "x", dtype=object), rows.astype(object)]),
        lambda rows: pd.DataFrame(rows).astype(object),
        lambda rows: pd.DataFrame(rows).astype("double[pyarrow]"),
        lambda rows: pd.DataFrame(rows).astype(pd.SparseDtype(float)),
    ],
)
def test_other_tables_do_not_hide_the_mark(table, kind):
    assert "a StandardScaler had been" in said(kind(StandardScaler().fit_transform(table)))[0]
    assert "a MaxAbsScaler" in said(kind(MaxAbsScaler().fit_transform(table)))[0]
    assert not said(kind(table))


def test_constants_carry_no_mark():
    flags = np.random.default_rng(0).integers(0, 2, (300, 2))
    assert not said(np.full((300, 1), 1.5))
    assert not said(np.column_stack([flags, np.full(300, 0.1)]))


def test_rows_of_unit_length_carry_no_mark():
    rng = np.random.default_rng(0)
    words = rng.integers(0, 30, (2000, 2))
    texts = [f"w{one} w{two}" if one > two else f"w{one}" for one, two in words]
    assert not said(sparse.lil_matrix(rng.random((300, 4)) < 0.2))
    for norm in ("l1", "l2"):
        assert not said(HashingVectorizer(n_features=16, norm=norm).fit_transform(texts))


def test_new_rows_carry_no_mark(table):
    scaler = StandardScaler().fit(table[:250])
    assert said(scaler.transform(table[250:])) == []


def test_one_scaled_column_among_others_is_enough(table):
    frame = pd.DataFrame({"town": ["Ulm", "Bonn"] * 250, "age": table[:, 0], "dose": table[:, 1]})
    front = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["town"]), (StandardScaler(), ["age"])
    )
    with pytest.warns(PreprocessingWarning, match="a StandardScaler"):
        failed_by_sample(front.fit_transform(frame), np.arange(500) % 2)


def test_missing_values_do_not_hide_the_mark(table):
    gaps = np.where(np.random.default_rng(1).random(table.shape) < 0.1, np.nan, table)
    assert said(gaps) == []
    scaled = StandardScaler().fit_transform(gaps)
    for X in (
        scaled,
        pd.DataFrame(scaled).convert_dtypes(),
        pl.DataFrame(scaled, schema=NAMES).fill_nan(None),
    ):
        with pytest.warns(PreprocessingWarning, match="a StandardScaler"):
            failed_by_sample(X, np.arange(500) % 2)


@pytest.mark.parametrize(
    "X",
    [
        np.tile([[-1.0, 1.0], [1.0, -1.0]], (50, 1)),
        np.tile([[-1.0], [0.0], [1.0]], (50, 1)),
        np.tile([[0.0, 1.0], [1.0, 0.0]], (50, 1)),
        np.tile([[0.0], [0.0], [1.0], [2.0]], (50, 1)),
        np.ones((50, 2)),
        np.zeros((50, 0)),
        np.full((50, 2), np.nan),
        np.arange(100).reshape(50, 2),
        StandardScaler().fit_transform(np.arange(29.0)[:, np.newaxis]),
        load_iris().data,
        load_breast_cancer().data,
        ["a text", "another"] * 50,
    ],
    ids=[
        "balanced signs",
        "balanced levels",
        "indicators",
        "counts",
        "constants",
        "no columns",
        "nothing known",
        "integers",
        "few rows",
        "iris",
        "breast cancer",
        "texts",
    ],
)
def test_what_is_not_suspected(X):
    assert said(X) == []


def test_warnings_point_at_the_line_of_the_user(table):
    y = table[:, 0] > 0
    model = PointwiseReplicableClassifier(GaussianNB(), n_blocks=18, max_fits=18)
    with pytest.warns(PreprocessingWarning) as front:
        make_pipeline(StandardScaler(), model).fit(table, y)
    assert {caught.filename for caught in front} == {__file__}


def test_a_column_that_numbers_the_rows_is_found_in_any_order():
    rng = np.random.default_rng(0)
    numbered = np.column_stack([rng.random(99), rng.permutation(99) + 5])
    for X in (numbered, pd.DataFrame(numbered, columns=["a", "row"]), pl.DataFrame(numbered)):
        with pytest.warns(PreprocessingWarning, match="numbers the rows"):
            assert "numbers the rows" in failed_by_sample(X, np.arange(99) % 2)[0]
    for seed in range(200):
        draws = np.random.default_rng(seed).integers(0, 99, (99, 2))
        assert said(draws) == []


def test_moments_of_pieces_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(1e6, 1, 1000), rng.permutation(1000)])
    whole, parts = moments(X), added([moments(X[:100]), moments(X[100:])])
    for one, two in zip(whole, parts, strict=True):
        assert two.mean == pytest.approx(one.mean, rel=1e-14)
        assert two.std == pytest.approx(one.std, rel=1e-12)
        assert (one.low, one.high, one.n) == (two.low, two.high, two.n)
    assert parts[1].numbers_rows(1000)
    scaled = StandardScaler().fit_transform(X)
    assert scaler_mark(added([moments(scaled[:100]), moments(scaled[100:])])) == "a StandardScaler"
