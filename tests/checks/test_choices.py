"""Estimators that choose look at their sample as learners of blocks do, and say if they cannot."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from replearn import PointwiseReplicableClassifier, PointwiseReplicableRegressor
from replearn.checks import choices
from replearn.exceptions import NotCertifiedWarning, PreprocessingWarning
from replearn.paper.finite_randomness import FiniteRandomnessClassifier
from replearn.paper.hypotheses import Stumps, Thresholds
from replearn.paper.realizable import RealizableReplicableClassifier
from replearn.paper.semi_replicable import SemiReplicableClassifier
from replearn.paper.thresholds import ReplicableThresholdClassifier
from tests.factories import Choosing

pytestmark = pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(3.0, 2.0, size=(1000, 2)), columns=["a", "b"])
Y = pd.Series((X["a"] > 3.0).astype(int))
POOL = RNG.normal(3.0, 2.0, size=(40, 2))
PERSON = np.repeat(np.arange(200), 5)


class Semi(SemiReplicableClassifier):
    """With a pool that every run shares."""

    def fit(self, rows, labels):
        return super().fit(rows, labels, POOL)


CHOICES = {
    "threshold": lambda: ReplicableThresholdClassifier(feature=0),
    "realizable": lambda: RealizableReplicableClassifier(Stumps(2), rho=0.3),
    "semi": lambda: Semi(),
    "selection": lambda: Choosing({"a": _fitted(Y), "b": _fitted(1 - Y)}),
    "few bits": lambda: FiniteRandomnessClassifier(GaussianNB(), n_blocks=11),
    "numbers": lambda: PointwiseReplicableRegressor(
        LinearRegression(), resolution=10.0, y_range=(-9, 9)
    ),
}


def _fitted(labels):
    return GaussianNB().fit(X.to_numpy(), labels)


def failed(choice, rows, labels=Y):
    return "".join(choice.fit(rows, labels).certificate_.failed_conditions)


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.filterwarnings("ignore:X has feature names", "ignore:X does not have valid feature")
def test_what_the_sample_refutes_is_a_failed_condition(name):
    assert failed(CHOICES[name](), X.to_numpy()) == ""
    scaled = StandardScaler().fit_transform(X)
    with pytest.warns(PreprocessingWarning, match="a StandardScaler"):
        assert "a StandardScaler had been fitted" in failed(CHOICES[name](), scaled)
    numbered = np.column_stack([X["a"], np.random.default_rng(1).permutation(1000)])
    with pytest.warns(PreprocessingWarning, match="column 1 numbers the rows"):
        assert "column 1 numbers the rows" in failed(CHOICES[name](), numbered)
    persons = pd.Index(PERSON, name="patient")
    assert "names 200 persons" in failed(CHOICES[name](), X.set_axis(persons), Y.set_axis(PERSON))
    assert "names 200 persons" in failed(CHOICES[name](), X.to_numpy(), Y.set_axis(persons))


def test_labels_of_several_rows_of_one_person_are_seen_by_votes():
    model = PointwiseReplicableClassifier(GaussianNB(), rho=0.2, max_fits=60)
    labels = Y.set_axis(pd.Index(PERSON, name="patient"))
    with pytest.warns(NotCertifiedWarning, match=r"groups=y.index.get_level_values\(0\)"):
        assert "index 'patient' names 200 persons" in failed(model, X.to_numpy(), labels)
    assert failed(model, X.to_numpy(), Y.set_axis(np.arange(1000) + 7)) == ""


@pytest.mark.parametrize("error", [TypeError, ValueError])
@pytest.mark.parametrize("name", CHOICES)
def test_an_error_in_a_check_certifies_nothing(name, error, monkeypatch):
    def broken(*args, **options):
        raise error("a mistake in the check")

    monkeypatch.setattr(choices, "failed_by_sample", broken)
    with pytest.raises(error, match="a mistake in the check"):
        CHOICES[name]().fit(X.to_numpy(), Y)


def test_rows_that_are_no_points_are_not_certified():
    rows = [{"a": cell} for cell in X["a"]]
    candidates = {"positive": lambda some: [int(row["a"] > 3.0) for row in some]}
    candidates["negative"] = lambda some: [int(row["a"] <= 3.0) for row in some]
    model = Choosing(candidates)
    with pytest.warns(NotCertifiedWarning, match="copies and panels were not looked for"):
        model.fit(rows, Y)
    assert model.selected_name_ == "positive"
    assert model.certificate_.verdict == "not certified"
    assert "a list of dicts has no order of columns" in model.certificate_.reason
    assert model.certificate_.comparable(model.certificate_).comparable == "unknown"


# -- what a choice is bound to ---------------------------------------------------------------------
def choice(seed, n=4000):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    return X, (X[:, 0] > 0.6) ^ (rng.random(n) < 0.1)


def test_the_certificate_of_a_choice_does_not_depend_on_the_order_of_the_file():
    n = 3000
    income = np.random.default_rng(0).lognormal(3, 0.5, n)
    y = income > 20
    X = np.where(np.arange(n) % 3 == 0, np.round(income, 2), income)[:, np.newaxis]
    learner = ReplicableThresholdClassifier(rho=0.9, gamma=0.5, alpha=0.5, shared_key="k")
    rows = np.random.default_rng(1).permutation(n)
    one, two = (learner.fit(X[o], y[o]).certificate_.to_json() for o in (np.arange(n), rows))
    assert one == two


def test_pools_are_bound_whatever_their_order():
    def lab(seed, pool):
        learner = SemiReplicableClassifier(Thresholds(">"), rho=0.3, alpha=0.25, shared_key="k")
        return learner.fit(*choice(seed), X_shared=pool).certificate_

    pool, other = (np.random.default_rng(seed).random((50, 1)) for seed in (8, 9))
    assert lab(0, pool).comparable(lab(1, pool[::-1])).comparable == "yes"
    assert "digest of the shared pool" in str(lab(0, pool).comparable(lab(1, other)))


def test_names_of_columns_are_bound_where_rules_count_columns():
    def lab(seed, names):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.random((2000, 2)), columns=names)
        model = ReplicableThresholdClassifier(feature=0, shared_key="k")
        return model.fit(X, X.iloc[:, 0] > 0.6).certificate_

    assert lab(0, ["a", "b"]).comparable(lab(1, ["a", "b"])).comparable == "yes"
    assert lab(0, ["a", "b"]).comparable(lab(1, ["b", "a"])).comparable == "unknown"


@pytest.mark.filterwarnings("ignore:RealizableReplicableClassifier abstains")
def test_the_class_is_bound_with_its_parameters():
    def lab(seed, kind):
        return RealizableReplicableClassifier(kind, shared_key="k").fit(*choice(seed)).certificate_

    assert lab(0, Thresholds(">")).comparable(lab(1, Thresholds(">"))).comparable == "yes"
    assert "hypothesis class" in str(lab(0, Thresholds(">")).comparable(lab(1, Thresholds("<="))))
    ways = [
        ReplicableThresholdClassifier(direction=way, shared_key="k").fit(*choice(0)).certificate_
        for way in (">", "<=")
    ]
    assert "hypothesis class" in str(ways[0].comparable(ways[1]))


def test_candidates_are_bound_by_what_they_are():
    def lab(seed, models):
        return Choosing(models, shared_key="k").fit(*choice(seed)).certificate_

    trained = [LogisticRegression().fit(*choice(seed)) for seed in (5, 6)]
    one, same, other = (
        lab(seed, {"model": trained[which], "rule": threshold_rule})
        for seed, which in ((0, 0), (1, 0), (1, 1))
    )
    assert one.comparable(same).comparable == "yes"
    assert "digest of the candidates" in str(one.comparable(other))


def threshold_rule(X):
    return X[:, 0] > 0.5


def test_candidates_that_cannot_be_read_are_bound_by_their_answers():
    class Closed:
        def __init__(self, limit):
            self.limit = limit

        def __reduce_ex__(self, protocol):
            raise TypeError("closed")

        def predict(self, X):
            return X[:, 0] > self.limit

    one, same, other = (
        Choosing({"closed": Closed(limit)}, shared_key="k").fit(*choice(0)).certificate_
        for limit in (0.5, 0.5, 0.2)
    )
    assert one.comparable(same).comparable == "yes"
    assert one.comparable(other).comparable == "no"
