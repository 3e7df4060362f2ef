"""Any cell and any container: hash values that depend on the row alone, or a documented error."""

import datetime
import decimal
import fractions

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points

KEY = SharedKey("fuzz")
DOCUMENTED = (ValueError, TypeError)  # UnsupportedValueError is both
FEW = settings(deadline=None, suppress_health_check=list(HealthCheck))

cells = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary()),
    *(
        st.dates(),
        st.datetimes(),
        st.timedeltas(),
        st.decimals(),
        st.fractions(),
        st.complex_numbers(),
    ),
    st.sampled_from([np.nan, np.datetime64("NaT"), np.float32(1.5), np.int8(-1), object(), len]),
    st.sampled_from(["\ud800", "\0", "e\u0301", "\u00e9", 2**63, -(2**63) - 1, 2**64, -0.0]),
    st.recursive(
        st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=4
    ),
)


def hashes(rows, **options):
    return KEY.hashes(as_points(rows, **options))


def search(check, examples, *inputs):
    settings(FEW, max_examples=examples)(given(*inputs)(check))()


def object_table(rows):
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for place, row in enumerate(rows):
        for column, cell in enumerate(row):
            table[place, column] = cell
    return table


ROWS = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.lists(cells, min_size=d, max_size=d), min_size=1, max_size=6)
)


def check_rows(rows):
    table = object_table(rows)
    try:
        whole = hashes(table)
    except DOCUMENTED:
        return
    backwards = hashes(table[::-1])[::-1]
    assert (whole == backwards).all()
    for place in range(len(table)):
        try:
            alone = hashes(table[place : place + 1])
        except DOCUMENTED as error:  # a row that is refused alone is refused among others
            raise AssertionError(f"{table[place]!r} alone: {error}") from error
        assert alone[0] == whole[place]


def test_rows_of_any_cells():
    search(check_rows, 60, ROWS)


KINDS = [
    "?",
    "b",
    "u8",
    "i8",
    "f2",
    "f4",
    "f8",
    "c16",
    "U5",
    "S5",
    "M8[s]",
    "M8[ns]",
    "m8[D]",
    "V3",
    "O",
]


ARRAYS = (
    st.sampled_from(KINDS),
    st.lists(st.integers(0, 4), min_size=0, max_size=3),
    st.binary(min_size=0, max_size=200),
    st.one_of(st.none(), st.integers(-3, 20)),
)


def check_arrays(kind, shape, content, decimals):
    dtype = np.dtype(kind)
    size = int(np.prod(shape)) if shape else 1
    if kind == "O":
        array = np.array([content[:3]] * size, dtype=object).reshape(shape)
    else:
        raw = (
            content * (1 + size * dtype.itemsize // max(len(content), 1))
            + bytes(size * dtype.itemsize)
        )[: size * dtype.itemsize]
        array = np.frombuffer(raw, dtype=dtype).reshape(shape)
    try:
        found = hashes(array, decimals=decimals)
    except DOCUMENTED:
        return
    assert len(found) == len(array)
    assert (found == hashes(np.array(array, copy=True, order="F"), decimals=decimals)).all()


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_arrays_of_any_bytes():
    search(check_arrays, 60, *ARRAYS)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize(("check", "inputs"), [(check_rows, (ROWS,)), (check_arrays, ARRAYS)])
def test_many(check, inputs):
    search(check, 20_000, *inputs)


@pytest.mark.parametrize(
    "value", [decimal.Decimal("1.5"), fractions.Fraction(1, 2), datetime.time(1), 1j, object(), len]
)
def test_cells_without_a_canonical_form_are_refused_or_stable(value):
    table = object_table([[value], [value]])
    try:
        found = hashes(table)
    except DOCUMENTED:
        return
    assert found[0] == found[1]
