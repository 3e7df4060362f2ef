"""Checks of how a model is retrained: causes other than data, drift, changed explanations."""

from __future__ import annotations

from collections.abc import Iterable

from replearn.auditing._checks import Check, NotApplicable, check
from replearn.auditing._measurement import Measurement
from replearn.auditing._statistics import percent
from replearn.auditing._time import N_SHUFFLES

MIN_RATE = 0.001
MIN_SHARE = 0.2
"""From this share of the changes on new rows on, a change on the same rows is worth a finding."""

MIN_CHANGED_EXPLANATION = 0.05
MIN_OVERLAP = 0.8
LARGEST_COEFFICIENTS = 10
"""When a change of the explanation is worth a finding, and how many coefficients are looked at."""

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
    not_proved="A small drift may stay unseen, as does one that changes no predictions (RPL018 "
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
    "RPL017",
    "the explanation changes",
    "issue",
    remedy="Do not report importances or signs of single coefficients of one training as facts: "
    "name the columns that are important in all runs, and leave out columns that carry the same "
    "information.",
    not_proved="Importances say what the model uses, not what causes the target.",
)
def _explanation_changes(result: Measurement) -> Iterable[str]:
    if result.explanation is None:
        raise NotApplicable("Importances were not measured: X is no table, or too wide.")
    name = result.contenders[0].name
    found = result.explanation.summary(result.delta)
    if found.first_changes.lower > MIN_CHANGED_EXPLANATION:
        often = found.first_changes.percent(0)
        yield f"{name}: the most important column differs in {often} of the pairs."
    if found.top_overlap.upper < MIN_OVERLAP:
        yield (
            f"{name}: two trainings share {found.top_overlap.percent(0)} of their {found.n_top} "
            "most important columns."
        )
    # Coefficients are looked at together: all lower limits hold at once.
    signs = found.signs[:LARGEST_COEFFICIENTS]
    together = result.explanation.summary(result.delta / max(1, len(signs))).signs
    changing = [sign for sign in together[: len(signs)] if sign.lower > MIN_CHANGED_EXPLANATION]
    if changing:
        listed = ", ".join(f"{sign.name} ({percent(sign.value, 0)})" for sign in changing[:5])
        yield f"{name}: coefficients that change their sign, and in how many pairs: {listed}."


@check(
    "RPL018",
    "less accurate in time order",
    "issue",
    remedy="The period after the training differs from the period before: retrain more often, "
    "leave old rows out, and evaluate models on later rows than those they were trained on.",
    not_proved="A small drift may stay unseen.",
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


OF_RETRAINING: tuple[Check, ...] = (
    _not_due_to_data,
    _drift,
    _explanation_changes,
    _loses_accuracy,
)
