"""What all estimators have in common: parameters, methods, types, attributes."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from replearn.execution.context import RunContext
from replearn.guarantees.certificate import Certificate
from replearn.registry import ESTIMATORS
from tests.registry import (
    NAMES,
    NEED_POOL,
    NEW,
    ON_BLOCKS,
    PLANS,
    UNPLANNED,
    X,
    Y,
    fit,
    fitted,
    kind,
    planned,
    unfitted,
)

SHARED_DEFAULTS = {
    "rho": 0.1,
    "beta": {0.05, None},
    "alpha": {0.1, None},
    "classes": None,
    "decimals": None,
    "n_partitions": None,
    "plan": None,
    "shared_key": None,
    "n_jobs": None,
    "verbose": 0,
}
WRAPPERS = ("hypotheses", "candidates")
RESULTS = {
    "predict": np.ndarray,
    "predict_proba": np.ndarray,
    "flip_probability": np.ndarray,
    "margin": np.ndarray,
}


@pytest.fixture(scope="module")
def models():
    return {name: fitted(name) for name in NAMES}


def test_no_estimator_is_forgotten():
    assert set(ESTIMATORS) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_first_parameter_is_what_is_wrapped(name):
    parameters = list(inspect.signature(kind(name)).parameters.values())
    if "estimator" in kind(name)._get_param_names():
        assert parameters[0].name == "estimator"
    positional = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    allowed = {"estimator", "incumbent", "param_grid", *WRAPPERS}
    assert set(positional) <= allowed


@pytest.mark.parametrize("name", NAMES)
def test_the_same_parameter_has_the_same_default(name):
    parameters = inspect.signature(kind(name)).parameters
    for parameter, expected in SHARED_DEFAULTS.items():
        if parameter in parameters:
            allowed = expected if isinstance(expected, set) else {expected}
            assert parameters[parameter].default in allowed, parameter


@pytest.mark.parametrize("name", NAMES)
def test_no_parameter_takes_a_dict_of_options(name):
    allowed = {"param_grid", "candidates"}
    for parameter, constraints in kind(name)._parameter_constraints.items():
        if parameter not in allowed:
            assert dict not in constraints, parameter


@pytest.mark.parametrize("name", NAMES)
def test_clone_and_set_params_of_every_option(name):
    model = unfitted(name)
    twin = clone(model)
    params = model.get_params(deep=False)
    assert set(params) == set(twin.get_params(deep=False))
    assert twin.set_params(**params).get_params(deep=False) == params
    for parameter in params:
        constraints = kind(name)._parameter_constraints
        assert parameter in constraints, f"{parameter} is not validated"


@pytest.mark.parametrize("name", NAMES)
def test_methods_return_the_same_types(models, name):
    model = models[name]
    for method, expected in RESULTS.items():
        if hasattr(model, method):
            assert isinstance(getattr(model, method)(NEW), expected), method
            assert len(getattr(model, method)(NEW)) == len(NEW)
    if hasattr(model, "certificate_"):
        assert isinstance(model.certificate_, Certificate)
        model.certificate_.check()


@pytest.mark.parametrize("name", NAMES)
def test_methods_that_do_not_work_are_absent(models, name):
    for method in ("flip_rate", "flip_probability", "explain", "margin"):
        if hasattr(models[name], method):
            assert getattr(models[name], method)(NEW[:5]) is not None


@pytest.mark.parametrize("name", [name for name in NAMES if name != "SemiPrivateClassifier"])
def test_the_same_key_and_rows_give_the_same_predictions(models, name):
    # SemiPrivateClassifier is private: its noise is drawn anew, whatever the key.
    again = fit(name, unfitted(name))
    np.testing.assert_array_equal(again.predict(NEW), models[name].predict(NEW))


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("Incumbent")])
def test_ids_key_what_features_key(models, name):
    model = models[name]
    if "ids" not in inspect.signature(model.predict).parameters:
        pytest.skip("has no keyed thresholds")
    ids = np.arange(len(NEW))
    np.testing.assert_array_equal(model.predict(NEW, ids=ids), model.predict(NEW, ids=ids))
    assert (model.predict(NEW, ids=ids) != model.predict(NEW, ids=ids + 1000)).any()


@pytest.mark.parametrize("name", ON_BLOCKS)
def test_a_context_does_not_change_the_model(models, name):
    again = fit(name, clone(models[name]), context=RunContext())
    np.testing.assert_array_equal(again.predict(NEW), models[name].predict(NEW))
    assert len(again.estimators_) == len(models[name].estimators_)


def test_every_estimator_is_planned_or_says_that_it_is_not():
    assert set(PLANS) == {name for name in NAMES if "plan" in kind(name)._get_param_names()}
    assert set(NAMES) - set(PLANS) == set(UNPLANNED)


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_followed(name):
    model = fit(name, planned(name))
    inputs = model.certificate_.inputs
    # SemiPrivateClassifier cuts equal parts and leaves out what remains
    assert inputs["n"] == model.plan.n or (name in NEED_POOL and inputs["n"] <= model.plan.n)
    shared = getattr(model, "_set_by_plan", model.plan.inputs)
    known = [param for param in shared if param in inputs and param != "standard_error"]
    assert {p: inputs[p] for p in known} == {p: model.plan.inputs[p] for p in known}
    assert name in model.plan.learners
    assert model.predict(NEW).shape == (len(NEW),)


@pytest.mark.parametrize("name", PLANS)
def test_what_a_plan_sets_is_not_set_again(name):
    parameter = "epsilon" if name == "SemiPrivateClassifier" else "rho"
    with pytest.raises(ValueError, match=f"{parameter} is set by `plan`"):
        fit(name, planned(name, **{parameter: 0.77}))


@pytest.mark.parametrize("name", PLANS)
def test_a_sample_that_is_smaller_than_planned_is_an_error(name):
    with pytest.raises(ValueError, match="plan needs n=450 rows, but the sample has 300"):
        fit(name, planned(name), rows=slice(300))


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_of_another_task_is_an_error(name):
    other = (
        "SemiReplicableClassifier"
        if name == "ReplicableThresholdClassifier"
        else ("ReplicableThresholdClassifier")
    )
    with pytest.raises(ValueError, match="plan is for"):
        fit(name, planned(name, plan=planned(other).plan))


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
@pytest.mark.parametrize(
    ("name", "grid"),
    [
        ("PointwiseReplicableClassifier", {"max_fits": [6, 12], "decimals": [None, 3]}),
        ("ScoreReplicableClassifier", {"decimals": [None, 3], "n_blocks": [4, 8]}),
    ],
)
def test_options_can_be_searched(name, grid):
    search = GridSearchCV(unfitted(name), grid, cv=2).fit(X[:400], Y[:400])
    assert set(search.best_params_) == set(grid)
