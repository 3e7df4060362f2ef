"""How fast is it? Against BaggingClassifier with as many base learners on as many rows each.

    python benchmarks/speed_vs_bagging.py [--learners tree ...] [--full] [--small] [--plain]

Both sides: T = 128 base learners, n = 100,000 rows, 20 features, two jobs, one partition; ours
includes the keyed partition and the thresholds. Both sides share worker processes, which are
started before the clock. Bagging of histogram boosting takes many minutes, so by default 2 and 10
of its 128 models are timed and the line through both is followed to 128; --full times all. The
others take turns three times, each predicts five times after every fit, and the best of each side
counts. A ratio below its target is marked LOST. --plain switches all fast paths off: what remains
is the plain loop, which is not expected to reach the targets. The machine's load is printed before
and after: numbers from a busy machine are worth little. --small takes a minute: 12,800 rows and 32
learners, of which the targets say nothing.
"""

import argparse
import os
import time
import warnings
from importlib import import_module

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn import PointwiseReplicableClassifier

N_ROWS, N_FEATURES, N_BLOCKS, N_JOBS = 100_000, 20, 128, 2
LEARNERS = {
    "logistic": (LogisticRegression(), 20.0, 10.0),
    "scaled": (make_pipeline(StandardScaler(), LogisticRegression()), 1.0, 1.0),
    "tree": (DecisionTreeClassifier(), 1.5, 1.2),
    "bayes": (GaussianNB(), 8.0, 3.0),
    "boosting": (HistGradientBoostingClassifier(), 8.0, 1.0),
}
"""Base learner, target ratio of fit, target ratio of predict."""

ONE_ROW_BLOCKS, ONE_ROW_TARGET_MS = 64, 1.0


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def make_bagging(estimator, n_models=None):
    return BaggingClassifier(
        estimator,
        n_estimators=n_models or N_BLOCKS,
        max_samples=N_ROWS // N_BLOCKS,
        bootstrap=False,
        n_jobs=N_JOBS,
        random_state=0,
    )


def make_ours(estimator):
    return PointwiseReplicableClassifier(
        estimator, n_blocks=N_BLOCKS, n_partitions=1, n_jobs=N_JOBS, verbose=-1
    )


def time_once(make, estimator, X, y, *n_models, predictions=1):
    """Return the seconds of a fit and of the fastest prediction, with workers that run."""
    model = make(estimator, *n_models)
    load = [delayed(import_module)(name) for name in ("sklearn.ensemble", "replearn.learners")]
    Parallel(n_jobs=N_JOBS)(load * N_JOBS)
    fit = seconds(lambda: model.fit(X, y))
    return np.array([fit, min(seconds(lambda: model.predict(X)) for _ in range(predictions))])


def race(estimator, X, y, rounds, predictions):
    """Take turns, so that both sides meet the same load; keep the best of each."""
    sides = make_bagging, make_ours
    times = [
        [time_once(make, estimator, X, y, predictions=predictions) for make in sides]
        for _ in range(rounds)
    ]
    return np.min(times, axis=0)


def race_of_few(estimator, X, y, few=2, more=10):
    """Follow the line through two small baggings; start-up costs are not multiplied."""
    first = time_once(make_bagging, estimator, X, y, few)
    ours = time_once(make_ours, estimator, X, y)
    second = time_once(make_bagging, estimator, X, y, more)
    return first + (N_BLOCKS - few) * (second - first) / (more - few), ours


def line(what, ours, bagging, target):
    ratio = bagging / ours
    wanted = "" if target is None else f"(>= {target:g})" + ("  LOST" if ratio < target else "")
    return f"{what:<18} {bagging:>10.2f} s {ours:>10.3f} s {ratio:>8.1f} x   {wanted}"


def one_row(X, y):
    model = PointwiseReplicableClassifier(
        LogisticRegression(), n_blocks=ONE_ROW_BLOCKS, n_partitions=1
    ).fit(X, y)
    times = [seconds(lambda row=row: model.predict(X[row : row + 1])) for row in range(100)]
    median = 1e3 * float(np.median(times))
    verdict = "" if median < ONE_ROW_TARGET_MS else "  LOST"
    return (
        f"one row, {ONE_ROW_BLOCKS} logistic models: {median:.2f} ms "
        f"(< {ONE_ROW_TARGET_MS:g}){verdict}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--full", action="store_true", help="time all models of bagged boosting")
    parser.add_argument("--small", action="store_true", help="12,800 rows, 32 models: a minute")
    options = parser.parse_args()
    if options.small:
        globals().update(N_ROWS=12_800, N_BLOCKS=32)
    warnings.simplefilter("ignore")
    X, y = make_classification(N_ROWS, N_FEATURES, n_informative=10, flip_y=0.1, random_state=0)
    print("load:", os.getloadavg())
    print(f"{'':<18} {'bagging':>12} {'replearn':>12} {'ratio':>10}   (target)")
    for name in options.learners:
        estimator, *targets = LEARNERS[name]
        if options.small:
            targets = [None, None]
        if name == "boosting" and not options.full:
            bagging, ours = race_of_few(estimator, X, y)
        else:
            rounds, predictions = (1, 1) if name == "boosting" else (3, 5)
            bagging, ours = race(estimator, X, y, rounds, predictions)
        print(line(f"{name} fit", ours[0], bagging[0], targets[0]), flush=True)
        print(line(f"{name} predict", ours[1], bagging[1], targets[1]), flush=True)
    print(one_row(X, y))
    print("load:", os.getloadavg())


if __name__ == "__main__":
    main()
