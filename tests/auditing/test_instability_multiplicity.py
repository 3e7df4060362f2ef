"""Churn, self-consistency, ambiguity, discrepancy and negative flips, counted by hand."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from replearn.auditing import audit

X, Y = make_classification(900, flip_y=0.2, random_state=0)
OPTIONS = {"n_jobs": 1, "sources": False, "verbose": -1}


def test_all_words_are_counts_of_the_same_pairs():
    result = audit({"tree": DecisionTreeClassifier(max_depth=3)}, X, Y, n_pairs=4, **OPTIONS)
    [found] = result.report.multiplicity
    runs = result["tree"].predictions
    truth = Y[result.test]
    models = runs.reshape(8, -1)
    assert found.n_models == 8
    assert found.churn == result.flip_rate("tree")
    assert found.self_consistency.value == pytest.approx(np.mean(runs[:, 0] == runs[:, 1]))
    split = [any(a[i] != b[i] for a, b in combinations(models, 2)) for i in range(len(truth))]
    assert found.ambiguity.value == pytest.approx(np.mean(split))
    shares = [np.mean(old != new) for old, new in runs]
    assert found.discrepancy.value == pytest.approx(max(shares))
    negative = [np.mean((old == truth) & (new != truth)) for old, new in runs]
    assert found.negative_flips.value == pytest.approx(np.mean(negative))
    for estimate in (found.self_consistency, found.ambiguity, found.discrepancy):
        assert 0 <= estimate.lower < estimate.value < estimate.upper <= 1
    assert found.discrepancy.value >= found.churn.value
    assert found.ambiguity.value >= found.discrepancy.value
    for text in (result.to_text(details=True), result.to_markdown(), result.to_html()):
        assert "self-consistency" in text


def test_more_models_are_less_unanimous():
    few, many = (
        audit({"tree": DecisionTreeClassifier(max_depth=3)}, X, Y, n_pairs=n, **OPTIONS)
        .report.multiplicity[0]
        .ambiguity.value
        for n in (2, 10)
    )
    assert few <= many


def test_quantities_have_none():
    result = audit(LinearRegression(), X, X[:, 0], tolerance=0.1, n_pairs=2, **OPTIONS)
    assert result.report.multiplicity == ()
