"""Rare classes: recall, AUC and flips with and without a decision threshold.

    python benchmarks/rare_classes.py --data DIR [--share 0.06] [--pairs 4] [--rows 6000]

Each pair of runs has two disjoint samples, in which so many rows of the positive class are left out
that its share is ``--share`` (less where the file has less). Each contender chooses its threshold:
a single fit from its rows, a block from its own.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings

import numpy as np
from _base_learners import base_estimator
from _data import add_data_arguments, load, parse
from _tables import markdown_table
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier

from replearn import (
    PointwiseReplicableClassifier,
    ScoreReplicableClassifier,
)

HEADER = ("file, estimator", "contender", "flips", "99 % row", "recall", "balanced", "AUC")


def contenders(base, key, share):
    """Return the contenders of one pair, with the key that both runs share."""
    shared = {"shared_key": key, "n_jobs": 2}
    return {
        "single fit": base,
        "single fit, prevalence": FixedThresholdClassifier(base, threshold=share),
        "certified": PointwiseReplicableClassifier(base, max_fits=88, **shared),
        "certified, prevalence": PointwiseReplicableClassifier(
            base, max_fits=88, threshold="prevalence", **shared
        ),
        "score, prevalence": ScoreReplicableClassifier(base, threshold="prevalence", **shared),
    }


def thinned(y, rows, share, rng):
    """Leave out rows of the positive class at random until their share is this."""
    ones = rows[y[rows] == 1]
    zeros = rows[y[rows] == 0]
    n_ones = min(len(ones), round(share / (1 - share) * len(zeros)))
    return rng.permutation(np.concatenate([rng.permutation(ones)[:n_ones], zeros]))


def measure(table, model, options):
    """Return a line of numbers per contender."""
    base = base_estimator(model, table)
    rng = np.random.default_rng(11)
    test = thinned(table.y, table.test, options.share, rng)
    truth = table.y[test]
    changed, recall, balanced, auc = {}, {}, {}, {}
    for pair in range(options.pairs):
        rest = thinned(table.y, table.rest, options.share, rng)
        half = min(len(rest) // 2, options.rows or len(rest))
        for name in contenders(base, pair, options.share):
            runs = []
            for run in range(2):
                rows = rest[run * half : (run + 1) * half]
                fitted = contenders(base, pair, options.share)[name].fit(
                    table.X[rows], table.y[rows]
                )
                runs.append(fitted.predict(table.X[test]))
                found = runs[-1][truth == 1].mean()
                recall.setdefault(name, []).append(found)
                right = 1 - runs[-1][truth == 0].mean()
                balanced.setdefault(name, []).append((found + right) / 2)
                chance = fitted.predict_proba(table.X[test])[:, 1]
                auc.setdefault(name, []).append(roc_auc_score(truth, chance))
            changed.setdefault(name, []).append(runs[0] != runs[1])
    for name, flips in changed.items():
        frequency = np.mean(flips, axis=0)
        yield (
            f"{100 * frequency.mean():.1f} %",
            f"{np.quantile(frequency, 0.99):.2f}",
            f"{100 * np.mean(recall[name]):.0f} %",
            f"{100 * np.mean(balanced[name]):.1f} %",
            f"{np.mean(auc[name]):.3f}",
            name,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_arguments(parser, "adult,default_credit_tw,compas,german_credit")
    parser.add_argument("--models", default="logreg,boosting")
    parser.add_argument("--share", type=float, default=0.06)
    parser.add_argument("--pairs", type=int, default=4)
    options = parse(parser)
    warnings.simplefilter("ignore")
    lines = []
    for name in options.sets.split(","):
        table = load(options, name)
        for model in options.models.split(","):
            for *numbers, contender in measure(table, model, options):
                lines.append((f"{name}, {model}", contender, *numbers))
                print(*lines[-1], sep=" | ", flush=True)
    print(markdown_table(HEADER, lines))


if __name__ == "__main__":
    main()
