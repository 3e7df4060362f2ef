"""How fast are keyed uniforms? One core, 3,000,000 rows of 10 float64, in one run.

    python benchmarks/keyed_uniforms.py [rows]

Printed beside two things people know: polars' (unkeyed) row hash in compiled code, and one plain
sum over the array, which is what merely reading the data costs.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import sys
import time
import tracemalloc

import numpy as np
import polars as pl

from replearn import SharedKey

N_COLUMNS = 10
REPEATS = 3
WANTED_ROWS_PER_SECOND = 3e6
WANTED_MEMORY_SHARE = 0.5


def fastest(function):
    """Return the smallest wall time and the smallest processor time of a few calls, in seconds."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter(), time.process_time()
        function()
        times.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    return tuple(map(min, zip(*times, strict=True)))


def peak_memory(function):
    tracemalloc.start()
    function()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def main(n_rows):
    array = np.random.default_rng(0).normal(size=(n_rows, N_COLUMNS))
    frame = pl.DataFrame(array)
    key = SharedKey("benchmark")
    seconds = {
        "keyed uniforms": fastest(lambda: key.uniforms(array)),
        "keyed order": fastest(lambda: key.order(array)),
        "polars hash_rows": fastest(frame.hash_rows),
        "plain sum": fastest(array.sum),
    }
    own = seconds["keyed uniforms"]
    print(f"{n_rows:,} rows x {N_COLUMNS} float64, one core, best of {REPEATS}")
    print(f"{'':17}{'rows/s':>13}{'rows/s of processor time':>27}{'time / keyed uniforms':>24}")
    for name, (wall, processor) in seconds.items():
        print(f"{name:17}{n_rows / wall:13,.0f}{n_rows / processor:27,.0f}{wall / own[0]:24.3f}")
    for name in ("polars hash_rows", "plain sum"):
        print(f"keyed uniforms take {own[0] / seconds[name][0]:.1f} times as long as {name}")
    share = peak_memory(lambda: key.uniforms(array)) / array.nbytes
    rate = n_rows / own[0]
    rate_verdict, memory_verdict = (
        "ok" if passed else "LOST"
        for passed in (rate >= WANTED_ROWS_PER_SECOND, share < WANTED_MEMORY_SHARE)
    )
    print(f"rate {rate:,.0f} rows/s, wanted {WANTED_ROWS_PER_SECOND:,.0f}: {rate_verdict}")
    print(
        f"extra memory {share:.3f} of the input, wanted < {WANTED_MEMORY_SHARE}: {memory_verdict}"
    )


if __name__ == "__main__":
    main(int(sys.argv[1].replace("_", "")) if len(sys.argv) > 1 else 3_000_000)
