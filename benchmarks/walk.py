"""How much of the library does a call touch? Functions, modules and packages that it touches.

    python benchmarks/walk.py [--check] [--names CALL]

A function is touched when its body runs (a comprehension counts where Python makes it a function),
a module when one of its functions is, and so is a package: the first folder in `replearn`.
All modules are imported before; what runs at import does not count. Each call is traced in a
process of its own, and what it is given is made in another: no cache hides work. `--names` lists
the modules of one call; `--check` ends with 1 if a call touches more modules than wanted.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import contextlib
import importlib
import inspect
import io
import json
import pickle
import pkgutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.linear_model import LogisticRegression

import replearn
import replearn.cli

SOURCE = Path(replearn.__file__).resolve().parent
WANTED_MODULES = {"fit": 34, "predict": 11, "check": 9, "plan": 11, "audit": 60}
AUDIT = "--target y --pairs 3 --jobs 1 --quiet --out report.html"


def sample(n_rows=3_000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0).astype(int)


def fit(X, y):
    base = LogisticRegression()
    return replearn.PointwiseReplicableClassifier(base, rho=0.1, shared_key="walk").fit(X, y)


def write_table():
    X, y = sample()
    group = np.where(X[:, 1] > 0, "a", "b")
    columns = {"group": pl.Series(group), "y": pl.Series(y)}
    pl.from_numpy(X).with_columns(**columns).write_csv("data.csv")
    return ()


# what a call is given, made in another process, and the call
GIVEN = {
    "fit": sample,
    "predict": lambda: (fit(*sample()), sample()[0][:100]),
    "check": lambda: (fit(*sample()).certificate_,),
    "plan": lambda: (),
    "audit": write_table,
}
CALLS = {
    "fit": lambda X, y: fit(X, y),
    "predict": lambda model, X: model.predict(X),
    "check": lambda certificate: certificate.check(),
    "plan": lambda: replearn.plan(n=9_000, rho=0.1, classes=[0, 1]),
    "audit": lambda: replearn.cli.main(["audit", "data.csv", *AUDIT.split()]),
}


def trace(name):
    """Make the call and print module, name and line of every function whose body ran."""
    for module in pkgutil.walk_packages([str(SOURCE)], "replearn."):
        if not module.name.endswith("__main__"):
            package = importlib.import_module(module.name)
            for public in getattr(package, "__all__", ()):  # made on first use: an import as well
                getattr(package, public)
    for public in replearn.__all__:
        getattr(replearn, public)
    given = pickle.loads(Path("given.pickle").read_bytes())
    codes = set()

    def note(frame, event, _):
        if event == "call":
            codes.add(frame.f_code)

    with contextlib.redirect_stdout(io.StringIO()):
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            result = CALLS[name](*given)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    if name == "audit" and result != 0:
        sys.exit(f"the audit ended with {result}")
    print(json.dumps(sorted({function for code in codes if (function := place(code))})))


def place(code):
    """Tell where a function of the library is; None for others and for bodies of classes."""
    path = Path(code.co_filename).resolve()
    if not path.is_relative_to(SOURCE) or not code.co_flags & inspect.CO_OPTIMIZED:
        return None
    return path.relative_to(SOURCE).as_posix(), code.co_qualname, code.co_firstlineno


def walk(name):
    """Return how many functions of each module the call touches."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    with tempfile.TemporaryDirectory() as folder:
        for step in ("--give", "--trace"):
            command = [sys.executable, "-W", "ignore", os.path.abspath(__file__), step, name]
            printed = subprocess.check_output(command, cwd=folder, env=environment)
    return Counter(module for module, _, _ in json.loads(printed))


def main(names, check):
    if names:
        for module, n_functions in sorted(walk(names).items()):
            print(f"{n_functions:4d}  {module}")
        return 0
    print("| call | functions | modules | packages | modules wanted |\n|---|---|---|---|---|")
    missed = False
    for name, wanted in WANTED_MODULES.items():
        touched = walk(name)
        packages = {module.split("/")[0] for module in touched}
        missed |= len(touched) > wanted
        print(f"| {name} | {touched.total()} | {len(touched)} | {len(packages)} | {wanted} |")
    return int(check and missed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", choices=CALLS, help="list the modules that this call touches")
    parser.add_argument("--check", action="store_true", help="end with 1 above a wanted number")
    for step in ("--give", "--trace"):
        parser.add_argument(step, choices=CALLS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.give:
        Path("given.pickle").write_bytes(pickle.dumps(GIVEN[args.give]()))
    elif args.trace:
        trace(args.trace)
    else:
        sys.exit(main(args.names, args.check))
