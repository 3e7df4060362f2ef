"""Settings of the base estimator that follow from the size of the blocks."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replearn import (
    Plan,
    PointwiseReplicableClassifier,
    ScoreReplicableClassifier,
    plan,
)
from replearn.checks.blocks import adapted_to_blocks
from replearn.exceptions import ConstantBlocksWarning
from tests.factories import voting, whole_models

BOOSTING = HistGradientBoostingClassifier(max_iter=3)


@pytest.fixture(scope="module")
def leaked():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1200)
    return np.column_stack([rng.normal(size=(1200, 2)), y]), y


def fitted(leaked, **params):
    params = {"shared_key": "k", "n_partitions": 1, **params}
    return voting(BOOSTING, **params).fit(*leaked)


def test_leaves_follow_the_size_of_the_blocks(leaked):
    model = fitted(leaked)
    leaf = model.plan_.design.block_size // 8
    assert 2 <= leaf < 20
    assert {block.min_samples_leaf for block in model.estimators_} == {leaf}
    assert BOOSTING.min_samples_leaf == 20
    assert model.score(*leaked) == 1.0
    assert f"min_samples_leaf={leaf}" in model.certificate_.identity.learner


def test_the_block_size_does_not_depend_on_the_leaves(leaked):
    small_leaves = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3)
    usual = voting(small_leaves, shared_key="k", n_partitions=1)
    assert fitted(leaked).plan_ == usual.fit(*leaked).plan_


def test_settings_are_kept_on_request(leaked):
    with pytest.warns(ConstantBlocksWarning):
        model = fitted(leaked, n_blocks=40, small_blocks="keep")
    assert {block.min_samples_leaf for block in model.estimators_} == {20}
    assert model.plan_.inputs["small_blocks"] == "keep"
    assert "small blocks" in str(model.certificate_)
    assert not model.certificate_.comparable(fitted(leaked, n_blocks=40).certificate_)


def test_the_plan_carries_the_choice(leaked):
    kept = plan(n=1200, rho=0.1, n_partitions=1, small_blocks="keep")
    usual = plan(n=1200, rho=0.1, n_partitions=1)
    assert Plan.from_json(kept.to_json()) == kept
    assert kept.digest != usual.digest
    with pytest.warns(ConstantBlocksWarning):
        model = PointwiseReplicableClassifier(BOOSTING, plan=kept, shared_key="k").fit(*leaked)
    assert {block.min_samples_leaf for block in model.estimators_} == {20}
    with pytest.raises(ValueError, match="small_blocks"):
        plan(n=1200, rho=0.1, small_blocks="maybe")


def test_whole_models_adapt_too(leaked):
    model = whole_models(BOOSTING, n_blocks=40, n_partitions=1, rho=0.5, gamma=0.5, shared_key="k")
    model.fit(*leaked)
    assert {block.min_samples_leaf for block in model.estimators_} == {3}


@pytest.mark.parametrize(
    ("base", "params"),
    [
        (make_pipeline(StandardScaler(), BOOSTING), {"histgradientboostingclassifier": 3}),
        (CalibratedClassifierCV(BOOSTING, cv=5), {"estimator": 2}),
    ],
)
def test_leaves_are_found_inside_other_estimators(base, params):
    adapted = adapted_to_blocks(base, 25)
    for name, leaf in params.items():
        assert adapted.get_params()[f"{name}__min_samples_leaf"] == leaf
        assert base.get_params()[f"{name}__min_samples_leaf"] == 20


@pytest.mark.parametrize(
    "base",
    [
        LogisticRegression(),
        RandomForestClassifier(),
        HistGradientBoostingClassifier(min_samples_leaf=10, max_bins=128),
        FrozenEstimator(BOOSTING),
        object(),
    ],
)
def test_what_was_set_and_what_has_no_leaves_stays(base):
    assert adapted_to_blocks(base, 25) is base


def test_large_blocks_keep_the_defaults():
    assert adapted_to_blocks(BOOSTING, 4080) is BOOSTING
    adapted = [adapted_to_blocks(BOOSTING, n_rows) for n_rows in (4079, 160, 159)]
    assert [model.max_bins for model in adapted] == [63, 63, 63]
    assert [model.min_samples_leaf for model in adapted] == [20, 20, 19]


@pytest.mark.parametrize(("given", "used"), [(255, 63), (254, 254)])
def test_blocks_of_scores_have_fewer_bins_as_well(leaked, given, used):
    base = HistGradientBoostingClassifier(max_iter=3, max_bins=given)
    model = ScoreReplicableClassifier(base, shared_key="k", verbose=-1).fit(*leaked)
    assert {estimator.max_bins for estimator in model.estimators_} == {used}
    assert {estimator.min_samples_leaf for estimator in model.estimators_} == {20}


def test_blocks_of_groups_may_have_many_rows(leaked):
    groups = np.arange(1200) // 5
    model = ScoreReplicableClassifier(BOOSTING, shared_key="k", verbose=-1)
    model.fit(*leaked, groups=groups)
    assert {estimator.max_bins for estimator in model.estimators_} == {255}
