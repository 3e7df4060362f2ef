"""From the summary to text, Markdown and HTML: pure functions of plain values."""

from __future__ import annotations

import html
import json
import os
import re
import textwrap
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from typing import Any

from replearn.auditing import _tables
from replearn.auditing._statistics import percent, points
from replearn.auditing._summary import rare_class
from replearn.records.json import write_atomically
from replearn.records.text import aligned, html_table, html_text, visible

SCREEN = 100
LONGEST_CELL = 40
MARKDOWN_ROWS = 10
MAX_CELL_BYTES = 2_000_000
"""Features of the least stable rows take at most that much of the page."""


def save_report(path: str | os.PathLike[str], **writers: Callable[[], str]) -> None:
    """Write what the writer of the path's ending gives."""
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in writers:
        known = ", ".join(f".{name}" for name in writers)
        raise ValueError(f"path={str(path)!r} must end in {known}.")
    write_atomically(path, writers[ending]().rstrip("\n") + "\n")


def findings_of(summary: dict[str, Any], status: str = "found") -> list[dict[str, Any]]:
    """Return the findings of one status."""
    return [finding for finding in summary["findings"] if finding["status"] == status]


def to_text(summary: dict[str, Any]) -> str:
    """Write the audit for a terminal: the verdict first."""
    indices = _tables.frontier(summary)
    parts = [
        _tables.title(summary),
        "\n".join([f"Verdict: {summary['verdict']['headline']}", *summary["verdict"]["others"]]),
        _tables.needs_sentence(summary),
        "\n".join(summary["verdict"]["advice"]),
        _tables.shortage_sentence(summary),
        _tables.design_sentence(summary),
        aligned(_tables.stability(summary)),
        _tables.guarantee_note(summary),
        aligned(_tables.usefulness(summary)),
        aligned(indices) if indices else "",
        *_tables.remarks(summary),
        *(
            f"{f['code']} {f['title']}: {' '.join(f['explanations'])}\n  What to do: {f['remedy']}"
            for f in findings_of(summary)
        ),
    ]
    return visible("\n\n".join(map(_wrapped, filter(None, parts))))


def _wrapped(part: str) -> str:
    """Break long sentences between words; tables stay as they are."""
    lines = part.splitlines()
    if len(lines) > 1 and set(lines[1]) <= {"-", " "}:
        return part
    filled = (
        textwrap.fill(
            _unbroken(line),
            SCREEN,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in lines
    )
    return "\n".join(filled).replace("\u00a0", " ")


def to_notebook(summary: dict[str, Any]) -> str:
    """Write the audit for a notebook cell; every text is escaped."""
    lines = [(f["code"], f["title"], " ".join(f["explanations"])) for f in findings_of(summary)]
    tables = [
        html_table(_tables.design_sentence(summary), _tables.stability(summary), header=True),
        html_table("How useful", _tables.usefulness(summary), header=True),
        html_table("Findings", lines) if lines else "",
    ]
    verdict = summary["verdict"]
    others = "".join(f"<br>{html_text(text)}" for text in verdict["others"])
    head = f"<p><strong>{html_text(verdict['headline'])}</strong>{others}</p>"
    return head + "".join(tables)


def to_markdown(summary: dict[str, Any]) -> str:
    """Write the audit as Markdown; texts from the data are escaped."""
    stable = _tables.stability(summary)
    useful = _tables.usefulness(summary)
    indices = _tables.frontier(summary)
    parts = [
        f"# {markdown_text(_tables.title(summary))}",
        f"**{markdown_text(summary['verdict']['headline'])}**",
        "\n".join(f"- {markdown_text(text)}" for text in summary["verdict"]["others"]),
        markdown_text(_tables.needs_sentence(summary)),
        "\n".join(f"- {markdown_text(text)}" for text in summary["verdict"]["advice"]),
        markdown_text(_tables.shortage_sentence(summary)),
        markdown_text(_tables.design_sentence(summary)),
        "## How stable",
        markdown_table(stable, "|---|" + "---:|" * (len(stable[0]) - 1)),
        markdown_text(_tables.guarantee_note(summary)),
        "## How useful",
        markdown_table(useful, "|---|" + "---:|" * (len(useful[0]) - 1)),
        "## Accuracy against stability" if indices else "",
        markdown_table(indices, "|---|" + "---:|" * 3 + "---|") if indices else "",
        *map(markdown_text, _tables.remarks(summary)),
        "## Findings",
        *_markdown_findings(summary),
        "## Least stable rows",
        _markdown_rows(summary),
    ]
    return "\n\n".join(filter(None, parts))


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


def _markdown_rows(summary: dict[str, Any]) -> str:
    names = [c["name"] for c in summary["contenders"]]
    lines = [["row", "label", *names]]
    for row in summary["least_stable_rows"][:MARKDOWN_ROWS]:
        flips = [percent(row["flips"][name]["estimate"], 0) for name in names]
        lines.append([str(row["row"]), row["label"], *flips])
    return markdown_table(lines, "|---:|---|" + "---:|" * len(names))


def markdown_table(lines: Iterable[Iterable[str]], alignment: str) -> str:
    r"""Write a table whose first line is its head; texts are escaped.

    >>> markdown_table([("a", "b"), ("1", "2|3")], "|---|---|")
    '| a | b |\n|---|---|\n| 1 | 2\\|3 |'
    """
    head, *rest = ("| " + " | ".join(map(markdown_text, line)) + " |" for line in lines)
    return "\n".join([head, alignment, *rest])


def markdown_text(text: str) -> str:
    r"""Escape what Markdown or HTML would interpret.

    >>> markdown_text("a|b <script>")
    'a\\|b &lt;script&gt;'
    """
    escaped = re.sub(r"([\\|*_`\[\]#])", r"\\\1", html.escape(visible(text), quote=False))
    return " ".join(escaped.split())


def script_json(value: Any) -> str:
    r"""Write JSON that can stand inside a script element, whatever the data hold.

    >>> script_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    value = _with_visible_texts(value)
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _with_visible_texts(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {
            _with_visible_texts(name): _with_visible_texts(item) for name, item in value.items()
        }
    return (
        [_with_visible_texts(item) for item in value] if isinstance(value, list | tuple) else value
    )


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
    plots = {name: summary[name] for name in ("design", "contenders", "instability")}
    page = template.render(
        **summary,
        values=values,
        fitting=columns_that_fit(summary) if values else 0,
        stability=_tables.stability(summary),
        frontier=_tables.frontier(summary),
        title=_tables.title(summary),
        head_items=_tables.head_items(summary),
        words=glossary(summary),
        rares=[rare_class(c["usefulness"]) for c in summary["contenders"]],
        guarantee_note=_tables.guarantee_note(summary),
        remarks=_tables.remarks(summary),
        shortage=_tables.shortage_sentence(summary),
        sentence=_tables.design_sentence(summary),
        style=markupsafe.Markup(_asset("report.css")),
        script=markupsafe.Markup(_asset("report.js")),
        data=markupsafe.Markup(script_json(plots)),
    )
    return visible(page)


def columns_that_fit(summary: dict[str, Any]) -> int:
    """Count the columns that the page can show for all its rows within its budget."""
    used = 0
    for index, name in enumerate(summary["columns"]):
        cells = [_short(row["cells"][index]) for row in summary["least_stable_rows"]]
        used += sum(len(html.escape(text).encode()) for text in cells)
        used += len(cells) * (len(html.escape(_short(name)).encode()) + len("<b></b> <br>"))
        if used > MAX_CELL_BYTES:
            return index
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


WORDS = {
    "contender": (
        "Contender",
        "One way to train: “baseline” is the model as it is, “bagging” the mean of five "
        "models, “replicable” a vote of many models that share a key.",
    ),
    "changed": (
        "Changed predictions",
        "Share of test rows whose prediction differs between two trainings on different rows "
        "of the same data: the average over {pairs} pairs of trainings and {rows} test rows.",
    ),
    "limits": (
        "Limits",
        "Between these two numbers lies the true value, with {level} confidence.",
    ),
    "tail": (
        "Least stable 1 %",
        "How often the prediction changes for the one percent of test rows that change most; "
        "the first number is too low on average, the second too high.",
    ),
    "one_in_100": (
        "1 row in 100",
        "One test row in a hundred changes its prediction in at least this share of the pairs.",
    ),
    "worst": (
        "Worst row",
        "The row that changed most often. It is picked out of {rows} rows after the fact, so "
        "chance makes it look worse than it is; the limits allow for that.",
    ),
    "guarantee": (
        "Guarantee",
        "What the certificate promises for each row before any data are seen: an average over "
        "keys and samples. It is no limit for the single worst row of a measurement.",
    ),
    "seconds": ("Seconds", "Processor seconds of one training with its predictions."),
    "accuracy": ("Accuracy", "Share of right predictions among the test rows."),
    "balanced": (
        "Balanced accuracy",
        "For each class the share of its rows that is found, averaged over classes. Always "
        "giving the same prediction scores 50 % of two classes, however rare one of them is.",
    ),
    "auc": (
        "AUC",
        "Chance that a row of one class gets a higher probability for it than a row of another "
        "class: 0.5 is a coin toss, 1 is perfect.",
    ),
    "recall": (
        "{found}",
        "Recall: share of the rows of {which} that are predicted as such.",
    ),
    "precision": (
        "Right when said",
        "Precision: when {which} is predicted, how often that is right.",
    ),
    "brier": (
        "Brier score",
        "Mean squared error of the predicted probabilities: 0 is perfect, smaller is better.",
    ),
    "log_loss": (
        "Log-loss",
        "Penalty for probabilities that are sure and wrong: 0 is perfect, smaller is better.",
    ),
}
"""Word and hint by key; in braces what belongs to one audit."""


def glossary(summary: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return word and hint by key, with the sizes of this audit."""
    design = summary["design"]
    useful = summary["contenders"][0]["usefulness"]
    rare = rare_class(useful)["label"]
    several = len(useful["classes"]) > 2
    own = {
        "pairs": design["n_pairs"],
        "rows": f"{design['n_test']:,}",
        "level": f"{100 - 100 * design['delta']:.0f} %",
        "found": "Lowest recall" if several else f"Found: {rare}",
        "which": "the class that is found least often" if several else f"the rarer class, {rare!r}",
    }
    return {key: (word.format(**own), hint.format(**own)) for key, (word, hint) in WORDS.items()}
