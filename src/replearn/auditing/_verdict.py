"""Is another contender worth it here? What it gains in stability beside what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from replearn.auditing._advice import advise
from replearn.auditing._checks import Check, NotApplicable, check
from replearn.auditing._measurement import ContenderResult, Measurement
from replearn.auditing._statistics import MIN_GROUP_ROWS, Estimate, percent, points
from replearn.auditing._usefulness import Predictions, majority

SIGNED = (-1.0, 1.0)
COLLAPSED_RATIO = 0.5
COLLAPSED_POINTS = 0.1
"""A class's recall collapses: less than half of the baseline's, and ten points less."""

STABLE_ENOUGH = 0.002
"""A baseline that changes fewer predictions leaves nothing to gain."""

COSTLY = 0.01
"""A price of more than one point of accuracy or of balanced accuracy is called a price."""

DEAR = "not worth it"
OUTCOMES = ("worth it", "a trade", "unclear", "nothing to gain", DEAR, "useless")
"""From the best to the worst."""


@dataclass(frozen=True)
class Lost:
    """Recall of one class: the baseline's, and that of a contender that finds far less of it."""

    label: Any
    before: float
    after: float
    rows: int

    def __str__(self) -> str:
        return (
            f"{percent(self.after, 0)} of the rows {str(self.label)!r} where the baseline finds "
            f"{percent(self.before, 0)}"
        )


@dataclass(frozen=True)
class Judgement:
    """One contender against the baseline: the estimates are differences from it."""

    name: str
    useless: bool  # it predicts a constant, or by chance
    flips: Estimate
    accuracy: Estimate
    balanced_accuracy: Estimate
    collapsed: tuple[Lost, ...]  # classes that it finds far more rarely than the baseline
    outcome: str = ""  # one of OUTCOMES
    reason: str = ""  # one sentence with the numbers

    @property
    def price(self) -> float:
        """Points lost, of accuracy or of balanced accuracy, whichever is more."""
        return max(0.0, -self.accuracy.value, -self.balanced_accuracy.value)


def judge(result: Measurement) -> list[Judgement]:
    """Judge every contender but the first, which is the baseline."""
    return [_judge(result, c) for c in result.contenders[1:]]


def _judge(result: Measurement, c: ContenderResult) -> Judgement:
    first = result.contenders[0]
    ours, theirs = (x.answers(len(result.classes)) for x in (c, first))
    found = Judgement(
        name=c.name,
        useless=result.usefulness(c.name).useless,
        flips=result.mean(c.flips - first.flips, within=SIGNED),
        accuracy=result.mean((c.right - first.right).mean(axis=1), within=SIGNED),
        balanced_accuracy=result.mean(ours.balanced() - theirs.balanced(), within=SIGNED),
        collapsed=tuple(_collapsed(result, ours, theirs)),
    )
    outcome = _outcome(found, result.flip_rate(first.name).value)
    return replace(found, outcome=outcome, reason=_reason(result, found, outcome))


def _collapsed(result: Measurement, ours: Predictions, theirs: Predictions) -> Iterable[Lost]:
    """Classes with a recall far below the baseline's, beyond what the limits allow."""
    for index in ours.present:
        here = ours.truth == index
        if here.sum() < MIN_GROUP_ROWS:
            continue
        gap = result.mean(ours.recalls(index) - theirs.recalls(index), rows=here, within=SIGNED)
        before = float(theirs.recalls(index)[:, here].mean())
        after = before + gap.value
        far = after < COLLAPSED_RATIO * before and after < before - COLLAPSED_POINTS
        if far and gap.upper < 0:
            yield Lost(result.classes[index], before, after, int(here.sum()))


def _outcome(found: Judgement, baseline_flips: float) -> str:
    if found.useless:
        return "useless"
    if found.flips.lower > 0:
        return DEAR
    if baseline_flips < STABLE_ENOUGH:
        return "nothing to gain" if found.price <= COSTLY else DEAR
    if found.collapsed or found.price > max(COSTLY, -found.flips.value):
        return DEAR
    if found.flips.upper >= 0:
        return "unclear"
    return "worth it" if found.price <= COSTLY else "a trade"


def _reason(result: Measurement, found: Judgement, outcome: str) -> str:
    if outcome == "useless":
        return f"{found.name} {_useless_words(result, found.name)}"
    parts = [_flip_words(result, found)]
    if outcome == "unclear":
        parts.append(f"{result.design.n_pairs} pairs cannot tell the difference")
    parts += [f"it finds {lost}" for lost in found.collapsed]
    return f"{found.name}: {'; '.join([*parts, _price_words(result, found.name)])}"


def _flip_words(result: Measurement, found: Judgement) -> str:
    names = (found.name, result.contenders[0].name)
    ours, theirs = (percent(result.flip_rate(name).value) for name in names)
    worst = [percent(float(result[name].frequency.max()), 0) for name in names]
    remark = result[found.name].measured_as
    measured = f" (measured {remark})" if remark else ""
    return (
        f"{ours} of the predictions change instead of {theirs}{measured}, the worst row in "
        f"{worst[0]} of the pairs instead of {worst[1]}"
    )


def _price_words(result: Measurement, name: str) -> str:
    """Say what it costs in points of accuracy and of balanced accuracy."""
    first, ours = (result.usefulness(n) for n in (result.contenders[0].name, name))
    pairs = {
        "accuracy": (first.accuracy.value, ours.accuracy.value),
        "balanced accuracy": (first.balanced_accuracy.value, ours.balanced_accuracy.value),
    }
    return ", ".join(
        f"{what} {points(after - before, 1)} points ({percent(before, 1)} to {percent(after, 1)})"
        for what, (before, after) in pairs.items()
    )


def _useless_words(result: Measurement, name: str) -> str:
    """Say what predictions are worth that are constant, or do not depend on the row."""
    useful = result.usefulness(name)
    changed = percent(result.flip_rate(name).value)
    if useful.constant is None:
        return (
            "predictions without regard to the row: its balanced accuracy of "
            f"{percent(useful.balanced_accuracy.value, 1)} is that of chance (accuracy "
            f"{percent(useful.accuracy.value, 1)}), and its {changed} changed predictions are no "
            "achievement"
        )
    missed = [c for c in useful.classes if c.label != useful.constant]
    found = ", ".join(f"{percent(c.recall.value, 0)} of {str(c.label)!r}" for c in missed[:3])
    return (
        f"predictions {str(useful.constant)!r} for (nearly) every row and finds {found}: its "
        f"accuracy "
        f"of {percent(useful.accuracy.value)} is that of no model at all, and its {changed} "
        "changed predictions are no achievement"
    )


def verdict(result: Measurement) -> dict[str, Any]:
    """Return the verdict: a headline, one sentence per contender, and who serves which need."""
    first = result.contenders[0]
    judged = judge(result)
    named = first.name
    if result.usefulness(first.name).useless:
        outcome = "useless"
        headline = f"{first.name} {_useless_words(result, first.name)}. Find a better model first"
    elif not judged:
        rate = percent(result.flip_rate(first.name).value)
        outcome = "alone"
        headline = f"{rate} of the predictions of {first.name} change"
    else:
        outcome, headline, named = _headline(judged)
    return {
        "outcome": outcome,
        "headline": f"{headline}.",
        "others": [
            *(f"{j.outcome.capitalize()}: {j.reason}." for j in judged if j.name != named),
            *([] if outcome == "useless" and named == first.name else _caution(result)),
        ],
        "contenders": [
            {"name": j.name, "outcome": j.outcome, "sentence": f"{j.reason}.", "price": j.price}
            for j in judged
        ],
        **advise(
            result,
            useless={j.name for j in judged if j.outcome == "useless"},
            dear={j.name for j in judged if j.outcome == DEAR},
        ),
    }


def _caution(result: Measurement) -> list[str]:
    """Warn where the baseline itself is not shown to be better than no model."""
    first = result.contenders[0]
    useful = result.usefulness(first.name)
    none = majority(first.truth, result.classes)
    if useful.accuracy.lower > none["accuracy"]:
        return []
    if useful.balanced_accuracy.lower > none["balanced_accuracy"] + COSTLY:
        return []
    return [
        f"Caution: {first.name} itself is hardly better than always answering {none['label']!r}: "
        f"accuracy {percent(useful.accuracy.value, 1)} against {percent(none['accuracy'], 1)}, "
        f"balanced accuracy {percent(useful.balanced_accuracy.value, 1)} against "
        f"{percent(none['balanced_accuracy'], 1)}."
    ]


def _headline(judged: Sequence[Judgement]) -> tuple[str, str, str]:
    """Choose the contender with the best outcome; of several, the one with the fewest flips."""
    best = min(judged, key=lambda j: (OUTCOMES.index(j.outcome), j.flips.value))
    opening = {
        "worth it": "Worth it here",
        "a trade": "A trade, not a gift",
        "unclear": "Not shown to be worth it here",
        "nothing to gain": "Not needed here",
        "not worth it": "Not worth it here",
        "useless": "Not worth it here",
    }[best.outcome]
    return best.outcome, f"{opening}: {best.reason}", best.name


# -- checks of usefulness -------------------------------------------------------------------------


def _judged(result: Measurement) -> list[Judgement]:
    """Contenders whose predictions depend on the row, each against the baseline."""
    if len(result.contenders) < 2:
        raise NotApplicable("There is one contender only: nothing to compare it with.")
    return [judged for judged in judge(result) if not judged.useless]


@check(
    "RPL011",
    "predicts a constant",
    "issue",
    remedy="Do not use it. Fewer, larger blocks (rho=, max_fits=), class weights in the base "
    "estimator, or more rows of the rarer class may help; otherwise stay with the baseline.",
    command="Do not use it. A larger --rho (fewer, larger blocks), a --model with class weights, "
    "or more rows of the rarer class may help; otherwise stay with the baseline.",
    not_proved="A model that predicts more than one class may still be useless: look at recall.",
)
def _constant(result: Measurement) -> Iterable[str]:
    for c in result.contenders:
        if result.usefulness(c.name).useless:
            yield f"{c.name} {_useless_words(result, c.name)}."


@check(
    "RPL012",
    "recall of a class collapses",
    "issue",
    remedy="If that class matters, do not use this contender as it is: class weights in the base "
    "estimator, fewer and larger blocks (rho=), or the baseline.",
    command="If that class matters, do not use this contender as it is: a --model with class "
    "weights, a larger --rho (fewer, larger blocks), or the baseline.",
    not_proved="Classes with fewer than ten test rows are not looked at.",
)
def _collapse(result: Measurement) -> Iterable[str]:
    for judgement in _judged(result):
        for lost in judgement.collapsed:
            yield f"{judgement.name} finds {lost} ({lost.rows} test rows)."


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
    for judgement in _judged(result):
        for change in (judgement.accuracy, judgement.balanced_accuracy):
            if change.value < -COSTLY and change.upper < 0:
                yield f"{judgement.name}: {_price_words(result, judgement.name)}."
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


OF_USEFULNESS = tuple(item for item in list(vars().values()) if isinstance(item, Check))
