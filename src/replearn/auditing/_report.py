"""From the summary to text, Markdown and HTML: pure functions of plain values."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from importlib import resources
from typing import Any

from replearn.auditing._statistics import percent
from replearn.records.text import aligned, html_table

HEADER = (
    "contender",
    "flip rate",
    "limits",
    "99 % row",
    "worst row",
    "accuracy",
    "promised",
    "s per run",
)
LONGEST_CELL = 40
MOST_CELL_BYTES = 2_000_000
"""Features of the least stable rows take at most that much of the page."""


def points(value: float) -> str:
    """Write a difference of shares in percentage points.

    Examples
    --------
    >>> points(-0.0113), points(0.002)
    ('−1.13', '+0.20')
    """
    return f"{100 * value:+.2f}".replace("-", "−")


def overview(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the table of contenders as text, header first."""
    seconds = summary.get("timings", {}).get("seconds_per_run", {})
    lines: list[tuple[str, ...]] = [HEADER]
    for c in summary["contenders"]:
        rate, rows = c["flip_rate"], c["row_flips"]
        lines.append(
            (
                c["name"],
                percent(rate["estimate"]),
                f"{percent(rate['lower'])} to {percent(rate['upper'])}",
                percent(rows["p99"]["estimate"], 0),
                percent(rows["max"]["estimate"], 0),
                percent(c["accuracy"]["estimate"]),
                _promise(c),
                f"{seconds[c['name']]:.2f}" if c["name"] in seconds else "",
            )
        )
    return lines


def _promise(contender: dict[str, Any]) -> str:
    certificate = contender["certificate"]
    if certificate is None:
        return "another kind" if contender["other_promises"] else "nothing"
    if certificate["void_because"]:
        return "void"
    limit = f"at most {percent(certificate['rho'], 1)}"
    if certificate["gamma"] is not None:
        gamma = percent(certificate["gamma"], 1)
        limit = f"at most {gamma} of the rows, except with probability {certificate['rho']:.3g}"
    return limit if certificate["certified"] else f"{limit}, more than requested"


def design_sentence(summary: dict[str, Any]) -> str:
    """Describe the design in one sentence."""
    d = summary["design"]
    stopped = ""
    if d["n_pairs"] < d["pairs_wanted"]:
        stopped = f" (of {d['pairs_wanted']} requested: the time budget ended)"
    return (
        f"{d['n_pairs']} pairs of {d['sample']} samples{stopped}, {d['train_size']:,} {d['unit']} "
        f"each, from a file of {d['n_rows']:,} rows; {d['n_test']:,} test rows. "
        f"Limits: {percent(1 - d['delta'], 0)}, for {d['limits_hold_for']}."
    )


def findings_of(summary: dict[str, Any], status: str = "found") -> list[dict[str, Any]]:
    """Return the findings of one status."""
    return [finding for finding in summary["findings"] if finding["status"] == status]


def remarks(summary: dict[str, Any]) -> list[str]:
    """Return what readers should know about single contenders."""
    return [f"{c['name']}: {c['remark']}" for c in summary["contenders"] if c["remark"]]


def to_text(summary: dict[str, Any]) -> str:
    """Write the audit for a terminal."""
    parts = ["Audit: " + design_sentence(summary), aligned(overview(summary))]
    parts += remarks(summary)
    hits = findings_of(summary)
    parts += [f"{f['code']} {f['title']}: {' '.join(f['explanations'])}" for f in hits]
    return "\n\n".join(parts)


def to_notebook(summary: dict[str, Any]) -> str:
    """Write the audit for a notebook cell; every text is escaped."""
    table = html_table(design_sentence(summary), overview(summary), header=True)
    lines = [(f["code"], f["title"], " ".join(f["explanations"])) for f in findings_of(summary)]
    return table + (html_table("Findings", lines) if lines else "")


def to_markdown(summary: dict[str, Any]) -> str:
    """Write the audit as Markdown; texts from the data are escaped."""
    parts = [
        "# Audit: how often retraining changes a prediction",
        design_sentence(summary),
        _markdown_table(overview(summary), "|---|" + "---:|" * (len(HEADER) - 1)),
        *map(markdown_text, remarks(summary)),
        "The flip rate is measured on this file; what is promised is a theorem's bound for the "
        "worst case.",
        "## Findings",
        *_markdown_findings(summary),
        "## Least stable rows",
        _markdown_rows(summary),
    ]
    return "\n\n".join(parts)


def _markdown_findings(summary: dict[str, Any]) -> list[str]:
    parts = [
        f"- **{f['code']} {f['title']}** ({f['severity']}). "
        f"{markdown_text(' '.join(f['explanations']))} {f['remedy']}"
        for f in findings_of(summary)
    ]
    passed, others = (
        ", ".join(f["code"] for f in findings_of(summary, status)) or "none"
        for status in ("passed", "not applicable")
    )
    return [*parts, f"Passed: {passed}. Not applicable: {others}."]


def _markdown_rows(summary: dict[str, Any], most: int = 10) -> str:
    names = [c["name"] for c in summary["contenders"]]
    lines = [["row", "label", *names]]
    for row in summary["least_stable_rows"][:most]:
        flips = [percent(row["flips"][name]["estimate"], 0) for name in names]
        lines.append([str(row["row"]), row["label"], *flips])
    return _markdown_table(lines, "|---:|---|" + "---:|" * len(names))


def _markdown_table(lines: Iterable[Iterable[str]], alignment: str) -> str:
    head, *rest = ("| " + " | ".join(map(markdown_text, line)) + " |" for line in lines)
    return "\n".join([head, alignment, *rest])


def markdown_text(text: str) -> str:
    r"""Escape what Markdown or HTML would interpret.

    Examples
    --------
    >>> markdown_text("a|b <script>")
    'a\\|b &lt;script&gt;'
    """
    escaped = re.sub(r"([\\|*_`\[\]#])", r"\\\1", html.escape(text, quote=False))
    return " ".join(escaped.split())


def script_json(value: Any) -> str:
    r"""Write JSON that can stand inside a script element, whatever the data hold.

    Examples
    --------
    >>> script_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def to_html(summary: dict[str, Any], *, values: bool = True) -> str:
    """Write the audit as one self-contained HTML page, with or without the rows' features."""
    try:
        import jinja2
        import markupsafe
    except ImportError as error:
        raise ImportError(
            "The HTML report needs jinja2: pip install 'replicable-learn[report]'. "
            "to_markdown() and to_json() work without it."
        ) from error
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["percent"] = lambda value, digits=2: _unbroken(percent(value, digits))
    environment.filters.update(unbroken=_unbroken, points=points, short=_short)
    template = environment.from_string(_asset("report.html"))
    plots = {name: summary[name] for name in ("design", "contenders")}
    return template.render(
        **summary,
        values=values,
        fitting=columns_that_fit(summary) if values else 0,
        overview=overview(summary),
        sentence=design_sentence(summary),
        style=markupsafe.Markup(_asset("report.css")),
        script=markupsafe.Markup(_asset("report.js")),
        data=markupsafe.Markup(script_json(plots)),
    )


def columns_that_fit(summary: dict[str, Any]) -> int:
    """Count the columns that the page can show for all its rows within its budget."""
    used = 0
    for place, name in enumerate(summary["columns"]):
        cells = [_short(row["cells"][place]) for row in summary["least_stable_rows"]]
        used += sum(len(html.escape(text).encode()) for text in cells)
        used += len(cells) * (len(html.escape(_short(name)).encode()) + len("<b></b> <br>"))
        if used > MOST_CELL_BYTES:
            return place
    return len(summary["columns"])


def _unbroken(text: str) -> str:
    """Keep a percent sign with its number at the end of a line."""
    return text.replace(" %", "\u00a0%")


def _short(text: str) -> str:
    """Names and cells of the page: short enough for a hundred columns in two hundred rows."""
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"


def _asset(name: str) -> str:
    return (
        resources.files("replearn.auditing").joinpath("_assets", name).read_text(encoding="utf-8")
    )
