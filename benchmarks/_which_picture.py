"""Accuracy against the flips of the 99 % row, for the guide "Which learner should I use?"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

CONTENDERS = {
    "single fit": ("o", "0.45"),
    "bagging, 24": ("s", "tab:blue"),
    "bagging, 5": ("D", "tab:cyan"),
    "our defaults": ("^", "tab:green"),
    "score, rho 0.2": ("v", "tab:orange"),
    "score, rho 0.1": ("v", "tab:red"),
}
NAMES = {
    "logreg": "logistic regression",
    "boosting": "boosting",
    "tree": "tree",
    "forest": "forest",
}


def shown_contenders(results: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {n: look for n, look in CONTENDERS.items() if any(n in s for s in results.values())}


def draw(results: dict[str, Any], models: list[str], path: Path) -> None:
    """Draw one panel per learner, one mark per contender and file."""
    shown = [m for m in models if any(key.endswith(f"-{m}") for key in results)]
    figure, panels = plt.subplots(1, len(shown), figsize=(3.3 * len(shown), 3.6), squeeze=False)
    for panel, model in zip(panels[0], shown, strict=True):
        for name, (marker, colour) in shown_contenders(results).items():
            found = [
                s[name] for key, s in results.items() if key.endswith(f"-{model}") and name in s
            ]
            gains = [100 * item["gain"] for item in found]
            panel.scatter(
                gains, [item["flips_99"] for item in found], marker=marker, color=colour,
                label=name, alpha=0.8,
            )  # fmt: skip
        panel.set_title(NAMES[model])
        panel.set_xlabel("accuracy against the single fit, points")
        panel.set_ylim(0, 1.05)
        panel.axvline(0, color="0.8", zorder=0)
    panels[0][0].set_ylabel("flips of the 99 % row")
    handles, labels = panels[0][-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(path, dpi=110)
