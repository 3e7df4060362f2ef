"""The judgement of an audit: each contender against the baseline, which one to use, and why.

It is computed once for each result. Every text of a report (headline, recommendation, findings
RPL011 to RPL014, tables, JSON) is drawn from it, so that no two texts disagree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from replearn.auditing._contender_results import ClassifierResult, ContenderResult
from replearn.auditing._contenders import (
    BASELINE as BASELINE_NAME,
    NEEDS,
    NOTHING,
    OLD_MODEL,
    SHARED_KEY,
)
from replearn.auditing._statistics import (
    MIN_GROUP_ROWS,
    Estimate,
    Floats,
    NoModel,
    RegressionUsefulness,
    Usefulness,
    no_model,
    percent,
    percent_range,
    quantile_limits,
)
from replearn.learners import error_costs

if TYPE_CHECKING:
    from replearn.auditing._audit import Measurement

SIGNED = (-1.0, 1.0)
COLLAPSED_RATIO = 0.5
COLLAPSED_POINTS = 0.1
"""A class's recall collapses: less than half of the baseline's, and ten points less."""

STABLE_ENOUGH = 0.002
"""A baseline that changes fewer predictions leaves nothing to gain."""

MAX_PRICE = 0.01
"""By default, a contender that costs more than one point of its scores is not recommended."""

SIMILAR = 1.1
"""Of contenders whose changed predictions differ by less than a tenth, the simpler one is used."""

BASELINE = "baseline"
WORTH_IT = "worth it"
COSTLY = "costs accuracy"
UNCLEAR = "no difference shown"
NOT_NEEDED = "not needed"
NOT_WORTH_IT = "not worth it"
NOT_COMPARED = "not compared"
NEEDS_THRESHOLD = "needs a threshold"
USELESS = "useless"
OUTCOMES = (
    *(BASELINE, WORTH_IT, COSTLY, UNCLEAR, NOT_NEEDED, NOT_WORTH_IT),
    *(NOT_COMPARED, NEEDS_THRESHOLD, USELESS),
)

MIN_TEST_EVENTS = 100
MIN_EVENTS_PER_COLUMN = 10
"""With fewer events, the usual recommendations for clinical prediction models are not met."""


@dataclass(frozen=True)
class Score:
    """One score of a contender, beside the baseline's.

    Parameters
    ----------
    name : str
        "accuracy", "balanced accuracy", "weighted accuracy", "AUC" or "R²".
    baseline : float
        Of the baseline.
    value : Estimate
        Of the contender.
    difference : Estimate
        The contender's minus the baseline's.
    """

    name: str
    baseline: float
    value: Estimate
    difference: Estimate


@dataclass(frozen=True)
class LostRecall:
    """Recall of a class that a contender finds far more rarely than the baseline."""

    label: Any
    baseline: float
    recall: float
    rows: int


@dataclass(frozen=True)
class ErrorCosts:
    """How a decision threshold weighs errors: at the threshold both cost the same.

    Parameters
    ----------
    event : str
        The rarer of two classes.
    threshold : float
        Decision threshold in force, on its probability.
    missed, false : float
        Cost of an event that is not predicted, and of a prediction of it that is wrong; they sum
        to 2.
    recall, precision : Estimate or None
        Of the event, by the baseline.
    """

    event: str
    threshold: float
    missed: float
    false: float
    recall: Estimate
    precision: Estimate | None


@dataclass(frozen=True)
class Risk:
    """What matters of the baseline where one of two classes is rare.

    Parameters
    ----------
    event : str
        The rare class.
    test_rows, test_events : int
        Test rows, and those of the rare class.
    training_events : int
        Expected number of rows of the rare class in each training sample.
    n_columns : int
        Columns of the table; 0 if unknown.
    auc : Estimate
        Of the probabilities.
    observed, estimated : float
        Share of the test rows that are of the rare class, and their mean estimated probability.
    threshold : float
        Decision threshold in force, on the probability of the rare class.
    rule : str
        How it was chosen, in words; empty: the more probable class.
    recall, precision : Estimate or None
        Of the rare class, at that threshold.
    change, change_p99 : float
        How far retraining moves the estimated probability of a row: on average, and for one row in
        a hundred.
    """

    event: str
    test_rows: int
    test_events: int
    training_events: int
    n_columns: int
    auc: Estimate
    observed: float
    estimated: float
    threshold: float
    rule: str
    recall: Estimate
    precision: Estimate | None
    change: float
    change_p99: float

    @property
    def events_per_column(self) -> float | None:
        """Events that a training sample has for each column."""
        return self.training_events / self.n_columns if self.n_columns else None

    @property
    def too_few_events(self) -> bool:
        """Whether test rows or training samples have fewer events than is recommended."""
        each = self.events_per_column
        few = each is not None and each < MIN_EVENTS_PER_COLUMN
        return few or self.test_events < MIN_TEST_EVENTS


@dataclass(frozen=True)
class ContenderJudgement:
    """One contender against the baseline.

    Parameters
    ----------
    name : str
        Its name in the report.
    kind : str
        The class of its estimator.
    needs : str
        What it requires besides the data: nothing, the old model, or a shared key.
    measured_as : str
        What the audited estimator is, if it is not the one that ``fit`` would train.
    changed : Estimate
        Share of predictions that change.
    tail : Estimate
        99th percentile of the flip frequencies of the rows.
    difference : Estimate
        Share of changed predictions minus that of the baseline.
    scores : tuple of Score
        What it is judged by; the first one leads the report.
    usefulness : Usefulness or RegressionUsefulness
        All measures of how useful its predictions are.
    lost : tuple of LostRecall
        Classes that it hardly ever predicts any more.
    price : float
        The largest loss among the scores, as a share.
    outcome : str
        One of `OUTCOMES`.
    """

    name: str
    kind: str
    needs: str
    measured_as: str
    changed: Estimate
    tail: Estimate
    difference: Estimate
    scores: tuple[Score, ...]
    usefulness: Usefulness | RegressionUsefulness
    lost: tuple[LostRecall, ...]
    price: float
    outcome: str

    @property
    def price_is_shown(self) -> bool:
        """Whether the limits of a score exclude a price of zero."""
        return any(score.difference.upper < 0 for score in self.scores)

    @property
    def usable(self) -> bool:
        """Whether its predictions depend on the row."""
        return self.outcome not in (USELESS, NEEDS_THRESHOLD)


@dataclass(frozen=True)
class Recommendation:
    """The contender to use if what it needs is available."""

    needs: str
    contender: str


@dataclass(frozen=True)
class Judgement:
    """What an audit says about its contenders.

    Parameters
    ----------
    contenders : tuple of ContenderJudgement
        In order; the first is the baseline.
    recommended : str or None
        The contender to use; None if the predictions of the baseline hardly depend on the row.
    recommendations : tuple of Recommendation
        The contender to use for each need that some contender serves at a fair price.
    max_price : float
        The largest price that is called worth it, as a share.
    no_model : NoModel or None
        What always predicting the most frequent class scores; None if the target is a quantity.
    risk : Risk or None
        What matters where one of two classes is rare.
    error_costs : ErrorCosts or None
        How errors are weighed, where the baseline decides at a threshold.
    tolerance : float or None
        Of a quantity: predictions that differ by at least this much have changed.
    n_pairs : int
        Pairs of runs.
    new_rows : float
        Share of the rows that a retraining has not seen before.
    n_settings : int
        Contenders that are settings of a grid; their limits hold for all of them at once.
    not_measured : tuple of str
        Contenders that were left out, for lack of time or by an interruption.
    """

    contenders: tuple[ContenderJudgement, ...]
    recommended: str | None
    recommendations: tuple[Recommendation, ...]
    max_price: float
    no_model: NoModel | None
    risk: Risk | None
    error_costs: ErrorCosts | None
    tolerance: float | None
    n_pairs: int
    new_rows: float
    n_settings: int
    not_measured: tuple[str, ...]

    @property
    def baseline(self) -> ContenderJudgement:
        """The first contender."""
        return self.contenders[0]

    @property
    def others(self) -> tuple[ContenderJudgement, ...]:
        """All contenders but the baseline."""
        return self.contenders[1:]

    def __getitem__(self, name: str) -> ContenderJudgement:
        return next(c for c in self.contenders if c.name == name)


def judge(result: Measurement) -> Judgement:
    """Judge every contender of a measurement."""
    contenders = _compared([_judge(result, contender) for contender in result.contenders])
    recommendations = tuple(_recommendations(contenders))
    first = result.contenders[0]
    is_quantity = result.tolerance is not None
    return Judgement(
        contenders=contenders,
        recommended=_recommended(contenders, recommendations),
        recommendations=recommendations,
        max_price=result.max_price,
        no_model=None if is_quantity else no_model(first.truth, result.classes, _costs(result)),
        risk=_risk(result),
        error_costs=_error_costs(result),
        tolerance=result.tolerance,
        n_pairs=result.design.n_pairs,
        new_rows=result.design.new_rows,
        n_settings=sum(contender.is_setting for contender in result.contenders),
        not_measured=result.not_measured,
    )


def _compared(contenders: list[ContenderJudgement]) -> tuple[ContenderJudgement, ...]:
    """Compare nothing with a baseline whose predictions hardly depend on the row."""
    first, *others = contenders
    if not first.usable:
        others = [replace(c, outcome=NOT_COMPARED) if c.usable else c for c in others]
    return first, *others


def _judge(result: Measurement, contender: ContenderResult) -> ContenderJudgement:
    first = result.contenders[0]
    useful = contender.usefulness(
        result.classes, partial(result.mean, delta=result.delta_of(contender))
    )
    scores = tuple(_scores(result, contender))
    lost = tuple(_lost_recalls(result, contender))
    delta = result.delta_of(contender)
    difference = result.mean(contender.flips - first.flips, within=SIGNED, delta=delta)
    price = max(0.0, *(-score.difference.value for score in scores))
    outcome = BASELINE
    if contender is not first:
        unstable = result.flip_rate(first.name).value >= STABLE_ENOUGH
        price_is_fair = not lost and price <= max(result.max_price, -difference.value)
        outcome = _outcome(difference, price_is_fair, price <= result.max_price, unstable)
    return ContenderJudgement(
        name=contender.name,
        kind=contender.kind,
        needs=contender.needs,
        measured_as=contender.measured_as,
        changed=result.flip_rate(contender.name),
        tail=quantile_limits(contender.flips, 0.99, delta),
        difference=difference,
        scores=scores,
        usefulness=useful,
        lost=lost,
        price=price,
        outcome=_usable_outcome(useful, outcome),
    )


def _usable_outcome(useful: Usefulness | RegressionUsefulness, outcome: str) -> str:
    """Replace the outcome where predictions hardly depend on the row."""
    if useful.useless:
        return USELESS
    return NEEDS_THRESHOLD if useful.undecided else outcome


def _risk(result: Measurement) -> Risk | None:
    """Describe the baseline's estimated risks, where a class is rare."""
    first = result.contenders[0]
    if not isinstance(first, ClassifierResult) or first.probabilities is None:
        return None
    useful = first.usefulness(result.classes, result.mean)
    if not first.has_rare_class or useful.auc is None:
        return None
    rare = useful.rarest
    index = result.classes.index(rare.label)
    risks = first.probabilities[..., index]
    gaps = np.abs(risks[:, 0] - risks[:, 1]).mean(axis=0)
    threshold = _threshold_of(first, index)
    observed = rare.rows / len(first.truth)
    training_rows = result.design.train_size * result.design.rows_per_unit
    return Risk(
        event=str(rare.label),
        test_rows=len(first.truth),
        test_events=rare.rows,
        training_events=round(observed * training_rows),
        n_columns=len(result.columns),
        auc=useful.auc,
        observed=observed,
        estimated=float(risks.mean()),
        threshold=0.5 if threshold is None else threshold,
        rule=result.threshold,
        recall=rare.recall,
        precision=rare.precision,
        change=float(gaps.mean()),
        change_p99=float(np.quantile(gaps, 0.99)),
    )


def _threshold_of(first: ClassifierResult, index: int) -> float | None:
    """Return the decision threshold as one on the probability of one of two classes."""
    threshold = first.decision_threshold
    return 1.0 - threshold if threshold is not None and index == 0 else threshold


def _costs(result: Measurement) -> Floats | None:
    """Return what an error costs in each class, where the baseline decides at a threshold."""
    first = result.contenders[0]
    if not result.threshold or first.decision_threshold is None or len(result.classes) != 2:
        return None
    return error_costs(2, first.decision_threshold)


def _error_costs(result: Measurement) -> ErrorCosts | None:
    costs = _costs(result)
    first = result.contenders[0]
    if costs is None or not isinstance(first, ClassifierResult):
        return None
    rare = first.usefulness(result.classes, result.mean).rarest
    index = result.classes.index(rare.label)
    threshold = _threshold_of(first, index)
    assert threshold is not None, "there are costs"
    return ErrorCosts(
        event=str(rare.label),
        threshold=threshold,
        missed=float(costs[index]),
        false=float(costs[1 - index]),
        recall=rare.recall,
        precision=rare.precision,
    )


def decision_rule(result: Measurement) -> str:
    """Say at which threshold the baseline decides; empty: it predicts the more probable class."""
    first = result.contenders[0]
    if not isinstance(first, ClassifierResult) or not result.threshold:
        return ""
    label = first.usefulness(result.classes, result.mean).rarest.label
    threshold = _threshold_of(first, result.classes.index(label))
    named = result.threshold if threshold is None else f"{threshold:.3g}"
    rule = f" ({result.threshold})" if result.threshold != named else ""
    return f"{named}{rule} on the probability of {str(label)!r}"


def _scores(result: Measurement, contender: ContenderResult) -> Iterator[Score]:
    """Yield what a contender is judged by, next to the baseline's."""
    n_classes = len(result.classes)
    delta = result.delta_of(contender)
    # Without probabilities there is no AUC: then accuracy is what all contenders have.
    ranking = all(c.has_ranking for c in result.contenders)
    costs = _costs(result)
    baseline = result.contenders[0].score_tables(n_classes, ranking=ranking, costs=costs)
    tables = contender.score_tables(n_classes, ranking=ranking, costs=costs)
    for name, (table, limits) in tables.items():
        first, _ = baseline[name]
        yield Score(
            name,
            float(first.mean()),
            result.mean(table, within=limits, delta=delta),
            result.mean(table - first, within=SIGNED, delta=delta),
        )


def _lost_recalls(result: Measurement, contender: ContenderResult) -> Iterator[LostRecall]:
    """Yield classes with a recall far below the baseline's, beyond what the limits allow."""
    first = result.contenders[0]
    if not (isinstance(contender, ClassifierResult) and isinstance(first, ClassifierResult)):
        return
    predictions = contender.as_predictions(len(result.classes))
    baseline = first.as_predictions(len(result.classes))
    for index in predictions.present:
        here = predictions.truth == index
        if here.sum() < MIN_GROUP_ROWS:
            continue
        difference = predictions.recalls(index) - baseline.recalls(index)
        gap = result.mean(difference, rows=here, within=SIGNED)
        before = float(baseline.recalls(index)[:, here].mean())
        after = before + gap.value
        far = after < COLLAPSED_RATIO * before and after < before - COLLAPSED_POINTS
        if far and gap.upper < 0:
            yield LostRecall(result.classes[index], before, after, int(here.sum()))


def _outcome(difference: Estimate, price_is_fair: bool, cheap: bool, unstable: bool) -> str:
    """Weigh what a contender gains in stability against its price."""
    if difference.lower > 0:
        return NOT_WORTH_IT
    if not unstable:
        return NOT_NEEDED if cheap else NOT_WORTH_IT
    if not price_is_fair:
        return NOT_WORTH_IT
    if difference.upper >= 0:
        return UNCLEAR
    return WORTH_IT if cheap else COSTLY


def _recommendations(contenders: tuple[ContenderJudgement, ...]) -> Iterator[Recommendation]:
    """Yield the contender with the fewest changed predictions for each need, where it is worth it.

    Who has nothing but the data, and finds nothing that is worth it, keeps the baseline.
    """
    baseline = contenders[0]
    if not baseline.usable:
        return
    for need in NEEDS:
        worth = [c for c in contenders if c.needs == need and c.outcome == WORTH_IT]
        if worth:
            yield Recommendation(need, min(worth, key=lambda c: c.changed.value).name)
        elif need == NOTHING:
            yield Recommendation(need, baseline.name)


def _recommended(
    contenders: tuple[ContenderJudgement, ...], recommendations: tuple[Recommendation, ...]
) -> str | None:
    """Choose the recommendation with the fewest changed predictions; of similar ones the first."""
    changed = {c.name: c.changed.value for c in contenders}
    if not recommendations:
        return None
    fewest = min(changed[r.contender] for r in recommendations)
    similar = [r for r in recommendations if changed[r.contender] <= SIMILAR * fewest]
    return similar[0].contender


# -- in sentences: the same ones in every report ---------------------------------------------------
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
        sentence = f"{sentence} Not measured: {names}."
    return sentence


def _by_how_much(judgement: Judgement) -> str:
    return "" if judgement.tolerance is None else f" by {judgement.tolerance:g} or more"


def _on_new_rows(judgement: Judgement) -> str:
    share = judgement.new_rows
    return "" if share == 1 else f" with {100 * share:.3g} % new rows"


def _tail(judged: ContenderJudgement) -> str:
    """Say how often the least stable row in a hundred changes: an estimate, so with its limits."""
    often = judged.tail.value
    limits = percent_range(judged.tail.lower, judged.tail.upper, 0)
    if often >= COIN_TOSS:
        return (
            f"for at least 1 row in 100 it is no better than a coin toss ({limits} of retrainings)"
        )
    if often >= NEARLY_COIN_TOSS:
        return f"for at least 1 row in 100 it is close to a coin toss ({limits} of retrainings)"
    if often > 0:
        return f"1 row in 100 changes in {percent(often, 0)} of retrainings or more ({limits})"
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
        f"{found.event!r} is predicted where its probability is at least {found.threshold:.3g}."
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


def weighing(judgement: Judgement) -> str:
    """Say how a decision threshold weighs errors, and what it finds; empty without one."""
    found = judgement.error_costs
    if found is None:
        return ""
    costs = {"missed": found.missed, "false": found.false}
    lesser, greater = sorted(costs, key=costs.__getitem__)
    sentence = (
        f"Errors are weighed as the threshold weighs them: a {greater} {found.event!r} counts "
        + _times(costs[greater], costs[lesser], lesser)
    )
    if judgement.risk is not None:  # it tells recall and precision
        return sentence
    precision = "never predicted" if found.precision is None else found.precision.percent(0)
    return f"{sentence} Recall of {found.event!r} {found.recall.percent(0)}, precision {precision}."


def _times(greater: float, lesser: float, name: str) -> str:
    """Say how much more one error costs than another.

    >>> _times(1.8, 0.2, "false"), _times(1.0, 1.0, "false")
    ('9 times a false one.', 'as much as a false one.')
    >>> _times(2.0, 0.0, "missed")
    'and a missed one does not.'
    """
    if lesser == 0:
        return f"and a {name} one does not."
    ratio = f"{greater / lesser:.3g}"
    return f"as much as a {name} one." if ratio == "1" else f"{ratio} times a {name} one."


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
    weighted = first.scores[0]
    if judgement.error_costs is not None and judgement.risk is None:
        if weighted.value.lower > (none.weighted_accuracy or 0.0):
            return ""
        return (
            f"Caution: {first.name} is not shown to be better at this threshold than always "
            f"predicting {none.label!r}: weighted accuracy {weighted.value.percent()} against "
            f"{percent(none.weighted_accuracy, 1)}."
        )
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
