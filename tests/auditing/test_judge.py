"""One judgement: every text of a report recommends the same contender."""

import html
import json
import re

import numpy as np
import pytest

from replearn.auditing.audits import AuditResult
from replearn.auditing.contenders import NEEDS, NOTHING, OLD_MODEL, SHARED_KEY
from replearn.auditing.design import AuditDesign
from replearn.auditing.displays import AccuracyFlipsDisplay
from replearn.auditing.facts import DataFacts
from replearn.auditing.judge import COSTLY, OUTCOMES, SINGLE_CLASS, UNCLEAR, WORTH_IT
from replearn.auditing.metrics import Labels
from replearn.auditing.runs import ContenderResult, Runs

NAMES = {
    "baseline": NOTHING,
    "bagging (5 models)": NOTHING,
    "score thresholds": SHARED_KEY,
    "incumbent": OLD_MODEL,
    "replicable": SHARED_KEY,
}
NO_FACTS = DataFacts(0.0, 0.0, (), (), has_named_columns=False)


def measured(contenders, truth, *, probabilities=None, subgroups=None, **settings):
    """A result from predictions of shape (pairs, 2, rows), without any training."""
    first = next(iter(contenders.values()))
    n_pairs, _, n_test = first.shape
    results = tuple(
        ContenderResult(
            name=name,
            description=name,
            kind=name,
            needs=NAMES.get(name, NOTHING),
            runs={
                "": Runs(
                    name,
                    Labels(
                        ("no", "yes"),
                        codes.astype(np.int32),
                        truth,
                        probabilities=probabilities,
                    ),
                )
            },
            seconds=np.ones((n_pairs, 2)),
        )
        for name, codes in contenders.items()
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
    unescaped = (html.unescape(text).replace("\\", "").replace("\u00a0", " ") for text in texts)
    return [" ".join(text.split()) for text in unescaped]


@pytest.mark.parametrize("seed", range(24))
def test_every_text_recommends_the_same(seed):
    result = random_result(seed)
    judgement = result.judgement
    for text in texts_of(result):
        named = re.findall(r"Recommendation: (.+?)(?: \(| as it is|\. |, or| or its)", text)
        assert len(named) == (len(judgement.contenders) > 1 or judgement.recommended is None) or (
            judgement.no_better and len(named) == 1
        )
        for words in named:
            if words.startswith("keep"):
                assert judgement.recommended == "baseline"
            elif words.startswith("improve"):
                assert judgement.no_better
            elif words.startswith("find"):
                assert judgement.contenders[0].outcome == SINGLE_CLASS
            else:
                assert judgement.recommended.startswith(words)
    stored = json.loads(result.to_json())
    assert stored["recommended"] == judgement.recommended
    assert stored["recommendations"] == judgement.recommendations


@pytest.mark.parametrize("seed", range(60))
def test_what_is_recommended_is_worth_it_or_the_baseline(seed):
    judgement = random_result(seed).judgement
    baseline = judgement.contenders[0].name
    for name in judgement.recommendations.values():
        assert judgement[name].outcome == WORTH_IT or name == baseline
    for judged in judgement.contenders[1:]:
        assert judged.outcome in OUTCOMES
        if judged.outcome == WORTH_IT:
            assert judged.price <= judgement.max_price
            difference = random_result(seed).table.get("difference of flips", judged.name)
            assert difference.upper < 0
    if judgement.recommended is None:
        assert judgement.contenders[0].outcome == SINGLE_CLASS or judgement.no_better
    else:
        assert judgement.recommended in judgement.recommendations.values()


def test_it_is_computed_once():
    result = random_result(3)
    assert result.judgement is result.judgement
    assert result.table is result.table


def rare(costs=0.0, n_test=2000, n_pairs=12, *, steady=True):
    """A class of one in ten, ranked well by a baseline that changes five predictions in a hundred.

    The other contender changes one in a hundred, and misses a share ``costs`` of the events.
    """
    rng = np.random.default_rng(0)
    truth = (np.arange(n_test) % 10 == 0).astype(int)
    shape = (n_pairs, 2, n_test)
    score = np.clip(0.1 + 0.5 * truth + rng.normal(0, 0.12, n_test), 0.01, 0.99)
    noisy = truth ^ (rng.random(shape) < 0.025)
    few = truth ^ (rng.random(shape) < (0.005 if steady else 0.025))
    few[..., (truth == 1) & (np.arange(n_test) < costs * n_test)] = 0
    chances = np.broadcast_to(score, shape)
    probabilities = np.stack([1 - chances, chances], axis=-1)
    return measured({"baseline": noisy, "incumbent": few}, truth, probabilities=probabilities)


def test_auc_leads_where_a_class_is_rare():
    result = rare()
    assert result.judgement.leading == "AUC"
    assert result.judgement.recommended == "incumbent"
    head = str(result).splitlines()
    assert any(re.search(r"predictions that change +AUC", line) for line in head)
    assert any(line.startswith("always no ") and "0.500" in line for line in head)
    common = random_result(3).judgement
    assert common.leading == "accuracy"
    shown = AccuracyFlipsDisplay.from_result(result)
    assert shown.scores[0].what == "AUC"
    assert "score_value" in shown.frame().columns


def test_a_class_that_is_no_longer_found_costs_accuracy():
    result = rare(costs=0.6)
    judged = result.judgement["incumbent"]
    assert result.table.get("recall of yes", "incumbent").value < 0.5
    assert judged.outcome == COSTLY
    assert judged.price > 0.2, "balanced accuracy, although AUC stays"
    assert result.judgement.recommended == "baseline"
    text = " ".join(str(result).split())
    assert "keep the model as it is" in text
    assert f"{100 * judged.price:.1f} points lost" in text
    free = result.with_settings(max_price=1.0)
    assert free.judgement.recommended == "incumbent"


def test_no_difference_is_not_worth_it():
    assert rare(steady=False).judgement["incumbent"].outcome == UNCLEAR


def test_a_constant_is_never_recommended():
    rng = np.random.default_rng(0)
    truth = (rng.random(500) < 0.4).astype(int)
    shape = (6, 2, 500)
    noisy = truth ^ (rng.random(shape) < 0.1)
    result = measured({"baseline": noisy, "replicable": np.zeros(shape)}, truth)
    judged = result.judgement["replicable"]
    assert (judged.outcome, judged.constant) == (SINGLE_CLASS, "no")
    assert result.judgement.recommended == "baseline"
    assert "It predicts no for nearly every row" in " ".join(result.to_text(details=True).split())
    useless = measured({"baseline": np.zeros(shape), "replicable": noisy}, truth)
    assert useless.judgement.recommended is None
    assert "find a better model" in str(useless)


def test_a_baseline_that_is_no_better_than_no_model_is_named():
    rng = np.random.default_rng(1)
    truth = (rng.random(600) < 0.4).astype(int)
    guesses = rng.random((6, 2, 600)) < 0.4
    result = measured({"baseline": guesses, "incumbent": guesses}, truth)
    assert result.judgement.no_better
    text = " ".join(str(result).split())
    assert "Caution: baseline itself is hardly better than always predicting no" in text
    assert "improve the model or its decision threshold first" in text


def test_a_threshold_that_finds_nothing_of_a_rare_class_is_named():
    """Ranking is good, but 3 in 100 events are found: whoever changes less finds none."""
    usual = rare().contenders[0].predictions
    few = np.zeros(usual.codes.shape)
    few[..., :60:10] = 1
    never = np.zeros(usual.codes.shape)
    result = measured(
        {"baseline": few, "incumbent": never}, usual.truth, probabilities=usual.probabilities
    )
    assert result.judgement.leading == "AUC"
    assert result.judgement.no_better
    assert result.judgement.recommended is None
    text = " ".join(str(result).split())
    assert "choose another decision threshold" in text
    assert "improve the model or its decision threshold first" in text


def test_a_stable_baseline_leaves_nothing_to_gain():
    truth = np.arange(400) % 2
    steady = np.broadcast_to(truth, (4, 2, 400))
    result = measured({"baseline": steady, "replicable": steady}, truth)
    assert result.judgement["replicable"].outcome == "not needed"
    assert "hardly anything to gain" in str(result)


def test_contenders_that_were_not_measured_are_in_the_headline():
    result = rare()
    object.__setattr__(result, "not_measured", ("bagging", "replicable"))
    assert "Not measured: bagging, replicable." in " ".join(str(result).split())


def test_the_first_screen_has_at_most_25_lines():
    for seed in range(12):
        assert len(str(random_result(seed)).splitlines()) <= 25


def test_settings_change_the_judgement_not_the_measurement():
    result = rare(costs=0.1)
    strict = result.with_settings(max_price=0.0)
    assert strict.contenders is result.contenders
    assert strict.judgement["incumbent"].outcome == COSTLY
    assert result.with_settings(max_price=0.5).judgement["incumbent"].outcome == WORTH_IT


def test_needs_are_ordered_from_the_least():
    assert NEEDS == (NOTHING, OLD_MODEL, SHARED_KEY)
