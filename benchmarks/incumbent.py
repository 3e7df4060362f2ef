"""Twelve retrainings on fresh samples: with and without an incumbent, with and without drift.

    python benchmarks/incumbent.py --data DIR [--sets adult,default_credit_tw] [--rows 3000]

Every retraining draws its own rows. Per contender: flips per retraining, the share of people whose
answer has ever changed, accuracy (mean, and of the last model), and staleness: for how many
retrainings a wrong answer survives on average, counted until the end at most. Under drift the share
of positive labels among the training rows moves from one retraining to the next, and so do the test
labels' weights: accuracy is weighted by the population of the day.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings

import numpy as np
from _base_learners import base_estimator
from _cells import markdown_table
from _data import add_data_arguments, load, parse
from sklearn.base import BaseEstimator, ClassifierMixin

from replearn import IncumbentClassifier

STEPS = 12
BANDS = (0.05, 0.1)
HEADER = (
    "file, learner, drift",
    "contender",
    "flips per retraining",
    "ever changed",
    "accuracy",
    "of the last",
    "wrong answers stay",
)


def positives(step, drift, share):
    """Share of positive labels at a retraining: from the file's to half as many again."""
    return share * (1 + 0.5 * step / (STEPS - 1)) if drift else share


def draw(table, rng, rows, share):
    """Draw rows of the file with so many positive labels."""
    y = table.y[table.rest]
    ones, zeros = table.rest[y == 1], table.rest[y == 0]
    n_ones = min(rng.binomial(rows, share), len(ones))
    return np.concatenate(
        [
            rng.choice(ones, n_ones, replace=False),
            rng.choice(zeros, min(rows - n_ones, len(zeros)), replace=False),
        ]
    )


def chains(table, model, rows, drift):
    """Return the answers of every contender at every retraining, and the weights of test rows."""
    X, y, rng = table.X[table.test], table.y[table.test], np.random.default_rng(7)
    share, answers, weights = float(table.y.mean()), {}, []
    previous = dict.fromkeys(BANDS)
    for step in range(STEPS):
        now = positives(step, drift, share)
        weights.append(np.where(y == 1, now / share, (1 - now) / (1 - share)))
        sample = draw(table, rng, rows, now)
        base = base_estimator(model, table, seed=step).fit(table.X[sample], table.y[sample])
        chances = base.predict_proba(X)
        answers.setdefault("retrained", []).append(chances.argmax(axis=1))
        for band in BANDS:
            kept = IncumbentClassifier(Known(chances), previous[band], band=band)
            previous[band] = Answered(kept.fit(X, y).predict(X))
            answers.setdefault(f"incumbent, band {band:g}", []).append(previous[band].answers)
        answers.setdefault("first model", []).append(answers["retrained"][0])
    return {name: np.array(found) for name, found in answers.items()}, np.array(weights)


def staleness(answers, y):
    """Mean number of retrainings that a wrong answer survives, from when it is first given."""
    lengths = []
    for row in range(answers.shape[1]):
        wrong = np.concatenate([[0], answers[:, row] != y[row], [0]])
        edges = np.flatnonzero(np.diff(wrong))
        lengths += (edges[1::2] - edges[::2]).tolist()
    return float(np.mean(lengths)) if lengths else 0.0


def summary(answers, weights, y):
    right = answers == y
    accuracy = (right * weights).sum(axis=1) / weights.sum(axis=1)
    return [
        f"{100 * (answers[1:] != answers[:-1]).mean():.2f} %",
        f"{100 * (answers != answers[0]).any(axis=0).mean():.1f} %",
        f"{100 * accuracy.mean():.2f}",
        f"{100 * accuracy[-1]:.2f}",
        f"{staleness(answers, y):.2f}",
    ]


class Known(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities on the test rows were computed already."""

    def __init__(self, chances):
        self.chances = chances

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        return self.chances

    def predict(self, X):
        return self.chances.argmax(axis=1)


class Answered:
    """A model in use whose answers on the test rows are known: the chain is not asked again."""

    def __init__(self, answers):
        self.answers = answers

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.answers


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_arguments(parser, "adult,default_credit_tw")
    parser.add_argument("--models", default="logreg,boosting")
    options, rows = parse(parser), []
    size = options.rows or 3000
    for name in options.sets.split(","):
        table = load(options, name)
        for model in options.models.split(","):
            for drift in (False, True):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    answers, weights = chains(table, model, size, drift)
                for contender, found in answers.items():
                    where = f"{name}, {model}, {'drift' if drift else 'none'}"
                    y = table.y[table.test]
                    rows.append([where, contender, *summary(found, weights, y)])
                    print(rows[-1], flush=True)
    print(markdown_table(HEADER, rows))


if __name__ == "__main__":
    main()
