"""What pictures of the guides share: the register, sizes, colours, and boxes with arrows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyBboxPatch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

DOCS = Path(__file__).resolve().parents[1] / "docs"
IMAGES = DOCS / "images"
NARROW = (5.4, 3.4)
LOW = (5.4, 2.4)
TALL = (5.4, 5.6)
BEFORE = "tab:orange"
AFTER = "tab:green"
QUIET = "0.6"
PERCENT = mpl.ticker.PercentFormatter(1, decimals=0)

PICTURES: dict[str, Callable[[], Any]] = {}


def picture(draw: Callable[[], Any]) -> Callable[[], Any]:
    """Register a function that returns a figure, under its name."""
    PICTURES[draw.__name__.replace("_", "-")] = draw
    return draw


def people(n: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Return the sample of the guides."""
    rng = np.random.default_rng(0)
    X = rng.normal(50, 10, (n, 4))
    return X, np.where(X[:, 0] + rng.normal(0, 8, n) > 50, "yes", "no")


def scaled_regression() -> Any:
    """Return the estimator of the guides."""
    return make_pipeline(StandardScaler(), LogisticRegression())


def table_of(page: str, header: str) -> list[list[str]]:
    """Return the cells of a table of a page; an empty first cell repeats the one above."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(header)) + 2
    rows: list[list[str]] = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows.append([cells[0] or rows[-1][0], *cells[1:]])
    return rows


class Box(NamedTuple):
    """A rectangle: its centre and its size, in inches."""

    x: float
    y: float
    width: float
    height: float

    def edge(self, other: Box) -> tuple[float, float]:
        """Return where a line to another box leaves this one: above, below or at a side."""
        if abs(self.y - other.y) >= (self.height + other.height) / 2 + 0.15:
            side = np.sign(other.y - self.y)
            overlap_low = max(self.x - self.width / 2, other.x - other.width / 2)
            overlap_high = min(self.x + self.width / 2, other.x + other.width / 2)
            middle = (overlap_low + overlap_high) / 2
            x = middle if overlap_low < overlap_high else self.x
            return x, self.y + side * self.height / 2
        return self.x + np.sign(other.x - self.x) * self.width / 2, self.y


COLOURS = {"step": "0.93", "data": "#fde8d4", "result": "#dcefdc", "shared": "#dde8f6"}
"""Of boxes, by what they hold."""


class Diagram:
    """Boxes with words, and arrows between them; one unit is one inch."""

    def __init__(self, height: float, width: float = 5.4) -> None:
        self.figure, self.ax = plt.subplots(figsize=(width, height))
        self.ax.set_axis_off()
        self.ax.set(xlim=(0, width), ylim=(0, height))

    def box(self, x: float, y: float, words: str, kind: str = "step", width: float = 1.5) -> Box:
        """Draw words in a box around a centre."""
        height = 0.17 * (words.count("\n") + 1) + 0.18
        corner = (x - width / 2, y - height / 2)
        style = {"boxstyle": "round,pad=0,rounding_size=0.07", "edgecolor": "0.5", "lw": 0.8}
        colour = COLOURS[kind]
        self.ax.add_patch(FancyBboxPatch(corner, width, height, facecolor=colour, **style))
        self.words(x, y, words)
        return Box(x, y, width, height)

    def words(self, x: float, y: float, words: str, **style: Any) -> None:
        """Write words around a centre."""
        centre = {"ha": "center", "va": "center", "fontsize": 10, "linespacing": 1.15}
        self.ax.text(x, y, words, **(centre | style))

    def arrow(self, start: Box, end: Box, words: str = "", style: str = "->") -> None:
        """Draw an arrow from one box to another, with words at its middle."""
        first = start.edge(end)
        last = end.edge(start)
        look = {"arrowstyle": style, "color": "0.35", "shrinkA": 1, "shrinkB": 1, "lw": 1}
        self.ax.annotate("", last, first, arrowprops=look)
        if words:
            x, y = np.mean([first, last], axis=0)
            vertical = abs(first[1] - last[1]) > abs(first[0] - last[0])
            place = {"ha": "left"} if vertical else {"va": "bottom"}
            shift = (0.08, 0.0) if vertical else (0.0, 0.04)
            self.words(x + shift[0], y + shift[1], words, fontsize=9, color="0.3", **place)


def old_and_new() -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """Return the two models of the guides on updates, and rows that neither has seen."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    y = (X[:, 0] + rng.normal(size=4000) > 0).astype(int)
    old = LogisticRegression().fit(X[:500], y[:500])
    new = LogisticRegression(C=0.01).fit(X[500:1000], y[500:1000])
    return old, new, X[1000:], y[1000:]
