"""ReplicableThresholdClassifier: conventions, rules, certificate."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from replearn.exceptions import NotCertifiedWarning
from replearn.paper.thresholds import ReplicableThresholdClassifier, smallest_sample_threshold

quiet = pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")


@parametrize_with_checks([ReplicableThresholdClassifier(feature=0, sharpness=100.0)])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def _draw(n, seed, cut=60):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(50, 10, (n, 1)))
    return X, np.where((X[:, 0] > cut) ^ (rng.random(n) < 0.1), "yes", "no")


@quiet
def test_rule_threshold_and_hypothesis_say_the_same():
    X, y = _draw(5000, 0)
    frame = pd.DataFrame({"height": 7 * np.arange(5000.0), "age": X[:, 0]})
    model = ReplicableThresholdClassifier(feature="age", sharpness=2000.0).fit(frame, y)
    assert model.rule() == f"yes if age > {model.cut_:g}, else no"
    expected = np.where(frame["age"] > model.cut_, "yes", "no")
    np.testing.assert_array_equal(model.predict(frame), expected)
    assert abs(model.cut_ - 60) <= 1
    assert model.score(frame, y) > 0.87


@quiet
def test_both_directions_are_tried_unless_one_is_given():
    X, y = _draw(5000, 0)
    flipped = np.where(y == "yes", "no", "yes")
    assert "<=" in ReplicableThresholdClassifier(sharpness=500.0).fit(X, flipped).rule()
    assert ">" in ReplicableThresholdClassifier(sharpness=500.0).fit(X, y).rule()
    one = ReplicableThresholdClassifier(sharpness=500.0, direction=">").fit(X, flipped)
    assert "<=" not in one.rule()


@quiet
def test_row_order_does_not_matter_and_the_key_does():
    X, y = _draw(3000, 0)
    model = ReplicableThresholdClassifier(sharpness=20.0, shared_key="a")
    order = np.random.default_rng(0).permutation(3000)
    one, two = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    assert one.hypothesis_ == two.hypothesis_
    keys = {clone(model).set_params(shared_key=k).fit(X, y).cut_ for k in range(20)}
    assert len(keys) > 3


def test_certified_at_the_planned_size_and_not_below():
    n, _ = smallest_sample_threshold(0.4, 0.4, 0.4, 0.2)
    model = ReplicableThresholdClassifier(rho=0.4, gamma=0.4, alpha=0.4, beta=0.2, direction=">")
    X, y = _draw(n, 0)
    model.fit(X, y).certificate_.check()
    assert model.certificate_.certified
    assert model.certificate_.theorems == ("thresholds-proper",)
    with pytest.warns(NotCertifiedWarning, match="requested rho=0.4"):
        clone(model).fit(X[: n - 10], y[: n - 10])


@quiet
def test_certificates_of_two_labs_compare():
    model = ReplicableThresholdClassifier(shared_key="k")
    one, two = (clone(model).fit(*_draw(1000, seed)) for seed in range(2))
    assert one.certificate_.comparable(two.certificate_)
    other = clone(model).set_params(shared_key="other").fit(*_draw(1000, 0))
    assert not one.certificate_.comparable(other.certificate_)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "choose one"),
        ({"feature": 2}, "not one of the 2 columns"),
        ({"feature": "age"}, "not among the columns"),
        ({"feature": 0, "direction": "<"}, "direction"),
        ({"feature": 0, "gamma": 0}, "gamma"),
    ],
)
def test_errors_name_the_parameter(params, message):
    with pytest.raises(ValueError, match=message):
        ReplicableThresholdClassifier(**params).fit(np.zeros((4, 2)), [0, 1, 0, 1])
