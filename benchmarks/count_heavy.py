"""Counting heavy points against polars' own group_by, in the same run.

    python benchmarks/count_heavy.py [rows]

10,000,000 rows x 8 columns by default; wanted: at most 1.3 times polars. Medians of a few rounds
that alternate, so that a busy machine disturbs both alike.
"""

import statistics
import sys
import time

import numpy as np
import polars as pl

from replearn.paper.heavy_hitters import count_points

N_COLUMNS = 8
ROUNDS = 5
WANTED = 1.3
NU = 0.01


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def compare(name, frame):
    least = int(len(frame) * NU / 16)
    ours, polars = [], []
    for _ in range(ROUNDS):
        polars.append(seconds(lambda: frame.group_by(frame.columns).len()))
        ours.append(seconds(lambda: count_points(frame, at_least=least)))
    ratio = statistics.median(a / b for a, b in zip(ours, polars, strict=True))
    found = len(count_points(frame, at_least=least).counts)
    verdict = "ok" if ratio <= WANTED else "LOST"
    print(
        f"{name:34s} polars {min(polars):7.3f} s   ours {min(ours):7.3f} s   "
        f"median ratio {ratio:5.2f} ({verdict})   {found} points of mass {NU / 16:g}"
    )


def main(n_rows):
    rng = np.random.default_rng(0)
    print(f"{n_rows} rows x {N_COLUMNS} columns, wanted: at most {WANTED} times polars")
    for levels in (3, 8, 50):
        X = rng.integers(0, levels, (n_rows, N_COLUMNS)).astype(float)
        compare(f"{levels}^{N_COLUMNS} equally likely points", pl.from_numpy(X))
    X = (rng.random((n_rows, N_COLUMNS)) ** 6 * 10).astype(np.int64)
    compare("skewed whole numbers", pl.from_numpy(X))


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
