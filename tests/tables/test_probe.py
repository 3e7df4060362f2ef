"""Probe rows of a raw table: cells as they are written, no row of a person."""

import csv

import pytest

from replearn.tables.files import TableFileError
from replearn.tables.probe import make_probe

RAW = "age;town;id\n" + "".join(
    f"{a},{a % 10};{'' if a % 7 == 0 else ' Ulm'};p{a}\n" for a in range(300)
)


def probe_of(tmp_path, text, **options):
    raw, out = tmp_path / "raw.csv", tmp_path / "probe.csv"
    raw.write_text(text, encoding="utf-8")
    remarks = make_probe(raw, out, **options)
    with open(out, encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream, delimiter=";")), remarks


def test_cells_stay_as_they_are_written(tmp_path):
    (header, *rows), _ = probe_of(tmp_path, RAW, n_rows=30)
    written = {tuple(line.split(";")) for line in RAW.splitlines()[1:]}
    assert header == ["age", "town", "id"]
    assert len(rows) == 30
    for place in range(3):
        assert {row[place] for row in rows} <= {row[place] for row in written}
    assert (rows[0][0], rows[1][0], rows[2][1]) == ("0,0", "299,9", "")
    assert sum(tuple(row) in written for row in rows) <= 2


def test_the_order_of_the_table_does_not_count(tmp_path):
    header, *lines = RAW.splitlines()
    turned = "\n".join([header, *lines[::-1]])
    assert probe_of(tmp_path, RAW)[0] == probe_of(tmp_path, turned)[0]


def test_columns_of_names_are_remarked_and_can_be_left_out(tmp_path):
    assert "'id' names rows or persons" in probe_of(tmp_path, RAW)[1][0]
    (header, *_), remarks = probe_of(tmp_path, RAW, drop=["id"])
    assert header == ["age", "town"]
    assert remarks == ()
    with pytest.raises(TableFileError, match="no column 'ID'"):
        probe_of(tmp_path, RAW, drop=["ID"])


def test_typed_files_keep_their_types(tmp_path):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"n": [1, 5, None, 9] * 9, "day": pl.Series([1, 2, 3, 4] * 9).cast(pl.Date)}
    )
    for suffix, reader in (("parquet", pl.read_parquet), ("feather", pl.read_ipc)):
        raw, out = tmp_path / f"raw.{suffix}", tmp_path / f"probe.{suffix}"
        frame.write_parquet(raw) if suffix == "parquet" else frame.write_ipc(raw)
        make_probe(raw, out, n_rows=5)
        probe = reader(out)
        assert probe.schema == frame.schema
        assert probe["n"].to_list()[:3] == [1, 9, None]
