"""Tables from files: CSV, TSV, JSON Lines, Parquet, Feather, Excel; and kinds of columns.

polars reads them, and what it says about a damaged file is said in one line. Files of separated
values are read as texts: a kind is applied to the cells afterwards, the same in every lab.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replearn.records.text import aligned
from replearn.tables.kinds import (
    ID,
    KINDS,
    MISSING,
    TEXT,
    cells_as,
    guess_kind,
    looks_like_id,
    typed_cells_as,
    typed_kind,
)

TEXT_SUFFIXES = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None}
TYPED_SUFFIXES = {
    ".parquet": "read_parquet",
    ".pq": "read_parquet",
    ".feather": "read_ipc",
    ".arrow": "read_ipc",
}
JSON_LINES = (".jsonl", ".ndjson")
EXCEL = ".xlsx"
MAX_SHOWN = 30

PACKED_FACTOR = 4
"""Files that are packed (.gz, Parquet, Feather) count for several times their size."""

MEMORY_FACTOR = 4
"""A table takes several times as much memory as its file has bytes, unpacked."""


class TableFileError(ValueError):
    """A file is not a table that can be read; the message says why and what to do."""


@dataclass(frozen=True, eq=False)
class Table:
    """What a file holds.

    The kind of a column is "number", "date" (with its order, as in "date d.m.y"), "text" or "id".
    """

    frame: Any  # of polars: numbers as float64, dates as instants, others as text; missing: null
    columns: dict[str, str]  # the kind of each column
    remarks: tuple[str, ...] = ()  # ids, and cells that could not be read
    others: Any = None  # a frame of the columns that were not wanted, as the file has them

    def overview(self, used_as: Mapping[str, str]) -> str:
        """Return a table of the columns; ``used_as`` says what some of them are there for.

        >>> import polars as pl
        >>> table = Table(pl.DataFrame({"age": [3.0, None, 3.0]}), {"age": "number"})
        >>> print(table.overview({}))
        3 rows, 1 columns:
          column  kind    missing  distinct
          ------  ------  -------  --------
          age     number  1        1
        """
        rows: list[tuple[str, ...]] = [("column", "kind", "missing", "distinct")]
        for name, kind in list(self.columns.items())[:MAX_SHOWN]:
            cells = self.frame[name]
            counts = cells.null_count(), cells.drop_nulls().n_unique()
            rows.append((name, used_as.get(name, kind), *(f"{count:,}" for count in counts)))
        lines = [f"  {line}" for line in aligned(rows).splitlines()]
        if len(self.columns) > MAX_SHOWN:
            lines.append(f"  ... and {len(self.columns) - MAX_SHOWN} more columns")
        return "\n".join([f"{self.frame.height:,} rows, {len(self.columns)} columns:", *lines])


def read_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, str] | None = None,
    *,
    encoding: str | None = None,
    thin: Callable[[Any], Any] | None = None,
) -> Table:
    r"""Read a table from a file.

    ``columns`` are the kinds of the columns that are wanted, as another table's ``columns``; None:
    all, and their kinds are guessed from the whole file. ``thin`` gets the frame before its cells
    are looked at, and returns the rows that are wanted. A file that is no table, or lacks a column,
    raises `TableFileError`, which says what to do.

    >>> import pathlib, tempfile
    >>> from replearn.tables.files import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "people.csv"
    ...     _ = path.write_text("age,town,since\n41,Ulm,2020-01-31\nNA,Rom,2021-02-01\n")
    ...     table = read_table(path)
    >>> table.columns
    {'age': 'number', 'town': 'text', 'since': 'date'}
    >>> table.frame["age"].to_list()
    [41.0, None]
    """
    source = Path(path)
    return table_of(read_frame(source, encoding, thin), columns, source)


def table_of(frame: Any, columns: Mapping[str, str] | None, source: Path) -> Table:
    """Give the cells of a frame their kinds, as `read_table` does; ``source`` is for messages.

    >>> import polars as pl
    >>> table_of(pl.DataFrame({"age": ["41", "x", "42"]}), {"age": "number"}, Path("f")).remarks
    ("column 'age': 1 cells are not of kind 'number' and count as missing (row 2: 'x')",)
    """
    kinds = dict(columns) if columns is not None else _guess_kinds(frame, source)
    _check_wanted(kinds, frame, source)
    remarks = []
    cells = {}
    for name, kind in kinds.items():
        cells[name], lost = _cells_of(frame[name], kind, source)
        if lost:
            remarks.append(f"column {name!r}: {lost}")
        if columns is None and looks_like_id(name, cells[name], kind):
            kinds[name] = ID
            cells[name] = _cells_of(frame[name], ID, source)[0]
            remarks.append(f"column {name!r} looks like an id of the row and is not learned from")
    return Table(type(frame)(cells), kinds, tuple(remarks), frame.drop(list(kinds)))


def read_chunks(path: Path, encoding: str | None) -> Iterator[Any]:
    """Read a text file that is larger than memory as frames of texts, one after another."""
    return iterate_texts(path, separator=TEXT_SUFFIXES[suffix_of_file(path)], encoding=encoding)


def is_text_file(path: Path) -> bool:
    """Whether a file holds separated values.

    >>> is_text_file(Path("rows.csv.gz")), is_text_file(Path("rows.parquet"))
    (True, False)
    """
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix in TEXT_SUFFIXES


def memory_needed(path: Path) -> int:
    """Estimate the memory that a file takes when it is read whole; 0 for workbooks.

    >>> memory_needed(Path("missing.csv"))
    0
    """
    if path.suffix.lower() == EXCEL or not path.is_file():
        return 0
    is_packed = not is_text_file(path) or path.suffix.lower() == ".gz"
    return path.stat().st_size * MEMORY_FACTOR * (PACKED_FACTOR if is_packed else 1)


def read_frame(path: Path, encoding: str | None, thin: Callable[[Any], Any] | None = None) -> Any:
    """Read a file as a frame: a text file as texts, others with their types."""
    last = suffix_of_file(path)
    try:
        import polars  # noqa: F401
    except ModuleNotFoundError:
        raise TableFileError(
            "Reading files needs polars: pip install 'replicable-learn[cli]'."
        ) from None
    if last in TEXT_SUFFIXES:
        separator = TEXT_SUFFIXES[last]
        frame = read_texts(path, separator=separator, encoding=encoding, thin=thin)
    else:
        if last in JSON_LINES:
            frame = _read_json_lines(path)
        else:
            frame = _read_excel(path) if last == EXCEL else _read_typed(path, TYPED_SUFFIXES[last])
        frame = frame if thin is None else thin(frame)
    if not frame.height:
        raise TableFileError(f"{path} has column names but no rows.")
    return frame


def suffix_of_file(path: Path) -> str:
    """Return the suffix that tells how a file is read; refuse what is not known or not there."""
    packed = path.suffix.lower() == ".gz"
    last = Path(path.stem if packed else path.name).suffix.lower()
    known = [*TEXT_SUFFIXES, *JSON_LINES, *TYPED_SUFFIXES, EXCEL]
    if last not in known or (last not in (*TEXT_SUFFIXES, *JSON_LINES) and packed):
        raise TableFileError(
            f"{path}: files of this kind are not supported. Supported: {', '.join(known)}; text "
            "files and JSON Lines also with .gz."
        )
    if not path.is_file():
        raise TableFileError(f"{path} does not exist, or is not a file.")
    return last


@contextmanager
def _refused(why: str) -> Iterator[None]:
    """Turn whatever a reader says about a damaged file into one documented error."""
    try:
        yield
    except BaseException as error:
        panic = type(error).__name__ == "PanicException"  # compiled readers have one each
        if isinstance(error, MemoryError) or not (panic or isinstance(error, Exception)):
            raise
        raise TableFileError(f"{why}: {first_line(error)}.") from None


def _read_typed(path: Path, reader: str) -> Any:
    import polars as pl

    with _refused(f"{path} is not a complete file of its kind"):
        frame = getattr(pl, reader)(path.read_bytes())
    check_columns(frame.columns, path)
    if not frame.width:
        raise TableFileError(f"{path} is empty.")
    return frame


def _read_json_lines(path: Path) -> Any:
    """Read one JSON object per line; a field inside another is the column ``outer.inner``."""
    import polars as pl

    with _refused(f"{path} is not a complete file of its kind"):
        frame = pl.read_ndjson(read_bytes(path), infer_schema_length=None)
        while any(kind.base_type() == pl.Struct for kind in frame.dtypes):
            columns: list[Any] = []
            for column in frame:
                if column.dtype.base_type() == pl.Struct:
                    fields = column.struct.unnest()
                    columns += [c.alias(f"{column.name}.{c.name}") for c in fields]
                else:
                    columns.append(column)
            frame = pl.DataFrame(columns)
    check_columns(frame.columns, path)
    return frame


def _read_excel(path: Path) -> Any:
    """Read the first sheet of a workbook; the whole of it decides the types of its columns."""
    import polars as pl

    try:
        import fastexcel  # noqa: F401
    except ModuleNotFoundError:
        raise TableFileError(
            f"{path}: reading workbooks needs fastexcel: pip install 'replicable-learn[excel]'. Or "
            "save the sheet as CSV."
        ) from None
    with _refused(f"{path} is not a complete workbook"):
        frame = pl.read_excel(path.read_bytes(), infer_schema_length=None)
    frame.columns = [name.strip() for name in frame.columns]
    check_columns(frame.columns, path)
    return clean_texts(frame)


def _guess_kinds(frame: Any, path: Path) -> dict[str, str]:
    kinds = {}
    for column in frame:
        kind = typed_kind(column)
        if kind is None:
            raise TableFileError(
                f"{path}: column {column.name!r} has cells of type {column.dtype}, which is not "
                "supported. Leave it out, or convert it to numbers or text."
            )
        is_text = kind == TEXT and str(column.dtype) == "String"
        kinds[column.name] = guess_kind(column) if is_text else kind
    return kinds


def _check_wanted(kinds: Mapping[str, str], frame: Any, path: Path) -> None:
    missing = [name for name in kinds if name not in frame.columns]
    if missing:
        raise TableFileError(
            f"{path} has no column {missing[0]!r}. It has {', '.join(frame.columns[:20])}."
        )
    unknown = {kind for kind in kinds.values() if kind not in KINDS}
    if unknown:
        raise TableFileError(
            f"columns of kind {sorted(unknown)} are not known; known kinds: {', '.join(KINDS)}."
        )


def _cells_of(column: Any, kind: str, path: Path) -> tuple[Any, str | None]:
    """Return the cells as their kind, and a remark on those that could not be read."""
    is_text = str(column.dtype) == "String"
    cells = cells_as(column, kind) if is_text else typed_cells_as(column, kind)
    if cells is None:
        raise TableFileError(
            f"{path}: column {column.name!r} has type {column.dtype}, but {kind!r} is required."
        )
    lost = (cells.is_null() & ~column.is_null()).arg_true()
    if not len(lost):
        return cells, None
    row = lost[0] + 1
    cell = str(column[lost[0]])[:40]
    if len(lost) == column.len() - column.null_count():
        raise TableFileError(
            f"{path}: column {column.name!r} has no cell that is a {kind} (the first: {cell!r})."
        )
    return (
        cells,
        f"{len(lost)} cells are not of kind {kind!r} and count as missing (row {row}: {cell!r})",
    )


# -- separated values: bytes to a frame of texts ---------------------------------------------------
SEPARATORS = (",", ";", "\t", "|")
_HEADER_CHARACTERS = 1 << 20
_BLOCK_BYTES = 1 << 24
MAX_COLUMNS = 20_000
MIN_LINES = 1000
MAX_LINES_PER_ROW = 50
_DECIMAL_COMMA = r"^([+-]?\d+),(\d+([eE][+-]?\d+)?)$"


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
    text = _decode(data, path, encoding)
    separator = separator or _separator(text)
    names = _header(text, separator, path)
    with _refused(f"{path} is not a table"):
        frame = pl.read_csv(io.BytesIO(text.encode()), separator=separator, infer_schema=False)
        frame.columns = names
    _check_rows(frame.height, data, path)
    return _with_points(frame if thin is None else thin(frame), separator)


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


def first_line(error: BaseException) -> str:
    """Return what an error says, without its explanations."""
    return next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
