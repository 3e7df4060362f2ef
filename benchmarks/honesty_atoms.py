"""Promises about points that carry mass: what is claimed, what is measured, what the verdict is.

Populations on which an assumption about single points is false. A row is honest if the measured
frequency is within its claim, or the certificate does not say "certified".

    python benchmarks/honesty_atoms.py [pairs]
"""

import sys
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta as beta_law
from sklearn.base import BaseEstimator, ClassifierMixin

from replearn import PointwiseReplicableClassifier, plan
from replearn.learners import ApproximatelyReplicableClassifier


@dataclass(frozen=True)
class Row:
    """One population: the claim that was asked for, and what happened."""

    name: str
    asked: float
    bad: int
    trials: int
    certified: bool
    reason: str

    @property
    def lower(self):
        """Lower limit (1e-4) of the chance that the claim fails."""
        return beta_law.ppf(1e-4, self.bad, self.trials - self.bad + 1) if self.bad else 0.0

    @property
    def broken(self):
        """Whether the claim that was asked for is clearly false."""
        return self.lower > self.asked

    @property
    def honest(self):
        """Whether nobody was told that a false claim is certified."""
        return not (self.broken and self.certified)


class MajorityByValue(ClassifierMixin, BaseEstimator):
    """Predict the more frequent label of each value of the first feature."""

    def fit(self, X, y):
        """Count labels by value."""
        x = np.asarray(X)[:, 0].astype(int)
        self.classes_ = np.array([0, 1])
        self.answers_ = 2 * np.bincount(x, y, minlength=4) > np.bincount(x, minlength=4)
        return self

    def predict(self, X):
        """Predict class labels."""
        return self.answers_[np.asarray(X)[:, 0].astype(int)].astype(int)


class WrongOnOne(ClassifierMixin, BaseEstimator):
    """Predict 1 except on one of two points: the one that the block has fewer of."""

    def fit(self, X, y):
        """Minimise the training error over the two hypotheses."""
        x = np.asarray(X)[:, 0].astype(int)
        self.classes_ = np.array([0, 1])
        self.wrong_ = int(2 * x.sum() < len(x))
        return self

    def predict(self, X):
        """Predict class labels."""
        return (np.asarray(X)[:, 0] != self.wrong_).astype(int)


def four_values(n_pairs=250, n=3300, seed=0, **design):
    """Four values, labels at random: mass on which two models differ."""
    rng, bad = np.random.default_rng(seed), 0
    points = np.arange(4.0)[:, None]
    settings = {"rho": 0.05, "gamma": 0.2, "classes": [0, 1]}
    for key in range(n_pairs):
        answers = []
        for _ in range(2):
            model = ApproximatelyReplicableClassifier(
                MajorityByValue(), shared_key=key, plan={"n_partitions": 1, **design}, **settings
            )
            X, y = rng.integers(0, 4, (n, 1)).astype(float), rng.integers(0, 2, n)
            answers.append(model.fit(X, y).predict(points))
        bad += np.mean(answers[0] != answers[1]) > settings["gamma"]
    name = "D1 four values: P(mass > .2)"
    verdict = model.certificate_
    return Row(name, settings["rho"], int(bad), n_pairs, verdict.certified, verdict.reason)


def two_points(n_runs=250, seed=0):
    """Two points of mass 1/2, label 1: error of a vote of models that are right on one of them."""
    made = plan(rho=0.3, alpha=0.2, beta=0.05, d=1, n_partitions=1, classes=[0, 1])
    rng, bad = np.random.default_rng(seed), 0
    points = np.array([[0.0], [1.0]])
    for key in range(n_runs):
        model = PointwiseReplicableClassifier.from_plan(made, WrongOnOne(), shared_key=key)
        X = rng.integers(0, 2, (made.n, 1)).astype(float)
        # one label is enough for the population, two are needed for blocks that are trained
        y = np.ones(made.n, dtype=int)
        y[: made.n // 50] = 0
        bad += np.mean(model.fit(X, rng.permutation(y)).predict(points) == 0) > 0.5 + made.alpha
    verdict = model.certificate_
    name = "D1 two points: P(error > OPT + .2)"
    return Row(name, made.beta, int(bad), n_runs, verdict.certified, verdict.reason)


def rows(n_pairs=250):
    """Return all rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [four_values(n_pairs), two_points(n_pairs)]


def main(n_pairs=250):
    """Print the rows."""
    for row in rows(n_pairs):
        verdict = "certified" if row.certified else "NOT certified"
        honest = "honest" if row.honest else "DISHONEST"
        measured = f"asked {row.asked}, measured {row.bad / row.trials:.3f}"
        print(f"{row.name}: {measured}, {verdict}: {honest}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
