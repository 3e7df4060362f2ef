"""The judgement of an audit in sentences: the same ones in every report."""

from __future__ import annotations

from replearn.auditing._contenders import BASELINE as BASELINE_NAME, NOTHING, OLD_MODEL, SHARED_KEY
from replearn.auditing._judgement import (
    BASELINE,
    COSTLY,
    MIN_EVENTS_PER_COLUMN,
    MIN_TEST_EVENTS,
    NEEDS_THRESHOLD,
    NOT_COMPARED,
    NOT_NEEDED,
    NOT_WORTH_IT,
    STABLE_ENOUGH,
    UNCLEAR,
    USELESS,
    WORTH_IT,
    ContenderJudgement,
    Judgement,
    LostRecall,
    Score,
)
from replearn.auditing._statistics import percent
from replearn.auditing._usefulness import RegressionUsefulness

NEARLY_COIN_TOSS = 0.4
COIN_TOSS = 0.5
"""Two tosses of a coin differ this often."""

CLEARLY_BETTER = 0.01
THRESHOLDS = "a number, costs, prevalence, a recall or a rate"
PLAIN_NUMBERS = ("AUC", "R²")
SMALLEST_LOSS = 0.0005
"""Smaller losses of a score, as shares, round to zero points."""

CONDITIONS = {
    NOTHING: "with nothing but the data",
    OLD_MODEL: "if you still have the old model",
    SHARED_KEY: "if all runs share a key",
}
VERDICTS = {
    BASELINE: "",
    WORTH_IT: "Worth it",
    COSTLY: "Stability costs accuracy here",
    UNCLEAR: "No difference shown",
    NOT_NEEDED: "Not needed",
    NOT_COMPARED: "Not compared",
    NOT_WORTH_IT: "Not worth it",
    NEEDS_THRESHOLD: "Needs a threshold",
    USELESS: "Useless",
}
PRICE_UNCLEAR = "Price unclear"


def model_name(judgement: Judgement) -> str:
    """Name the baseline in a sentence."""
    name = judgement.baseline.name
    return "the model" if name == BASELINE_NAME else name


def headline(judgement: Judgement) -> str:
    """Say the number that matters in one sentence, and what was not measured."""
    first = judgement.baseline
    sentence = (
        f"{first.changed.percent()} of predictions change{_by_how_much(judgement)} when "
        f"{model_name(judgement)} is retrained{_on_new_rows(judgement)}; {_tail(first)}."
    )
    if not first.usable:
        sentence = f"{sentence} But {first.name} {useless_reason(first)}."
    if judgement.not_measured:
        names = ", ".join(judgement.not_measured)
        sentence = f"{sentence} Not measured for lack of time: {names}."
    return sentence


def _by_how_much(judgement: Judgement) -> str:
    return "" if judgement.tolerance is None else f" by {judgement.tolerance:g} or more"


def _on_new_rows(judgement: Judgement) -> str:
    share = judgement.new_rows
    return "" if share == 1 else f" with {100 * share:.3g} % new rows"


def _tail(judged: ContenderJudgement) -> str:
    often = judged.tail.value
    if often >= COIN_TOSS:
        return "for at least 1 row in 100 it is no better than a coin toss"
    if often >= NEARLY_COIN_TOSS:
        return "for at least 1 row in 100 it is close to a coin toss"
    if often > 0:
        return f"1 row in 100 changes in {percent(often, 0)} of retrainings or more"
    return "99 rows in 100 never changed"


def recommendation(judgement: Judgement) -> str:
    """Say which contender to use, and its price."""
    if judgement.baseline.outcome == NEEDS_THRESHOLD:
        return _recommended_threshold(judgement)
    if judgement.recommended is None:
        return "Recommendation: find a better model first."
    chosen = judgement[judgement.recommended]
    if chosen.outcome != BASELINE:
        condition = f" ({chosen.kind}), {CONDITIONS[chosen.needs]}"
        condition = "" if chosen.needs == NOTHING else condition
        return f"Recommendation: {chosen.name}{condition}. {reason(chosen, judgement)}"
    keep = f"Recommendation: keep {model_name(judgement)} as it is."
    if caution(judgement):
        keep = f"Recommendation: improve {model_name(judgement)} or its decision threshold first."
    if not judgement.others:
        return ""
    if judgement.baseline.changed.value < STABLE_ENOUGH:
        return f"{keep} There is hardly anything to gain."
    return (
        f"{keep} No other contender is shown to change fewer predictions at a price of at most "
        f"{highest_price(judgement)}."
    )


def highest_price(judgement: Judgement) -> str:
    """Write the price up to which a contender is recommended.

    It is one of each score by which contenders are judged: accuracy, AUC, R².
    """
    points = 100 * judgement.max_price
    return f"{points:g} point{'' if points == 1 else 's'}"


def _recommended_threshold(judgement: Judgement) -> str:
    found = judgement.risk
    if found is None or not found.rule:
        return f"Recommendation: choose a decision threshold first ({THRESHOLDS})."
    return (
        f"Recommendation: choose another decision threshold first ({THRESHOLDS}). At present "
        f"{found.event!r} is predicted where its probability is above {found.threshold:.3g}."
    )


def risk(judgement: Judgement) -> str:
    """Say what matters of estimated risks, where a class is rare; empty otherwise."""
    found = judgement.risk
    if found is None:
        return ""
    threshold = f"{found.threshold:.3g}"
    rule = f" ({found.rule})" if found.rule not in ("", threshold) else ""
    precision = "never predicted" if found.precision is None else found.precision.percent(0)
    return (
        f"{percent(found.observed, 1)} of the test rows are {found.event!r}, the estimated risk is "
        f"{percent(found.estimated, 1)} on average. AUC {found.auc.number()}. At threshold "
        f"{threshold}{rule}: recall {found.recall.percent(0)}, precision {precision}. "
        f"Retraining moves the estimated risk by {100 * found.change:.1f} points on average, by "
        f"{100 * found.change_p99:.1f} for 1 row in 100."
    )


def events(judgement: Judgement) -> str:
    """Warn of too few events to judge, with numbers; empty if there are enough."""
    found = judgement.risk
    if found is None or not found.too_few_events:
        return ""
    counts = (
        f"{found.test_events:,} of {found.test_rows:,} test rows (recommended: {MIN_TEST_EVENTS}), "
        f"{found.training_events:,} in each training"
    )
    each = found.events_per_column
    if each is not None:
        counts += f", {each:.1f} per column (recommended: {MIN_EVENTS_PER_COLUMN})"
    return f"Too few events to judge: {counts}."


def caution(judgement: Judgement) -> str:
    """Warn where the baseline itself is not shown to be better than no model; empty otherwise."""
    first = judgement.baseline
    none = judgement.no_model
    useful = first.usefulness
    if none is None or isinstance(useful, RegressionUsefulness) or not first.usable:
        return ""
    if judgement.risk is not None and useful.ranks:
        return ""
    if judgement.risk is not None:
        return (
            f"Caution: {first.name} is not shown to rank rows better than chance: AUC "
            f"{judgement.risk.auc.number()}."
        )
    # Probabilities that rank rows are worth something: then only a loss of accuracy is said.
    shown = useful.accuracy.value if useful.ranks else useful.accuracy.lower
    if shown > none.accuracy:
        return ""
    if useful.balanced_accuracy.lower > none.balanced_accuracy + CLEARLY_BETTER:
        return ""
    scores = (
        f"accuracy {percent(useful.accuracy.value, 1)} against {percent(none.accuracy, 1)}, "
        f"balanced accuracy {percent(useful.balanced_accuracy.value, 1)} against "
        f"{percent(none.balanced_accuracy, 1)}"
    )
    remedy = ""
    if useful.ranks:
        assert useful.auc is not None, "it ranks rows"
        remedy = (
            f" Its probabilities rank rows (AUC {useful.auc.number()}): choose another decision "
            f"threshold ({THRESHOLDS})."
        )
    return (
        f"Caution: {first.name} itself is hardly better than always predicting {none.label!r}: "
        f"{scores}.{remedy}"
    )


def by_need(judgement: Judgement) -> list[str]:
    """Say which contender to use for each need, one line each."""
    return [
        f"{CONDITIONS[r.needs].capitalize()}: {r.contender}." for r in judgement.recommendations
    ]


def verdict(judged: ContenderJudgement) -> str:
    """Name the outcome in a few words."""
    if judged.outcome == COSTLY and not judged.price_is_shown:
        return PRICE_UNCLEAR
    return VERDICTS[judged.outcome]


def verdict_sentences(judgement: Judgement) -> list[str]:
    """Say the outcome of each contender but the baseline, with its reason."""
    return [f"{c.name}: {verdict(c)}. {reason(c, judgement)}" for c in judgement.others]


def reason(judged: ContenderJudgement, judgement: Judgement) -> str:
    """Say what a contender gains and costs, in numbers."""
    if not judged.usable:
        return f"{judged.name} {useless_reason(judged)}."
    sentences = [_changes(judged, judgement)]
    if judged.outcome == UNCLEAR:
        sentences.append(f"{judgement.n_pairs} pairs cannot show a difference.")
    sentences += [f"{lost_recall(lost)}." for lost in judged.lost]
    return " ".join([*sentences, price(judged)])


def _changes(judged: ContenderJudgement, judgement: Judgement) -> str:
    first = judgement.baseline
    measured = f" (measured {judged.measured_as})" if judged.measured_as else ""
    return (
        f"{percent(judged.changed.value, 1)} of predictions change{_by_how_much(judgement)} "
        f"instead of {percent(first.changed.value, 1)}{measured}; for 1 row in 100 in "
        f"{percent(judged.tail.value, 0)} of retrainings instead of {percent(first.tail.value, 0)}."
    )


def lost_recall(lost: LostRecall) -> str:
    """Say which class a contender hardly finds any more."""
    return (
        f"Its recall of {str(lost.label)!r} is {percent(lost.recall, 0)}, that of the baseline "
        f"{percent(lost.baseline, 0)}"
    )


def price(judged: ContenderJudgement) -> str:
    """Say what a contender costs in points of its scores."""
    losses = [score for score in judged.scores if _loss(score) >= SMALLEST_LOSS]
    others = [score for score in judged.scores if score not in losses]
    kept = " and ".join(f"no {score.name} ({_before_and_after(score)})" for score in others)
    if not losses:
        return f"It costs {kept}."
    lost = " and ".join(
        f"{100 * _loss(score):.1f} points of {score.name} ({_before_and_after(score)}"
        f"{_limits_of_loss(score)})"
        for score in losses
    )
    return f"It costs {lost}, but {kept}." if others else f"It costs {lost}."


def _loss(score: Score) -> float:
    return score.baseline - score.value.value


def _limits_of_loss(score: Score) -> str:
    """Write the limits of a loss that may be none."""
    if score.difference.upper < 0:
        return ""
    low = -100 * score.difference.upper
    high = -100 * score.difference.lower
    return f"; limits {low:.1f} to {high:.1f} points"


def _before_and_after(score: Score) -> str:
    return f"{_score_value(score, score.baseline)} to {_score_value(score, score.value.value)}"


def _score_value(score: Score, value: float) -> str:
    return f"{value:.3f}" if score.name in PLAIN_NUMBERS else percent(value, 1)


def score_text(score: Score) -> str:
    """Write a score of a contender with its limits."""
    return score.value.number() if score.name in PLAIN_NUMBERS else score.value.percent()


def useless_reason(judged: ContenderJudgement) -> str:
    """Say why predictions cannot be used: they are constant, or do not depend on the row."""
    useful = judged.usefulness
    changed = percent(judged.changed.value, 1)
    meaning = f"so its change rate ({changed}) means nothing"
    if isinstance(useful, RegressionUsefulness):
        return f"predicts no better than the mean (R² {useful.r2.value:.3f}), {meaning}"
    ranking = ""
    if useful.ranks and useful.auc is not None:
        ranking = f". Its probabilities do rank rows (AUC {useful.auc.value:.3f}): it needs another"
        ranking += " decision threshold"
    if useful.constant is None:
        return (
            f"predicts no better than chance (balanced accuracy "
            f"{percent(useful.balanced_accuracy.value, 1)}, accuracy "
            f"{percent(useful.accuracy.value, 1)}), {meaning}{ranking}"
        )
    missed = [c for c in useful.classes if c.label != useful.constant]
    found = ", ".join(f"{percent(c.recall.value, 0)} of {str(c.label)!r}" for c in missed[:3])
    return (
        f"puts nearly every row in class {str(useful.constant)!r} and finds {found} (accuracy "
        f"{percent(useful.accuracy.value, 1)}), {meaning}{ranking}"
    )
