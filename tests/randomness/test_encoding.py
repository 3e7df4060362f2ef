"""The encoding depends on a cell's value alone: property tests against a model of 'same value'."""

import datetime
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

from replearn.exceptions import UnsupportedValueError
from replearn.randomness.encoding import encode_cell
from replearn.randomness.kinds import BadCellError, Kind
from replearn.randomness.points import as_points

UTC = datetime.UTC
# frames are slow to build, and what fails here fails for short columns
containers = settings(max_examples=25, deadline=None, derandomize=True)
values_only = settings(max_examples=120, deadline=None, derandomize=True)
finite = st.floats(allow_infinity=False, allow_nan=False)
numbers = st.floats(allow_infinity=False)
floats32 = st.floats(allow_infinity=False, width=32)
small_integers = st.integers(-3, 3)
near_limits = st.builds(
    lambda power, sign, offset: sign * 2**power + offset,
    st.sampled_from([0, 24, 52, 53, 54, 62, 63, 64, 65, 100]),
    st.sampled_from([-1, 1]),
    small_integers,
)
integers = st.one_of(small_integers, near_limits, st.integers(-(2**70), 2**70))
texts = st.one_of(st.sampled_from(["", "3", "nan", "None", "ä", "a\0"]), st.text(max_size=6))
instants = st.one_of(
    st.datetimes(),
    st.datetimes(
        min_value=datetime.datetime(1900, 1, 1),
        max_value=datetime.datetime(2100, 1, 1),
        timezones=st.sampled_from([UTC, datetime.timezone(datetime.timedelta(hours=-7))]),
    ),
)
missing_markers = st.sampled_from(
    [None, math.nan, pd.NA, pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT"), np.ma.masked]
)
cells = st.one_of(
    missing_markers,
    finite,
    integers,
    st.booleans(),
    texts,
    st.binary(max_size=4),
    instants,
    st.dates(),
    st.timedeltas(datetime.timedelta(days=-(10**8)), datetime.timedelta(days=10**8)),
    finite.map(np.float64),
    floats32.map(np.float32),
    st.integers(-128, 127).map(np.int8),
    st.integers(0, 2**64 - 1).map(np.uint64),
)


def meaning(value):
    """Say what a cell's value is, independently of the code under test."""
    if value is None or value is pd.NA or value is np.ma.masked or value != value:
        return "missing"
    if isinstance(value, str):
        return "text", value
    if isinstance(value, bytes):
        return "bytes", value
    if isinstance(value, datetime.timedelta):
        return "duration", value
    if isinstance(value, datetime.datetime):
        return "instant", value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, datetime.date):
        return "instant", datetime.datetime(value.year, value.month, value.day, tzinfo=UTC)
    return "number", Fraction(value.item() if isinstance(value, np.generic) else value)


def encoded(X, **options):
    """Return rows of (kind, word)."""
    words, kinds = as_points(X, **options).encoded()
    return [
        list(zip(row_kinds, row_words, strict=True))
        for row_kinds, row_words in zip(kinds.tolist(), words.tolist(), strict=True)
    ]


def column(X, **options):
    return [row[0] for row in encoded(X, **options)]


def assert_all_as(values, *containers):
    expected = [encode_cell(value) for value in values]
    for container in containers:
        assert column(container) == expected, type(container)


@values_only
@given(cells, cells)
def test_same_value_if_and_only_if_same_cell(first, second):
    assert (encode_cell(first) == encode_cell(second)) == (meaning(first) == meaning(second))


@values_only
@given(small_integers, st.sampled_from([int, float, np.int8, np.float32, np.uint8, np.float16]))
def test_a_number_has_no_type(value, number_type):
    if number_type is np.uint8:
        value = abs(value)
    assert encode_cell(number_type(value)) == encode_cell(value)


def test_three_is_three():
    threes = [3, 3.0, np.int8(3), np.float16(3), np.uint64(3), np.longdouble(3)]
    assert len({encode_cell(three) for three in threes}) == 1
    assert encode_cell(True) == encode_cell(1) == encode_cell(np.True_)
    assert encode_cell(-0.0) == encode_cell(0) == encode_cell(False)
    assert encode_cell("3") != encode_cell(3)
    assert encode_cell("") != encode_cell(None)
    assert encode_cell("a") != encode_cell(b"a")


@containers
@given(st.lists(cells, min_size=1, max_size=8))
def test_lists_and_object_arrays(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    assert_all_as(values, values, array, [[value] for value in values], tuple(values))


@containers
@given(st.lists(numbers, min_size=1, max_size=8))
def test_float_columns(values):
    array = np.array(values)
    assert_all_as(
        values,
        values,
        array,
        array.astype(">f8"),
        np.repeat(array, 3)[::3],
        array.astype(object),
        np.ma.masked_array(array, mask=np.isnan(array)),
        pd.Series(values, dtype=float),
        pd.Series(values, dtype="Float64"),
        pd.Series(values, dtype="double[pyarrow]"),
        pd.Series(values).astype("category"),
        pd.DataFrame({"x": values}),
        pl.Series(values, dtype=pl.Float64),
        pl.DataFrame({"x": values}).fill_nan(None),
        pa.table({"x": values}),
        scipy.sparse.csr_array(array.reshape(-1, 1)),
        scipy.sparse.coo_matrix(array.reshape(-1, 1)),
    )


@containers
@given(st.lists(floats32, min_size=1, max_size=8))
def test_float32_columns_hold_the_values_they_hold(values):
    array = np.array(values, dtype=np.float32)
    assert_all_as(
        values,
        array,
        pd.Series(array),
        pd.Series(array, dtype="Float32"),
        pl.Series(array),
        pa.table({"x": array}),
        scipy.sparse.csr_array(array.reshape(-1, 1)),
    )


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64"])
@settings(containers, max_examples=10)  # for each type; the limits have a test of their own
@given(data=st.data())
def test_integer_columns(name, data):
    limits = np.iinfo(name)
    in_range = st.one_of(small_integers, near_limits, st.integers(int(limits.min), int(limits.max)))
    fitting = in_range.filter(lambda value: limits.min <= value <= limits.max)
    values = data.draw(st.lists(fitting, min_size=1, max_size=8))
    array = np.array(values, dtype=name)
    nullable = name.replace("u", "U").replace("int", "Int")
    assert_all_as(
        values,
        values,
        array,
        array.astype(array.dtype.newbyteorder(">")),
        array.astype(object),
        pd.Series(array),
        pd.Series(values, dtype=nullable),
        pd.Series(values, dtype=f"{name}[pyarrow]"),
        pd.Series(array).astype("category"),
        pl.Series(values, dtype=getattr(pl, nullable)),
        pa.table({"x": array}),
        scipy.sparse.csc_array(array.reshape(-1, 1)),
    )


@containers
@given(st.lists(st.one_of(st.none(), integers.filter(lambda i: -(2**63) <= i < 2**63)), min_size=1))
def test_integers_with_gaps_stay_exact(values):
    assert_all_as(
        values,
        pd.Series(values, dtype="Int64"),
        pd.Series(values, dtype="int64[pyarrow]"),
        pl.Series(values, dtype=pl.Int64),
        pa.table({"x": pa.array(values, type=pa.int64())}),
    )


@containers
@given(st.lists(st.one_of(st.none(), st.booleans()), min_size=1, max_size=8))
def test_boolean_columns(values):
    assert_all_as(
        values,
        pd.Series(values, dtype="boolean"),
        pd.Series(values, dtype="bool[pyarrow]"),
        pd.Series(values, dtype=object),
        pl.Series(values, dtype=pl.Boolean),
        pa.table({"x": pa.array(values, type=pa.bool_())}),
        pd.Series([None if value is None else int(value) for value in values], dtype="Int8"),
    )


storable = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@containers
@given(st.lists(st.one_of(st.none(), storable), min_size=1, max_size=8))
def test_text_columns(values):
    known = sorted({value for value in values if value is not None})
    assert_all_as(
        values,
        values,
        pd.Series(values, dtype=object),
        pd.Series(values, dtype="str"),
        pd.Series(values, dtype="string"),
        pd.Series(values, dtype="string[pyarrow]"),
        pd.Series(pd.Categorical(values, categories=known)),
        pd.Series(pd.Categorical(values, categories=known[::-1])),
        pl.Series(values, dtype=pl.String),
        pl.Series(values, dtype=pl.Categorical),
        pl.Series(values, dtype=pl.Enum(known)),
        pa.table({"x": pa.array(values, type=pa.string())}),
        pa.table({"x": pa.array(values, type=pa.string()).dictionary_encode()}),
    )


@containers
@given(st.lists(storable.map(lambda text: text.rstrip("\0")), min_size=1, max_size=8))
def test_numpy_text(values):
    assert_all_as(values, np.array(values), np.ma.masked_array(values, mask=False))


whole = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1))


@containers
@given(st.lists(st.one_of(st.none(), whole), min_size=1, max_size=8))
def test_instants_have_no_unit_and_no_zone(values):
    series = pd.Series(values, dtype="datetime64[us]")
    polars = pl.Series(values, dtype=pl.Datetime("us"))
    assert_all_as(
        values,
        values,
        np.array(values, dtype="datetime64[us]"),
        np.array(values, dtype="datetime64[us]").astype("datetime64[ns]"),
        np.array(values, dtype="datetime64[us]").astype(">M8[ns]"),
        series,
        series.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        series.astype("datetime64[ns]"),
        series.astype("timestamp[us][pyarrow]"),
        series.astype("category"),
        pd.Series(list(series), dtype=object),
        polars,
        polars.dt.cast_time_unit("ns"),
        polars.dt.replace_time_zone("UTC").dt.convert_time_zone("America/New_York"),
        pa.table({"x": pa.array(values, type=pa.timestamp("us"))}),
    )


@containers
@given(st.lists(st.one_of(st.none(), st.dates()), min_size=1, max_size=8))
def test_a_date_is_its_midnight(values):
    midnight = datetime.time()
    midnights = [value and datetime.datetime.combine(value, midnight) for value in values]
    assert_all_as(
        midnights,
        values,
        np.array(values, dtype="datetime64[D]"),
        np.array(values, dtype="datetime64[s]"),
        pl.Series(values, dtype=pl.Date),
        pl.Series(midnights, dtype=pl.Datetime("ms")),
        pa.table({"x": pa.array(values, type=pa.date32())}),
        pd.Series(np.array(values, dtype="datetime64[s]")),
    )


@containers
@given(
    st.lists(
        st.one_of(
            st.none(),
            st.timedeltas(datetime.timedelta(days=-(10**5)), datetime.timedelta(days=10**5)),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_durations(values):
    assert_all_as(
        values,
        values,
        np.array(values, dtype="timedelta64[us]"),
        pd.Series(values, dtype="timedelta64[ns]"),
        pd.Series(list(pd.Series(values, dtype="timedelta64[ns]")), dtype=object),
        pl.Series(values, dtype=pl.Duration("us")),
        pa.table({"x": pa.array(values, type=pa.duration("us"))}),
    )


def test_years_months_weeks_and_odd_units():
    assert column(np.array(["2020", "1970"], dtype="M8[Y]")) == column(
        np.array(["2020-01-01", "1970-01-01"], dtype="M8[D]")
    )
    assert column(np.array(["2020-03"], dtype="M8[M]")) == [encode_cell(datetime.date(2020, 3, 1))]
    assert column(np.array([2], dtype="m8[W]")) == [encode_cell(datetime.timedelta(days=14))]
    assert column(np.array([3], dtype="m8[25s]")) == [encode_cell(datetime.timedelta(seconds=75))]
    assert column(np.array([5000], dtype="m8[ps]")) == column(np.array([5], dtype="m8[ns]"))
    assert column(np.array(["NaT"], dtype="m8")) == [encode_cell(None)]
    odd = np.array([2**63 - 1 - 7, 2**61], dtype="m8[8ns]") // 125 * 125
    assert column(odd) == [encode_cell(value) for value in odd]
    huge = np.array([0, 1], dtype=f"m8[{2**31 - 1}W]")
    assert column(huge[:1]) == [encode_cell(datetime.timedelta())]
    with pytest.raises(UnsupportedValueError, match="row 1: more than 290,000 years"):
        column(huge)


def test_nanoseconds_are_kept():
    stamp = pd.Timestamp("2020-01-01 00:00:00.000000001")
    assert (
        encode_cell(stamp)
        == column(pd.Series([stamp]))[0]
        == column(pl.Series(np.array([stamp.to_datetime64()])))[0]
    )
    assert encode_cell(stamp) != encode_cell(stamp.floor("us"))
    assert encode_cell(pd.Timedelta(1, "ns")) == column(np.array([1], dtype="m8[ns]"))[0]


def test_far_instants_agree_across_units():
    sentinel = datetime.date(9999, 12, 31)
    expected = encode_cell(sentinel)
    assert expected[0] == Kind.FAR_INSTANT
    for unit in ("D", "h", "m", "s", "ms", "us"):
        near_and_far = np.array(["2020-01-01", sentinel], dtype=f"M8[{unit}]")
        assert column(near_and_far) == [encode_cell(datetime.date(2020, 1, 1)), expected]


def test_float32_is_another_number_until_rounded():
    single, double = np.array([[0.1]], dtype=np.float32), np.array([[0.1]])
    assert encoded(single) != encoded(double)
    assert encoded(single, decimals=6) == encoded(double, decimals=6) == encoded([[0.1]])


@containers
@given(st.lists(finite, min_size=1, max_size=8), st.integers(0, 15))
def test_decimals_round_alike_everywhere(values, decimals):
    expected = column(np.array(values), decimals=decimals)
    mixed = [*values, "text"]
    assert column(values, decimals=decimals) == expected
    assert column(mixed, decimals=decimals)[:-1] == expected
    assert column(pd.Series(values), decimals=decimals) == expected
    assert column(pl.Series(values), decimals=decimals) == expected
    small = np.abs(values) < 2**52
    by_numpy = column(np.round(np.where(small, values, 0.0), decimals))
    exactly = column(np.where(small, 0.0, values))
    assert expected == [by_numpy[i] if is_small else exactly[i] for i, is_small in enumerate(small)]


def test_decimals_leave_zero_unsigned_and_large_numbers_alone():
    assert column([-0.001], decimals=2) == column([0])
    assert column([1e300, float(2**60)], decimals=15) == column([1e300, 2**60])
    assert column([2**53 + 1, None, "x"], decimals=2) == column([2**53 + 1, None, "x"])


def test_kinds_of_large_integers():
    for exact in (2**53, 2**60, -(2**63), 2**64, 2**100):
        assert encode_cell(exact) == encode_cell(float(exact))
    assert encode_cell(2**53 + 1) == (Kind.INTEGER, 2**53 + 1)
    assert encode_cell(-(2**53) - 1) == (Kind.INTEGER, 2**64 - 2**53 - 1)
    assert encode_cell(2**63 + 1) == (Kind.LARGE_INTEGER, 2**63 + 1)
    assert encode_cell(2**64 + 1)[0] == Kind.HUGE_INTEGER
    assert encode_cell(-(2**63) - 1)[0] == Kind.HUGE_INTEGER
    assert encode_cell(10**400)[0] == Kind.HUGE_INTEGER


@pytest.mark.parametrize("name", ["int64", "uint64"])
def test_integer_arrays_at_the_limits(name):
    limits = np.iinfo(name)
    powers = [sign * 2**power for power in (0, 52, 53, 54, 62, 63, 64) for sign in (-1, 1)]
    around = [power + offset for power in powers for offset in (-1025, -2, -1, 0, 1, 2, 1025)]
    values = [value for value in around if limits.min <= value <= limits.max]
    assert_all_as(values, np.array(values, dtype=name), pl.Series(values, dtype=pl.Int128))


def test_a_missing_value_is_one_value_whatever_its_bits():
    strange = np.array([0x7FF0000000000001, 0xFFF8000000000123], dtype=np.uint64).view(np.float64)
    assert column(strange) == [encode_cell(None)] * 2


@pytest.mark.parametrize(
    "value",
    [
        math.inf,
        -math.inf,
        np.float32("inf"),
        1j,
        np.complex128(1),
        Fraction(1, 3),
        [1],
        (1, 2),
        {"a": 1},
        object(),
        datetime.time(1),
        pd.Period("2020"),
        pd.Interval(0, 1),
        np.datetime64(1, "as"),
        np.datetime64(2**62, "s"),
        np.timedelta64(1, "Y"),
        datetime.timedelta.max,
        np.longdouble(1) / 3 if np.finfo(np.longdouble).nmant > 52 else math.inf,
    ],
    ids=lambda value: "object" if type(value) is object else repr(value),
)
def test_no_canonical_value(value):
    with pytest.raises(BadCellError):
        encode_cell(value)
    with pytest.raises(UnsupportedValueError, match="X, column 0, row 1: "):
        column(["fine", value])
