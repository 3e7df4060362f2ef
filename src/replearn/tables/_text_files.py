"""CSV and its relatives: bytes to a frame of texts, with messages that name the mistake."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from replearn.tables.kinds import MISSING

SEPARATORS = (",", ";", "\t", "|")
_HEADER_CHARACTERS = 1 << 20
_BLOCK_BYTES = 1 << 24
MAX_COLUMNS = 20_000
MAX_LINE_BYTES = 1 << 24
MIN_LINES = 1000
MAX_LINES_PER_ROW = 50
_LONG_LINE = re.compile(rb"[^\n]{%d}" % MAX_LINE_BYTES)
_DECIMAL_COMMA = r"^([+-]?\d+),(\d+([eE][+-]?\d+)?)$"
_NO_TABLES = {
    b"PK\x03\x04": "a zip archive or an Excel workbook; name it .xlsx",
    b"%PDF": "a PDF document",
    b"PAR1": "a Parquet file; name it .parquet",
    b"ARROW1": "a Feather file; name it .feather",
    b"\x1f\x8b": "compressed; name it .csv.gz",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as CSV",
}


class TableFileError(ValueError):
    """A file is not a table that can be read; the message says why and what to do."""


def read_bytes(path: Path) -> bytes:
    """Read a file, unpacked if its name ends in .gz."""
    data = path.read_bytes()
    if path.suffix.lower() != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise TableFileError(f"{path} is not a complete gzip file: {error}.") from None


def read_texts(
    path: Path,
    *,
    separator: str | None,
    encoding: str | None,
    thin: Callable[[Any], Any] | None = None,
) -> Any:
    """Read a text file as a polars frame whose cells are texts, missing ones null."""
    import polars as pl

    data = read_bytes(path)
    _check_lines(data, path)
    text = _decode(data, path, encoding)
    separator = separator or _separator(text)
    names = _header(text, separator, path)
    try:
        frame = pl.read_csv(io.BytesIO(text.encode()), separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        reason = _ragged_line(text, separator, len(names)) or first_line(error)
        raise TableFileError(f"{path} is not a table: {reason}.") from None
    if frame.width != len(names):
        raise TableFileError(
            f"{path} is not a table: the header has {len(names)} cells, the rows {frame.width}."
        )
    _check_rows(frame.height, data, path)
    frame.columns = names
    return _with_points(frame if thin is None else thin(frame), separator)


def _check_lines(data: bytes, path: Path) -> None:
    """Refuse a line that no table has."""
    if len(data) > MAX_LINE_BYTES and (found := _LONG_LINE.search(data)):
        raise TableFileError(
            f"{path} is not a table: line {data.count(10, 0, found.start()) + 1} is longer than "
            f"{MAX_LINE_BYTES >> 20} MiB."
        )


def _check_rows(n_rows: int, data: bytes, path: Path) -> None:
    """Refuse a table that takes dozens of lines for each row: a quote was opened, not closed."""
    n_lines = data.count(b"\n")
    if n_lines >= MIN_LINES and n_lines > MAX_LINES_PER_ROW * max(1, n_rows):
        raise TableFileError(
            f"{path} has {n_lines:,} lines, of which {n_rows:,} rows could be read: a quotation "
            "mark is opened and not closed, or cells hold whole documents. Close or remove it."
        )


def _with_points(frame: Any, separator: str) -> Any:
    """Clean texts; where people separate by semicolons, they write decimal commas."""
    import polars as pl

    if separator == ";":
        cells = pl.all().str.strip_chars()
        frame = frame.with_columns(cells.str.replace(_DECIMAL_COMMA, "$1.$2"))
    return clean_texts(frame)


def iterate_texts(path: Path, *, separator: str | None, encoding: str | None) -> Iterator[Any]:
    """Read a text file as `read_texts` does, a few ten thousand rows at a time."""
    import polars as pl
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with pa.input_stream(str(path)) as stream:
        head = stream.read(_HEADER_CHARACTERS)
    text = _decode(head[: head.rfind(b"\n") + 1] or head, path, encoding)
    separator = separator or _separator(text)
    names = _header(text, separator, path)
    known = encoding or ("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")
    reading = arrow_csv.ReadOptions(
        block_size=_BLOCK_BYTES, column_names=names, skip_rows=1, encoding=known, use_threads=False
    )
    parsing = arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    converting = arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    try:
        with arrow_csv.open_csv(str(path), reading, parsing, converting) as reader:
            for batch in reader:
                if batch.num_rows:
                    yield _with_points(pl.from_arrow(batch), separator)
                pa.default_memory_pool().release_unused()  # it would keep what it has had
    except (pa.ArrowInvalid, UnicodeError) as error:
        raise TableFileError(f"{path} is not a table: {first_line(error)}.") from None


def clean_texts(frame: Any) -> Any:
    """Strip blanks around texts, make missing ones null, and drop rows without any cell."""
    import polars as pl
    import polars.selectors as cs

    cells = cs.string().str.strip_chars()
    frame = frame.with_columns(pl.when(~cells.is_in(MISSING)).then(cells).name.keep())
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))


def read_lines(
    path: Path, *, separator: str | None, encoding: str | None
) -> tuple[list[str], list[list[str]], str]:
    """Read a text file as names, rows of cells as they are written, and the separator."""
    text = _decode(read_bytes(path), path, encoding)
    separator = separator or _separator(text)
    names = _header(text, separator, path)
    records = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        next(records)
        return names, [record for record in records if any(record)], separator
    except csv.Error as error:
        raise TableFileError(f"{path} is not a table: {error}.") from None


def _decode(data: bytes, path: Path, encoding: str | None) -> str:
    kind = next((what for start, what in _NO_TABLES.items() if data.startswith(start)), None)
    if kind:
        raise TableFileError(f"{path} is not a text table, but {kind}.")
    if not data.strip(b"\xef\xbb\xbf \t\r\n"):
        raise TableFileError(f"{path} is empty.")
    if encoding is None:
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except LookupError:
        raise TableFileError(f"encoding {encoding!r} is not known; try latin-1.") from None
    except UnicodeError as error:
        index = getattr(error, "start", 0)
        raise TableFileError(
            f"{path} is not {encoding.removesuffix('-sig')}: byte {data[index]:#04x} at position "
            f"{index}. Name its encoding, for example --encoding latin-1."
        ) from None
    text = text.removeprefix("\ufeff").lstrip("\r\n")
    if "\0" in text:
        raise TableFileError(f"{path} is not a text table: it contains zero bytes.")
    if text.lstrip()[:1] in ("<", "{"):
        raise TableFileError(f"{path} is not a table of separated values, but markup or JSON.")
    return text


def _separator(text: str) -> str:
    """Take the separator that cuts the header into most cells; the comma in case of a tie."""
    return max(SEPARATORS, key=lambda mark: len(_first_record(text, mark)))


def _first_record(text: str, separator: str) -> list[str]:
    lines = io.StringIO(text[:_HEADER_CHARACTERS], newline="")
    try:
        return next(csv.reader(lines, delimiter=separator), [])
    except csv.Error:
        return []


def _header(text: str, separator: str, path: Path) -> list[str]:
    names = [name.strip() for name in _first_record(text, separator)]
    if not any(names):
        raise TableFileError(f"{path} has no column names in its first line.")
    if all(_is_number(name) for name in names):
        raise TableFileError(
            f"{path} has numbers in its first line ({', '.join(names[:3])}, ...), not column "
            "names. Add a line of names."
        )
    names = [name or f"unnamed {index}" for index, name in enumerate(names, start=1)]
    check_columns(names, path)
    return names


def check_columns(names: list[str], path: Path) -> None:
    """Refuse more columns than the commands can report about, and names that occur twice."""
    if len(names) > MAX_COLUMNS:
        raise TableFileError(
            f"{path} has {len(names):,} columns, more than the {MAX_COLUMNS:,} that are supported. "
            "Keep the columns that the model needs, or fit the estimator in Python."
        )
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise TableFileError(
            f"{path} has column names that occur more than once: {', '.join(twice[:5])}. Rename "
            "them."
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _ragged_line(text: str, separator: str, width: int) -> str | None:
    """Find the first row that has more cells than the header."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        for row in reader:
            if len(row) > width:
                return f"line {reader.line_num} has {len(row)} cells, the header has {width}"
    except csv.Error as error:
        return f"line {reader.line_num}: {error}"
    return None


def first_line(error: BaseException) -> str:
    """Return what an error says, without its explanations."""
    return next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
