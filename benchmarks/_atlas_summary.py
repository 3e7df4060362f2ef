"""The flip atlas in a few numbers: medians over tables, and where remedies lose."""

from __future__ import annotations

from typing import Any

import numpy as np
from _tables import markdown_table

LOST = -0.01
"""A remedy loses where it costs a point of accuracy."""


def summary(data: dict[str, Any]) -> str:
    """Return two tables in Markdown."""
    return f"{_by_model(data)}\n\n{_by_remedy(data)}"


def useful(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells whose predictions depend on the row."""
    return [cell for cell in data["cells"] if not cell["one_class"]]


def _by_model(data: dict[str, Any]) -> str:
    rows = []
    for model, title in data["models"].items():
        cells = [cell for cell in useful(data) if cell["model"] == model]
        if not cells:
            continue
        changed = np.array([[share[0] for share in cell["changed"]] for cell in cells])
        coins = np.array([cell["coin"][0] for cell in cells])
        texts = [
            f"{_percent(np.median(column))} ({_percent(column.min())} to {_percent(column.max())})"
            for column in [*changed.T, coins]
        ]
        rows.append([title, len(cells), *texts])
    shares = [f"{100 * share:g} % new rows" for share in data["shares"]]
    return markdown_table(["model", "tables", *shares, "close to a coin toss"], rows)


def _by_remedy(data: dict[str, Any]) -> str:
    rows = []
    for remedy, title in data["remedies"].items():
        pairs = [
            (cell["remedies"]["baseline"], cell["remedies"][remedy])
            for cell in useful(data)
            if cell["remedies"] and remedy in cell["remedies"]
        ]
        if not pairs:
            continue
        left = [ours["changed"][0] / max(base["changed"][0], 1e-9) for base, ours in pairs]
        gained = np.array([ours["gained"][0] for _, ours in pairs])
        more = sum(ours["changed"][0] > base["changed"][0] for base, ours in pairs)
        rows.append(
            [
                title,
                len(pairs),
                f"{np.median(left):.2f}",
                f"{100 * np.median(gained):+.1f}",
                f"{100 * gained.min():+.1f} to {100 * gained.max():+.1f}",
                int((gained <= LOST).sum()),
                more,
            ]
        )
    head = ["remedy", "cells", "flips left (median)", "accuracy, points (median)", "range"]
    return markdown_table([*head, "loses a point or more", "flips more"], rows)


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
