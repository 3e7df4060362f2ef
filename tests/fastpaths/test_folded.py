"""Folded pipelines vote as the pipelines do, except where a score is zero up to rounding."""

import datetime
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from replearn.execution.plugins import BlockModel
from replearn.execution.voting import BlockEnsemble, groups_of_models
from replearn.fastpaths import pipelines
from replearn.fastpaths.linear import LinearPredictor
from replearn.fastpaths.pipelines import FoldedPredictor, PipelinePredictor
from replearn.tables.encoder import TableEncoder
from replearn.tables.rows import slice_rows

N, BLOCKS = 240, 3
ROUNDING = 1e-9


def arrays(seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(N, 6)) * [1, 10, 1e3, 1, 1, 1] + [0, 5, 2e3, 0, 0, 0]
    X[:, 4:] = generator.integers(0, 9, size=(N, 2))
    y = (X[:, 0] + X[:, 1] / 10 + (X[:, 4] > 5) + generator.normal(size=N) > 1).astype(int)
    return X, y


def with_gaps(X):
    X = X.copy()
    X[np.random.default_rng(1).random(X.shape) < 0.15] = np.nan
    return X


def frame():
    X, _ = arrays()
    generator = np.random.default_rng(2)
    towns = np.array(["Ulm", "Rom", "Oslo", "Bern", "Lodz"], dtype=object)
    start = datetime.datetime(2020, 1, 1, 7)
    return pd.DataFrame(
        {
            "age": with_gaps(X)[:, 0],
            "pay": X[:, 2],
            "town": np.where(
                generator.random(N) < 0.1, np.nan, towns[generator.integers(5, size=N)]
            ),
            "code": X[:, 4].astype(int),
            "day": [
                start + datetime.timedelta(hours=int(h)) for h in generator.integers(9999, size=N)
            ],
            "note": [f"paid {int(x)} at the {t}" for x, t in zip(X[:, 1], X[:, 4], strict=True)],
        }
    )


ONE_HOT = OneHotEncoder(handle_unknown="ignore")
NUMBERS = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
FILLED_ONE_HOT = make_pipeline(SimpleImputer(strategy="most_frequent"), ONE_HOT)
FOLDABLE = {
    "standard": ("array", StandardScaler()),
    "standard, no mean": ("array", StandardScaler(with_mean=False)),
    "standard, no spread": ("array", StandardScaler(with_std=False)),
    "two scalers": (
        "array",
        make_pipeline(StandardScaler(with_mean=False), "passthrough", StandardScaler()),
    ),
    "fill, scale": ("gaps", NUMBERS),
    "scale, fill": ("gaps", make_pipeline(StandardScaler(), SimpleImputer())),
    "fill by a constant": ("gaps", SimpleImputer(strategy="constant", fill_value=-7)),
    "nothing": ("array", make_pipeline(FunctionTransformer(), StandardScaler())),
    "one hot": ("codes", ONE_HOT),
    "one hot, first dropped": ("codes", OneHotEncoder(handle_unknown="ignore", drop="first")),
    "one hot with gaps": ("code gaps", ONE_HOT),
    "one hot, filled": (
        "code gaps",
        make_pipeline(SimpleImputer(strategy="most_frequent"), ONE_HOT),
    ),
    "columns by position": (
        "gaps",
        make_column_transformer((NUMBERS, [0, 1, -4]), (ONE_HOT, slice(4, 6)), remainder="drop"),
    ),
    "columns by mask": (
        "array",
        make_column_transformer(
            (StandardScaler(), np.array([True, True, False, False, False, False])),
            remainder="passthrough",
        ),
    ),
    "columns by name": (
        "frame",
        make_column_transformer(
            (NUMBERS, ["age", "pay"]), (FILLED_ONE_HOT, ["town"]), (ONE_HOT, ["code"])
        ),
    ),
    "columns by type": (
        "frame",
        ColumnTransformer(
            [
                ("n", NUMBERS, make_column_selector(dtype_include=np.number)),
                ("t", ONE_HOT, ["town"]),
                ("d", "drop", ["day", "note"]),
            ]
        ),
    ),
    "table": ("frame", TableEncoder()),
    "table in polars": ("polars", TableEncoder()),
    "names in polars": (
        "polars",
        make_column_transformer((NUMBERS, ["age", "pay"]), (ONE_HOT, ["town", "code"])),
    ),
    "sparse": ("sparse", StandardScaler(with_mean=False)),
}


@cache
def tables():
    X, y = arrays()
    people = frame()
    codes = X[:, 4:]
    kinds = {
        "array": X,
        "gaps": with_gaps(X),
        "codes": codes,
        "code gaps": with_gaps(codes),
        "sparse": sparse.csr_array(np.where(X > 2, X, 0.0)),
        "frame": people,
        "polars": pl.from_pandas(people, nan_to_null=False),
    }
    return kinds, y


@cache
def fit(name, last=None, classes=2):
    kind, step = FOLDABLE[name]
    kinds, y = tables()
    y = y + (classes > 2) * (np.arange(N) % 3 == 0)
    X = kinds[kind]
    size = N // BLOCKS
    models = []
    for block in range(BLOCKS):  # small blocks: most miss some levels
        rows = slice_rows(X, block * size, (block + 1) * size)
        model = clone(make_pipeline(step, last or LogisticRegression(tol=1e-2, max_iter=1000)))
        models.append(model.fit(rows, y[block * size : (block + 1) * size]))
    return models, X


def kinds(models, soft=False):
    block_models = [BlockModel(model, 0, np.arange(len(model.classes_))) for model in models]
    return [type(predictor) for predictor in groups_of_models(block_models, soft=soft)]


@pytest.mark.parametrize("name", FOLDABLE)
def test_votes_and_probabilities_are_those_of_the_pipelines(name):
    models, X = fit(name)
    assert kinds(models) == [FoldedPredictor]
    panel = BlockEnsemble(models, [0, 1])
    own = np.array([model.predict_proba(X)[:, 1] for model in models])
    np.testing.assert_allclose(panel.soft_scores(X)[:, 0], own.mean(axis=0), atol=ROUNDING)
    clear = (np.abs(own - 0.5) > ROUNDING).all(axis=0)
    votes = sum(model.predict(X) for model in models)
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(panel.vote_counts(X)[clear, 0], votes[clear])


@pytest.mark.parametrize("last", [RidgeClassifier(), SGDClassifier(random_state=0)])
def test_other_linear_models(last):
    models, X = fit("fill, scale", last)
    own = np.array([model.decision_function(X) for model in models])
    clear = (np.abs(own) > ROUNDING).all(axis=0)
    votes = (own > 0).sum(axis=0)
    np.testing.assert_array_equal(
        BlockEnsemble(models, [0, 1]).vote_counts(X)[clear, 0], votes[clear]
    )


@pytest.mark.parametrize("name", ["fill, scale", "columns by name"])
def test_three_classes(name):
    models, X = fit(name, classes=3)
    own = np.mean([model.predict_proba(X) for model in models], axis=0)
    panel = BlockEnsemble(models, [0, 1, 2])
    np.testing.assert_allclose(panel.soft_scores(X)[:, 0], own, atol=ROUNDING)
    votes = [[(model.predict(X) == code) for code in range(3)] for model in models]
    np.testing.assert_array_equal(panel.vote_counts(X)[:, 0], np.sum(votes, axis=0).T)


def strange_rows():
    """Levels that no block has seen, cells that are missing in other ways."""
    people = frame().astype({"town": object})
    people.loc[0, "town"] = "Atlantis"
    people.loc[1, "town"] = None
    people.loc[2, "town"] = np.nan
    people.loc[3, "code"] = 77
    people.loc[4, "age"] = np.nan
    return people


@pytest.mark.parametrize("name", ["columns by name", "columns by type", "table"])
def test_levels_that_no_block_has_seen(name):
    models, _ = fit(name)
    people = strange_rows()
    own = np.mean([model.predict_proba(people)[:, 1] for model in models], axis=0)
    found = BlockEnsemble(models, [0, 1]).soft_scores(people)[:, 0]
    np.testing.assert_allclose(found, own, atol=ROUNDING)


def test_an_array_in_the_order_of_the_frame():
    X, y = arrays()
    named = pd.DataFrame(X, columns=list("fedcba"))
    models = [make_pipeline(StandardScaler(), LogisticRegression()).fit(named, y)] * 2
    assert kinds(models) == [FoldedPredictor]
    by_name, by_position = (
        BlockEnsemble(models, [0, 1]).soft_scores(table) for table in (named, X)
    )
    np.testing.assert_array_equal(by_position, by_name)


@pytest.mark.parametrize("name", ["fill, scale", "columns by name", "table", "one hot", "sparse"])
@pytest.mark.parametrize("size", [1, 7, 60])
def test_a_row_has_the_same_bits_in_any_batch(name, size):
    models, X = fit(name)
    panel = BlockEnsemble(models, [0, 1])
    whole = panel.soft_scores(X)
    for start in range(0, 3 * size, size):
        part = panel.soft_scores(slice_rows(X, start, start + size))
        assert part.tobytes() == whole[start : start + size].tobytes()


@pytest.mark.parametrize("cell", [np.nan, np.inf])
def test_what_a_pipeline_refuses_is_refused_in_its_words(cell):
    models, X = fit("standard")
    X = X.copy()
    X[3, 2] = cell
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        BlockEnsemble(models, [0, 1]).vote_counts(X)
    models, X = fit("columns by name")
    with pytest.raises(ValueError, match=r"columns are missing.*town"):
        BlockEnsemble(models, [0, 1]).vote_counts(X.drop(columns="town"))


def test_other_kinds_of_columns_than_in_training():
    models, X = fit("one hot")
    with pytest.raises(ValueError, match=r"other kinds of columns|could not convert"):
        BlockEnsemble(models, [0, 1]).vote_counts(np.full(X.shape, "text", dtype=object))


@pytest.mark.parametrize(
    "step",
    [
        PCA(2),
        type("Mine", (StandardScaler,), {})(),
        MinMaxScaler(clip=True),
        MaxAbsScaler(clip=True),
        FunctionTransformer(np.abs),
        SimpleImputer(add_indicator=True),
        SimpleImputer(missing_values=-1),
        OneHotEncoder(handle_unknown="ignore", max_categories=3),
        make_pipeline(StandardScaler(), PCA(2)),
        make_column_transformer((PCA(1), [0, 1]), (StandardScaler(), [2, 3])),
    ],
    ids=repr,
)
def test_what_is_not_surely_a_sum_is_not_folded(step):
    X, y = arrays()
    model = make_pipeline(step, RidgeClassifier()).fit(X.round(), y)
    assert FoldedPredictor not in kinds([model])


def test_models_that_are_not_linear_are_not_folded():
    X, y = arrays()
    tree = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(X, y)
    ridge = make_pipeline(StandardScaler(), RidgeClassifier()).fit(X, y)
    assert kinds([tree]) == [PipelinePredictor]
    assert kinds([ridge]) == [FoldedPredictor]
    assert kinds([ridge], soft=True) == [PipelinePredictor]  # it has no probabilities
    assert kinds([ridge[-1]]) == [LinearPredictor]
    assert sorted(predictor.__name__ for predictor in kinds([tree, ridge])) == [
        "FoldedPredictor",
        "PipelinePredictor",
    ]


def test_too_many_levels_are_not_folded(monkeypatch):
    models, X = fit("columns by name")
    folded = BlockEnsemble(models, [0, 1]).vote_counts(X)
    monkeypatch.setattr(pipelines, "MAX_WEIGHTS", 50)
    assert kinds(models) == [PipelinePredictor]
    np.testing.assert_array_equal(BlockEnsemble(models, [0, 1]).vote_counts(X), folded)
