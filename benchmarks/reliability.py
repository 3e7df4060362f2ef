"""Is flip_probability right? Predicted from one fit, observed on fresh samples, same key.

    python benchmarks/reliability.py --data DIR [--sets adult,bank_marketing] [--models logreg]

The rows outside the test set are cut into disjoint samples of equal size. Each in turn is the one
fit that predicts, per test row, the chance that a fresh sample answers differently; the others are
the fresh samples. The table compares predictions with observed flips, bin by bin, beside the mean
of the rows' confidence limits; a second one says which share of all flips the 3 % of rows hold
that looked least stable. An interrupted run continues.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from _base_learners import base_learner
from _cells import Cells, machine, markdown_table, put_into_page
from _data import (
    SETS,
    add_data_arguments,
    disjoint_samples,
    load,
    parse,
)

from replearn import NotCertifiedWarning, PointwiseReplicableClassifier, SharedKey
from replearn.bounds import ThresholdLaw, flip_estimate, flip_limits
from replearn.execution import vote_counts

EDGES = (0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 1.0)
LEAST_STABLE = 0.03
ENOUGH_ROWS = 1800
"""Smaller samples than this are not made by cutting the file into more than two."""

DELTA = 0.05
HEADER = ("predicted", "rows", "mean predicted", "observed", "± sd", "limits", "within")
SHARE_HEADER = (
    "data",
    "samples",
    "n",
    "T x partitions",
    "mean predicted",
    "mean observed",
    "share of flips in 3 %",
    "± sd",
)


def fit_samples(table, model, n_samples, draw):
    """Train on disjoint samples under one key; return the votes on the test rows."""
    test = table.test
    key = f"reliability {draw}"
    votes = []
    for rows in disjoint_samples(table, n_samples, draw):
        learner = PointwiseReplicableClassifier(
            base_learner(model, table, seed=draw), shared_key=key, verbose=-1
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotCertifiedWarning)
            learner.fit(table.X[rows], table.y[rows])
        made = learner.plan_
        votes.append(
            vote_counts(learner.estimators_, table.X[test], [0, 1], n_partitions=made.n_partitions)
        )
        _check_against_learner(learner, table.X[test[:50]], votes[-1][:50])
    return {"law": made.law.to_dict(), "n": made.n, "votes": np.array(votes).tolist()}


def _check_against_learner(learner, X, votes):
    """The predictions judged here are those of the public method."""
    uniforms = learner.explain(X).threshold
    expected = learner.flip_probability(X)
    if not np.allclose(flip_estimate(learner.plan_.law, votes, uniforms), expected):
        raise AssertionError("flip_probability differs from the estimate that is judged")


def compare(cell, draw, n_thresholds):
    """Predict from each sample, observe on the others, for several draws of the thresholds."""
    law, votes = ThresholdLaw.from_dict(cell["law"]), np.array(cell["votes"])
    ids = np.arange(votes.shape[1])
    for turn in range(n_thresholds):
        key = SharedKey(f"reliability {draw}").child("thresholds", turn)
        u = key.uniforms(ids)
        answers = u < law.probabilities[votes].mean(axis=2)
        for seen in range(len(votes)):
            predicted = flip_estimate(law, votes[seen], u)
            lower, upper = flip_limits(law, votes[seen], u, delta=DELTA)
            fresh = [other for other in range(len(votes)) if other != seen]
            observed = (answers[fresh] != answers[seen]).mean(axis=0)
            yield {"p": predicted, "low": lower, "high": upper, "flips": observed}


def reliability_table(comparisons):
    """Bin by predicted probability; the spread is that between predicting samples."""
    lines, below = [], -1.0
    for edge in EDGES:
        per_fit, sums = [], np.zeros(5)
        for c in comparisons:
            inside = (c["p"] > below) & (c["p"] <= edge)
            if inside.any():
                per_fit.append(c["flips"][inside].mean())
                columns = ("p", "flips", "low", "high")
                sums += [inside.sum(), *(c[name][inside].sum() for name in columns)]
        if sums[0]:
            predicted, observed, low, high = sums[1:] / sums[0]
            lines.append(
                [
                    f"{max(below, 0):g} - {edge:g}",
                    f"{int(sums[0]):,}",
                    f"{predicted:.4f}",
                    f"{observed:.4f}",
                    f"{np.std(per_fit):.4f}",
                    f"{low:.4f} - {high:.4f}",
                    "yes" if low <= observed <= high else "NO",
                ]
            )
        below = edge
    return markdown_table(HEADER, lines)


def share_of_flips(comparisons):
    """Share of the observed flips held by the rows that looked least stable."""
    shares = []
    for c in comparisons:
        top = np.argsort(-c["p"], kind="stable")[: max(1, round(LEAST_STABLE * len(c["p"])))]
        if c["flips"].sum() > 0:
            shares.append(c["flips"][top].sum() / c["flips"].sum())
    return float(np.mean(shares)), float(np.std(shares))


def samples_for(n_rest, wanted):
    return wanted if n_rest // wanted >= ENOUGH_ROWS else 2


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_arguments(parser, ",".join(SETS))
    parser.add_argument("--models", default="logreg")
    parser.add_argument("--samples", default="4,2", help="into how many samples a file is cut")
    parser.add_argument("--draws", type=int, default=2, help="keys, each with new samples")
    parser.add_argument("--thresholds", type=int, default=10, help="draws of the thresholds")
    parser.add_argument("--out", type=Path, default=Path("reliability.json"))
    parser.add_argument("--page", type=Path, help="write the tables into this page's section")
    parser.add_argument("--only-report", action="store_true", help="compute nothing new")
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


def main():
    options = parse_options()
    warnings.filterwarnings("ignore", message="Found unknown categories")
    cells = Cells(options.out.with_suffix(".cells"))
    parts, shares, results = [], [], {}
    for (name, model, n_samples), table in settings(options).items():
        comparisons, first = [], None
        for draw in range(options.draws):
            label = (name, model, n_samples, draw)
            if not options.only_report:
                cells.compute(
                    label,
                    lambda t=table, m=model, s=n_samples, d=draw: fit_samples(t, m, s, d),
                )
            cell = cells.get(*label)
            if cell is not None:
                first = first or cell
                comparisons += compare(cell, draw, options.thresholds)
        if not comparisons:
            continue
        mean, spread = share_of_flips(comparisons)
        predicted, observed = (np.mean([c[key] for c in comparisons]) for key in ("p", "flips"))
        results["-".join(map(str, (name, model, n_samples)))] = {"share": mean, "sd": spread}
        size = f"{ThresholdLaw.from_dict(first['law']).n_blocks} x {len(first['votes'][0][0])}"
        shares.append(
            [
                f"{name}, {model}",
                n_samples,
                f"{first['n']:,}",
                size,
                f"{predicted:.4f}",
                f"{observed:.4f}",
                f"{mean:.3f}",
                f"{spread:.3f}",
            ]
        )
        if n_samples > 2:
            title = f"**{name}, {model}**: one fit against {n_samples - 1} fresh samples"
            parts.append(f"{title}, n = {first['n']:,}\n\n{reliability_table(comparisons)}")
    text = "\n\n".join([machine() + ".", *parts, markdown_table(SHARE_HEADER, shares)])
    options.out.write_text(json.dumps({"machine": machine(), "results": results}, indent=1))
    print(text)
    if options.page:
        put_into_page(options.page, "reliability", text)


if __name__ == "__main__":
    main()
