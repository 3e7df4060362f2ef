"""Options of ``replearn fit`` for the model in use, and its history as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replearn.cli import CommandOptions, number, option
from replearn.cli._inputs import notes_of_model, read_threshold
from replearn.cli._predictions import load_model
from replearn.tables import is_date

OPTIONS = ("memory", "band", "max_changes", "max_negative_flips", "keep_rate")
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
        "model file in use: its predictions stay unless the new evidence is clear (five more fits, "
        "none with --memory 0.5 and no budget)",
        "FILE",
    )
    memory: str | None = option(
        "with --incumbent: weight of the remembered score, 0 to 0.8, all or auto (default: auto, "
        "five more fits on the new rows decide how much is remembered; 0.5 costs none without a "
        "budget, and keeps the certificate of --learner certified and score)",
        "M",
    )
    band: float | None = number(
        "with --incumbent: how far beyond the decision threshold a score must be to change a "
        "prediction (default: 0.1, less if the threshold is not 0.5)",
        float,
    )
    max_changes: float | None = number(
        "with --incumbent: share of predictions that may change", float
    )
    max_negative_flips: float | None = number(
        "with --incumbent: share that may change from right to wrong", float
    )
    keep_rate: float | None = number(
        "with --incumbent: by how much the share of the second class may move", float
    )


def check_plain_options(options: Any) -> None:
    """Raise if an option belongs to estimators that train on blocks."""
    for name in _NOT_PLAIN:
        if getattr(options, name) not in (None, False):
            option = name.replace("_", "-")
            raise ValueError(f"--{option} is not supported with --learner plain: leave it out.")


def read_incumbent(options: Any) -> Any:
    """Load the model in use; it must have the key of the new one."""
    if options.incumbent is None:
        for name in OPTIONS:
            if getattr(options, name) is not None:
                option = f"--{name.replace('_', '-')} {getattr(options, name)}"
                raise ValueError(f"{option} requires --incumbent: name the model in use.")
        return None
    model, notes = load_model(options.incumbent, options.key_file, options)
    if notes.get("id") != options.id:
        raise ValueError(
            f"--id {options.id}: {options.incumbent} was fitted with --id {notes.get('id')}, so "
            "the predictions would differ from those in use. Use the same --id."
        )
    return model


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
            f"--incumbent {options.incumbent}: it reads other columns: {'; '.join(words)}. Use "
            f"--columns {options.incumbent}, so that both models get the same cells."
        )


def _is_same(before: str | None, now: str | None) -> bool:
    both_dates = before is not None and now is not None and is_date(before) and is_date(now)
    return before == now or both_dates


def with_incumbent(
    options: Any, estimator: Any, incumbent: Any, label_counts: Mapping[Any, int]
) -> Any:
    """Return the estimator that keeps predictions of the model in use."""
    from replearn.learners import IncumbentClassifier

    params = {name: getattr(options, name) for name in OPTIONS}
    if options.memory not in (None, "all", "auto"):
        try:
            params["memory"] = float(options.memory)
        except ValueError:
            raise ValueError(
                f"--memory {options.memory}: must be a number from 0 to 0.8, all or auto."
            ) from None
    if options.learner == "plain":
        params["threshold"] = read_threshold(options, label_counts)
        _check_band(options, params["threshold"], label_counts)
    requested = {name: value for name, value in params.items() if value is not None}
    return IncumbentClassifier(estimator, incumbent, **requested)


def _check_band(options: Any, threshold: Any, label_counts: Mapping[Any, int]) -> None:
    """Refuse a band that no probability can leave on one side of the threshold."""
    from replearn.learners import known_threshold

    cut = None if threshold is None else known_threshold(threshold)
    if options.band is None or cut is None:
        return
    nearer = min(cut, 1.0 - cut)
    if nearer <= options.band < 1.0 - nearer:
        first, last = sorted(label_counts)
        raise ValueError(
            f"--band {options.band:g} is too wide for --threshold {options.threshold}: no "
            f"probability is so far beyond it that a prediction of {last if cut < 0.5 else first} "
            f"could change. Use a band below {nearer:.3g}, or leave --band out."
        )


def history_table(history: Sequence[dict[str, Any]]) -> str:
    """Write retrainings as a table: one line each, shares in percent.

    >>> print(history_table([{"date": "2026-05-01", "rows": 900, "memory": 0.0, "band": 0.0}]))
          date  rows  memory  band  changed  dropped  at most  budget  alarm
    2026-05-01   900       0     0
    """
    lines = [("date", "rows", "memory", "band", "changed", "dropped", "at most", "budget", "alarm")]
    for entry in history:
        budget = entry.get("budget") or {}
        lines.append(
            (
                entry["date"],
                str(entry["rows"]),
                f"{entry['memory']:.3g}",
                f"{entry['band']:.3g}",
                _percent(entry.get("changed")),
                _percent(entry.get("dropped_changes")),
                _percent(entry.get("changes_limit")),
                ", ".join(f"{name} {value:g}" for name, value in budget.items()),
                entry.get("alarm") or "",
            )
        )
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f} %"
