"""SemiPrivateClassifier: conventions, what one row can touch, what the certificate tells."""

import json

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from replearn import plan
from replearn.exceptions import NotCertifiedWarning, UsefulnessWarning
from replearn.paper.hypotheses import Constant, Thresholds
from replearn.paper.semi_private import (
    PrivateDesign,
    SemiPrivateClassifier,
    cut_secretly,
    private_design,
)
from replearn.paper.thresholds import ReplicableThresholdClassifier

quiet = pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
BY_CUT = ReplicableThresholdClassifier(feature=0, sharpness=2000.0)


@parametrize_with_checks([SemiPrivateClassifier(BY_CUT)])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def planned():
    """A plan that is cheap enough to carry out, its pool and its private rows."""
    asked = {"epsilon": 8.0, "delta": 1e-3, "alpha": 0.6, "beta": 0.3}
    made = plan("semi-private", d=1, n_shared=40, **asked)
    rng = np.random.default_rng(0)
    X = rng.random((made.n, 1))
    return made, rng.random((40, 1)), X, X[:, 0] > 0.6


def test_certified_at_the_planned_size_and_not_below(planned):
    made, pool, X, y = planned
    model = SemiPrivateClassifier(Thresholds(">"), plan=made, classes=[False, True])
    model.fit(X, y, X_shared=pool)
    certificate = model.certificate_
    certificate.check()
    assert certificate.certified
    assert certificate.theorems == (
        "private-selection", "semi-replicable", "hypothesis-selection", "semi-private",
    )  # fmt: skip
    assert "(8, " in certificate.promises[0]
    assert certificate.beta <= 0.3
    assert not model.released_ or np.mean(model.predict(X) != y) <= 0.6
    assert dict(certificate.inputs)["n_shared"] == 40
    few = SemiPrivateClassifier(Thresholds(">"), alpha=0.6, classes=[False, True])
    with pytest.warns(NotCertifiedWarning, match="beta"):
        few.fit(X[:3000], y[:3000], X_shared=pool)
    assert "differentially private" in few.certificate_.promises[0]


@quiet
@pytest.mark.filterwarnings("ignore:SemiPrivateClassifier abstains")
def test_nothing_private_is_kept(planned):
    _, pool, X, y = planned
    marked = X.copy()
    marked[0] = 0.123456789
    model = SemiPrivateClassifier(Thresholds(">"), classes=[False, True], n_keys=1, n_parts=20)
    model.fit(marked[:2000], y[:2000], X_shared=pool)
    kept = repr({k: v for k, v in vars(model).items() if k.endswith("_")})
    assert "0.123456789" not in kept + json.dumps(model.certificate_.to_dict())


def test_one_row_is_in_one_part_only_wherever_it_is():
    design = PrivateDesign(2, 5, 3)
    parts = cut_secretly(33, design)
    assert parts.shape == (10, 3)
    assert len(np.unique(parts)) == 30
    orders = {tuple(cut_secretly(33, design).ravel().tolist()) for _ in range(5)}
    assert len(orders) == 5  # fresh every time, and no function of the rows


@quiet
def test_too_few_rows_release_nothing():
    with pytest.warns(UsefulnessWarning, match="abstains: too few parts agree on one rule"):
        model = SemiPrivateClassifier(BY_CUT, classes=[0, 1]).fit([[0.0], [1.0]], [0, 1])
    assert not model.released_
    assert model.hypothesis_ == Constant(True)
    assert model.predict([[0.0]]) == [1]


def test_classes_read_from_private_labels_are_not_certified(planned):
    made, pool, X, y = planned
    model = SemiPrivateClassifier(Thresholds(">"), plan=made)
    with pytest.warns(NotCertifiedWarning, match="list of classes was read from the private"):
        model.fit(X, y, X_shared=pool)


def test_the_design_falls_with_epsilon():
    rows = [private_design(e, 1e-6, 0.3, 0.05, 50).rows for e in (1.0, 4.0)]
    assert rows == sorted(rows, reverse=True)


@pytest.mark.parametrize(
    ("hypotheses", "message"),
    [(None, "X_shared"), (DecisionTreeClassifier(), "HypothesisClass")],
)
def test_errors_name_the_parameter(hypotheses, message):
    X = np.zeros((900, 1))
    with pytest.raises((ValueError, TypeError), match=message):
        SemiPrivateClassifier(hypotheses).fit(X, np.arange(900) % 2)
