"""The picture of the frontier: one column per base learner, mean flips above, tail flips below."""

from __future__ import annotations

from pathlib import Path
from typing import Any

STYLES = {
    ("arcsine", "hard"): ("o", "arcsine, hard votes (default)"),
    ("uniform", "hard"): ("s", "uniform, hard votes"),
    ("programme", "hard"): ("^", "programme, hard votes"),
    ("arcsine", "soft"): ("P", "arcsine, soft votes"),
    ("uniform", "soft"): ("X", "uniform, soft votes"),
    ("majority", "hard"): ("*", "plain majority (promises nothing)"),
}
MEASURES = {"flips": "mean flips (%)", "flips_99": "flips of the 99 % row (%)"}
COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red")


def draw(results: dict[str, Any], path: Path) -> None:
    """Draw accuracy against flips for every model (columns) and sample size (colours)."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    models = list(dict.fromkeys(found["model"] for found in results.values()))
    sizes = sorted({found["n"] for found in results.values()}, reverse=True)
    figure, panels = plt.subplots(
        2,
        len(models),
        figsize=(3.4 * len(models) + 0.6, 8.2),
        layout="constrained",
        sharey="col",
        squeeze=False,
    )
    for found in results.values():
        column = models.index(found["model"])
        for row, measure in enumerate(MEASURES):
            _panel(panels[row][column], found, measure, COLOURS[sizes.index(found["n"])])
    for column, model in enumerate(models):
        panels[0][column].set_title(model)
        for row, label in enumerate(MEASURES.values()):
            panels[row][column].set_xlabel(label)
            panels[row][column].set_xlim(left=0)
            panels[row][column].grid(alpha=0.3)
    for row in range(2):
        panels[row][0].set_ylabel("accuracy against the single fit (points)")
    _legend(figure, plt, sizes)
    figure.savefig(path, dpi=110)


def _panel(axes: Any, found: dict[str, Any], measure: str, colour: str) -> None:
    """Put the settings of one model and sample size into one panel."""
    axes.axhline(0, color="grey", linewidth=0.8)
    single = found["single"]
    if measure == "flips":
        axes.axvline(100 * single["flips"], color=colour, linewidth=0.9, linestyle="--")
    best = _with_most_partitions(found["settings"])
    path = []
    for s in found["settings"]:
        kind = s["law"], s["vote"]
        x, y = 100 * s[measure], 100 * s["gain"]
        if s is best[kind, s["T"]]:
            if kind[0] == "majority" and measure == "flips_99":
                continue  # the unlucky rows of a majority always flip: they would squeeze the rest
            filled = colour if kind == ("arcsine", "hard") else "none"
            axes.plot(x, y, STYLES[kind][0], color=colour, markerfacecolor=filled, markersize=6)
            if kind == ("arcsine", "hard"):
                path.append((x, y))
                axes.annotate(
                    str(s["T"]),
                    (x, y),
                    textcoords="offset points",
                    xytext=(-4, 5),
                    ha="right",
                    fontsize="small",
                    color=colour,
                )
        elif kind == ("arcsine", "hard") and s["partitions"] == 1:
            axes.plot(x, y, ".", color=colour, markersize=5)
            last = best[kind, s["T"]]
            ends = [x, 100 * last[measure]], [y, 100 * last["gain"]]
            axes.plot(*ends, color=colour, linewidth=0.7, alpha=0.6)
    axes.plot(*zip(*sorted(path), strict=True), color=colour, linewidth=1.2, alpha=0.8)


def _with_most_partitions(settings: list[dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    best: dict[Any, dict[str, Any]] = {}
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
        line(color="black", marker=".", linewidth=0.7, label="the same with one partition"),
        line(color="black", linestyle="--", label="flips of the single fit"),
    ]
    handles += [
        line(color=colour, linewidth=3, label=f"n = {size:,}")
        for size, colour in zip(sizes, COLOURS, strict=False)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize="small")
