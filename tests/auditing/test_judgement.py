"""One judgement: every text of a report recommends the same contender for the same need."""

import dataclasses
import html
import json
import re

import numpy as np
import pytest
from sklearn import metrics

from replearn.auditing import AccuracyFlipsDisplay, AuditDesign, AuditResult, ClassifierResult
from replearn.auditing._contenders import NEEDS, NOTHING, OLD_MODEL, SHARED_KEY
from replearn.auditing._judgement import COSTLY, OUTCOMES, WORTH_IT, Score, headline, price, verdict
from replearn.auditing._statistics import Estimate
from replearn.auditing._table import DataFacts
from replearn.learners import error_costs

NAMES = {
    "baseline": NOTHING,
    "bagging (5 models)": NOTHING,
    "score thresholds": SHARED_KEY,
    "incumbent": OLD_MODEL,
    "replicable": SHARED_KEY,
}
NO_FACTS = DataFacts(0.0, 0.0, (), (), (), has_named_columns=False)


def measured(contenders, truth, *, subgroups=None, **settings):
    """A result from predictions of shape (pairs, 2, rows), without any training."""
    first = next(iter(contenders.values()))
    n_pairs, _, n_test = first.shape
    results = tuple(
        ClassifierResult(
            name=name,
            description=name,
            kind=name,
            needs=NAMES.get(name, NOTHING),
            truth=truth,
            predictions=predictions.astype(np.int32),
            seconds=np.ones((n_pairs, 2)),
        )
        for name, predictions in contenders.items()
    )
    design = AuditDesign(
        n_rows=10 * n_test,
        n_test=n_test,
        n_pairs=n_pairs,
        n_drawn=n_pairs,
        train_size=4 * n_test,
        sample="disjoint",
        unit="rows",
        n_pool=9 * n_test,
        key_fingerprint="none",
    )
    return AuditResult(
        design=design,
        contenders=results,
        classes=("no", "yes"),
        test=np.arange(n_test),
        clusters=None,
        subgroups=subgroups or {},
        facts=NO_FACTS,
        shown_rows=np.arange(5),
        columns=("x",),
        cells=(("1",),) * 5,
        rho=0.1,
        pairs_wanted=n_pairs,
        wall_seconds=1.0,
        **settings,
    )


def random_result(seed):
    """Contenders of random accuracy and stability, some of them constant, on one truth."""
    rng = np.random.default_rng(seed)
    n_test = int(rng.integers(60, 400))
    truth = (rng.random(n_test) < rng.choice([0.05, 0.3, 0.5])).astype(int)
    truth[:2] = [0, 1]
    shape = (int(rng.integers(2, 9)), 2, n_test)
    contenders = {}
    for name in list(NAMES)[: rng.integers(1, 6)]:
        wrong = rng.random(n_test) < rng.choice([0.0, 0.1, 0.4])
        unsure = rng.random(n_test) < rng.choice([0.0, 0.01, 0.2, 0.6])
        runs = np.broadcast_to(truth ^ wrong, shape) ^ (unsure & (rng.random(shape) < 0.3))
        contenders[name] = np.zeros(shape) if rng.random() < 0.15 else runs
    return measured(contenders, truth, max_price=float(rng.choice([0.0, 0.01, 0.05])))


def texts_of(result):
    """All texts of one report, in one line each."""
    texts = [result.to_text(details=True), result.to_markdown(), result._repr_html_()]
    texts += [re.sub("<[^>]*>", " ", result.to_html()), str(result)]
    texts += [" ".join(finding.explanations) for finding in result.findings]
    unescaped = (html.unescape(text).replace("\\", "").replace("\u00a0", " ") for text in texts)
    return [" ".join(text.split()) for text in unescaped]


CHOSEN = r"Recommendation: (?!keep|find|choose)(.+?)(?:(?: \(\1\))?, if (?:you|all)|\. \d)"
RECOMMENDS = {
    None: rf"{CHOSEN}|Recommendation: keep (the model)",
    NOTHING: r"With nothing but the data: (.+?)\.",
    OLD_MODEL: r"If you still have the old model: (.+?)\.",
    SHARED_KEY: r"If all runs share a key: (.+?)\.",
}


def recommended_in(text, pattern):
    named = ["".join(groups) for groups in re.findall(f"(?:{pattern})()", text)]
    return {"baseline" if name == "the model" else name for name in named}


@pytest.mark.parametrize("seed", range(24))
def test_no_two_texts_recommend_different_contenders_for_one_need(seed):
    result = random_result(seed)
    judgement = result.judgement
    by_need = {r.needs: r.contender for r in judgement.recommendations}
    for text in texts_of(result):
        for need, pattern in RECOMMENDS.items():
            expected = judgement.recommended if need is None else by_need.get(need)
            assert recommended_in(text, pattern) <= {expected}, (need, text)
    stored = json.loads(result.to_json())["judgement"]
    assert stored["recommended"] == judgement.recommended
    assert {r["needs"]: r["contender"] for r in stored["recommendations"]} == by_need


@pytest.mark.parametrize("seed", range(60))
def test_what_is_recommended_is_worth_it_or_the_baseline(seed):
    judgement = random_result(seed).judgement
    baseline = judgement.contenders[0].name
    assert all(c.outcome in OUTCOMES for c in judgement.contenders)
    for r in judgement.recommendations:
        chosen = judgement[r.contender]
        assert chosen.needs == r.needs
        if r.contender != baseline:
            assert chosen.outcome == WORTH_IT
            assert chosen.price <= judgement.max_price
            assert chosen.difference.upper < 0
    assert [r.needs for r in judgement.recommendations] == sorted(
        (r.needs for r in judgement.recommendations), key=NEEDS.index
    )
    if judgement.recommended is not None:
        assert judgement.recommended in [r.contender for r in judgement.recommendations]


@pytest.mark.parametrize("seed", range(20))
def test_findings_agree_with_the_judgement(seed):
    result = random_result(seed)
    found = {f.code: " ".join(f.explanations) for f in result.findings if f.status == "found"}
    for c in result.judgement.contenders:
        assert (c.name in found.get("RPL011", "")) == (c.outcome == "useless")
        if c.outcome == WORTH_IT:
            assert f"{c.name} changes" not in found.get("RPL014", "")
            assert f"{c.name}: It finds" not in found.get("RPL012", "")


def test_it_is_computed_once(monkeypatch):
    from replearn.auditing import _audit

    calls = []
    real = _audit.judge
    monkeypatch.setattr(_audit, "judge", lambda result: calls.append(1) or real(result))
    result = random_result(3)
    texts_of(result)
    result.to_json()
    assert len(calls) == 1


def two_worlds():
    """A baseline that changes a tenth of the predictions, and one that changes none."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    unsure = (np.arange(300) < 60) & (rng.random((8, 2, 300)) < 0.3)
    return {"baseline": truth ^ unsure, "replicable": np.broadcast_to(truth, (8, 2, 300))}, truth


def test_one_row_in_a_hundred_is_a_lower_limit_in_the_headline():
    truth = np.zeros(100, int)
    runs = np.zeros((4, 2, 100), int)
    runs[:, 1, :30] = 1
    text = headline(measured({"baseline": runs}, truth).judgement)
    sentence = r"for at least 1 row in 100 it is no better than a coin toss \(\d+ to 100 % of re"
    assert re.search(sentence, text)


def test_a_finding_about_other_contenders_names_them_on_the_first_screen():
    runs, truth = two_worlds()
    stable = measured({"baseline": runs["replicable"], "replicable": runs["baseline"]}, truth)
    assert "RPL001 high flip rate (replicable)" in " ".join(str(stable).split())
    unstable = measured(runs, truth)
    assert "RPL001 high flip rate;" in " ".join(str(unstable).split()).replace(".", ";")


def test_contenders_that_were_not_measured_are_in_the_headline():
    result = measured(*two_worlds(), not_measured=("incumbent",))
    for text in texts_of(result)[:4]:
        assert "Not measured: incumbent." in text
    head = " ".join(str(result).split("\n\n")[0].split())
    assert "Not measured: incumbent." in head


def test_the_first_screen_has_at_most_25_lines():
    contenders, truth = two_worlds()
    stable = contenders["replicable"]
    every = {name: contenders.get(name, stable) for name in NAMES}
    result = measured(every, truth, cut_short=("4 of 20 pairs were run: the time budget ended",))
    lines = str(result).splitlines()
    assert len(lines) <= 25
    rare = str(with_risks()).splitlines()
    assert len(rare) <= 25
    table = next(line for line in lines if line.startswith("contender"))
    assert len(re.split(r"\s{2,}", table)) == 5
    assert "±" not in result.to_text(details=True)
    assert result.to_text(details=True).startswith(str(result))


# -- a rare class ----------------------------------------------------------------------------------


def with_risks(slope=2.0, threshold=0.5, n_test=900, **settings):
    """A baseline and others whose probabilities rank rows of which 9 % are events."""
    rng = np.random.default_rng(0)
    truth = (rng.random(n_test) < 0.09).astype(int)
    risk = 1 / (1 + np.exp(3.2 - slope * truth - rng.normal(size=n_test)))
    contenders = {}
    for index, name in enumerate(NAMES):
        moved = np.clip(risk + rng.normal(0, 0.02 / (1 + index), (6, 2, n_test)), 0.001, 0.999)
        contenders[name] = moved
    result = measured({k: v >= threshold for k, v in contenders.items()}, truth, **settings)
    both = {k: np.stack([1 - v, v], axis=-1) for k, v in contenders.items()}
    found = [
        dataclasses.replace(c, probabilities=both[c.name], decision_threshold=threshold)
        for c in result.contenders
    ]
    return dataclasses.replace(result, contenders=tuple(found), threshold="prevalence")


def test_risk_leads_where_a_class_is_rare():
    result = with_risks(threshold=0.09)
    risk = result.judgement.risk
    first = result.contenders[0]
    events = first.truth == 1
    assert risk.event == "yes"
    assert risk.test_events == events.sum()
    assert risk.estimated == pytest.approx(first.probabilities[..., 1].mean())
    gaps = np.abs(first.probabilities[:, 0, :, 1] - first.probabilities[:, 1, :, 1])
    assert risk.change == pytest.approx(gaps.mean())
    assert risk.recall.value == pytest.approx((first.predictions[..., events] == 1).mean())
    for judged in result.judgement.contenders:
        assert [score.name for score in judged.scores] == ["weighted accuracy", "AUC"]
    for judged in dataclasses.replace(result, threshold="").judgement.contenders:
        assert [score.name for score in judged.scores] == ["AUC", "balanced accuracy"]
    for text in texts_of(result)[:4]:
        assert "At threshold 0.09 (prevalence): recall" in text
        assert "Retraining moves the estimated risk by" in text
        assert f"Too few events to judge: {events.sum()} of 900 test rows" in text


def test_errors_are_weighed_as_the_threshold_weighs_them():
    """The measure by which an incumbent decides what it loses, up to the unit."""
    result = with_risks(threshold=0.09)
    truth = result.contenders[0].truth
    costs = error_costs(2, 0.09)
    for contender, judged in zip(result.contenders, result.judgement.contenders, strict=True):
        score = judged.scores[0]
        runs = contender.predictions.reshape(-1, len(truth))
        weights = {"sample_weight": costs[truth]}
        expected = np.mean([metrics.accuracy_score(truth, run, **weights) for run in runs])
        assert score.value.value == pytest.approx(expected)
        lost = np.mean([costs[truth][run != truth].sum() for run in runs]) / costs[truth].sum()
        assert score.value.value == pytest.approx(1 - lost)
    for text in texts_of(result)[:4]:
        assert "a missed 'yes' counts 10.1 times a false one" in text


def test_no_model_is_the_constant_that_costs_least():
    """At a threshold below the share of events, always predicting one costs less than never."""
    result = with_risks(threshold=0.05)
    none = result.judgement.no_model
    share = result.contenders[0].truth.mean()
    assert none.label == "yes"
    assert none.accuracy == pytest.approx(share)
    assert none.weighted_accuracy == pytest.approx(1.9 * share / (1.9 * share + 0.1 * (1 - share)))
    for text in texts_of(result)[:4]:
        assert re.search(r"always (['“])yes.*?\b0\.500\b.*?\b100\.0 %", text)


def test_the_display_names_the_score_that_leads():
    assert AccuracyFlipsDisplay.from_result(with_risks(threshold=0.09)).score == "weighted accuracy"
    assert AccuracyFlipsDisplay.from_result(measured(*two_worlds())).score == "accuracy"


@pytest.mark.parametrize(("threshold", "name"), [(0.5, "accuracy"), ("share", "balanced_accuracy")])
def test_weighted_accuracy_is_accuracy_or_balanced_accuracy(threshold, name):
    result = with_risks()
    share = result.contenders[0].truth.mean() if threshold == "share" else threshold
    changed = [dataclasses.replace(c, decision_threshold=share) for c in result.contenders]
    weighed = dataclasses.replace(result, contenders=tuple(changed))
    for judged in weighed.judgement.contenders:
        found = getattr(judged.usefulness, name)
        assert judged.scores[0].value.value == pytest.approx(found.value)


def test_the_first_screen_shows_what_the_verdict_rests_on():
    """A contender that never finds the rarer class hardly loses accuracy."""
    rng = np.random.default_rng(0)
    truth = (rng.random(600) < 0.3).astype(int)
    unsure = rng.random((6, 2, 600)) < 0.2
    stable = np.broadcast_to(truth & (rng.random(600) < 0.35), (6, 2, 600))
    result = measured({"baseline": truth ^ unsure, "replicable": stable}, truth)
    judged = result.judgement["replicable"]
    accuracy, balanced = judged.scores
    assert -balanced.difference.value == judged.price > -accuracy.difference.value
    shown = f"{100 * judged.price:.1f} points of balanced accuracy lost"
    line = next(one for one in str(result).splitlines() if one.startswith("replicable"))
    assert shown in line
    for text in texts_of(result)[:4]:
        assert shown in text


def test_common_classes_are_judged_by_accuracy():
    result = measured(*two_worlds())
    assert result.judgement.risk is None
    assert result.judgement.baseline.scores[0].name == "accuracy"
    without = with_risks()
    plain = dataclasses.replace(without.contenders[1], probabilities=None)
    contenders = (without.contenders[0], plain)
    mixed = dataclasses.replace(without, contenders=contenders, threshold="").judgement
    assert [c.scores[0].name for c in mixed.contenders] == ["accuracy", "accuracy"]


def test_no_model_at_all_is_said_only_if_ranking_is_no_better_than_chance():
    ranks = with_risks(threshold=0.999)  # puts every row in one class, and ranks them well
    assert ranks.judgement.baseline.outcome == "needs a threshold"
    assert ranks.judgement.recommended is None
    assert "choose another decision threshold first" in str(ranks)
    assert "find a better model" not in str(ranks)
    chance = with_risks(slope=0.0, threshold=0.999)
    assert chance.judgement.baseline.outcome == "useless"
    assert "find a better model first" in str(chance)
    for result in (ranks, chance):
        assert finding(result, "RPL011").status == "found"


def test_enough_events_are_not_remarked_on():
    many = with_risks(threshold=0.09, n_test=4000)
    assert not many.judgement.risk.too_few_events
    assert "Too few events" not in str(many)
    wide = dataclasses.replace(many, columns=tuple(map(str, range(400))))
    assert wide.judgement.risk.too_few_events
    assert "per column (recommended: 10)" in " ".join(str(wide).split())


@pytest.mark.parametrize(
    ("upper", "words", "limits"),
    [
        (0.01, "Price unclear", "; limits -1.0 to 5.0 points)"),
        (-0.005, "Stability costs accuracy here", "(90.0 % to 88.0 %)"),
    ],
)
def test_a_price_that_may_be_none_is_unclear(upper, words, limits):
    score = Score("accuracy", 0.9, Estimate(0.88, 0.86, 0.9), Estimate(-0.02, -0.05, upper))
    judged = random_result(0).judgement.others[0]
    costly = dataclasses.replace(judged, outcome=COSTLY, scores=(score,))
    assert verdict(costly) == words
    assert limits in price(costly)


def test_limits_are_a_range():
    text = str(measured(*two_worlds()))
    assert re.search(r"\d+\.\d % \(\d+\.\d to \d+\.\d %\)", text)


# -- subgroups -------------------------------------------------------------------------------------


def with_unstable_group(n_columns, n_contenders, seed=0):
    """One group of 60 rows flips 18 % of the time, the others 5 %; other columns are noise."""
    rng = np.random.default_rng(seed)
    n_test = 340
    here = np.arange(n_test) < 60
    rate = np.where(here, 0.10, 0.028)
    truth = rng.integers(0, 2, n_test)
    flips = rng.random((8, 2, n_test)) < rate
    contenders = {f"c{index}": truth ^ flips for index in range(n_contenders)}
    noise = {
        f"noise {index}": ([str(k) for k in range(12)], rng.integers(0, 12, n_test))
        for index in range(n_columns - 1)
    }
    subgroups = {"town": (["Bonn", "Ulm"], (~here).astype(int)), **noise}
    return measured(contenders, truth, subgroups=subgroups)


def finding(result, code):
    return next(f for f in result.findings if f.code == code)


@pytest.mark.parametrize(("n_columns", "n_contenders"), [(1, 1), (6, 5), (12, 9)])
def test_a_subgroup_is_found_however_many_columns_and_contenders(n_columns, n_contenders):
    found = finding(with_unstable_group(n_columns, n_contenders), "RPL003")
    assert found.status == "found"
    assert any(text.startswith("c0: town = Bonn flips") for text in found.explanations)


def test_subgroups_that_do_not_differ_are_not_found():
    """All rows alike: over 40 files with six columns each, false alarms stay below delta each."""
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, 400)
        runs = {"c0": truth ^ (rng.random((6, 2, 400)) < 0.05)}
        groups = {f"g{index}": (["a", "b", "c"], rng.integers(0, 3, 400)) for index in range(6)}
        found = finding(measured(runs, truth, subgroups=groups), "RPL003")
        alarms += len(found.explanations) if found.status == "found" else 0
    assert alarms <= 40 * 6 * 0.05


def test_settings_change_the_judgement_not_the_measurement():
    result = measured(*two_worlds())
    assert dataclasses.replace(result, max_price=0.0).judgement.max_price == 0.0
    assert result.judgement.recommended == "replicable"
