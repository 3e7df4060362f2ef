"""Options of ``replearn fit`` for the model in use, and its history as a table."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from replearn.cli import add_options
from replearn.cli._inputs import read_threshold
from replearn.cli._predictions import load_model

OPTIONS = ("memory", "band", "max_changes", "max_negative_flips", "keep_rate")
"""Parameters of `IncumbentClassifier` that are options of the command."""

_NOT_PLAIN = (
    "check_price",
    "plan",
    "rho",
    "max_fits",
    "certificate",
    "folder",
    "resume",
    "group_by",
    "include_key",
)


def add_incumbent_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a fit that keeps predictions of the model in use."""
    parser.add_argument(
        "--memory",
        metavar="M",
        help="with --incumbent: weight of the remembered score, 0 to 0.8, all or auto "
        "(default: 0.5)",
    )
    add_options(
        parser,
        float,
        band="with --incumbent: how far beyond the decision threshold a score must be to change a "
        "prediction (default: 0.1, less if the threshold is not 0.5)",
        max_changes="with --incumbent: share of predictions that may change",
        max_negative_flips="with --incumbent: share that may change from right to wrong",
        keep_rate="with --incumbent: by how much the share of the second class may move",
    )


def check_plain_options(args: argparse.Namespace) -> None:
    """Raise if an option belongs to estimators that train on blocks."""
    for name in _NOT_PLAIN:
        if getattr(args, name) not in (None, False):
            option = name.replace("_", "-")
            raise ValueError(f"--{option} is not supported with --learner plain: leave it out.")


def read_incumbent(args: argparse.Namespace) -> Any:
    """Load the model in use; it must have the key of the new one."""
    if args.incumbent is None:
        for name in OPTIONS:
            if getattr(args, name) is not None:
                option = f"--{name.replace('_', '-')} {getattr(args, name)}"
                raise ValueError(f"{option} requires --incumbent: name the model in use.")
        return None
    model, notes = load_model(args.incumbent, args.key_file, args)
    if notes.get("id") != args.id:
        raise ValueError(
            f"--id {args.id}: {args.incumbent} was fitted with --id {notes.get('id')}, and its "
            "predictions would be others than those in use. Give the same --id."
        )
    return model


def with_incumbent(args: argparse.Namespace, estimator: Any, incumbent: Any, labels: Any) -> Any:
    """Return the estimator that keeps predictions of the model in use."""
    from replearn.learners import IncumbentClassifier

    options = {name: getattr(args, name) for name in OPTIONS}
    if args.memory not in (None, "all", "auto"):
        try:
            options["memory"] = float(args.memory)
        except ValueError:
            raise ValueError(
                f"--memory {args.memory}: must be a number from 0 to 0.8, all or auto."
            ) from None
    if args.learner == "plain":
        options["threshold"] = read_threshold(args, labels)
    given = {name: value for name, value in options.items() if value is not None}
    return IncumbentClassifier(estimator, incumbent, **given)


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
    return "" if share is None else f"{share:.2%}"
