"""Trees behind encoders get the very bits that the transformers of their pipelines give them."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn.execution.plugins import BlockModel
from replearn.execution.voting import BlockEnsemble, groups_of_models
from replearn.fastpaths import pipelines
from replearn.fastpaths.pipelines import EncodedPredictor, FoldedPredictor, PipelinePredictor
from replearn.tables.rows import slice_rows

N, BLOCKS = 240, 3
CODES = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
LEVELS = OneHotEncoder(handle_unknown="ignore")
FILLED = SimpleImputer(strategy="most_frequent")
STEPS = {
    "codes": make_column_transformer((CODES, ["town", "code"]), remainder="passthrough"),
    "codes of missing": make_column_transformer(
        (clone(CODES).set_params(encoded_missing_value=-2), ["town"]), ("passthrough", ["pay"])
    ),
    "levels": make_column_transformer((LEVELS, ["town", "code"]), ("passthrough", ["pay"])),
    "filled": make_column_transformer(
        (SimpleImputer(), ["age", "pay"]), (make_pipeline(FILLED, CODES), ["town"])
    ),
}
TREES = {
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": ExtraTreesClassifier(5, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5),
}


@cache
def people():
    generator = np.random.default_rng(0)
    towns = np.array(["Ulm", "Rom", "Oslo", "Bern"], dtype=object)
    frame = pd.DataFrame(
        {
            "age": np.where(generator.random(N) < 0.1, np.nan, generator.normal(40, 9, N)),
            "pay": generator.normal(size=N) * 1e3,
            "town": np.where(generator.random(N) < 0.1, np.nan, generator.choice(towns, N)),
            "code": generator.integers(0, 30, N),
        }
    )
    y = (frame["pay"] + 300 * (frame["code"] % 2) + generator.normal(size=N) * 500 > 0).to_numpy()
    return frame, y.astype(int)


@cache
def fit(step, tree="tree", polars=False):
    X, y = people()
    table = pl.from_pandas(X, nan_to_null=False) if polars else X
    size, models = N // BLOCKS, []
    for start in range(0, N, size):  # small blocks: most miss some levels
        model = clone(make_pipeline(STEPS[step], TREES[tree]))
        models.append(model.fit(slice_rows(table, start, start + size), y[start : start + size]))
    return models, table


def predictors(models, soft=False):
    block_models = [BlockModel(model, 0, np.arange(2)) for model in models]
    return groups_of_models(block_models, soft=soft)


def strange(X):
    """Levels that no block has seen, and cells that are missing."""
    X = X.astype({"town": object})
    X.loc[0, "town"], X.loc[1, "town"], X.loc[2, "town"] = "Atlantis", None, np.nan
    X.loc[3, "code"], X.loc[4, "age"] = 99, np.nan
    return X


@pytest.mark.parametrize("step", STEPS)
def test_features_have_the_bits_of_the_transformers(step):
    models, X = fit(step)
    [predictor] = predictors(models)
    assert type(predictor) is EncodedPredictor
    for table in (X, strange(X)):
        terms = sparse.csr_array(predictor.prepare(table))
        for model, ours in zip(models, predictor._features(terms), strict=True):
            theirs = model[:-1].transform(table)
            theirs = theirs.toarray() if sparse.issparse(theirs) else theirs
            assert ours.tobytes() == np.asarray(theirs, float).tobytes()


@pytest.mark.parametrize("polars", [False, True])
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("step", ["codes", "filled"])
def test_votes_and_probabilities_are_those_of_the_pipelines(step, tree, polars):
    models, X = fit(step, tree, polars)
    assert [type(predictor) for predictor in predictors(models)] == [EncodedPredictor]
    panel = BlockEnsemble(models, [0, 1])
    votes = sum(model.predict(X) for model in models)
    np.testing.assert_array_equal(panel.vote_counts(X)[:, 0], votes)
    own = np.mean([model.predict_proba(X)[:, 1] for model in models], axis=0)
    np.testing.assert_allclose(panel.soft_scores(X)[:, 0], own, rtol=1e-12)
    whole = panel.soft_scores(X)
    for start, stop in ((0, 1), (5, 12)):
        part = panel.soft_scores(slice_rows(X, start, stop))
        assert part.tobytes() == whole[start:stop].tobytes()


def test_what_a_pipeline_refuses_is_refused_in_its_words():
    models, X = fit("filled")
    with pytest.raises(ValueError, match=r"columns are missing.*town"):
        BlockEnsemble(models, [0, 1]).vote_counts(X.drop(columns="town"))
    with pytest.raises(ValueError, match="infinity"):
        BlockEnsemble(models, [0, 1]).vote_counts(X.assign(pay=np.inf))


@pytest.mark.parametrize(
    "step",
    [
        make_column_transformer((StandardScaler(), ["pay"])),  # rounded
        make_column_transformer((OrdinalEncoder(), ["code"])),  # refuses unknown levels
        make_column_transformer(
            (clone(CODES).set_params(unknown_value=np.nan), ["code"]), ("passthrough", ["pay"])
        ),
        make_column_transformer((SimpleImputer(), ["pay"])).set_output(transform="pandas"),
    ],
    ids=["scaler", "strict codes", "unknown is missing", "frames inside"],
)
def test_what_is_not_surely_exact_is_asked_one_by_one(step):
    X, y = people()
    model = make_pipeline(step, DecisionTreeClassifier()).fit(X, y)
    assert [type(predictor) for predictor in predictors([model])] == [PipelinePredictor]


def test_codes_before_a_linear_model_are_folded():
    X, y = people()
    for column, steps in (("code", ()), ("town", (FILLED,))):
        encode = make_column_transformer((CODES, [column]))
        model = make_pipeline(encode, *steps, LogisticRegression()).fit(X, y)
        assert [type(predictor) for predictor in predictors([model])] == [FoldedPredictor]
        votes = BlockEnsemble([model], [0, 1]).vote_counts(X)[:, 0]
        np.testing.assert_array_equal(votes, model.predict(X))


def test_too_many_levels_are_asked_one_by_one(monkeypatch):
    models, X = fit("codes")
    together = BlockEnsemble(models, [0, 1]).vote_counts(X)
    monkeypatch.setattr(pipelines, "MAX_WEIGHTS", 50)
    assert [type(predictor) for predictor in predictors(models)] == [PipelinePredictor]
    np.testing.assert_array_equal(BlockEnsemble(models, [0, 1]).vote_counts(X), together)
