"""A million rows with five columns of subgroups: `compare` in Python and on the command line.

``python benchmarks/compare_rows.py [--rows 1000000]`` prints processor seconds and the largest
memory of each, reading of files and the page included.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

MAX_SECONDS = 30
MAX_MIB = 2048
COLUMNS = 5
LEVELS = 6


def make_rows(n):
    rng = np.random.default_rng(0)
    old = rng.random(n)
    new = np.clip(old + rng.normal(0, 0.05, n), 0, 1)
    truth = (rng.random(n) < old).astype(int)
    names = np.array([f"level {index}" for index in range(LEVELS)])
    groups = {f"g{index}": rng.choice(names, n) for index in range(COLUMNS)}
    return old, new, truth, groups


def in_python(n):
    from replearn import compare

    old, new, truth, groups = make_rows(n)
    start = time.process_time()
    labels = [(side > 0.5).astype(int) for side in (old, new)]
    found = compare(*labels, y=truth, scores=(old, new), subgroups=groups)
    found.to_html()
    report(time.process_time() - start)


def on_files(folder):
    from replearn.cli import main

    start = time.process_time()
    files = [str(folder / name) for name in ("old.csv", "new.csv", "rows.csv")]
    groups = ",".join(f"g{index}" for index in range(COLUMNS))
    options = ["--score", "score", "--target", "truth", "--subgroups", groups, "--quiet"]
    main(["compare", *files, *options, "--out", str(folder / "update.html")])
    report(time.process_time() - start)


def report(seconds):
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{seconds:.1f} {mib:.0f}", file=sys.stderr)


def write_files(folder, n):
    old, new, truth, groups = make_rows(n)
    ids = [f"p{index}" for index in range(n)]
    for name, scores in (("old", old), ("new", new)):
        columns = {"id": ids, "prediction": (scores > 0.5).astype(int), "score": scores}
        pl.DataFrame(columns).write_csv(folder / f"{name}.csv")
    pl.DataFrame({"id": ids, "truth": truth, **groups}).write_csv(folder / "rows.csv")


def measured(*arguments):
    """Run this script in a process of its own; return seconds and MiB."""
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return map(float, done.stderr.split()[-2:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files")
    parser.add_argument("--python", action="store_true")
    options = parser.parse_args()
    if options.python:
        return in_python(options.rows)
    if options.files:
        return on_files(Path(options.files))
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), options.rows)
        runs = {
            "compare()": ("--python", "--rows", str(options.rows)),
            "replearn compare": ("--files", folder),
        }
        for name, arguments in runs.items():
            seconds, mib = measured(*arguments)
            print(
                f"{name}, {options.rows:,} rows, {COLUMNS} columns of subgroups: {seconds:.1f} "
                f"processor seconds (wanted: {MAX_SECONDS}), {mib:.0f} MiB (wanted: {MAX_MIB})"
            )
    return None


if __name__ == "__main__":
    main()
