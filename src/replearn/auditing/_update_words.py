"""A comparison of two models in words and small tables; every report of it uses these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from replearn.auditing._paired_tests import PairedTest
from replearn.auditing._statistics import Estimate, Usefulness, percent, percent_range, points
from replearn.auditing._swap_sets import BELOW
from replearn.records import two_columns

if TYPE_CHECKING:
    from replearn.auditing.comparison import ModelComparison
    from replearn.auditing.gate import Gate

Lines = list[tuple[str, ...]]
WITHIN_TOLERANCE = "share within the tolerance"
SHARES = ("accuracy", WITHIN_TOLERANCE)
BAD_WORDS = frozenset(
    (
        *("abuse", "attack", "bad", "cancer", "churn", "churned", "claim", "death", "default"),
        *("defaulted", "delinquent", "denied", "died", "disease", "fail", "failed", "failure"),
        *("fraud", "fraudulent", "lapse", "late", "loss", "malicious", "refused", "rejected"),
        *("risk", "risky", "sick", "spam"),
    )
)
"""Words of labels that nobody would approve."""

RARE = 0.2
"""Of two classes, AUC is named first if the rarer one has fewer rows."""

PSI_NOTE = (
    "PSI compares two distributions, not rows: it stays 0 if rows only exchange their scores, and "
    "says nothing about right and wrong. Below 0.1 is usually called small, from 0.25 on large; "
    "these limits are conventions, not tests."
)


# -- sentences -------------------------------------------------------------------------------------
def headline(found: ModelComparison) -> str:
    """Say how many predictions change, and how many of them for the worse and the better."""
    n_rows = len(found.predictions_a)
    changed = len(found.flipped)
    by = by_how_much(found)
    text = f"{changed:,} of {n_rows:,} predictions change{by}, {_with_limits(found.flips)}"
    compared = found.compared
    if compared.worse is None or compared.better is None:
        return f"{text}."
    return (
        f"{text}; {int(compared.worse.sum()):,} rows become wrong, "
        f"{int(compared.better.sum()):,} become right."
    )


def by_how_much(found: ModelComparison) -> str:
    """Say by how much a quantity must change to count; empty for labels."""
    return "" if found.quantity is None else f" by {found.quantity.tolerance:g} or more"


def _with_limits(share: Estimate) -> str:
    return f"{percent(share.value, 1)} (limits {percent_range(share.lower, share.upper)})"


def is_it_better(found: ModelComparison) -> str:
    """Say what the paired test of the main metric shows."""
    test = main_test(found)
    if test is None:
        return "Whether it is better is not known: there are no true labels."
    both = f"{metric_text(test, test.a)} before, {metric_text(test, test.b)} after"
    difference = f"difference {difference_text(test)}"
    name = test.metric[0].upper() + test.metric[1:]
    if test.outcome == "no difference shown":
        return f"{name}: no difference is shown; {both}; {difference}."
    return f"{name} gets {test.outcome}, beyond chance: {both}; {difference}."


def main_test(found: ModelComparison) -> PairedTest | None:
    """Return the test that the first screen names: of AUC where a class is rare."""
    tests = {test.metric: test for test in found.tests}
    useful = found.usefulness_a
    if useful is not None and "AUC" in tests and len(useful.classes) == 2:
        n_rows = sum(c.rows for c in useful.classes)
        if useful.rarest.rows < RARE * n_rows:
            return tests["AUC"]
    return found.tests[0] if found.tests else None


def for_whom(found: ModelComparison) -> str:
    """Say which subgroup changes more often than the other rows, beyond chance."""
    groups = (*found.by_subgroup, *found.by_intersection)
    if not groups:
        return ""
    counted = f"{len(groups)} groups were compared"
    overall = found.flips.value
    shown = [
        g
        for g in groups
        if g.p_value is not None and g.p_value <= found.delta and g.value > overall
    ]
    if not shown:
        return f"No group is shown to change more often than the others ({counted})."
    worst = max(shown, key=lambda g: (g.joint.lower, g.value))
    return (
        f"It changes most where {worst.name}: {worst.percent(1)} of {worst.rows:,} rows, beyond "
        f"chance ({counted}, corrected for that)."
    )


def deployment(gates: Sequence[Gate]) -> str:
    """Say whether the gates let the new model through."""
    if not gates:
        return "May it be deployed? No gate was set: decide by the table."
    failed = [gate for gate in gates if not gate.passed]
    if not failed:
        number = "the gate" if len(gates) == 1 else f"all {len(gates)} gates"
        return f"May it be deployed? Yes, it passed {number}."
    if len(gates) == 1:
        return f"May it be deployed? No, the gate failed: {failed[0].reason}."
    return f"May it be deployed? No, {len(failed)} of {len(gates)} gates failed."


def method(found: ModelComparison) -> list[str]:
    """Say how limits and tests were computed."""
    level = f"{100 - 100 * found.delta:g} %"
    if found.n_groups is None:
        limits = f"Limits of shares are exact {level} limits over rows (Clopper and Pearson)."
    else:
        limits = (
            f"Rows belong to {found.n_groups:,} groups: {level} limits and tests are over groups "
            "(Student's, approximate; widened where few groups have an event)."
        )
    texts = [
        limits,
        "All numbers are about these two models and other rows of the same population. They say "
        "nothing about the next training.",
    ]
    if found.by_subgroup:
        texts.append(
            "Limits of single groups hold for each group alone; joint limits hold for all listed "
            "groups at once (Bonferroni). p-values test a group against the other rows and are "
            "corrected by Holm's method."
        )
    if found.tests:
        texts.append(
            "Metrics are compared by paired tests on the same rows; tests of different metrics "
            "are not corrected for each other."
        )
    if found.scores is not None or found.columns:
        texts.append(PSI_NOTE)
    return texts


# -- tables ----------------------------------------------------------------------------------------
def metric_text(test: PairedTest, value: float) -> str:
    """Write one value of a metric."""
    return percent(value) if test.metric in SHARES else f"{value:.4g}"


def difference_text(test: PairedTest) -> str:
    """Write the difference of a metric with its limits; of shares in percentage points."""
    e = test.difference
    if test.metric in SHARES:
        return f"{points(e.value)} points ({points(e.lower)} to {points(e.upper)})"
    return f"{e.value:+.3g} ({e.lower:+.3g} to {e.upper:+.3g})".replace("-", "−")


def p_text(p_value: float | None) -> str:
    """Write a p-value.

    >>> p_text(0.0371), p_text(1e-9), p_text(None)
    ('0.037', '< 0.001', 'not tested')
    """
    if p_value is None:
        return "not tested"
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def overview(found: ModelComparison) -> Lines:
    """What, before, after, difference, what is shown: the table of the first screen."""
    lines: Lines = [("", "old", "new", "difference", "shown")]
    lines += [
        (
            test.metric,
            metric_text(test, test.a),
            metric_text(test, test.b),
            difference_text(test),
            f"{test.outcome}, p {p_text(test.p_value)}",
        )
        for test in found.tests
    ]
    for kind in found.approvals[:1]:
        rates = percent(kind.rate_a.value), percent(kind.rate_b.value)
        change = f"{points(kind.rate_b.value - kind.rate_a.value)} points"
        swaps = f"{kind.swap_in.rows:,} swapped in, {kind.swap_out.rows:,} out"
        lines.append((approved(found), *rates, change, swaps))
    return lines


def approved(found: ModelComparison) -> str:
    """Say which rows are approved: by predictions, or by scores on one side of the threshold."""
    assert found.scores is not None, "approvals follow from scores"
    kind = found.approvals[0]
    label = str(found.scores.pos_label)
    if kind.threshold_a is None:
        return f"approved: {'not ' if kind.approved == BELOW else ''}predicted {label!r}"
    side = "below" if kind.approved == BELOW else "from"
    return f"approved: probability of {label!r} {side} {kind.threshold_a:g}"


def approval_note(found: ModelComparison) -> str:
    """Name the option where a label that sounds bad is approved; empty otherwise."""
    if found.scores is None or not found.approvals or found.approvals[0].approved == BELOW:
        return ""
    label = found.scores.pos_label
    if not BAD_WORDS.intersection(re.findall(r"[a-z]+", label.lower())):
        return ""
    return (
        f"Approved are rows with {label!r}. If that is the bad outcome, approve the others: "
        'approved="below" (command line: --approved below).'
    )


def flip_lines(found: ModelComparison) -> Lines:
    """Flips and their relatives, with limits."""
    named = (
        ("flips", found.flips),
        ("right to wrong", found.right_to_wrong),
        ("wrong to right", found.wrong_to_right),
        ("still right (trust compatibility)", found.trust_compatibility),
        ("still wrong (error compatibility)", found.error_compatibility),
    )
    lines: Lines = [(name, str(estimate)) for name, estimate in named if estimate is not None]
    if found.flip_ratio is not None:
        lines.append(("negative per positive flip", f"{found.flip_ratio:.2f}"))
    return lines


def score_lines(found: ModelComparison) -> Lines:
    """What happens to the scores."""
    scores = found.scores
    if scores is None:
        return []
    rank = "none" if scores.rank_correlation is None else f"{scores.rank_correlation:.4f}"
    lines: Lines = [
        ("PSI of the scores", f"{scores.stability.psi:.4f} ({scores.stability.size})"),
        ("mean change of the score", f"{scores.mean_change:+.4f}".replace("-", "−")),
        ("rank correlation", rank),
        ("same tenth of the scores", percent(scores.migration.same_band, 1)),
    ]
    if scores.top is not None:
        lines.append((f"overlap of the top {scores.top.k:,}", percent(scores.top.overlap, 1)))
    return lines


def approval_lines(found: ModelComparison) -> Lines:
    """Approvals and swap sets, one line for each kind of threshold."""
    lines: Lines = [
        ("decided by", "approved before", "approved after", "swapped in", "swapped out", "both")
    ]
    for kind in found.approvals:
        swaps = (_swapped(swap.rows, swap.outcome) for swap in (kind.swap_in, kind.swap_out))
        both = "" if kind.both is None else kind.both.percent(1)
        rates = kind.rate_a.percent(1), kind.rate_b.percent(1)
        thresholds = (kind.threshold_a, kind.threshold_b)
        cuts = [f"{cut:.4g}" for cut in thresholds if cut is not None]
        name = f"{kind.kind}: {', '.join(cuts)}" if cuts else kind.kind
        lines.append((name, *rates, *swaps, both))
    return lines


def _swapped(rows: int, outcome: Estimate | None) -> str:
    return f"{rows:,} rows" + ("" if outcome is None else f", outcome {outcome.percent(1)}")


def group_lines(groups: Sequence[Any]) -> Lines:
    """Flips of subgroups, with joint limits and corrected tests."""
    lines: Lines = [
        ("group", "rows", "changes", "become wrong", "become right", "joint limits", "p")
    ]
    return lines + [
        (
            g.name,
            f"{g.rows:,}",
            g.percent(1),
            percent(g.negative, 1),
            percent(g.positive, 1),
            f"{100 * g.joint.lower:.1f} to {100 * g.joint.upper:.1f} %",
            p_text(g.p_value),
        )
        for g in groups
    ]


def column_lines(found: ModelComparison) -> Lines:
    """How far columns have shifted against the reference rows, the farthest first."""
    lines: Lines = [("column", "PSI", "size", "by chance")]
    ranked = sorted(found.columns, key=lambda c: -c.psi)
    return lines + [(c.name, f"{c.psi:.4f}", c.size, f"{c.by_chance:.4f}") for c in ranked]


def golden_lines(found: ModelComparison) -> Lines:
    """Rows that must not change and do."""
    lines: Lines = [("row", "expected", "predicted")]
    if found.golden_set is None:
        return lines
    return lines + [(v.id, v.expected, v.predicted) for v in found.golden_set.violations]


# -- terminal --------------------------------------------------------------------------------------
MAX_LISTED = 20


def to_text(found: ModelComparison) -> str:
    """Write a comparison for a terminal: name and value per line."""
    lines = [*flip_lines(found), *useful_lines(found), *_test_lines(found), *score_lines(found)]
    if found.quantity is not None:
        q = found.quantity
        lines.append(("mean absolute change", f"{q.mean_absolute_change:g}, at most {q.max:g}"))
    for kind in found.approvals:
        swaps = f"{kind.swap_in.rows:,} swapped in, {kind.swap_out.rows:,} out"
        lines.append(
            (f"approved, {kind.kind}", f"old {kind.rate_a}, new {kind.rate_b}; {swaps}"),
        )
    lines += [("note", note) for note in filter(None, [approval_note(found)])]
    if found.golden_set is not None:
        golden = found.golden_set
        lines.append(("must not change", f"{len(golden.violations)} of {golden.rows} rows change"))
        lines += [
            (f"  {v.id}", f"{v.expected} → {v.predicted}") for v in golden.violations[:MAX_LISTED]
        ]
    if found.columns:
        largest = max(found.columns, key=lambda c: c.psi)
        text = f"{largest.name}, PSI {largest.psi:.4f} ({largest.size})"
        lines.append(("largest shift of a column", text))
    if found.expected_flips is not None:
        lines.append(("over all keys", percent(found.expected_flips)))
    groups = [(group.name, f"{group}, {group.rows} rows") for group in found.worst_subgroups()]
    return two_columns([*lines, ("comparable", found.comparable), *groups])


def _test_lines(found: ModelComparison) -> Lines:
    return [
        (
            f"change of {test.metric}",
            f"{difference_text(test)}, p {p_text(test.p_value)} ({test.test})",
        )
        for test in found.tests
    ]


def useful_lines(found: ModelComparison) -> Lines:
    """Accuracy and its relatives of both models, beside those of no model at all."""
    one = found.usefulness_a
    two = found.usefulness_b
    none = found.no_model
    if one is None or two is None or none is None:
        return []
    always = f"always {none.label!r}"
    lines = [
        ("accuracy", one.accuracy, two.accuracy, f"{always}: {percent(none.accuracy)}"),
        ("balanced accuracy", one.balanced_accuracy, two.balanced_accuracy, ""),
        *_class_lines(one, two),
        ("AUC", one.auc, two.auc, f"{always}: 0.5"),
        ("Brier score", one.brier, two.brier, f"class shares: {none.brier:.3f}"),
        ("log-loss", one.log_loss, two.log_loss, f"class shares: {none.log_loss:.3f}"),
    ]
    shown: Lines = [
        (name, "; ".join(filter(None, (f"old {_text(name, a)}, new {_text(name, b)}", more))))
        for name, a, b, more in lines
        if a is not None or b is not None
    ]
    if found.scores is not None and all(m.auc and m.auc.upper < 0.5 for m in (one, two)):
        label = repr(found.scores.pos_label)
        shown.append(("note", f"both scores rank {label} low: is it the positive label?"))
    return shown + [
        ("note", f"the {which} model predicts {str(useful.constant)!r} for nearly every row")
        for which, useful in (("old", one), ("new", two))
        if useful.constant is not None
    ]


def _class_lines(one: Usefulness, two: Usefulness) -> list[tuple[str, Any, Any, str]]:
    """Recall and precision of the rarer class; of several classes, the recall of each."""
    pairs = list(zip(one.classes, two.classes, strict=True))
    if len(pairs) > 2:
        return [(f"recall of {str(a.label)!r}", a.recall, b.recall, "") for a, b in pairs]
    a, b = min(pairs, key=lambda pair: pair[0].rows)
    label = str(a.label)
    rows = f"{a.rows} rows"
    return [
        (f"recall of {label!r}", a.recall, b.recall, rows),
        (f"precision of {label!r}", a.precision, b.precision, ""),
    ]


def _text(name: str, estimate: Estimate | None) -> str:
    if estimate is None:
        return "none"
    return f"{estimate:.3f}" if name in ("AUC", "Brier score", "log-loss") else str(estimate)
