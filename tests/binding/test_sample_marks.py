"""Transformers in front of the classifier: which are noticed, and what is not suspected."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from replearn import PointwiseReplicableClassifier, PreprocessingWarning
from replearn.binding.sample import sample_conditions
from replearn.learners.inputs import float_precision

NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return np.exp(rng.normal(size=(500, 3))) @ rng.normal(size=(3, 3))


def said(X):
    """Everything that is said of a table."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sample_conditions(X)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("encode", ["ordinal", "onehot", "onehot-dense"])
@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.filterwarnings("ignore:The current default behavior, quantile_method")
def test_bins_of_equal_counts_are_a_mark(encode, n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000 if n_columns == 1 else 500, n_columns))
    bins = KBinsDiscretizer(5, encode=encode).fit(X)
    with pytest.warns(PreprocessingWarning, match="a KBinsDiscretizer"):
        sample_conditions(bins.transform(X))
    assert not any("KBins" in text for text in said(bins.transform(rng.normal(size=X.shape))))
    classes = rng.integers(0, 5, size=X.shape).astype(float)
    assert said(classes) == []
    assert said(OneHotEncoder().fit_transform(classes)) == []


@pytest.mark.parametrize(
    ("transformer", "name"),
    [
        (StandardScaler(), "a StandardScaler"),
        (MinMaxScaler(), "a MinMaxScaler"),
        (QuantileTransformer(n_quantiles=100), "a MinMaxScaler"),
        (MaxAbsScaler(), "a MaxAbsScaler"),
        (RobustScaler(), "a RobustScaler"),
        (PCA(), "PCA, or another transformer"),
        (StandardScaler(with_std=False), "PCA, or another transformer"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_marks_of_fitted_transformers(table, transformer, name, output):
    assert said(table) == []
    transformed = transformer.set_output(transform=output).fit_transform(table)
    with pytest.warns(PreprocessingWarning, match=f"^X looks as if {name}"):
        sample_conditions(transformed)


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
        sample_conditions(front.fit_transform(frame))


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
            sample_conditions(X)


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


def test_precision_of_tables(table):
    short = table.astype(np.float32)
    assert float_precision(table) == np.float64
    assert float_precision(short) == np.float32
    assert float_precision(pd.DataFrame(short)) == np.float32
    assert float_precision(pl.DataFrame(short, schema=NAMES)) == np.float32
    assert float_precision(pd.DataFrame({"a": short[:, 0], "b": table[:, 0]})) == np.float32
    assert float_precision(pd.DataFrame({"a": ["x"], "b": [1]})) is None
    assert float_precision(["a text"]) is None


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda X: pl.DataFrame(X, schema=NAMES)])
def test_a_float32_frame_is_noticed(table, frame):
    y = table[:, 0] > 0
    model = PointwiseReplicableClassifier(GaussianNB(), n_blocks=18, max_fits=18)
    model.fit(frame(table), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame(table))
    with pytest.warns(PreprocessingWarning, match="X is float32"):
        model.predict(frame(table.astype(np.float32)))


def test_warnings_point_at_the_line_of_the_user(table):
    y = table[:, 0] > 0
    model = PointwiseReplicableClassifier(GaussianNB(), n_blocks=18, max_fits=18)
    with pytest.warns(PreprocessingWarning) as front:
        make_pipeline(StandardScaler(), model).fit(table, y)
    model.fit(table, y)
    with pytest.warns(PreprocessingWarning) as copy:
        model.predict(table.astype(np.float32))
    assert {caught.filename for caught in (*front, *copy)} == {__file__}
