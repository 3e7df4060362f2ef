"""Trees behind the encoder of mixed tables vote as if each encoder were asked by itself."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn.execution.plugins import BlockModel
from replearn.execution.voting import BlockEnsemble, groups_of_models
from replearn.fastpaths import pipelines
from replearn.fastpaths.pipelines import EncodedPredictor, PipelinePredictor
from replearn.tables.encoder import TableEncoder
from replearn.tables.rows import slice_rows

N, BLOCKS = 240, 3
COLUMNS = {
    "age": "number",
    "pay": "number",
    "written": "number",
    "same": "number",
    "town": "text",
    "empty": "text",
    "born": "date",
    "story": "text",
}
LAST = {
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(5, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5),
    "dummy": DummyClassifier(),
}


@cache
def people():
    """Mix all kinds of columns; the first blocks know no 'Atlantis' and no large number."""
    generator = np.random.default_rng(0)

    def gaps(values, share=0.1):
        return np.where(generator.random(N) < share, None, values)

    days = np.datetime64("1990-01-01T06:00", "us") + np.arange(N) * np.timedelta64(37, "h")
    days[::11] = np.datetime64("NaT")
    pay = generator.normal(size=N) * 1e3
    frame = pd.DataFrame(
        {
            "age": gaps(generator.normal(40, 9, N)).astype(float),
            "pay": pay,
            "written": gaps(np.array([f"{value:.2f}" for value in pay * 2])),
            "same": np.full(N, 7.5),
            "town": gaps(generator.choice(np.array(["Ulm", "Rom", "Oslo", "Bern"], object), N)),
            "empty": np.full(N, None),
            "born": days,
            "story": gaps(generator.choice(["to be or not", "a b c d", "not a word of it"], N)),
        }
    )
    frame["town"] = frame["town"].where(np.arange(N) % 97 > 0, [f"village {i}" for i in range(N)])
    y = (pay + 400 * (frame["town"] == "Ulm") + generator.normal(size=N) * 500 > 0).to_numpy()
    return frame, y.astype(int)


def strange():
    """What the blocks did not see: new levels, gaps where there were none, numbers too large."""
    X, _ = people()
    X = X.copy()
    X.loc[0, "town"], X.loc[1, "town"], X.loc[2, "empty"] = "Atlantis", None, "full"
    X.loc[3:6, "pay"] = [np.inf, -np.inf, 1e200, np.nan]
    X.loc[7:8, "same"] = [np.nan, -0.0]
    X.loc[9, "story"], X.loc[10, "story"] = "", "something else altogether, and Ulm"
    X.loc[11, "written"] = "1e39"
    return X


def as_container(X, polars):
    return pl.from_pandas(X, nan_to_null=False) if polars else X


@cache
def fit(last="tree", polars=False):
    X, y = people()
    table, size, models = as_container(X, polars), N // BLOCKS, []
    for start in range(0, N, size):
        model = make_pipeline(TableEncoder(COLUMNS, for_trees=True), clone(LAST[last]))
        models.append(model.fit(slice_rows(table, start, start + size), y[start : start + size]))
    return models


def block_models(models):
    return [BlockModel(model, 0, np.arange(2)) for model in models]


def kinds(models, soft=False):
    return [type(predictor) for predictor in groups_of_models(block_models(models), soft=soft)]


@pytest.mark.parametrize("polars", [False, True])
def test_features_have_the_bits_of_the_encoders(polars):
    models, X = fit(polars=polars), as_container(strange(), polars)
    [predictor] = groups_of_models(block_models(models))
    terms = sparse.csr_array(predictor.prepare(X))
    for model, ours in zip(models, predictor._features(terms), strict=True):
        theirs = model[0].transform(X) + 0.0  # no tree tells -0.0 from 0.0
        assert ours.tobytes() == theirs.tobytes()
    assert np.isnan(theirs).any()
    assert (theirs == -1).any()
    assert np.nanmax(theirs) > 1e38


@pytest.mark.parametrize("polars", [False, True])
@pytest.mark.parametrize("last", LAST)
def test_votes_and_probabilities_are_those_of_the_pipelines_one_by_one(last, polars, monkeypatch):
    models, X = fit(last, polars), as_container(strange(), polars)
    assert kinds(models) == kinds(models, soft=True) == [EncodedPredictor]
    one_by_one = np.zeros((N, 1, 2))
    PipelinePredictor(block_models(models), [], True).add_probabilities(X, one_by_one)
    votes = sum(model.predict(X) for model in models)
    for rows, cells in ((6144, 2**18), (100, 1), (50, 500)):
        monkeypatch.setattr(pipelines, "ROWS_PER_CHUNK", rows)
        monkeypatch.setattr(pipelines, "CELLS_AT_ONCE", cells)
        panel = BlockEnsemble(models, [0, 1])
        np.testing.assert_array_equal(panel.vote_counts(X)[:, 0], votes)
        shares = panel.soft_scores(X)
        assert shares.tobytes() == (one_by_one[:, :, 1] / BLOCKS).tobytes()
        for start, stop in ((0, 1), (3, 12)):
            part = slice_rows(X, start, stop)
            np.testing.assert_array_equal(panel.vote_counts(part)[:, 0], votes[start:stop])
            assert panel.soft_scores(part).tobytes() == shares[start:stop].tobytes()


@pytest.mark.parametrize("last", ["tree", "boosting"])
def test_workers_change_no_bit(last, monkeypatch):
    monkeypatch.setattr("replearn.execution.voting.MIN_ROWS_PER_TASK", 1)
    models = fit(last)
    X = pd.concat([strange()] * 5, ignore_index=True)  # more than one worker is given at a time
    panel = BlockEnsemble(models, [0, 1])
    votes = sum(model.predict(X) for model in models)
    np.testing.assert_array_equal(panel.vote_counts(X, n_jobs=2)[:, 0], votes)
    assert panel.soft_scores(X, n_jobs=2).tobytes() == panel.soft_scores(X).tobytes()


def test_what_an_encoder_refuses_is_refused_in_its_words():
    X, _ = people()
    panel = BlockEnsemble(fit(), [0, 1])
    with pytest.raises(KeyError, match="town"):
        panel.vote_counts(X.drop(columns="town"))
    with pytest.raises(ValueError, match="could not convert string to float: 'much'"):
        panel.vote_counts(X.assign(pay="much"))
    with pytest.raises(IndexError, match="only integers"):
        panel.vote_counts(X.to_numpy())


def test_columns_named_by_numbers_are_found_by_name():
    X, y = people()
    X = X[["pay", "age"]].set_axis([1, 0], axis=1)  # the first is not the one that is called 0
    for last, for_trees in ((LogisticRegression(), False), (LAST["tree"], True)):
        model = make_pipeline(TableEncoder(for_trees=for_trees), last).fit(X, y)
        assert kinds([model]) == [PipelinePredictor]
        votes = BlockEnsemble([model], [0, 1]).vote_counts(X)[:, 0]
        np.testing.assert_array_equal(votes, model.predict(X))


def test_columns_of_one_name_are_asked_one_by_one():
    X, y = people()
    X = X[["pay", "same"]].set_axis(["pay", "pay"], axis=1)
    model = make_pipeline(TableEncoder({"pay": "number"}, for_trees=True), LAST["tree"]).fit(X, y)
    assert kinds([model]) == [PipelinePredictor]


def test_an_encoder_of_changed_columns_is_asked_itself():
    X, y = people()
    X = X[["pay", "same"]]
    scaler = StandardScaler().set_output(transform="pandas")
    for last, for_trees in ((LogisticRegression(), False), (LAST["tree"], True)):
        model = make_pipeline(scaler, TableEncoder(for_trees=for_trees), last).fit(X, y)
        assert kinds([model]) == [PipelinePredictor]
        votes = BlockEnsemble([model], [0, 1]).vote_counts(X)[:, 0]
        np.testing.assert_array_equal(votes, model.predict(X))


def test_an_encoder_of_some_columns_reads_these():
    X, y = people()
    encode = make_column_transformer((TableEncoder(for_trees=True), ["town", "pay"]))
    model = make_pipeline(encode, LAST["tree"]).fit(X, y)
    assert kinds([model]) == [EncodedPredictor]
    votes = BlockEnsemble([model], [0, 1]).vote_counts(strange())[:, 0]
    np.testing.assert_array_equal(votes, model.predict(strange()))


def test_too_many_levels_are_asked_one_by_one(monkeypatch):
    models = fit()
    together = BlockEnsemble(models, [0, 1]).vote_counts(strange())
    monkeypatch.setattr(pipelines, "MAX_WEIGHTS", 50)
    assert kinds(models) == [PipelinePredictor]
    np.testing.assert_array_equal(BlockEnsemble(models, [0, 1]).vote_counts(strange()), together)


def test_blocks_that_know_different_columns_vote_together():
    X, y = people()
    X = X[["pay", "town"]].copy()
    X.loc[: N // 2, "town"] = None
    models = [
        make_pipeline(TableEncoder(for_trees=True), clone(LAST["boosting"])).fit(X[rows], y[rows])
        for rows in (slice(0, N // 2), slice(N // 2, N))
    ]
    assert [model[0].transform(X).shape[1] for model in models] == [1, 2]
    assert kinds(models) == [EncodedPredictor]
    votes = BlockEnsemble(models, [0, 1]).vote_counts(X)[:, 0]
    np.testing.assert_array_equal(votes, sum(model.predict(X) for model in models))
