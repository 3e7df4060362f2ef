"""``replearn compare``: what changes when a model replaces another, and a gate on it."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.cli import DONE, GATE_FAILED, add_options, put, put_json, say
from replearn.cli._inputs import add_subgroups
from replearn.cli._predictions import (
    NO_PREDICTION,
    PREDICTION,
    Predictions,
    add_model_arguments,
    column_by_id,
    is_predictions,
    load_model,
    predictions_of_model,
    read_points,
    read_predictions,
    read_truth,
    shared_ids,
)
from replearn.records import check_fraction, if_given
from replearn.tables import TEXT, read_table

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("old", help="the model file in use, or a table of its predictions")
    parser.add_argument("new", help="the one that would replace it, or its predictions")
    parser.add_argument(
        "data", nargs="?", help="rows that neither has learned from; not for two tables"
    )
    add_options(
        parser,
        float,
        fail_above="exit with 1 if a larger share of the predictions changes",
        fail_above_limit="the same for the upper 95 %% limit of that share",
    )
    add_subgroups(parser)
    add_options(
        parser,
        "COLUMN",
        id="names the rows in tables of predictions, and in the data (default: their first column)",
        prediction=f"the labels in tables of predictions (default: {PREDICTION})",
        target="the true labels, for tables of predictions (two model files know theirs)",
    )
    add_options(
        parser,
        "FILE",
        summary=f"append a summary in Markdown (default: ${SUMMARY_VARIABLE}, where it is set)",
        key_file_b="the key of the new model, if another",
    )
    parser.set_defaults(prediction=PREDICTION)
    add_model_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, print, write the summary, and apply the gates."""
    if_given(check_fraction, "--fail-above", args.fail_above, zero=True)
    if_given(check_fraction, "--fail-above-limit", args.fail_above_limit, zero=True)
    tables = [is_predictions(path) for path in (args.old, args.new)]
    if args.data is None and not all(tables):
        raise ValueError("a model file needs rows to predict: replearn compare OLD NEW DATA.")
    compared = _compare_predictions(args, tables) if any(tables) else _compare_models(args)
    from replearn.auditing import flip_gates, gate_markdown

    gates = flip_gates(
        compared.flips, fail_above=args.fail_above, fail_above_limit=args.fail_above_limit
    )
    if args.json:
        put_json({**compared.to_dict(), "gates": [gate.to_dict() for gate in gates]})
    else:
        put(str(compared))
    summary = args.summary or os.environ.get(SUMMARY_VARIABLE)
    if summary:
        names = {"old": Path(args.old).name, "new": Path(args.new).name}
        with open(summary, "a", encoding="utf-8") as stream:
            stream.write(gate_markdown(compared, gates, **names) + "\n")
    for gate in gates:
        say(f"gate {gate}")
    return DONE if all(gate.passed for gate in gates) else GATE_FAILED


def _compare_models(args: argparse.Namespace) -> Any:
    """Let two models predict the same rows."""
    from replearn.auditing import compare

    one, notes = load_model(args.old, args.key_file, args)
    two, others = load_model(args.new, args.key_file_b or args.key_file, args)
    for item in ("columns", "id", "target", "target_kind", "frame"):
        if notes.get(item) != others.get(item):
            raise ValueError(
                f"the models read a file differently: {item} is {notes.get(item)!r} in "
                f"{args.old}, {others.get(item)!r} in {args.new}."
            )
    X, ids, remarks = read_points(args.data, notes, args.encoding)
    say(*remarks, quiet=args.quiet)
    truth = read_truth(args.data, notes, args.encoding)
    cells = {}
    if args.subgroups:
        wanted = dict.fromkeys(args.subgroups, TEXT)
        frame = read_table(args.data, wanted, encoding=args.encoding).frame
        cells = {name: frame[name].to_list() for name in args.subgroups}
    both = KeyedModel(one, ids), KeyedModel(two, ids)
    return compare(*both, X, truth, subgroups=_subgroups(cells))


def _compare_predictions(args: argparse.Namespace, tables: list[bool]) -> Any:
    """Match predictions by the ids of their rows: two tables, or one and what a model predicts."""
    from replearn.auditing import compare

    sides = _both_sides(args, tables)
    ids = shared_ids(*sides)
    say(*_remarks(sides), quiet=args.quiet)
    indices = [] if args.data is None else [(args.data, sides[0].id_column)]
    indices += [(side.path, side.id_column) for side in sides if is_predictions(side.path)]

    def column(name: str | None) -> NDArray[np.str_] | None:
        return None if name is None else column_by_id(name, indices, ids, args.encoding)

    one, two = (np.array([side.labels[row] for row in ids]) for side in sides)
    X = np.empty((len(ids), 0))
    cells = {name: column(name) for name in args.subgroups}
    return compare(one, two, X, column(args.target), subgroups=_subgroups(cells))


def _subgroups(cells: dict[str, Any]) -> dict[str, Any] | None:
    """Return the subgroup of each row, by column; None without columns."""
    return {
        name: np.array(["(none)" if cell in (None, "") else str(cell) for cell in column])
        for name, column in cells.items()
    } or None


def _both_sides(args: argparse.Namespace, tables: list[bool]) -> list[Predictions]:
    paths = (args.old, args.new)
    keys = (args.key_file, args.key_file_b or args.key_file)
    read = [
        read_predictions(args, path) for path, is_one in zip(paths, tables, strict=True) if is_one
    ]
    if all(tables):
        return read
    index = tables.index(False)
    read.insert(index, predictions_of_model(args, paths[index], keys[index], read[0].id_column))
    return read


def _remarks(sides: list[Predictions]) -> list[str]:
    missing = {side.path: list(side.labels.values()).count(NO_PREDICTION) for side in sides}
    return [
        f"{path}: {n} rows have no prediction, which counts as a prediction of its own"
        for path, n in missing.items()
        if n
    ]


@dataclass(frozen=True, eq=False)
class KeyedModel:
    """A model whose thresholds are derived from ids, for callers that pass features only."""

    model: Any
    ids: list[str] | None

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels."""
        return self.model.predict(X, ids=self.ids)

    def explain(self, X: Any) -> Any:
        """Explain the predictions."""
        return self.model.explain(X, ids=self.ids)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)
