"""Which predictions are equal on another CPU: fit and predict as tools/kernels.py sets it up.

``python benchmarks/across_cpus.py [--rows 100000]`` fits every kind of estimator with
every base estimator in one process per set-up, and counts the predictions that differ from those of
this CPU's own choice. Set-ups that this CPU cannot run are named.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.kernels import SET_UPS  # noqa: E402

KINDS = ("hard votes", "soft votes", "scores", "regression")
BASES = ("linear", "trees", "boosting")


def models():
    """Return every combination with its name."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    from replearn import (
        PointwiseReplicableClassifier,
        PointwiseReplicableRegressor,
        ScoreReplicableClassifier,
    )

    classifiers = {
        "linear": LogisticRegression(),
        "trees": DecisionTreeClassifier(min_samples_leaf=10),
        "boosting": HistGradientBoostingClassifier(max_iter=20),
    }
    regressors = {
        "linear": Ridge(),
        "trees": DecisionTreeRegressor(min_samples_leaf=10),
        "boosting": HistGradientBoostingRegressor(max_iter=20),
    }
    for base in BASES:
        for vote in ("hard", "soft"):
            options = {"n_blocks": 32, "vote": vote, "shared_key": "cpus", "max_fits": 32}
            model = PointwiseReplicableClassifier(classifiers[base], **options)
            yield f"{vote} votes", base, model
        yield "scores", base, ScoreReplicableClassifier(classifiers[base], shared_key="cpus")
        regressor = PointwiseReplicableRegressor(
            regressors[base], n_blocks=32, y_range=(-6.0, 6.0), resolution=2.0, shared_key="cpus"
        )
        yield "regression", base, regressor


def predict_here(path: Path, n_rows: int) -> None:
    """Fit everything in this process and write the predictions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 12)).round(6)
    signal = X @ rng.normal(size=12) / 2.0 + np.sin(2.0 * X[:, 0])
    # Computed numbers differ between CPUs in their last bits, and these would decide the partition.
    noisy = (signal + rng.normal(size=len(X))).round(6)
    new = rng.normal(size=(n_rows, 12)).round(6)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, base, model in models():
            y = np.clip(noisy, -6.0, 6.0) if kind == "regression" else (noisy > 0).astype(int)
            found[f"{kind}/{base}"] = model.fit(X, y).predict(new)
    np.savez(path, **found)


def predictions(name: str, folder: Path, n_rows: int) -> dict[str, np.ndarray]:
    """Return the predictions of one set-up, made in a process of its own."""
    path = folder / f"{name}.npz"
    environment = SET_UPS[name].environment if name in SET_UPS else {}
    command = [sys.executable, __file__, "--here", name, str(path), "--rows", str(n_rows)]
    subprocess.run(command, env=os.environ | environment, check=True)
    with np.load(path) as stored:
        return dict(stored)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--here", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.here:
        name, path = args.here
        if name in SET_UPS:
            SET_UPS[name].check()
        predict_here(Path(path), args.rows)
        return
    skipped = {name: set_up.missing() for name, set_up in SET_UPS.items() if set_up.missing()}
    names = [name for name in SET_UPS if name not in skipped]
    with tempfile.TemporaryDirectory() as folder:
        own = predictions("own", Path(folder), args.rows)
        found = {name: predictions(name, Path(folder), args.rows) for name in names}
    print(f"predictions of {args.rows:,} that differ from those of this CPU's own choice")
    print("| | " + " | ".join(names) + " |")
    print("|---|" + "--:|" * len(names))
    for item, expected in own.items():
        counts = [int((found[name][item] != expected).sum()) for name in names]
        print(f"| {item} | " + " | ".join(map(str, counts)) + " |")
    for name, missing in skipped.items():
        print(f"skipped {name}: this CPU lacks {', '.join(missing)}")


if __name__ == "__main__":
    main()
