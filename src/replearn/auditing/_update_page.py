"""The page that is signed before a model is replaced, and its short form in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from replearn._version import __version__
from replearn.auditing import _update_words as words
from replearn.auditing._changed_rows import MAX_ROWS, features_of
from replearn.auditing._report import (
    columns_that_fit,
    environment_of_page,
    markdown_table,
    markdown_text,
    page_asset,
    script_json,
)
from replearn.auditing._statistics import as_json, percent
from replearn.records import visible

if TYPE_CHECKING:
    from replearn.auditing.comparison import ModelComparison
    from replearn.auditing.gate import Gate

MAX_GROUPS = 20
"""A summary lists this many groups, the worst first."""

MAX_DRAWN = 8
"""The picture of the first screen shows this many groups."""

ALL_ROWS = "all rows"
BECOME_WRONG = "become wrong"
A_GROUP = "a group"
GATED = {"flip rate where": A_GROUP, "flip rate": ALL_ROWS, "negative flip rate": BECOME_WRONG}
"""How the quantities of gates begin, and the lines of the picture that they are about."""


def to_markdown(
    found: ModelComparison,
    gates: Sequence[Gate] = (),
    *,
    old: str = "a",
    new: str = "b",
    data: str = "",
) -> str:
    """Write a comparison for the summary page of a continuous integration job."""
    rows = len(found.predictions_a)
    verdict = f"Gate {'passed' if all(gate.passed for gate in gates) else 'FAILED'}: "
    models = f"{old} → {new}" + (f" on {data}" if data else "")
    lines: words.Lines = [("", models), ("flip rate", str(found.flips))]
    lines += [(f"gate: {g.quantity}", str(g)) for g in gates]
    lines += words.flip_lines(found)[1:]
    if found.accuracy_a is not None:
        name = "accuracy" if found.quantity is None else words.WITHIN_TOLERANCE
        lines.append((name, f"{percent(found.accuracy_a)} → {percent(found.accuracy_b)}"))
    lines += words.score_lines(found)
    if "unknown" not in found.comparable:
        lines.append(("comparable runs", found.comparable))
    overview = words.overview(found)
    parts = [
        f"### {verdict if gates else ''}{len(found.flipped):,} of {rows:,} predictions change"
        f"{words.by_how_much(found)}",
        markdown_text(" ".join([words.is_it_better(found), words.for_whom(found)])),
        markdown_table(lines, "|---|---|"),
        _right_aligned(overview) if len(overview) > 1 else "",
        _right_aligned(words.approval_lines(found)) if found.approvals else "",
        markdown_text(words.approval_note(found)),
        _groups(found),
        _golden(found),
        f"Limits: {percent(1 - found.delta, 0)}, over "
        f"{'rows' if found.n_groups is None else 'groups'}, for these two models.",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _right_aligned(lines: words.Lines) -> str:
    return markdown_table(lines, "|---|" + "---:|" * (len(lines[0]) - 1))


def _groups(found: ModelComparison) -> str:
    groups = found.worst_subgroups()
    if not groups:
        return ""
    more = len(groups) - MAX_GROUPS
    note = f"\n\n{more} more groups are not listed." if more > 0 else ""
    return _right_aligned(words.group_lines(groups[:MAX_GROUPS])) + note


def _golden(found: ModelComparison) -> str:
    golden = found.golden_set
    if golden is None:
        return ""
    head = f"{len(golden.violations)} of {golden.rows} predictions that must not change do."
    return f"{head}\n\n{_right_aligned(words.golden_lines(found))}" if golden.violations else head


def to_html(
    found: ModelComparison,
    gates: Sequence[Gate] = (),
    *,
    values: bool = True,
    old: str = "old model",
    new: str = "new model",
    data: str = "",
) -> str:
    """Write a comparison as one self-contained HTML page, with or without the rows' features."""
    environment, markup = environment_of_page()
    rows = found.changed_rows
    columns = features_of(found.compared.X, found.flipped[:0])[0] if values else []
    page = environment.get_template("update.html").render(
        found=found,
        gates=gates,
        old=old,
        new=new,
        data_name=data,
        replearn=__version__,
        values=values,
        rows=rows,
        max_rows=MAX_ROWS,
        columns=columns,
        fitting=columns_that_fit(columns, [row.cells for row in rows]),
        headline=words.headline(found),
        better=words.is_it_better(found),
        for_whom=words.for_whom(found),
        deployment=words.deployment(gates),
        about_allowed=_about_allowed(gates),
        failed=any(not gate.passed for gate in gates),
        overview=words.overview(found),
        flips=words.flip_lines(found),
        useful=words.useful_lines(found),
        scores=words.score_lines(found),
        approvals=words.approval_lines(found),
        approved=words.approved(found) if found.approvals else "",
        approval_note=words.approval_note(found),
        groups=words.group_lines(_ranked(found)),
        shifts=words.column_lines(found),
        golden=words.golden_lines(found),
        method=words.method(found),
        psi_note=words.PSI_NOTE,
        glossary=GLOSSARY,
        style=markup(page_asset("report.css") + page_asset("update.css")),
        script=markup(page_asset("page.js") + page_asset("update.js")),
        data=markup(script_json(_plotted(found, gates))),
    )
    return visible(page)


def _ranked(found: ModelComparison) -> list[Any]:
    both = [*found.by_subgroup, *found.by_intersection]
    return sorted(both, key=lambda group: (-group.lower, -group.value))


def _plotted(found: ModelComparison, gates: Sequence[Gate]) -> dict[str, Any]:
    """Return what the pictures show."""
    lines = [(ALL_ROWS, found.flips, len(found.predictions_a))]
    for name, estimate in (
        (BECOME_WRONG, found.right_to_wrong),
        ("become right", found.wrong_to_right),
    ):
        if estimate is not None:
            lines.append((name, estimate, len(found.predictions_a)))
    first_group = len(lines)
    lines += [(g.name, g, g.rows) for g in found.worst_subgroups()[:MAX_DRAWN]]
    allowed = _allowed(gates)
    scores = found.scores
    return {
        "changes": [
            {
                **{"name": name, "estimate": e.value, "lower": e.lower, "upper": e.upper},
                **{"rows": rows, "allowed": allowed.get(name if index < first_group else A_GROUP)},
            }
            for index, (name, e, rows) in enumerate(lines)
        ],
        "calibration": None if scores is None else as_json(scores.calibration),
    }


def _allowed(gates: Sequence[Gate]) -> dict[str, float]:
    """Return what gates allow for all rows, for those that become wrong, and for each group."""
    allowed: dict[str, float] = {}
    for gate in gates:
        names = [name for start, name in GATED.items() if gate.quantity.startswith(start)]
        for name in names[:1]:
            allowed[name] = min(gate.allowed, allowed.get(name, 1.0))
    return allowed


def _about_allowed(gates: Sequence[Gate]) -> str:
    """Say what the lines of the picture are; empty without gates."""
    shown = [f"{name} {percent(share, 1)}" for name, share in _allowed(gates).items()]
    return f"Dashed: what gates allow ({', '.join(shown)})." if shown else ""


GLOSSARY = {
    "Predictions that change": "Share of rows for which the two models predict different labels, "
    "or quantities that differ by the tolerance or more.",
    "Become wrong": "Rows that the old model predicted correctly and the new one does not: "
    "negative flips.",
    "Become right": "Rows that the new model predicts correctly and the old one did not: "
    "positive flips.",
    "Trust compatibility": "Of the rows that were right before, the share that still is.",
    "Error compatibility": "Of the rows that were wrong before, the share that still is.",
    "Swapped in, swapped out": "Rows that only the new model approves, and rows that only the old "
    "one approved; outcome: how many of them have the positive label.",
    "Same rate": "The new threshold is the one at which as many rows are approved as before.",
    "PSI": "Population stability index: how far two distributions are apart.",
    "Joint limits": "Limits that hold for all listed groups at once.",
    "Limits": "The true value lies between these two numbers, with the stated confidence.",
}
