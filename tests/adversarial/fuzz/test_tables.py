"""Damaged tables of every kind of file: a table, or one documented error."""

import gzip
import io

import numpy as np
import pytest

from replearn.tables.files import TableFileError, read_table
from tests.adversarial.fuzz.damage import damaged, generators, within
from tests.tables.test_excel import write_workbook

pl = pytest.importorskip("polars")
RNG = np.random.default_rng(0)
FRAME = pl.DataFrame(
    {
        "number": RNG.normal(size=40),
        "count": RNG.integers(0, 9, 40),
        "text": RNG.choice(["a", "b;c", 'd"e', "é"], 40),
        "when": ["2020-01-31"] * 40,
        "y": RNG.integers(0, 2, 40),
    }
)


def _bytes(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def _workbook():
    buffer = io.BytesIO()
    write_workbook(buffer, [FRAME.columns, *FRAME.rows()])
    return buffer.getvalue()


FILES = {
    "csv": lambda: FRAME.write_csv().encode(),
    "csv.gz": lambda: gzip.compress(FRAME.write_csv().encode(), mtime=0),
    "tsv": lambda: FRAME.write_csv(separator="\t").encode("utf-16"),
    "parquet": lambda: _bytes(FRAME.write_parquet),
    "feather": lambda: _bytes(FRAME.write_ipc),
    "xlsx": _workbook,
}


def check(kind, folder, count, seed):
    """Read damaged files; return how many were read all the same."""
    content, path, read = FILES[kind](), folder / f"data.{kind}", 0
    path.write_bytes(content)
    assert read_table(path).frame.height == 40
    for number, rng in generators(count, seed):
        path.write_bytes(damaged(content, rng))
        with within(60):
            try:
                read_table(path)
                read += 1
            except TableFileError:
                continue
            except BaseException as error:
                error.add_note(f"input {number} of seed {seed}, {kind}")
                raise
    return read


@pytest.mark.parametrize("kind", FILES)
def test_some_damaged_files(kind, tmp_path):
    if kind == "xlsx":
        pytest.importorskip("fastexcel")
    check(kind, tmp_path, 8, 0)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("kind", FILES)
def test_damaged_files(kind, seed, tmp_path):
    if kind == "xlsx":
        pytest.importorskip("fastexcel")
    check(kind, tmp_path, 1500, seed)
