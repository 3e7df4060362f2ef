"""Explanations for the person who gets the prediction: features, firmness, no thresholds."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from replearn import (
    IncumbentClassifier,
    PointwiseReplicableClassifier,
    ScoreReplicableClassifier,
)
from replearn.learners import reasons as module
from replearn.learners.reasons import reasons

KINDS = [PointwiseReplicableClassifier, ScoreReplicableClassifier]
NAMES = ["duration", "income", "noise"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = np.where(X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=1500) > 0, "denied", "approved")
    return X, y


def fitted(kind, X, y, base=None, **params):
    base = LogisticRegression() if base is None else base
    return kind(base, n_blocks=20, n_partitions=1, shared_key="k", **params).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_features_are_named_with_the_persons_values(kind, data):
    X, y = data
    frame = pd.DataFrame(X, columns=NAMES)
    model = fitted(kind, frame, y)
    people = pd.DataFrame([[3.0, -0.5, 0.1], [3.0, 1.5, 0.1]], columns=NAMES)
    explained = model.explain(people, style="plain", reference=frame[:60])
    first, second = explained.sentences()
    assert first.startswith("The prediction is denied. What spoke most for it, compared with 60")
    assert "compared with 60 other cases: duration (3), income (-0.5)." in first
    assert "against" not in first
    assert "other cases: duration (3). What spoke most against it: income (1.5)." in second
    assert "firm" in first
    assert explained.frame()["against"].tolist() == ["", "income (1.5)"]
    assert explained.reasons.contributions.shape == (2, 3)
    assert "spoke" not in str(model.explain(people, style="plain"))


def test_contributions_of_a_linear_score_are_coefficient_times_difference():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4, 3))
    reference = rng.normal(size=(30, 3))
    weights = np.array([0.1, -0.3, 0.0])

    def score(rows):
        return np.column_stack([1 - rows @ weights, rows @ weights])

    predicted = np.array([0, 1, 1, 0])
    found = reasons(score, X, predicted, reference).contributions
    signs = np.where(predicted == 1, 1.0, -1.0)
    expected = signs[:, None] * weights * (X - reference.mean(axis=0))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_each_person_is_explained_alone(kind, data):
    X, y = data
    model = fitted(kind, X, y)
    told = list(model.explain(X[:8], style="plain", reference=X[100:120]).sentences())
    for row in range(8):
        alone = model.explain(X[row : row + 1], style="plain", reference=X[100:120])
        assert str(alone) == told[row]


@pytest.mark.parametrize(
    "container",
    [
        np.asarray,
        lambda X: pd.DataFrame(X, columns=NAMES),
        lambda X: pl.DataFrame(X, schema=NAMES),
        sparse.csr_matrix,
    ],
    ids=["array", "pandas", "polars", "sparse"],
)
def test_tables_of_every_kind(container, data):
    X, y = data
    base = LogisticRegression()
    if container is sparse.csr_matrix or container is np.asarray:
        base = make_pipeline(StandardScaler(with_mean=False), base)
    rows = container(X)
    model = fitted(PointwiseReplicableClassifier, rows, y, base)
    people = container(X[:3])
    found = model.explain(people, style="plain", reference=container(X[50:60])).reasons
    np.testing.assert_array_equal(np.abs(found.contributions).argmax(axis=1) < 2, True)
    assert found.n_reference == 10


def test_several_classes_and_no_probabilities(data):
    X, _ = data
    y = X.argmax(axis=1)
    model = fitted(PointwiseReplicableClassifier, X, y, GaussianNB(), rho=0.3)
    person = np.array([[0.0, 3.0, 0.0]])
    explained = model.explain(person, style="plain", reference=X[:40])
    assert explained.reasons.spoke_for(0)[0] == "feature 1 (3)"
    votes = fitted(PointwiseReplicableClassifier, X, y == 1, LinearSVC())
    found = votes.explain(person, style="plain", reference=X[:40]).reasons
    assert found.spoke_for(0)[0] == "feature 1 (3)"


def test_a_first_model_claims_no_agreement_with_an_earlier_one(data):
    X, y = data
    may = IncumbentClassifier(LogisticRegression()).fit(X[:700], y[:700])
    assert "no earlier prediction to keep" in str(may.explain(X[:3]))
    plain = str(may.explain(X[:3], style="plain"))
    assert "how firm it is was not measured" in plain
    assert "earlier and latest data" not in plain


def test_an_incumbent_says_what_the_last_training_did(data):
    X, y = data
    frame = pd.DataFrame(X, columns=NAMES)
    may = IncumbentClassifier(LogisticRegression()).fit(frame[:700], y[:700])
    june = IncumbentClassifier(LogisticRegression(), incumbent=may, memory=0.2, band=0.15)
    june.fit(frame[700:1400], y[700:1400])
    analyst = june.explain(frame)
    plain = june.explain(frame, style="plain", reference=frame[:40])
    texts = np.array(list(plain.sentences()))
    for words, expected in (
        ("Before the last training it was", analyst.changed),
        ("It is close: the latest data lean to", analyst.kept_because == "band"),
        (
            "It is firm: earlier and latest data",
            (analyst.kept_because == "agreement") & (analyst.margin > analyst.band),
        ),
        (
            "It is close, and would change only",
            (analyst.kept_because == "agreement") & (analyst.margin <= analyst.band),
        ),
    ):
        np.testing.assert_array_equal([words in text for text in texts], expected)
    assert (analyst.kept_because == "band").any()
    assert not any("margin" in text for text in texts)
    person = pd.DataFrame([[3.0, -0.5, 0.1]], columns=NAMES)
    told = str(june.explain(person, style="plain", reference=frame[:60]))
    assert "What spoke most for it, compared with 60 other cases: duration (3)" in told
    assert june.explain(person, style="plain", reference=frame[:60]).frame()["against"][0] == ""
    assert "spoke" not in str(june.explain(person, style="plain"))
    with pytest.raises(ValueError, match='reference requires style="plain"'):
        june.explain(person, reference=frame[:60])


def test_reference_rows_are_thinned_evenly(data, monkeypatch):
    monkeypatch.setattr(module, "MAX_REFERENCE", 5)
    seen = []

    def score(rows):
        seen.append(rows.copy())
        return np.full((len(rows), 2), 0.5)

    reference = np.arange(9.0)[:, None]
    found = reasons(score, np.array([[-1.0]]), np.array([0]), reference)
    assert seen[1][:, 0].tolist() == [0, 2, 4, 6, 8]
    assert found.spoke_for(0) == found.spoke_against(0) == []


def test_no_random_number_is_in_the_text(data):
    X, y = data
    X = pd.DataFrame(X, columns=NAMES)
    model = fitted(PointwiseReplicableClassifier, X, y)
    analyst = model.explain(X)
    plain = model.explain(X, style="plain", reference=X[:5])
    texts = list(plain.sentences())
    overruled = np.flatnonzero(analyst.overruled)
    assert len(overruled)
    for row in overruled:
        assert "close cases are decided by lot" in texts[row]
    for row, text in enumerate(texts):
        without_values = re.sub(r"\([^()]*\)", "", text)
        numbers = set(re.findall(r"\d[\d,.]*\d|\d", without_values)) - {"5", "100", "1,000"}
        same = round(100 * (1 - analyst.flip_probability[row]))
        assert numbers <= {str(min(99, max(1, same)))}


def test_a_point_that_has_labels_of_its_own_is_said_to_be_one():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (20_000, 1)).astype(float)
    y = np.where(rng.random(20_000) < 0.9, X[:, 0], 1 - X[:, 0])
    model = PointwiseReplicableClassifier(
        GaussianNB(), rho=0.3, alpha=0.3, beta=0.1, max_fits=60, shared_key="k"
    ).fit(X, y)
    assert model.explain(X[:1]).stage.tolist() == ["heavy"]
    told = str(model.explain(X[:1], style="plain", reference=X[:3]))
    assert "Earlier cases that are equal to this one" in told
    assert "spoke" not in told


def test_what_cannot_be_explained_is_refused(data):
    X, y = data
    model = fitted(PointwiseReplicableClassifier, X, y)
    with pytest.raises(ValueError, match='reference requires style="plain"'):
        model.explain(X[:1], reference=X[:5])
    with pytest.raises(ValueError, match="0 sample"):
        model.explain(X[:1], style="plain", reference=X[:0])
    with pytest.raises(ValueError, match="reference has no rows"):
        reasons(lambda rows: rows, X[:1], np.array([0]), X[:0])
    with pytest.raises(ValueError, match="features"):
        model.explain(X[:1], style="plain", reference=X[:5, :2])
    with pytest.raises(ValueError, match="reference requires a table"):
        reasons(lambda rows: np.zeros((len(rows), 2)), ["a"], np.array([0]), ["b"])
