"""Decision thresholds in an audit: every contender decides at the one that was set."""

import html
import json

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.svm import LinearSVC

from replearn import PointwiseReplicableClassifier
from replearn.auditing.audits import audit
from replearn.auditing.contenders import SmallBagging

SIZES = {"n_pairs": 2, "test_size": 500, "subgroups": None}
OPTIONS = {**SIZES, "shared_key": "thresholds"}
KINDS = ["baseline", "bagging", "score", "incumbent", "replicable"]


@pytest.fixture(scope="module")
def data():
    return make_classification(
        2500, 6, n_informative=4, weights=[0.92], flip_y=0.02, class_sep=0.8, random_state=0
    )


@pytest.fixture(scope="module")
def usual(data):
    """An audit without a threshold."""
    return audit(LogisticRegression(), *data, contenders=KINDS, **OPTIONS)


def recalls(result):
    return {c.name: result.table.get("recall of 1", c.name).value for c in result.contenders}


@pytest.mark.parametrize("threshold", [0.08, "prevalence", (1, 10)])
def test_every_contender_decides_at_the_threshold(data, usual, threshold):
    found = audit(LogisticRegression(), *data, contenders=KINDS, threshold=threshold, **OPTIONS)
    before = recalls(usual)
    for name, recall in recalls(found).items():
        assert recall > before[name] + 0.1, name
    base = found["baseline"]
    positive = base.predictions.probabilities[..., 1] >= base.decision_threshold
    # the same number in every run
    np.testing.assert_array_equal(base.predictions.codes == 1, positive)
    assert found.contenders[0].kind == "LogisticRegression"


@pytest.mark.parametrize(
    ("threshold", "words"),
    [(0.92, "threshold 0.08 on"), ((10, 1), "(costs 1:10)")],
)
def test_the_rule_is_about_the_rare_class(data, threshold, words):
    X, y = data
    labels = np.where(y == 1, "bad", "good")
    found = audit(
        LogisticRegression(), X, labels, contenders=["baseline"], threshold=threshold, **OPTIONS
    )
    assert words in " ".join(str(found).split())


@pytest.mark.parametrize(
    ("threshold", "words"),
    [
        (0.7, "threshold 0.3 on the probability of 'bad'"),
        ((1, 4), "threshold 0.8 (costs 4:1) on the probability of 'bad'"),
    ],
)
def test_reports_name_the_threshold_where_no_class_is_rare(threshold, words):
    X, y = make_classification(900, 4, weights=[0.6], random_state=1)
    labels = np.where(y == 1, "bad", "good")
    options = {**OPTIONS, "test_size": 200, "contenders": ["baseline"], "threshold": threshold}
    found = audit(LogisticRegression(), X, labels, **options)
    assert words in found.to_text().splitlines()[0]
    assert words in found.to_markdown().splitlines()[0]
    assert json.loads(found.to_json())["design"]["threshold"] == found.threshold
    assert words.removeprefix("threshold ") in html.unescape(found.to_html())
    del options["threshold"]
    assert audit(LogisticRegression(), X, labels, **options).decision_rule == ""


def test_a_threshold_that_finds_nothing_is_named(data):
    found = audit(LogisticRegression(), *data, contenders=["baseline"], threshold=0.9, **OPTIONS)
    assert found.judgement.baseline.outcome == "predicts a single class"
    assert "another decision threshold, first" in " ".join(str(found).split())


def test_a_threshold_of_the_estimator_is_kept_and_named(data):
    fixed = FixedThresholdClassifier(LogisticRegression(), threshold=0.1)
    found = audit(fixed, *data, contenders=KINDS, **OPTIONS)
    plain = ["baseline", "bagging"]
    same = audit(LogisticRegression(), *data, contenders=plain, threshold=0.1, **OPTIONS)
    for name in ("baseline", "bagging (5 models)"):
        np.testing.assert_array_equal(found[name].flips, same[name].flips)
    assert "threshold 0.1 (that of FixedThresholdClassifier)" in " ".join(str(found).split())
    tuned = TunedThresholdClassifierCV(LogisticRegression(), cv=3)
    own = audit(tuned, *data, contenders=["baseline"], **OPTIONS)
    assert 0 < own["baseline"].decision_threshold < 0.5
    assert "that of TunedThresholdClassifierCV" in " ".join(str(own).split())


def test_bagging_takes_the_thresholds_of_its_models(data):
    X, y = data
    fixed = FixedThresholdClassifier(LogisticRegression(), threshold=0.1)
    bagged = SmallBagging(fixed, random_state=0).fit(X, y)
    expected = bagged.predict_proba(X)[:, 1] >= 0.1
    np.testing.assert_array_equal(bagged.predict(X), expected.astype(int))


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (LogisticRegression(), {"threshold": 2}, "threshold=2"),
        (LogisticRegression(), {"threshold": "recall"}, "threshold='recall'"),
        (LinearSVC(), {"threshold": 0.1}, "predict_proba"),
        ({"a": LogisticRegression()}, {"threshold": 0.1}, "dict of contenders"),
        (PointwiseReplicableClassifier(), {"threshold": 0.1}, "threshold of its own"),
        (FixedThresholdClassifier(LogisticRegression(), threshold=0.3), {"threshold": 0.1}, "two"),
    ],
)
def test_what_cannot_be_is_named(data, estimator, options, message):
    with pytest.raises(ValueError, match=message):
        audit(estimator, *data, **options, **OPTIONS)
