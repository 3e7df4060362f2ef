"""Print every difference of results between the third edition and the working tree, side by side.

    python tools/editions.py --data FOLDER [--files adult compas] [--rows 4000]

The wheel of the third edition is built from the history into an environment of its own. Both
editions then fit the estimators of the README and an audit on the CSV files of FOLDER (the last
column is the 0/1 target), with n_jobs 1 and 2: predictions, probabilities of flips, certified
numbers and limits. A line is printed for every number that differs; the exit code is 1 if one does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

THIRD_EDITION = "f7f352be"
FILES = ("adult", "bank_marketing", "compas", "spambase")
ROOT = Path(__file__).resolve().parents[1]
N_TEST = 1000

Result = dict[str, Any]


def old_python() -> Path:
    """Return the interpreter of the third edition; its environment is made once."""
    folder = ROOT / ".venv-editions"
    python = folder / "bin" / "python"
    if (folder / ".ready").exists():
        return python
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    with tempfile.TemporaryDirectory() as source:
        archive = subprocess.run(
            ["git", "archive", THIRD_EDITION], cwd=ROOT, check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", source], input=archive.stdout, check=True)
        pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        subprocess.run(
            [*pip, "--constraint", f"{source}/constraints.txt", f"{source}[cli,frames,large]"],
            check=True,
        )
    (folder / ".ready").touch()
    return python


def read(folder: Path, name: str, rows: int) -> tuple[Any, Any]:
    """Return numbers and 0/1 target of a file: categories by their place in sorted order."""
    import numpy as np
    import pandas as pd

    frame = pd.read_csv(folder / f"{name}.csv.gz", keep_default_na=False, na_values=[""])
    frame = frame.sample(min(len(frame), rows + N_TEST), random_state=0, ignore_index=True)
    y = frame.pop(frame.columns[-1]).to_numpy(dtype=np.intp)
    for column in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = np.unique(frame[column].fillna(""), return_inverse=True)[1]
    return frame.fillna(0.0).to_numpy(dtype=np.float64), y


def certified_numbers(certificate: Any) -> Result:
    """Return the verdict, rho and every number of a certificate."""
    return {
        "verdict": str(certificate.verdict),
        "rho": certificate.rho if certificate.verdict != "not certified" else None,
        "digits": [float(step.value) for step in certificate.steps],
    }


def classifiers(n: int) -> Iterator[tuple[str, Callable[[int], Any]]]:
    """Yield the estimators of the README by name."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    from replearn import (
        PointwiseReplicableClassifier,
        ScoreReplicableClassifier,
        SharedKey,
        plan,
    )

    key = SharedKey(b"the editions are compared" + bytes(7))
    shared = plan(n=n, rho=0.1, classes=[0, 1])
    bases = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "boosting": HistGradientBoostingClassifier(max_iter=20, random_state=0),
        "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    }
    for name, base in bases.items():
        for threshold in (None, 0.1):
            at = "" if threshold is None else f" at {threshold}"
            options = {} if threshold is None else {"threshold": threshold}
            yield (
                f"pointwise {name}{at}",
                lambda jobs, base=base, options=options: PointwiseReplicableClassifier(
                    base, plan=shared, shared_key=key, n_jobs=jobs, **options
                ),
            )
            yield (
                f"score {name}{at}",
                lambda jobs, base=base, options=options: ScoreReplicableClassifier(
                    base, rho=0.1, classes=[0, 1], shared_key=key, n_jobs=jobs, **options
                ),
            )


def fitted(folder: Path, name: str, rows: int) -> Iterator[tuple[str, Result]]:
    """Yield what the estimators of the README predict and promise on one file."""
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from replearn import IncumbentClassifier, PointwiseReplicableRegressor, SharedKey

    X, y = read(folder, name, rows)
    X_train, y_train, X_test = X[:-N_TEST], y[:-N_TEST], X[-N_TEST:]
    for case, make in classifiers(len(y_train)):
        for n_jobs in (1, 2):
            model = make(n_jobs).fit(X_train, y_train)
            yield (
                f"{name}: {case}, n_jobs={n_jobs}",
                {
                    "predictions": model.predict(X_test).tolist(),
                    "flip_probability": model.flip_probability(X_test).tolist(),
                    **certified_numbers(model.certificate_),
                },
            )
    regressor = PointwiseReplicableRegressor(
        make_pipeline(StandardScaler(), LinearRegression()),
        resolution=0.25,
        y_range=(0, 1),
        shared_key=SharedKey(b"the editions are compared" + bytes(7)),
    ).fit(X_train, y_train)
    yield (
        f"{name}: regressor",
        {
            "predictions": regressor.predict(X_test).tolist(),
            **certified_numbers(regressor.certificate_),
        },
    )
    base = make_pipeline(StandardScaler(), LogisticRegression())
    half = len(y_train) // 2
    first = IncumbentClassifier(base, memory=0.7).fit(X_train[:half], y_train[:half])
    second = IncumbentClassifier(base, memory=0.7, incumbent=first)
    second.fit(X_train[half:], y_train[half:])
    yield (
        f"{name}: incumbent with fixed memory",
        {
            "predictions": second.predict(X_test).tolist(),
            "chances": second.predict_proba(X_test)[:, 1].tolist(),
        },
    )


def audited(folder: Path, name: str, rows: int) -> Iterator[tuple[str, Result]]:
    """Yield the flip rates of an audit with their limits, by contender."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from replearn import audit

    X, y = read(folder, name, rows)
    result = audit(
        make_pipeline(StandardScaler(), LogisticRegression()),
        X,
        y,
        n_pairs=4,
        contenders=["baseline", "bagging"],
        shared_key=0,
        n_jobs=2,
        verbose=-1,
    )
    yield f"{name}: audit", flip_rates(result)


def flip_rates(result: Any) -> Result:
    """Return the flip rates of an audit of either edition: contender -> value and limits."""
    if hasattr(result, "table"):
        return {
            row.contender: [row.value, row.lower, row.upper]
            for row in result.table
            if row.what == "flips" and row.group == "all" and not row.variant
        }
    return {
        contender.name: [
            contender.flip_rate.value,
            contender.flip_rate.lower,
            contender.flip_rate.upper,
        ]
        for contender in result.report.contenders
    }


def measure(folder: Path, names: list[str], rows: int) -> dict[str, Result]:
    """Return all results of the edition that is imported here."""
    warnings.simplefilter("ignore")
    results: dict[str, Result] = {}
    for name in names:
        for part in (fitted, audited):
            for case, result in part(folder, name, rows):
                results[case] = result
                print(f"  {case}", file=sys.stderr, flush=True)
    return results


def differences(old: Result, new: Result) -> Iterator[str]:
    """Say in what two results of one case differ."""
    for item in sorted(old.keys() | new.keys()):
        before, after = old.get(item), new.get(item)
        if before == after:
            continue
        if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
            changed = [i for i in range(len(before)) if before[i] != after[i]]
            largest = max(abs(before[i] - after[i]) for i in changed)
            yield f"{item}: {len(changed)} of {len(before)} differ, by at most {largest:.3g}"
        else:
            yield f"{item}: {before} -> {after}"


def main() -> int:
    """Run both editions and print what differs; the results of the old one are kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of CSV files")
    parser.add_argument("--files", nargs="+", default=list(FILES))
    parser.add_argument("--rows", type=int, default=4000, help="training rows of each file")
    parser.add_argument(
        "--measure", action="store_true", help="print results as JSON (one edition)"
    )
    options = parser.parse_args()
    if options.measure:
        json.dump(measure(options.data, options.files, options.rows), sys.stdout)
        return 0
    call = [__file__, "--measure", "--data", str(options.data.resolve())]
    call += ["--rows", str(options.rows), "--files", *options.files]
    stored = ROOT / ".venv-editions" / f"results-{options.rows}-{'-'.join(options.files)}.json"
    if not stored.exists():
        print("the third edition:", file=sys.stderr)
        stored_text = run([str(old_python()), *call])
        stored.write_text(stored_text)
    print("the working tree:", file=sys.stderr)
    old, new = json.loads(stored.read_text()), json.loads(run([sys.executable, *call]))
    lines = [
        f"{case}: {line}"
        for case in sorted(old.keys() | new.keys())
        for line in differences(old.get(case, {}), new.get(case, {}))
    ]
    print("\n".join(lines) or f"{len(old)} cases: no difference")
    return int(bool(lines))


def run(call: list[str]) -> str:
    """Run one edition; what it prints about its progress is shown."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        call,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=tempfile.gettempdir(),
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
