"""The short way to fit a logistic regression: scikit-learn's bits, or scikit-learn itself."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import InvalidParameterError

from replearn.execution.fitting import Block, fit_one_block
from replearn.fastpaths import linear
from replearn.fastpaths.linear import fit_plain_logistic


def sample(seed, n=300, d=7, scale=1.0, classes=2):
    X, y = make_classification(
        n, d, n_informative=4, n_classes=classes, flip_y=0.2, random_state=seed
    )
    return np.ascontiguousarray(X * scale), y


def assert_same_model(ours, theirs):
    assert vars(ours).keys() == vars(theirs).keys()
    for name, value in vars(theirs).items():
        mine = vars(ours)[name]
        if isinstance(value, np.ndarray) and value.dtype == object:  # names
            assert mine.tolist() == value.tolist(), name
        elif isinstance(value, np.ndarray):
            assert (mine.dtype, mine.shape) == (value.dtype, value.shape), name
            assert mine.tobytes() == value.tobytes(), name
        else:
            assert mine == value or (mine is value), name


def test_the_short_way_is_open_with_the_pinned_versions():
    assert linear._same_bits_here()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("parameters", "shape"),
    [
        ({}, {}),
        ({"C": 1e-3}, {"scale": 30.0}),
        ({"C": 100.0, "max_iter": 2000}, {"n": 40, "d": 25}),
        ({"tol": 1e-8, "max_iter": 500}, {"n": 1000, "d": 10}),
        ({"random_state": 3}, {"n": 25}),
    ],
)
def test_every_fitted_attribute_has_the_bits_of_scikit_learn(seed, parameters, shape):
    X, y = sample(seed, **shape)
    ours, theirs = LogisticRegression(**parameters), LogisticRegression(**parameters)
    assert fit_plain_logistic(ours, X, y)
    assert_same_model(ours, theirs.fit(X, y))


MIXED = ColumnTransformer(
    [
        ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), list(range(5))),
        ("codes", OneHotEncoder(handle_unknown="ignore"), [5]),
    ],
    sparse_threshold=0.0,
)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline("passthrough", PolynomialFeatures(2), None, LogisticRegression(C=0.1)),
        make_pipeline(MIXED, LogisticRegression()),
        make_pipeline(OneHotEncoder(), LogisticRegression()),  # sparse
        make_pipeline(StandardScaler().set_output(transform="pandas"), LogisticRegression()),
    ],
    ids=["scaler", "passthrough", "mixed", "sparse", "frame"],
)
def test_pipelines_are_fitted_to_the_bits_of_scikit_learn(model):
    X, y = sample(0)
    X[:, 5:] = X[:, 5:].round()
    ours, theirs = clone(model), clone(model)
    assert fit_plain_logistic(ours, X, y)
    theirs.fit(X, y)
    assert_same_model(ours[-1], theirs[-1])
    assert (ours.predict_proba(X) == theirs.predict_proba(X)).all()
    assert vars(ours).keys() == vars(theirs).keys()


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), DecisionTreeClassifier()),
        make_pipeline(StandardScaler(), LogisticRegression(), verbose=True),
        Pipeline([("a", StandardScaler()), ("b", LogisticRegression())], memory="somewhere"),
    ],
    ids=["tree", "verbose", "memory"],
)
def test_other_pipelines_are_left_to_scikit_learn(model):
    assert not fit_plain_logistic(model, *sample(0))
    assert not hasattr(model.steps[0][1], "scale_")


def test_a_block_is_fitted_to_the_same_bits_whether_or_not_its_parameters_were_checked():
    X, y = sample(0)
    block = Block(X, y, {}, "block 0", faster=[fit_plain_logistic])
    checked = fit_one_block(LogisticRegression(), block)
    with config_context(skip_parameter_validation=True):
        unchecked = fit_one_block(LogisticRegression(), block)
    assert_same_model(unchecked, checked)


def test_scikit_learn_checks_the_parameters_of_the_first_block():
    X, y = sample(0)
    block = Block(X, y, {}, "block 0", faster=[fit_plain_logistic])
    with pytest.raises(InvalidParameterError, match=r"block 0.*'tol'"):
        fit_one_block(LogisticRegression(tol=-1.0), block)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(solver="newton-cholesky"),
        LogisticRegression(class_weight="balanced"),
        LogisticRegression(fit_intercept=False),
        LogisticRegression(C=np.inf),
        LogisticRegression(warm_start=True),
        LogisticRegression(l1_ratio=1, solver="saga"),
        type("Mine", (LogisticRegression,), {})(),
        DecisionTreeClassifier(),
    ],
    ids=repr,
)
def test_other_models_are_left_to_scikit_learn(model):
    model = clone(model)
    before = dict(vars(model))
    assert not fit_plain_logistic(model, *sample(0))
    assert vars(model) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y: (X.astype(np.float32), y),
        lambda X, y: (np.asfortranarray(X), y),
        lambda X, y: (sparse.csr_array(X), y),
        lambda X, y: (X.tolist(), y),
        lambda X, y: (np.where(X[0, 0] == X, np.nan, X), y),
        lambda X, y: (X, y.astype(float)),
        lambda X, y: (X, y + (np.arange(len(y)) % 3 == 0)),
    ],
    ids=["float32", "fortran", "sparse", "list", "missing", "float labels", "three classes"],
)
def test_other_tables_are_left_to_scikit_learn(change):
    model = LogisticRegression()
    assert not fit_plain_logistic(model, *change(*sample(0)))
    assert not hasattr(model, "coef_")


def test_where_scikit_learn_warns_it_still_does():
    X, y = sample(1, scale=100.0)
    block = Block(X, y, {}, "block 0", faster=[fit_plain_logistic])
    with (
        pytest.warns(ConvergenceWarning, match="failed to converge"),
        config_context(skip_parameter_validation=True),
    ):
        fit_one_block(LogisticRegression(max_iter=2), block)


def test_another_order_of_summation_closes_the_short_way(monkeypatch):
    def other_order(X, target, strength):
        return lambda coef: objective(X[::-1].copy(), target[::-1].copy(), strength)(coef)

    objective = linear._objective
    monkeypatch.setattr(linear, "_objective", other_order)
    linear._same_bits_here.cache_clear()
    try:
        assert not fit_plain_logistic(LogisticRegression(), *sample(0))
    finally:
        linear._same_bits_here.cache_clear()
