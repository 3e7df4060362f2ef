"""Numbers of a comparison against scikit-learn, scipy and closed forms; bad input is named."""

import json
import sys
import types

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn import metrics
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from replearn import IncumbentClassifier
from replearn.auditing.comparison import compare
from replearn.auditing.gate import gates
from replearn.exceptions import RetrainingWarning

X, Y = make_classification(3000, n_features=6, flip_y=0.2, weights=[0.7], random_state=0)
OLD = LogisticRegression().fit(X[:300], Y[:300])
NEW = GaussianNB().fit(X[300:600], Y[300:600])
ROWS, TRUTH = X[600:], Y[600:]
A, B = OLD.predict(ROWS), NEW.predict(ROWS)
SCORES = OLD.predict_proba(ROWS)[:, 1], NEW.predict_proba(ROWS)[:, 1]


@pytest.fixture(scope="module")
def found():
    return compare(OLD, NEW, ROWS, TRUTH)


# -- flips -----------------------------------------------------------------------------------------


def test_flips_for_the_worse_and_the_better(found):
    right_a, right_b = A == TRUTH, B == TRUTH
    negative, positive = np.sum(right_a & ~right_b), np.sum(~right_a & right_b)
    assert found.flips.value == np.mean(A != B)
    assert found.table.get("becomes wrong").value == negative / len(TRUTH)
    assert found.table.get("becomes right").value == positive / len(TRUTH)
    exact = stats.binomtest(int(negative), len(TRUTH)).proportion_ci(0.95, "exact")
    limits = found.table.get("becomes wrong")
    assert (limits.lower, limits.upper) == pytest.approx((exact.low, exact.high))


def test_a_missing_prediction_is_a_prediction_of_its_own():
    numbers = np.tile([0.0, 1.0, np.nan, np.nan], 30)
    assert compare(numbers, numbers).flips.value == 0
    assert compare(numbers, np.tile([0.0, np.nan, np.nan, 1.0], 30)).flips.value == 0.5
    texts = np.tile(np.array(["a", np.nan, None], dtype=object), 30)
    assert compare(texts, texts).flips.value == 0


def test_columns_in_different_orders_are_refused():
    old = pd.Series(A, index=[f"person {row}" for row in range(len(A))])
    assert compare(old, old.copy()).flips.value == 0
    with pytest.raises(ValueError, match=r"one index in different orders.*new.reindex"):
        compare(old, old[::-1])
    apart = compare(old[:1000], old[1000:2000])
    assert apart.flips.value == np.mean(A[:1000] != A[1000:2000])


def test_limits_of_accuracy_and_mcnemars_test_agree():
    """317 losses and 369 gains in 4,000 rows: p is .051, and limits by the normal law exclude 0."""
    truth = np.zeros(4000, dtype=int)
    old = np.r_[np.zeros(317), np.ones(369), np.zeros(3314)].astype(int)
    new = np.r_[np.ones(317), np.zeros(3683)].astype(int)
    found = compare(old, new, y=truth)
    assert found.table.get("difference of accuracy").lower < 0.0
    assert "no difference is shown" in " ".join(str(found).split())
    clearer = compare(old, np.r_[np.ones(300), np.zeros(3700)].astype(int), y=truth)
    assert clearer.table.get("difference of accuracy").lower > 0.0


@pytest.mark.parametrize("kind", [int, float])
def test_numbers_and_texts_of_one_label_are_not_compared(kind):
    texts = np.array(["0", "1"] * 20)
    with pytest.raises(ValueError, match=r"numbers in old .* and texts in new .* Use one kind"):
        compare(texts.astype(kind), texts)
    with pytest.raises(ValueError, match=r"numbers in new .* and texts in old"):
        compare(texts, texts.astype(kind))
    with pytest.raises(ValueError, match=r"numbers in y .* and texts in old"):
        compare(texts, texts, y=texts.astype(kind))
    assert compare(texts.astype(kind), texts.astype(int)).flips.value == 0
    mixed = np.array([0, "1"] * 20, dtype=object)
    assert compare(mixed, mixed).flips.value == 0


# -- paired tests ----------------------------------------------------------------------------------


def delong(scores, truth):
    """DeLong, DeLong and Clarke-Pearson (1988), as written there: placements of both classes."""
    events, others = truth == 1, truth == 0
    above = [
        (s[events][:, None] > s[others]) + 0.5 * (s[events][:, None] == s[others]) for s in scores
    ]
    by_event = np.array([table.mean(axis=1) for table in above])
    by_other = np.array([table.mean(axis=0) for table in above])
    covariance = np.cov(by_event) / events.sum() + np.cov(by_other) / others.sum()
    difference = by_event[1].mean() - by_event[0].mean()
    return difference, (covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]) ** 0.5


def difference(found, score):
    return found.table.get(f"difference of {score}")


def test_differences_are_paired(found):
    lost, gained = np.sum((A == TRUTH) & (B != TRUTH)), np.sum((A != TRUTH) & (B == TRUTH))
    assert difference(found, "accuracy").value == pytest.approx((gained - lost) / len(TRUTH))
    for name, loss in (("Brier score", metrics.brier_score_loss), ("log-loss", metrics.log_loss)):
        assert found.table.get(name, "old").value == pytest.approx(loss(TRUTH, SCORES[0]))
        assert found.table.get(name, "new").value == pytest.approx(loss(TRUTH, SCORES[1]))
    squares = [(s - TRUTH) ** 2 for s in SCORES]
    limits = stats.ttest_rel(squares[1], squares[0]).confidence_interval(0.95)
    brier = difference(found, "Brier score")
    assert (brier.lower, brier.upper) == pytest.approx((limits.low, limits.high))


def test_auc_is_delongs_test(found):
    expected, error = delong(SCORES, TRUTH)
    auc = difference(found, "AUC")
    assert found.table.get("AUC", "old").value == pytest.approx(
        metrics.roc_auc_score(TRUTH, SCORES[0])
    )
    assert auc.value == pytest.approx(expected)
    reach = 0.5 * (auc.upper - auc.lower)
    assert reach == pytest.approx(stats.norm.ppf(0.975) * error, rel=0.005)


def test_few_changed_rows_have_exact_limits():
    truth = np.zeros(200, dtype=int)
    new = np.r_[1, truth[1:]]
    accuracy = difference(compare(truth, new, y=truth), "accuracy")
    upper = stats.binomtest(1, 200).proportion_ci(0.975, "exact").high
    assert accuracy.lower <= -upper + 1e-9
    assert accuracy.upper >= 0


@pytest.mark.parametrize("clustered", [False, True])
def test_equal_models_are_called_different_at_most_as_often_as_allowed(clustered):
    """Two models with independent errors of the same rate; 7 % for approximate limits of 5 %."""
    rng = np.random.default_rng(3)
    runs, n = 300, 240
    groups = np.repeat(np.arange(n // 4), 4) if clustered else None
    truth = np.zeros(n, dtype=int)
    alarms = 0
    for _ in range(runs):
        hard = np.repeat(rng.random(n // 4), 4) if clustered else rng.random(n)
        old, new = ((rng.random(n) < 0.6 * hard).astype(int) for _ in range(2))
        accuracy = difference(compare(old, new, y=truth, groups=groups), "accuracy")
        alarms += not accuracy.lower <= 0 <= accuracy.upper
    assert alarms <= stats.binom.isf(1e-8, runs, 0.07)


def test_scores_of_equal_models_are_called_different_at_most_as_often_as_allowed():
    """Two noisy copies of one score rank and estimate equally well."""
    rng = np.random.default_rng(4)
    runs, n = 150, 200
    alarms = dict.fromkeys(("AUC", "Brier score"), 0)
    for _ in range(runs):
        chance = rng.random(n)
        truth = (rng.random(n) < chance).astype(int)
        scores = tuple(np.clip(chance + rng.normal(0, 0.2, n), 0, 1) for _ in range(2))
        old, new = ((side > 0.5).astype(int) for side in scores)
        found = compare(old, new, y=truth, scores=scores)
        for name in alarms:
            score = difference(found, name)
            alarms[name] += not score.lower <= 0 <= score.upper
    allowed = stats.binom.isf(1e-8, runs, 0.07)
    assert max(alarms.values()) <= allowed
    assert sum(alarms.values()) > 0, "limits so wide that nothing is ever found"


# -- scores ----------------------------------------------------------------------------------------


def test_scores_of_models_are_those_of_the_positive_label(found):
    given = compare(A, B, y=TRUTH, scores=SCORES)
    for one, two in zip(given.table, found.table, strict=True):
        assert (one.what, one.contender) == (two.what, two.contender)
        numbers = (one.value, one.lower, one.upper)
        assert numbers == pytest.approx((two.value, two.lower, two.upper))
    mirrored = tuple(1 - side for side in SCORES)
    other = compare(A, B, y=TRUTH, scores=mirrored, pos_label=0)
    assert difference(other, "AUC").value == pytest.approx(difference(found, "AUC").value)
    moved = found.table.get("change of the probability").value
    assert moved == pytest.approx(np.mean(np.abs(SCORES[1] - SCORES[0])))


# -- columns against reference rows ----------------------------------------------------------------


# -- several classes, quantities -------------------------------------------------------------------


def test_several_classes():
    rows, labels = make_classification(
        1500, n_classes=3, n_informative=4, n_features=6, flip_y=0.1, random_state=1
    )
    old = LogisticRegression().fit(rows[:200], labels[:200])
    new = GaussianNB().fit(rows[200:400], labels[200:400])
    found = compare(old, new, rows[400:], labels[400:])
    a, b = old.predict(rows[400:]), new.predict(rows[400:])
    table = metrics.confusion_matrix(a, b)
    for move in found.transitions:
        assert move.rows == table[int(move.old), int(move.new)]
        assert move.become_right == np.sum(
            (a == int(move.old)) & (b == int(move.new)) & (labels[400:] == b)
        )
    assert sum(move.rows for move in found.transitions) == np.sum(a != b)
    auc = metrics.roc_auc_score(labels[400:], new.predict_proba(rows[400:]), multi_class="ovr")
    assert found.table.get("AUC", "new").value == pytest.approx(auc)


def test_quantities():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(600, 3))
    truth = rows.sum(axis=1) + rng.normal(size=600)
    old = LinearRegression().fit(rows[:30], truth[:30])
    new = LinearRegression().fit(rows[30:60], truth[30:60])
    found = compare(old, new, rows[60:], truth[60:], tolerance=0.3)
    a, b, y = old.predict(rows[60:]), new.predict(rows[60:]), truth[60:]
    assert found.flips.value == np.mean(np.abs(a - b) >= 0.3)
    worse = (np.abs(a - y) < 0.3) & (np.abs(b - y) >= 0.3)
    assert found.table.get("becomes wrong").value == np.mean(worse)
    rmse = metrics.root_mean_squared_error(y, b)
    assert found.table.get("RMSE", "new").value == pytest.approx(rmse)
    errors = np.abs(b - y), np.abs(a - y)
    limits = stats.ttest_rel(*errors).confidence_interval(0.95)
    absolute = difference(found, "mean absolute error")
    assert (absolute.lower, absolute.upper) == pytest.approx((limits.low, limits.high))
    assert "by 0.3 or more" in found.to_html()
    assert json.loads(found.to_json())["tolerance"] == 0.3


# -- groups of rows, golden set, ids ---------------------------------------------------------------


def test_repeated_measurements_widen_limits():
    cases = np.repeat(np.arange(60), 5)
    old = np.zeros(300, dtype=int)
    new = (cases % 10 == 0).astype(int)  # all five rows of a case change together
    alone, together = compare(old, new), compare(old, new, groups=cases)
    assert alone.flips.value == together.flips.value == 0.1
    assert together.flips.upper > alone.flips.upper
    assert together.n_groups == 60
    truth = np.zeros(300, dtype=int)
    judged = compare(old, new, y=truth, groups=cases)
    assert (
        difference(judged, "accuracy").upper
        > difference(compare(old, new, y=truth), "accuracy").upper
    )
    by_text = compare(old, new, groups=cases.astype(str))
    assert by_text.flips == together.flips


def test_rows_that_must_not_change():
    old, new = np.zeros(20, dtype=int), np.r_[np.zeros(18, dtype=int), 1, 1]
    ids = np.array([f"p{i}" for i in range(20)])
    by_id = compare(old, new, ids=ids, must_not_change=["p1", "p19"])
    kept = by_id.table.get("must not change")
    assert (kept.rows, kept.value, [v.id for v in by_id.violations]) == (2, 1, ["p19"])
    mask = compare(old, new, must_not_change=np.arange(20) >= 18)
    assert [v.id for v in mask.violations] == ["18", "19"]
    assert compare(old, new, must_not_change=[0]).violations == ()
    elsewhere = compare(old[:2], new[-2:])
    there = compare(old, new, must_not_change=elsewhere)
    assert [v.id for v in there.violations] == ["0", "1"]
    with pytest.raises(ValueError, match=r"1 of 2 ids are not among the compared rows.*'q'"):
        compare(old, new, ids=ids, must_not_change=["p1", "q"])
    with pytest.raises(ValueError, match="require ids"):
        compare(old, new, must_not_change=["p1"])
    with pytest.raises(ValueError, match="require ids"):
        compare(old, new, must_not_change=[20])
    with pytest.raises(ValueError, match="a mask needs one entry"):
        compare(old, new, must_not_change=np.ones(3, dtype=bool))


def test_the_frame_has_what_is_known():
    ids = [f"p{i}" for i in range(len(A))]
    found = compare(A, B, y=TRUTH, scores=SCORES, ids=ids)
    frame = found.changed_frame()
    assert frame.columns.tolist() == ["row", "id", "old", "new", "truth"]
    assert len(found.frame()) == len(found.table)
    assert frame["id"].tolist() == [f"p{i}" for i in np.flatnonzero(A != B)]


def test_changed_rows_begin_with_those_that_become_wrong(found):
    kinds = [row.change for row in found.changed_rows]
    assert kinds == sorted(kinds, key=lambda kind: kind != "right to wrong")
    first = [r.moved for r in found.changed_rows if r.change == kinds[0]]
    assert first == sorted(first, reverse=True)


@pytest.mark.parametrize("rows", ["text", "sparse"])
def test_rows_without_columns_of_cells(rows):
    X = ["one text"] * 40 if rows == "text" else sparse.csr_matrix(np.eye(40))
    found = compare(np.zeros(40), np.arange(40) < 3, X)
    assert [row.row for row in found.changed_rows] == [0, 1, 2]
    assert "3 of 40 predictions change" in found.to_html()


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ids": ["a"] * 4}, "'a' occurs more than once"),
        ({"ids": ["a"]}, r"ids has shape \(1,\), but X has 4 rows"),
        ({"groups": [1, 2]}, r"groups has shape \(2,\)"),
        ({"scores": ([0, 0, 0, 1.2], [0] * 4)}, r"scores\[0\] must lie in \[0, 1\]: row 3 has 1.2"),
        ({"scores": ([0.5] * 4, [np.nan] * 4)}, r"scores\[1\] must lie in \[0, 1\]"),
        ({"scores": [0.1] * 4}, "must be a pair"),
        ({"scores": (["x"] * 4, [0] * 4)}, "must be numbers"),
        ({"scores": ([0.1] * 3, [0] * 4)}, r"scores\[0\] has shape \(1, 3\)"),
        ({"scores": ([0.1] * 4, [0.2] * 4), "y": [1] * 4}, "one class only"),
        ({"y": ["yes", "no", "no", "no"]}, "no prediction is a label of y"),
        ({"y": [1, 0]}, r"y has shape \(2,\), but X has 4 rows"),
        ({"pos_label": 7}, "pos_label=7 is not a label"),
        ({"tolerance": 0.0}, "tolerance=0.0 must be"),
        ({"delta": 1.5}, "delta=1.5"),
    ],
)
def test_bad_input_is_named(change, words):
    with pytest.raises(ValueError, match=words):
        compare(np.array([0, 1, 0, 1]), np.array([0, 0, 0, 1]), **change)


def test_three_classes_have_no_single_score():
    with pytest.raises(ValueError, match="two classes, but there are 3"):
        compare(np.array([0, 1, 2]), np.array([0, 1, 2]), scores=([0.1] * 3, [0.2] * 3))
    with pytest.raises(ValueError, match="finite numbers"):
        compare(np.array(["a"]), np.array(["b"]), tolerance=1.0)
    with pytest.raises(ValueError, match="no rows"):
        compare(np.array([]), np.array([]))
    with pytest.raises(ValueError, match="X is None"):
        compare(OLD, NEW)


# -- gates -----------------------------------------------------------------------------------------


def test_every_gate(found):
    town = np.where(np.arange(len(A)) < 30, "small", "large")
    judged = compare(OLD, NEW, ROWS, TRUTH, subgroups={"town": town}, must_not_change=A == B)
    allowed = {
        "flips": judged.flips.value,
        "upper flips": judged.flips.upper,
        "becomes wrong": judged.table.get("becomes wrong").value,
        "worst group": max(group.value for group in judged.table.groups()),
        "change of the probability": judged.table.get("change of the probability").value,
    }
    assert [gate.passed for gate in gates(judged, allowed)] == [True] * 6
    for name, number in allowed.items():
        tighter = gates(judged, {**allowed, name: number * 0.99})
        assert [gate.name for gate in tighter if not gate.passed] == [name]
    (gate,) = gates(compare(OLD, NEW, ROWS, TRUTH, must_not_change=A != B), {})
    assert not gate.passed
    assert gate.value == np.sum(A != B)


def test_gates_say_what_they_require():
    found = compare(A, B, subgroups={"few": np.arange(len(A)) // 5})
    for name, words in (
        ("becomes wrong", "requires true labels"),
        ("worst group", "at least ten rows"),
        ("added flips", "requires several runs"),
        ("psi", "there is no 'psi' to judge; there are flips"),
    ):
        with pytest.raises(ValueError, match=words):
            gates(found, {name: 0.1})
    with pytest.raises(ValueError, match="flips=-1"):
        gates(found, {"flips": -1})


# -- displays, MLflow ------------------------------------------------------------------------------


def test_mlflow_uris_are_loaded(monkeypatch):
    """A stand-in for MLflow; the package itself is in tests/integrations."""
    loaded = {"models:/credit/1": OLD, "models:/credit/2": NEW}
    mlflow = types.ModuleType("mlflow")
    mlflow.pyfunc = types.SimpleNamespace(load_model=loaded.__getitem__)
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    found = compare("models:/credit/1", "models:/credit/2", ROWS, TRUTH)
    assert found.flips.value == np.mean(A != B)
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ImportError, match=r"replicable-learn\[mlflow\]"):
        compare("models:/credit/1", NEW, ROWS)
    with pytest.raises(ValueError, match="not the URI of an MLflow model"):
        compare("old.replearn", NEW, ROWS)


def test_rows_that_a_model_was_trained_on_are_named():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 3))
    labels = (rows[:, 0] + rng.logistic(size=400) > 0).astype(int)
    model = IncumbentClassifier().fit(rows, labels)
    with pytest.warns(RetrainingWarning, match="training sample of the old model"):
        compare(model, model.estimator_, rows, labels)
