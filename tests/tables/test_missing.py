"""Cells that hold no value, one by one."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from replearn.tables.rows import is_nan

NAN = [float("nan"), np.float16("nan"), np.float32("nan"), np.float64("nan"), np.longdouble("nan")]


@pytest.mark.parametrize("cell", [*NAN, pd.NA], ids=lambda cell: type(cell).__name__)
def test_not_a_number(cell):
    assert is_nan(cell) is True


@pytest.mark.parametrize(
    "cell",
    [None, "nan", "", 0, 0.0, np.float32(1), True, np.inf, pd.NaT, np.datetime64("NaT"), (), b""],
    ids=repr,
)
def test_a_value_or_something_else(cell):
    assert is_nan(cell) is False


def test_decimals_are_no_real_numbers_for_python():
    assert is_nan(Decimal("nan")) is False
