"""What a check and a finding are, and all checks of an audit.

Every check is a pure function of the measured numbers, or of the judgement that is drawn from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._contender_results import ContenderResult
from replearn.auditing._judgement import (
    STABLE_ENOUGH,
    ContenderJudgement,
    lost_recall,
    price,
    useless_reason,
)
from replearn.auditing._statistics import FEW_ROWS, MIN_GROUP_ROWS, percent, row_limits
from replearn.auditing._time import N_SHUFFLES
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.planner import plan

if TYPE_CHECKING:
    from replearn.auditing._audit import Measurement

DOCS = "docs/reference/findings.md"
Look = Callable[["Measurement"], Iterable[str]]

HIGH_FLIP_RATE = 0.02
"""From here on, two people in a hundred get another prediction for no reason of their own."""

GROUP_RATIO = 1.5
GROUP_EXCESS = 0.01
"""A subgroup that flips more: half as much again as the others, and a point more."""

REPEATED_SHARE = 0.1
HEAVY_SHARE = 0.01


class NotApplicable(Exception):
    """A check cannot say anything about this audit; the message says why."""


@dataclass(frozen=True)
class Check:
    """A condition that an audit looks for.

    Parameters
    ----------
    code : str
        ``RPL001`` and so on; never reused.
    title : str
        What it is about.
    severity : {"issue", "tip"}
        An issue puts predictions or guarantees at risk; a tip is worth knowing.
    remedy, command : str
        What to do, for readers who write Python, and for those who use the command line.
    not_proved : str
        What a pass does not prove.
    look : callable of Measurement to iterable of str
        Returns one explanation for each occurrence; raises `NotApplicable` if it cannot decide.
    """

    code: str
    title: str
    severity: str
    remedy: str
    command: str
    not_proved: str
    look: Look

    def run(self, result: Measurement) -> Finding:
        """Run the check, unless ``result.ignore`` names it."""
        ignored = self.code in result.ignore
        try:
            explanations = () if ignored else tuple(self.look(result))
            status = "ignored" if ignored else "found" if explanations else "passed"
        except NotApplicable as reason:
            status = "not applicable"
            explanations = (str(reason),)
        remedy = self.command if result.reader == "command" else self.remedy
        outcome = status, explanations, remedy, self.not_proved, f"{DOCS}#{self.code.lower()}"
        return Finding(self.code, self.title, self.severity, *outcome)


@dataclass(frozen=True)
class Finding:
    """The outcome of one check.

    Parameters
    ----------
    code, title, severity, remedy, not_proved : str
        As in the check.
    status : {"found", "passed", "not applicable", "ignored"}
        The outcome.
    explanations : tuple of str
        What was found, or why the check does not apply.
    docs : str
        Section of the guide.
    """

    code: str
    title: str
    severity: str
    status: str
    explanations: tuple[str, ...]
    remedy: str
    not_proved: str
    docs: str

    def __str__(self) -> str:
        outcome = f"passed. {self.not_proved}" if self.status == "passed" else self.status
        return f"{self.code} {self.title}: {' '.join(self.explanations) or outcome}"


def check(
    code: str, title: str, severity: str, *, remedy: str, not_proved: str, command: str = ""
) -> Callable[[Look], Check]:
    """Turn a function into a check."""
    return partial(Check, code, title, severity, remedy, command or remedy, not_proved)


def _certified(result: Measurement) -> list[ContenderResult]:
    """Return the contenders with a certificate; without any, a check does not apply."""
    found = [c for c in result.contenders if c.certificate is not None]
    if not found:
        raise NotApplicable("No contender has a certificate.")
    return found


@check(
    "RPL001",
    "high flip rate",
    "issue",
    remedy="Look at the contenders with fewer flips, and at the least stable rows.",
    not_proved="A low mean hides single people: look at the distribution over rows.",
)
def _high_flip_rate(result: Measurement) -> Iterable[str]:
    for c in result.contenders:
        rate = result.flip_rate(c.name)
        if rate.lower > HIGH_FLIP_RATE:
            yield (
                f"{c.name}: {percent(rate.value, 1)} of the predictions change"
                f"{_by_how_much(result)} when the model is retrained "
                f"({percent(1 - result.delta, 0)} limits {percent(rate.lower, 1)} to "
                f"{percent(rate.upper, 1)})."
            )


def _by_how_much(result: Measurement) -> str:
    return "" if result.tolerance is None else f" by {result.tolerance:g} or more"


@check(
    "RPL002",
    "tail above the promise",
    "issue",
    remedy="Look for what breaks an assumption: something learned outside the blocks, an estimator "
    "that keeps state between fits, samples of different size.",
    not_proved="Pairs measure a single row only roughly; a small excess goes unnoticed.",
)
def _tail_above_promise(result: Measurement) -> Iterable[str]:
    limits = [(c, c.promise(result.design)) for c in _certified(result)]
    judged = [(c, limit) for c, limit in limits if limit is not None and limit < 1]
    if not judged:
        raise NotApplicable("No certificate promises anything about single rows.")
    for c, limit in judged:
        # Simultaneous over rows: a false alarm at any row has probability delta.
        frequency, lower, _ = row_limits(c.flips, result.delta / c.flips.shape[1])
        above = np.flatnonzero(lower > limit)
        if len(above):
            yield (
                f"{c.name}: {len(above)} of {len(lower)} test rows flip more often than the "
                f"certificate allows for these pairs ({limit:.3f}), up to "
                f"{frequency[above].max():.2f} of the pairs. Some assumption of the certificate "
                "does not hold."
            )


@check(
    "RPL003",
    "a subgroup flips more",
    "issue",
    remedy="Inform those concerned; collect more rows of the subgroup; abstain where "
    "flip_probability is high.",
    not_proved="Small subgroups, and subgroups that were not named, may differ unnoticed.",
)
def _subgroup_flips_more(result: Measurement) -> Iterable[str]:
    columns = {name: _large_levels(*levels) for name, levels in result.subgroups.items()}
    if not any(columns.values()):
        raise NotApplicable(
            f"No subgroups with at least {MIN_GROUP_ROWS} test rows inside and outside."
        )
    for index, c in enumerate(result.contenders):
        # Each column is a question of its own, and the baseline is looked at first: neither more
        # columns nor more contenders hide what its limits show.
        looks = max(1, len(result.contenders) - 1) if index else 1
        for column, levels in columns.items():
            for level, here in levels:
                inside, outside = _rates(c, here)
                large = inside > max(GROUP_RATIO * outside, outside + GROUP_EXCESS)
                if large and _differs(result, c, here, result.delta / (looks * len(levels))):
                    yield (
                        f"{c.name}: {column} = {level} flips {percent(inside, 1)} of the time, the "
                        f"others {percent(outside, 1)} ({here.sum()} test rows)."
                    )


def _large_levels(
    names: list[str], indices: NDArray[np.intp]
) -> list[tuple[str, NDArray[np.bool_]]]:
    """Return the values of a column with enough test rows inside and outside."""
    levels = [(name, indices == index) for index, name in enumerate(names)]
    return [(n, here) for n, here in levels if min(here.sum(), (~here).sum()) >= MIN_GROUP_ROWS]


def _rates(c: ContenderResult, here: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the flip rates inside and outside of a subgroup."""
    return float(c.flips[:, here].mean()), float(c.flips[:, ~here].mean())


def _differs(
    result: Measurement, c: ContenderResult, here: NDArray[np.bool_], delta: float
) -> bool:
    """Tell whether a subgroup flips more often than the others, with error probability delta."""
    ever = (c.flips > 0).max(axis=0)
    if min(np.count_nonzero(ever[here]), np.count_nonzero(ever[~here])) < FEW_ROWS:
        # Too few for a normal approximation: both limits at half of delta must be disjoint.
        inside, outside = (result.mean(c.flips, rows=r, delta=delta / 2) for r in (here, ~here))
        return inside.lower > outside.upper
    inside_rate, outside_rate = _rates(c, here)
    # A table whose mean is the difference of the two rates: its value plus each row's part in it.
    parts = np.where(
        here, (c.flips - inside_rate) / here.mean(), (outside_rate - c.flips) / (~here).mean()
    )
    table = inside_rate - outside_rate + parts
    return result.mean(table, delta=delta, within=(-1.0, 1.0)).lower > 0


@check(
    "RPL004",
    "not certified at this n",
    "issue",
    remedy="Collect more rows, or request a larger rho: plan() says which.",
    command="Collect more rows, or request a larger --rho: replearn plan says which.",
    not_proved="The audit trains on part of the file; another n has another certificate.",
)
def _not_certified(result: Measurement) -> Iterable[str]:
    for c in _certified(result):
        if c.certificate is not None and not c.certificate.certified:
            yield f"{c.name}: {_shortfall(c.certificate)}."


def _shortfall(certificate: Certificate) -> str:
    """Say why a request is not certified, and where possible which n would do."""
    vote = certificate.design
    if certificate.task != "pointwise" or vote is None:
        return certificate.reason
    planned = plan(n=vote.n, rho=vote.rho, n_classes=vote.n_classes, vote=vote.vote, unit=vote.unit)
    return (
        planned.reason
        or f"{certificate.reason}; the planner's own choice of blocks would be enough"
    )


@check(
    "RPL005",
    "transformer in front of the classifier",
    "issue",
    remedy="Put the transformer into the base estimator: "
    "PointwiseReplicableClassifier(make_pipeline(scaler, classifier)).",
    command="Give the transformer and the classifier as one pipeline: --model module:object.",
    not_proved="Transformers that were applied before the audit leave no trace.",
)
def _transformer_in_front(result: Measurement) -> Iterable[str]:
    for c in _certified(result):
        warned = [text for text, _ in c.notes if text.startswith("PreprocessingWarning")]
        if c.in_front:
            yield f"{c.name}: {', '.join(c.in_front)} learns in front of the estimator."
        elif warned:
            yield f"{c.name}: {warned[0].removeprefix('PreprocessingWarning: ')}"


@check(
    "RPL006",
    "runs with different plans",
    "issue",
    remedy="Fix n and classes in a plan that all runs share: plan(n=..., classes=[...]).",
    command="Fix n and classes in a plan that all runs share: replearn plan, then fit --plan.",
    not_proved="Only runs inside this audit were compared, not those of another lab.",
)
def _different_plans(result: Measurement) -> Iterable[str]:
    for c in _certified(result):
        if c.incomparable:
            reasons = "; ".join(c.incomparable)
            yield f"{c.name}: the two runs of a pair are not comparable ({reasons})."


@check(
    "RPL007",
    "repeated rows that matter",
    "tip",
    remedy="If they are copies of one event, remove them or give groups; if they are different "
    "people with equal features, the flips of these points are underestimated.",
    command="If they are copies of one event, remove them or name the column of the event with "
    "--group-by; if they are different people with equal features, the flips of these points are "
    "underestimated.",
    not_proved="Rows that differ in one digit count as different.",
)
def _repeated_rows(result: Measurement) -> Iterable[str]:
    facts = result.facts
    if facts.repeated_test_share < REPEATED_SHARE:
        return
    yield (
        f"{percent(facts.repeated_test_share, 0)} of the test rows occur again among the training "
        "rows."
    )
    if facts.largest_point_share >= HEAVY_SHARE:
        yield f"A single point makes up {percent(facts.largest_point_share, 1)} of the file."


@check(
    "RPL008",
    "groups ignored",
    "issue",
    remedy="Pass groups=: rows of one person then stay in one sample and in one block.",
    command="Name the column with --group-by: rows of one person then stay in one sample and in "
    "one block. If it does not identify people, ignore this.",
    not_proved="Ids are recognised by their names only.",
)
def _groups_ignored(result: Measurement) -> Iterable[str]:
    if result.design.unit == "groups":
        return
    if not result.facts.has_named_columns:
        raise NotApplicable("Columns have no names: ids cannot be recognised.")
    for name, distinct, per in result.facts.id_columns:
        yield (
            f"Column {name!r} looks like an id: {distinct} values, {per:.1f} rows each, but groups "
            "were not given."
        )


@check(
    "RPL009",
    "the order of the file matters",
    "issue",
    remedy="Pairs are drawn from shuffled rows and do not show drift: audit(..., time=) retrains "
    "in time order as well.",
    command="Pairs are drawn from shuffled rows and do not show drift: --time-column COLUMN "
    "retrains in time order as well.",
    not_proved="Slow drift in few columns, or in their relation to the label, may go unnoticed.",
)
def _order_of_the_file(result: Measurement) -> Iterable[str]:
    if result.facts.drift:
        yield (
            "First and last third of the file differ (largest difference of shares: "
            f"{_worst(result.facts.drift)})."
        )
    if result.facts.neighbours:
        yield (
            "Neighbouring rows are more similar than chance allows (correlation "
            f"of neighbours: {_worst(result.facts.neighbours)})."
        )


def _worst(items: tuple[tuple[str, float], ...], most: int = 5) -> str:
    first = sorted(items, key=lambda item: -item[1])[:most]
    words = ", ".join(f"{name} {value:.2f}" for name, value in first)
    return words if len(items) <= most else f"{words} and {len(items) - most} more"


@check(
    "RPL010",
    "default key",
    "tip",
    remedy='Agree on a key before the data are seen: shared_key="trial-2026", or '
    "SharedKey.generate().",
    command="Agree on a key before the data are seen: replearn key new --out key.txt, then "
    "--key-file key.txt.",
    not_proved="A key that was chosen after looking at predictions voids the guarantee; no check "
    "can see that.",
)
def _default_key(result: Measurement) -> Iterable[str]:
    _certified(result)
    for c in result.contenders:
        if c.default_key:
            yield f"{c.name} uses the default key 0, which everybody knows."


# -- drawn from the judgement: usefulness, recall, price, stability --------------------------------
MIN_LOSS = 0.01
"""A loss of more than one point is a finding, whatever price is acceptable."""


def _compared(result: Measurement) -> list[ContenderJudgement]:
    """Return the contenders that are not useless, without the baseline."""
    if len(result.contenders) < 2:
        raise NotApplicable("There is only one contender: nothing to compare it with.")
    return [judged for judged in result.judgement.others if judged.usable]


@check(
    "RPL011",
    "predicts a single class",
    "issue",
    remedy="Do not use it as it is. A decision threshold (threshold=), fewer and larger blocks "
    "(rho=, max_fits=), or more rows of the rarer class may help; otherwise keep the baseline.",
    command="Do not use it as it is. A decision threshold (--threshold), fewer and larger blocks "
    "(--rho), or more rows of the rarer class may help; otherwise stay with the baseline.",
    not_proved="A model that predicts more than one class may still be useless: look at recall.",
)
def _single_class(result: Measurement) -> Iterable[str]:
    for judged in result.judgement.contenders:
        if not judged.usable:
            yield f"{judged.name} {useless_reason(judged)}."


@check(
    "RPL012",
    "recall of a class collapses",
    "issue",
    remedy="If that class matters, do not use this contender as it is: class weights in the base "
    "estimator, fewer and larger blocks (rho=), or the baseline.",
    command="If that class matters, do not use this contender as it is: a --model with class "
    "weights, a larger --rho (fewer, larger blocks), or the baseline.",
    not_proved="Classes with fewer than ten test rows are not checked.",
)
def _collapse(result: Measurement) -> Iterable[str]:
    for judged in _compared(result):
        for lost in judged.lost:
            yield f"{judged.name}: {lost_recall(lost)} ({lost.rows} test rows)."


@check(
    "RPL013",
    "stability is paid with accuracy",
    "issue",
    remedy="Decide whether the stability is worth the points. More rows, a larger rho (fewer, "
    "larger blocks) or another base estimator lower the price.",
    command="Decide whether the stability is worth the points. More rows, a larger --rho (fewer, "
    "larger blocks) or another --model lower the price.",
    not_proved="A price below one point, or one that few pairs cannot show, goes unnoticed.",
)
def _price(result: Measurement) -> Iterable[str]:
    for judged in _compared(result):
        changes = [score.difference for score in judged.scores]
        if any(change.value < -MIN_LOSS and change.upper < 0 for change in changes):
            yield f"{judged.name}: {price(judged)}"


@check(
    "RPL014",
    "not more stable than the baseline",
    "issue",
    remedy="Keep the baseline here, unless you need the guarantee itself; more pairs (n_pairs=) "
    "show small differences.",
    command="Keep the baseline here, unless you need the guarantee itself; more --pairs show "
    "small differences.",
    not_proved="The mean is compared; single rows may still change more often.",
)
def _not_more_stable(result: Measurement) -> Iterable[str]:
    first = result.judgement.baseline
    for judged in _compared(result):
        if judged.difference.upper < 0:
            continue
        why = f"{result.design.n_pairs} pairs cannot show a difference"
        if judged.difference.lower > 0:
            why = "that is more"
        elif first.changed.value < STABLE_ENOUGH:
            why = "there is hardly anything to gain"
        yield (
            f"{judged.name} changes {percent(judged.changed.value)} of the predictions"
            f"{_by_how_much(result)}, {first.name} {percent(first.changed.value)}: {why}."
        )


# -- how a model is retrained: causes other than data, drift ---------------------------------------
MIN_RATE = 0.001
MIN_SHARE = 0.2
"""From this share of the changes on new rows on, a change on the same rows is worth a finding."""

_CAUSES = {
    "HistGradientBoosting": "Early stopping splits off rows at random: early_stopping=False with a "
    "fixed max_iter removes this.",
    "GradientBoosting": "subsample=1, max_features=None and n_iter_no_change=None remove the "
    "random choices.",
    "Forest": "A forest is random by design: more trees (n_estimators=) change less.",
    "ExtraTrees": "These trees are random by design: more of them (n_estimators=) change less.",
    "DecisionTree": "Ties between equally good splits are broken at random, and by the order of "
    "columns: limit the depth, or require more rows in a leaf (min_samples_leaf=).",
    "SGD": "The rows are visited in a random order: set average=True, or lower tol with a larger "
    "max_iter.",
    "MLP": "The weights start at random: take the mean of several networks.",
    "LGBM": "Set deterministic=True, force_row_wise=True, and bagging_fraction and "
    "feature_fraction to 1.",
    "XGB": "Set subsample=1, colsample_bytree=1 and a fixed nthread.",
    "CatBoost": "Set a fixed thread_count; has_time=True stops the permutation of the rows.",
}
"""What can be done, by a part of the name of the estimator's class."""


def cause(kind: str) -> str:
    """Say what can be done about an estimator that is not determined by its rows.

    >>> cause("TableEncoder, SGDClassifier")
    'The rows are visited in a random order: set average=True, or lower tol with a larger max_iter.'
    """
    known = (text for name, text in _CAUSES.items() if name in kind)
    return next(known, "The mean of several models with different seeds changes less.")


@check(
    "RPL015",
    "changes that are not due to the data",
    "issue",
    remedy="Fix random_state and the order of rows and columns (sort by an id) before you compare "
    "two trainings; then remove the cause that is named above.",
    not_proved="Only the seed, the order of rows and columns and the number of threads are "
    "changed; another version of a library is not.",
)
def _not_due_to_data(result: Measurement) -> Iterable[str]:
    if not result.sources:
        raise NotApplicable("Where changes come from was not measured.")
    baseline = result.contenders[0]
    fresh = result.flip_rate(baseline.name)
    for source in result.sources:
        # Sources are looked at together: all lower limits hold at once.
        rate = result.mean(source.flips, delta=result.delta / len(result.sources))
        if rate.lower > MIN_RATE and rate.value > MIN_SHARE * fresh.value:
            yield (
                f"{baseline.name}: {percent(rate.value, 1)} of the predictions change if only the "
                f"{source.name} changes ({percent(rate.lower, 1)} to {percent(rate.upper, 1)}), "
                f"{percent(fresh.value, 1)} on new rows. {cause(baseline.kind)}"
            )


@check(
    "RPL016",
    "retraining in time order changes more",
    "issue",
    remedy="Some of the changes are due to drift: find the columns that drift, and expect more "
    "changes than pairs of shuffled samples show. Stable predictions are then not necessarily "
    "right.",
    not_proved="A small drift may go unnoticed, as does one that changes no predictions (RPL018 "
    "checks accuracy).",
)
def _drift(result: Measurement) -> Iterable[str]:
    found = result.in_time_order
    if found is None:
        raise NotApplicable("The time of the rows was not given.")
    # exact: if the order of the rows has no meaning, the largest of equally likely results
    if found.n_shuffles >= N_SHUFFLES and found.p_value <= 1 / (1 + N_SHUFFLES):
        shuffled = found.shuffled(result.delta)
        yield (
            f"{result.contenders[0].name}: {percent(found.rates[0], 1)} of the predictions change "
            f"at a retraining in time order, {percent(shuffled.value, 1)} with the rows shuffled "
            f"(never more than {percent(found.rates[1:].max(), 1)} in {found.n_shuffles} shuffles)."
        )


@check(
    "RPL018",
    "less accurate in time order",
    "issue",
    remedy="The period after the training differs from the period before: retrain more often, "
    "leave old rows out, and evaluate models on later rows than those they were trained on.",
    not_proved="A small drift may go unnoticed.",
)
def _loses_accuracy(result: Measurement) -> Iterable[str]:
    found = result.in_time_order
    if found is None:
        raise NotApplicable("The time of the rows was not given.")
    accuracies = found.accuracies
    p_value = found.accuracy_p_value
    if accuracies is None or p_value is None:
        raise NotApplicable("This is regression, which has no accuracy.")
    # exact: if the order of the rows has no meaning, the smallest of equally likely results
    if found.n_shuffles >= N_SHUFFLES and p_value <= 1 / (1 + N_SHUFFLES):
        yield (
            f"{result.contenders[0].name}: the period after the training is predicted with an "
            f"accuracy of {percent(accuracies[0], 1)}, {percent(accuracies[1:].mean(), 1)} with "
            f"the rows shuffled (never less than {percent(accuracies[1:].min(), 1)} in "
            f"{found.n_shuffles} shuffles)."
        )


CHECKS = tuple(item for item in list(vars().values()) if isinstance(item, Check))
"""All checks, in the order of their codes."""
