"""False alarms of the checks of a sample, on real tables in many forms and with many indices.

    python benchmarks/sample_alarms.py --data DIR [--draws 10] [--sets adult,compas] [--markdown]

Independent rows of real tables (random parts of the file, without replacement) are checked as every
fit checks them. Forms: the frame, its numbers as an array, one-hot columns, counts of words and
hashed words as sparse tables, and polars. Indices: those that people leave behind after they have
shuffled, filtered, grouped, or put frames together, and dates with several rows each. The rows are
honest, so every alarm is a false one; the script returns 1 if there is any.
"""

import os
import sys
import tempfile
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
from honesty_ordinary import SETS, read_table
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.preprocessing import OneHotEncoder

from replearn.checks.sample import failed_by_sample
from replearn.outofcore import look, pieces
from replearn.outofcore.fit import open_table
from replearn.outofcore.folders import Folder
from replearn.outofcore.sources import open_rows

SIZES = (300, 2_000, 20_000)
MIN_DATES = 3
MIN_ROWS_OF_FILES = 2_000
PIECES = "a file in pieces, an eighth looked at"


# -- forms of a table ------------------------------------------------------------------------------
def words_of(X: pd.DataFrame) -> list[str]:
    """Return each row as a text: the names of its columns with their cells."""
    columns = [[f"{name}={cell}" for cell in X[name].tolist()] for name in X.columns]
    return [" ".join(cells) for cells in zip(*columns, strict=True)]


def one_hot(X: pd.DataFrame) -> Any:
    """Return indicators of all values, those of numbers included, as a sparse matrix."""
    return OneHotEncoder().fit_transform(X.astype(object).where(X.notna(), "missing").astype(str))


FORMS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "frame": lambda X: X.reset_index(drop=True),
    "numbers, array": lambda X: X.select_dtypes("number").to_numpy(),
    "objects, array": lambda X: X.to_numpy(dtype=object),
    "polars": lambda X: pl.from_pandas(X.reset_index(drop=True)),
    "one-hot, sparse": one_hot,
    "one-hot, first 64 columns, dense": lambda X: one_hot(X)[:, :64].toarray(),
    "counts of words, sparse": lambda X: CountVectorizer(token_pattern=r"\S+").fit_transform(
        words_of(X)
    ),
    "hashed words, sparse": lambda X: (
        HashingVectorizer(n_features=256, token_pattern=r"\S+").transform(words_of(X)).tocsr()
    ),
}


# -- indices ---------------------------------------------------------------------------------------
def grouped(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows as a groupby over the column with fewest values leaves them: two levels."""
    column = X.nunique().idxmin()
    return pd.concat(dict(list(X.groupby(column, dropna=False))))


def joined(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return three frames that were put together, each with numbers of its own."""
    parts = np.array_split(np.arange(len(X)), 3)
    return pd.concat([X.iloc[rows].reset_index(drop=True) for rows in parts])


def dated(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows with the day of each: some days have more rows than others."""
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        rng.integers(0, max(MIN_DATES, len(X) // 5), len(X)), unit="D"
    )
    return X.set_axis(pd.DatetimeIndex(days)).sort_index()


INDICES: dict[str, Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]] = {
    "numbered": lambda X, rng: X.reset_index(drop=True),
    "shuffled": lambda X, rng: X,
    "sorted, filtered": lambda X, rng: X.sort_index(),
    "frames put together": joined,
    "put together, shuffled": lambda X, rng: joined(X, rng).sample(frac=1.0, random_state=1),
    "after a groupby": grouped,
    "days": dated,
    "named days": lambda X, rng: dated(X, rng).rename_axis("day"),
    "towns": lambda X, rng: X.set_axis(
        pd.Index(rng.zipf(1.5, len(X)).clip(max=500).astype(str), name="town")
    ),
}


def alarms_of(X: Any, y: Any) -> tuple[str, ...]:
    """Return what the checks of a fit say about a sample."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return failed_by_sample(X, np.asarray(y))


def alarms_in_pieces(X: pd.DataFrame, y: Any) -> tuple[str, ...]:
    """Return what a fit from files says about a sample that is larger than what it looks at."""
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(look, "MAX_CELLS", X.size // 8),
        patch.object(pieces, "PIECE_BYTES", 1 << 16),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        path = Path(folder, "rows.parquet")
        rows = pl.from_pandas(X.reset_index(drop=True)).with_columns(pl.Series("label of row", y))
        rows.write_parquet(path, row_group_size=1000)
        work = Folder(f"{folder}/work")
        table = open_table(open_rows(path, work), work, "label of row", None, "polars", {})
        seen = look.Look(replace(table, classes=(0, 1)), len(y))
        for piece in range(table.n_pieces):
            seen.at_piece(piece)
        return seen.failed_conditions()


def samples(folder: Path, name: str, draws: int) -> Iterator[tuple[pd.DataFrame, Any]]:
    """Yield random parts of a file, with its own row numbers as index."""
    X, y = read_table(folder, name)
    sizes = sorted({min(size, len(y) // 2) for size in SIZES})
    for draw in range(draws):
        order = np.random.default_rng(draw).permutation(len(y))
        for size in sizes:
            yield X.iloc[order[:size]], y[order[:size]]


def measure(folder: Path, name: str, draws: int) -> dict[str, list[int]]:
    """Count alarms and samples of each form and index."""
    counts: dict[str, list[int]] = {key: [0, 0] for key in (*FORMS, PIECES, *INDICES)}
    for number, (X, y) in enumerate(samples(folder, name, draws)):
        rng = np.random.default_rng(number)
        for form, make in FORMS.items():
            if form == "numbers, array" and X.select_dtypes("number").shape[1] == 0:
                continue
            count(counts, form, alarms_of(make(X), y), name)
        if len(y) >= MIN_ROWS_OF_FILES:
            count(counts, PIECES, alarms_in_pieces(X, y), name)
        labels = pd.Series(y, index=X.index)
        for index, make_index in INDICES.items():
            frame = make_index(X.assign(**{"label of row": labels}), rng)
            own = frame.pop("label of row")
            count(counts, index, alarms_of(frame, own), name)
    return counts


def count(counts: dict[str, list[int]], key: str, said: tuple[str, ...], name: str) -> None:
    """Count a sample, and print what was said about it."""
    counts[key][0] += bool(said)
    counts[key][1] += 1
    for text in said:
        print(f"# {name}, {key}: {text}", file=sys.stderr)


def main() -> int:
    """Print a table of forms and indices; 1 if there is an alarm."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("REPLEARN_DATA"))
    parser.add_argument("--sets", default=",".join(SETS), help="names of files, with commas")
    parser.add_argument("--draws", type=int, default=10, help="random parts of each size")
    parser.add_argument("--markdown", action="store_true", help="print rows for docs/honesty.md")
    options: Namespace = parser.parse_args()
    if options.data is None or not Path(options.data).is_dir():
        parser.error(f"--data {options.data}: give a folder of files, or set REPLEARN_DATA")
    total: dict[str, list[int]] = {}
    for name in options.sets.split(","):
        for key, (n_alarms, n) in measure(Path(options.data), name, options.draws).items():
            known = total.setdefault(key, [0, 0])
            known[0] += n_alarms
            known[1] += n
    for key, (n_alarms, n) in total.items():
        print(f"| {key} | {n_alarms} | {n} |" if options.markdown else f"{key:28} {n_alarms}/{n}")
    return int(any(n_alarms for n_alarms, _ in total.values()))


if __name__ == "__main__":
    sys.exit(main())
