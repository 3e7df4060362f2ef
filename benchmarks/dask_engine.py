"""The Dask engine: bits, overhead against joblib, and what a lost worker or scheduler costs.

    python benchmarks/dask_engine.py            # small: half a minute
    python benchmarks/dask_engine.py --full     # fits of 20 s and more, 2 and 4 processes

Every fit of a block writes a line to a log, so that blocks that were trained twice are counted. A
line that misses what is wanted ends in LOST.
"""

import argparse
import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from sklearn.tree import DecisionTreeClassifier

LOG = "REPLEARN_BENCH_LOG"
MAX_OVERHEAD = 1.3


class Logged(DecisionTreeClassifier):
    """A tree that writes a line for each fit."""

    def fit(self, X, y, sample_weight=None, check_input=True):
        with open(os.environ[LOG], "a") as log:
            log.write(".\n")
        for _ in range(int(os.environ.get("REPLEARN_BENCH_REPEAT", "1"))):
            super().fit(X, y, sample_weight, check_input)
        return self


def learner(n_blocks, n_jobs=None):
    from replearn import PointwiseReplicableClassifier

    params = {"n_blocks": n_blocks, "rho": 1.0, "max_fits": n_blocks, "shared_key": "bench"}
    return PointwiseReplicableClassifier(Logged(max_depth=8), n_jobs=n_jobs, **params)


def write_rows(path, n):
    import polars as pl

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    y = X[:, 0] * X[:, 1] + rng.normal(size=n) > 0
    columns = {f"x{place}": X[:, place] for place in range(10)}
    frame = pl.DataFrame({**columns, "y": y})
    frame.write_parquet(path, row_group_size=1 << 16)
    return frame


def n_logged():
    path = Path(os.environ[LOG])
    return path.read_text().count("\n") if path.exists() else 0


def cpu():
    """CPU seconds of this process and of all children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(item.ru_utime + item.ru_stime for item in used)


def fit(path, work, n_blocks, client=None, n_jobs=None):
    from replearn.outofcore import fit_files

    start = time.monotonic()
    model = fit_files(
        learner(n_blocks, n_jobs),
        path,
        "y",
        folder=work,
        client=client,
        trusted_types=["__main__.Logged"],
    )
    return model, time.monotonic() - start


def when_models(folder, count, act):
    """Do something as soon as so many models are there."""

    def wait():
        while len(list(Path(folder).glob("training/*.model"))) < count:
            time.sleep(0.01)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


@contextlib.contextmanager
def processes(n_workers, port):
    """Run a scheduler and workers as programs of their own, as on a cluster."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    module = [sys.executable, "-W", "ignore", "-m"]
    scheduler = [*module, "distributed.cli.dask_scheduler", "--port", str(port), "--no-dashboard"]
    worker = [*module, "distributed.cli.dask_worker", f"tcp://127.0.0.1:{port}", "--no-dashboard"]
    worker += ["--nworkers", str(n_workers), "--nthreads", "1"]
    running = [subprocess.Popen(command, **quiet) for command in (scheduler, worker)]
    try:
        yield running[0]
    finally:
        for process in running:
            process.terminate()
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            process.kill()
            process.wait()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def same(model, expected, X):
    """Whether two fitted learners predict the same bits."""
    return bool((model.predict_proba(X) == expected.predict_proba(X)).all())


def verdict(value, most):
    return "" if value <= most else f"   LOST (wanted: at most {most:g})"


def lost_worker(path, place, size, n_workers, expected, X):
    """Kill one worker in the middle of the training."""
    from distributed import Client, LocalCluster

    work, before = f"{place}/worker-{n_workers}", n_logged()
    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        pid = next(iter(client.run(os.getpid).values()))
        when_models(work, size // 4, lambda: os.kill(pid, signal.SIGKILL))
        model, seconds = fit(path, work, size, client)
    redone = n_logged() - before - size
    told = "same bits" if same(model, expected, X) else "OTHER BITS   LOST"
    print(
        f"  {n_workers} processes, one worker killed: {told}, {redone} blocks trained twice "
        f"in {seconds:.1f} s{verdict(redone, 1)}",
        flush=True,
    )


def lost_scheduler(path, place, size, n_workers, expected, X):
    """Kill the scheduler in the middle, start everything again, and go on in the same folder."""
    import dask
    from distributed import Client

    work, before, port = f"{place}/scheduler-{n_workers}", n_logged(), free_port()
    address = f"tcp://127.0.0.1:{port}"
    soon = {"distributed.comm.timeouts.connect": "3s"}
    with dask.config.set(soon), processes(n_workers, port) as scheduler:
        client = Client(address, timeout=60)
        client.wait_for_workers(n_workers, timeout=60)
        when_models(work, size // 4, scheduler.kill)
        try:
            fit(path, work, size, client)
            print("  the scheduler was not lost   LOST")
        except Exception as error:
            print(f"  scheduler killed: the fit ended with {type(error).__name__}", flush=True)
        done = len(list(Path(work).glob("training/*.model")))
        with contextlib.suppress(Exception):
            client.close(timeout=2)
    with processes(n_workers, port), Client(address, timeout=60) as client:
        client.wait_for_workers(n_workers, timeout=60)
        model, _ = fit(path, work, size, client)
    redone = n_logged() - before - size
    told = "same bits" if same(model, expected, X) else "OTHER BITS   LOST"
    print(
        f"  {n_workers} processes, scheduler restarted with {done} of {size} blocks done: {told}, "
        f"{redone} blocks trained twice{verdict(redone, n_workers)}",
        flush=True,
    )


def overhead(path, place, size, expected, X):
    """Compare the same fit in joblib's processes and on a Dask cluster, both warmed up."""
    import joblib
    from distributed import Client, LocalCluster

    warm = f"{place}/warm.parquet"
    write_rows(warm, 2000)
    with joblib.parallel_config("loky", n_jobs=2):
        fit(warm, f"{place}/warm-joblib", 10, n_jobs=2)
        model, local = fit(path, f"{place}/joblib", size, n_jobs=2)
    good = same(model, expected, X)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        fit(warm, f"{place}/warm-dask", 10, client)
        model, there = fit(path, f"{place}/dask", size, client)
    good &= same(model, expected, X)
    ratio = there / local
    told = "same bits" if good else "OTHER BITS   LOST"
    wanted = verdict(ratio, MAX_OVERHEAD) if local >= 20 else "   (wanted only of 20 s and more)"
    print(
        f"  joblib n_jobs=2 {local:.1f} s, Dask with 2 processes {there:.1f} s: {told}, "
        f"ratio {ratio:.2f}{wanted}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="fits of 20 s and more")
    parser.add_argument("--rows", type=float, help="number of rows")
    args = parser.parse_args()
    n, size, repeat = (1_000_000, 88, 6) if args.full else (100_000, 88, 4)
    n = int(args.rows or n)
    with tempfile.TemporaryDirectory(prefix="replearn-bench-") as place:
        os.environ[LOG] = f"{place}/log"
        os.environ["REPLEARN_BENCH_REPEAT"] = str(repeat)
        frame = write_rows(f"{place}/rows.parquet", n)
        X = frame.drop("y").head(20_000)
        start, used = time.monotonic(), cpu()
        expected = learner(size).fit(frame.drop("y"), frame["y"].to_numpy())
        told = f"{time.monotonic() - start:.1f} s, {cpu() - used:.1f} CPU s"
        print(f"{n} rows, {size} blocks; in memory, one process: {told}", flush=True)
        overhead(f"{place}/rows.parquet", place, size, expected, X)
        for n_workers in (2, 4) if args.full else (2,):
            lost_worker(f"{place}/rows.parquet", place, size, n_workers, expected, X)
            lost_scheduler(f"{place}/rows.parquet", place, size, n_workers, expected, X)


if __name__ == "__main__":
    main()
