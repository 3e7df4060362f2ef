"""A file as companies have it: numbers, categories, dates, missing cells, a rare class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

N_CATEGORIES, N_DATES = 12, 3
POSITIVES = 0.06


def mixed_columns(n_rows: int, n_columns: int, seed: int = 2026) -> dict[str, Any]:
    """Return columns by name: a quarter categories, three dates, the rest numbers; a target."""
    rng = np.random.default_rng(seed)
    n_numbers = n_columns - N_CATEGORIES - N_DATES
    columns: dict[str, Any] = {}
    numbers = rng.normal(size=(n_numbers, n_rows))
    for place, values in enumerate(numbers):
        kind = place % 4
        if kind == 1:
            values = np.floor(np.exp(values + 3))  # counts
        elif kind == 2:
            values = np.round(np.exp(2 * values + 5), 2)  # amounts
        cells = values.round(4)
        if kind == 3:
            cells = np.where(rng.random(n_rows) < 0.08, np.nan, cells)
        columns[f"number_{place}"] = cells
    levels = [rng.integers(0, 5 + 3 * place, n_rows) for place in range(N_CATEGORIES)]
    for place, codes in enumerate(levels):
        words = np.array([f"level {code}" for code in range(5 + 3 * place)], dtype=object)
        cells = words[codes]
        cells[rng.random(n_rows) < 0.02] = None
        columns[f"category_{place}"] = cells
    for place in range(N_DATES):
        days = rng.integers(0, 3650, n_rows)
        columns[f"day_{place}"] = np.datetime64("2015-01-01") + days.astype("timedelta64[D]")
    score = numbers[:6].sum(axis=0) + numbers[0] * numbers[1] + (levels[0] % 3) + (levels[1] % 2)
    score += rng.normal(0, 1.5, n_rows)
    late = score > np.quantile(score, 1 - POSITIVES)
    columns["target"] = np.where(late, "yes", "no").astype(object)
    return columns


def write_mixed_file(path: Path, n_rows: int, n_columns: int = 40, seed: int = 2026) -> Path:
    """Write such a file as CSV, or as Parquet if the name says so."""
    import polars as pl

    columns = mixed_columns(n_rows, n_columns, seed)
    series = [
        pl.Series(name, cells.tolist() if cells.dtype == object else cells, nan_to_null=True)
        for name, cells in columns.items()
    ]
    frame = pl.DataFrame(series)
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)
    return path
