"""The picture of the frontier: one column per base learner, mean flips above, tail flips below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _tables import Record, grouped

STYLES = {
    ("arcsine", "hard"): ("o", "arcsine, hard votes (default); number: T"),
    ("uniform", "hard"): ("s", "uniform, hard votes"),
    ("arcsine", "soft"): ("P", "arcsine, soft votes"),
    ("uniform", "soft"): ("X", "uniform, soft votes"),
    ("majority", "hard"): ("*", "plain majority (promises nothing)"),
}
MEASURES = {"flips": "mean flips (%)", "flips_99": "flips of the 99 % row (%)"}
DEFAULT = ("arcsine", "hard")
SHOWN_BLOCKS = (18, 32, 64, 128)
"""Labels, and the other laws and votes, stand at these numbers of blocks only."""

BELOW = 0.02
"""Soft votes that lose much more than all hard votes are left out of the frame."""

COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown")


def pyplot() -> Any:
    """Load matplotlib only when a picture is wanted, without a window."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def draw(records: Sequence[Record], path: Path) -> None:
    """Draw accuracy against flips for every model (columns) and sample size (colours)."""
    plt = pyplot()
    models = list(dict.fromkeys(one["model"] for one in records))
    sizes = sorted({one["n"] for one in records}, reverse=True)
    settings = [one for one in records if one.get("T") is not None]
    figure, panels = plt.subplots(
        2,
        len(models),
        figsize=(3.6 * len(models) + 0.6, 9),
        layout="constrained",
        sharey="col",
        squeeze=False,
    )
    for (model, n), found in grouped(settings, "model", "n").items():
        column, place = models.index(model), sizes.index(n)
        for row, measure in enumerate(MEASURES):
            panel = panels[row][column]
            _ensemble(panel, found, measure, COLOURS[place], every_kind=place == 0)
            panel.set_xlabel(MEASURES[measure])
            panel.grid(alpha=0.3)
    for column, model in enumerate(models):
        panels[0][column].set_title(f"{model}\n{_single_fits(records, model)}", fontsize="small")
        hard = [s["gain"] for s in settings if s["model"] == model and s["vote"] == "hard"]
        panels[1][column].set_ylim(100 * (min(hard) - BELOW), 100 * max(max(hard), 0) + 0.5)
    for row in range(2):
        panels[row][0].set_ylabel("accuracy against the single fit (points)")
    _legend(figure, plt, sizes)
    figure.savefig(path, dpi=110)


def _single_fits(records: Sequence[Record], model: str) -> str:
    flips = ", ".join(
        f"{100 * one['flips']:.1f} % (n = {one['n']:,})"
        for one in records
        if one["model"] == model and one.get("T") is None
    )
    return f"single fit flips {flips}"


def _ensemble(
    axes: Any, found: Sequence[Record], measure: str, colour: str, every_kind: bool
) -> None:
    """Put the settings of one model and sample size into one panel."""
    axes.axhline(0, color="grey", linewidth=0.8)
    best = _with_most_partitions(found)
    path = []
    for s in found:
        kind = s["law"], s["vote"]
        x, y = 100 * s[measure], 100 * s["gain"]
        last = best[kind, s["T"]]
        if kind != DEFAULT and s is last and every_kind and s["T"] in SHOWN_BLOCKS:
            # The unlucky rows of a majority always flip: they would squeeze the rest.
            if not (kind[0] == "majority" and measure == "flips_99"):
                axes.plot(x, y, STYLES[kind][0], color=colour, fillstyle="none", markersize=7)
        elif kind == DEFAULT and s is last:
            path.append((s["T"], x, y))
            axes.plot(x, y, "o", color=colour, markersize=5)
        elif kind == DEFAULT and s["partitions"] == 1 and every_kind and s["T"] in SHOWN_BLOCKS:
            axes.plot(x, y, ".", color=colour, markersize=5)
            ends = [x, 100 * last[measure]], [y, 100 * last["gain"]]
            axes.plot(*ends, color=colour, linewidth=0.7, linestyle=":")
    path.sort()
    axes.plot(*zip(*[place[1:] for place in path], strict=True), color=colour, linewidth=1.2)
    for n_blocks, x, y in path:
        if n_blocks in SHOWN_BLOCKS:
            axes.annotate(
                str(n_blocks),
                (x, y),
                textcoords="offset points",
                xytext=(-6, -4),
                ha="right",
                fontsize="small",
                color=colour,
            )
    axes.margins(x=0.12)


def _with_most_partitions(settings: Sequence[Record]) -> dict[Any, Record]:
    best: dict[Any, Record] = {}
    for s in settings:
        key = (s["law"], s["vote"]), s["T"]
        if key not in best or s["partitions"] > best[key]["partitions"]:
            best[key] = s
    return best


def _legend(figure: Any, plt: Any, sizes: list[int]) -> None:
    def line(**look: Any) -> Any:
        return plt.Line2D([], [], **look)

    handles = [
        line(color="black", marker=marker, linestyle="", label=label, markerfacecolor=filled)
        for (marker, label), filled in zip(STYLES.values(), ["black"] + ["none"] * 5, strict=True)
    ]
    handles += [
        line(color="black", marker=".", linestyle=":", label="default law, one partition"),
    ]
    handles += [
        line(color=colour, linewidth=3, label=f"n = {size:,}")
        for size, colour in zip(sizes, COLOURS, strict=False)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize="small")
