"""From a result to plain JSON values: what every report shows."""

from __future__ import annotations

import json
from typing import Any

from replearn._version import __version__
from replearn.auditing._contender_summary import summarize_contender
from replearn.auditing._result import AuditResult
from replearn.auditing._statistics import row_limits

FORMAT = "replearn-audit"
VERSION = 1


def summarize(result: AuditResult) -> dict[str, Any]:
    """Turn a result into JSON values.

    Parameters
    ----------
    result : AuditResult
        From :func:`audit`.

    Returns
    -------
    dict
        Documented on the page of the schema; seconds only below ``timings``.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "replearn": __version__,
        "design": _design(result),
        "classes": [_plain(label) for label in result.classes],
        "contenders": [summarize_contender(result, contender) for contender in result.contenders],
        "least_stable_rows": _rows(result),
        "columns": list(result.columns),
        "findings": [finding.to_dict() for finding in result.findings],
        "timings": {
            "wall_seconds": result.wall_seconds,
            "seconds_per_run": {c.name: float(c.seconds.mean()) for c in result.contenders},
        },
    }


def without_timings(summary: dict[str, Any]) -> dict[str, Any]:
    """Leave out what differs between two equal audits."""
    return {name: value for name, value in summary.items() if name != "timings"}


def without_values(summary: dict[str, Any]) -> dict[str, Any]:
    """Leave out the features of single rows, for files that leave the house."""
    rows = [{**row, "cells": []} for row in summary["least_stable_rows"]]
    return {**summary, "least_stable_rows": rows, "columns": []}


def contender_lines(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """One flat line per contender, for tables.

    Parameters
    ----------
    summary : dict
        From :func:`summarize`.

    Returns
    -------
    list of dict
        Numbers, not texts.
    """
    seconds = summary.get("timings", {}).get("seconds_per_run", {})
    return [
        {
            "contender": c["name"],
            "flip_rate": c["flip_rate"]["estimate"],
            "flip_rate_lower": c["flip_rate"]["lower"],
            "flip_rate_upper": c["flip_rate"]["upper"],
            "p99": c["row_flips"]["p99"]["estimate"],
            "max": c["row_flips"]["max"]["estimate"],
            "accuracy": c["accuracy"]["estimate"],
            "accuracy_sd": c["accuracy"]["sd"],
            "promised": None if c["certificate"] is None else c["certificate"]["rho"],
            "seconds": seconds.get(c["name"]),
        }
        for c in summary["contenders"]
    ]


def _design(result: AuditResult) -> dict[str, Any]:
    design = result.design
    return {
        "n_rows": design.n_rows,
        "n_test": design.n_test,
        "n_pairs": design.n_pairs,
        "pairs_wanted": result.pairs_wanted,
        "train_size": design.train_size,
        "sample": design.sample,
        "unit": design.unit,
        "independent_pairs": design.independent_pairs,
        "limits_hold_for": design.limits_hold_for,
        "delta": result.delta,
        "rho": result.rho,
        "key_fingerprint": design.key_fingerprint,
    }


def _rows(result: AuditResult) -> list[dict[str, Any]]:
    limits = {c.name: row_limits(c.flips, result.delta) for c in result.contenders}
    return [
        {
            "row": int(result.test[i]),
            "label": str(result.classes[result.contenders[0].truth[i]]),
            "flips": {
                name: {"estimate": float(f[i]), "lower": float(lo[i]), "upper": float(up[i])}
                for name, (f, lo, up) in limits.items()
            },
            "cells": list(result.cells[place]),
        }
        for place, i in enumerate(result.shown_rows)
    ]


def _plain(label: Any) -> Any:
    try:
        json.dumps(label)
    except TypeError:
        return str(label)
    return label
