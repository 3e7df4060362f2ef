"""What changes in the explanation: importances and signs whose truth is known."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replearn import DecisionThresholdClassifier, PointwiseReplicableClassifier
from replearn.auditing import audit
from replearn.auditing._contender_results import ExplanationRuns, coefficients_of, over_pairs
from replearn.tables import TableEncoder

RNG = np.random.default_rng(1)
N = 800
OPTIONS = {"n_pairs": 20, "n_jobs": 1, "sources": False, "verbose": -1}


def table(slopes, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        rng.normal(size=(N, len(slopes))), columns=[f"x{i}" for i in range(len(slopes))]
    )
    return X, (X.to_numpy() @ slopes + rng.logistic(size=N) > 0).astype(int)


def explained(estimator, X, y, **options):
    result = audit({"model": estimator}, X, y, **{**OPTIONS, **options})
    [finding] = [finding for finding in result.findings if finding.code == "RPL017"]
    return result.report.explanation, finding


def test_a_clear_explanation_does_not_change():
    found, finding = explained(LogisticRegression(), *table([3.0, -1.0]))
    assert found.columns[0].name == "x0"
    assert found.first_changes.value == 0
    assert found.first_changes.upper == pytest.approx(1 - 0.025 ** (1 / 20))  # exact
    assert found.sign_changes.value == 0
    assert finding.status == "passed"


def test_columns_of_equal_importance_and_coefficients_without_a_sign():
    """By symmetry the first column differs, and a coefficient of 0 changes its sign, half the time.

    Given the file, both are binomial; over files the probability is one half. Twenty files.
    """
    differ = []
    signs = []
    for seed in range(20):
        X, y = table([1.0, 1.0, 0.0], seed)
        found, _ = explained(LogisticRegression(), X, y, n_pairs=2, shared_key=seed)
        differ.append(found.first_changes.value * 2)
        signs += [2 * sign.value for sign in found.signs if sign.name == "x2"]
    for counts in (differ, signs):
        assert stats.binom.sf(sum(counts) - 1, 40, 0.75) > 1e-8
        assert sum(counts) > 4
    X, y = table([0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    found, finding = explained(LogisticRegression(), X, y)
    assert finding.status == "found"
    assert "most important column differs" in " ".join(finding.explanations)
    assert "change their sign" in " ".join(finding.explanations)


def test_overlap_and_ranks_by_hand():
    importances = np.array([[[3.0, 2.0, 1.0, 0.0], [3.0, 0.0, 2.0, 1.0]]] * 4)
    runs = ExplanationRuns(list("abcd"), importances, [({"a": 1.0}, {"a": -1.0, "b": 2.0})] * 4)
    found = runs.summary(0.05)
    assert found.n_top == 2
    assert found.top_overlap.value == 0.5
    assert found.top_overlap.lower < 0.5 < found.top_overlap.upper
    assert [(c.name, c.best_rank, c.worst_rank) for c in found.columns][:2] == [
        ("a", 1, 1),
        ("c", 2, 3),
    ]
    assert [(s.name, s.value, s.size) for s in found.signs] == [("a", 1.0, 1.0)]
    assert over_pairs(np.ones(4), 0.05).lower == pytest.approx(0.025 ** (1 / 4))


def test_signs_by_the_names_of_encoded_columns():
    X = pd.DataFrame(
        {"age": [30.0, 50.0, np.nan, 20.0] * 9, "town": ["Ulm", "Rom", "Ulm", "Bonn"] * 9}
    )
    y = np.array([0, 1, 0, 1] * 9)
    model = make_pipeline(TableEncoder(), LogisticRegression()).fit(X, y)
    assert list(coefficients_of(model, X)) == [
        *("age", "age missing", "town=Bonn", "town=Rom", "town=Ulm")
    ]
    scaled = make_pipeline(StandardScaler(), LogisticRegression()).fit(
        X[["age"]].fillna(0).to_numpy(), y
    )
    assert list(coefficients_of(scaled, X[["age"]].fillna(0).to_numpy())) == ["column 0"]
    wrapped = DecisionThresholdClassifier(
        make_pipeline(TableEncoder(), LogisticRegression()), threshold=0.2
    )
    assert coefficients_of(wrapped.fit(X, y), X) == coefficients_of(model, X)


@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_other_estimators(kind):
    X, y = table([2.0, 0.0])
    if kind == "labels":
        found, _ = explained(RidgeClassifier(), X, y, n_pairs=2)
    else:
        found, _ = explained(LinearRegression(), X, X["x0"] * 3, n_pairs=2, tolerance=0.1)
    assert found.columns[0].name == "x0"
    assert found.columns[0].importance > 0.2


def test_what_cannot_be_explained():
    X, y = table([2.0, 0.0])
    found, finding = explained(LogisticRegression(), sparse.csr_matrix(X), y, n_pairs=2)
    assert found is None
    assert finding.status == "not applicable"
    ours = PointwiseReplicableClassifier(LogisticRegression(), n_blocks=8, max_fits=8)
    assert explained(ours, X, y, n_pairs=2)[0] is None


def test_reports_show_the_explanation():
    result = audit({"model": LogisticRegression()}, *table([2.0, 0.0]), **{**OPTIONS, "n_pairs": 2})
    assert result.to_dict()["explanation"]["columns"][0]["name"] == "x0"
    for text in (result.to_text(details=True), result.to_markdown(), result.to_html()):
        assert "What changes in the explanation" in text
