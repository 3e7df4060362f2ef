"""Does a certificate notice? Two labs that differ, measured flips beside verdict and answer.

Each row is a way in which two labs break a condition of the promise. The script measures how often
their answers differ on fresh points and prints it beside what the certificates say. A row that is
broken (more flips than promised) and still "certified" and "comparable: yes" fails the script,
unless no table alone can show it: these rows are marked "asked", since the certificate asks for
them in words (assumption "learned-inside-blocks").

Run ``python benchmarks/honesty.py [--small]``.
"""

import argparse
import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import honesty_atoms
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)

from replearn import PointwiseReplicableClassifier
from replearn.hypotheses import Thresholds
from replearn.learners import (
    RealizableReplicableClassifier,
    ReplicableSelector,
    SemiReplicableClassifier,
)

RHO = 0.2
POINTS = 300


@dataclass(frozen=True)
class Row:
    """One way to differ: what was claimed, what was measured, what the certificates say."""

    name: str
    claimed: float
    flips: float
    error: float
    verdict: str
    answer: str
    asked: bool = False

    @property
    def broken(self) -> bool:
        """Whether the flips exceed the promise by more than three standard errors."""
        return self.flips - 3 * self.error > self.claimed

    @property
    def silent(self) -> bool:
        """Whether nobody is told."""
        return self.broken and self.verdict == "certified" and self.answer == "yes"


def people(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return age, an indicator and an income."""
    return pd.DataFrame(
        {
            "sex": rng.integers(0, 2, n).astype(float),
            "age": 18 + rng.gamma(4, 8, n),
            "income": rng.lognormal(3, 0.5, n),
        }
    )


def labels(rng: np.random.Generator, X: pd.DataFrame) -> Any:
    """Return labels that hardly depend on the features: the blocks disagree on many points."""
    return (rng.random(len(X)) < 0.48 + 0.0005 * X["age"]).astype(int)


Change = Callable[[pd.DataFrame], Any]


def plain(X: pd.DataFrame) -> Any:
    """Leave a table as it is."""
    return X


def measure(
    name: str,
    pairs: int,
    *,
    change_a: Change = plain,
    change_b: Change = plain,
    front: Callable[[], Any] | None = None,
    base: Callable[[Any, Any, int], Any] | None = None,
    asked: bool = False,
) -> Row:
    """Train two labs on fresh samples, again and again, and compare their answers."""
    rates, certificates, n = [], [], 2500
    for pair in range(pairs):
        rng = np.random.default_rng([pair, 7])
        fresh, models = people(rng, POINTS), []
        for lab, change in enumerate((change_a, change_b)):
            X = people(rng, n)
            y, seen, points = labels(rng, X), change(X), change(fresh)
            if front is not None:
                transformer = front()
                seen = transformer.fit_transform(X)
                points = transformer.transform(fresh)
            learner = GaussianNB() if base is None else base(X, y, lab)
            model = PointwiseReplicableClassifier(learner, rho=RHO, max_fits=60, shared_key=pair)
            try:
                model.fit(seen, y)
            except ValueError as error:
                if "fitted part" not in str(error):
                    raise
                return Row(name, RHO, math.nan, math.nan, "refused", "-", asked)
            models.append((model, points))
        answers = [model.predict(points) for model, points in models]
        rates.append(float(np.mean(answers[0] != answers[1])))
        certificates.append([model.certificate_ for model, _ in models])
    claimed = certificates[0][0].rho
    return row_of(name, claimed, rates, certificates, asked)


def row_of(
    name: str, claimed: float, rates: list[float], certificates: Any, asked: bool = False
) -> Row:
    """Put measurements and certificates of all pairs together: the most trusting pair counts."""
    certified = any(one.certified and two.certified for one, two in certificates)
    answers = {one.comparable(two).answer for one, two in certificates}
    answer = next(word for word in ("yes", "unknown", "no") if word in answers)
    error = float(np.std(rates) / math.sqrt(len(rates)))
    verdict = "certified" if certified else "not certified"
    return Row(name, claimed, float(np.mean(rates)), error, verdict, answer, asked)


# -- points ----------------------------------------------------------------------------------------
def as_csv(X: pd.DataFrame) -> Any:
    """Write numbers with six decimals, as many exports do."""
    return X.round(6)


def point_rows(pairs: int) -> list[Row]:
    """Labs that mean different things by a point."""
    changes: dict[str, tuple[Change, Change]] = {
        "nothing differs": (plain, plain),
        "array against frame": (plain, lambda X: X.to_numpy()),
        "column 'Sex' against 'sex'": (
            plain,
            lambda X: X.rename(columns={"sex": "Sex", "age": "Age", "income": "zincome"}),
        ),
        "float32 against float64": (plain, lambda X: X.astype(np.float32)),
        "a CSV with 6 decimals": (plain, as_csv),
        "columns swapped": (
            lambda X: X.to_numpy(),
            lambda X: X[["age", "sex", "income"]].to_numpy(),
        ),
        "months against years": (plain, lambda X: X.assign(age=12 * X["age"])),
    }
    return [
        measure(f"D2 {name}", pairs, change_a=one, change_b=two)
        for name, (one, two) in changes.items()
    ]


# -- learners --------------------------------------------------------------------------------------
class Counting(GaussianNB):
    """Changes its answer in every second lab: after 60 blocks and 2 checks of anybody."""

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
    """Answers by features that a generator of its own chooses."""

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


def learner_rows(pairs: int) -> list[Row]:
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
    return [measure(name, pairs, base=base) for name, base in bases.items()]


# -- preprocessing outside -------------------------------------------------------------------------
def holes(X: Any) -> Any:
    """Lose every tenth income."""
    Z = np.array(X, dtype=float)
    Z[np.floor(1000 * Z[:, 2]) % 10 == 0, 2] = np.nan
    return Z


def clip_at_quantiles() -> Any:
    """Winsorise at the sample's own quantiles."""

    class Winsor(BaseEstimator):
        def fit_transform(self, X: Any) -> Any:
            self.ends = np.quantile(np.asarray(X), (0.05, 0.95), axis=0)
            return self.transform(X)

        def transform(self, X: Any) -> Any:
            return np.clip(np.asarray(X), *self.ends)

    return Winsor()


def front_rows(pairs: int) -> list[Row]:
    """Transformers that were fitted on the sample, in front of the learner."""
    imputer = make_pipeline(FunctionTransformer(holes), SimpleImputer())
    fronts: dict[str, tuple[Callable[[], Any], bool]] = {
        "StandardScaler": (StandardScaler, False),
        "StandardScaler(with_mean=False)": (lambda: StandardScaler(with_mean=False), False),
        "QuantileTransformer, normal": (
            lambda: QuantileTransformer(n_quantiles=500, output_distribution="normal"),
            False,
        ),
        "TruncatedSVD": (lambda: TruncatedSVD(2), False),
        "mean imputation": (lambda: imputer, False),
        "PowerTransformer(standardize=False)": (lambda: PowerTransformer(standardize=False), True),
        "winsorising": (clip_at_quantiles, True),
    }
    return [
        measure(f"D4 {name}", pairs, front=front, asked=asked)
        for name, (front, asked) in fronts.items()
    ]


# -- choices ---------------------------------------------------------------------------------------
def line(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Return points of an interval with noisy threshold labels."""
    X = rng.random((n, 1))
    return X, (X[:, 0] > 0.6) ^ (rng.random(n) < 0.1)


def choice_row(name: str, pairs: int, lab: Callable[[Any, int, int], Any]) -> Row:
    """Compare what two labs chose."""
    differ, certificates = [], []
    for pair in range(pairs):
        rng = np.random.default_rng([pair, 11])
        one, two = (lab(rng, pair, which) for which in range(2))
        differ.append(float(one[0] != two[0]))
        certificates.append((one[1], two[1]))
    return row_of(name, certificates[0][0].rho, differ, certificates)


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
    learner = ReplicableSelector(names, rho=0.2, alpha=0.2, shared_key=pair)
    learner.fit(*line(rng, 20_000))
    return float(learner.selected_.coef_[0, 0]), learner.certificate_


def choice_rows(pairs: int) -> list[Row]:
    """Choices among things that the labs do not share."""
    return [
        choice_row("D5 pools of one's own", pairs, own_pool),
        choice_row("D5 Thresholds('>') against ('<=')", pairs, own_direction),
        choice_row("D6 own models, equal names", pairs, own_models),
    ]


def mass_rows(pairs: int) -> list[Row]:
    """Points that carry mass, which a promise about whole models or about accuracy excludes."""
    found = []
    for row in honesty_atoms.rows(5 * pairs):
        share = row.bad / row.trials
        error = math.sqrt(share * (1 - share) / row.trials)
        verdict = "certified" if row.certified else "not certified"
        found.append(Row(row.name, row.asked, share, error, verdict, "yes"))
    return found


def main() -> int:
    """Print the table; 1 if a row is broken and silent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="few pairs: under a minute")
    pairs = 4 if parser.parse_args().small else 40
    warnings.simplefilter("ignore")
    makers = (mass_rows, point_rows, learner_rows, front_rows, choice_rows)
    rows = [row for make in makers for row in make(pairs)]
    print(f"{'way to differ':40} {'claim':>6} {'flips':>6}  {'verdict':14} comparable")
    for row in rows:
        mark = "  SILENT" if row.silent and not row.asked else "  asked in words" * row.asked
        numbers = f"{row.claimed:6.3f} {row.flips:6.3f}"
        print(f"{row.name:40} {numbers}  {row.verdict:14} {row.answer}{mark}")
    return int(any(row.silent and not row.asked for row in rows))


if __name__ == "__main__":
    sys.exit(main())
