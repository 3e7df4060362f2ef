"""Axes in one style for all figures of the lab."""

from __future__ import annotations

from typing import Any

COLORS = ("#1f6fb4", "#d1495b", "#3a7d44", "#8e6c8a", "#e0a030", "#555555")


def panel(figure: Any, x: str, y: str, *, title: str = "", log: str = "", place: Any = 111) -> Any:
    """Return axes with names; ``log`` names the axes on a logarithmic scale, as "xy"."""
    axes = figure.add_subplot(*place) if isinstance(place, tuple) else figure.add_subplot(place)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, fontsize=10)
    for name in log:
        axes.set(**{f"{name}scale": "log"})
        # Labels between powers of ten overlap in a small figure.
        getattr(axes, f"{name}axis").set_minor_formatter("")
    axes.grid(alpha=0.25, linewidth=0.6)
    return axes


def ticks(axes: Any, values: Any) -> None:
    """Put the ticks of a logarithmic x axis at these values."""
    axes.set_xticks(list(values), [f"{value:g}" for value in values], fontsize=8)
    axes.set_xticks([], minor=True)


def legend(axes: Any, **options: Any) -> None:
    """Add a small legend."""
    axes.legend(fontsize=8, frameon=False, **options)


def limits(axes: Any, x: Any, rows: Any, label: str, color: str) -> None:
    """Draw measured shares with their confidence limits: rows of (share, low, high)."""
    middle = [row[0] for row in rows]
    below = [max(0.0, row[0] - row[1]) for row in rows]
    above = [max(0.0, row[2] - row[0]) for row in rows]
    axes.errorbar(x, middle, [below, above], fmt="o", ms=4, lw=1, color=color, label=label)
