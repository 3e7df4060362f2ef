"""Semi-replicable rules: identical in two runs, readable, honest about small pools."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from replearn.bounds.vc import realizable_sample_size
from replearn.exceptions import NotCertifiedWarning
from replearn.paper.hypotheses import (
    Boxes,
    Intervals,
    Stumps,
    Thresholds,
    hypothesis_from_dict,
    make_box,
)
from replearn.paper.realizable import cover_distance
from replearn.paper.semi_replicable import SemiReplicableClassifier

quiet = pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")


class WithOwnPool(SemiReplicableClassifier):
    """scikit-learn's checks know no second sample."""

    def fit(self, X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotCertifiedWarning)
            return super().fit(X, y, X_shared=X)


@parametrize_with_checks([WithOwnPool(sharpness=200.0)])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def _draw(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, np.where((X[:, 1] > 0.6) ^ (rng.random(n) < 0.1), "yes", "no")


@quiet
def test_neither_the_order_of_the_rows_nor_that_of_the_pool_matters():
    X, y = _draw(3000, 0)
    pool, _ = _draw(60, 1)
    order = np.random.default_rng(2).permutation(3000)
    model = SemiReplicableClassifier(Stumps(3), shared_key="k")
    one = clone(model).fit(X, y, X_shared=pool)
    two = clone(model).fit(X[order], y[order], X_shared=pool[::-1])
    assert one.hypothesis_ == two.hypothesis_
    assert hash(one.hypothesis_) == hash(two.hypothesis_)
    assert one.certificate_ == two.certificate_


@quiet
def test_fresh_samples_at_a_moderate_size_mostly_give_the_identical_rule():
    pool, _ = _draw(100, 1)
    alike = 0
    for pair in range(10):
        rules = set()
        for run in range(2):
            X, y = _draw(20_000, (3, pair, run))
            model = SemiReplicableClassifier(Stumps(3), sharpness=60.0, shared_key=pair)
            rules.add(model.fit(X, y, X_shared=pool).hypothesis_)
        alike += len(rules) == 1
    assert alike >= 7  # tanh bound at this t and n: 0.56 of pairs may differ; the mean is 0.9


@quiet
def test_the_rule_reads_well_and_travels_as_json():
    X, y = _draw(5000, 0)
    frame = pd.DataFrame(X, columns=["age", "dose", "weight"])
    pool = frame[:100]
    model = SemiReplicableClassifier(sharpness=2000.0, shared_key=1).fit(frame, y, X_shared=pool)
    assert model.rule().startswith("yes if dose > 0.")
    assert hypothesis_from_dict(model.hypothesis_.to_dict()) == model.hypothesis_
    assert (model.predict(frame) == y).mean() > 0.85


def test_certified_where_rows_and_pool_allow():
    n_shared = realizable_sample_size(1, 0.1, 0.025)
    pool = np.random.default_rng(0).random((n_shared, 1))
    X = np.random.default_rng(1).random((150_000, 1))
    model = SemiReplicableClassifier(Thresholds(">"), rho=0.3, alpha=0.25, shared_key=1)
    model.fit(X, X[:, 0] > 0.4, X_shared=pool)
    model.certificate_.check()
    assert model.certificate_.certified
    assert set(model.certificate_.theorems) == {"hypothesis-selection", "semi-replicable"}
    assert model.certificate_.value("cover_distance") == cover_distance(n_shared, 1, 0.025)


def test_a_pool_that_is_too_small_is_said_so():
    X, y = _draw(500, 0)
    with pytest.warns(NotCertifiedWarning, match="pool of 5 rows is too small"):
        SemiReplicableClassifier().fit(X, y, X_shared=X[:5])


@quiet
def test_a_pool_below_d_over_alpha_misses_the_best_rule():
    # The class can only cut where the pool has points: with the label hidden in a cell of mass 0.2
    # that the pool does not see, no candidate is within 0.1 of the best.
    rng = np.random.default_rng(0)
    X = rng.random((4000, 1))
    y = (X[:, 0] > 0.4) & (X[:, 0] <= 0.6)
    small = np.array([[0.1], [0.3], [0.8]])
    large = rng.random((200, 1))
    errors = [
        SemiReplicableClassifier(Intervals(), sharpness=1e4)
        .fit(X, y, X_shared=pool)
        .selection_.error
        for pool in (small, large)
    ]
    assert errors[0] > 0.1 > 0.02 > errors[1]


@quiet
@pytest.mark.parametrize(("size", "often"), [(3, True), (40, False)])
def test_pools_fail_as_often_as_the_lower_bound_says(size, often):
    # Three values of mass .4, .2, .4, and only the middle one is positive: a pool that misses one
    # of them has no candidate better than .2, whatever the labels say.
    rng, pools = np.random.default_rng(0), 40
    X = rng.choice(3, (2000, 1), p=[0.4, 0.2, 0.4]).astype(float)
    y = X[:, 0] == 1
    failed = 0
    for _ in range(pools):
        pool = rng.choice(3, (size, 1), p=[0.4, 0.2, 0.4]).astype(float)
        model = SemiReplicableClassifier(Intervals(), sharpness=1e4).fit(X, y, X_shared=pool)
        missed = len(np.unique(pool)) < 3
        assert (model.selection_.error > 0.1) == missed
        failed += missed
    expected = 0.8**size + 2 * 0.6**size - 2 * 0.4**size - 0.2**size
    assert binom.ppf(1e-8, pools, expected) <= failed <= binom.isf(1e-8, pools, expected)
    assert (failed > 0.2 * pools) == often


@quiet
def test_boxes_in_the_plane():
    rng = np.random.default_rng(0)
    X = rng.random((4000, 2))
    y = (X > 0.3).all(axis=1) & (X <= 0.8).all(axis=1)
    model = SemiReplicableClassifier(Boxes(2), sharpness=3000.0).fit(
        X, y, X_shared=rng.random((40, 2))
    )
    assert model.score(X, y) > 0.85
    assert " and " in model.rule()


@quiet
def test_candidates_in_place_of_a_class():
    X, y = _draw(4000, 0)
    rules = [make_box([(1, cut, np.inf)]) for cut in (0.2, 0.6, 0.9)]
    model = SemiReplicableClassifier(candidates=rules, sharpness=1000.0).fit(X, y)
    assert model.hypothesis_ == rules[1]
    assert "the best candidate's" in str(model.certificate_)
    shuffled = SemiReplicableClassifier(candidates=rules[::-1], sharpness=1000.0).fit(X, y)
    assert shuffled.certificate_ == model.certificate_


@quiet
def test_one_class_only():
    X, _ = _draw(200, 0)
    model = SemiReplicableClassifier().fit(X, np.zeros(200), X_shared=X[:20])
    assert set(model.predict(X)) == {0.0}


def test_errors_say_what_to_do():
    X, y = _draw(50, 0)
    with pytest.raises(ValueError, match="X_shared is missing"):
        SemiReplicableClassifier().fit(X, y)
    with pytest.raises(ValueError, match="features"):
        SemiReplicableClassifier().fit(X, y, X_shared=X[:, :2])
    with pytest.raises(ValueError, match="binary"):
        SemiReplicableClassifier().fit(X, np.arange(50) % 3, X_shared=X)
