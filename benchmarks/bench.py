"""All benchmarks of speed and scale, one after another: what they take, and what is lost.

    python benchmarks/bench.py [--full] [--only out_of_core ...]

Each runs in a process of its own and prints its ratios beside its peers and targets; a line that
misses its target ends in LOST. At the end: processor and wall seconds of each, and all lost lines
again. Small sizes take less than ten minutes on two idle cores (`make bench`); --full runs the
sizes of the published numbers, which takes hours (`make bench-full`).
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
MAX_SECONDS = 600

SMALL = {
    "speed_vs_bagging": ["--small"],
    "speed_vs_single_fit": ["--small"],
    "one_row": ["--cases", "scaled", "table, linear", "table, trees", "--partitions", "2"],
    "keyed_uniforms": ["300_000"],
    "count_heavy": ["1e6"],
    "selection": ["--candidates", "100000"],
    "growth": ["--small"],
    "command_line": ["start", "quick", "fit", "predict", "--small"],
    "out_of_core": ["1e5", "1e6"],
    "dask_engine": [],
}
FULL = {
    "speed_vs_bagging": ["--full"],
    "speed_vs_single_fit": ["--full"],
    "one_row": [],
    "keyed_uniforms": [],
    "count_heavy": [],
    "selection": [],
    "growth": [],
    "command_line": [],
    "honesty": ["--cost"],
    "out_of_core": ["1e5", "1e6", "1e7"],
    "dask_engine": ["--full"],
}


def run(name: str, options: list[str]) -> tuple[float, float, list[str]]:
    """Run one benchmark; return its processor and wall seconds, and what it has lost."""
    print(f"\n=== {name} {' '.join(options)}", flush=True)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    words = [sys.executable, "-W", "ignore", str(HERE / f"{name}.py"), *options]
    lost = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lost += [f"{name}: {' '.join(line.split())}"] if "LOST" in line else []
    if process.returncode:
        lost.append(f"{name}: ended with exit code {process.returncode}")
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, wall, lost


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="the sizes of the published numbers")
    parser.add_argument("--only", nargs="+", choices=sorted(SMALL | FULL), help="some of them")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    chosen = FULL if options.full else SMALL
    names = [name for name in chosen if options.only is None or name in options.only]
    print("load before:", os.getloadavg())
    found = {name: run(name, chosen[name]) for name in names}
    print(f"\n=== in all\n{'':<18} {'CPU s':>8} {'wall s':>8}")
    for name, (used, wall, _) in found.items():
        print(f"{name:<18} {used:8.1f} {wall:8.1f}")
    used, wall = (sum(one[place] for one in found.values()) for place in (0, 1))
    late = "" if options.full or wall <= MAX_SECONDS else f"   LOST (<= {MAX_SECONDS} s)"
    print(f"{'together':<18} {used:8.1f} {wall:8.1f}{late}")
    lost = [line for *_, lines in found.values() for line in lines]
    print("\n".join(["", "lost:", *lost]) if lost else "\nnothing is lost")
    print("load after:", os.getloadavg())
    return 0  # a lost ratio is a finding, not a failure of the command


if __name__ == "__main__":
    sys.exit(main())
