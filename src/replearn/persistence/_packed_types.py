"""Which objects a packed model may hold, as what state, and how they are built again.

A closed list: a name that is not on it is an error, so that loading builds nothing of the
file's choosing. Models of other packages (`replearn.persistence._native_types`) are on it, but are
built only if they are trusted by name. What holds indices that compiled code follows is checked
after it is built (`replearn.persistence._validators`).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import check_array

from replearn import compat
from replearn.exceptions import ModelFileError
from replearn.persistence._native_types import (
    NATIVE_TYPES,
    build_native,
    native_name,
    take_native,
)

State = dict[str, Any]

PACKED_ESTIMATORS = {
    "replearn.execution.constant": "ConstantVote",
    "replearn.tables.encoder": "TableEncoder",
    "sklearn.compose": "ColumnTransformer",
    "sklearn.decomposition": "PCA TruncatedSVD",
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "sklearn.dummy": "DummyClassifier DummyRegressor",
    "sklearn.ensemble": "BaggingClassifier BaggingRegressor ExtraTreesClassifier "
    "ExtraTreesRegressor GradientBoostingClassifier GradientBoostingRegressor "
    "HistGradientBoostingClassifier HistGradientBoostingRegressor RandomForestClassifier "
    "RandomForestRegressor",
    "sklearn.feature_selection": "VarianceThreshold",
    "sklearn.impute": "SimpleImputer MissingIndicator",
    "sklearn.linear_model": "BayesianRidge ElasticNet ElasticNetCV HuberRegressor Lasso LassoCV "
    "LinearRegression LogisticRegression LogisticRegressionCV Ridge RidgeCV RidgeClassifier "
    "RidgeClassifierCV",
    "sklearn.naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
    "sklearn.pipeline": "FeatureUnion Pipeline",
    "sklearn.preprocessing": "Binarizer KBinsDiscretizer LabelBinarizer LabelEncoder MaxAbsScaler "
    "MinMaxScaler Normalizer OneHotEncoder OrdinalEncoder PolynomialFeatures PowerTransformer "
    "QuantileTransformer RobustScaler StandardScaler",
    "sklearn.svm": "LinearSVC LinearSVR",
    "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier "
    "ExtraTreeRegressor",
}
"""Classes whose state is their attributes, by the module that exports them."""

_HOMES = {name: module for module, names in PACKED_ESTIMATORS.items() for name in names.split()}
_VALUES = {kind.__name__: kind for kind in (bool, float, int, str, object)} | {
    f"numpy.{name}": getattr(np, name) for name in ("float32", "float64", "int32", "int64")
}
"""Types that parameters name."""

_CHECKS = [
    {"dtype": [np.float64], "ensure_all_finite": False},
    {"dtype": [np.float64], "force_all_finite": False},  # its name before scikit-learn 1.6
]
_SEEN_IN_FIT = ("n_features_in_", "feature_names_in_", "_sklearn_output_config")
_BIT_GENERATORS = ("MT19937", "PCG64")


class Kind(NamedTuple):
    """How objects of one type are taken apart and built."""

    take: Callable[[Any], State | None]  # None: this object is not an ordinary one of its type
    build: Callable[[State], Any]


def _plain(kind: Any) -> Kind:
    def build(state: State) -> Any:
        made = kind.__new__(kind)
        vars(made).update(state)
        return made

    return Kind(vars, build)


def _take_tree(tree: Any) -> State:
    _, (n_features, n_classes, n_outputs), state = tree.__reduce__()
    return {"n_features": n_features, "n_classes": n_classes, "n_outputs": n_outputs, **state}


def _build_tree(state: State) -> Any:
    nodes = state["nodes"]
    values = state["values"]
    n_classes = state["n_classes"]
    n_outputs = state["n_outputs"]
    is_consistent = (
        n_classes.shape == (n_outputs,)
        and n_outputs > 0
        and (n_classes > 0).all()
        and values.shape == (len(nodes), n_outputs, n_classes.max())
        and state["node_count"] == len(nodes) > 0
    )
    if not is_consistent:
        raise ModelFileError("a tree's arrays do not have the sizes it states.")
    tree = compat.packed_internals()["Tree"](state["n_features"], n_classes, n_outputs)
    tree.__setstate__(
        {name: state[name] for name in ("max_depth", "node_count", "nodes", "values")}
    )
    return tree


def _build_predictor(state: State) -> Any:
    return compat.packed_internals()["TreePredictor"](**state)


def _loss(name: str) -> Kind:
    """Losses follow from their name and number of classes; others than those are not packed."""
    kind = compat.packed_internals()[name]

    def build(state: State) -> Any:
        n_classes = state["n_classes"]
        made = kind(n_classes=n_classes) if name == "HalfMultinomialLoss" else kind()
        made.constant_hessian = state["constant_hessian"]
        return made

    def take(loss: Any) -> State | None:
        state = {"n_classes": loss.n_classes, "constant_hessian": loss.constant_hessian}
        simple = {k: v for k, v in vars(loss).items() if isinstance(v, int | float | None)}
        fresh = vars(build(state))
        return state if all(fresh.get(k) == v for k, v in simple.items()) else None

    return Kind(take, build)


def _take_random(source: Any) -> State | None:
    legacy = isinstance(source, np.random.RandomState)
    state = source.get_state(legacy=False) if legacy else source.bit_generator.state
    return {"legacy": legacy, "state": state} if state["bit_generator"] in _BIT_GENERATORS else None


def _build_random(state: State) -> Any:
    name = state["state"]["bit_generator"]
    if name not in _BIT_GENERATORS:
        raise ModelFileError(f"{name!r} is not a known source of random numbers.")
    bits = getattr(np.random, name)(0)
    if not state["legacy"]:
        bits.state = state["state"]
        return np.random.Generator(bits)
    made = np.random.RandomState(bits)
    made.set_state(state["state"])
    return made


def is_array_check(value: Any) -> bool:
    """Tell whether a transformer only checks an array, as boosting has it for its numbers."""
    if type(value) is not FunctionTransformer or type(value.func) is not partial:
        return False
    plain = {name: item for name, item in vars(value).items() if name not in _SEEN_IN_FIT}
    return (
        value.func.func is check_array
        and not value.func.args
        and value.func.keywords in _CHECKS
        and plain == vars(FunctionTransformer(value.func))
    )


def _take_array_check(value: Any) -> State | None:
    if not is_array_check(value):
        return None
    fitted = {name: item for name, item in vars(value).items() if name in _SEEN_IN_FIT}
    return {"check": _CHECKS.index(value.func.keywords), **fitted}


def _build_array_check(state: State) -> Any:
    fitted = {name: value for name, value in state.items() if name in _SEEN_IN_FIT}
    made = FunctionTransformer(partial(check_array, **_CHECKS[state["check"]]))
    vars(made).update(fitted)
    return made


_OTHERS: Mapping[str, Callable[[], Kind]] = {
    "Tree": lambda: Kind(_take_tree, _build_tree),
    "TreePredictor": lambda: Kind(vars, _build_predictor),
    "BinMapper": lambda: _plain(compat.packed_internals()["BinMapper"]),
    "RemainderColumns": lambda: _plain(compat.packed_internals()["RemainderColumns"]),
    "HalfBinomialLoss": lambda: _loss("HalfBinomialLoss"),
    "HalfMultinomialLoss": lambda: _loss("HalfMultinomialLoss"),
    "HalfSquaredError": lambda: _loss("HalfSquaredError"),
    "ArrayCheck": lambda: Kind(_take_array_check, _build_array_check),
    "random": lambda: Kind(_take_random, _build_random),
    "dtype": lambda: Kind(
        lambda dtype: {"text": dtype.str} if dtype.kind in "biufcUSmMO" else None,
        lambda state: np.dtype(state["text"]),
    ),
    "slice": lambda: Kind(
        lambda part: {"start": part.start, "stop": part.stop, "step": part.step},
        lambda state: slice(state["start"], state["stop"], state["step"]),
    ),
    "type": lambda: Kind(
        lambda kind: next(({"name": n} for n, known in _VALUES.items() if known is kind), None),
        lambda state: _VALUES[state["name"]],
    ),
}


@cache
def kind_named(name: str) -> Kind:
    """Return how a type on the list is taken apart and built; raise for any other name."""
    if name in _HOMES:
        return _plain(getattr(importlib.import_module(_HOMES[name]), name))
    if name in _OTHERS:
        return _OTHERS[name]()
    if name in NATIVE_TYPES:
        return Kind(take_native, partial(build_native, name))
    raise ModelFileError(f"{name!r} is not a known part of a model.")


@cache
def name_of(kind: type) -> str | None:
    """Return the name of a type on the list, or None."""
    if issubclass(kind, np.random.Generator | np.random.RandomState):
        return "random"
    if issubclass(kind, np.dtype):
        return "dtype"
    if kind in (slice, type):
        return kind.__name__
    if kind is FunctionTransformer:  # of the one kind that runs nothing else
        return "ArrayCheck"
    home = _HOMES.get(kind.__name__)
    # The module first: what shares a name with an estimator here must not import it.
    if home is not None and kind.__module__.split(".")[0] == home.split(".")[0]:
        return (
            kind.__name__ if getattr(importlib.import_module(home), kind.__name__) is kind else None
        )
    if not kind.__module__.startswith("sklearn."):
        return native_name(kind)
    internals = compat.packed_internals().items()
    return next((name for name, known in internals if known is kind), None)
