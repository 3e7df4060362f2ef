"""What the experiments on sample sizes share: a table of sizes, its exponents, one figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from replearn_lab.bisection import Crossing
from replearn_lab.drawing import COLORS, legend, panel, ticks
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.measuring import exponent, weighted_exponent


def line(name: str, x: Sequence[float], sizes: Sequence[float], expected: str) -> Numbers:
    """Return one line of sizes against a parameter, with its measured exponent."""
    return {
        "name": name,
        "x": list(x),
        "sizes": [float(size) for size in sizes],
        "exponent": exponent(x, sizes),
        "expected": expected,
    }


def fitted_line(
    bench: Bench,
    name: str,
    x: Sequence[Any],
    crossing: Callable[[Any], Crossing],
    expected: str,
    unit: float = 1.0,
) -> Numbers:
    """Return one line of sizes that bisections on fitted learners find, in units of rows."""
    found = []
    for value in x:
        bench.say(f"{name} at {value}")
        found.append(crossing(value))
    sizes = [unit * one.size for one in found]
    errors = [one.error for one in found]
    return {
        **line(name, x, sizes, expected),
        "exponent": weighted_exponent(x, sizes, errors),
        "errors": errors,
        "tried": [one.tried for one in found],
    }


def draw_lines(figure: Any, parameter: str, lines: list[Numbers], *, place: Any = 111) -> None:
    """Draw sizes against the parameter on logarithmic scales, exponents in the legend."""
    axes = panel(figure, parameter, "needed", log="xy", place=place)
    ticks(axes, lines[0]["x"])
    for one, color in zip(lines, COLORS, strict=False):
        label = f"{one['name']}: {one['exponent'][0]:.2f}"
        style = {"color": color, "label": label, "ms": 4, "lw": 1.2}
        if "errors" in one:
            bars = [
                2.0 * size * error for size, error in zip(one["sizes"], one["errors"], strict=True)
            ]
            axes.errorbar(one["x"], one["sizes"], bars, fmt="s--", capsize=2, **style)
        else:
            axes.plot(one["x"], one["sizes"], "o-", **style)
    legend(axes)


def said(lines: list[Numbers]) -> str:
    """Write each line's exponent with its limits and what the paper says."""
    return "; ".join(
        f"{one['name']}: {one['exponent'][0]:.3f} ({one['exponent'][1]:.3f} to "
        f"{one['exponent'][2]:.3f}), {one['expected']}"
        for one in lines
    )
