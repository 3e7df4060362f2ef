"""``replearn compare``: what changes when a model replaces another, and gates on it."""

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
    flag,
    names,
    number,
    option,
    put,
    put_json,
    say,
)
from replearn.cli._inputs import GROUP_BY_HELP, SUBGROUPS_HELP
from replearn.cli._predictions import (
    NO_PREDICTION,
    Predictions,
    TableFiles,
    TableOptions,
    aligned_predictions,
    as_labels_column,
    column_by_id,
    in_order_of,
    is_predictions,
    label_of,
    load_model,
    predictions_of_model,
    read_carried,
    read_points,
    read_predictions,
    read_truth,
)
from replearn.records import check_fraction, check_positive, if_given
from replearn.tables import TableFileError, read_table, to_pandas

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
SHARES = ("fail_above", "fail_above_limit", "fail_negative_above", "fail_subgroup_above")
SIDES = ("above", "below")
MANY_ROWS = 100_000
"""From this many on, comparing takes seconds and is announced."""


@dataclass(frozen=True, kw_only=True)
class CompareOptions(TableOptions):
    """Options of the command."""

    COMMON = (
        *("key_file", "fail_above", "fail_negative_above", "fail_subgroup_above"),
        *("fail_psi_above", "must_not_change", "subgroups", "group_by"),
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
    fail_above: float | None = number(
        "exit with 1 if a larger share of the predictions changes", float
    )
    fail_above_limit: float | None = number(
        "the same for the upper 95 %% limit of that share", float
    )
    fail_negative_above: float | None = number("the same for the share that becomes wrong", float)
    fail_subgroup_above: float | None = number("the same for the worst subgroup", float)
    fail_psi_above: float | None = number("the same for the PSI of the scores", float)
    must_not_change: str | None = option("rows whose predictions must not change", "FILE")
    subgroups: tuple[str, ...] = option(SUBGROUPS_HELP, "A,B", default=(), type=names)
    group_by: str | None = option(GROUP_BY_HELP, "COLUMN")
    target: str | None = option("the true labels, for tables (model files know theirs)", "COLUMN")
    score_threshold: float | None = number(
        "decision threshold on scores, for approvals (default: predictions decide)", float
    )
    approved: str = option(
        "which rows are approved: above (the positive label, the default) or below (the others)",
        default="above",
        choices=SIDES,
    )
    top_k: int | None = number("compare this many rows with the highest scores")
    tolerance: float | None = number(
        "regression: predictions that differ by at least this much have changed", float
    )
    reference: str | None = option("another sample of rows, for the shift of each column", "FILE")
    out: str | None = option("write the report: .html, .json or .md", "FILE")
    hide_values: bool = flag("leave features out of the report")
    summary: str | None = option(
        f"append a summary in Markdown (default: ${SUMMARY_VARIABLE}, if it is set)", "FILE"
    )
    key_file_b: str | None = option("the key of the new model, if it has another one", "FILE")


def run(options: CompareOptions) -> int:
    """Compare, print, write the reports, and apply the gates."""
    _check_options(options)
    tables = [is_predictions(path) for path in (options.old, options.new)]
    if options.data is None and not all(tables):
        raise ValueError("a model file needs rows to predict: replearn compare OLD NEW DATA.")
    compared = _compare_predictions(options, tables) if any(tables) else _compare_models(options)
    from replearn.auditing import update_gates

    allowed = {name: getattr(options, name) for name in (*SHARES, "fail_psi_above")}
    gates = update_gates(compared, **allowed)
    files = {"old": Path(options.old).name, "new": Path(options.new).name}
    if options.out:
        data = {} if options.data is None else {"data": Path(options.data).name}
        compared.save(options.out, gates, values=not options.hide_values, **files, **data)
        say(f"report written to {options.out}", quiet=options.quiet)
    if options.json:
        found = compared.to_dict(values=not options.hide_values)
        put_json({**found, "gates": [gate.to_dict() for gate in gates]})
    else:
        put(str(compared))
    summary = options.summary or os.environ.get(SUMMARY_VARIABLE)
    if summary:
        with open(summary, "a", encoding="utf-8") as stream:
            stream.write(compared.to_markdown(gates, **files) + "\n")
    for gate in gates:
        say(f"gate {gate}")
    return DONE if all(gate.passed for gate in gates) else GATE_FAILED


def _check_options(options: CompareOptions) -> None:
    """Refuse options that cannot be met before anything is read."""
    for name in SHARES:
        flag_name = f"--{name.replace('_', '-')}"
        if_given(check_fraction, flag_name, getattr(options, name), zero=True)
    if_given(check_positive, "--fail-psi-above", options.fail_psi_above, zero=True)
    if_given(check_positive, "--tolerance", options.tolerance)
    if options.out and Path(options.out).suffix.lower() not in (".html", ".md", ".json"):
        raise ValueError(f"--out {options.out}: must end in .html, .md or .json.")


def _announce(n_rows: int, options: CompareOptions) -> None:
    say(f"comparing {n_rows:,} rows", quiet=options.quiet or n_rows < MANY_ROWS)


def _settings(options: CompareOptions) -> dict[str, Any]:
    """Return the arguments of `compare` that options give as they are."""
    return {
        "threshold": options.score_threshold,
        "approved": options.approved,
        "top_k": options.top_k,
        "tolerance": options.tolerance,
    }


# -- two models ------------------------------------------------------------------------------------
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
    _announce(len(X), options)
    files = TableFiles(options.encoding)
    cells = {name: files.texts(options.data, name).to_numpy() for name in options.subgroups}
    reference = None
    if options.reference is not None:
        reference = read_points(options.reference, notes, options.encoding)[0]
    groups = None if options.group_by is None else files.texts(options.data, options.group_by)
    return compare(
        _keyed(one, ids),
        _keyed(two, ids),
        X,
        read_truth(options, options.data, notes),
        ids=_names_of_rows(options, notes, ids),
        groups=groups,
        subgroups=_subgroups(cells),
        pos_label=label_of(options, one),
        reference=reference,
        must_not_change=_golden_points(options, (one, two), notes, files),
        **_settings(options),
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


def _golden_points(
    options: CompareOptions, models: tuple[Any, Any], notes: Any, files: TableFiles
) -> Any:
    """Let both models predict the rows that must not change."""
    path = options.must_not_change
    if path is None:
        return None
    X, ids, _ = read_points(path, notes, options.encoding)
    old, new = (_labels(model.predict(X, ids=ids)) for model in models)
    if options.prediction in files.columns(path):
        old = files.texts(path, options.prediction)
    named = read_carried(path, notes, options.id, options.encoding)
    rows = ids or (named[1] if named else range(1, len(new) + 1))
    return _golden_set(options, rows, old, new)


def _keyed(model: Any, ids: list[str] | None) -> Any:
    return model if ids is None else KeyedModel(model, ids)


# -- tables of predictions -------------------------------------------------------------------------
def _compare_predictions(options: CompareOptions, tables: list[bool]) -> Any:
    """Match predictions by the ids of their rows: two tables, or one and what a model predicts."""
    from replearn.auditing import compare

    files = TableFiles(options.encoding)
    sides = _both_sides(options, tables, files)
    one, two = aligned_predictions(*sides)
    say(*_remarks(sides), quiet=options.quiet)
    ids = one["id"]
    _announce(len(ids), options)
    indices = [] if options.data is None else [(options.data, sides[0].id_column)]
    indices += [(side.path, side.id_column) for side in sides if is_predictions(side.path)]

    def column(name: str | None) -> NDArray[np.str_] | None:
        return None if name is None else column_by_id(name, indices, ids, files)

    X, reference = _features(options, sides[0].id_column, ids, files)
    labels = [frame["label"].to_numpy() for frame in (one, two)]
    truth: NDArray[Any] | None = column(options.target)
    if options.tolerance is not None:
        labels = [_numbers(options.prediction, side) for side in labels]
        truth = None if truth is None else _numbers(str(options.target), truth)
    old, new = labels
    return compare(
        old,
        new,
        X,
        truth,
        ids=ids.to_numpy(),
        groups=column(options.group_by),
        subgroups=_subgroups({name: column(name) for name in options.subgroups}),
        scores=tuple(side["score"].to_numpy() for side in (one, two)) if options.score else None,
        pos_label=options.pos_label,
        reference=reference,
        must_not_change=_golden_ids(options, sides[0].id_column, one, two, files),
        **_settings(options),
    )


def _features(
    options: CompareOptions, id_column: str, ids: Any, files: TableFiles
) -> tuple[Any, Any]:
    """Return the features of the compared rows and of reference rows, where a report shows them."""
    import polars as pl

    if options.reference is not None and options.data is None:
        raise ValueError("--reference requires the rows themselves: replearn compare OLD NEW DATA.")
    if options.data is None or not (options.out or options.reference):
        return np.empty((len(ids), 0)), None
    table = read_table(options.data, encoding=options.encoding)
    aside = (id_column, options.target, options.group_by)
    kinds = {name: kind for name, kind in table.columns.items() if name not in aside}
    rows = pl.DataFrame({"id": files.ids(options.data, id_column)}).with_row_index("row")
    matched = in_order_of(ids, rows)["row"]
    if matched.null_count():
        missing = ids[int(matched.is_null().arg_true()[0])]
        raise TableFileError(f"{options.data} lacks the row {missing!r}, which is compared.")
    X = to_pandas(table.frame.select(list(kinds))[matched])
    if options.reference is None:
        return X, None
    others = read_table(options.reference, kinds, encoding=options.encoding)
    return X, to_pandas(others.frame)


def _numbers(name: str, texts: NDArray[Any]) -> NDArray[np.float64]:
    """Read labels as numbers."""
    try:
        return texts.astype(np.float64)
    except ValueError as error:
        raise TableFileError(f"--tolerance requires numbers in {name!r}: {error}.") from None


def _golden_ids(
    options: CompareOptions, id_column: str, one: Any, two: Any, files: TableFiles
) -> Any:
    """Look up the rows that must not change by their ids."""
    path = options.must_not_change
    if path is None:
        return None
    wanted = files.ids(path, id_column)
    old, new = (in_order_of(wanted, frame)["label"] for frame in (one, two))
    if new.null_count():
        missing = wanted[int(new.is_null().arg_true()[0])]
        raise TableFileError(
            f"{path}: {new.null_count()} of {len(new)} rows are not among the compared rows (the "
            f"first: {missing!r}, by the column {id_column!r})."
        )
    if options.prediction in files.columns(path):
        old = files.texts(path, options.prediction)
    return _golden_set(options, wanted.to_list(), old, new)


def _golden_set(options: CompareOptions, rows: Any, expected: Any, predicted: Any) -> Any:
    from replearn.auditing import check_golden_set
    from replearn.auditing._statistics import has_changed

    old = np.asarray(expected)
    new = np.asarray(predicted)
    if options.tolerance is not None:
        old, new = (_numbers(options.prediction, side) for side in (old, new))
    differ = has_changed(old, new, options.tolerance)
    return check_golden_set(list(rows), old.tolist(), new.tolist(), differ.tolist())


def _labels(predictions: Any) -> NDArray[np.str_]:
    import polars as pl

    return as_labels_column(pl.Series([str(label) for label in predictions.tolist()])).to_numpy()


def _subgroups(cells: dict[str, Any]) -> dict[str, Any] | None:
    """Return the subgroup of each row, by column; None without columns."""
    return {
        name: np.where(column == NO_PREDICTION, "(none)", column) for name, column in cells.items()
    } or None


def _both_sides(
    options: CompareOptions, tables: list[bool], files: TableFiles
) -> list[Predictions]:
    paths = (options.old, options.new)
    keys = (options.key_file, options.key_file_b or options.key_file)
    given = [path for path, is_one in zip(paths, tables, strict=True) if is_one]
    read = [read_predictions(options, path, files) for path in given]
    if all(tables):
        return read
    assert options.data is not None
    index = tables.index(False)
    ids = files.ids(options.data, read[0].id_column)
    read.insert(index, predictions_of_model(options, paths[index], keys[index], ids, options.data))
    return read


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
