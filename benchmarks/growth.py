"""Does the time grow like the number of rows, and how much memory does a fit take beside its input?

    python benchmarks/growth.py [--small]

A linear-time learner (naive Bayes), 20 columns of numbers: processor seconds of fit, predict and
audit for n and 10 n rows (100,000 and a million; --small: 20,000 and 200,000). At most 11 times as
long. Memory: the largest resident memory during a fit, beyond what is there before it (the
interpreter, the libraries and the input), as a share of the input: at most 0.3, plus one block for
each worker. Peer of both: `BaggingClassifier` with as many models on as many rows each.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import BaggingClassifier
from sklearn.naive_bayes import GaussianNB

from replearn import PointwiseReplicableClassifier, audit

N_COLUMNS, N_BLOCKS = 20, 88
MAX_GROWTH, MAX_MEMORY = 11.0, 0.3


def sample(n_rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, N_COLUMNS))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n_rows) > 1).astype(int)


def learner(who: str, n_rows: int) -> Any:
    if who == "bagging":
        size = n_rows // N_BLOCKS
        return BaggingClassifier(
            GaussianNB(), N_BLOCKS, max_samples=size, bootstrap=False, random_state=0
        )
    return PointwiseReplicableClassifier(
        GaussianNB(), n_blocks=N_BLOCKS, n_partitions=1, verbose=-1
    )


def measure(who: str, n_rows: int) -> dict[str, float]:
    """Measure in this process, which does nothing else: its memory is the largest it ever had."""
    warnings.simplefilter("ignore")
    small = sample(4000)
    learner(who, 4000).fit(*small).predict(small[0])  # loads what is loaded late
    X, y = sample(n_rows)
    before = _resident()
    seconds = {"fit": 0.0, "predict": 0.0}
    start = time.process_time()
    model = learner(who, n_rows).fit(X, y)
    seconds["fit"] = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    seconds["predict"] = min(_seconds_of(lambda: model.predict(X)) for _ in range(3))
    if who == "replearn":
        start = time.process_time()
        design = {"contenders": ["baseline", "replicable"]}
        audit(GaussianNB(), X, y, n_pairs=2, **design, verbose=-1)
        seconds["audit"] = time.process_time() - start
    input_bytes, block = X.nbytes + y.nbytes, X.nbytes / N_BLOCKS
    return {**seconds, "memory": max(0.0, peak - before - block) / input_bytes}


def _seconds_of(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def run(who: str, n_rows: int) -> dict[str, float]:
    words = [sys.executable, __file__, "--one", who, str(n_rows)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="20,000 and 200,000 rows")
    parser.add_argument("--one", nargs=2, metavar=("WHO", "N"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if options.one:
        print(json.dumps(measure(options.one[0], int(options.one[1]))))
        return
    n_rows = 20_000 if options.small else 100_000
    print("load:", os.getloadavg())
    for who in ("bagging", "replearn"):
        few, many = run(who, n_rows), run(who, 10 * n_rows)
        for what in [name for name in few if name != "memory"]:
            ratio = many[what] / few[what]
            lost = "  LOST" if who == "replearn" and ratio > MAX_GROWTH else ""
            print(
                f"{who:<9} {what:<8} {few[what]:8.2f} s -> {many[what]:8.2f} s "
                f"{ratio:6.1f} x   (<= {MAX_GROWTH:g}){lost}"
            )
        lost = "  LOST" if who == "replearn" and many["memory"] > MAX_MEMORY else ""
        print(
            f"{who:<9} memory of a fit beside the input and a block: "
            f"{many['memory']:.2f} of the input   (<= {MAX_MEMORY}){lost}",
            flush=True,
        )


if __name__ == "__main__":
    main()
