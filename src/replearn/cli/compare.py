"""``replearn compare``: what changes when a model replaces another, and gates on it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.cli import (
    DONE,
    GATE_FAILED,
    Action,
    allowed,
    argument,
    check_limits,
    flag,
    names,
    number,
    option,
    put,
    put_json,
    repeated,
    say,
)
from replearn.cli._inputs import GROUP_BY_HELP, SUBGROUPS_HELP
from replearn.cli._predictions import (
    LOG_NAMES,
    NO_PREDICTION,
    Predictions,
    TableFiles,
    TableOptions,
    aligned_predictions,
    column_by_id,
    in_order_of,
    is_json_lines,
    is_predictions,
    label_of,
    load_model,
    predictions_of_model,
    read_carried,
    read_points,
    read_predictions,
    read_truth,
)
from replearn.records.checks import check_positive, if_given
from replearn.tables.files import TableFileError, read_table
from replearn.tables.rows import to_pandas

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
MANY_ROWS = 100_000
"""From this many on, comparing takes seconds and is announced."""


@dataclass(frozen=True, kw_only=True)
class CompareOptions(TableOptions):
    """Options of the command."""

    COMMON = (
        *("key_file", "fail_above", "must_not_change", "subgroups", "group_by"),
        *("id", "score", "target", "out", "json"),
    )
    EXAMPLES = (
        "replearn compare old.replearn new.replearn rows.csv --out update.html",
        "replearn compare old.csv new.csv --target truth --fail-above 0.05",
    )

    old: str = argument("the model file in use, or a table of its predictions")
    new: str = argument("the one that would replace it, or its predictions")
    data: str | None = argument(
        "rows that neither model was trained on; not for two tables", nargs="?"
    )
    fail_above: tuple[tuple[str, float], ...] = repeated(
        "exit with 1 above it: flips=0.02, 'upper flips=0.05', 'becomes wrong=0.01', "
        "'worst group=0.1', 'added flips=0.02'",
        "NAME=LIMIT",
        type=allowed,
    )
    must_not_change: str | None = option("rows whose predictions must not change", "FILE")
    subgroups: tuple[str, ...] = option(SUBGROUPS_HELP, "A,B", default=(), type=names)
    group_by: str | None = option(GROUP_BY_HELP, "COLUMN")
    target: str | None = option("the true labels, for tables (model files know theirs)", "COLUMN")
    tolerance: float | None = number(
        "regression: predictions that differ by at least this much have changed", float
    )
    run: str | None = option("the run of a row: several runs of one version", "COLUMN")
    more_old: tuple[str, ...] = repeated("another run of the old version", "FILE")
    more_new: tuple[str, ...] = repeated("another run of the new version", "FILE")
    out: str | None = option("write the report: .html, .json or .md", "FILE")
    hide_values: bool = flag("leave features out of the report")
    summary: str | None = option(
        f"append a summary in Markdown (default: ${SUMMARY_VARIABLE}, if it is set)", "FILE"
    )
    key_file_b: str | None = option("the key of the new model, if it has another one", "FILE")

    @property
    def versions(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The files of both versions, one for each run unless a column names the run."""
        return (self.old, *self.more_old), (self.new, *self.more_new)


def run(options: CompareOptions) -> int:
    """Compare, print, write the reports, and apply the gates."""
    _check_options(options)
    tables = [is_predictions(path) for paths in options.versions for path in paths]
    if options.data is None and not all(tables):
        raise ValueError("a model file needs rows to predict: replearn compare OLD NEW DATA.")
    compared = _compare_predictions(options) if any(tables) else _compare_models(options)
    from replearn.auditing.gate import gates

    files = {"old": Path(options.old).name, "new": Path(options.new).name}
    data = {} if options.data is None else {"data": Path(options.data).name}
    judged = gates(compared, dict(options.fail_above))
    compared = compared.with_settings(about={**files, **data}, gates=judged)
    if options.out:
        compared.save(options.out, values=not options.hide_values)
        say(f"report written to {options.out}", quiet=options.quiet)
    if options.json:
        put_json(compared.to_dict(values=not options.hide_values))
    else:
        put(str(compared))
    summary = options.summary or os.environ.get(SUMMARY_VARIABLE)
    if summary:
        with open(summary, "a", encoding="utf-8") as stream:
            stream.write(compared.to_markdown() + "\n")
    for gate in judged:
        say(f"gate {gate}")
    return DONE if all(gate.passed for gate in judged) else GATE_FAILED


def _check_options(options: CompareOptions) -> None:
    """Refuse options that cannot be met before anything is read."""
    if_given(check_positive, "--tolerance", options.tolerance)
    check_limits(options.fail_above)
    if options.out and Path(options.out).suffix.lower() not in (".html", ".md", ".json"):
        raise ValueError(f"--out {options.out}: must end in .html, .md or .json.")


def _announce(n_rows: int, options: CompareOptions) -> None:
    say(f"comparing {n_rows:,} rows", quiet=options.quiet or n_rows < MANY_ROWS)


# -- two models ------------------------------------------------------------------------------------
def _compare_models(options: CompareOptions) -> Any:
    """Let two models predict the same rows."""
    from replearn.auditing.comparison import compare

    assert options.data is not None
    keys = (options.key_file, options.key_file_b or options.key_file)
    loaded = [
        [(path, *load_model(path, key, options)) for path in paths]
        for paths, key in zip(options.versions, keys, strict=True)
    ]
    first, model, notes = loaded[0][0]
    for path, _, others in (*loaded[0], *loaded[1]):
        for item in ("columns", "id", "target", "target_kind", "frame"):
            if notes.get(item) != others.get(item):
                raise ValueError(
                    f"the models read a file differently: {item} is {notes.get(item)!r} in "
                    f"{first}, {others.get(item)!r} in {path}."
                )
    X, ids, remarks = read_points(options.data, notes, options.encoding)
    say(*remarks, quiet=options.quiet)
    _announce(len(X), options)
    files = TableFiles(options.encoding)
    cells = {name: files.texts(options.data, name).to_numpy() for name in options.subgroups}
    groups = None if options.group_by is None else files.texts(options.data, options.group_by)
    old, new = ([_keyed(run, ids) for _, run, _ in side] for side in loaded)
    return compare(
        old,
        new,
        X,
        read_truth(options, options.data, notes),
        ids=_names_of_rows(options, notes, ids),
        groups=groups,
        subgroups=_subgroups(cells),
        pos_label=label_of(options, model),
        must_not_change=_golden_points(options, (model, loaded[1][0][1]), notes),
        tolerance=options.tolerance,
    )


def _names_of_rows(options: CompareOptions, notes: Any, ids: list[str] | None) -> Any:
    """Return what names the rows; None if nothing does."""
    if ids is not None:
        return ids if len(set(ids)) == len(ids) else None
    assert options.data is not None
    carried = read_carried(options.data, notes, options.id, options.encoding)
    if carried is None or len(set(carried[1])) < len(carried[1]):
        return None
    return [str(name) for name in carried[1]]


def _golden_points(options: CompareOptions, models: tuple[Any, Any], notes: Any) -> Any:
    """Let both models predict the rows that must not change."""
    from replearn.auditing.comparison import compare

    path = options.must_not_change
    if path is None:
        return None
    X, ids, _ = read_points(path, notes, options.encoding)
    named = read_carried(path, notes, options.id, options.encoding)
    names = ids or (None if named is None else [str(name) for name in named[1]])
    old, new = (_keyed(model, ids) for model in models)
    return compare(old, new, X, ids=names, tolerance=options.tolerance)


def _keyed(model: Any, ids: list[str] | None) -> Any:
    return model if ids is None else KeyedModel(model, ids)


# -- tables of predictions -------------------------------------------------------------------------
def _compare_predictions(options: CompareOptions) -> Any:
    """Match predictions by the ids of their rows: tables, or what models predict."""
    from replearn.auditing.comparison import compare

    files = TableFiles(options.encoding)
    options = _with_names_of_logs(options, files)
    versions = _both_sides(options, files)
    sides = [*versions[0], *versions[1]]
    say(*_remarks(sides), quiet=options.quiet)
    frames = aligned_predictions(sides)
    ids = frames[0]["id"]
    _announce(len(ids), options)
    indices = [] if options.data is None else [(options.data, sides[0].id_column)]
    indices += [(side.path, side.id_column) for side in sides if files.has(side.path)]

    def column(name: str | None) -> NDArray[np.str_] | None:
        return None if name is None else column_by_id(name, indices, ids, files)

    def of_versions(name: str) -> tuple[list[Any], list[Any]]:
        columns = [frame[name].to_numpy() for frame in frames]
        return columns[: len(versions[0])], columns[len(versions[0]) :]

    X = _features(options, sides[0].id_column, ids, files)
    old, new = of_versions("label")
    truth: NDArray[Any] | None = column(options.target)
    if options.tolerance is not None:
        old, new = ([_numbers(options.prediction, run) for run in side] for side in (old, new))
        truth = None if truth is None else _numbers(str(options.target), truth)
    return compare(
        old,
        new,
        X,
        truth,
        ids=ids.to_numpy(),
        groups=column(options.group_by),
        subgroups=_subgroups({name: column(name) for name in options.subgroups}),
        scores=of_versions("score") if options.score else None,
        pos_label=options.pos_label,
        must_not_change=_golden_ids(options, sides[0].id_column, ids, files),
        tolerance=options.tolerance,
    )


def _features(options: CompareOptions, id_column: str, ids: Any, files: TableFiles) -> Any:
    """Return the features of the compared rows, where a report shows them."""
    import polars as pl

    if options.data is None or not options.out:
        return np.empty((len(ids), 0))
    table = read_table(options.data, encoding=options.encoding)
    aside = (id_column, options.target, options.group_by)
    names = [name for name in table.columns if name not in aside]
    rows = pl.DataFrame({"id": files.ids(options.data, id_column)}).with_row_index("row")
    matched = in_order_of(ids, rows)["row"]
    if matched.null_count():
        missing = ids[int(matched.is_null().arg_true()[0])]
        raise TableFileError(f"{options.data} lacks the row {missing!r}, which is compared.")
    return to_pandas(table.frame.select(names)[matched])


def _numbers(name: str, texts: NDArray[Any]) -> NDArray[np.float64]:
    """Read labels as numbers."""
    try:
        return texts.astype(np.float64)
    except ValueError as error:
        raise TableFileError(f"--tolerance requires numbers in {name!r}: {error}.") from None


def _golden_ids(options: CompareOptions, id_column: str, ids: Any, files: TableFiles) -> Any:
    """Look up the rows that must not change by their ids."""
    path = options.must_not_change
    if path is None:
        return None
    wanted = files.ids(path, id_column)
    missing = wanted.filter(~wanted.is_in(ids.implode()))
    if len(missing):
        raise TableFileError(
            f"{path}: {len(missing)} of {len(wanted)} rows are not among the compared rows (the "
            f"first: {missing[0]!r}, by the column {id_column!r})."
        )
    return wanted.to_numpy()


def _subgroups(cells: dict[str, Any]) -> dict[str, Any] | None:
    """Return the subgroup of each row, by column; None without columns."""
    return {
        name: np.where(column == NO_PREDICTION, "(none)", column) for name, column in cells.items()
    } or None


def _with_names_of_logs(options: CompareOptions, files: TableFiles) -> CompareOptions:
    """Find the columns of an evaluation log in JSON Lines that no option names, and say which."""
    logs = [p for paths in options.versions for p in paths if is_json_lines(p)]
    if not logs:
        return options
    columns = files.columns(logs[0])
    is_given = {"id": options.id, "run": options.run, "prediction": options.prediction in columns}
    found: dict[str, Any] = {
        name: next(column for column in usual if column in columns)
        for name, usual in LOG_NAMES.items()
        if not is_given[name] and not set(usual).isdisjoint(columns)
    }
    if found:
        words = ", ".join(f"{name} is {column!r}" for name, column in found.items())
        say(f"columns of {logs[0]}: {words}", quiet=options.quiet)
    return replace(options, **found)


def _both_sides(
    options: CompareOptions, files: TableFiles
) -> tuple[list[Predictions], list[Predictions]]:
    """Read the runs of both versions; models predict the rows that tables name."""
    tables = [path for paths in options.versions for path in paths if is_predictions(path)]
    read = {path: read_predictions(options, path, files) for path in tables}
    keys = (options.key_file, options.key_file_b or options.key_file)
    sides: tuple[list[Predictions], list[Predictions]] = ([], [])
    for side, paths, key in zip(sides, options.versions, keys, strict=True):
        for path in paths:
            if path in read:
                side.extend(read[path])
            else:
                assert options.data is not None
                ids = files.ids(options.data, read[tables[0]][0].id_column)
                side.append(predictions_of_model(options, path, key, ids, options.data))
    return sides


def _remarks(sides: list[Predictions]) -> list[str]:
    missing = {side.path: int((side.frame["label"] == NO_PREDICTION).sum()) for side in sides}
    return [
        f"{path}: {n} rows have no prediction, which counts as a prediction of its own"
        for path, n in missing.items()
        if n
    ]


@dataclass(frozen=True, eq=False)
class KeyedModel:
    """A model whose thresholds are derived from ids, for callers that pass features only."""

    model: Any
    ids: list[str]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels."""
        return self.model.predict(X, ids=self.ids)

    def explain(self, X: Any) -> Any:
        """Explain the predictions."""
        return self.model.explain(X, ids=self.ids)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


COMMAND = Action(CompareOptions, run, "what changes when a model is replaced, with gates")
