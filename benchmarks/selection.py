"""A choice among a million candidates beside numpy.argmax over a fresh Gumbel array.

    python benchmarks/selection.py [--candidates 1000000] [--repeats 9]

All errors equal is the worst case: every candidate can win, so every name is hashed. With errors
that differ, candidates far behind the best cannot win and are never hashed.
"""

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from replearn import SharedKey
from replearn.primitives.selection import choose_by_errors

LIMIT = 6.0


def shortest(works, repeats):
    """Return the shortest CPU time of each work, in seconds; the works take turns."""
    seconds = [[] for _ in works]
    for _ in range(repeats):
        for work, times in zip(works, seconds, strict=True):
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
    return [min(times) for times in seconds]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--candidates", type=int, default=10**6)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    count, rng = options.candidates, np.random.default_rng(0)
    names = rng.integers(0, 2**32, (count, 4), dtype=np.uint32)
    key = SharedKey("benchmark")
    cases = {
        "all errors equal": np.full(count, 0.3),
        "errors uniform on [0.1, 0.6]": rng.uniform(0.1, 0.6, count),
    }
    works = [lambda: np.argmax(rng.gumbel(size=count))]
    works += [
        lambda e=e: choose_by_errors(e, names, sharpness=60.0, key=key) for e in cases.values()
    ]
    fresh, *ours = shortest(works, options.repeats)
    print(f"numpy.argmax(rng.gumbel(size={count})): {1000 * fresh:.0f} ms")
    for label, seconds in zip(cases, ours, strict=True):
        verdict = "" if seconds <= LIMIT * fresh else "  LOST"
        print(
            f"{label}: {1000 * seconds:.0f} ms, {seconds / fresh:.1f} times (<= {LIMIT:g}){verdict}"
        )


if __name__ == "__main__":
    main()
