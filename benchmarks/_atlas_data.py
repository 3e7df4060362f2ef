"""The data file of the flip atlas: all finished cells in one compact JSON value."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from _atlas_measure import COIN_TOSS, DELTA, MIN_CERTIFIED_ROWS, SHARES, Effort
from _atlas_tables import Source
from _cells import Cells
from _records import machine

VERSION = 1
MODEL_TITLES = {
    "logreg": "logistic regression",
    "forest": "random forest",
    "boosting": "histogram boosting",
    "tree": "decision tree",
}
REMEDY_TITLES = {
    "bagging": "bagging (5 models)",
    "incumbent": "IncumbentClassifier(memory=0.5)",
    "score": "ScoreReplicableClassifier",
    "replicable": "PointwiseReplicableClassifier",
}


def assemble(cells: Cells, sources: Iterable[Source], effort: Effort) -> dict[str, Any]:
    """Put together what the folder holds; a cell without remedies has none."""
    tables = []
    entries = []
    for source in sources:
        found = {model: cells.get(source.name, model, "retrainings") for model in MODEL_TITLES}
        known = {model: cell for model, cell in found.items() if cell is not None}
        if not known:
            continue
        tables.append(_table(source, list(known.values())))
        for model, cell in known.items():
            measured = cells.get(source.name, model, "remedies")
            entries.append(_entry(source.name, model, cell, measured))
    return {
        "version": VERSION,
        "made": machine(),
        "effort": dataclasses.asdict(effort),
        "shares": list(SHARES),
        "coin_toss": COIN_TOSS,
        "delta": DELTA,
        "min_certified_rows": MIN_CERTIFIED_ROWS,
        "models": MODEL_TITLES,
        "remedies": REMEDY_TITLES,
        "tables": tables,
        "cells": entries,
    }


def _table(source: Source, cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Describe a table, with the persons that any model shows."""
    named = ("name", "title", "question", "rows_are", "package", "licence")
    persons = {p["row"]: [p["truth"], p["cells"]] for cell in cells for p in cell["persons"]}
    return {
        **{name: getattr(source, name) for name in named},
        **cells[0]["design"],
        "shown": list(source.shown),
        "persons": {str(row): persons[row] for row in sorted(persons)},
    }


def _entry(
    table: str, model: str, cell: dict[str, Any], measured: dict[str, Any] | None
) -> dict[str, Any]:
    kept = ("changed", "coin", "counts", "accuracy", "balanced", "auc", "one_class")
    persons = [[p["row"], int(p["random"]), p["history"]] for p in cell["persons"]]
    return {
        "table": table,
        "model": model,
        **{name: cell[name] for name in kept},
        "persons": persons,
        "remedies": None if measured is None else measured["remedies"],
    }


def write(path: Path, data: dict[str, Any]) -> None:
    """Write the data file as a whole or not at all."""
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
    unfinished.replace(path)
