"""Is another contender worth it here? What it gains in stability beside what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from replearn.auditing._advice import as_json, often
from replearn.auditing._measurement import ContenderResult, Measurement
from replearn.auditing._statistics import LEAST_GROUP_ROWS, Estimate, percent
from replearn.auditing._usefulness import majority

SIGNED = (-1.0, 1.0)
COLLAPSED_RATIO, COLLAPSED_POINTS = 0.5, 0.1
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


@dataclass(frozen=True)
class Judgement:
    """One contender against the baseline.

    Parameters
    ----------
    name : str
        The contender.
    outcome : str
        One of ``OUTCOMES``.
    reason : str
        One sentence with the numbers.
    useless : bool
        Whether it answers a constant, or by chance.
    flips : Estimate
        Flip rate minus that of the baseline.
    accuracy, balanced_accuracy : Estimate
        The same of accuracy and of balanced accuracy.
    collapsed : tuple of Lost
        Classes that it finds far more rarely than the baseline.
    """

    name: str
    outcome: str
    reason: str
    useless: bool
    flips: Estimate
    accuracy: Estimate
    balanced_accuracy: Estimate
    collapsed: tuple[Lost, ...]

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
    numbers: dict[str, Any] = {
        "useless": result.usefulness(c.name).useless,
        "flips": result.mean(c.flips - first.flips, within=SIGNED),
        "accuracy": result.mean((c.right - first.right).mean(axis=1), within=SIGNED),
        "balanced_accuracy": result.mean(ours.balanced() - theirs.balanced(), within=SIGNED),
        "collapsed": tuple(_collapsed(result, c)),
    }
    found = Judgement(c.name, "", "", **numbers)
    outcome = _outcome(found, result.flip_rate(first.name).value)
    return Judgement(c.name, outcome, _reason(result, found, outcome), **numbers)


def _collapsed(result: Measurement, c: ContenderResult) -> list[Lost]:
    """Classes with a recall far below the baseline's, beyond what the limits allow."""
    first = result.contenders[0]
    ours, theirs = (x.answers(len(result.classes)) for x in (c, first))
    found = []
    for place in ours.present:
        here = ours.truth == place
        if here.sum() < LEAST_GROUP_ROWS:
            continue
        gap = result.mean(ours.recalls(place) - theirs.recalls(place), rows=here, within=SIGNED)
        before = float(theirs.recalls(place)[:, here].mean())
        after = before + gap.value
        far = after < COLLAPSED_RATIO * before and after < before - COLLAPSED_POINTS
        if far and gap.upper < 0:
            found.append(Lost(result.classes[place], before, after, int(here.sum())))
    return found


def _outcome(found: Judgement, baseline_flips: float) -> str:
    if found.useless:
        return "useless"
    if found.flips.lower > 0:
        return "not worth it"
    if baseline_flips < STABLE_ENOUGH:
        return "nothing to gain" if found.price <= COSTLY else "not worth it"
    if found.collapsed or found.price > max(COSTLY, -found.flips.value):
        return "not worth it"
    if found.flips.upper >= 0:
        return "unclear"
    return "worth it" if found.price <= COSTLY else "a trade"


def _reason(result: Measurement, found: Judgement, outcome: str) -> str:
    if outcome == "useless":
        return f"{found.name} {useless_words(result, found.name)}"
    parts = [_flip_words(result, found)]
    if outcome == "unclear":
        parts.append(f"{result.design.n_pairs} pairs cannot tell the difference")
    parts += [f"it finds {lost_words(lost)}" for lost in found.collapsed]
    return f"{found.name}: {'; '.join([*parts, price_words(result, found)])}"


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


def lost_words(lost: Lost) -> str:
    """Say how much of a class is still found."""
    return (
        f"{percent(lost.after, 0)} of the rows {str(lost.label)!r} where the baseline finds "
        f"{percent(lost.before, 0)}"
    )


def price_words(result: Measurement, found: Judgement) -> str:
    """Say what it costs in points of accuracy and of balanced accuracy."""
    first = result.usefulness(result.contenders[0].name)
    ours = result.usefulness(found.name)
    parts = []
    for name, before, after in (
        ("accuracy", first.accuracy.value, ours.accuracy.value),
        ("balanced accuracy", first.balanced_accuracy.value, ours.balanced_accuracy.value),
    ):
        points = 100 * (after - before)
        change = f"{points:+.1f}".replace("-", "−")
        parts.append(f"{name} {change} points ({percent(before, 1)} to {percent(after, 1)})")
    return ", ".join(parts)


def useless_words(result: Measurement, name: str) -> str:
    """Say what answers are worth that are constant, or do not depend on the row."""
    useful = result.usefulness(name)
    changed = percent(result.flip_rate(name).value)
    if useful.constant is None:
        return (
            "answers without regard to the row: its balanced accuracy of "
            f"{percent(useful.balanced_accuracy.value, 1)} is that of chance (accuracy "
            f"{percent(useful.accuracy.value, 1)}), and its {changed} changed predictions are no "
            "achievement"
        )
    missed = [c for c in useful.classes if c.label != useful.constant]
    found = ", ".join(f"{percent(c.recall.value, 0)} of {str(c.label)!r}" for c in missed[:3])
    return (
        f"answers {str(useful.constant)!r} for (nearly) every row and finds {found}: its accuracy "
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
        headline = f"{first.name} {useless_words(result, first.name)}. Find a better model first"
    elif not judged:
        rate = percent(result.flip_rate(first.name).value)
        outcome, headline = "alone", f"{rate} of the predictions of {first.name} change"
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
        "needs": _needs(result, judged) if judged else [],
        **as_json(result, {j.name for j in judged if j.outcome == DEAR}),
    }


def _caution(result: Measurement) -> list[str]:
    """Warn where the baseline itself is not shown to be better than no model."""
    first = result.contenders[0]
    useful, none = result.usefulness(first.name), majority(first.truth, result.classes)
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


def _needs(result: Measurement, judged: Sequence[Judgement]) -> list[dict[str, str]]:
    """Which contender for which need; a constant answer serves none."""
    lost = {j.name for j in judged if j.outcome == "useless"}
    spoiled = lost | {j.name for j in judged if j.outcome == DEAR}
    usable = [c for c in result.contenders if c.name not in lost]
    unspoiled = [c for c in usable if c.name not in spoiled]
    if not unspoiled:
        return []
    rarest = result.usefulness(result.contenders[0].name).rarest
    recalls = [_recall(result, c.name, rarest.label) for c in usable]
    needs = [
        ("highest accuracy", max(usable, key=lambda c: float(c.right.mean()))),
        (
            "fewest changed predictions at a fair price",
            min(unspoiled, key=lambda c: float(c.flips.mean())),
        ),
        ("no row that changes often", min(usable, key=often)),
        (f"most rows {str(rarest.label)!r} found", usable[int(np.argmax(recalls))]),
    ]
    promised = [c for c in unspoiled if _keeps_promise(c)]
    if promised:
        needs.append(("a guarantee", min(promised, key=_changed)))
    return [{"need": need, "contender": c.name} for need, c in needs]


def _changed(c: ContenderResult) -> float:
    return float(c.flips.mean())


def _recall(result: Measurement, name: str, label: Any) -> float:
    useful = result.usefulness(name)
    return next(c.recall.value for c in useful.classes if c.label == label)


def _keeps_promise(c: ContenderResult) -> bool:
    broken = c.incomparable or c.in_front
    return c.certificate is not None and bool(c.certificate.certified) and not broken
