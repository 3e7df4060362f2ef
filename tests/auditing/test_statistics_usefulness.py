"""Usefulness: the same numbers as scikit-learn's, limits that cover, and the verdict."""

import html
import re
from functools import partial

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from replearn import DecisionThresholdClassifier, PointwiseReplicableClassifier
from replearn.auditing import audit, compare
from replearn.auditing._judgement import verdict_sentences
from replearn.auditing._statistics import Predictions, mean_limits, usefulness
from tests.factories import voting

OPTIONS = {"n_pairs": 3, "test_size": 300, "shared_key": "useful", "sources": False}


def ours(**params):
    settings = {"n_blocks": 20, "shared_key": "k", "n_partitions": 1} | params
    return voting(GaussianNB(), **settings)


@pytest.fixture(scope="module", params=[2, 3])
def found(request):
    """An audit of two and of three classes, one of them rare."""
    shares = {2: [0.85], 3: [0.5, 0.4]}[request.param]
    X, y = make_classification(
        1500, 6, n_informative=4, n_classes=request.param, weights=shares, random_state=0
    )
    contenders = {"nb": GaussianNB(), "ours": ours()}
    return audit(contenders, X, np.array(["c", "b", "a"])[y], **OPTIONS)


def over_runs(score, contender, predictions):
    """Mean of a score of scikit-learn over all runs."""
    runs = predictions.reshape(-1, *predictions.shape[2:])
    return np.mean([score(contender.truth, run) for run in runs])


def test_the_numbers_are_those_of_scikit_learn(found):
    nb, useful = found["nb"], found.usefulness("nb")
    several = len(found.classes) > 2
    column = slice(None) if several else 1
    chances = nb.probabilities[..., column]
    auc = over_runs(
        lambda t, p: metrics.roc_auc_score(t, p, multi_class="ovr", average="macro"), nb, chances
    )
    assert useful.auc.value == pytest.approx(auc)
    accuracy = over_runs(metrics.accuracy_score, nb, nb.predictions)
    assert useful.accuracy.value == pytest.approx(accuracy)
    balanced = over_runs(metrics.balanced_accuracy_score, nb, nb.predictions)
    assert useful.balanced_accuracy.value == pytest.approx(balanced)
    loss = over_runs(metrics.log_loss, nb, nb.probabilities)
    assert useful.log_loss.value == pytest.approx(loss)
    hot = np.eye(len(found.classes))[nb.truth]
    half = 0.5 * ((nb.probabilities - hot) ** 2).sum(axis=-1).mean()
    assert useful.brier.value == pytest.approx(half)
    for place, name in enumerate(found.classes):
        told = next(c for c in useful.classes if c.label == name)
        recall = over_runs(
            lambda t, p, k=place: metrics.recall_score(t == k, p == k), nb, nb.predictions
        )
        assert told.recall.value == pytest.approx(recall)
        assert told.rows == (nb.truth == place).sum()
        said = nb.predictions == place
        assert told.precision.value == pytest.approx(
            said[..., nb.truth == place].sum() / said.sum()
        )
        assert told.predicted_share == pytest.approx(said.mean())


def test_thresholds_are_integrated_out_of_recall_as_well(found):
    c = found["ours"]
    mine = found.usefulness("ours")
    assert mine.accuracy.value == pytest.approx(c.right.mean())
    by_class = [c.right[..., c.truth == place].mean() for place in range(len(found.classes))]
    assert mine.balanced_accuracy.value == pytest.approx(np.mean(by_class))
    assert mine.worst.recall.value == pytest.approx(min(by_class))
    for estimate in (mine.accuracy, mine.balanced_accuracy, mine.auc, mine.brier, mine.log_loss):
        assert estimate.lower < estimate.value < estimate.upper


def simulated(rng, pairs=10, rows=400):
    """Runs with two random errors each: of the training sample, and of the rows."""
    truth = (rng.random(rows) < 0.3).astype(int)
    score = 1.1 * truth + rng.normal(size=rows)
    moved = score + 0.1 * rng.normal(size=(pairs, 2, 1))
    chances = stats.norm.cdf(moved - 0.5)
    chances = np.stack([1 - chances, chances], axis=-1)
    answers = Predictions(
        truth, np.stack([moved <= 0.5, moved > 0.5], axis=-1).astype(float), chances
    )
    return usefulness(answers, (0, 1), lambda v, **options: mean_limits(v, 0.05, **options))


@pytest.mark.parametrize(("row", "precision"), [(0, 0.0), (39, 1.0)])
def test_one_prediction_of_a_class_does_not_settle_its_precision(row, precision):
    shares = np.zeros((2, 2, 40, 2))
    shares[..., 0] = 1.0
    shares[:, :, row] = (0.0, 1.0)
    predictions = Predictions(np.arange(40) // 30, shares)
    measured = usefulness(predictions, ("good", "bad"), partial(mean_limits, delta=0.05))
    found = measured.rarest.precision
    assert found.value == precision
    assert found.upper - found.lower > 0.9


def test_limits_cover_what_is_known():
    """Scores are normal: AUC, recall and balanced accuracy have known values."""
    sd = np.sqrt(1 + 0.1**2)
    recall = stats.norm.cdf((1.1 - 0.5) / sd)
    other = stats.norm.cdf(0.5 / sd)
    truths = {"auc": stats.norm.cdf(1.1 / np.sqrt(2)), "balanced_accuracy": (recall + other) / 2}
    rng, trials = np.random.default_rng(0), 80
    hits = dict.fromkeys([*truths, "recall", "precision"], 0)
    precision = 0.3 * recall / (0.3 * recall + 0.7 * (1 - other))
    for _ in range(trials):
        told = simulated(rng)
        for name, truth in truths.items():
            hits[name] += getattr(told, name).lower <= truth <= getattr(told, name).upper
        rare = told.rarest
        hits["recall"] += rare.recall.lower <= recall <= rare.recall.upper
        hits["precision"] += rare.precision.lower <= precision <= rare.precision.upper
    for name, count in hits.items():
        # Student's limits are approximate: two points are granted.
        assert stats.binom.cdf(count, trials, 0.93) > 1e-7, name


# -- the verdict -----------------------------------------------------------------------------------


class Cut(ClassifierMixin, BaseEstimator):
    """Predict 1 above a cut that moves with the sample."""

    def __init__(self, at=1.2, moves=5.0):
        self.at, self.moves = at, moves

    def fit(self, X, y):
        self.classes_, self.shift_ = np.array([0, 1]), self.moves * X[:, 1].mean()
        return self

    def predict(self, X):
        return (X[:, 0] > self.at + self.shift_).astype(int)


def judged(other, baseline=None, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2))
    y = (X[:, 0] + rng.normal(0, 0.3, 1200) > 1.2).astype(int)
    contenders = {"baseline": baseline or Cut(), "other": other}
    options = {"n_pairs": 8, "test_size": 300, "shared_key": 0, "sources": False} | options
    return audit(contenders, X, y, **options)


@pytest.mark.parametrize(
    ("other", "outcome", "words"),
    [
        (Cut(moves=0), "worth it", "Worth it. 0.0 % of predictions change instead of"),
        (Cut(at=99), "useless", "Useless. other puts nearly every row in class '0'"),
        (Cut(at=1.9, moves=0), "not worth it", "Not worth it. 0.0 % of predictions change"),
        (Cut(moves=25), "not worth it", "Not worth it."),
        (Cut(at=1.21), "no difference shown", "No difference shown."),
    ],
)
def test_the_verdict_names_the_price(other, outcome, words):
    result = judged(other)
    found = result.judgement["other"]
    assert found.outcome == outcome
    (sentence,) = verdict_sentences(result.judgement)
    assert sentence.startswith(f"other: {words}")
    if outcome != "useless":
        assert "balanced accuracy" in sentence
    plain = sentence.replace("'", "")
    for report in (result.to_text(details=True), result.to_markdown(), result.to_html()):
        text = html.unescape(report).replace("\u00a0", " ").replace("'", "")
        assert plain in " ".join(text.split())


def test_a_trade_is_called_costly():
    dear = judged(Cut(at=1.45, moves=0), baseline=Cut(moves=8))
    found = dear.judgement["other"]
    assert found.outcome == "costs accuracy"
    assert 0.01 < found.price < dear.flip_rate("baseline").value
    assert dear.judgement.recommended == "baseline"
    assert dear.with_settings(max_price=0.5).judgement.recommended == "other"


def test_a_constant_is_never_recommended():
    result = judged(Cut(at=99))
    none = result.judgement.no_model
    assert none.label == "0"
    assert none.accuracy == pytest.approx(result.usefulness("other").accuracy.value)
    assert result.judgement.recommended == "baseline"
    for report in (result.to_text(details=True), result.to_markdown(), result.to_html()):
        plain = " ".join(html.unescape(report).replace("\u00a0", " ").split())
        assert "puts nearly every row in class '0' and finds 0 % of '1'" in plain
        assert "means nothing" in plain
        assert re.search("always ['“]0['”]", plain)
    alone = judged(Cut(), baseline=Cut(at=99))
    assert alone.judgement.recommended is None
    assert "find a better model first" in str(alone)


def test_a_baseline_that_is_no_better_than_no_model_is_named():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1200, 2)), (rng.random(1200) < 0.2).astype(int)
    noise = audit({"baseline": Cut(), "other": Cut(moves=0)}, X, y, **OPTIONS)
    text = " ".join(str(noise).split())
    assert "Caution: baseline itself is hardly better than always predicting '0'" in text
    assert "Caution" not in str(judged(Cut(moves=0)))


def test_a_model_that_ranks_rows_but_decides_no_better_than_no_model_is_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    y = (rng.random(4000) < 0.3 + 0.1 * np.clip(X[:, 0], -2, 2)).astype(int)
    options = OPTIONS | {"test_size": 1500}
    deep = DecisionTreeClassifier(max_depth=5)
    plain = " ".join(str(audit({"baseline": deep, "other": deep}, X, y, **options)).split())
    assert "hardly better than always predicting '0'" in plain
    assert "Its probabilities rank rows (AUC" in plain
    assert "improve the model or its decision threshold first" in plain
    at_prevalence = DecisionThresholdClassifier(deep, threshold="prevalence")
    assert "Caution" not in str(audit({"baseline": at_prevalence}, X, y, **options))


def test_a_certified_constant_has_an_empty_guarantee():
    from tests.populations import ConstantLearner

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1200, 2)), (rng.random(1200) < 0.85).astype(int)
    constant = PointwiseReplicableClassifier(
        ConstantLearner(), n_blocks=20, shared_key="k", max_fits=20
    )
    result = audit({"baseline": Cut(), "constant": constant}, X, y, **OPTIONS)
    assert result["constant"].certificate.certified
    assert "empty: predicts a single class" in result.to_text(details=True)
    assert "constant" not in [r.contender for r in result.judgement.recommendations]


def test_compare_tells_usefulness_of_both_models(found):
    X, y = make_classification(1500, weights=[0.85], random_state=0)
    one, two = GaussianNB().fit(X[:500], y[:500]), GaussianNB().fit(X[500:1000], y[500:1000])
    result = compare(one, two, X[1000:], y[1000:])
    for model, told in ((one, result.usefulness_a), (two, result.usefulness_b)):
        auc = metrics.roc_auc_score(y[1000:], model.predict_proba(X[1000:])[:, 1])
        assert told.auc.value == pytest.approx(auc)
        recall = metrics.recall_score(y[1000:], model.predict(X[1000:]))
        assert told.rarest.recall.value == pytest.approx(recall)
        assert told.rarest.recall.lower < recall < told.rarest.recall.upper
    assert "balanced accuracy" in str(result)
    assert result.no_model.accuracy > 0.8
    lazy = Cut(at=99, moves=0).fit(X[:500], y[:500])
    assert "the new model predicts '0' for nearly every row" in str(compare(one, lazy, X, y))
    assert compare(one, two, X).usefulness_a is None
