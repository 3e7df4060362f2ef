"""How long does a service wait for one row? Against BaggingClassifier with as many models.

    python benchmarks/one_row.py [--cases scaled ...] [--blocks 88] [--partitions 8]

Milliseconds for one row at a time, warm: median of processor time (the machine may be busy) over
200 rows, and the best. Cold: the first row after loading, which packs the model: thresholds, folded
weights, tables of trees. Peer: `BaggingClassifier` with as many base learners on as many rows each
(of frames: behind one encoder for all, as it cannot hand a frame on).
Lines with a target say whether it is met.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn import PointwiseReplicableClassifier
from replearn.tables.encoder import TableEncoder

N_ROWS, WARM, PEER_ROWS = 20_000, 200, 5


def frame(n_rows: int) -> tuple[pd.DataFrame, Any]:
    """Eight numbers and four categories, some cells missing."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"n{k}": rng.normal(size=n_rows) for k in range(8)})
    for place in range(4):
        table[f"c{place}"] = rng.choice(list("abcdefgh"), n_rows)
    table.loc[rng.random(n_rows) < 0.05, "n1"] = None
    score = table["n0"] + (table["c0"] == "a") + rng.normal(size=n_rows)
    return table, (score > 0.3).astype(int).to_numpy()


def cases() -> dict[str, tuple[Any, str, float | None]]:
    """Base learner, kind of table, milliseconds wanted."""
    tree = DecisionTreeClassifier(max_depth=6)
    numbers, names = [f"n{k}" for k in range(8)], [f"c{k}" for k in range(4)]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer(("passthrough", numbers), (codes, names))
    boosting = HistGradientBoostingClassifier(max_iter=20)
    return {
        "linear": (LogisticRegression(), "array", 1.0),
        "scaled": (make_pipeline(StandardScaler(), LogisticRegression()), "array", 1.0),
        "table, linear": (make_pipeline(TableEncoder(), LogisticRegression()), "frame", 1.0),
        "trees": (tree, "array", 5.0),
        "table, trees": (make_pipeline(TableEncoder(for_trees=True), tree), "frame", 5.0),
        "coded, trees": (make_pipeline(columns, tree), "frame", 5.0),
        "boosting": (boosting, "array", None),
        "table, boosting": (make_pipeline(TableEncoder(for_trees=True), boosting), "frame", None),
    }


def milliseconds(predict: Callable[[Any], Any], rows: list[Any]) -> tuple[float, float]:
    """Return median and best processor time of one call."""
    times = []
    for row in rows:
        start = time.process_time()
        predict(row)
        times.append(1e3 * (time.process_time() - start))
    return float(np.median(times)), min(times)


def bagged(base: Any, kind: str, n_models: int) -> Any:
    """Return the peer; it cannot hand frames on, so the encoder stands once in front of it."""
    steps = clone(base).steps[:-1] if kind == "frame" else []
    last = clone(base).steps[-1][1] if steps else clone(base)
    bagging = BaggingClassifier(
        last, n_models, max_samples=N_ROWS * 8 // n_models, bootstrap=False, random_state=0
    )
    return Pipeline([*steps, ("bagging", bagging)]) if steps else bagging


def measure(name: str, options: argparse.Namespace) -> str:
    base, kind, target = cases()[name]
    if kind == "array":
        X, y = make_classification(N_ROWS, 20, random_state=0)
    else:
        X, y = frame(N_ROWS)
    rows = [X[place : place + 1] for place in range(WARM)]
    ours = PointwiseReplicableClassifier(
        base, n_blocks=options.blocks, n_partitions=options.partitions, verbose=-1
    )
    ours.fit(X, y)
    n_models = len(ours.estimators_)
    ours._ensemble._predictors.clear()  # as after loading
    cold, _ = milliseconds(ours.predict, rows[:1])
    warm, best = milliseconds(ours.predict, rows)
    peer, _ = milliseconds(bagged(base, kind, n_models).fit(X, y).predict, rows[:PEER_ROWS])
    wanted = ""
    if target is not None:
        wanted = f"(<= {target:g})" + ("" if warm <= target else "  LOST")
    return (
        f"{name:<16} {n_models:>6} {cold:>9.0f} {warm:>9.2f} {best:>8.2f} {peer:>10.1f} "
        f"{peer / warm:>8.0f} x   {wanted}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=cases(), default=list(cases()))
    parser.add_argument("--blocks", type=int, default=88)
    parser.add_argument("--partitions", type=int, default=8)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("load:", os.getloadavg())
    print(f"{'':<16} {'models':>6} {'cold ms':>9} {'warm ms':>9} {'best':>8} {'bagging':>10}")
    for name in options.cases:
        print(measure(name, options), flush=True)


if __name__ == "__main__":
    main()
