"""Numbers with thousands separators: read cell by cell."""

import polars as pl
import pytest

from replearn.tables.kinds import guess_kind, read_numbers

CELLS = {
    "12,345": 12345.0,
    "1,234,567.5": 1234567.5,
    "-1,000": -1000.0,
    "1 234 567": 1234567.0,
    "1\u202f234": 1234.0,
    "1'234.5": 1234.5,
    "1.234.567": 1234567.0,
    "1.234,5": 1234.5,
    "1.234": 1.234,  # a decimal point, as ever
    "1,23": None,
    "0,123": None,
    "12,34,567": None,
    "1,2345": None,
    "$5": None,
    "12%": None,
    "1e3": 1000.0,
    "inf": None,
}


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_is_read_by_itself(cell):
    assert read_numbers(pl.Series([cell])).to_list() == [CELLS[cell]]
    beside = pl.Series(["1", cell, None, "x", "9,999"])
    assert read_numbers(beside)[1] == CELLS[cell], "it must not depend on other cells"


def test_kinds_are_guessed():
    assert guess_kind(pl.Series(["1,200", "3"])) == "number"
    assert guess_kind(pl.Series(["$ 5", "$ 7"])) == "text"
    assert guess_kind(pl.Series(["0,5", "0,7"])) == "text"
