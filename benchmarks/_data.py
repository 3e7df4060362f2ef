"""Real data sets as arrays of numbers, fixed test rows, and disjoint samples of the other rows.

A file is a CSV with a 0/1 column ``target`` at the end (see benchmarks/README.md). Categories are
renamed by their place in sorted order, a missing category is a category: the encoders inside the
blocks give the same columns as they would for the strings, only faster. Nothing else happens
outside the blocks.

``bank_marketing@housing=yes`` is that file with another question: whether ``housing`` is ``yes``,
from all other columns but the target; ``adult@hours-per-week=41+`` asks for at least 41.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

SETS = (
    "adult",
    "bank_marketing",
    "default_credit_tw",
    "compas",
    "spambase",
    "german_credit",
    "breast_cancer_wdbc",
)
LARGEST_TEST_SHARE = 0.3
"""Small files keep most of their rows for training."""


@dataclass(frozen=True)
class Table:
    """Features as numbers, which of them are categories, the 0/1 target, and the test rows."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.intp]
    categorical: tuple[int, ...]
    test: NDArray[np.intp]
    rest: NDArray[np.intp]

    @property
    def numeric(self) -> list[int]:
        return [column for column in range(self.X.shape[1]) if column not in self.categorical]


def load(options: Namespace, name: str) -> Table:
    """Read a file; the test rows are the same in every run with the same ``--test-draw``."""
    file, _, question = name.partition("@")
    frame = pd.read_csv(options.data / f"{file}.csv.gz", keep_default_na=False, na_values=[""])
    y = _asked(frame, question)
    columns, categorical = [], []
    for place, column in enumerate(frame.columns):
        if pd.api.types.is_numeric_dtype(frame[column]):
            columns.append(frame[column].to_numpy(dtype=np.float64))
        else:
            names = frame[column].fillna("").to_numpy(dtype=object)
            columns.append(np.unique(names, return_inverse=True)[1].astype(np.float64))
            categorical.append(place)
    n_test = min(options.test, int(LARGEST_TEST_SHARE * len(y)))
    order = np.random.default_rng(2026 + options.test_draw).permutation(len(y))
    return Table(
        name, np.column_stack(columns), y, tuple(categorical), order[:n_test], order[n_test:]
    )


def _asked(frame: pd.DataFrame, question: str) -> NDArray[np.intp]:
    """Take the answers out of a file: its target, or those to a question about a column."""
    target = frame.pop("target")
    if not question:
        return target.to_numpy(dtype=np.intp)
    column, _, value = question.partition("=")
    asked = frame.pop(column)
    if value.endswith("+"):
        return (asked >= float(value[:-1])).to_numpy(dtype=np.intp)
    return (asked.astype(str) == value).to_numpy(dtype=np.intp)


def disjoint_samples(
    table: Table, count: int, draw: int, size: int | None = None
) -> list[NDArray[np.intp]]:
    """Draw ``count`` disjoint samples of equal size, as large as the rows allow unless given."""
    rest = table.rest
    largest = len(rest) // count
    size = largest if size is None else size
    if size > largest:
        raise ValueError(f"{count} disjoint samples of {size} rows need more than {len(rest)}")
    order = np.random.default_rng([2026, draw]).permutation(rest)
    return [order[i * size : (i + 1) * size] for i in range(count)]


def add_data_arguments(parser: ArgumentParser, sets: str) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("REPLEARN_DATA"),
        help="folder with the files; default: the environment variable REPLEARN_DATA",
    )
    parser.add_argument("--sets", default=sets, help="names of files, with commas")
    parser.add_argument("--test", type=int, default=3000, help="number of test rows")
    parser.add_argument("--rows", type=int, default=None, help="largest number of rows per half")
    parser.add_argument("--test-draw", type=int, default=0, help="another draw of the test rows")


def parse(parser: ArgumentParser) -> Namespace:
    """Read the command line and check the folder."""
    options = parser.parse_args()
    if options.data is None or not Path(options.data).is_dir():
        parser.error(f"--data {options.data}: give a folder of data files, or set REPLEARN_DATA")
    options.data = Path(options.data)
    return options
