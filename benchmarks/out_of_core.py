"""Files larger than memory: CPU, memory and growth of `fit_files`, beside peers.

    python benchmarks/out_of_core.py                     # 1e5 and 1e6 rows x 10 columns, a minute
    python benchmarks/out_of_core.py 1e7 --folder /big   # one size
    python benchmarks/out_of_core.py 1e8 --folder /big --score 1e7

Every size runs in a process of its own, so that its peak memory is its own. A line that misses what
is wanted ends in LOST.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COLUMNS, BLOCKS = 10, 88
ROWS_AT_A_TIME = 1 << 20
MAX_MEMORY, MAX_ROUTING, MAX_GROWTH = 3.0, 6.0, 11.0
PREFIX = 1_000_000


def write_rows(path, n):
    """Write a file of independent normal features, whose label is linear in them with noise."""
    import pyarrow as pa
    from pyarrow import parquet

    weights = np.random.default_rng(0).normal(size=COLUMNS)
    names = [f"x{place}" for place in range(COLUMNS)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("y", pa.int8())])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n, ROWS_AT_A_TIME):
            rng = np.random.default_rng([1, start])
            X = rng.normal(size=(min(ROWS_AT_A_TIME, n - start), COLUMNS))
            y = (X @ weights + 2 * rng.normal(size=len(X)) > 0).astype(np.int8)
            columns = {name: X[:, place] for place, name in enumerate(names)}
            writer.write_table(pa.table({**columns, "y": y}, schema=schema))


def learner():
    from sklearn.linear_model import LogisticRegression

    from replearn import PointwiseReplicableClassifier

    return PointwiseReplicableClassifier(LogisticRegression(), max_fits=BLOCKS, shared_key="bench")


def peak():
    """Largest resident memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def timed_steps():
    """Add up the CPU time of every step that the engine runs."""
    from replearn.outofcore.engines import LocalEngine

    seconds, run = {}, LocalEngine.run

    def timed(self, work, numbers, what):
        start = time.process_time()
        run(self, work, numbers, what)
        seconds[what] = seconds.get(what, 0.0) + time.process_time() - start

    LocalEngine.run = timed
    return seconds


def child_fit(path, folder, score):
    """Fit on one file, score a part of it from a file, and tell what it took."""
    from replearn import save
    from replearn.outofcore import fit_files, predict_files

    steps, start, wall = timed_steps(), time.process_time(), time.monotonic()
    with tempfile.TemporaryDirectory(dir=folder) as work:
        model = fit_files(learner(), path, "y", folder=work)
    told = {"steps": steps, "fit": time.process_time() - start, "wall": time.monotonic() - wall}
    save(model, f"{folder}/model.replearn")
    start = time.process_time()
    rows = f"{folder}/score.parquet"
    n = predict_files(model, rows, f"{folder}/answers.parquet") if score else 0
    told |= {"predict": time.process_time() - start, "scored": n, "peak": peak()}
    print(json.dumps(told))


def child_scan(path):
    """What a plain scan of the file costs: polars adds up every column."""
    import polars as pl

    start = time.process_time()
    pl.scan_parquet(path).select(pl.all().sum()).collect(engine="streaming")
    print(json.dumps({"scan": time.process_time() - start, "peak": peak()}))


def child_equal(path, folder, n):
    """Fit on the first rows from a file and in memory, and compare."""
    import polars as pl

    from replearn.outofcore import fit_files

    frame = pl.scan_parquet(path).head(n).collect()
    frame.write_parquet(f"{folder}/prefix.parquet")
    start = time.process_time()
    there = fit_files(learner(), f"{folder}/prefix.parquet", "y")
    files, start = time.process_time() - start, time.process_time()
    X = frame.drop("y")
    here = learner().fit(X, frame["y"].to_numpy())
    memory = time.process_time() - start
    probes = X.head(200_000)
    same = bool((there.predict_proba(probes) == here.predict_proba(probes)).all())
    same &= bool((there.predict(probes) == here.predict(probes)).all())
    same &= there.certificate_ == here.certificate_
    same &= all(
        (a.coef_ == b.coef_).all() for a, b in zip(there.estimators_, here.estimators_, strict=True)
    )
    print(json.dumps({"same": same, "files": files, "memory": memory, "rows": len(frame)}))


def child_audit(n):
    """Audit a linear-time learner in memory on n rows drawn from a larger file."""
    from sklearn.naive_bayes import GaussianNB

    from replearn import audit

    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, COLUMNS))
    y = X[:, 0] + rng.normal(size=n) > 0
    start = time.process_time()
    audit(GaussianNB(), X, y, n_pairs=2)
    print(json.dumps({"audit": time.process_time() - start}))


def in_child(*arguments):
    """Run a part of this script in a fresh process and read its last line."""
    command = [sys.executable, "-W", "ignore", __file__, "--child", *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def verdict(value, most):
    return "" if value <= most else f"   LOST (wanted: at most {most:g})"


def report(n, place, score):
    """Print the lines of one size."""
    path = Path(place) / "rows.parquet"
    write_rows(path, n)
    write_rows(Path(place) / "score.parquet", score)
    size = path.stat().st_size / 1e9
    print(
        f"\n{n:.0e} rows x {COLUMNS} columns, {size:.2f} GB of Parquet, {BLOCKS} blocks", flush=True
    )
    scan = in_child("scan", path)
    told = in_child("fit", path, place, score)
    steps, per_row = told["steps"], 1e6 / n
    for name, seconds in steps.items():
        print(f"  {name:24s} {seconds:8.2f} CPU s   {seconds * per_row:6.3f} us a row")
    total = f"{told['fit']:8.2f} CPU s   {told['fit'] * per_row:6.3f} us a row"
    print(f"  {'fit in all':24s} {total}, {told['wall']:.0f} s by the clock")
    scored = told["predict"] / max(1, told["scored"]) * 1e6
    print(f"  {'predict to a file':24s} {told['predict']:8.2f} CPU s   {scored:6.3f} us a row")
    print(
        f"  {'polars scan and sum':24s} {scan['scan']:8.2f} CPU s   {scan['scan'] * per_row:6.3f}"
    )
    routing = steps["pieces routed"] / scan["scan"]
    passes = sum(steps[name] for name in ("pieces hashed", "buckets ranked", "pieces routed"))
    print(f"  routing / scan           {routing:8.2f}{verdict(routing, MAX_ROUTING)}")
    both = passes / scan["scan"]
    print(f"  hash, rank, route / scan {both:8.2f}   (both passes; nothing is wanted of it)")
    print(f"  peak memory              {told['peak']:8.2f} GiB{verdict(told['peak'], MAX_MEMORY)}")
    prefix = min(n, PREFIX)
    equal = in_child("equal", path, place, prefix)
    same = "same models, predictions and certificate" if equal["same"] else "DIFFERENT   LOST"
    print(f"  first {prefix:.0e} rows: {same}; {equal['files']:.1f} CPU s from files,")
    print(f"    {equal['memory']:.1f} in memory", flush=True)
    return {"fit": told["fit"], "predict": told["predict"] / max(1, told["scored"]) * n}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", type=float, default=[1e5, 1e6])
    parser.add_argument("--folder", help="where files are written (default: a temporary folder)")
    parser.add_argument("--score", type=float, default=1e5, help="rows that are scored")
    parser.add_argument("--audit", action="store_true", help="growth of an audit, too")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        name, *rest = args.child
        numbers = [int(item) if item.isdigit() else item for item in rest]
        globals()[f"child_{name}"](*numbers)
        return
    found = {}
    for size in args.sizes:
        with tempfile.TemporaryDirectory(dir=args.folder, prefix="replearn-bench-") as place:
            found[size] = report(int(size), place, int(args.score))
    if args.audit:
        for size in args.sizes:
            found[size] |= in_child("audit", int(size))
    for small, large in zip(args.sizes, args.sizes[1:], strict=False):
        for step in found[small]:
            growth = found[large][step] / found[small][step]
            line = f"growth of {step} from {small:.0e} to {large:.0e} rows: {growth:.1f}"
            print(line + (verdict(growth, MAX_GROWTH) if large == 10 * small else ""))


if __name__ == "__main__":
    main()
