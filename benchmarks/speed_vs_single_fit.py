"""What does a promise cost? Against a single fit of the base estimator on all rows.

    python benchmarks/speed_vs_single_fit.py [--estimators forest ...] [--sides score ...]
                                             [--full] [--small] [--jobs 2]

60,000 rows of 20 features to fit, 20,000 to predict. Three sides stand beside the single fit: the
score estimator (24 fits), the certified one with its default design, and with 8 x 88 = 704 fits
(--full; forests and boosting take minutes). Processor seconds of one process on one thread, for all
sides alike, so that other work on the machine matters little; with --jobs, seconds by the clock
with so many workers on our side and as many threads in the single fit. Each side predicts two to
five times, and the best counts: the first call also packs the models. Beside the ratios is the
number of block estimators, T: on one core a vote that calls all of them in turn takes about T times
as long as one model of the same size. A ratio above its target is marked LOST. --small takes a
minute: 6,000 rows, of which the targets say nothing.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import warnings
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from replearn import PointwiseReplicableClassifier, ScoreReplicableClassifier

N_ROWS, N_FEATURES, N_PREDICTED = 60_000, 20, 20_000
MIN_PREDICTIONS, MAX_PREDICTIONS = 2, 5
MAX_SECONDS = 5.0
"""A prediction is timed so often, at most twice if that took so long."""

ESTIMATORS = {
    "logistic": LogisticRegression(),
    "tree": DecisionTreeClassifier(),
    "forest": RandomForestClassifier(50),
    "boosting": HistGradientBoostingClassifier(),
}
SIDES = {
    "score": lambda estimator: ScoreReplicableClassifier(estimator, verbose=-1),
    "certified": lambda estimator: PointwiseReplicableClassifier(estimator, verbose=-1),
    "704 fits": lambda estimator: PointwiseReplicableClassifier(
        estimator, n_blocks=88, n_partitions=8, verbose=-1
    ),
}
TARGETS = {
    ("boosting", "score", "fit"): 3.5,
    ("boosting", "certified", "fit"): 15.0,
    ("boosting", "certified", "predict"): 30.0,
    ("boosting", "704 fits", "predict"): 60.0,
    ("forest", "certified", "fit"): 4.0,
    ("forest", "certified", "predict"): 50.0,
    ("forest", "704 fits", "predict"): 110.0,
}
"""Largest ratio to the single fit."""


class Seconds(NamedTuple):
    """Seconds of a fit and of its fastest prediction, and how many estimators were fitted."""

    fit: float
    predict: float
    n_fits: int


def time_once(model, X, y, new, clock, n_jobs):
    """Time a fit and predictions; workers run before the clock starts."""
    if n_jobs > 1:
        Parallel(n_jobs=n_jobs)(delayed(int)(number) for number in range(4 * n_jobs))
    start = clock()
    model.fit(X, y)
    fit = clock() - start
    predictions = []
    for number in range(MAX_PREDICTIONS):
        if number >= MIN_PREDICTIONS and sum(predictions) > MAX_SECONDS:
            break
        start = clock()
        model.predict(new)
        predictions.append(clock() - start)
    n_fits = len(model.estimators_) if hasattr(model, "certificate_") else 1
    return Seconds(fit, min(predictions), n_fits)


def time_single(estimator, n_jobs, *data):
    """Time the single fit; forests have jobs, boosting has threads."""
    model = clone(estimator)
    if isinstance(model, RandomForestClassifier):
        model.set_params(n_jobs=n_jobs)
    with threadpool_limits(n_jobs):
        return time_once(model, *data, n_jobs)


def line(name, side, ours, single, targets):
    cells = f"{name:<9} {side:<9} {ours.n_fits:>5}"
    for part in ("fit", "predict"):
        ratio = getattr(ours, part) / getattr(single, part)
        target = targets.get((name, side, part))
        wanted = "" if target is None else f"(<= {target:g})"
        lost = "" if target is None or ratio <= target else " LOST"
        cells += f" {getattr(ours, part):>9.2f} s {ratio:>6.1f} x {wanted + lost:<14}"
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    parser.add_argument("--sides", nargs="+", choices=SIDES, help="some of them")
    parser.add_argument("--full", action="store_true", help="with 704 fits, too")
    parser.add_argument("--small", action="store_true", help="6,000 rows: a minute")
    parser.add_argument("--jobs", type=int, help="seconds by the clock with so many workers")
    options = parser.parse_args()
    n_jobs = options.jobs or 1
    clock = time.perf_counter if options.jobs else time.process_time
    n_rows, n_new = (6_000, 4_000) if options.small else (N_ROWS, N_PREDICTED)
    warnings.simplefilter("ignore")
    X, y = make_classification(
        n_rows + n_new, N_FEATURES, n_informative=10, flip_y=0.1, random_state=0
    )
    X, new = np.split(X, [n_rows])
    usual = SIDES if options.full else [name for name in SIDES if name != "704 fits"]
    sides = {name: make for name, make in SIDES.items() if name in (options.sides or usual)}
    print("load:", os.getloadavg())
    print(f"{'':<19} {'fits':>5} {'fit':>11} {'ratio':>8} {'':<14} {'predict':>11} {'ratio':>8}")
    for name in options.estimators:
        estimator = ESTIMATORS[name]
        single = time_single(estimator, n_jobs, X, y[:n_rows], new, clock)
        print(line(name, "single", single, single, {}), flush=True)
        for side, make in sides.items():
            model = make(estimator).set_params(n_jobs=n_jobs)
            ours = time_once(model, X, y[:n_rows], new, clock, n_jobs)
            print(line(name, side, ours, single, {} if options.small else TARGETS), flush=True)
    print("load:", os.getloadavg())


if __name__ == "__main__":
    main()
