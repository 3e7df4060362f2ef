"""Tables and picture of twelve retrainings (incumbent.py), from the numbers of all chains."""

from __future__ import annotations

import numpy as np
from _tables import markdown_table
from scipy.stats import t as student

FRESH = "fresh"
ROLLING = "rolling"
PEERS = ("bagging of 5", "last 4 samples pooled", "distilled")
FIXED = {
    "band .1": (0.0, 0.1),
    "memory .5": (0.5, 0.0),
    "memory .5, band .1": (0.5, 0.1),
    "memory .5, band .05": (0.5, 0.05),
    "memory .7, band .05": (0.7, 0.05),
    "memory .7, band .1": (0.7, 0.1),
}
ALL = "mean of all, band .05"
AUTO = "memory auto"
PLAIN = "plain retraining"
DEFAULT = AUTO
HALF = "memory .5, band .1"
LOW = 0.2
"""A decision threshold other than 0.5."""

MAX_FLIPS = 0.15
MAX_LAST_LOSS = 0.5
MAX_FIRST_LOSS = 1.0
"""Targets: flips relative to plain retraining without drift, points lost by the last model and, by
the default, in the month after a change."""


def limits(values):
    """Return the mean and half of the width of its 95 % limits over chains."""
    values = np.asarray(values)
    if len(values) < 2:
        return float(values.mean()), float("nan")
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean()), float(half)


def compared(cell, name):
    """Return what a contender has relative to plain retraining, over the chains of a cell."""
    pairs = [(chain[name], chain[PLAIN]) for chain in cell["chains"] if name in chain]
    if not pairs:
        return None
    ratios = [one["flips"] / max(base["flips"], 1e-9) for one, base in pairs]
    worse = [one["negative"] / max(base["negative"], 1e-9) for one, base in pairs]
    gains = {
        item: limits([100 * (one[item] - base[item]) for one, base in pairs])
        for item in ("accuracy", "last", "after", "first after")
    }
    level = {item: np.mean([one[item] for one, _ in pairs]) for item in ("tail", "stale")}
    return {
        "flips": limits(ratios),
        "negative": limits(worse),
        **gains,
        **level,
        "chains": len(pairs),
    }


def one_table(results, kind, names):
    """Flips relative to plain retraining and change of accuracy, one line per file and model."""
    lines = []
    for cell in results:
        file, model, sample, drift = cell["where"].split(", ")
        if (sample, drift) != (kind, "none"):
            continue
        plain_flips = 100 * np.mean([chain[PLAIN]["flips"] for chain in cell["chains"]])
        line = [f"{file}, {model} ({len(cell['chains'])})", f"{plain_flips:.1f} %"]
        for name in names:
            found = compared(cell, name)
            if found is None:
                line.append("")
                continue
            text = f"{with_limits(found['flips'], '')} / {with_limits(found['accuracy'])}"
            fewer = found["chains"] < len(cell["chains"])
            line.append(f"{text} ({found['chains']})" if fewer else text)
        lines.append(line)
    return markdown_table(("file, model (chains)", "plain flips", *names), lines)


def drift_table(results, names):
    """Mean over files and models, and the worst of them, for every kind of drift."""
    lines = []
    for kind, drift in dict.fromkeys(tuple(cell["where"].split(", ")[2:]) for cell in results):
        cells = [cell for cell in results if cell["where"].endswith(f"{kind}, {drift}")]
        for name in names:
            found = [one for one in (compared(cell, name) for cell in cells) if one is not None]
            if not found:
                continue
            n_chains = sum(one["chains"] for one in found)
            line = [f"{kind}, {drift} ({len(found)}, {n_chains})", name]
            for item in ("flips", "negative"):
                line.append(f"{np.mean([one[item][0] for one in found]):.2f}")
            for item in ("accuracy", "last", "first after", "after"):
                values = [one[item][0] for one in found]
                line.append(f"{np.mean(values):+.2f} / {min(values):+.2f}")
            line.append(f"{100 * np.mean([one['tail'] for one in found]):.0f} %")
            line.append(f"{np.mean([one['stale'] for one in found]):.1f}")
            lines.append(line)
    header = ("samples, drift (cells, chains)", "contender", "flips", "negative flips")
    gains = ("accuracy", "last model", "month after", "two months after")
    return markdown_table((*header, *gains, "99 % row", "wrong ones stay"), lines)


def lost_targets(results):
    """Say where a target is missed, with limits over chains."""
    lines = []
    for cell in results:
        drift = cell["where"].split(", ")[3]
        for name in (DEFAULT, HALF):
            found = compared(cell, name)
            reasons = []
            if drift == "none" and found["flips"][0] > MAX_FLIPS:
                reasons.append(f"{with_limits(found['flips'], '')} of the flips")
            if drift == "none" and found["accuracy"][0] < 0:
                reasons.append(f"accuracy {with_limits(found['accuracy'])}")
            if drift != "none" and found["last"][0] < -MAX_LAST_LOSS:
                reasons.append(f"last model {with_limits(found['last'])}")
            if drift != "none" and name == DEFAULT and found["first after"][0] < -MAX_FIRST_LOSS:
                reasons.append(f"month after {with_limits(found['first after'])}")
            if reasons:
                where = f"{cell['where']} ({found['chains']})"
                lines.append(f"- lost: {where}, {name}: {', '.join(reasons)}")
    return "\n".join(lines) or "No target is missed."


def with_limits(value, sign="+"):
    """Write a mean with its limits, if there is more than one chain."""
    mean, half = value
    return f"{mean:{sign}.2f}" if np.isnan(half) else f"{mean:{sign}.2f} ± {half:.2f}"


def report(results):
    """Return the tables."""
    fixed = ["band .1", "memory .5", HALF, "memory .7, band .05", ALL, AUTO]
    every = [*FIXED, ALL, AUTO, *PEERS]
    low = [{"where": cell["where"], "chains": cell["low"]} for cell in results]
    parts = [
        "Fresh samples without drift:\n\n" + one_table(results, FRESH, [*fixed, *PEERS]),
        "Rolling windows without drift:\n\n" + one_table(results, ROLLING, fixed),
        "Means over files and models / the worst of them:\n\n" + drift_table(results, every),
        f"The same at a decision threshold of {LOW}, bands of {0.2 * LOW:.2f}; accuracy with the "
        "costs of errors that this threshold implies:\n\n" + drift_table(low, [HALF, AUTO]),
        "Missed targets (chains):\n\n" + lost_targets(results),
    ]
    return "\n\n".join(parts)


def draw(results, path):
    """Draw flips and accuracy of every contender relative to plain retraining."""
    import matplotlib.pyplot as plt

    cells = [cell for cell in results if cell["where"].endswith(f"{FRESH}, none")]
    fig, ax = plt.subplots(figsize=(6.4, 4))
    for name in [PLAIN, *PEERS, "band .1", "memory .5", HALF, AUTO]:
        found = [one for one in (compared(cell, name) for cell in cells) if one is not None]
        flips = [one["flips"][0] for one in found]
        gains = [one["accuracy"][0] for one in found]
        marker = "o" if name in FIXED or name == AUTO else "s"
        ax.scatter(flips, gains, 14, marker=marker, alpha=0.35)
        color = ax.collections[-1].get_facecolor()[0, :3]
        ax.scatter(np.mean(flips), np.mean(gains), 90, marker=marker, color=[color], label=name)
    ax.axhline(0, color="0.7", lw=0.8, zorder=0)
    ax.set(
        xlabel="predictions that change per retraining (plain retraining: 1)",
        ylabel="change of accuracy (points)",
        xlim=(0, None),
    )
    ax.legend(fontsize=8)
    fig.tight_layout()
    fig.savefig(path)
