"""Do two fresh samples choose the same configuration? ReplicableSearchCV beside GridSearchCV.

    python benchmarks/search_cv.py --data DIR [--sets adult,bank_marketing] [--pairs 12]

Trees with 18 configurations. The rows beside the test rows are cut into two disjoint halves, again
and again; both searches see the same folds and so the same errors. Given the errors of both halves,
how often the replicable searches agree over keys is known exactly, and so is their mean accuracy;
what is averaged over pairs is exact for each pair.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from pathlib import Path

import numpy as np
from _cells import Cells
from _data import add_data_arguments, disjoint_samples, load, parse
from _tables import markdown_table
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from replearn import NotCertifiedWarning
from replearn.bounds.selection import selection_agreement
from replearn.learners import ReplicableSearchCV
from replearn.learners.configurations import search_scale

GRID = {
    "max_depth": [4, 8, 16],
    "min_samples_leaf": [1, 10, 50],
    "criterion": ["gini", "entropy"],
}
ALPHAS = (0.02, 0.05, 0.1)
HEADER = ("choice", "t", "same configuration", "accuracy", "against GridSearchCV")


def run_half(table, rows, pair):
    """Errors of all configurations on keyed folds, and their accuracy after a refit."""
    X, y = table.X[rows], table.y[rows]
    base = DecisionTreeClassifier(random_state=pair)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        search = ReplicableSearchCV(base, GRID, refit=False, shared_key=pair).fit(X, y)
    results = search.cv_results_
    new, labels = table.X[table.test], table.y[table.test]
    models = (clone(base).set_params(**params).fit(X, y) for params in results["params"])
    accuracy = [model.score(new, labels) for model in models]
    return {"errors": (1 - results["mean_test_score"]).tolist(), "accuracy": accuracy, "n": len(y)}


def run_pair(table, pair):
    return [run_half(table, rows, pair) for rows in disjoint_samples(table, 2, pair)]


def weights(errors, t):
    scores = -t * (errors - errors.min())
    return np.exp(scores) / np.exp(scores).sum()


def summarise(pairs, cv=5):
    """One line for each contender: share of pairs that agree, mean accuracy."""
    errors = np.array([[half["errors"] for half in pair] for pair in pairs])
    accuracy = np.array([[half["accuracy"] for half in pair] for pair in pairs])
    n = pairs[0][0]["n"]
    best = errors.argmin(axis=2)
    plain = np.take_along_axis(accuracy, best[:, :, None], axis=2).mean()
    lines = {"GridSearchCV": (None, float((best[:, 0] == best[:, 1]).mean()), float(plain))}
    for alpha in ALPHAS:
        t = search_scale(errors.shape[2], n // cv, 0.1, alpha, 0.05, None)
        share = np.mean([selection_agreement(t, one, two) for one, two in errors])
        halves = zip(np.concatenate(errors), np.concatenate(accuracy), strict=True)
        chosen = [weights(e, t) @ a for e, a in halves]
        lines[f"ReplicableSearchCV(alpha={alpha})"] = (t, float(share), float(np.mean(chosen)))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_arguments(parser, "adult,bank_marketing")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--cells", type=Path, default=Path("search-cells"), help="folder")
    parser.add_argument("--only-report", action="store_true", help="compute nothing new")
    options = parse(parser)
    cells = Cells(options.cells)
    for name in options.sets.split(","):
        table = load(options, name)
        pairs = []
        for pair in range(options.pairs):
            label = (name, "search", pair)
            if not options.only_report:
                cells.compute(label, lambda p=pair, t=table: run_pair(t, p))
            pairs.append(cells.get(*label))
        pairs = [pair for pair in pairs if pair is not None]
        if not pairs:
            continue
        found = summarise(pairs)
        plain = found["GridSearchCV"][2]
        rows = [
            (
                label,
                "" if t is None else f"{t:.0f}",
                f"{s:.2f}",
                f"{a:.4f}",
                f"{100 * (a - plain):+.2f}",
            )
            for label, (t, s, a) in found.items()
        ]
        size = f"{len(table.rest) // 2:,} rows per half, {len(pairs)} pairs"
        print(f"**{name}**: {size}\n\n{markdown_table(HEADER, rows)}\n")


if __name__ == "__main__":
    main()
