"""Does a certificate notice? Two labs that differ: measured flips beside verdict and comparison.

Each row is a way in which two labs break a condition of the promise. The script measures how often
their predictions differ on fresh points and prints it beside what the certificates say, without and
and with a probe. "trusted" counts the flips of the
pairs that are certified and comparable to the end, as a share of all pairs; a row where they are
more than promised fails the script. With a file to keep its pairs it goes on where an earlier run
ended.

    python benchmarks/honesty.py [--pairs 40] [--only D4] [--store FILE]
    python benchmarks/honesty.py --false-alarms --data DIR   # ordinary use of real tables
    python benchmarks/honesty.py --cost                      # time of the checks in a fit
"""

import argparse
import math
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import honesty_ordinary
import numpy as np
import pandas as pd
from _pairs import Outcome, add_arguments, outcome_of, run
from honesty_conditions import CONDITION_ROWS
from honesty_processes import PROCESS_ROWS
from honesty_scores import SCORE_ROWS
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)

from replearn import PointwiseReplicableClassifier, plan, select_hypothesis
from replearn.checks.points import encode_probe
from replearn.paper.hypotheses import Thresholds
from replearn.paper.realizable import RealizableReplicableClassifier
from replearn.paper.semi_replicable import SemiReplicableClassifier
from replearn_lab.learning import OnePointLearner, TableLearner

RHO = 0.2
POINTS = 300


def people(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return age, an indicator and an income."""
    return pd.DataFrame(
        {
            "sex": rng.integers(0, 2, n).astype(float),
            "age": 18 + rng.gamma(4, 8, n),
            "income": rng.lognormal(3, 0.5, n),
        }
    )


def continuous(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return columns without a value that occurs twice."""
    return people(rng, n)[["age", "income"]]


def labels(rng: np.random.Generator, X: pd.DataFrame) -> Any:
    """Return labels that hardly depend on the features: the blocks disagree on many points."""
    return (rng.random(len(X)) < 0.48 + 0.0005 * X["age"]).astype(int)


Change = Callable[[pd.DataFrame], Any]
Pair = Callable[[int], Outcome]


def plain(X: pd.DataFrame) -> Any:
    """Leave a table as it is."""
    return X


def measure(
    pair: int,
    *,
    changes: tuple[Change, Change] = (plain, plain),
    front: Any = None,
    base: Callable[[Any, Any, int], Any] | None = None,
    rows: Callable[[np.random.Generator, int], pd.DataFrame] = people,
) -> Outcome:
    """Train two labs on fresh samples and compare their predictions."""
    rng = np.random.default_rng([pair, 7])
    fresh, models = rows(rng, POINTS), []
    for lab, change in enumerate(changes):
        X = rows(rng, 2500)
        y, prepare = labels(rng, X), change
        if front is not None:
            prepare = clone(front).fit(X).transform
        learner = GaussianNB() if base is None else base(X, y, lab)
        model = PointwiseReplicableClassifier(learner, rho=RHO, max_fits=60, shared_key=pair)
        try:
            model.fit(prepare(X), y)
        except ValueError as error:
            if "fitted part" not in str(error):
                raise
            return Outcome(RHO, math.nan, "refused", "-")
        models.append((model, prepare(fresh)))
    one, two = (model.predict(points) for model, points in models)
    runs = [model.certificate_ for model, _ in models]
    try:
        probes = tuple(encode_probe(model.certificate_, points) for model, points in models)
    except ValueError:  # other columns: the certificates say so
        probes = None
    return outcome_of(runs[0].rho, float(np.mean(one != two)), runs, probes)


# -- points that carry mass ------------------------------------------------------------------------
def four_values(pair: int) -> Outcome:
    """Four values, labels at random: do two models differ on more than gamma?"""
    rng, models, gamma = np.random.default_rng([pair, 13]), [], 0.2
    for _ in range(2):
        made = plan("approximate", n=3300, rho=0.05, gamma=gamma, classes=[0, 1], n_partitions=1)
        model = PointwiseReplicableClassifier(TableLearner(), plan=made, shared_key=pair)
        X, y = rng.integers(0, 4, (3300, 1)).astype(float), rng.integers(0, 2, 3300)
        models.append(model.fit(X, y))
    one, two = (model.predict(np.arange(4.0)[:, None]) for model in models)
    runs = [model.certificate_ for model in models]
    return outcome_of(0.05, float(np.mean(one != two) > gamma), runs)


def two_points(pair: int) -> Outcome:
    """Two points of mass 1/2, hypotheses that are wrong on one of them: is the vote on both?"""
    made = plan(rho=0.3, alpha=0.2, beta=0.05, d=1, n_partitions=1, classes=[0, 1])
    rng = np.random.default_rng([pair, 17])
    model = PointwiseReplicableClassifier(OnePointLearner(), plan=made, shared_key=pair)
    X = rng.integers(0, 2, (made.n, 1)).astype(float)
    y = (rng.random(made.n) < 0.98).astype(int)  # blocks of one label are not trained
    labels = model.fit(X, y).predict(np.array([[0.0], [1.0]]))
    error = float(np.mean(np.where(labels == 0, 0.98, 0.02)) > 0.5 + made.alpha)
    return outcome_of(made.beta, error, [model.certificate_, model.certificate_])


MASS_ROWS: dict[str, Pair] = {
    "D1 four values: P(mass > .2)": four_values,
    "D1 two points: P(error > OPT + .2)": two_points,
}
"""Points that carry mass, which a promise about whole models or about accuracy excludes."""


# -- points ----------------------------------------------------------------------------------------
def point_rows() -> dict[str, Pair]:
    """Labs that mean different things by a point; benchmarks/two_labs.py has many more."""
    changes: dict[str, tuple[Change, Change]] = {
        "nothing differs": (plain, plain),
        "array against frame": (plain, lambda X: X.to_numpy()),
        "column 'Sex' against 'sex'": (
            plain,
            lambda X: X.rename(columns={"sex": "Sex", "age": "Age", "income": "zincome"}),
        ),
        "float32 against float64": (plain, lambda X: X.astype(np.float32)),
        "a CSV with 6 decimals": (plain, lambda X: X.round(6)),
        "columns swapped": (
            lambda X: X.to_numpy(),
            lambda X: X[["age", "sex", "income"]].to_numpy(),
        ),
        "months against years": (plain, lambda X: X.assign(age=12 * X["age"])),
    }
    return {f"D2 {name}": partial(measure, changes=both) for name, both in changes.items()}


# -- learners --------------------------------------------------------------------------------------
class Counting(GaussianNB):
    """Changes its predictions in every second lab: after 60 blocks and 2 checks of anybody."""

    fits = 0

    def fit(self, X: Any, y: Any) -> Any:
        """Fit, and count."""
        type(self).fits += 1
        self.flip_ = (type(self).fits - 1) // 62 % 2 == 1
        return super().fit(X, y)

    def predict(self, X: Any) -> Any:
        """Predict one label for all, by the count."""
        return np.full(len(X), self.classes_[int(self.flip_)])


class Private(ClassifierMixin, BaseEstimator):
    """Predicts by features that a generator of its own chooses."""

    def __init__(self, rng: Any = None) -> None:
        self.rng = rng

    def fit(self, X: Any, y: Any) -> Any:
        """Choose a direction."""
        self.classes_ = np.unique(y)
        self.direction_ = self.rng.normal(size=np.shape(X)[1])
        return self

    def predict(self, X: Any) -> Any:
        """Predict by the sign of a projection."""
        Z = np.asarray(X, dtype=float)
        return self.classes_[((Z - [0.5, 50, 22]) @ self.direction_ > 0).astype(int)]


def centred(X: Any, y: Any, lab: int) -> Any:
    """Close over the mean of the lab's own sample."""
    mean = np.asarray(X).mean(axis=0) + np.random.default_rng(len(X) + lab).normal(size=3)
    return make_pipeline(FunctionTransformer(lambda Z: np.asarray(Z) > mean), GaussianNB())


def one_feature(X: Any, y: Any, lab: int) -> Any:
    """Use the feature that is best correlated in the lab's own sample."""
    best = int(np.argmax(np.abs(np.corrcoef(np.asarray(X).T, y)[-1, :-1])))
    return make_pipeline(FunctionTransformer(lambda Z: np.asarray(Z)[:, [best]]), GaussianNB())


def learner_rows() -> dict[str, Pair]:
    """Learners that carry data or depend on something outside."""
    bases: dict[str, Callable[[Any, Any, int], Any]] = {
        "D3 FrozenEstimator as base": lambda X, y, lab: FrozenEstimator(
            LogisticRegression().fit(X, y)
        ),
        "D3 FrozenEstimator(scaler)": lambda X, y, lab: make_pipeline(
            FrozenEstimator(StandardScaler().fit(X)), GaussianNB()
        ),
        "D3 a closure over own means": centred,
        "D3 a feature chosen outside": one_feature,
        "D7 a counter in the class": lambda X, y, lab: Counting(),
        "D7 a private generator": lambda X, y, lab: Private(np.random.default_rng()),
    }
    return {name: partial(measure, base=base) for name, base in bases.items()}


# -- preprocessing outside -------------------------------------------------------------------------
def holes(X: Any) -> Any:
    """Lose every tenth income."""
    Z = np.array(X, dtype=float)
    Z[np.floor(1000 * Z[:, 2]) % 10 == 0, 2] = np.nan
    return Z


class Winsor(BaseEstimator):
    """Winsorise at the sample's own quantiles."""

    def fit(self, X: Any) -> Any:
        """Find the quantiles."""
        self.ends = np.quantile(np.asarray(X), (0.05, 0.95), axis=0)
        return self

    def transform(self, X: Any) -> Any:
        """Cut at them."""
        return np.clip(np.asarray(X), *self.ends)


def front_rows() -> dict[str, Pair]:
    """Transformers that were fitted on the sample, in front of the learner."""
    imputer = make_pipeline(FunctionTransformer(holes), SimpleImputer())
    medians = make_pipeline(FunctionTransformer(holes), SimpleImputer(strategy="median"))
    normal = QuantileTransformer(n_quantiles=500, output_distribution="normal")
    fronts: dict[str, Any] = {
        "StandardScaler": StandardScaler(),
        "StandardScaler(with_mean=False)": StandardScaler(with_mean=False),
        "QuantileTransformer, normal": normal,
        "TruncatedSVD": TruncatedSVD(2),
        "mean imputation": imputer,
        "median imputation": medians,
        "PowerTransformer(standardize=False)": PowerTransformer(standardize=False),
        "winsorising": Winsor(),
    }
    rest: dict[str, Any] = {
        "StandardScaler(with_mean=False)": StandardScaler(with_mean=False),
        "TruncatedSVD, one component": TruncatedSVD(1),
        "PowerTransformer(standardize=False)": PowerTransformer(standardize=False),
        "winsorising": Winsor(),
        "KBinsDiscretizer": KBinsDiscretizer(10, encode="ordinal"),
        "KBinsDiscretizer(strategy='kmeans')": KBinsDiscretizer(
            10, encode="ordinal", strategy="kmeans"
        ),
    }
    found = {f"D4 {name}": partial(measure, front=front) for name, front in fronts.items()}
    return found | {
        f"D4 continuous: {name}": partial(measure, front=front, rows=continuous)
        for name, front in rest.items()
    }


# -- choices ---------------------------------------------------------------------------------------
def line(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Return points of an interval with noisy threshold labels."""
    X = rng.random((n, 1))
    return X, (X[:, 0] > 0.6) ^ (rng.random(n) < 0.1)


def choice(pair: int, lab: Callable[[Any, int, int], Any]) -> Outcome:
    """Compare what two labs chose."""
    rng = np.random.default_rng([pair, 11])
    one, two = (lab(rng, pair, which) for which in range(2))
    return outcome_of(one[1].rho, float(one[0] != two[0]), (one[1], two[1]))


def own_pool(rng: Any, pair: int, which: int) -> Any:
    """Learn with a pool of one's own."""
    learner = SemiReplicableClassifier(Thresholds(">"), rho=0.3, alpha=0.25, shared_key=pair)
    learner.fit(*line(rng, 60_000), X_shared=rng.random((100, 1)))
    return learner.hypothesis_, learner.certificate_


def own_direction(rng: Any, pair: int, which: int) -> Any:
    """Learn with a class of one's own."""
    X, _ = line(rng, 60_000)
    kind = Thresholds(">" if which else "<=")
    learner = RealizableReplicableClassifier(kind, rho=0.3, gamma=0.3, shared_key=pair)
    learner.fit(X, X[:, 0] > 0.6)
    return learner.predict(np.array([[0.1]]))[0], learner.certificate_


def own_models(rng: Any, pair: int, which: int) -> Any:
    """Choose among models of one's own under common names."""
    names = {f"model {k}": LogisticRegression().fit(*line(rng, 60)) for k in range(3)}
    chosen = select_hypothesis(names, *line(rng, 20_000), rho=0.2, alpha=0.2, shared_key=pair)
    return float(chosen.candidate.coef_[0, 0]), chosen.certificate


CHOICE_ROWS: dict[str, Pair] = {
    "D5 pools of one's own": partial(choice, lab=own_pool),
    "D5 Thresholds('>') against ('<=')": partial(choice, lab=own_direction),
    "D6 own models, equal names": partial(choice, lab=own_models),
}
"""Choices among things that the labs do not share."""


def main() -> int:
    """Print the table; 1 if a row is broken and silent."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser, pairs=40)
    honesty_ordinary.add_arguments(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.false_alarms:
        return honesty_ordinary.run(parser, options)
    rows = MASS_ROWS | point_rows() | learner_rows() | front_rows() | CHOICE_ROWS | CONDITION_ROWS
    return run(rows | PROCESS_ROWS | SCORE_ROWS, options)


if __name__ == "__main__":
    sys.exit(main())
