"""Options of ``replearn fit`` for the model in use, and its retrainings as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from replearn.cli import CommandOptions, flag, number, option
from replearn.cli._inputs import notes_of_model
from replearn.cli._predictions import load_model
from replearn.records.text import aligned
from replearn.tables.kinds import is_date

OPTIONS = ("memory", "max_changes")
"""Parameters of `IncumbentClassifier` that are options of the command."""

_NOT_PLAIN = (
    "plan",
    "rho",
    "max_fits",
    "certificate",
    "scheduler",
    "resume",
    "include_key",
)


@dataclass(frozen=True, kw_only=True)
class IncumbentOptions(CommandOptions):
    """Options of a fit that keeps predictions of the model in use."""

    incumbent: str | None = option(
        "model file in use: its predictions stay unless the new evidence is clear; columns, model, "
        "learner and threshold are its own",
        "FILE",
    )
    memory: str | None = option(
        "with --incumbent: weight of the remembered score, 0 to 0.8, or auto (default: auto, tests "
        "with five more fits decide how much is remembered; a number costs none, and keeps the "
        "certificate of --learner certified and score)",
        "M",
    )
    max_changes: float | None = number(
        "with --incumbent: share of predictions that may change", float
    )
    fail_on_alarm: bool = flag(
        "exit with code 1 if what is remembered is worse than the new model alone"
    )


def check_plain_options(options: Any) -> None:
    """Raise if an option belongs to estimators that train on blocks."""
    for name in _NOT_PLAIN:
        if getattr(options, name) not in (None, False):
            option = name.replace("_", "-")
            raise ValueError(f"--{option} is not supported with --learner plain: leave it out.")


def read_incumbent(options: Any) -> tuple[Any, Any]:
    """Load the model in use; return it, and the options with all that it implies."""
    if options.incumbent is None:
        for name in OPTIONS:
            if getattr(options, name) is not None:
                option = f"--{name.replace('_', '-')} {getattr(options, name)}"
                raise ValueError(f"{option} requires --incumbent: name the model in use.")
        return None, replace(options, learner=options.learner or "certified")
    model, notes = load_model(options.incumbent, options.key_file, options)
    if options.id not in (None, notes.get("id")):
        raise ValueError(
            f"--id {options.id}: {options.incumbent} was fitted with --id {notes.get('id')}, so "
            "the predictions would differ from those in use. Leave --id out."
        )
    implied = replace(
        options,
        learner=options.learner or _learner_of(model),
        columns=options.columns or options.incumbent,
        id=notes.get("id"),
        clean_labels=options.clean_labels or bool(notes.get("clean_labels")),
    )
    return model, implied


def _learner_of(model: Any) -> str:
    """Return the name of a model's kind, as ``--learner`` has it."""
    estimator = getattr(model, "estimator_", model) if hasattr(model, "chain_") else model
    names = {
        "PointwiseReplicableClassifier": "certified",
        "ScoreReplicableClassifier": "score",
    }
    return names.get(type(estimator).__name__, "plain")


def base_of_incumbent(model: Any) -> Any:
    """Return the base estimator of the model in use, not fitted."""
    from sklearn.base import clone

    from replearn.auditing.contenders import is_replicable

    estimator = model.estimator if hasattr(model, "chain_") else model
    return clone(estimator.estimator if is_replicable(estimator) else estimator)


def check_columns(options: Any, columns: Mapping[str, str]) -> None:
    """Refuse features of other names or kinds than those that the model in use was trained on."""
    if options.incumbent is None:
        return
    before = notes_of_model(options.incumbent)["columns"]
    names = [n for n in {**before, **columns} if not _is_same(before.get(n), columns.get(n))]
    if names:
        words = (
            f"{name!r} is {before.get(name, 'missing')} there, {columns.get(name, 'missing')} here"
            for name in names
        )
        raise ValueError(
            f"--incumbent {options.incumbent}: it reads other columns: {'; '.join(words)}. Leave "
            "--columns and --drop out, so that both models get the same cells."
        )


def _is_same(before: str | None, now: str | None) -> bool:
    both_dates = before is not None and now is not None and is_date(before) and is_date(now)
    return before == now or both_dates


def incumbent_params(options: Any) -> dict[str, Any]:
    """Return the parameters of `IncumbentClassifier` that the options name."""
    params = {name: getattr(options, name) for name in OPTIONS}
    if options.memory not in (None, "auto"):
        try:
            params["memory"] = float(options.memory)
        except ValueError:
            raise ValueError(
                f"--memory {options.memory}: must be a number from 0 to 0.8, or auto."
            ) from None
    return {name: value for name, value in params.items() if value is not None}


def history_table(history: Sequence[dict[str, Any]]) -> str:
    """Write retrainings as a table: one line each.

    >>> print(history_table([{"date": "2026-05-01", "rows": 900, "memory": 0.0, "band": 0.0}]))
    date        rows  memory  band  changed  observed  in use  served  alarm
    ----------  ----  ------  ----  -------  --------  ------  ------  -----
    2026-05-01  900   0       0
    """
    names = ("date", "rows", "memory", "band", "changed", "observed", "in_use", "served", "alarm")
    lines = [tuple(name.replace("_", " ") for name in names)]
    lines += [tuple(_cell(name, entry.get(name)) for name in names) for entry in history]
    return "\n".join(line.rstrip() for line in aligned(lines).splitlines())


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name == "changed":
        return f"{100 * value:.2f} %"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
