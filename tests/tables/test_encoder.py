"""The table encoder: learned in a block, row by row, whatever the frame."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from replearn.tables.encoder import TableEncoder

COLUMNS = {
    "who": "id",
    "age": "number",
    "town": "text",
    "since": "date d.m.y",
    "comment": "text",
}
FRAME = pl.DataFrame(
    {
        "who": ["a", "b", "c", "d"],
        "age": [20.0, None, 40.0, 60.0],
        "town": ["Ulm", "Rom", None, "Ulm"],
        "since": [dt.datetime(2024, 2, 29, 6), None, dt.datetime(1969, 12, 31), None],
        "comment": ["call me at once", "do not call me", None, "send the bill now"],
    }
)
WORDS = 65


def test_for_linear_models():
    table = TableEncoder(COLUMNS).fit_transform(FRAME)
    age = table[:, :2]
    assert age[1].tolist() == [0.0, 1.0]
    assert age[[0, 2, 3], 0].mean() == pytest.approx(0)
    assert table[:, 2:4].tolist() == [[0, 1], [1, 0], [0, 0], [0, 1]]
    assert table.shape == (4, 2 + 2 + 4 * 2 + WORDS)
    assert np.isfinite(table).all()


def test_for_trees():
    table = TableEncoder(COLUMNS, for_trees=True).fit_transform(FRAME)
    assert table.shape == (4, 1 + 1 + 4 + WORDS)
    assert table[0, :6].tolist() == [20.0, 1.0, 19782.25, 2.0, 3.0, 6.0]  # a Thursday
    assert table[2, 2:6].tolist() == [-1.0, 12.0, 2.0, 0.0]
    assert np.isnan(table[1, [0, 2, 3, 4, 5]]).all()
    assert np.isnan(table[2, 1])


def test_pandas_and_polars_agree():
    frame = FRAME.to_pandas()
    frames = [frame, frame.convert_dtypes(), FRAME]
    for trees in (False, True):
        encoder = TableEncoder(COLUMNS, for_trees=trees)
        one, two, three = (clone(encoder).fit_transform(each) for each in frames)
        np.testing.assert_array_equal(one, three)
        np.testing.assert_array_equal(two, three)


def test_new_values_do_not_break_it():
    encoder = TableEncoder(COLUMNS).fit(FRAME.drop_nulls("age"))
    new = FRAME.with_columns(town=pl.lit("Wien"))
    table = encoder.transform(new)
    assert np.isfinite(table).all()
    assert (table[:, 1] == 0).all()
    codes = TableEncoder(COLUMNS, for_trees=True).fit(FRAME).transform(new)
    assert (codes[:, 1] == -1).all()


def test_only_the_most_frequent_levels_count():
    towns = pl.DataFrame({"town": ["b", "b", "a", "a", "c"]})
    assert TableEncoder(most_levels=2).fit(towns).fitted_columns_[0]["levels"] == ["a", "b"]
    assert TableEncoder(most_levels=1).fit(towns).fitted_columns_[0]["levels"] == ["a"]


def test_what_it_learns_does_not_depend_on_the_order_of_rows():
    one = TableEncoder(COLUMNS).fit(FRAME).fitted_columns_
    two = TableEncoder(COLUMNS).fit(FRAME[::-1]).fitted_columns_
    assert one == two


def test_each_row_is_treated_on_its_own():
    encoder = TableEncoder(COLUMNS).fit(FRAME)
    whole = encoder.transform(FRAME)
    alone = np.vstack([encoder.transform(FRAME[row : row + 1]) for row in range(4)])
    np.testing.assert_array_equal(whole, alone)


def test_kinds_from_types():
    frame = FRAME.to_pandas().drop(columns="who")
    assert TableEncoder().fit(frame).transform(frame).shape == (4, 2 + 2 + 8 + WORDS)
    assert TableEncoder().fit(pd.DataFrame({"x": [True, False]})).transform(
        pd.DataFrame({"x": [True, True]})
    ).tolist() == [[1.0], [1.0]]


def test_constant_missing_and_huge_columns():
    frame = pl.DataFrame(
        {
            "a": [1.0, 1.0],
            "b": [None, None],
            "c": [1e308, -1e308],
            "d": pl.Series([None, None], dtype=pl.String),
        }
    )
    table = TableEncoder({"a": "number", "b": "number", "c": "number", "d": "text"}).fit_transform(
        frame
    )
    assert np.isfinite(table).all()
    codes = TableEncoder({"c": "number"}, for_trees=True).fit_transform(frame)
    assert np.isfinite(codes.astype(np.float32)).all()


def test_constants_are_centred():
    frame = pl.DataFrame({"year": [2013.0] * 7, "tenth": [0.1] * 7})
    assert np.abs(TableEncoder().fit_transform(frame)).max() < 1e-9


def test_a_table_of_ids_cannot_be_learned_from():
    with pytest.raises(ValueError, match="only ids"):
        TableEncoder({"who": "id"}).fit(FRAME)


@pytest.mark.parametrize("trees", [False, True])
def test_in_a_pipeline(trees):
    model = DecisionTreeClassifier() if trees else LogisticRegression()
    pipe = make_pipeline(TableEncoder(COLUMNS, for_trees=trees), model).fit(FRAME, [0, 1, 0, 1])
    assert pipe.predict(FRAME).shape == (4,)


@pytest.mark.parametrize(
    "column",
    [[np.nan] * 60, [None] * 60, pd.Series([pd.NaT] * 60, dtype="datetime64[ns]")],
    ids=["number", "text", "date"],
)
def test_trees_are_spared_columns_of_which_nothing_is_known(column):
    x = np.arange(60.0)
    table = pd.DataFrame({"x": x, "empty": column})
    model = make_pipeline(TableEncoder(for_trees=True), HistGradientBoostingClassifier())
    assert model.fit(table, x > 30).score(table, x > 30) > 0.9
    later = table.assign(empty=table["empty"].astype(object))
    assert model[0].transform(later).shape == (60, 1)
    # a linear model is told that cells are missing
    assert TableEncoder().fit(table).transform(table).shape[1] >= 1
    with pytest.raises(ValueError, match="nothing is known"):
        TableEncoder(for_trees=True).fit(table[["empty"]])


@pytest.mark.parametrize("for_trees", [False, True])
def test_learning_and_encoding_at_once_is_the_same(for_trees):
    for frame in (FRAME, FRAME.to_pandas()):
        at_once = TableEncoder(COLUMNS, for_trees=for_trees)
        table = at_once.fit_transform(frame)
        apart = TableEncoder(COLUMNS, for_trees=for_trees).fit(frame)
        assert apart.fitted_columns_ == at_once.fitted_columns_
        assert apart.transform(frame).tobytes() == table.tobytes()
