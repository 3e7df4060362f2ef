"""Files: kinds of columns, many formats, and messages that name the mistake."""

import datetime as dt
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest

from replearn import SharedKey
from replearn.tables.files import TableFileError, read_table

MIXED = pl.DataFrame(
    {
        "customer_id": [f"C{i:04d}" for i in range(80)],
        "age": [None if i % 9 == 0 else 20 + i % 50 for i in range(80)],
        "ratio": [i / 7 for i in range(80)],
        "town": [["Ulm", "Rom", "Bern"][i % 3] for i in range(80)],
        "postcode": [f"0{1000 + i % 9}" for i in range(80)],
        "since": [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(80)],
        "comment": [f"please call back number {i} soon" for i in range(80)],
        "member": [i % 2 == 0 for i in range(80)],
    }
)
KINDS = {
    "customer_id": "id",
    "age": "number",
    "ratio": "number",
    "town": "text",
    "postcode": "text",
    "since": "date",
    "comment": "text",
    "member": "text",
}


def _write(frame, path):
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    elif path.suffix == ".tsv":
        frame.write_csv(path, separator="\t")
    elif path.suffix in (".parquet", ".pq"):
        frame.write_parquet(path)
    elif path.suffix in (".feather", ".arrow"):
        frame.write_ipc(path)
    else:
        frame.write_csv(path)
    return path


@pytest.mark.parametrize(
    "name", ["a.csv", "a.csv.gz", "a.tsv", "a.parquet", "a.pq", "a.feather", "a.arrow", "A.CSV"]
)
def test_kinds_of_an_unprepared_table(tmp_path, name):
    table = read_table(_write(MIXED, tmp_path / name))
    assert table.columns == KINDS
    assert table.frame["age"].null_count() == 9
    assert table.frame["since"][3] == dt.datetime(2020, 1, 4)
    assert any("customer_id" in remark for remark in table.remarks)


def test_the_same_table_has_the_same_points_in_every_format(tmp_path):
    frame = MIXED.to_pandas()
    frame["since"] = pd.to_datetime(frame["since"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    tables = [read_table(tmp_path / name) for name in ("a.csv", "a.parquet")]
    assert tables[0].columns == tables[1].columns
    one, two = (SharedKey("k").uniforms(table.frame) for table in tables)
    assert (one == two).all()


def test_kinds_that_were_written_down_are_not_guessed_again(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    table = read_table(tmp_path / "a.csv", {"y": "text", "x": "number"})
    assert table.columns == {"y": "text", "x": "number"}
    assert table.frame.rows() == [("2", 1.0)]
    with pytest.raises(TableFileError, match=r"no column 'z'\. It has x, y"):
        read_table(tmp_path / "a.csv", {"z": "text"})
    with pytest.raises(TableFileError, match="known kinds: number, date"):
        read_table(tmp_path / "a.csv", {"x": "colour"})


def _column(tmp_path, cells, separator=","):
    lines = [f"x{separator}y", *(f"{cell}{separator}a" for cell in cells)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    return read_table(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("cells", "kind", "first"),
    [
        (["1", "2.5", "-3e2"], "number", 1.0),
        ([" 1 ", "NA", "?", "null"], "number", 1.0),
        (["01067", "80331"], "text", "01067"),
        (["12345678901234567890", "1"], "text", "12345678901234567890"),
        (["2020-01-31", "2020-02-01 10:00:00"], "date", dt.datetime(2020, 1, 31)),
        (["31.01.2020", "01.02.2020"], "date d.m.y", dt.datetime(2020, 1, 31)),
        (["01/31/2020", "02/01/2020"], "date m/d/y", dt.datetime(2020, 1, 31)),
        (["31/01/2020", "02/01/2020"], "date d/m/y", dt.datetime(2020, 1, 31)),
        (["True", "False"], "text", "True"),
        (["", ""], "text", None),
        (["red", "2"], "text", "red"),
    ],
)
def test_kinds(tmp_path, cells, kind, first):
    table = _column(tmp_path, cells)
    assert table.columns["x"] == kind
    assert table.frame["x"][0] == first


def test_decimal_commas_between_semicolons(tmp_path):
    cells = ["1,5", "-2,25", "1,25e+02"]
    assert _column(tmp_path, cells, separator=";").frame["x"].to_list() == [1.5, -2.25, 125.0]


def test_a_few_mistakes_do_not_make_numbers_texts(tmp_path):
    table = _column(tmp_path, [*range(60, 0, -1), *range(9), "oops", "inf"])
    assert table.columns["x"] == "number"
    assert table.frame["x"].null_count() == 2
    assert (
        "2 cells are not of kind 'number' and count as missing (row 70: 'oops')" in table.remarks[0]
    )


@pytest.mark.parametrize(
    ("name", "cells", "is_id"),
    [
        ("whatever", [f"A{i}" for i in range(60)], True),
        ("userId", [str(i * 7919 % 100_003) for i in range(60)], True),
        ("user_id", [str(1000 + i // 2) for i in range(120)], True),
        ("n", [str(i) for i in range(60)], True),
        ("income", [str(i * 37) for i in range(60)], False),
        ("amount_paid", [str(i * 37) for i in range(60)], False),
        ("name", [f"Ann Smith{i}" for i in range(60)], False),
        ("user_id", [str(i % 3) for i in range(60)], False),
        ("whatever", [f"A{i}" for i in range(30)], False),
    ],
)
def test_ids(tmp_path, name, cells, is_id):
    (tmp_path / "a.csv").write_text(f"{name},y\n" + "".join(f"{cell},b\n" for cell in cells))
    table = read_table(tmp_path / "a.csv")
    assert (table.columns[name] == "id") is is_id
    assert any("looks like an id" in remark for remark in table.remarks) is is_id


BAD = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\n ", "is empty"),
    "no rows": (b"a,b\n", "has column names but no rows"),
    "no names": (b",,\n1,2,3\n", "no column names in its first line"),
    "numbers on top": (b"1,2\n3,4\n", "numbers in its first line"),
    "twice": (b"a,b,a\n1,2,3\n", "occur more than once: a"),
    "latin": ("a,b\né,1\n".encode("latin-1"), "byte 0xe9 at position 4.*--encoding latin-1"),
    "excel": (b"PK\x03\x04xx", "has column names but no rows"),
    "zeros": (b"a,b\n\0,1\n", "zero bytes"),
    "ragged": (b"a,b\n1,2\n1,2,3\n", "is not a table: found more fields than defined"),
    "open quote": (b'a,b\n"1,2\n', "not a table"),
    "half utf-16": (b"\xff\xfea", "is not utf-16"),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_files_that_are_no_tables(tmp_path, content, message):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(TableFileError, match=message):
        read_table(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.ods", b"x", "files of this kind are not supported. Supported: .csv"),
        ("a.xlsx", b"x", "not a complete workbook"),
        ("a", b"x", "files of this kind are not supported"),
        ("a.parquet.gz", b"x", "files of this kind are not supported"),
        ("a.csv.gz", b"a,b\n1,2\n", "not a complete gzip file"),
        ("a.parquet", b"PAR1xxxx", "not a complete file of its kind"),
        ("a.feather", b"xxxx", "not a complete file of its kind"),
    ],
)
def test_names_and_contents_that_do_not_fit(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableFileError, match=message):
        read_table(tmp_path / name)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(TableFileError, match="does not exist"):
        read_table(tmp_path / "a.csv")
    (tmp_path / "b.csv").mkdir()
    with pytest.raises(TableFileError, match="not a file"):
        read_table(tmp_path / "b.csv")


def test_other_encodings(tmp_path):
    (tmp_path / "a.csv").write_bytes("town\nKöln\n".encode("latin-1"))
    assert read_table(tmp_path / "a.csv", encoding="latin-1").frame["town"][0] == "Köln"
    (tmp_path / "a.csv").write_bytes("town\nKöln\n".encode("utf-16"))
    assert read_table(tmp_path / "a.csv").frame["town"][0] == "Köln"
    (tmp_path / "a.csv").write_bytes("town\nKöln\n".encode("utf-8-sig"))
    assert read_table(tmp_path / "a.csv").columns == {"town": "text"}
    with pytest.raises(TableFileError, match="'klingon' is not known"):
        read_table(tmp_path / "a.csv", encoding="klingon")


def test_types_that_do_not_fit_are_named(tmp_path):
    pl.DataFrame({"x": [[1], [2]], "y": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(TableFileError, match=r"column 'x' has cells of type List"):
        read_table(tmp_path / "a.parquet")
    with pytest.raises(TableFileError, match=r"column 'y' has type Int64, but 'date' is required"):
        read_table(tmp_path / "a.parquet", {"y": "date"})
    (tmp_path / "a.csv").write_text("x\nred\nblue\n")
    with pytest.raises(TableFileError, match=r"no cell that is a number \(the first: 'red'\)"):
        read_table(tmp_path / "a.csv", {"x": "number"})


def test_large_integers_and_zones_in_typed_files(tmp_path):
    zoned = pl.Series([dt.datetime(2020, 1, 1, 12)] * 2).dt.replace_time_zone("Europe/Berlin")
    frame = pl.DataFrame(
        {"big": [2**60, 1], "when": zoned, "took": [dt.timedelta(seconds=90)] * 2, "e": [1.5, None]}
    )
    frame.write_parquet(tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert table.columns == {"big": "text", "when": "date", "took": "number", "e": "number"}
    row = (str(2**60), dt.datetime(2020, 1, 1, 11), 90.0, 1.5)
    assert table.frame.rows()[0] == row
    assert np.isfinite(SharedKey("k").uniforms(table.frame)).all()


def test_more_columns_than_can_be_reported_are_refused_at_once(tmp_path):
    path = tmp_path / "wide.csv"
    names = ",".join(f"c{index}" for index in range(20_001))
    path.write_text(f"{names}\n{',' * 20_000}\n")
    with pytest.raises(TableFileError, match="has 20,001 columns, more than the 20,000"):
        read_table(path)


def test_a_file_that_loses_nearly_all_its_rows_is_refused(tmp_path):
    path = tmp_path / "quote.csv"
    path.write_text('a,b\n1,"2\n' + "3,4\n" * 5000 + '5"\n')
    with pytest.raises(TableFileError, match="has 5,003 lines, of which 1 rows"):
        read_table(path)


def test_texts_of_several_lines_are_read(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("a,b\n" + '1,"one\ntwo\nthree\nfour"\n' * 500)
    assert len(read_table(path).frame) == 500


def test_lines_of_json_are_read(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"age": 3, "town": "Ulm"}\n{"age": null, "town": "Rom"}\n')
    table = read_table(path)
    assert table.columns == {"age": "number", "town": "text"}
    assert table.frame.rows() == [(3.0, "Ulm"), (None, "Rom")]
    path.write_text("{")
    with pytest.raises(TableFileError, match="not a complete file of its kind"):
        read_table(path)
