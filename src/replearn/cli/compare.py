"""``replearn compare``: what changes when a model replaces another, and a gate on it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.cli import (
    DONE,
    GATE_FAILED,
    Action,
    argument,
    names,
    number,
    option,
    put,
    put_json,
    say,
)
from replearn.cli._inputs import SUBGROUPS_HELP
from replearn.cli._predictions import (
    NO_PREDICTION,
    Predictions,
    TableOptions,
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


@dataclass(frozen=True, kw_only=True)
class CompareOptions(TableOptions):
    """Options of the command."""

    COMMON = (
        *("key_file", "key_file_b", "fail_above", "fail_above_limit", "subgroups"),
        *("id", "prediction", "target", "summary", "json", "quiet"),
    )
    EXAMPLES = (
        "replearn compare old.replearn new.replearn rows.csv --key-file key.txt",
        "replearn compare old.csv new.csv --target truth --fail-above 0.05",
    )

    old: str = argument("the model file in use, or a table of its predictions")
    new: str = argument("the one that would replace it, or its predictions")
    data: str | None = argument("rows that neither has learned from; not for two tables", nargs="?")
    fail_above: float | None = number(
        "exit with 1 if a larger share of the predictions changes", float
    )
    fail_above_limit: float | None = number(
        "the same for the upper 95 %% limit of that share", float
    )
    subgroups: tuple[str, ...] = option(SUBGROUPS_HELP, "A,B", default=(), type=names)
    target: str | None = option(
        "the true labels, for tables of predictions (two model files know theirs)", "COLUMN"
    )
    summary: str | None = option(
        f"append a summary in Markdown (default: ${SUMMARY_VARIABLE}, where it is set)", "FILE"
    )
    key_file_b: str | None = option("the key of the new model, if another", "FILE")


def run(options: CompareOptions) -> int:
    """Compare, print, write the summary, and apply the gates."""
    if_given(check_fraction, "--fail-above", options.fail_above, zero=True)
    if_given(check_fraction, "--fail-above-limit", options.fail_above_limit, zero=True)
    tables = [is_predictions(path) for path in (options.old, options.new)]
    if options.data is None and not all(tables):
        raise ValueError("a model file needs rows to predict: replearn compare OLD NEW DATA.")
    compared = _compare_predictions(options, tables) if any(tables) else _compare_models(options)
    from replearn.auditing import flip_gates

    gates = flip_gates(
        compared.flips, fail_above=options.fail_above, fail_above_limit=options.fail_above_limit
    )
    if options.json:
        put_json({**compared.to_dict(), "gates": [gate.to_dict() for gate in gates]})
    else:
        put(str(compared))
    summary = options.summary or os.environ.get(SUMMARY_VARIABLE)
    if summary:
        files = {"old": Path(options.old).name, "new": Path(options.new).name}
        with open(summary, "a", encoding="utf-8") as stream:
            stream.write(compared.to_markdown(gates, **files) + "\n")
    for gate in gates:
        say(f"gate {gate}")
    return DONE if all(gate.passed for gate in gates) else GATE_FAILED


def _compare_models(options: CompareOptions) -> Any:
    """Let two models predict the same rows."""
    from replearn.auditing import compare

    assert options.data is not None
    one, notes = load_model(options.old, options.key_file, options)
    two, others = load_model(options.new, options.key_file_b or options.key_file, options)
    for item in ("columns", "id", "target", "target_kind", "frame"):
        if notes.get(item) != others.get(item):
            raise ValueError(
                f"the models read a file differently: {item} is {notes.get(item)!r} in "
                f"{options.old}, {others.get(item)!r} in {options.new}."
            )
    X, ids, remarks = read_points(options.data, notes, options.encoding)
    say(*remarks, quiet=options.quiet)
    truth = read_truth(options.data, notes, options.encoding)
    cells = {}
    if options.subgroups:
        wanted = dict.fromkeys(options.subgroups, TEXT)
        frame = read_table(options.data, wanted, encoding=options.encoding).frame
        cells = {name: frame[name].to_list() for name in options.subgroups}
    both = KeyedModel(one, ids), KeyedModel(two, ids)
    return compare(*both, X, truth, subgroups=_subgroups(cells))


def _compare_predictions(options: CompareOptions, tables: list[bool]) -> Any:
    """Match predictions by the ids of their rows: two tables, or one and what a model predicts."""
    from replearn.auditing import compare

    sides = _both_sides(options, tables)
    ids = shared_ids(*sides)
    say(*_remarks(sides), quiet=options.quiet)
    indices = [] if options.data is None else [(options.data, sides[0].id_column)]
    indices += [(side.path, side.id_column) for side in sides if is_predictions(side.path)]

    def column(name: str | None) -> NDArray[np.str_] | None:
        return None if name is None else column_by_id(name, indices, ids, options.encoding)

    one, two = (np.array([side.labels[row] for row in ids]) for side in sides)
    X = np.empty((len(ids), 0))
    cells = {name: column(name) for name in options.subgroups}
    return compare(one, two, X, column(options.target), subgroups=_subgroups(cells))


def _subgroups(cells: dict[str, Any]) -> dict[str, Any] | None:
    """Return the subgroup of each row, by column; None without columns."""
    return {
        name: np.array(["(none)" if cell in (None, "") else str(cell) for cell in column])
        for name, column in cells.items()
    } or None


def _both_sides(options: CompareOptions, tables: list[bool]) -> list[Predictions]:
    paths = (options.old, options.new)
    keys = (options.key_file, options.key_file_b or options.key_file)
    files = [path for path, is_one in zip(paths, tables, strict=True) if is_one]
    read = [read_predictions(options, path) for path in files]
    if all(tables):
        return read
    assert options.data is not None
    index = tables.index(False)
    model = (paths[index], keys[index], read[0].id_column, options.data)
    read.insert(index, predictions_of_model(options, *model))
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


COMMAND = Action(CompareOptions, run, "what changes when a model replaces another; a gate on it")
