"""How much memory tables take, by their files."""

import gzip

import numpy as np
import polars as pl
import pytest

from replearn.tables import files
from replearn.tables.files import memory_needed, size_of_table


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    texts = rng.choice(["Ulm", "Rom"], 20_000)
    return pl.DataFrame({"a": rng.normal(size=20_000), "n": range(20_000), "town": texts})


def test_parquet_files_tell_their_size(frame, tmp_path):
    frame.write_parquet(tmp_path / "rows.parquet")
    found = size_of_table(tmp_path / "rows.parquet")
    assert found.rows == 20_000
    assert frame.estimated_size() <= found.bytes <= 4 * frame.estimated_size()


def test_text_files_are_as_long_as_they_are(frame, tmp_path):
    frame.write_csv(tmp_path / "rows.csv")
    found = size_of_table(tmp_path / "rows.csv")
    assert 0.9 * 20_000 < found.rows < 1.1 * 20_000
    assert found.bytes == (tmp_path / "rows.csv").stat().st_size
    packed = tmp_path / "rows.csv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "rows.csv").read_bytes()))
    assert size_of_table(packed).bytes > packed.stat().st_size


def test_small_files_are_not_looked_at(frame, tmp_path, monkeypatch):
    frame.write_parquet(tmp_path / "rows.parquet")
    assert memory_needed(tmp_path / "rows.parquet") == 0
    assert memory_needed(tmp_path / "missing.parquet") == 0
    monkeypatch.setattr(files, "SMALL_BYTES", 0)
    needed = memory_needed(tmp_path / "rows.parquet")
    assert needed > files.BASE_BYTES
    more = memory_needed(tmp_path / "rows.parquet", bytes_per_row=100)
    assert more == needed + 100 * 20_000
