"""Labs in processes of their own: one version and two codes, a file, hashes of texts.

python benchmarks/honesty_processes.py CASE PAIR LAB FOLDER   # one lab; honesty.py starts two
"""

import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _pairs import Outcome, outcome_of
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from replearn import PointwiseReplicableClassifier

RHO, ROWS, POINTS = 0.2, 2500, 300
TOWNS = np.array([f"town {k}" for k in range(20)])
PACKAGE = "__version__ = '1.0'\n\n\ndef above(X):\n    return (X > {limit}).astype(float)\n"


def draw(rng: np.random.Generator, n: int) -> tuple[pd.DataFrame, Any]:
    """Return two numbers and a town, and labels that depend on the town most of all."""
    X = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"]).assign(town=rng.choice(TOWNS, n))
    score = X["a"] + 4 * (X["town"].str[5:].astype(int) % 2 - 0.5) + rng.normal(size=n)
    return X, (score > 0).to_numpy().astype(int)


# -- three base estimators that depend on something outside ----------------------------------------
def from_file(X: pd.DataFrame) -> Any:
    """Replace towns by the numbers of a file in the current folder."""
    table = pd.read_csv("towns.csv").set_index("town")["value"]
    return X.assign(town=X["town"].map(table)).to_numpy(float)


def by_hash(X: pd.DataFrame) -> Any:
    """Replace towns by three buckets of their hashes, which each process draws anew."""
    return X.assign(town=[float(hash(town) % 3) for town in X["town"]]).to_numpy(float)


def without_town(X: pd.DataFrame) -> Any:
    """Return the numbers."""
    return X[["a", "b"]].to_numpy()


def base_of(case: str) -> Any:
    """Return the base estimator of a case."""
    if case == "package":
        from labtools import above  # the package in this lab's folder

        return make_pipeline(
            FunctionTransformer(without_town), FunctionTransformer(above), GaussianNB()
        )
    prepare = {"file": from_file, "hash": by_hash, "nothing": without_town}[case]
    return make_pipeline(FunctionTransformer(prepare), GaussianNB())


# -- one lab ---------------------------------------------------------------------------------------
def prepare_folder(case: str, lab: int, folder: Path) -> None:
    """Write what this lab has in its folder: its copy of a package, its lookup file."""
    if case == "package":
        (folder / "labtools.py").write_text(PACKAGE.format(limit=-0.5 if lab else 0.5))
    if case == "file":
        number = np.arange(len(TOWNS))
        values = number // 10 if lab else number % 2
        pd.DataFrame({"town": TOWNS, "value": values}).to_csv(folder / "towns.csv", index=False)


def train(case: str, pair: int, lab: int, folder: Path) -> None:
    """Fit one lab in its folder, and leave predictions and certificate there."""
    warnings.simplefilter("ignore")
    prepare_folder(case, lab, folder)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    rng = np.random.default_rng([pair, lab, 59])
    model = PointwiseReplicableClassifier(base_of(case), rho=RHO, max_fits=60, shared_key=pair)
    model.fit(*draw(rng, ROWS))
    fresh = draw(np.random.default_rng([pair, 61]), POINTS)[0]
    found = (model.predict(fresh), model.certificate_)
    (folder / "lab.pickle").write_bytes(pickle.dumps(found))


def two_processes(pair: int, *, case: str) -> Outcome:
    """Train two labs in processes and folders of their own."""
    found = []
    for lab in range(2):
        with tempfile.TemporaryDirectory() as folder:
            command = "import sys, honesty_processes as h; h.main(sys.argv[1:])"
            paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
            env = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": str(1 + lab)}
            arguments = [case, str(pair), str(lab), folder]
            subprocess.run([sys.executable, "-c", command, *arguments], check=True, env=env)
            found.append(pickle.loads(Path(folder, "lab.pickle").read_bytes()))
    (one, here), (two, there) = found
    rate = float(np.mean(one != two))
    return outcome_of(here.rho, rate, (here, there))


def main(arguments: list[str]) -> None:
    """Train the lab that the arguments name."""
    case, pair, lab, folder = arguments
    train(case, int(pair), int(lab), Path(folder))


PROCESS_ROWS: dict[str, Callable[[int], Outcome]] = {
    "E4 two processes, nothing differs": partial(two_processes, case="nothing"),
    "E4 one version, two codes": partial(two_processes, case="package"),
    "E5 a lookup file": partial(two_processes, case="file"),
    "E5 hashes of texts": partial(two_processes, case="hash"),
}
"""Rows of docs/honesty.md about what lies outside the table and the estimator's own code."""

if __name__ == "__main__":
    main(sys.argv[1:])
