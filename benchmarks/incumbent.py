"""Twelve retrainings: an incumbent that remembers, against plain retraining and other peers.

    python benchmarks/incumbent.py --data DIR [--sets adult] [--models logreg,boosting] [--chains 2]

Chains of twelve models, on fresh samples and on rolling windows, without drift and with four kinds
of it. Per contender: flips and negative flips per retraining relative to plain retraining, accuracy
(mean, of the last model, and in the two months after a sudden change) minus that of plain
retraining, how often the row at the 99th percentile flips, and staleness: for how many retrainings
a wrong prediction survives. Scores of the models are kept in ``--scores`` and are not computed
again. Limits are those of Student's t over chains, 95 %.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from _cells import add_report_arguments, markdown_table, write_report
from _data import add_data_arguments, load, parse
from _incumbent_scores import CHANGE, DRIFTS, FRESH, MONTHS, PEERS, ROLLING, WINDOW, Fits, compute
from scipy.stats import t as student

from replearn.learners.incumbent_memory import (
    DRIFTED,
    WAITING,
    Errors,
    choose_setting,
    decide,
    error_costs,
    got_worse,
    settings_to_try,
)
from replearn.learners.incumbent_rule import Replay, Setting, replay

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


def settings_of(name, threshold=0.5):
    """Return memory and band of each retraining after the first."""
    if name == ALL:
        return [Setting(min(k / (k + 1.0), 0.8), 0.05, threshold) for k in range(1, MONTHS)]
    memory, band = FIXED[name]
    return [Setting(memory, 2.0 * threshold * band, threshold)] * (MONTHS - 1)


def after(scores, settings, threshold=0.5):
    """Replay a chain at points for which every model has a score."""
    start = scores[0].astype(float)
    codes = (start > threshold).astype(np.intp)
    if not settings:
        age = np.zeros(len(codes), dtype=np.intp)
        return Replay(start, np.zeros((len(codes), 2)), codes, codes, age)
    return replay(start, codes, list(scores[1:].astype(float)), settings)


def auto_settings(cell, threshold=0.5):
    """Choose memory and band month by month on cross-fitted rows, as memory="auto" does."""
    settings = []
    cautious = False
    errors = None  # of the incumbent, when it was trained
    first = 0  # the chain starts again after a reset
    waits_until = 0  # the window has rows from before a change
    for month in range(1, MONTHS):
        known = cell["labels"][month] >= 0
        remembered = after(cell["seen"][month, first:month, known].T, settings[first:], threshold)
        new = cell["cross"][month, known].astype(float)
        codes = cell["labels"][month, known].astype(np.intp)
        fell = errors is not None and errors.grew_to(Errors.of(remembered.prediction != codes))
        choice = choose_setting(
            remembered,
            new,
            codes,
            settings_to_try(0.2 * threshold, threshold),
            max_loss=0.0,
            costs=error_costs(2, threshold),
            cautious=cautious or fell,
        )
        if "window" in cell and month < waits_until:
            choice = choice.forgotten(WAITING)
        elif "window" in cell and is_drifted(cell, month, int(known.sum()), threshold):
            choice = choice.forgotten(DRIFTED)
            waits_until = month + WINDOW - 1
        settings.append(choice.setting)
        cautious = choice.rejected > 0
        errors = Errors.of(decide(remembered, new, choice.setting) != codes)
        if choice.is_reset:
            first = month
    return settings


def is_drifted(cell, month, n_new, threshold):
    """Compare the new rows of a window with the others, as memory="auto" does."""
    wrong = (cell["window"][month] > threshold) != cell["window_labels"][month]
    return got_worse(wrong, np.arange(len(wrong)) >= len(wrong) - n_new)


def predictions(cell, settings, threshold=0.5):
    """Return predictions of every month on the test rows as they are, or as they become."""

    def in_month(scores, month):
        return after(scores[: month + 1], settings[:month], threshold).prediction

    variants = cell["test"]
    return np.array([[in_month(scores, month) for month in range(MONTHS)] for scores in variants])


def plain(scores, threshold=0.5):
    return (scores > threshold).astype(np.intp)


def measure(found, cell, threshold=0.5):
    """Measure predictions (variants, months, rows); errors cost what the threshold says."""
    variant = [int(len(found) > 1 and month >= CHANGE) for month in range(MONTHS)]
    now = np.array([found[variant[month], month] for month in range(MONTHS)])
    before = np.array([found[variant[month], month - 1] for month in range(1, MONTHS)])
    y = cell["y_test"]
    right = now == y
    weights = cell["weights"]
    costs = error_costs(2, threshold)[y.astype(np.intp)]
    accuracy = (right * costs * weights).sum(axis=1) / weights.sum(axis=1)
    changed = now[1:] != before
    worse = changed & (before == y[1:])
    return {
        "flips": float(changed.mean()),
        "negative": float(worse.mean()),
        "accuracy": float(accuracy.mean()),
        "last": float(accuracy[-1]),
        "after": float(accuracy[CHANGE : CHANGE + 2].mean()),
        "first after": float(accuracy[CHANGE]),
        "tail": float(np.quantile(changed.mean(axis=0), 0.99)),
        "stale": staleness(now, y),
    }


def staleness(found, y):
    """Mean number of retrainings that a wrong prediction survives, from when it is first given."""
    wrong = np.zeros((MONTHS + 2, found.shape[1]), dtype=int)
    wrong[1:-1] = found != y
    starts = (np.diff(wrong, axis=0) == 1).sum()
    return float(wrong.sum() / max(starts, 1))


def evaluate(cell):
    """Return the measures of every contender."""
    names = [*FIXED, ALL, AUTO]
    found = {PLAIN: measure(plain(cell["test"]), cell)}
    for name in names:
        settings = auto_settings(cell) if name == AUTO else settings_of(name)
        found[name] = measure(predictions(cell, settings), cell)
    for name in PEERS:
        if name in cell:
            found[name] = measure(plain(cell[name][np.newaxis]), cell)
    return found


def evaluate_low(cell):
    """Return the measures of two contenders at a low decision threshold, from the same scores."""
    found = {PLAIN: measure(plain(cell["test"], LOW), cell, LOW)}
    for name in (HALF, AUTO):
        settings = auto_settings(cell, LOW) if name == AUTO else settings_of(name, LOW)
        found[name] = measure(predictions(cell, settings, LOW), cell, LOW)
    return found


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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_arguments(parser, "adult,default_credit_tw,bank_marketing,nycflights13,fertility1980")
    parser.add_argument("--models", default="logreg,boosting,forest,tree")
    parser.add_argument("--drifts", default=",".join(DRIFTS))
    parser.add_argument("--samples", default=f"{FRESH},{ROLLING}")
    parser.add_argument("--chains", type=int, default=5)
    parser.add_argument("--peer-chains", type=int, default=5, help="chains that have peers")
    parser.add_argument("--scores", type=Path, default=Path("incumbent-scores"))
    parser.add_argument("--figure", type=Path, help="draw flips and accuracy into this file")
    parser.add_argument("--keep", type=Path, help="write the numbers of all chains into this file")
    parser.add_argument("--kept", type=Path, help="only the tables, from the numbers of a file")
    add_report_arguments(parser, "incumbent")
    options = parse(parser)
    warnings.simplefilter("ignore")
    results = measured(options) if options.kept is None else json.loads(options.kept.read_text())
    if options.keep:
        lines = ",\n".join(json.dumps(rounded(cell), separators=(",", ":")) for cell in results)
        options.keep.write_text(f"[\n{lines}\n]\n")
    write_report(options, results, report(results))
    if options.figure:
        draw(results, options.figure)


def measured(options):
    """Compute the scores that are missing, and measure all chains."""
    options.scores.mkdir(parents=True, exist_ok=True)
    for chain in range(options.chains):  # one chain of everything comes first
        compute_scores(options, chain)
    results = []
    for where, paths in cells_of(options):
        ready = [path for path in paths if path.exists()]
        if not ready:
            continue
        scores = [dict(np.load(path)) for path in ready]
        chains = [evaluate(one) for one in scores]
        low = [evaluate_low(one) for one in scores]
        results.append({"where": where, "chains": chains, "low": low})
    return results


def rounded(value):
    """Round all numbers of a record to five decimals, more than a table shows."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return round(value, 5) if isinstance(value, float) else value


def cells_of(options):
    """Yield every combination with the files of its chains."""
    for name in options.sets.split(","):
        for model in options.models.split(","):
            for kind in options.samples.split(","):
                for drift in options.drifts.split(","):
                    if kind == ROLLING and drift not in ("none", "concept"):
                        continue
                    stem = f"{name}-{model}-{kind}-{drift}"
                    paths = [options.scores / f"{stem}-{n}.npz" for n in range(options.chains)]
                    yield f"{name}, {model}, {kind}, {drift}", paths


def compute_scores(options, chain):
    if options.only_report:
        return
    tables = {}
    fits = {}
    for where, paths in cells_of(options):
        name, model, kind, drift = where.split(", ")
        if not paths[chain].exists():
            table = tables.setdefault(name, load(options, name))
            if (name, model, kind) not in fits:
                fits = {(name, model, kind): Fits()}  # drifts of one chain share models
            compute(
                paths[chain],
                table,
                model,
                drift,
                kind,
                options.rows or 3000,
                chain,
                fits[name, model, kind],
                with_peers=chain < options.peer_chains,
            )
            print(json.dumps([where, chain]), flush=True)


if __name__ == "__main__":
    main()
