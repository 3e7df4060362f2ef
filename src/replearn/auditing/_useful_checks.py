"""Checks of usefulness beside stability: RPL011 to RPL014."""

from __future__ import annotations

from collections.abc import Iterable

from replearn.auditing._check import Check, NotApplicable, register_in
from replearn.auditing._measurement import Measurement
from replearn.auditing._statistics import percent
from replearn.auditing._verdict import (
    COSTLY,
    STABLE_ENOUGH,
    Judgement,
    judge,
    lost_words,
    price_words,
    useless_words,
)

CHECKS: list[Check] = []
check = register_in(CHECKS)


def _judged(result: Measurement) -> list[Judgement]:
    """Contenders whose answers depend on the row, each against the baseline."""
    judged = judge(result)
    if not judged:
        raise NotApplicable("There is one contender only: nothing to compare it with.")
    return [j for j in judged if not j.useless]


@check(
    "RPL011",
    "answers a constant",
    "issue",
    remedy="Do not use it. Fewer, larger blocks (rho=, max_fits=), class weights in the base "
    "learner, or more rows of the rarer class may help; otherwise stay with the baseline.",
    command="Do not use it. A larger --rho (fewer, larger blocks), a --model with class weights, "
    "or more rows of the rarer class may help; otherwise stay with the baseline.",
    not_proved="A model that answers more than one class may still be useless: look at recall.",
)
def _constant(result: Measurement) -> Iterable[str]:
    for c in result.contenders:
        if result.usefulness(c.name).useless:
            yield f"{c.name} {useless_words(result, c.name)}."


@check(
    "RPL012",
    "recall of a class collapses",
    "issue",
    remedy="If that class matters, do not use this contender as it is: class weights in the base "
    "learner, fewer and larger blocks (rho=), or the baseline.",
    command="If that class matters, do not use this contender as it is: a --model with class "
    "weights, a larger --rho (fewer, larger blocks), or the baseline.",
    not_proved="Classes with fewer than ten test rows are not looked at.",
)
def _collapse(result: Measurement) -> Iterable[str]:
    for judgement in _judged(result):
        for lost in judgement.collapsed:
            yield f"{judgement.name} finds {lost_words(lost)} ({lost.rows} test rows)."


@check(
    "RPL013",
    "stability is paid with accuracy",
    "issue",
    remedy="Decide whether the stability is worth the points. More rows, a larger rho (fewer, "
    "larger blocks) or another base learner lower the price.",
    command="Decide whether the stability is worth the points. More rows, a larger --rho (fewer, "
    "larger blocks) or another --model lower the price.",
    not_proved="A price below one point, or one that few pairs cannot show, stays unseen.",
)
def _price(result: Measurement) -> Iterable[str]:
    for judgement in _judged(result):
        for change in (judgement.accuracy, judgement.balanced_accuracy):
            if change.value < -COSTLY and change.upper < 0:
                yield f"{judgement.name}: {price_words(result, judgement)}."
                break


@check(
    "RPL014",
    "not more stable than the baseline",
    "issue",
    remedy="Keep the baseline here, unless you need the guarantee itself; more pairs (n_pairs=) "
    "tell small differences.",
    command="Keep the baseline here, unless you need the guarantee itself; more --pairs tell "
    "small differences.",
    not_proved="The mean is compared; single rows may still change more often.",
)
def _not_more_stable(result: Measurement) -> Iterable[str]:
    first = result.contenders[0].name
    theirs = result.flip_rate(first).value
    for judgement in _judged(result):
        if judgement.flips.upper < 0:
            continue
        ours = result.flip_rate(judgement.name).value
        why = f"{result.design.n_pairs} pairs cannot tell the difference"
        if judgement.flips.lower > 0:
            why = "that is more"
        elif theirs < STABLE_ENOUGH:
            why = "there is hardly anything to gain"
        yield (
            f"{judgement.name} changes {percent(ours)} of the predictions, {first} "
            f"{percent(theirs)}: {why}."
        )
