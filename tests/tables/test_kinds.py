"""Money, percent and thousands separators: read cell by cell, and told."""

import polars as pl
import pytest

from replearn.tables.files import read_table
from replearn.tables.kinds import (
    cells_as,
    guess_kind,
    how_written,
    looks_like_amounts,
    read_numbers,
    typed_cells_as,
)

CELLS = {
    ("12,345", None): 12345.0,
    ("1,234,567.5", None): 1234567.5,
    ("-1,000", None): -1000.0,
    ("1 234 567", None): 1234567.0,
    ("1\u202f234", None): 1234.0,
    ("1'234.5", None): 1234.5,
    ("1.234.567", None): 1234567.0,
    ("1.234,5", None): 1234.5,
    ("1.234", None): 1.234,  # a decimal point, as ever
    ("1,23", None): None,
    ("0,123", None): None,
    ("12,34,567", None): None,
    ("1,2345", None): None,
    ("$5", None): None,
    ("12%", None): None,
    ("1e3", None): 1000.0,
    ("inf", None): None,
    ("$ 12,345.67", "$"): 12345.67,
    ("$.5", "$"): 0.5,
    ("-$ 5", "$"): -5.0,
    ("$-5", "$"): -5.0,
    ("(1,200.50)", "$"): -1200.5,
    ("5 $", "$"): 5.0,
    ("7", "$"): 7.0,
    ("€5", "$"): None,
    ("$", "$"): None,
    ("1.234,56 €", "€"): 1234.56,
    ("12,50 €", "€"): 12.5,
    ("USD 12", "USD"): 12.0,
    ("12.5 CHF", "CHF"): 12.5,
    ("12.3%", "%"): 0.123,
    ("12,5 %", "%"): 0.125,
    ("-3 %", "%"): -0.03,
    ("1,234%", "%"): 12.34,
    ("12", "%"): None,
    ("%", "%"): None,
}


@pytest.mark.parametrize(("cell", "mark"), CELLS, ids=str)
def test_a_cell_is_read_by_itself(cell, mark):
    expected = CELLS[cell, mark]
    assert read_numbers(pl.Series([cell]), mark).to_list() == [expected]
    beside = pl.Series(["1", cell, None, "x", "9,999"])
    assert read_numbers(beside, mark)[1] == expected, "it must not depend on other cells"


def test_kinds_are_guessed_and_kept():
    assert guess_kind(pl.Series(["1,200", "3"])) == "number"
    assert guess_kind(pl.Series(["£ 1,200", "3"])) == "number £"
    assert guess_kind(pl.Series(["$ 5", "€ 5"])) == "text"
    assert guess_kind(pl.Series(["1%", "2"])) == "text"
    assert guess_kind(pl.Series(["0,5", "0,7"])) == "text"
    assert cells_as(pl.Series(["€ 5", "$ 5"]), "number €").to_list() == [5.0, None]
    assert typed_cells_as(pl.Series([0.5]), "number %").to_list() == [0.5]
    assert typed_cells_as(pl.Series([5]), "number $").to_list() == [5.0]


def test_it_is_told():
    assert how_written(pl.Series(["5", "6"]), "number") is None
    assert how_written(pl.Series(["x"]), "text") is None
    assert "parts of one ('12.3%' is 0.123)" in how_written(pl.Series(["12.3%"]), "number %")
    assert looks_like_amounts(pl.Series(["5", "6"])) is None
    assert looks_like_amounts(pl.Series(["1%", "2"])) == "1%"


def test_files_with_money_and_percent(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        'fee,rate,pay,mixed\n"$ 12,345.67",12.3%,"1,000",$ 1\n$ 5.00,5%,20,€ 2\n', encoding="utf-8"
    )
    table = read_table(path)
    kinds = {"fee": "number $", "rate": "number %", "pay": "number", "mixed": "text"}
    assert table.columns == kinds
    assert table.frame.rows() == [(12345.67, 0.123, 1000.0, "$ 1"), (5.0, 0.05, 20.0, "€ 2")]
    assert [remark.split(" ")[1] for remark in table.remarks] == [
        *("'fee'", "'rate'", "'pay'", "'mixed'")
    ]
    other = tmp_path / "b.csv"
    other.write_text("fee,rate,pay,mixed\n€ 7,5%,1,x\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"no cell that is a number \$ \(the first: '€ 7'\)"):
        read_table(other, kinds)
