from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    TunedThresholdClassifierCV,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from replearn import (
    IncumbentClassifier,
    PointwiseReplicableClassifier,
    ScoreReplicableClassifier,
    audit,
    load,
    save,
)
from replearn.exceptions import NotCertifiedWarning
from replearn.execution.plugins import plain_loop
from replearn.execution.voting import BlockEnsemble
from replearn.learners.threshold import (
    check_block_thresholds,
    fitted_threshold,
    parse_threshold,
)
from replearn.paper.thresholds import ReplicableThresholdClassifier
from tests.factories import voting, whole_models

X, Y = make_classification(
    4200, n_features=6, weights=[0.92], flip_y=0.04, class_sep=0.8, random_state=3
)
TRAIN = slice(0, 3000)
NEW = X[3000:]
LABELS = Y
KINDS = [0.1, (1, 9), "prevalence"]


def blocks(estimator=None, *, fitted_on=LABELS, **params):
    settings = {"n_blocks": 12, "n_partitions": 2, "rho": 0.9, "shared_key": "k"} | params
    base = GaussianNB() if estimator is None else estimator
    return voting(base, **settings).fit(X[TRAIN], fitted_on[TRAIN])


@cache
def votes_against(threshold=None):
    """Return a fitted model for tests that only look at it."""
    return blocks(threshold=threshold)


@pytest.mark.parametrize(
    "threshold", [0, 1.5, "median", "recall=0.8", (1, 2, 3), (1, -1), ("a", "b")]
)
def test_what_is_no_threshold(threshold):
    message = r"threshold|must be a number in \(0, 1\), 'prevalence', or the costs"
    with pytest.raises(ValueError, match=message):
        blocks(threshold=threshold)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0.1", 0.1), ("1:5", (1.0, 5.0)), ("prevalence", "prevalence")],
)
def test_thresholds_on_the_command_line(text, expected):
    assert parse_threshold(text) == expected


@pytest.mark.parametrize("text", ["", "0", "nothing", "1:", "1:2:3", "recall>=0.8"])
def test_bad_thresholds_on_the_command_line(text):
    with pytest.raises(ValueError, match="must be a number in"):
        parse_threshold(text)


# -- votes against a threshold ---------------------------------------------------------------------
def votes_by_hand(model, points):
    """Count the votes of each partition model by model, without the ensemble."""
    chances = np.column_stack([one.predict_proba(points)[:, 1] for one in model.estimators_])
    votes = chances >= model.block_thresholds_
    return votes.reshape(len(points), model.plan_.design.n_partitions, -1).sum(axis=2)


@pytest.mark.parametrize("threshold", KINDS)
def test_each_block_votes_by_its_own_threshold(threshold):
    model = votes_against(threshold)
    counted = model._ensemble.vote_counts(NEW)
    np.testing.assert_array_equal(counted, votes_by_hand(model, NEW))
    assert (counted != votes_against()._ensemble.vote_counts(NEW)).any()


def test_the_prevalence_is_that_of_each_block():
    assert len(np.unique(votes_against("prevalence").block_thresholds_)) > 6
    np.testing.assert_array_equal(votes_against((1, 9)).block_thresholds_, np.full(24, 0.1))
    assert votes_against().block_thresholds_ is None


def test_a_threshold_and_an_estimator_with_that_threshold_are_one_model():
    ours = votes_against(0.1)
    for estimator in (
        FixedThresholdClassifier(GaussianNB(), threshold=0.1),
        FixedThresholdClassifier(GaussianNB(), threshold=0.1, pos_label=1),
    ):
        theirs = blocks(estimator)
        np.testing.assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
        assert ours.certificate_.comparable(theirs.certificate_)
    assert not ours.certificate_.comparable(blocks(threshold=0.2).certificate_)
    assert "threshold 0.1" in ours.certificate_.identity.learner


def test_a_threshold_on_the_first_class():
    estimator = FixedThresholdClassifier(GaussianNB(), threshold=0.75, pos_label=0)
    np.testing.assert_array_equal(blocks(estimator).block_thresholds_, np.full(24, 0.25))


def test_a_tuned_threshold_is_tuned_in_each_block():
    tuned = TunedThresholdClassifierCV(GaussianNB(), thresholds=40, cv=2)
    model = blocks(tuned, n_blocks=6)
    plain = blocks(n_blocks=6)
    assert (model.predict(NEW) == 1).sum() > (plain.predict(NEW) == 1).sum()
    assert len({one.best_threshold_ for one in model.estimators_}) > 6


def test_recall_of_a_rare_class_rises():
    rare = NEW[Y[3000:] == 1]
    plain = votes_against()
    lower = blocks(threshold=0.08)
    assert (lower.predict(rare) == 1).mean() > 1.2 * (plain.predict(rare) == 1).mean()
    assert lower.usefulness_.recall[1] > plain.usefulness_.recall[1]


@pytest.mark.parametrize(
    "base",
    [
        LogisticRegression(max_iter=1000),
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        GaussianNB(),
        DecisionTreeClassifier(min_samples_leaf=5),
        RandomForestClassifier(5, min_samples_leaf=5),
        HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5),
    ],
    ids=lambda base: type(base).__name__,
)
@pytest.mark.parametrize("vote", ["hard", "soft"])
def test_fast_paths_and_the_plain_loop_agree(base, vote):
    model = blocks(base, threshold=0.13, vote=vote, n_blocks=6)
    name = "vote_counts" if vote == "hard" else "soft_scores"
    fast = getattr(model._ensemble, name)(NEW[:700])
    with plain_loop():
        plain = getattr(model._ensemble, name)(NEW[:700])
    np.testing.assert_allclose(fast, plain, rtol=0, atol=0 if vote == "hard" else 1e-9)


@pytest.mark.parametrize("vote", ["hard", "soft"])
def test_the_votes_of_a_row_do_not_depend_on_the_batch(vote):
    model = blocks(threshold="prevalence", vote=vote)
    whole = model.predict_proba(NEW)
    pieces = [model.predict_proba(NEW[start : start + 7]) for start in range(0, 70, 7)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole[:70])


def test_soft_votes_are_centred_at_the_threshold():
    class Chance:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            return np.column_stack([1 - X[:, 0], X[:, 0]])

    ensemble = BlockEnsemble([Chance()], [0, 1], 1, thresholds=[0.1])
    scores = ensemble.soft_scores(np.array([[0.0], [0.05], [0.1], [0.55], [1.0]]))[:, 0]
    np.testing.assert_allclose(scores, [0.0, 0.25, 0.5, 0.75, 1.0])


# -- other estimators ------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
@pytest.mark.parametrize("threshold", KINDS)
def test_scores_are_compared_with_the_threshold(threshold):
    model = ScoreReplicableClassifier(GaussianNB(), threshold=threshold, shared_key="k")
    model.fit(X[TRAIN], LABELS[TRAIN])
    score = model.predict_proba(NEW)[:, 1]
    far = np.abs(score - model.threshold_) > 0.4
    assert far.any()
    expected = np.where(score >= model.threshold_, 1, 0)
    np.testing.assert_array_equal(model.predict(NEW)[far], expected[far])
    assert model.estimators_[0].__class__ is GaussianNB


def test_scores_take_a_fixed_threshold_over():
    ours = ScoreReplicableClassifier(GaussianNB(), threshold=0.1, shared_key="k")
    fixed = FixedThresholdClassifier(GaussianNB(), threshold=0.1)
    theirs = ScoreReplicableClassifier(fixed, shared_key="k")
    for model in (ours, theirs):
        model.fit(X[TRAIN], LABELS[TRAIN])
    np.testing.assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
    assert theirs.threshold_ == 0.1
    assert ours.certificate_.comparable(theirs.certificate_)


@pytest.mark.parametrize(
    "estimator",
    [
        TunedThresholdClassifierCV(GaussianNB()),
        FixedThresholdClassifier(
            LogisticRegression(), threshold=1.0, response_method="decision_function"
        ),
    ],
)
def test_scores_do_not_drop_a_threshold_they_cannot_use(estimator):
    with pytest.raises(ValueError, match=r"would not be used.*threshold= a number"):
        ScoreReplicableClassifier(estimator, shared_key="k").fit(X[TRAIN], Y[TRAIN])


def test_whole_models_vote_by_a_threshold():
    model = whole_models(
        GaussianNB(), n_blocks=12, n_partitions=1, gamma=0.9, rho=0.9, threshold=0.1, shared_key="k"
    ).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(model._ensemble.vote_counts(NEW), votes_by_hand(model, NEW))


# -- clear errors ----------------------------------------------------------------------------------
def test_two_thresholds_are_an_error():
    with pytest.raises(ValueError, match="two decision thresholds: remove one"):
        blocks(FixedThresholdClassifier(GaussianNB(), threshold=0.3), threshold=0.1)
    with pytest.raises(
        ValueError, match="a threshold of its own that would be ignored: remove one"
    ):
        blocks(TunedThresholdClassifierCV(GaussianNB()), threshold=0.1)


@pytest.mark.parametrize(
    "inner",
    [
        FixedThresholdClassifier(GaussianNB(), threshold=0.9),
        TunedThresholdClassifierCV(GaussianNB()),
        make_pipeline(StandardScaler(), FixedThresholdClassifier(GaussianNB(), threshold=0.9)),
    ],
    ids=["fixed", "tuned", "pipeline"],
)
def test_an_inner_threshold_is_not_ignored(inner):
    for kind in (PointwiseReplicableClassifier, ScoreReplicableClassifier, IncumbentClassifier):
        with pytest.raises(ValueError, match="threshold"):
            kind(inner, threshold=0.3).fit(X[TRAIN], Y[TRAIN])


def test_a_threshold_on_decision_values_is_not_ignored():
    inner = FixedThresholdClassifier(
        LogisticRegression(), threshold=1.0, response_method="decision_function"
    )
    with pytest.raises(ValueError, match="a threshold of its own that would be ignored"):
        blocks(inner, threshold=0.3)


def test_three_classes_have_no_threshold():
    with pytest.raises(ValueError, match="requires two classes, but there are 3"):
        blocks(fitted_on=np.arange(len(X)) % 3, threshold=0.1)


def test_a_threshold_needs_probabilities():
    with pytest.raises(ValueError, match=r"requires predict_proba.*CalibratedClassifierCV"):
        blocks(LinearSVC(), threshold=0.1)


# -- files -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("threshold", KINDS)
def test_thresholds_are_kept_in_files(threshold, tmp_path):
    model = votes_against(threshold)
    save(model, tmp_path / "model.replearn")
    again = load(tmp_path / "model.replearn", shared_key="k")
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
    np.testing.assert_array_equal(again.block_thresholds_, model.block_thresholds_)


@pytest.mark.parametrize("thresholds", [[0.5] * 3, [0.0] * 4, [2.0] * 4, [np.nan] * 4])
def test_thresholds_of_a_file_are_checked(thresholds):
    with pytest.raises(ValueError, match="one decision threshold in"):
        check_block_thresholds(thresholds, 4)


# -- the threshold in force ------------------------------------------------------------------------
def test_the_threshold_in_force():
    frame = pd.DataFrame(X[TRAIN])
    for model, expected in (
        (FixedThresholdClassifier(GaussianNB(), threshold=0.3), 0.3),
        (FixedThresholdClassifier(GaussianNB(), threshold=0.3, pos_label=0), 0.7),
        (FixedThresholdClassifier(GaussianNB()), 0.5),
        (FixedThresholdClassifier(LogisticRegression(), response_method="decision_function"), None),
        (GaussianNB(), None),
    ):
        found = fitted_threshold(model.fit(frame, LABELS[TRAIN]))
        assert found == (expected if expected is None else pytest.approx(expected))


def test_the_threshold_in_force_of_estimators_of_the_library():
    score = ScoreReplicableClassifier(GaussianNB(), threshold=0.2, shared_key="k")
    for estimator in (score, IncumbentClassifier(GaussianNB(), threshold=0.2)):
        assert fitted_threshold(estimator.fit(X[TRAIN], Y[TRAIN])) == 0.2
    cut = ReplicableThresholdClassifier(feature=0, shared_key="k")
    with pytest.warns(NotCertifiedWarning):
        cut.fit(X[TRAIN], Y[TRAIN])
    assert fitted_threshold(cut) is None  # its cut is a value of a feature


def test_the_threshold_in_force_of_a_tuned_classifier():
    model = TunedThresholdClassifierCV(GaussianNB(), thresholds=20, cv=2).fit(X[TRAIN], Y[TRAIN])
    threshold = fitted_threshold(model)
    expected = (model.predict_proba(NEW)[:, 1] >= threshold).astype(int)
    np.testing.assert_array_equal(model.predict(NEW), expected)


# -- the positive label ----------------------------------------------------------------------------
GOOD = np.where(Y == 1, "bad", "good")  # the rarer label comes first


@pytest.mark.parametrize("threshold", [0.1, (1, 5), "prevalence"])
@pytest.mark.parametrize("kind", [PointwiseReplicableClassifier, ScoreReplicableClassifier])
@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
def test_estimators_take_a_threshold_on_either_label(kind, threshold):
    rows = X[:900]
    labels = GOOD[:900]
    params = {"n_blocks": 6, "shared_key": "k"}
    own = kind(GaussianNB(), threshold=threshold, pos_label="bad", **params)
    own.fit(rows, labels)
    found = own.threshold_ if kind is ScoreReplicableClassifier else own.block_thresholds_.mean()
    prevalence = (labels == "good").mean()
    assert found == pytest.approx({0.1: 0.9, (1, 5): 5 / 6}.get(threshold, prevalence))
    unnamed = kind(GaussianNB(), threshold=threshold, **params)
    if threshold == "prevalence":  # both labels give one decision
        found = unnamed.fit(rows, labels).predict(rows)
        np.testing.assert_array_equal(found, own.predict(rows))
    else:
        with pytest.raises(ValueError, match=r"requires pos_label.*'bad' and 'good'"):
            unnamed.fit(rows, labels)
    with pytest.raises(ValueError, match="pos_label='worse' is not one of the labels"):
        kind(GaussianNB(), threshold=0.1, pos_label="worse", **params).fit(rows, labels)
    with pytest.raises(ValueError, match="pos_label='bad' requires threshold"):
        kind(GaussianNB(), pos_label="bad", **params).fit(rows, labels)


def test_an_audit_keeps_the_label_of_a_threshold():
    ours = PointwiseReplicableClassifier(
        GaussianNB(), threshold=0.1, pos_label="bad", n_blocks=18, max_fits=18, shared_key="k"
    )
    found = audit(
        ours, X[:1400], GOOD[:1400], contenders=["baseline", "replicable"], n_pairs=2, verbose=-1
    )
    assert found.contenders[0].decision_threshold == pytest.approx(0.9)
