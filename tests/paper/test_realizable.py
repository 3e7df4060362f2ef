"""RealizableReplicableClassifier: right where it can be, alike everywhere."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from replearn.exceptions import NotCertifiedWarning, UsefulnessWarning
from replearn.paper.hypotheses import Constant, Thresholds
from replearn.paper.realizable import (
    RealizableReplicableClassifier,
    realizable_flip_bound,
    smallest_sample_realizable,
)

quiet = pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")


@parametrize_with_checks(
    [
        RealizableReplicableClassifier(max_error_limit=1.0),
        RealizableReplicableClassifier(DecisionTreeClassifier(max_depth=2), max_error_limit=1.0),
    ]
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def _draw(n, seed, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    return X, np.where((X[:, 0] > 0.4) ^ (rng.random(n) < noise), "b", "a")


def test_planned_size_is_certified_and_accurate():
    n, ceiling = smallest_sample_realizable(0.2, 0.3, 0.1, 0.05, 1)
    X, y = _draw(n, 0)
    model = RealizableReplicableClassifier(Thresholds(">"), rho=0.2, gamma=0.3).fit(X, y)
    model.certificate_.check()
    assert model.certificate_.certified
    assert model.certificate_.value("realizable_flip_bound") == realizable_flip_bound(
        n, 1, 0.3, ceiling
    )
    assert model.released_
    assert model.training_error_ == 0
    assert model.score(*_draw(2000, 1)) > 0.98
    with pytest.warns(NotCertifiedWarning, match="requested rho=0.2"):
        clone(model).fit(X[: n // 2], y[: n // 2])


@quiet
def test_gives_up_on_noise_and_answers_the_second_class():
    X, y = _draw(3000, 0, noise=0.5)
    with pytest.warns(UsefulnessWarning, match=r"abstains: .*'b' is predicted for every point"):
        model = RealizableReplicableClassifier(Thresholds()).fit(X, y)
    assert not model.released_
    assert model.hypothesis_ == Constant(True)
    assert set(model.predict(X)) == {"b"}
    assert model.rule() == "always b"


@quiet
def test_never_gives_up_when_some_hypothesis_is_right():
    X, y = _draw(500, 0)
    for key in range(50):
        model = RealizableReplicableClassifier(Thresholds(), shared_key=key).fit(X, y)
        assert model.released_


@quiet
@pytest.mark.filterwarnings("ignore:RealizableReplicableClassifier abstains")
def test_the_limit_is_shared_and_uniform():
    X, y = _draw(40, 0, noise=0.3)
    limits = [
        RealizableReplicableClassifier(max_error_limit=0.2, shared_key=key).fit(X, y).limit_
        for key in range(200)
    ]
    assert 0 <= min(limits) < 0.02
    assert 0.18 < max(limits) < 0.2
    assert np.mean(limits) == pytest.approx(0.1, abs=0.02)


def test_a_classifier_in_place_of_a_class_is_not_certified():
    X, y = _draw(500, 0)
    with pytest.warns(NotCertifiedWarning, match="no exact minimiser"):
        model = RealizableReplicableClassifier(DecisionTreeClassifier()).fit(X, y)
    assert not model.certificate_.certified
    assert model.score(X, y) == 1
    order = np.random.default_rng(0).permutation(500)
    with pytest.warns(NotCertifiedWarning):
        again = clone(model).fit(X[order], y[order])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
