"""The picture of the gap over n: one column per data set, the whole gap above its parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _frontier_picture import COLOURS, pyplot
from _tables import Record

ROOT = "sqrt"
BLOCKS_AT = 75
ROWS_AT = 10_000
"""The growing number of blocks meets the fixed one at this sample size."""

PARTS = {
    "gap": "gap (points): certified rule\nagainst single boosting",
    "blocks": "of this, lost by blocks:\nmajority against single boosting",
    "thresholds": "of this, lost by thresholds:\ncertified rule against majority",
    "own_gap": "certified rule against\nits own learner's single fit",
}
LINES = ("-", "--", ":")


def number_of_blocks(rule: str, n: int) -> int:
    return round(BLOCKS_AT * (n / ROWS_AT) ** 0.5) if rule == ROOT else int(rule)


def draw(lines: Sequence[Record], path: Path) -> None:
    """Draw the gap and its parts over n, a colour per learner, a dash per rule for T."""
    plt = pyplot()
    sets, models = (list(dict.fromkeys(s[name] for s in lines)) for name in ("data", "model"))
    rules = (str(BLOCKS_AT), ROOT)
    figure, panels = plt.subplots(
        len(PARTS),
        len(sets),
        figsize=(3.2 * len(sets) + 1, 11),
        layout="constrained",
        sharex="col",
        sharey="col",
        squeeze=False,
    )
    for column, data in enumerate(sets):
        for row, part in enumerate(PARTS):
            axes = panels[row][column]
            for model, colour in zip(models, COLOURS, strict=False):
                for rule, dash in zip(rules, LINES, strict=False):
                    _curve(axes, lines, (data, model, rule), part, colour, dash)
            axes.axhline(0, color="grey", linewidth=0.8)
            axes.set_xscale("log")
            sizes = sorted({s["n"] for s in lines if s["data"] == data})
            axes.set_xticks(sizes, [f"{n / 1000:.3g}k" for n in sizes])
            axes.minorticks_off()
            axes.grid(alpha=0.3)
            panels[row][0].set_ylabel(PARTS[part])
        panels[0][column].set_title(data)
        panels[0][column].set_ylim(bottom=_lowest(lines, data))
        panels[-1][column].set_xlabel("n, rows of a sample")
    handles = [
        plt.Line2D([], [], color=colour, linewidth=3, label=model)
        for model, colour in zip(models, COLOURS, strict=False)
    ]
    handles += [
        plt.Line2D([], [], color="black", linestyle=dash, label=_name_of(rule))
        for rule, dash in zip(rules, LINES, strict=False)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize="small")
    figure.savefig(path, dpi=90)


def _lowest(lines: Sequence[Record], data: str) -> float:
    """Where the frame ends: blocks that answer a constant (and never flip) may lie below it."""
    gaps = [s[part] for s in lines if s["data"] == data and s["ratio"] for part in PARTS]
    return 100 * min(gaps, default=0) - 0.5


def _curve(
    axes: Any, lines: Sequence[Record], kind: Any, part: str, colour: str, dash: str
) -> None:
    """Put one learner under one rule into one panel, with standard errors."""
    data, model, rule = kind
    chosen = sorted(
        (s["n"], s[part], s[f"{part}_error"])
        for s in lines
        if (s["data"], s["model"], s["T"]) == (data, model, number_of_blocks(rule, s["n"]))
    )
    if chosen:
        n, value, error = zip(*chosen, strict=True)
        points, errors = ([100 * v for v in values] for values in (value, error))
        axes.errorbar(n, points, errors, color=colour, linestyle=dash, marker=".", elinewidth=0.7)


def _name_of(rule: str) -> str:
    return "T grows like the root of n" if rule == ROOT else f"T = {rule} blocks"
