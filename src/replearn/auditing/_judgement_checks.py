"""The checks that are drawn from the judgement: usefulness, recall, price, stability."""

from __future__ import annotations

from collections.abc import Iterable

from replearn.auditing import _words
from replearn.auditing._checks import Check, NotApplicable, check
from replearn.auditing._judgement import STABLE_ENOUGH, ContenderJudgement
from replearn.auditing._measurement import Measurement
from replearn.auditing._statistics import percent

MIN_LOSS = 0.01
"""A loss of more than one point is a finding, whatever price is acceptable."""


def _compared(result: Measurement) -> list[ContenderJudgement]:
    """Return the contenders that are not useless, without the baseline."""
    if len(result.contenders) < 2:
        raise NotApplicable("There is one contender only: nothing to compare it with.")
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
            yield f"{judged.name} {_words.useless_reason(judged)}."


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
            yield f"{judged.name}: {_words.lost_recall(lost)} ({lost.rows} test rows)."


@check(
    "RPL013",
    "stability is paid with accuracy",
    "issue",
    remedy="Decide whether the stability is worth the points. More rows, a larger rho (fewer, "
    "larger blocks) or another base estimator lower the price.",
    command="Decide whether the stability is worth the points. More rows, a larger --rho (fewer, "
    "larger blocks) or another --model lower the price.",
    not_proved="A price below one point, or one that few pairs cannot show, stays unseen.",
)
def _price(result: Measurement) -> Iterable[str]:
    for judged in _compared(result):
        changes = [score.difference for score in judged.scores]
        if any(change.value < -MIN_LOSS and change.upper < 0 for change in changes):
            yield f"{judged.name}: {_words.price(judged)}"


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
            f"{judged.name} changes {percent(judged.changed.value)} of the predictions, "
            f"{first.name} {percent(first.changed.value)}: {why}."
        )


OF_JUDGEMENT = tuple(item for item in list(vars().values()) if isinstance(item, Check))
