"""How much memory tables take, by their files."""

import gzip

import polars as pl

from replearn.tables.files import MEMORY_FACTOR, PACKED_FACTOR, memory_needed


def test_several_times_the_bytes_of_a_file(tmp_path):
    frame = pl.DataFrame({"a": range(20_000)})
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    packed = tmp_path / "rows.csv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "rows.csv").read_bytes()))
    for name, factor in (("rows.csv", 1), ("rows.csv.gz", PACKED_FACTOR)):
        path = tmp_path / name
        assert memory_needed(path) == factor * MEMORY_FACTOR * path.stat().st_size
    assert memory_needed(tmp_path / "rows.parquet") > frame.estimated_size() / 2


def test_workbooks_and_missing_files_take_nothing(tmp_path):
    (tmp_path / "rows.xlsx").write_bytes(bytes(10**6))
    assert memory_needed(tmp_path / "rows.xlsx") == memory_needed(tmp_path / "none.csv") == 0
