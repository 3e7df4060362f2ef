"""Tables from files: CSV, TSV, Parquet, Feather, Excel, gz, with the kinds of their columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replearn.records import aligned
from replearn.tables._address_space import check_address_space
from replearn.tables._text_files import (
    TableFileError,
    check_columns,
    clean_texts,
    first_line,
    iterate_texts,
    read_texts,
)
from replearn.tables.kinds import (
    ID,
    KINDS,
    TEXT,
    cells_as,
    guess_kind,
    how_written,
    looks_like_amounts,
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
EXCEL = ".xlsx"
MAX_COLUMNS = 30

LARGE_BYTES = 1 << 29
PACKED_FACTOR = 4
"""Larger files are large; packed ones (.gz, Parquet) count for several times their size."""


@dataclass(frozen=True, eq=False)
class Table:
    """What a file holds.

    The kind of a column is "number" (with its mark, as in "number $"), "date" (with its order, as
    in "date d.m.y"), "text" or "id".
    """

    frame: Any  # of polars: numbers as float64, dates as instants, others as text; missing: null
    columns: dict[str, str]  # the kind of each column
    remarks: tuple[str, ...] = ()  # ids, money and percent, cells that could not be read
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
        for name, kind in list(self.columns.items())[:MAX_COLUMNS]:
            cells = self.frame[name]
            counts = cells.null_count(), cells.drop_nulls().n_unique()
            rows.append((name, used_as.get(name, kind), *(f"{count:,}" for count in counts)))
        lines = [f"  {line}" for line in aligned(rows).splitlines()]
        if len(self.columns) > MAX_COLUMNS:
            lines.append(f"  ... and {len(self.columns) - MAX_COLUMNS} more columns")
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
        remarks += [f"column {name!r} {remark}" for remark in _how_read(frame[name], kind)]
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


def is_large_file(path: Path) -> bool:
    """Whether a file may take more memory than a small machine has; workbooks never do.

    >>> is_large_file(Path("missing.csv"))
    False
    """
    if path.suffix.lower() == EXCEL or not path.is_file():
        return False
    packed = not is_text_file(path) or path.suffix.lower() == ".gz"
    return path.stat().st_size * (PACKED_FACTOR if packed else 1) > LARGE_BYTES


def read_frame(path: Path, encoding: str | None, thin: Callable[[Any], Any] | None = None) -> Any:
    """Read a file as a frame: a text file as texts, others with their types."""
    last = suffix_of_file(path)
    check_address_space(path)
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
        frame = _read_excel(path) if last == EXCEL else _read_typed(path, TYPED_SUFFIXES[last])
        frame = frame if thin is None else thin(frame)
    if not frame.height:
        raise TableFileError(f"{path} has column names but no rows.")
    return frame


def suffix_of_file(path: Path) -> str:
    """Return the suffix that tells how a file is read; refuse what is not known or not there."""
    packed = path.suffix.lower() == ".gz"
    last = Path(path.stem if packed else path.name).suffix.lower()
    known = [*TEXT_SUFFIXES, *TYPED_SUFFIXES, EXCEL]
    if last not in known or (last not in TEXT_SUFFIXES and packed):
        raise TableFileError(
            f"{path}: files of this kind are not supported. Supported: {', '.join(known)}; text "
            "files also with .gz."
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


def _how_read(column: Any, kind: str) -> list[str]:
    """Tell how texts were read as numbers, or why they were not."""
    if str(column.dtype) != "String":
        return []
    remark = how_written(column, kind)
    if remark is None and kind == TEXT:
        amount = looks_like_amounts(column)
        if amount is not None:
            remark = f"is read as text: its amounts are not written in one way (first: {amount!r})"
    return [] if remark is None else [remark]


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
