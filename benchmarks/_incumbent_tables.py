"""Tables of twelve retrainings with an incumbent (incumbent.py), from its records."""

from __future__ import annotations

import numpy as np
from _tables import markdown_table

CHANGE = 6
SETTLED = ("adult", "default_credit_tw", "bank_marketing", "nycflights13")
LOOKED_AT = ("compas", "fertility1980")


def status(data):
    """Say what a file was used for."""
    if data in SETTLED:
        return "settled"
    return "segments" if data in LOOKED_AT else "confirmed"


def without_drift(records):
    """One line per file and model: flips, accuracy, log loss and alarms on fresh samples."""
    lines = []
    for one in records:
        if (one["samples"], one["drift"], one["threshold"]) != ("fresh", "none", 0.5):
            continue
        low = next(
            two
            for two in records
            if two["threshold"] == 0.1
            and all(two[key] == one[key] for key in ("data", "model", "samples", "drift"))
        )
        lines.append(
            (
                f"{one['data']}, {one['model']}",
                status(one["data"]),
                f"{100 * one['plain_flips']:.1f} %",
                *(
                    f"{two['flips']:.2f} / {100 * np.mean(two['accuracy'][1:]):+.2f}"
                    for two in (one, low)
                ),
                f"{np.mean(one['log_loss'][1:]):+.3f}",
                f"{one['alarms']} and {low['alarms']} of {11 * one['chains']}",
            )
        )
    header = ("file, model", "used for", "plain flips", "at .5", "at .1", "log loss", "alarms")
    return markdown_table(header, lines)


def with_drift(records):
    """Mean over files and models, and the worst of them, for every kind of drift."""
    lines = []
    keys = dict.fromkeys((one["samples"], one["drift"], one["threshold"]) for one in records)
    for samples, drift, threshold in keys:
        for name, is_chosen in (("settled", True), ("others", False)):
            cells = [
                one
                for one in records
                if (one["samples"], one["drift"], one["threshold"]) == (samples, drift, threshold)
                and (status(one["data"]) == "settled") == is_chosen
            ]
            if cells:
                lines.append(
                    (f"{samples}, {drift}, {threshold:g}", f"{name} ({len(cells)})", *_line(cells))
                )
    header = ("samples, drift, threshold", "files (cells)", "flips", "accuracy", "month of change")
    return markdown_table(
        (*header, "last month", "log loss", "gap of mean", "gap in segment", "alarms then"), lines
    )


def _line(cells):
    gains = [
        [100 * np.mean(one["accuracy"][1:]) for one in cells],
        [100 * one["accuracy"][CHANGE] for one in cells],
        [100 * one["accuracy"][-1] for one in cells],
    ]
    gaps = [[one[name][CHANGE] for one in cells] for name in ("mean", "segment")]
    n_chains = sum(one["chains"] for one in cells)
    return (
        f"{np.mean([one['flips'] for one in cells]):.2f}",
        *(f"{np.mean(values):+.2f} / {min(values):+.2f}" for values in gains),
        f"{np.mean([np.mean(one['log_loss'][1:]) for one in cells]):+.3f}",
        *(f"{np.mean(values):.2f} / {max(values):.2f}" for values in gaps),
        f"{sum(one['noticed'] for one in cells)} of {n_chains}",
    )


def false_alarms(records):
    """Count alarms without drift."""
    lines = []
    keys = dict.fromkeys((one["samples"], one["threshold"]) for one in records)
    for samples, threshold in keys:
        cells = [
            one
            for one in records
            if (one["samples"], one["drift"], one["threshold"]) == (samples, "none", threshold)
        ]
        n_alarms = sum(one["alarms"] for one in cells)
        n = sum(11 * one["chains"] for one in cells)
        lines.append((f"{samples}, {threshold:g}", f"{n_alarms} of {n:,} ({n_alarms / n:.1%})"))
    return markdown_table(("samples, threshold", "alarms without drift"), lines)


def report(records):
    """Return the tables."""
    return "\n\n".join(
        (
            "Alarms where nothing changes:\n\n" + false_alarms(records),
            "Fresh samples without drift, flips relative to plain retraining / points of accuracy "
            "at both thresholds:\n\n" + without_drift(records),
            "Mean over files and models / the worst of them; gaps are those of mean probabilities "
            "to plain retraining's in the month of the change, relative to it:\n\n"
            + with_drift(records),
        )
    )
