"""Real data sets as arrays of numbers, fixed test rows, and disjoint samples of the other rows.

A file is a CSV with a 0/1 column ``target`` at the end (see benchmarks/README.md). Categories are
renamed by their place in sorted order, a missing category is a category: the encoders inside the
blocks give the same columns as they would for the strings, only faster. Nothing else happens
outside the blocks.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser
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
    """Features as numbers, which of them are categories, and the 0/1 target."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.intp]
    categorical: tuple[int, ...]

    @property
    def numeric(self) -> list[int]:
        return [column for column in range(self.X.shape[1]) if column not in self.categorical]


def load(folder: Path, name: str) -> Table:
    frame = pd.read_csv(folder / f"{name}.csv.gz", keep_default_na=False, na_values=[""])
    y = frame.pop("target").to_numpy(dtype=np.intp)
    columns, categorical = [], []
    for place, column in enumerate(frame.columns):
        if pd.api.types.is_numeric_dtype(frame[column]):
            columns.append(frame[column].to_numpy(dtype=np.float64))
        else:
            names = frame[column].fillna("").to_numpy(dtype=object)
            columns.append(np.unique(names, return_inverse=True)[1].astype(np.float64))
            categorical.append(place)
    return Table(name, np.column_stack(columns), y, tuple(categorical))


def split_off_test(table: Table, n_test: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the test rows, the same in every run, and all the others."""
    n_test = min(n_test, int(LARGEST_TEST_SHARE * len(table.y)))
    order = np.random.default_rng(2026).permutation(len(table.y))
    return order[:n_test], order[n_test:]


def disjoint_samples(
    rest: NDArray[np.intp], count: int, draw: int, size: int | None = None
) -> list[NDArray[np.intp]]:
    """Draw ``count`` disjoint samples of equal size, as large as the rows allow unless given."""
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


def check_data_folder(parser: ArgumentParser, folder: Path | None) -> Path:
    if folder is None or not Path(folder).is_dir():
        parser.error(f"--data {folder}: give a folder of data files, or set REPLEARN_DATA")
    return Path(folder)
