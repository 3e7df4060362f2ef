"""Small samples with a rare class: what replicability costs, by the rows and events of a block.

    python benchmarks/small_data.py --data DIR [--share 0.12] [--pairs 6] [--sizes 833,3000,10000]

Each pair of runs has two disjoint samples of so many rows, in which the positive class has the
share ``--share``; all contenders decide at the prevalence. The last columns are what ``fit`` knows
before it trains: rows of a block, and rows of the rarer class among them.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings

import numpy as np
from _base_learners import base_estimator
from _data import add_data_arguments, load, parse
from _tables import markdown_table
from rare_classes import thinned
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import FixedThresholdClassifier

from replearn import (
    PointwiseReplicableClassifier,
    ScoreReplicableClassifier,
)

HEADER = ("file", "rows", "contender", "flips", "balanced accuracy", "block rows", "events")


def contenders(base, key, share):
    """Return the contenders of one pair, with the key that both runs share."""
    shared = {"threshold": "prevalence", "shared_key": key}
    return {
        "single fit": FixedThresholdClassifier(base, threshold=share),
        "score, rho=0.1": ScoreReplicableClassifier(base, **shared),
        "score, rho=0.2": ScoreReplicableClassifier(base, rho=0.2, **shared),
        "score, rho=0.3": ScoreReplicableClassifier(base, rho=0.3, **shared),
        "certified, rho=0.1": PointwiseReplicableClassifier(base, max_fits=88, **shared),
        "certified, 9 blocks": PointwiseReplicableClassifier(base, n_blocks=9, **shared),
    }


def block_rows(fitted, n_rows):
    """Return the rows of a block; all rows of a single fit."""
    certificate = getattr(fitted, "certificate_", None)
    return n_rows if certificate is None else n_rows // certificate.inputs["n_blocks"]


def measure(table, n_rows, options):
    """Yield a line of numbers per contender."""
    base = base_estimator(options.model, table)
    rng = np.random.default_rng(11)
    test = thinned(table.y, table.test, options.share, rng)
    found = {}
    for pair in range(options.pairs):
        rest = thinned(table.y, table.rest, options.share, rng)
        if len(rest) < 2 * n_rows:
            return
        samples = rest[:n_rows], rest[n_rows : 2 * n_rows]
        for name, estimator in contenders(base, pair, options.share).items():
            fitted = [clone_fit(estimator, table, rows) for rows in samples]
            first, second = (model.predict(table.X[test]) for model in fitted)
            balanced = [balanced_accuracy_score(table.y[test], run) for run in (first, second)]
            flips = np.mean(first != second)
            found.setdefault(name, []).append((flips, *balanced, block_rows(fitted[0], n_rows)))
    for name, runs in found.items():
        flips, first, second, size = np.mean(runs, axis=0)
        yield (
            name,
            f"{100 * flips:.1f} %",
            f"{100 * (first + second) / 2:.1f} %",
            f"{size:.0f}",
            f"{size * table.y[test].mean():.1f}",
        )


def clone_fit(estimator, table, rows):
    """Fit a copy on these rows."""
    from sklearn.base import clone

    return clone(estimator).fit(table.X[rows], table.y[rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_arguments(parser, "default_credit_tw,adult")
    parser.add_argument("--model", default="logreg")
    parser.add_argument("--share", type=float, default=0.12)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--sizes", default="833,3000,9000")
    options = parse(parser)
    warnings.simplefilter("ignore")
    lines = []
    for name in options.sets.split(","):
        table = load(options, name)
        for size in options.sizes.split(","):
            for line in measure(table, int(size), options):
                lines.append((name, size, *line))
                print(*lines[-1], sep=" | ", flush=True)
    print(markdown_table(HEADER, lines))


if __name__ == "__main__":
    main()
