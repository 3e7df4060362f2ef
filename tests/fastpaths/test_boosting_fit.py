"""The short way to fit histogram boosting: scikit-learn's bits, or scikit-learn itself."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

from replearn import compat
from replearn.execution.fitting import Block, fit_one_block
from replearn.fastpaths import boosting_fit
from replearn.fastpaths.boosting_fit import bin_thresholds, fit_plain_boosting


def sample(seed, n=250, n_classes=2):
    """Columns of many values, of few, of missing ones, of one, with ties, and of two far values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 7)) * 10.0 ** rng.integers(-3, 4, size=7)
    score = X[:, 0] / np.abs(X[:, 0]).max() + rng.normal(size=n) / 2
    X[:, 1] = rng.integers(0, 4, n)
    X[rng.random(n) < 0.2, 2] = np.nan
    X[:, 3] = 1.0
    X[:, 4] = np.where(rng.random(n) < 0.6, 0.0, X[:, 4])
    X[0, 5] = np.inf
    X[1, 5] = -np.inf
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return X, y


def assert_same_model(ours, theirs):
    assert vars(ours).keys() == vars(theirs).keys()
    for mine, their in zip(ours._predictors, theirs._predictors, strict=True):
        for tree, expected in zip(mine, their, strict=True):
            assert type(tree) is type(expected)
            assert vars(tree).keys() == vars(expected).keys()
            for name, value in vars(expected).items():
                found = getattr(tree, name)
                assert (found.dtype, found.shape) == (value.dtype, value.shape), name
                assert found.tobytes() == value.tobytes(), name
    assert ours._baseline_prediction.tobytes() == theirs._baseline_prediction.tobytes()
    assert ours.train_score_.tobytes() == theirs.train_score_.tobytes()
    assert ours.validation_score_.tobytes() == theirs.validation_score_.tobytes()
    assert_same_bins(ours._bin_mapper, theirs._bin_mapper)


def assert_same_bins(ours, theirs):
    assert type(ours) is type(theirs)
    assert vars(ours).keys() == vars(theirs).keys()
    assert ours.get_params().keys() == theirs.get_params().keys()
    assert ours.missing_values_bin_idx_ == theirs.missing_values_bin_idx_
    for name in ("is_categorical_", "n_bins_non_missing_"):
        found, expected = getattr(ours, name), getattr(theirs, name)
        assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())
    for found, expected in zip(ours.bin_thresholds_, theirs.bin_thresholds_, strict=True):
        assert (found.dtype, found.tobytes()) == (expected.dtype, expected.tobytes())


def test_the_short_way_is_open_with_the_pinned_versions():
    assert boosting_fit._same_bits_here()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"max_bins": 20, "min_samples_leaf": 3},
        {"max_leaf_nodes": None, "min_samples_leaf": 1, "learning_rate": 1.0},
        {"max_leaf_nodes": 4},
        {"max_depth": 2},
        {"max_depth": 1, "l2_regularization": 3.0},
        {"max_features": 0.5},
        {"min_samples_leaf": 130},
        {"early_stopping": True, "n_iter_no_change": 2},
        {"early_stopping": True, "scoring": "accuracy"},
        {"class_weight": "balanced"},
        {"categorical_features": None},
    ],
    ids=str,
)
def test_every_tree_has_the_bits_of_scikit_learn(params, n_classes):
    for seed in range(3):
        X, y = sample(seed, n_classes=n_classes)
        model = HistGradientBoostingClassifier(max_iter=8, random_state=seed, **params)
        ours, theirs = clone(model), clone(model)
        assert fit_plain_boosting(ours, X, y)
        assert_same_model(ours, theirs.fit(X, y))
        assert ours.predict_proba(X).tobytes() == theirs.predict_proba(X).tobytes()


@pytest.mark.parametrize(("n", "max_bins"), [(1200, 255), (700, 63), (40, 255), (300, 2)])
def test_bins_have_the_bits_of_scikit_learn(n, max_bins):
    find = compat.boosting_parts().find_thresholds
    for seed in range(5):
        X, _ = sample(seed, n=n)
        expected = [find(column, max_bins) for column in X.T]
        for found, column in zip(bin_thresholds(X, max_bins), expected, strict=True):
            assert (found.dtype, found.tobytes()) == (column.dtype, column.tobytes())


def test_a_table_that_says_nothing_gives_trees_of_one_leaf():
    table = np.zeros((50, 2))
    y = np.arange(50) % 2
    ours, theirs = (HistGradientBoostingClassifier(max_iter=2) for _ in range(2))
    assert fit_plain_boosting(ours, table, y)
    assert_same_model(ours, theirs.fit(table, y))


def test_numbers_of_other_types_are_converted_by_scikit_learn():
    X, y = sample(0)
    for table in (X.astype(np.float32), np.asfortranarray(X), X.astype(object)):
        ours, theirs = (HistGradientBoostingClassifier(max_iter=2) for _ in range(2))
        labels = np.array(["no", "yes"])[y]
        assert fit_plain_boosting(ours, table, labels)
        assert_same_model(ours, theirs.fit(table, labels))


def test_a_model_can_be_pickled_and_fitted_again():
    X, y = sample(0)
    ours = HistGradientBoostingClassifier(max_iter=3)
    assert fit_plain_boosting(ours, X, y)
    again = pickle.loads(pickle.dumps(ours))
    assert again.predict_proba(X).tobytes() == ours.predict_proba(X).tobytes()
    assert not fit_plain_boosting(ours, X, y)  # what an earlier fit left is not looked at
    assert_same_model(ours.fit(X, y), again)


def test_pipelines_are_fitted_to_the_bits_of_scikit_learn():
    X, y = sample(0)
    X[np.isinf(X)] = 0.0
    model = make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=3))
    ours, theirs = clone(model), clone(model)
    assert fit_plain_boosting(ours, X, y)
    assert_same_model(ours[-1], theirs.fit(X, y)[-1])
    assert not fit_plain_boosting(clone(model).set_params(verbose=True), X, y)


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(monotonic_cst=[1, 0, 0, 0, 0, 0, 0]),
        HistGradientBoostingClassifier(interaction_cst="pairwise"),
        HistGradientBoostingClassifier(categorical_features=[1]),
        HistGradientBoostingClassifier(warm_start=True),
        HistGradientBoostingRegressor(),
        type("Mine", (HistGradientBoostingClassifier,), {})(),
    ],
    ids=repr,
)
def test_other_models_are_left_to_scikit_learn(model):
    before = dict(vars(model))
    assert not fit_plain_boosting(model, *sample(0))
    assert vars(model) == before


@pytest.mark.parametrize("kind", [pd.DataFrame, sparse.csr_array, np.ndarray.tolist], ids=str)
def test_other_tables_are_left_to_scikit_learn(kind):
    X, y = sample(0)
    model = HistGradientBoostingClassifier()
    assert not fit_plain_boosting(model, kind(X), y)
    assert not hasattr(model, "classes_")


def test_errors_are_those_of_scikit_learn():
    X, y = sample(0)
    block = Block(X, y, {}, "block 0", faster=[fit_plain_boosting])
    with pytest.raises(InvalidParameterError, match=r"block 0.*'max_bins'"):
        fit_one_block(HistGradientBoostingClassifier(max_bins=1), block)
    text = Block(X.astype(str), y, {}, "block 0", faster=[fit_plain_boosting])
    text.X[0, 0] = "word"
    with (
        pytest.raises(ValueError, match="could not convert string to float"),
        config_context(skip_parameter_validation=True),
    ):
        fit_one_block(HistGradientBoostingClassifier(), text)


@pytest.mark.parametrize("name", ["_BinMapper", "TreeGrower", "_update_raw_predictions"])
def test_a_part_that_scikit_learn_does_not_use_is_not_replaced(name):
    model = HistGradientBoostingClassifier()
    with pytest.raises(AttributeError, match=f"{name}_that_moved"):
        compat.boosting_parts().fit(model, *sample(0), **{f"{name}_that_moved": None})


@pytest.mark.parametrize(
    ("name", "other"),
    [("MIN_HESSIAN", 1e3), ("_threshold_positions", lambda n, max_bins: np.arange(1.0, max_bins))],
)
def test_other_bits_close_the_short_way(name, other, monkeypatch):
    monkeypatch.setattr(boosting_fit, name, other)
    boosting_fit._same_bits_here.cache_clear()
    try:
        assert not fit_plain_boosting(HistGradientBoostingClassifier(), *sample(0))
    finally:
        boosting_fit._same_bits_here.cache_clear()
