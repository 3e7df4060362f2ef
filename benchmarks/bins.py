"""Are 63 bins as good as 255 for histogram boosting in blocks? Flips and accuracy on real files.

    python benchmarks/bins.py --data DIR [--sets adult,bank_marketing] [--block 2500] [--pairs 10]

Two disjoint samples of a file train the score estimator under one key, with 255 bins and with 63,
in blocks of --block rows: 24 of them, or as many as half of the file allows. For both numbers of
bins, changed predictions of the two models on test rows and their mean accuracy; the change from
255 to 63 as a mean over pairs of samples with its standard error: relative for changed
predictions, in points for accuracy and AUC.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from _data import add_data_arguments, disjoint_samples, load, parse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from replearn import ScoreReplicableClassifier

MAX_BLOCKS = 24
BINS = (255, 63)


def measure(table, samples, n_blocks, n_bins, draw):
    """Return the share of changed predictions, and accuracy and AUC in per cent."""
    base = HistGradientBoostingClassifier(max_bins=n_bins, random_state=0)
    X, y = table.X[table.test], table.y[table.test]
    predictions, accuracies, areas = [], [], []
    for rows in samples:
        model = ScoreReplicableClassifier(
            base, n_blocks=n_blocks, n_partitions=1, shared_key=f"bins {draw}", verbose=-1
        )
        model.fit(table.X[rows], table.y[rows])
        predictions.append(model.predict(X))
        accuracies.append(100 * np.mean(predictions[-1] == y))
        areas.append(100 * roc_auc_score(y, model.predict_proba(X)[:, 1]))
    flips = np.mean(predictions[0] != predictions[1])
    return flips, np.mean(accuracies), np.mean(areas)


def with_error(values, digits):
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):+.{digits}f} ± {error:.{digits}f}"


def line(table, options):
    """Measure one file; the changes are relative to the mean flips of 255 bins."""
    n_blocks = min(MAX_BLOCKS, len(table.rest) // 2 // options.block)
    results = []
    for draw in range(options.pairs):
        samples = disjoint_samples(table, 2, draw, n_blocks * options.block)
        results.append([measure(table, samples, n_blocks, n_bins, draw) for n_bins in BINS])
    many, few = np.moveaxis(np.array(results), 1, 0)
    flips = 100 * (few[:, 0] - many[:, 0]) / many[:, 0].mean()
    accuracy, area = (few - many)[:, 1:].T
    cells = [table.name, f"{n_blocks} x {options.block:,}", f"{100 * many[:, 0].mean():.2f} %"]
    cells += [with_error(flips, 1) + " %", f"{many[:, 1].mean():.2f} %"]
    cells += [with_error(accuracy, 2), with_error(area, 2)]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_arguments(parser, "adult,bank_marketing,default_credit_tw")
    parser.add_argument("--block", type=int, default=2500, help="rows of a block")
    parser.add_argument("--pairs", type=int, default=10, help="pairs of samples")
    options = parse(parser)
    warnings.simplefilter("ignore")
    print("| file | blocks | flips, 255 bins | with 63 | accuracy | with 63 | AUC with 63 |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name in options.sets.split(","):
        print(line(load(options, name), options), flush=True)


if __name__ == "__main__":
    main()
