"""The judgement of an audit: each contender against the baseline, and which one to use.

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
from replearn.auditing._contenders import NEEDS, NOTHING
from replearn.auditing._statistics import MIN_GROUP_ROWS, Estimate, quantile_limits
from replearn.auditing._usefulness import NoModel, RegressionUsefulness, Usefulness, no_model

if TYPE_CHECKING:
    from replearn.auditing._measurement import Measurement

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
        "accuracy", "balanced accuracy", "AUC" or "R²".
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
    tolerance : float or None
        Of a quantity: predictions that differ by at least this much have changed.
    n_pairs : int
        Pairs of runs.
    new_rows : float
        Share of the rows that a retraining has not seen before.
    n_settings : int
        Contenders that are settings of a grid; their limits hold for all of them at once.
    not_measured : tuple of str
        Contenders that were left out for lack of time.
    """

    contenders: tuple[ContenderJudgement, ...]
    recommended: str | None
    recommendations: tuple[Recommendation, ...]
    max_price: float
    no_model: NoModel | None
    risk: Risk | None
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
        no_model=None if is_quantity else no_model(first.truth, result.classes),
        risk=_risk(result),
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
    baseline = result.contenders[0].score_tables(n_classes, ranking=ranking)
    tables = contender.score_tables(n_classes, ranking=ranking)
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
