"""The registry of findings; one function per code, pure functions of a result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from replearn.auditing._contender_result import ContenderResult
from replearn.auditing._contender_summary import LEAST_GROUP_ROWS
from replearn.auditing._findings import Check, NotApplicable
from replearn.auditing._report import percent
from replearn.auditing._result import AuditResult
from replearn.auditing._statistics import mean_limits, row_limits
from replearn.guarantees import Certificate, plan

HIGH_FLIP_RATE = 0.02
"""From here on, two people in a hundred get another answer for no reason of their own."""

GROUP_RATIO = 1.5
GROUP_EXCESS = 0.01
"""A subgroup that flips more: half as much again as the others, and a point more."""

REPEATED_SHARE = 0.1
HEAVY_SHARE = 0.01


def _high_flip_rate(result: AuditResult) -> list[str]:
    found = []
    for c in result.contenders:
        rate = result.flip_rate(c.name)
        if rate.lower > HIGH_FLIP_RATE:
            found.append(
                f"{c.name}: {percent(rate.value, 1)} of the answers change when the model is "
                f"retrained ({percent(1 - result.delta, 0)} limits {percent(rate.lower, 1)} to "
                f"{percent(rate.upper, 1)})."
            )
    return found


def _certified(result: AuditResult) -> list[ContenderResult]:
    found = [c for c in result.contenders if c.certificate is not None]
    if not found:
        raise NotApplicable("No contender has a certificate.")
    return found


def _tail_above_promise(result: AuditResult) -> list[str]:
    found = []
    judged = 0
    for c in _certified(result):
        promise = c.promise(result.design)
        if promise is None or promise >= 1:
            continue
        judged += 1
        # Simultaneous over rows: a false alarm at any row has probability delta.
        frequency, lower, _ = row_limits(c.flips, result.delta / c.flips.shape[1])
        above = np.flatnonzero(lower > promise)
        if len(above):
            found.append(
                f"{c.name}: {len(above)} of {len(lower)} test rows flip more often than the "
                f"certificate allows for these pairs ({promise:.3f}), up to "
                f"{frequency[above].max():.2f} of the pairs. Some assumption of the certificate "
                "does not hold."
            )
    if not judged:
        raise NotApplicable("No certificate promises anything about single rows.")
    return found


def _subgroup_flips_more(result: AuditResult) -> list[str]:
    levels = [
        (f"{name} = {level}", places == place)
        for name, (names, places) in result.subgroups.items()
        for place, level in enumerate(names)
    ]
    levels = [(name, here) for name, here in levels if _is_judged(here)]
    if not levels:
        raise NotApplicable(
            f"No subgroups with at least {LEAST_GROUP_ROWS} test rows inside and outside."
        )
    delta = result.delta / (len(levels) * len(result.contenders))
    return [
        text
        for c in result.contenders
        for name, here in levels
        if (text := _compare_groups(result, c, name, here, delta))
    ]


def _is_judged(here: np.ndarray) -> bool:
    return min(here.sum(), (~here).sum()) >= LEAST_GROUP_ROWS


def _compare_groups(
    result: AuditResult, c: ContenderResult, name: str, here: np.ndarray, delta: float
) -> str:
    """Limits of both means at half the error probability each: disjoint means certain."""
    parts = []
    for rows in (here, ~here):
        clusters = None if result.clusters is None else result.clusters[rows]
        parts.append(mean_limits(c.flips[:, rows], delta / 2, clusters))
    inside, outside = parts
    large = inside.value > max(GROUP_RATIO * outside.value, outside.value + GROUP_EXCESS)
    if not (large and inside.lower > outside.upper):
        return ""
    return (
        f"{c.name}: {name} flips {percent(inside.value, 1)} of the time, "
        f"the others {percent(outside.value, 1)} ({here.sum()} test rows)."
    )


def _not_certified(result: AuditResult) -> list[str]:
    return [
        f"{c.name}: {_way_out(c.certificate)}."
        for c in _certified(result)
        if c.certificate is not None and not c.certificate.certified
    ]


def _way_out(certificate: Certificate) -> str:
    """Why it is not certified, and where possible which n would do."""
    if certificate.task != "pointwise":
        return certificate.reason
    wish = plan(
        n=certificate.n,
        rho=certificate.design.request.rho,
        n_classes=certificate.n_classes,
        vote=certificate.vote,
        unit=certificate.unit,
    )
    return wish.reason or f"{certificate.reason}; the planner's own choice of blocks would do"


def _transformer_in_front(result: AuditResult) -> list[str]:
    found = []
    for c in _certified(result):
        noticed = [text for text, _ in c.notes if text.startswith("PreprocessingWarning")]
        if c.in_front:
            found.append(f"{c.name}: {', '.join(c.in_front)} learns in front of the learner.")
        elif noticed:
            found.append(f"{c.name}: {noticed[0].removeprefix('PreprocessingWarning: ')}")
    return found


def _different_plans(result: AuditResult) -> list[str]:
    return [
        f"{c.name}: the two runs of a pair do not belong to one promise ({'; '.join(why)})."
        for c in _certified(result)
        if (why := c.incomparable)
    ]


def _repeated_rows(result: AuditResult) -> list[str]:
    facts = result.facts
    found = []
    if facts.repeated_test_share >= REPEATED_SHARE:
        found.append(
            f"{percent(facts.repeated_test_share, 0)} of the test rows occur again among the rows "
            "that are learned from."
        )
    if facts.largest_point_share >= HEAVY_SHARE and found:
        found.append(f"One single point holds {percent(facts.largest_point_share, 1)} of the file.")
    return found


def _groups_ignored(result: AuditResult) -> list[str]:
    if result.design.unit == "groups":
        return []
    if not result.facts.has_named_columns:
        raise NotApplicable("Columns have no names: ids cannot be recognised.")
    return [
        f"Column {name!r} looks like an id: {distinct} values, {per:.1f} rows each, but groups "
        "were not given."
        for name, distinct, per in result.facts.id_columns
    ]


def _order_of_the_file(result: AuditResult) -> list[str]:
    facts = result.facts
    found = []
    if facts.drift:
        found.append(f"First and last third of the file differ in {_worst(facts.drift)}.")
    if facts.neighbours:
        found.append(f"Neighbouring rows are alike in {_worst(facts.neighbours)}.")
    return found


def _worst(items: tuple[tuple[str, float], ...], most: int = 5) -> str:
    first = sorted(items, key=lambda item: -item[1])[:most]
    words = ", ".join(f"{name} ({value:.2f})" for name, value in first)
    return words if len(items) <= most else f"{words} and {len(items) - most} more"


def _default_key(result: AuditResult) -> list[str]:
    _certified(result)
    return [
        f"{c.name} uses the default key 0, which everybody has."
        for c in result.contenders
        if c.default_key
    ]


CHECKS: list[Check] = [
    Check(
        "RPL001",
        "high flip rate",
        "issue",
        "Look at the contenders with fewer flips, and at the least stable rows.",
        "A low mean hides single people: look at the distribution over rows.",
        _high_flip_rate,
    ),
    Check(
        "RPL002",
        "tail above the promise",
        "issue",
        "Look for what breaks an assumption: something learned outside the blocks, a learner "
        "that keeps state between fits, samples of different size.",
        "Pairs resolve a row only roughly; a small excess stays unseen.",
        _tail_above_promise,
    ),
    Check(
        "RPL003",
        "a subgroup flips more",
        "issue",
        "Say so to those concerned; collect more rows of the subgroup; abstain where "
        "flip_probability is high.",
        "Small subgroups, and subgroups that were not named, may differ unseen.",
        _subgroup_flips_more,
    ),
    Check(
        "RPL004",
        "not certified at this n",
        "issue",
        "Collect more rows, or ask for a larger rho: plan() says which.",
        "The audit learns from part of the file; another n has another certificate.",
        _not_certified,
    ),
    Check(
        "RPL005",
        "transformer in front of the classifier",
        "issue",
        "Put the transformer into the base estimator: "
        "PointwiseReplicableClassifier(make_pipeline(scaler, classifier)).",
        "Transformers that were applied before the audit leave no trace.",
        _transformer_in_front,
    ),
    Check(
        "RPL006",
        "runs with different plans",
        "issue",
        "Fix n and classes in a plan that all runs share: plan(n=..., classes=[...]).",
        "Only runs inside this audit were compared, not those of another lab.",
        _different_plans,
    ),
    Check(
        "RPL007",
        "repeated rows that matter",
        "tip",
        "If they are copies of one event, remove them or give groups; if they are different "
        "people with equal features, the flips of these points are told too low.",
        "Rows that differ in one digit count as different.",
        _repeated_rows,
    ),
    Check(
        "RPL008",
        "groups ignored",
        "issue",
        "Pass groups=: rows of one person then stay in one sample and in one block.",
        "Ids are recognised by their names only.",
        _groups_ignored,
    ),
    Check(
        "RPL009",
        "the order of the file matters",
        "issue",
        "The audit shuffles the rows, so it does not see drift: retrain on rows of one period "
        "and compare the models with compare().",
        "Slow drift in few columns, or in their relation to the label, may stay unseen.",
        _order_of_the_file,
    ),
    Check(
        "RPL010",
        "default key",
        "tip",
        'Agree on a key before the data are seen: shared_key="trial-2026", or '
        "SharedKey.generate().",
        "A key that was chosen after looking at answers voids the promise; nobody can see that.",
        _default_key,
    ),
]
"""All findings, by code."""


def checked_codes(ignore: Sequence[str]) -> tuple[str, ...]:
    """Refuse codes that do not exist: a typing error would hide nothing and nobody would notice."""
    known = [check.code for check in CHECKS]
    if isinstance(ignore, str) or not set(ignore) <= set(known):
        raise ValueError(f"ignore={ignore!r} must be a list of codes; known are {known}.")
    return tuple(ignore)
