"""Abstain where the ensemble is not sure: selective ensembles beside `predict_or_abstain`.

    python benchmarks/selective.py --data DIR [--sets adult,german_credit,default_credit_tw]

A selective ensemble (Black, Leino and Fredrikson, ICLR 2022) trains some models on resamples and
answers with their majority where a two-sided binomial test rejects a fair coin, else it abstains.
The learners of this library abstain where the estimated flip probability is too large; the limit is
set so that as many test rows are left without a prediction, in each run. Two halves of a file, one
key: what is measured is how often two runs both predict, and differently; how often only one of
them predicts; and the accuracy of what is predicted.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings

import numpy as np
from _base_learners import base_estimator
from _cells import Cells
from _data import add_data_arguments, disjoint_samples, load, parse
from pages import add_report_arguments, write_report
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier

from replearn import PointwiseReplicableClassifier, ScoreReplicableClassifier

ALPHA = 0.05
N_MODELS = 24
"""As many as `ScoreReplicableClassifier` fits."""

ABSTAINED = -1


def selective(base, X, y, points):
    """Majority of bagged models, and where it is significant; the share that is left."""
    model = BaggingClassifier(clone(base), n_estimators=N_MODELS, random_state=0).fit(X, y)
    votes = np.sum([m.predict(points) for m in model.estimators_], axis=0).astype(int)
    p_values = np.array([binomtest(k, N_MODELS).pvalue for k in range(N_MODELS + 1)])
    answers = (votes > N_MODELS / 2).astype(int)
    return np.where(p_values[votes] <= ALPHA, answers, ABSTAINED)


def abstaining(model, X, y, points, share):
    """Answers of a replicable learner; the rows with the largest flip probabilities get none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    flips = model.flip_probability(points)
    limit = np.sort(flips)[max(round((1 - share) * len(flips)) - 1, 0)]
    # Rows next to their threshold have a flip probability of up to one half.
    return model.predict_or_abstain(points, float(min(limit, 0.5)), fill_value=ABSTAINED)


def run_pair(table, name, pair, options):
    """Let every contender answer from both halves of one pair."""
    base, points = base_estimator(name, table, seed=pair), table.X[table.test]
    size = min(len(table.rest) // 2, options.rows or len(table.rest))
    answers = {}
    for rows in disjoint_samples(table, 2, pair, size):
        X, y, key = table.X[rows], table.y[rows], f"selective {pair}"
        voted = selective(base, X, y, points)
        share = float((voted == ABSTAINED).mean())
        score = ScoreReplicableClassifier(base, shared_key=key, verbose=-1)
        certified = PointwiseReplicableClassifier(
            base, max_fits=options.max_fits, shared_key=key, verbose=-1
        )
        for contender, told in (
            (f"selective ensemble, {N_MODELS} models", voted),
            (f"score thresholds, {N_MODELS} models", abstaining(score, X, y, points, share)),
            (f"certified, {options.max_fits} models", abstaining(certified, X, y, points, share)),
        ):
            answers.setdefault(contender, []).append(told.tolist())
    return answers


def summary(pairs, y):
    """Return the numbers of one contender, means over pairs."""
    one, two = np.array(pairs).transpose(1, 0, 2)
    given = [one != ABSTAINED, two != ABSTAINED]
    right = [(one == y)[given[0]].mean(), (two == y)[given[1]].mean()]
    return {
        "abstained": np.mean([1 - there.mean() for there in given]),
        "differently": (given[0] & given[1] & (one != two)).mean(),
        "only_one": (given[0] ^ given[1]).mean(),
        "accuracy": np.mean(right),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_arguments(parser, "adult,german_credit,default_credit_tw")
    parser.add_argument("--models", default="logreg,tree")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--max-fits", type=int, default=88)
    add_report_arguments(parser, "selective")
    options = parse(parser)
    warnings.filterwarnings("ignore", message="Found unknown categories")
    cells = Cells(options.out.with_suffix(".cells"))
    records = []
    for name in options.sets.split(","):
        table = load(options, name)
        for model in options.models.split(","):
            work = [(name, model, pair) for pair in range(options.pairs)]
            for place in () if options.only_report else work:
                cells.compute(place, lambda t=table, p=place: run_pair(t, p[1], p[2], options))
            pairs = [cell for cell in (cells.get(*place) for place in work) if cell is not None]
            for contender in pairs[0] if pairs else ():
                found = summary([pair[contender] for pair in pairs], table.y[table.test])
                records.append({"data": name, "model": model, "contender": contender} | found)
    write_report(options, {options.section: records})


if __name__ == "__main__":
    main()
