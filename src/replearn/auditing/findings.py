"""What an audit looks for: each check is a pure function of the measured numbers.

Titles, remedies and what a pass leaves open are in ``findings.toml``, from which the page of the
documentation is made as well.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from replearn.auditing.design import ANY_PERIOD, NEXT_PERIOD, ROW_ORDER, SEED
from replearn.auditing.groups import changes_more
from replearn.auditing.limits import MIN_GROUP_ROWS, percent, row_limits
from replearn.auditing.runs import DIFFERENCE, FLIPS, ContenderResult
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.planner import plan

if TYPE_CHECKING:
    from replearn.auditing.audits import AuditResult

DOCS = "docs/reference/findings.md"
Look = Callable[["AuditResult"], Iterable[str]]

HIGH_FLIP_RATE = 0.02
"""From here on, two people in a hundred get another prediction for no reason of their own."""

GROUP_RATIO = 1.5
GROUP_EXCESS = 0.01
"""A subgroup that flips more: half as much again as the others, and a point more."""

REPEATED_SHARE = 0.1
HEAVY_SHARE = 0.01

MIN_RATE = 0.001
MIN_SHARE = 0.2
"""From this share of the changes on new rows on, a change on the same rows is worth a finding."""


class NotApplicable(Exception):
    """A check cannot say anything about this audit; the message says why."""


@dataclass(frozen=True)
class Finding:
    """The outcome of one check.

    Parameters
    ----------
    code, title, severity : str
        ``RPL001`` and so on, never reused; what it is about; "issue" puts predictions or guarantees
        at risk, "tip" is worth knowing.
    status : {"found", "passed", "not applicable", "ignored"}
        The outcome.
    explanations : tuple of str
        What was found, or why the check does not apply.
    remedy, not_proved : str
        What to do, and what a pass leaves open.
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


@cache
def descriptions() -> dict[str, dict[str, str]]:
    """Return what ``findings.toml`` says about each code."""
    file = resources.files("replearn.auditing").joinpath("findings.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def find(result: AuditResult) -> tuple[Finding, ...]:
    """Run every check, unless the result ignores it."""
    return tuple(_outcome(code, look, result) for code, look in CHECKS.items())


def _outcome(code: str, look: Look, result: AuditResult) -> Finding:
    about = descriptions()[code]
    status = "ignored"
    explanations: tuple[str, ...] = ()
    if code not in result.ignore:
        try:
            explanations = tuple(look(result))
            status = "found" if explanations else "passed"
        except NotApplicable as reason:
            status = "not applicable"
            explanations = (str(reason),)
    remedy = about["remedy"]
    if result.reader == "command":
        remedy = about.get("command", remedy)
    docs = f"{DOCS}#{code.lower()}"
    left_open = about["not_proved"]
    return Finding(
        code, about["title"], about["severity"], status, explanations, remedy, left_open, docs
    )


def _certified(result: AuditResult) -> list[ContenderResult]:
    """Return the contenders with a certificate; without any, a check does not apply."""
    found = [c for c in result.contenders if c.certificate is not None]
    if not found:
        raise NotApplicable("No contender has a certificate.")
    return found


def _high_flip_rate(result: AuditResult) -> Iterable[str]:
    for c in result.contenders:
        rate = result.flip_rate(c.name)
        if rate.lower > HIGH_FLIP_RATE:
            yield (
                f"{c.name}: {percent(rate.value, 1)} of the predictions change{_by(result)} when "
                f"the model is retrained (limits {rate.range(1)})."
            )


def _by(result: AuditResult) -> str:
    """Say by how much a quantity must change to count; empty for labels."""
    return "" if result.tolerance is None else f" by {result.tolerance:g} or more"


def _tail_above_promise(result: AuditResult) -> Iterable[str]:
    allowed = [(c, c.promise(result.design)) for c in _certified(result)]
    judged = [(c, limit) for c, limit in allowed if limit is not None and limit < 1]
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


def _subgroup_flips_more(result: AuditResult) -> Iterable[str]:
    if not any(_is_large(indices) for _, indices in result.subgroups.values()):
        raise NotApplicable(
            f"No subgroups with at least {MIN_GROUP_ROWS} test rows inside and outside."
        )
    for index, c in enumerate(result.contenders):
        # The baseline is looked at first: more contenders do not hide what its limits show.
        looks = max(1, len(result.contenders) - 1) if index else 1
        found = changes_more(c.flips, result.subgroups, result.delta / looks, result.clusters)
        for group in found:
            if group.inside > max(GROUP_RATIO * group.outside, group.outside + GROUP_EXCESS):
                yield (
                    f"{c.name}: {group.name} flips {percent(group.inside, 1)} of the time, the "
                    f"others {percent(group.outside, 1)} ({group.rows} test rows)."
                )


def _is_large(indices: Any) -> bool:
    """Whether a value has enough test rows inside and outside."""
    counts = np.bincount(indices)
    return bool((np.minimum(counts, len(indices) - counts) >= MIN_GROUP_ROWS).any())


def _not_certified(result: AuditResult) -> Iterable[str]:
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


def _transformer_in_front(result: AuditResult) -> Iterable[str]:
    for c in _certified(result):
        warned = [text for text, _ in c.notes if text.startswith("PreprocessingWarning")]
        if c.in_front:
            yield f"{c.name}: {', '.join(c.in_front)} learns in front of the estimator."
        elif warned:
            yield f"{c.name}: {warned[0].removeprefix('PreprocessingWarning: ')}"


def _repeated_rows(result: AuditResult) -> Iterable[str]:
    facts = result.facts
    if facts.repeated_test_share < REPEATED_SHARE:
        return
    yield (
        f"{percent(facts.repeated_test_share, 0)} of the test rows occur again among the training "
        "rows."
    )
    if facts.largest_point_share >= HEAVY_SHARE:
        yield f"A single point makes up {percent(facts.largest_point_share, 1)} of the file."


def _groups_ignored(result: AuditResult) -> Iterable[str]:
    if result.design.unit == "groups":
        return
    if not result.facts.has_named_columns:
        raise NotApplicable("Columns have no names: ids cannot be recognised.")
    for name, distinct, per in result.facts.id_columns:
        yield (
            f"Column {name!r} looks like an id: {distinct} values, {per:.1f} rows each, but groups "
            "were not given."
        )


def _order_of_the_file(result: AuditResult) -> Iterable[str]:
    drift = sorted(result.facts.drift, key=lambda item: -item[1])
    if drift:
        words = ", ".join(f"{name} {value:.2f}" for name, value in drift[:5])
        more = f" and {len(drift) - 5} more" if len(drift) > 5 else ""
        yield (
            "First and last third of the file differ (largest difference of shares: "
            f"{words}{more})."
        )


def _default_key(result: AuditResult) -> Iterable[str]:
    _certified(result)
    for c in result.contenders:
        if c.default_key:
            yield f"{c.name} uses the default key 0, which everybody knows."


_CAUSES = {
    "HistGradientBoosting": "Early stopping splits off rows at random: early_stopping=False with a "
    "fixed max_iter removes this.",
    "GradientBoosting": "subsample=1, max_features=None and n_iter_no_change=None remove the "
    "random choices.",
    "Forest": "A forest is random by design: more trees (n_estimators=) change less.",
    "ExtraTrees": "These trees are random by design: more of them (n_estimators=) change less.",
    "DecisionTree": "Ties between equally good splits are broken at random: limit the depth, or "
    "require more rows in a leaf (min_samples_leaf=).",
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


def _not_due_to_data(result: AuditResult) -> Iterable[str]:
    baseline = result.contenders[0]
    judged = [name for name in (SEED, ROW_ORDER) if name in baseline.runs]
    if not judged:
        raise NotApplicable("The seed and the order of the rows were not varied.")
    fresh = result.flip_rate(baseline.name)
    for name in judged:
        # Both are looked at together: all lower limits hold at once.
        table = baseline.runs[name].changes(result.delta / len(judged), {})
        rate = next(iter(table))
        if rate.lower > MIN_RATE and rate.value > MIN_SHARE * fresh.value:
            yield (
                f"{baseline.name}: {percent(rate.value, 1)} of the predictions change{_by(result)} "
                f"if only the {name} changes ({rate.range(1)}), {percent(fresh.value, 1)} on "
                f"{result.design.vary[0]}. {cause(baseline.kind)}"
            )


def _drift(result: AuditResult) -> Iterable[str]:
    baseline = result.contenders[0]
    if NEXT_PERIOD not in baseline.runs:
        raise NotApplicable("The next period was not measured.")
    later, shuffled = (result.flip_rate(baseline.name, n) for n in (NEXT_PERIOD, ANY_PERIOD))
    drift = result.table.get(f"{DIFFERENCE}{FLIPS}", baseline.name, variant=NEXT_PERIOD)
    if drift is not None and drift.lower > 0:
        yield (
            f"{baseline.name}: {percent(later.value, 1)} of the predictions change{_by(result)} "
            f"from one window in time to the next, {percent(shuffled.value, 1)} with as many new "
            f"rows at random (the difference has the limits {drift.range(1)})."
        )


CHECKS: dict[str, Look] = {
    "RPL001": _high_flip_rate,
    "RPL002": _tail_above_promise,
    "RPL003": _subgroup_flips_more,
    "RPL004": _not_certified,
    "RPL005": _transformer_in_front,
    "RPL007": _repeated_rows,
    "RPL008": _groups_ignored,
    "RPL009": _order_of_the_file,
    "RPL010": _default_key,
    "RPL015": _not_due_to_data,
    "RPL016": _drift,
}
"""All checks, by code."""
