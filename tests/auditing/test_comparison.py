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
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB

from replearn import (
    DecisionThresholdClassifier,
    IncumbentClassifier,
    ScoreReplicableClassifier,
)
from replearn.auditing import compare, update_gates
from replearn.auditing._stability_index import psi
from replearn.exceptions import RetrainingWarning

X, Y = make_classification(3000, n_features=6, flip_y=0.2, weights=[0.7], random_state=0)
OLD = LogisticRegression().fit(X[:300], Y[:300])
NEW = GaussianNB().fit(X[300:600], Y[300:600])
ROWS, TRUTH = X[600:], Y[600:]
A, B = OLD.predict(ROWS), NEW.predict(ROWS)
SCORES = OLD.predict_proba(ROWS)[:, 1], NEW.predict_proba(ROWS)[:, 1]


@pytest.fixture(scope="module")
def found():
    return compare(OLD, NEW, ROWS, TRUTH, top_k=200)


# -- flips -----------------------------------------------------------------------------------------


def test_flips_and_compatibility(found):
    right_a, right_b = A == TRUTH, B == TRUTH
    negative, positive = np.sum(right_a & ~right_b), np.sum(~right_a & right_b)
    assert found.right_to_wrong.value == negative / len(TRUTH)
    assert found.wrong_to_right.value == positive / len(TRUTH)
    assert found.flip_ratio.value == pytest.approx(negative / positive)
    share = stats.binomtest(int(negative), int(negative + positive)).proportion_ci(0.95, "exact")
    odds = share.low / (1 - share.low), share.high / (1 - share.high)
    assert (found.flip_ratio.lower, found.flip_ratio.upper) == pytest.approx(odds)
    assert found.trust_compatibility.value == np.mean(right_b[right_a])
    assert found.error_compatibility.value == np.mean(~right_b[~right_a])


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


def test_a_ratio_without_positive_flips_is_none_and_an_open_limit_null():
    truth = np.zeros(50, dtype=int)
    worse = np.r_[np.ones(5, dtype=int), truth[5:]]
    assert compare(truth, worse, y=truth).flip_ratio is None
    better = compare(worse, np.r_[truth[:1], 1, truth[2:]], y=truth)
    assert better.flip_ratio.value == 0
    told = json.loads(better.to_json())
    assert told["flip_ratio"]["estimate"] == 0


def test_limits_of_accuracy_and_mcnemars_test_agree():
    """317 losses and 369 gains in 4,000 rows: p is .051, and limits by the normal law exclude 0."""
    truth = np.zeros(4000, dtype=int)
    old = np.r_[np.zeros(317), np.ones(369), np.zeros(3314)].astype(int)
    new = np.r_[np.ones(317), np.zeros(3683)].astype(int)
    found = compare(old, new, y=truth)
    test = found.tests[0]
    assert 0.05 < test.p_value < 0.06
    assert test.difference.lower < 0.0
    assert test.outcome == "no difference shown"
    clearer = compare(old, np.r_[np.ones(300), np.zeros(3700)].astype(int), y=truth).tests[0]
    assert clearer.p_value < 0.05
    assert clearer.outcome == "better"


# -- decision thresholds ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    "old",
    [
        DecisionThresholdClassifier(LogisticRegression(), threshold=0.2),
        FixedThresholdClassifier(LogisticRegression(), threshold=0.2),
        IncumbentClassifier(LogisticRegression(), threshold=0.2),
        ScoreReplicableClassifier(threshold=0.2, n_blocks=3, shared_key="k"),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::replearn.NotCertifiedWarning")
def test_approvals_are_those_that_the_models_predict(old):
    old = old.fit(X[:600], Y[:600])
    plain, kept = compare(old, NEW, ROWS).approvals
    assert (plain.kind, plain.threshold_a) == ("predictions", None)
    assert plain.rate_a.value == np.mean(old.predict(ROWS) == 1)
    assert plain.rate_b.value == np.mean(B == 1)
    assert kept.swap_in.rows == kept.swap_out.rows
    mirrored = compare(old, NEW, ROWS, pos_label=0).approvals[0]
    assert mirrored.rate_a.value == pytest.approx(1 - plain.rate_a.value)
    below = compare(old, NEW, ROWS, approved="below").approvals[0]
    assert below.rate_a == mirrored.rate_a
    given = compare(old, NEW, ROWS, threshold=0.4).approvals[0]
    assert (given.kind, given.threshold_a) == ("same threshold", 0.4)
    assert given.rate_b.value == np.mean(SCORES[1] >= 0.4)


def test_who_keeps_all_predictions_swaps_nobody():
    """An incumbent keeps predictions inside its band, whatever side of 0.5 its scores are on."""
    first = IncumbentClassifier(LogisticRegression()).fit(X[:300], Y[:300])
    second = IncumbentClassifier(LogisticRegression(), incumbent=first, band=0.45, memory=0.0)
    found = compare(first, second.fit(X[300:600], Y[300:600]), ROWS)
    sides = [scores >= 0.5 for scores in found.compared.scores]
    assert np.sum(sides[0] != sides[1]) > len(found.flipped)
    (swaps, _) = found.approvals
    assert swaps.swap_in.rows + swaps.swap_out.rows == len(found.flipped)


@pytest.mark.parametrize(
    ("label", "asks"), [("default", True), ("bad loan", True), ("paid", False)]
)
def test_a_bad_label_is_not_approved_without_a_word(label, asks):
    labels = np.where(SCORES[0] > 0.5, label, "a")
    options = {"scores": SCORES, "pos_label": label}
    found = compare(labels, labels, **options)
    for text in (str(found), found.to_markdown(), found.to_html()):
        assert ("--approved below" in text) == asks
    assert "--approved below" not in str(compare(labels, labels, approved="below", **options))


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


def test_paired_tests(found):
    tests = {test.metric: test for test in found.tests}
    assert list(tests) == ["accuracy", "AUC", "Brier score", "log-loss"]
    lost, gained = np.sum((A == TRUTH) & (B != TRUTH)), np.sum((A != TRUTH) & (B == TRUTH))
    assert tests["accuracy"].p_value == stats.binomtest(int(lost), int(lost + gained)).pvalue
    assert tests["accuracy"].difference.value == pytest.approx((gained - lost) / len(TRUTH))
    for name, loss in (("Brier score", metrics.brier_score_loss), ("log-loss", metrics.log_loss)):
        assert tests[name].a == pytest.approx(loss(TRUTH, SCORES[0]))
        assert tests[name].b == pytest.approx(loss(TRUTH, SCORES[1]))
    squares = [(s - TRUTH) ** 2 for s in SCORES]
    paired = stats.ttest_rel(squares[1], squares[0])
    limits = paired.confidence_interval(0.95)
    brier = tests["Brier score"]
    assert brier.p_value == pytest.approx(paired.pvalue)
    assert (brier.difference.lower, brier.difference.upper) == pytest.approx(
        (limits.low, limits.high)
    )


def test_auc_is_delongs_test(found):
    test = next(test for test in found.tests if test.metric == "AUC")
    difference, error = delong(SCORES, TRUTH)
    assert test.a == pytest.approx(metrics.roc_auc_score(TRUTH, SCORES[0]))
    assert test.difference.value == pytest.approx(difference)
    reach = 0.5 * (test.difference.upper - test.difference.lower)
    assert reach == pytest.approx(stats.norm.ppf(0.975) * error, rel=0.005)


def test_few_changed_rows_have_exact_limits():
    truth = np.zeros(200, dtype=int)
    new = np.r_[1, truth[1:]]
    (test,) = compare(truth, new, y=truth).tests
    upper = stats.binomtest(1, 200).proportion_ci(0.975, "exact").high
    assert test.difference.lower <= -upper + 1e-9
    assert test.outcome == "no difference shown"


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
        (test,) = compare(old, new, y=truth, groups=groups).tests
        alarms += test.outcome != "no difference shown"
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
        for test in compare(old, new, y=truth, scores=scores).tests:
            if test.metric in alarms:
                alarms[test.metric] += test.outcome != "no difference shown"
    allowed = stats.binom.isf(1e-8, runs, 0.07)
    assert max(alarms.values()) <= allowed
    assert sum(alarms.values()) > 0, "limits so wide that nothing is ever found"


# -- scores ----------------------------------------------------------------------------------------


def test_scores_move(found):
    scores = found.scores
    assert scores.rank_correlation == pytest.approx(stats.spearmanr(*SCORES).statistic)
    edges = np.array(scores.migration.edges)
    table, _, _ = np.histogram2d(*SCORES, bins=[np.r_[-1, edges, 2]] * 2)
    assert np.array(scores.migration.counts).tolist() == table.tolist()
    shares = [np.histogram(s, np.r_[-1, edges, 2])[0] / len(TRUTH) for s in SCORES]
    direct = np.sum((shares[1] - shares[0]) * np.log(shares[1] / shares[0]))
    assert scores.stability.psi == pytest.approx(direct)
    top = [set(np.argsort(-s)[:200].tolist()) for s in SCORES]
    assert scores.top.overlap == pytest.approx(len(top[0] & top[1]) / 200)
    assert scores.mean_change == pytest.approx(np.mean(SCORES[1] - SCORES[0]))
    for bins, side in zip((scores.calibration.a, scores.calibration.b), SCORES, strict=True):
        assert sum(b.count for b in bins) == len(TRUTH)
        assert sum(b.count * b.predicted for b in bins) == pytest.approx(side.sum())
        assert sum(b.count * b.observed for b in bins) == pytest.approx(TRUTH.sum())


def test_psi_is_symmetric_and_has_its_marks():
    one, two = np.array([10.0, 30.0, 60.0]), np.array([30.0, 30.0, 40.0])
    assert psi(one, two) == pytest.approx(psi(two, one))
    kl = stats.entropy(one, two) + stats.entropy(two, one)
    assert psi(one, two) == pytest.approx(kl)
    assert np.isfinite(psi(np.array([0.0, 10.0]), np.array([5.0, 5.0])))


def test_ties_at_the_end_of_the_top_list_count_by_chance():
    flat = np.full(10, 0.5)
    found = compare(np.zeros(10), np.ones(10), scores=(flat, np.arange(10) / 10), top_k=5)
    assert found.scores.top.overlap == pytest.approx(0.5)
    assert found.scores.rank_correlation is None


@pytest.mark.parametrize("approved", ["above", "below"])
def test_swap_sets(approved):
    found = compare(A, B, y=TRUTH, scores=SCORES, threshold=0.4, approved=approved)
    same, kept = found.approvals
    sign = (lambda s, t: s >= t) if approved == "above" else (lambda s, t: s < t)
    before, after = sign(SCORES[0], 0.4), sign(SCORES[1], 0.4)
    assert same.rate_a.value == before.mean()
    assert same.rate_b.value == after.mean()
    assert same.swap_in.rows == np.sum(after & ~before)
    assert same.swap_out.rows == np.sum(before & ~after)
    assert same.swap_in.outcome.value == TRUTH[after & ~before].mean()
    assert same.swap_out.outcome.value == TRUTH[before & ~after].mean()
    assert same.both.value == TRUTH[before & after].mean()
    assert kept.rate_a.value == kept.rate_b.value
    assert kept.swap_in.rows == kept.swap_out.rows
    assert np.sum(sign(SCORES[1], kept.threshold_b)) == before.sum()


def test_scores_of_models_are_those_of_the_positive_label(found):
    given = compare(A, B, y=TRUTH, scores=SCORES)
    assert given.scores.stability == found.scores.stability
    for one, two in zip(given.tests, found.tests, strict=True):
        assert one.difference.value == pytest.approx(two.difference.value)
        assert one.p_value == pytest.approx(two.p_value)
    other = compare(OLD, NEW, ROWS, TRUTH, pos_label=0)
    assert other.scores.pos_label == "0"
    assert other.scores.mean_change == pytest.approx(-found.scores.mean_change)


def test_scores_of_another_label_are_noticed(found):
    swapped = compare(A, B, y=TRUTH, scores=tuple(1 - side for side in SCORES))
    assert "both scores rank '1' low: is it the positive label?" in str(swapped)
    assert "is it the positive label?" not in str(found)


# -- columns against reference rows ----------------------------------------------------------------


def test_columns_shift_against_reference_rows():
    rng = np.random.default_rng(0)
    here = pd.DataFrame({"same": rng.normal(size=2000), "moved": rng.normal(1, 1, 2000)})
    here["town"] = rng.choice(["a", "b"], 2000, p=[0.2, 0.8])
    there = pd.DataFrame({"same": rng.normal(size=3000), "moved": rng.normal(0, 1, 3000)})
    there["town"] = rng.choice(["a", "b"], 3000, p=[0.5, 0.5])
    labels = np.zeros(2000)
    shifts = {s.name: s for s in compare(labels, labels, here, reference=there).columns}
    assert shifts["same"].psi < 0.1
    assert shifts["same"].by_chance == pytest.approx(9 * (1 / 2000 + 1 / 3000))
    assert shifts["moved"].size == "large"
    p, q = (frame["town"].value_counts(normalize=True).loc[["a", "b"]] for frame in (here, there))
    direct = float(((p - q) * np.log(p / q)).sum())
    assert shifts["town"].psi == pytest.approx(direct)
    with pytest.raises(ValueError, match="reference has no column 'town'"):
        compare(labels, labels, here, reference=there[["same", "moved"]])


def test_what_two_samples_of_one_population_give_on_average():
    rng = np.random.default_rng(1)
    labels = np.zeros(400)
    found = []
    for _ in range(100):
        here, there = rng.normal(size=(400, 1)), rng.normal(size=(600, 1))
        (shift,) = compare(labels, labels, here, reference=there).columns
        found.append(shift.psi)
    assert np.mean(found) == pytest.approx(shift.by_chance, rel=0.25)


def test_scores_of_both_models_are_compared_with_reference_rows():
    shifts = compare(OLD, NEW, ROWS, reference=X[:600]).columns
    assert [s.name for s in shifts[-2:]] == ["scores of the old model", "scores of the new model"]


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
        assert move.rows == table[int(move.a), int(move.b)]
    assert sum(move.rows for move in found.transitions) == np.sum(a != b)
    assert found.scores is None
    assert [test.metric for test in found.tests] == ["accuracy", "AUC", "Brier score", "log-loss"]
    auc = metrics.roc_auc_score(labels[400:], new.predict_proba(rows[400:]), multi_class="ovr")
    assert found.tests[1].b == pytest.approx(auc)


def test_quantities():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(600, 3))
    truth = rows.sum(axis=1) + rng.normal(size=600)
    old = LinearRegression().fit(rows[:30], truth[:30])
    new = LinearRegression().fit(rows[30:60], truth[30:60])
    found = compare(old, new, rows[60:], truth[60:], tolerance=0.3)
    a, b, y = old.predict(rows[60:]), new.predict(rows[60:]), truth[60:]
    assert found.flips.value == np.mean(np.abs(a - b) >= 0.3)
    assert found.right_to_wrong.value == np.mean((np.abs(a - y) < 0.3) & (np.abs(b - y) >= 0.3))
    assert found.quantity.p90 == pytest.approx(np.quantile(np.abs(a - b), 0.9))
    tests = {test.metric: test for test in found.tests}
    assert tests["mean squared error"].b == pytest.approx(metrics.mean_squared_error(y, b))
    errors = np.abs(b - y), np.abs(a - y)
    assert tests["mean absolute error"].p_value == pytest.approx(stats.ttest_rel(*errors).pvalue)
    assert "by 0.3 or more" in found.to_html()
    assert json.loads(found.to_json())["quantity"]["tolerance"] == 0.3


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
    assert judged.p_value == judged.tests[0].p_value
    assert judged.p_value > compare(old, new, y=truth).p_value
    by_text = compare(old, new, groups=cases.astype(str))
    assert by_text.flips == together.flips


def test_rows_that_must_not_change():
    old, new = np.zeros(20, dtype=int), np.r_[np.zeros(18, dtype=int), 1, 1]
    ids = np.array([f"p{i}" for i in range(20)])
    by_id = compare(old, new, ids=ids, must_not_change=["p1", "p19"]).golden_set
    assert (by_id.rows, [v.id for v in by_id.violations]) == (2, ["p19"])
    mask = compare(old, new, must_not_change=np.arange(20) >= 18).golden_set
    assert [v.id for v in mask.violations] == ["18", "19"]
    assert compare(old, new, must_not_change=[0]).golden_set.violations == ()
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
    frame = compare(A, B, y=TRUTH, scores=SCORES, ids=ids).frame()
    assert frame.columns.tolist() == ["row", "id", "a", "b", "truth", "score_a", "score_b"]
    assert frame["id"].tolist() == [f"p{i}" for i in np.flatnonzero(A != B)]


def test_changed_rows_begin_with_those_that_become_wrong(found):
    kinds = [row.change for row in found.changed_rows]
    assert kinds == sorted(kinds, key=lambda kind: kind != "right to wrong")
    first = [abs(r.score_b - r.score_a) for r in found.changed_rows if r.change == kinds[0]]
    assert first == sorted(first, reverse=True)


def test_reasons_name_what_is_unusual():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 5, 300), "town": ["Ulm"] * 299 + ["Rom"]})
    frame.loc[299, "age"] = 95.0
    new = np.r_[np.zeros(299), 1]
    (row,) = compare(np.zeros(300), new, frame).changed_rows
    assert "age 95 (usually 39.61)" in row.reason
    assert "town Rom (0 % of the others)" in row.reason


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
        ({"scores": ([0.1] * 4, [0.2] * 4), "y": [1] * 4}, "one class only"),
        ({"y": ["yes", "no", "no", "no"]}, "no prediction is a label of y"),
        ({"y": [1, 0]}, r"y has shape \(2,\), but X has 4 rows"),
        ({"pos_label": 7}, "pos_label=7 is not a label"),
        ({"top_k": 2}, "requires scores"),
        ({"approved": "both", "scores": ([0.1] * 4, [0.2] * 4)}, "approved='both' must be one of"),
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
    worst = max(judged.by_subgroup, key=lambda group: group.value)
    allowed = {
        "fail_above": judged.flips.value,
        "fail_negative_above": judged.right_to_wrong.value,
        "fail_subgroup_above": worst.value,
        "fail_psi_above": judged.scores.stability.psi,
    }
    gates = update_gates(judged, **allowed)
    assert [gate.passed for gate in gates] == [True] * 5
    for name, number in allowed.items():
        tighter = update_gates(judged, **{**allowed, name: number * 0.99})
        assert [gate.passed for gate in tighter].count(False) == 1, name
    broken = compare(OLD, NEW, ROWS, TRUTH, must_not_change=A != B)
    (gate,) = update_gates(broken)
    assert not gate.passed
    assert gate.value == np.sum(A != B)


def test_gates_say_what_they_require():
    found = compare(A, B, subgroups={"few": np.arange(len(A)) // 5})
    for name, words in (
        ("fail_negative_above", "requires true labels"),
        ("fail_subgroup_above", "at least 10 rows"),
        ("fail_psi_above", "requires scores"),
    ):
        with pytest.raises(ValueError, match=words):
            update_gates(found, **{name: 0.1})


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
