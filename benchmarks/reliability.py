"""Is flip_probability right? Predicted from one fit, observed on fresh samples, same key.

    python benchmarks/reliability.py --data DIR [--sets adult,bank_marketing] [--models logreg]

The rows outside the test set are cut into disjoint samples of equal size. Each in turn is the one
fit that predicts, per test row, the chance that a fresh sample answers differently; the others are
the fresh samples. Tables compare predictions with observed flips, bin by bin, beside the means of
the rows' confidence limits, for the default partitions and for one; others say which share of all
flips the 3 % of rows hold that looked least stable, and how often limits missed. An interrupted
run continues.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings

import numpy as np
from _base_learners import base_estimator
from _calibration import (
    MIN_STABLE,
    bins_of,
    compare,
    missed_limits,
    share_of_flips,
)
from _cells import Cells
from _data import (
    SETS,
    add_data_arguments,
    disjoint_samples,
    load,
    parse,
)
from pages import add_report_arguments, write_report

from replearn import NotCertifiedWarning, PointwiseReplicableClassifier
from replearn.bounds import ThresholdLaw, flip_estimate
from replearn.execution import BlockEnsemble

ENOUGH_ROWS = 1800
"""Smaller samples than this are not made by cutting the file into more than two."""


def fit_samples(table, model, n_samples, draw, **settings):
    """Train on disjoint samples under one key; return the votes on the test rows."""
    test = table.test
    votes, joint = [], []
    for rows in disjoint_samples(table, n_samples, draw):
        learner = fit(table, model, rows, draw, **settings)
        made = learner.plan_
        votes.append(
            BlockEnsemble(learner.estimators_, [0, 1], made.n_partitions).vote_counts(table.X[test])
        )
        joint.append(learner.joint_variance_)
        _check_against_learner(learner, table.X[test[:50]], votes[-1][:50])
    found = {"law": made.law.to_dict(), "n": made.n}
    return {**found, "votes": np.array(votes).tolist(), "joint": joint}


def fit(table, model, rows, draw, **settings):
    learner = PointwiseReplicableClassifier(
        base_estimator(model, table, seed=draw),
        shared_key=f"reliability {draw}",
        verbose=-1,
        **settings,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        return learner.fit(table.X[rows], table.y[rows])


def _check_against_learner(learner, X, votes):
    """The predictions judged here are those of the public method."""
    uniforms = learner.explain(X).keyed_threshold
    expected = learner.flip_probability(X)
    estimate = flip_estimate(learner.plan_.law, votes, uniforms, joint=learner.joint_variance_)
    if not np.allclose(estimate, expected):
        raise AssertionError("flip_probability differs from the estimate that is judged")


def samples_for(n_rest, wanted):
    return wanted if n_rest // wanted >= ENOUGH_ROWS else 2


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_arguments(parser, ",".join(SETS))
    parser.add_argument("--models", default="logreg")
    parser.add_argument("--samples", default="4,2", help="into how many samples a file is cut")
    parser.add_argument("--draws", type=int, default=2, help="keys, each with new samples")
    parser.add_argument("--draws-one", type=int, default=10, help="the same, one partition")
    parser.add_argument("--thresholds", type=int, default=10, help="draws of the thresholds")
    add_report_arguments(parser, "reliability")
    return parse(parser)


def settings(options):
    """List data set, model and number of samples; a small file is cut in two only."""
    found = {}
    for wanted in map(int, options.samples.split(",")):
        for name in options.sets.split(","):
            table = load(options, name)
            n_rest = len(table.rest)
            for model in options.models.split(","):
                found[name, model, samples_for(n_rest, wanted)] = table
    return found


def computed(cells, options, table, label, *, one_partition):
    """Return the cells of all draws that are there, after computing what is missing.

    The first partition of a fit is the fit with one partition, so a cell serves both.
    """
    _, model, n_samples = label
    found = {}
    for draw in range(options.draws_one if one_partition else options.draws):
        name, settings = (*label, draw), {}
        if one_partition and cells.get(*name) is None:
            name, settings = (*name, "one"), {"n_partitions": 1}
        if not options.only_report:
            cells.compute(
                name,
                lambda d=draw, s=settings: fit_samples(table, model, n_samples, d, **s),
            )
        cell = cells.get(*name)
        if cell is not None:
            found[draw] = cell
    return found


def judge(found, label, n_thresholds, *, one_partition):
    """Return what the fits foresaw together, and the bins."""
    name, model, n_samples = label
    first = next(iter(found.values()))
    head = {
        "data": name,
        "model": model,
        "samples": n_samples,
        "n": first["n"],
        "T": ThresholdLaw.from_dict(first["law"]).n_blocks,
        "partitions": 1 if one_partition else len(first["votes"][0][0]),
        "fits": n_samples * len(found),
    }
    comparisons = [
        c
        for draw, cell in found.items()
        for c in compare(cell, draw, n_thresholds, one_partition=one_partition)
    ]
    share, spread = share_of_flips(comparisons)
    observed = float(np.mean([c.observed for c in comparisons]))
    foreseen = {
        "predicted": float(np.mean([c.predicted for c in comparisons])),
        "observed": observed,
        "share": share,
        "share_sd": spread,
        # One fit cannot know of a row that it flips more often than every second time.
        "possible": min(1.0, MIN_STABLE / 2 / observed) if observed else 1.0,
    }
    return head | foreseen, [head | one for one in bins_of(comparisons)]


def missed_of(found, label):
    """Return how often limits of one-partition fits missed, beside what chance alone makes."""
    name, model, n_samples = label
    cuts = np.array([missed_limits(cell) for cell in found.values()])
    missed, expected = cuts.mean(axis=0)
    differences = cuts[:, 0] - cuts[:, 1]
    error = differences.std(ddof=1) / np.sqrt(len(cuts)) if len(cuts) > 1 else None
    return {
        **{"data": name, "model": model, "samples": n_samples},
        "n": next(iter(found.values()))["n"],
        "cuts": len(cuts),
        "missed": missed,
        "expected": expected,
        "difference": missed - expected,
        "difference_error": error,
    }


def main():
    options = parse_options()
    warnings.filterwarnings("ignore", message="Found unknown categories")
    cells = Cells(options.out.with_suffix(".cells"))
    sections = {"foreseen": [], "missed": [], "bins": []}
    for label, table in settings(options).items():
        for one_partition in (False, True):
            found = computed(cells, options, table, label, one_partition=one_partition)
            if not found:
                continue
            foreseen, bins = judge(found, label, options.thresholds, one_partition=one_partition)
            sections["foreseen"].append(foreseen)
            sections["bins"] += bins
            if one_partition:
                sections["missed"].append(missed_of(found, label))
    write_report(options, sections)


if __name__ == "__main__":
    main()
