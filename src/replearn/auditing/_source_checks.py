"""The check of where changes come from, with what is known about the causes in usual estimators."""

from __future__ import annotations

from collections.abc import Iterable

from replearn.auditing._checks import Check, NotApplicable, check
from replearn.auditing._measurement import Measurement
from replearn.auditing._statistics import percent

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
    "two trainings; then remove the cause, as said above.",
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
                f"{percent(fresh.value, 1)} if all rows are new. {cause(baseline.kind)}"
            )


OF_SOURCES: tuple[Check, ...] = (_not_due_to_data,)
