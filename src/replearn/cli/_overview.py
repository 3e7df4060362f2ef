"""What was read, before anything long starts: columns, missing cells, classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.records.text import aligned
from replearn.tables.files import Table

MOST_COLUMNS = 30
MOST_CLASSES_SHOWN = 12


def overview(table: Table, labels: NDArray[Any], target: str, used_as: Mapping[str, str]) -> str:
    """Return a table of the columns and a line of the classes.

    Examples
    --------
    >>> import polars as pl
    >>> table = Table(pl.DataFrame({"age": [3.0, None, 3.0]}), {"age": "number"})
    >>> print(overview(table, np.array(["a", "b", "a"]), "y", {}))
    3 rows, 1 columns:
      column  kind    missing  distinct
      ------  ------  -------  --------
      age     number  1        1
    target 'y': 'a' 2 (66.7 %), 'b' 1 (33.3 %)
    """
    frame = table.frame
    rows: list[tuple[str, ...]] = [("column", "kind", "missing", "distinct")]
    for name, kind in list(table.columns.items())[:MOST_COLUMNS]:
        cells = frame[name]
        counts = cells.null_count(), cells.drop_nulls().n_unique()
        rows.append((name, used_as.get(name, kind), *(f"{count:,}" for count in counts)))
    lines = [f"  {line}" for line in aligned(rows).splitlines()]
    if len(table.columns) > MOST_COLUMNS:
        lines.append(f"  ... and {len(table.columns) - MOST_COLUMNS} more columns")
    head = f"{frame.height:,} rows, {len(table.columns)} columns:"
    return "\n".join([head, *lines, f"target {target!r}: {_classes(labels)}"])


def _classes(labels: NDArray[Any]) -> str:
    """Count the classes, the most frequent first."""
    ranked = Counter(np.asarray(labels).tolist()).most_common()
    total = len(labels)
    shown = [
        f"{label!r} {count:,} ({count / total:.1%})".replace("%", " %")
        for label, count in ranked[:MOST_CLASSES_SHOWN]
    ]
    left = len(ranked) - len(shown)
    return ", ".join(shown) + (f" and {left} more classes" if left else "")
