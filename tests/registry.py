"""All estimators of the library, each small enough to be fitted in a test.

``unfitted(name)`` returns an estimator, ``fitted(name)`` one that is fitted to `SAMPLE`. Who adds
an estimator adds a line here; `tests/learners/test_conformance.py` fails otherwise.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from replearn.exceptions import NotCertifiedWarning
from replearn.guarantees.planner import plan
from replearn.learners.training import UNPLANNED as VOTES_UNPLANNED
from replearn.paper.hypotheses import Stumps
from replearn.registry import estimator_class

KEY = "registry"
RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(900, 2)), 3)
Y = np.where(X[:, 0] + RNG.normal(size=900) > 0, "yes", "no")
NUMBERS = X[:, 0] + X[:, 1]
NEW = np.round(RNG.normal(size=(200, 2)), 3)

PARAMS: dict[str, dict[str, Any]] = {
    "CompleteLearner": {"estimator": Stumps(2), "rho": 0.5, "alpha": 0.9, "beta": 0.5},
    "FiniteRandomnessClassifier": {
        "estimator": GaussianNB(),
        "n_blocks": 5,
        "n_candidates": 3,
    },
    "IncumbentClassifier": {"estimator": GaussianNB()},
    "IncumbentRegressor": {},
    "PointwiseReplicableClassifier": {
        "estimator": GaussianNB(),
        "n_blocks": 6,
        "max_fits": 6,
        "rho": 0.5,
    },
    "PointwiseReplicableRegressor": {"resolution": 0.5, "y_range": (-4, 4), "n_blocks": 15},
    "RealizableReplicableClassifier": {"hypotheses": Stumps(2)},
    "ReplicableSearchCV": {
        "estimator": DecisionTreeClassifier(),
        "param_grid": {"max_depth": [1, 2]},
        "cv": 2,
    },
    "ReplicableThresholdClassifier": {"feature": 0},
    "ScoreReplicableClassifier": {"estimator": GaussianNB(), "n_blocks": 8},
    "SemiPrivateClassifier": {"n_keys": 1, "n_parts": 20, "epsilon": 8.0},
    "SemiReplicableClassifier": {},
}

PLANS: dict[str, dict[str, Any]] = {
    "CompleteLearner": {"task": "complete", "n": 450, "d": 3, "rho": 0.5, "alpha": 0.9},
    "FiniteRandomnessClassifier": {
        "task": "finite randomness",
        "n": 450,
        "rho": 0.9,
        "gamma": 0.9,
        "alpha": 0.9,
        "n_candidates": 2,
        "block_size": 20,
    },
    "PointwiseReplicableClassifier": {"n": 450, "rho": 0.5, "n_blocks": 6, "n_partitions": 1},
    "PointwiseReplicableRegressor": {
        "task": "regression",
        "n": 450,
        "y_range": (-4, 4),
        "resolution": 4.0,
        "rho": 0.5,
    },
    "RealizableReplicableClassifier": {"task": "realizable", "n": 450, "d": 2, "rho": 0.3},
    "ReplicableThresholdClassifier": {"task": "thresholds", "n": 450, "direction": ">"},
    "ScoreReplicableClassifier": {"task": "score", "n": 450, "n_blocks": 8, "rho": 0.2},
    "SemiPrivateClassifier": {"task": "semi-private", "n": 450, "d": 1, "alpha": 0.6},
    "SemiReplicableClassifier": {"task": "semi", "n": 450, "d": 1, "rho": 0.3},
}
"""Arguments of `replearn.plan` for each estimator that can be planned."""

UNPLANNED = (
    "IncumbentClassifier",
    "IncumbentRegressor",
    "ReplicableSearchCV",
)

NAMES = tuple(PARAMS)
NEED_POOL = ("SemiPrivateClassifier", "SemiReplicableClassifier")
ON_BLOCKS = (
    "FiniteRandomnessClassifier",
    "PointwiseReplicableClassifier",
    "PointwiseReplicableRegressor",
    "ScoreReplicableClassifier",
)


def kind(name: str) -> Any:
    """Return the class of an estimator."""
    return estimator_class(name)


def unfitted(name: str, **changed: Any) -> Any:
    """Return an estimator that is cheap to fit."""
    params = {**PARAMS[name], **changed}
    if "shared_key" in kind(name)._get_param_names():
        params.setdefault("shared_key", KEY)
    return kind(name)(**params)


def planned(name: str, **changed: Any) -> Any:
    """Return an estimator that follows a plan; what the plan sets has its default value."""
    request = dict(PLANS[name])
    shared = plan(request.pop("task", "pointwise"), **request)
    model = unfitted(name)
    defaults = inspect.signature(kind(name)).parameters
    params = model.get_params(deep=False)
    set_by_plan = getattr(model, "_set_by_plan", set(params) - VOTES_UNPLANNED)
    kept = {param: defaults[param].default for param in params if param in set_by_plan}
    return model.set_params(**{**kept, "plan": shared, **changed})


def fit(name: str, model: Any, rows: Any = slice(None), **params: Any) -> Any:
    """Fit a model to rows of the sample; that it promises little is not told."""
    y = NUMBERS if name.endswith("Regressor") else Y
    if name in NEED_POOL:
        params["X_shared"] = X[:40]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        warnings.filterwarnings("ignore", ".* abstains: ")
        return model.fit(X[rows], y[rows], **params)


def fitted(name: str, **changed: Any) -> Any:
    """Return an estimator that is fitted to the sample."""
    return fit(name, unfitted(name, **changed))
