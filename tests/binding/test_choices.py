"""Estimators that choose look at their sample as learners of blocks do, and say if they cannot."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from replearn import (
    NotCertifiedWarning,
    PointwiseReplicableClassifier,
    PointwiseReplicableRegressor,
    PreprocessingWarning,
)
from replearn.binding import choices
from replearn.paper.finite_randomness import FiniteRandomnessClassifier
from replearn.paper.hypotheses import Stumps
from replearn.paper.realizable import RealizableReplicableClassifier
from replearn.paper.semi_replicable import SemiReplicableClassifier
from replearn.paper.thresholds import ReplicableThresholdClassifier
from tests.factories import Choosing

pytestmark = pytest.mark.filterwarnings("ignore::replearn.NotCertifiedWarning")

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
    assert "200 values of index" in failed(
        CHOICES[name](), X.set_axis(pd.Index(PERSON, name="machine")), Y.set_axis(PERSON)
    )
    labels = Y.set_axis(pd.Index(PERSON, name="machine"))
    assert "200 values of index 'machine' of y" in failed(CHOICES[name](), X.to_numpy(), labels)


def test_labels_of_several_rows_of_one_person_are_seen_by_votes():
    model = PointwiseReplicableClassifier(GaussianNB(), rho=0.2, max_fits=60)
    labels = Y.set_axis(pd.Index(PERSON, name="machine"))
    with pytest.warns(NotCertifiedWarning, match=r"groups=y.index.get_level_values\(0\)"):
        assert "200 values of index 'machine' of y" in failed(model, X.to_numpy(), labels)
    assert failed(model, X.to_numpy(), Y.set_axis(np.arange(1000) + 7)) == ""


@pytest.mark.parametrize("error", [TypeError, ValueError])
@pytest.mark.parametrize("name", CHOICES)
def test_an_error_in_a_check_certifies_nothing(name, error, monkeypatch):
    def broken(*args, **options):
        raise error("a mistake in the check")

    monkeypatch.setattr(choices, "copy_conditions", broken)
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
