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
    compare,
    missed_limits,
    reliability_table,
    share_of_flips,
)
from _cells import Cells, add_report_arguments, markdown_table, write_report
from _data import (
    SETS,
    add_data_arguments,
    disjoint_samples,
    load,
    parse,
)

from replearn import NotCertifiedWarning, PointwiseReplicableClassifier
from replearn.bounds import ThresholdLaw, flip_estimate
from replearn.execution import BlockEnsemble

ENOUGH_ROWS = 1800
"""Smaller samples than this are not made by cutting the file into more than two."""

SHARE_HEADER = (
    "data",
    "samples",
    "n",
    "T x partitions",
    "fits",
    "mean predicted",
    "mean observed",
    "share of flips in 3 %",
    "± sd",
    "possible",
)
MISSED_HEADER = ("data", "samples", "n", "cuts", "limits missed", "expected", "difference", "± se")


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
    """Return a table of bins, a line of the summary and the numbers behind it."""
    name, model, n_samples = label
    first = next(iter(found.values()))
    n_blocks = ThresholdLaw.from_dict(first["law"]).n_blocks
    size = f"{n_blocks} x {1 if one_partition else len(first['votes'][0][0])}"
    comparisons = [
        c
        for draw, cell in found.items()
        for c in compare(cell, draw, n_thresholds, one_partition=one_partition)
    ]
    share, spread = share_of_flips(comparisons)
    predicted = float(np.mean([c.predicted for c in comparisons]))
    observed = float(np.mean([c.observed for c in comparisons]))
    fits = n_samples * len(found)
    line = [f"{name}, {model}", n_samples, f"{first['n']:,}", size, fits]
    line += [f"{number:.4f}" for number in (predicted, observed)]
    # One fit cannot know of a row that it flips more often than every second time.
    possible = min(1.0, MIN_STABLE / 2 / observed) if observed else 1.0
    line += [f"{number:.3f}" for number in (share, spread, possible)]
    title = f"**{name}, {model}, {size}**: n = {first['n']:,}, {fits} predicting fits"
    numbers = {"predicted": predicted, "observed": observed, "share": share, "sd": spread}
    return f"{title}\n\n{reliability_table(comparisons)}", line, numbers


def missed_line(found, label):
    """Return how often limits of one-partition fits missed, beside what chance alone makes."""
    name, model, n_samples = label
    cuts = np.array([missed_limits(cell) for cell in found.values()])
    missed, expected = cuts.mean(axis=0)
    differences = cuts[:, 0] - cuts[:, 1]
    error = f"{differences.std(ddof=1) / np.sqrt(len(cuts)):.3f}" if len(cuts) > 1 else ""
    n = next(iter(found.values()))["n"]
    numbers = [f"{missed:.3f}", f"{expected:.3f}", f"{missed - expected:+.3f}", error]
    return [f"{name}, {model}", n_samples, f"{n:,}", len(cuts), *numbers]


def main():
    options = parse_options()
    warnings.filterwarnings("ignore", message="Found unknown categories")
    cells = Cells(options.out.with_suffix(".cells"))
    bins, shares, missed, results = [], [], [], {}
    todo = settings(options)
    for label, table in todo.items():
        # One table of bins for a data set and model: that with the most fresh samples.
        shown = label[2] == max(other[2] for other in todo if other[:2] == label[:2])
        for one_partition in (False, True):
            found = computed(cells, options, table, label, one_partition=one_partition)
            if not found:
                continue
            text, line, numbers = judge(
                found, label, options.thresholds, one_partition=one_partition
            )
            results["-".join(map(str, (*label, line[3])))] = numbers
            shares.append(line)
            bins += [text] if shown else []
            missed += [missed_line(found, label)] if one_partition else []
    parts = [markdown_table(SHARE_HEADER, shares), markdown_table(MISSED_HEADER, missed), *bins]
    write_report(options, results, "\n\n".join(parts))


if __name__ == "__main__":
    main()
