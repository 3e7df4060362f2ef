"""Which contender for which need, in words: accuracy against flips, on average and in the tail."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from replearn.auditing._contenders import BAGGING, INCUMBENT
from replearn.auditing._measurement import ContenderResult, Measurement
from replearn.auditing._statistics import percent, points

ENOUGH = 1.1
"""Flips up to a tenth above the fewest are as good as the fewest."""

TAIL_FACTOR = 1.5
"""A row in a hundred that flips at most this often, in units of rho, is no tail to speak of."""


@dataclass(frozen=True)
class Standing:
    """One contender on the frontier of accuracy and flips."""

    contender: str
    points: float  # accuracy minus that of the baseline, as a share
    changed: float  # mean flips
    tail: float  # flips of the least stable row in a hundred
    undominated_on_average: bool  # no other useful contender is as accurate and flips less
    undominated_in_the_tail: bool


def _changed(c: ContenderResult) -> float:
    return float(c.flips.mean())


def _frontier(result: Measurement) -> list[Standing]:
    """Place every contender that is no constant."""
    first = result.contenders[0]
    useful = [c for c in result.contenders if not result.usefulness(c.name).useless]
    indices = {c.name: (float((c.right - first.right).mean()), _changed(c), c.tail) for c in useful}

    def best(name: str, measure: int) -> bool:
        points = indices[name][0]
        flips = indices[name][measure]
        others = [(p[0], p[measure]) for other, p in indices.items() if other != name]
        return not any(p >= points and f <= flips and (p, f) != (points, flips) for p, f in others)

    return [
        Standing(name, *values, best(name, 1), best(name, 2)) for name, values in indices.items()
    ]


def advise(result: Measurement, useless: Collection[str], dear: Collection[str]) -> dict[str, Any]:
    """Return needs, frontier and advice as JSON values.

    ``useless`` contenders predict a constant and serve no need; ``dear`` ones cost more than they
    bring on average.
    """
    placed = _frontier(result)
    return {
        "needs": _needs(result, useless, dear) if len(result.contenders) > 1 else [],
        "frontier": [asdict(standing) for standing in placed],
        "advice": [sentence for sentence in _advice(placed, result, dear) if sentence],
    }


def _advice(placed: Sequence[Standing], result: Measurement, dear: Collection[str]) -> list[str]:
    """Say in words which contender to take for which need, with the price."""
    first = result.contenders[0].name
    if len(placed) < 2 or first not in {p.contender for p in placed}:
        return []
    alone = [p for p in placed if p.contender != INCUMBENT]
    fair = [p for p in alone if p.contender not in dear]
    kept = [p for p in placed if p.contender == INCUMBENT]
    return [
        _on_average(fair, first),
        _in_the_tail(alone, first, result.rho),
        *(_with_the_old_model(p, placed[0]) for p in kept),
    ]


def _on_average(fair: Sequence[Standing], first: str) -> str:
    """Say what to take if only the mean counts, and whether bagging, or nothing, is enough."""
    fewest = min(fair, key=lambda p: p.changed)
    if len(fair) == 1:
        return (
            f"If only the average counts, {first}: {percent(fewest.changed)} of the predictions "
            "change, and no other one is worth its price."
        )
    plain = [p for p in fair if p.contender in (first, BAGGING)]
    enough = [p for p in plain if p.changed <= ENOUGH * fewest.changed]
    if enough:
        named = min(enough, key=lambda p: p.contender != first)
        return (
            f"If only the average counts, {named.contender} is enough here: {_average(named)}; "
            "no other one that is worth its price changes much less."
        )
    others = "; ".join(f"{p.contender}: {percent(p.changed)}" for p in plain)
    told = f"{_average(fewest)} (not enough: {others})"
    return f"If only the average counts, {fewest.contender}: {told}."


def _in_the_tail(placed: Sequence[Standing], first: str, rho: float) -> str:
    """If no single row may change often."""
    calm = min(placed, key=lambda p: (p.tail, p.changed))
    plain = [p for p in placed if p.contender in (first, BAGGING) and p.tail <= TAIL_FACTOR * rho]
    if plain:
        named = min(plain, key=lambda p: p.contender != first)
        return (
            f"If no single row may change often, {named.contender} is enough here: {_tail(named)}."
        )
    cheap = max(
        (p for p in placed if p.tail <= max(ENOUGH * calm.tail, 2 * TAIL_FACTOR * rho)),
        key=lambda p: p.points,
    )
    told = f"If no single row may change often, {calm.contender}: {_tail(calm)}"
    if cheap.points > calm.points:
        told += f"; at a lower price {cheap.contender}: {_tail(cheap)}"
    before = next(p for p in placed if p.contender == first)
    return f"{told}. With {first} it is {percent(before.tail, 0)}."


def _with_the_old_model(kept: Standing, before: Standing) -> str:
    return (
        f"If you still have the model in use, {kept.contender}: {_average(kept)} instead of "
        f"{percent(before.changed)}. It needs no key, promises nothing to those who do not have "
        "that model, and keeps wrong predictions as well."
    )


def _price(standing: Standing) -> str:
    return f"{points(standing.points, 1)} points of accuracy"


def _average(standing: Standing) -> str:
    return f"{percent(standing.changed)} of the predictions change, {_price(standing)}"


def _tail(standing: Standing) -> str:
    changed = percent(standing.tail, 0)
    return f"one row in a hundred changes in {changed} of the pairs, {_price(standing)}"


def _needs(
    result: Measurement, useless: Collection[str], dear: Collection[str]
) -> list[dict[str, str]]:
    """Say which contender serves which need."""
    usable = [c for c in result.contenders if c.name not in useless]
    fair = [c for c in usable if c.name not in dear]
    if not fair:
        return []
    rarest = result.usefulness(result.contenders[0].name).rarest.label

    def found(c: ContenderResult) -> float:
        classes = result.usefulness(c.name).classes
        return next(one.recall.value for one in classes if one.label == rarest)

    needs = [
        ("highest accuracy", max(usable, key=lambda c: float(c.right.mean()))),
        ("fewest changed predictions at a fair price", min(fair, key=_changed)),
        ("no row that changes often", min(usable, key=lambda c: c.tail)),
        (f"most rows {str(rarest)!r} found", max(usable, key=found)),
    ]
    promised = [c for c in fair if _keeps_promise(c)]
    if promised:
        needs.append(("a guarantee", min(promised, key=_changed)))
    return [{"need": need, "contender": c.name} for need, c in needs]


def _keeps_promise(c: ContenderResult) -> bool:
    broken = c.incomparable or c.in_front
    return c.certificate is not None and bool(c.certificate.certified) and not broken
