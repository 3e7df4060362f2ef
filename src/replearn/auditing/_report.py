"""From the records to text, Markdown and HTML."""

from __future__ import annotations

import html
import json
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from replearn._version import __version__
from replearn.auditing import _tables, _words
from replearn.auditing._records import Report
from replearn.auditing._statistics import as_json, percent, percent_range, points
from replearn.auditing._usefulness import RegressionUsefulness
from replearn.records import aligned, html_table, html_text, visible, write_atomically

SCREEN = 100
LONGEST_CELL = 40
MARKDOWN_ROWS = 10
PLOTTED = (
    *("design", "judgement", "contenders", "instability"),
    *("sources", "new_rows", "in_time_order"),
)
DRAWN = ("sources", "new-rows", "time")
"""Parts about retraining that have a picture."""

MAX_CELL_BYTES = 2_000_000
"""Features of the least stable rows take at most that much of the page."""


def save_report(path: str | os.PathLike[str], **writers: Callable[[], str]) -> None:
    """Write what the writer of the path's ending gives."""
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in writers:
        known = ", ".join(f".{name}" for name in writers)
        raise ValueError(f"path={str(path)!r} must end in {known}.")
    write_atomically(path, writers[ending]().rstrip("\n") + "\n")


def to_text(report: Report, *, details: bool = False) -> str:
    """Write the audit for a terminal: the first screen, and on request everything else."""
    parts = _first_screen(report)
    if details:
        judgement = report.judgement
        parts += [
            _paragraph(*_words.by_need(judgement), *_words.verdict_sentences(judgement)),
            _tables.design_sentence(report),
            aligned(_tables.stability(report)),
            _tables.guarantee_note(report),
            *(
                text
                for part in (*_tables.retraining(report), *_tables.by_group(report))
                for text in (f"{part.title}. {part.note}", aligned(part.lines))
            ),
            aligned(_tables.usefulness(report)),
            *_tables.remarks(report),
            *(
                f"{f.code} {f.title}: {' '.join(f.explanations)}\n  What to do: {f.remedy}"
                for f in report.found
            ),
        ]
    return visible("\n\n".join(map(_wrapped, filter(None, parts))))


def _first_screen(report: Report) -> list[str]:
    """What a reader sees first: one number, one table, one recommendation."""
    judgement = report.judgement
    return [
        _paragraph(_tables.title(report), _words.headline(judgement), _words.risk(judgement)),
        aligned(_tables.overview(judgement)),
        _paragraph(
            _words.recommendation(judgement), _words.caution(judgement), _words.events(judgement)
        ),
        _paragraph(
            _tables.new_rows_sentence(report),
            _tables.time_sentence(report),
            _tables.grid_sentence(report),
            _tables.shortage(report),
            _tables.short_design(report),
            _tables.findings_sentence(report),
        ),
    ]


def _paragraph(*sentences: str) -> str:
    return "\n".join(filter(None, sentences))


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


def to_notebook(report: Report) -> str:
    """Write the audit for a notebook cell; every text is escaped."""
    judgement = report.judgement
    lines = [(f.code, f.title, " ".join(f.explanations)) for f in report.found]
    texts = [
        _words.risk(judgement),
        _words.recommendation(judgement),
        _words.caution(judgement),
        _words.events(judgement),
        _tables.new_rows_sentence(report),
        _tables.time_sentence(report),
        _tables.grid_sentence(report),
        _tables.shortage(report),
    ]
    return "".join(
        [
            f"<p><strong>{html_text(_words.headline(judgement))}</strong></p>",
            html_table(_tables.design_sentence(report), _tables.overview(judgement), header=True),
            *(f"<p>{html_text(text)}</p>" for text in filter(None, texts)),
            html_table("How useful", _tables.usefulness(report), header=True),
            html_table("Findings", lines) if lines else "",
        ]
    )


def to_markdown(report: Report) -> str:
    """Write the audit as Markdown; texts from the data are escaped."""
    judgement = report.judgement
    details = [*_words.by_need(judgement), *_words.verdict_sentences(judgement)]
    parts = [
        f"# {markdown_text(_tables.title(report))}",
        f"**{markdown_text(_words.headline(judgement))}**",
        markdown_text(_words.risk(judgement)),
        _right_aligned(_tables.overview(judgement)),
        markdown_text(_words.recommendation(judgement)),
        markdown_text(_words.caution(judgement)),
        markdown_text(_words.events(judgement)),
        markdown_text(_tables.grid_sentence(report)),
        markdown_text(_tables.shortage(report)),
        markdown_text(_tables.design_sentence(report)),
        "## Details",
        "\n".join(f"- {markdown_text(text)}" for text in details),
        "## How stable",
        _right_aligned(_tables.stability(report)),
        markdown_text(_tables.guarantee_note(report)),
        *(
            text
            for part in (*_tables.retraining(report), *_tables.by_group(report))
            for text in (
                f"## {part.title}",
                markdown_text(part.note),
                _right_aligned(part.lines),
            )
        ),
        "## How useful",
        _right_aligned(_tables.usefulness(report)),
        *map(markdown_text, _tables.remarks(report)),
        "## Findings",
        *_markdown_findings(report),
        "## Least stable rows",
        _markdown_rows(report),
    ]
    return "\n\n".join(filter(None, parts))


def _right_aligned(lines: _tables.Lines) -> str:
    return markdown_table(lines, "|---|" + "---:|" * (len(lines[0]) - 1))


def _markdown_findings(report: Report) -> list[str]:
    parts = [
        f"- **{f.code} {f.title}** ({f.severity}). "
        f"{markdown_text(' '.join(f.explanations))} {f.remedy}"
        for f in report.found
    ]
    passed, others = (
        ", ".join(f.code for f in report.findings if f.status == status) or "none"
        for status in ("passed", "not applicable")
    )
    return [*parts, f"Passed: {passed}. Not applicable: {others}."]


def _markdown_rows(report: Report) -> str:
    names = [c.name for c in report.contenders]
    lines = [["row", "label", *names]]
    for row in report.least_stable_rows[:MARKDOWN_ROWS]:
        flips = [percent(row.flips[name].value, 0) for name in names]
        lines.append([str(row.row), row.label, *flips])
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


def to_html(report: Report, *, values: bool = True) -> str:
    """Write the audit as one self-contained HTML page, with or without the rows' features."""
    environment, markup = environment_of_page()
    plots = {name: as_json(getattr(report, name)) for name in PLOTTED}
    page = environment.get_template("report.html").render(
        **vars(report),
        replearn=__version__,
        values=values,
        fitting=columns_that_fit(report.columns, [row.cells for row in report.least_stable_rows])
        if values
        else 0,
        headline=_words.headline(report.judgement),
        recommendation=_words.recommendation(report.judgement),
        risk=_words.risk(report.judgement),
        caution=_words.caution(report.judgement),
        events=_words.events(report.judgement),
        by_need=_words.by_need(report.judgement),
        sentences=_words.verdict_sentences(report.judgement),
        overview=_tables.overview(report.judgement),
        stability=_tables.stability(report),
        retraining=_tables.retraining(report),
        drawn=DRAWN,
        first_notes=[
            _tables.new_rows_sentence(report),
            _tables.time_sentence(report),
            _tables.grid_sentence(report),
        ],
        errors=_tables.usefulness(report) if report.judgement.tolerance is not None else None,
        score_text=_words.score_text,
        title=_tables.title(report),
        head_items=_tables.head_items(report, __version__),
        words=glossary(report),
        guarantee_note=_tables.guarantee_note(report),
        remarks=_tables.remarks(report),
        shortage=_tables.shortage(report),
        sentence=_tables.design_sentence(report),
        short_design=_tables.short_design(report),
        found_sentence=_tables.findings_sentence(report),
        style=markup(page_asset("report.css")),
        script=markup(page_asset("page.js") + page_asset("report.js")),
        data=markup(script_json(plots)),
    )
    return visible(page)


def environment_of_page() -> tuple[Any, Callable[[str], str]]:
    """Return the templates' environment, and what marks a text as safe to be put in as it is."""
    try:
        import jinja2
        import markupsafe
    except ImportError as error:
        raise ImportError(
            "The HTML report needs jinja2: pip install 'replicable-learn[report]'. "
            "to_markdown() and to_json() work without it."
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(page_asset), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["percent"] = lambda value, digits=2: _unbroken(percent(value, digits))
    environment.filters.update(unbroken=_unbroken, points=points, short=_short, range=_range)
    return environment, markupsafe.Markup


def columns_that_fit(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Count the columns that a page can show for all its rows within its budget.

    >>> columns_that_fit(["age", "town"], [["41", "Ulm"]])
    2
    """
    used = 0
    for index, name in enumerate(columns):
        cells = [_short(row[index]) for row in rows]
        used += sum(len(html.escape(text).encode()) for text in cells)
        used += len(cells) * (len(html.escape(_short(name)).encode()) + len("<b></b> <br>"))
        if used > MAX_CELL_BYTES:
            return index
    return len(columns)


def _unbroken(text: str) -> str:
    """Keep a percent sign with its number at the end of a line."""
    return text.replace(" %", "\u00a0%")


def _range(estimate: Any, digits: int = 2) -> str:
    return _unbroken(percent_range(estimate.lower, estimate.upper, digits))


def _short(text: str) -> str:
    """Names and cells of the page: short enough for a hundred columns in two hundred rows."""
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"


def page_asset(name: str) -> str:
    """Read a template, a style sheet or a script."""
    return (
        resources.files("replearn.auditing").joinpath("_assets", name).read_text(encoding="utf-8")
    )


WORDS = {
    "contender": (
        "Contender",
        "One way to train: “baseline” is the model as it is, “bagging” the mean of five models, "
        "“score thresholds” and “replicable” many models that share a key, “incumbent” a model "
        "that keeps the predictions of the old one where it is not sure.",
    ),
    "needs": (
        "Needs",
        "What this contender requires besides the data: nothing, the old model, or a key that all "
        "runs share.",
    ),
    "verdict": (
        "Verdict",
        "Worth it: fewer predictions change, beyond chance, at a price of at most {price}.",
    ),
    "changed": (
        "Predictions that change",
        "Share of test rows whose prediction differs between two trainings on {different} of the "
        "same data: the average over {pairs} pairs of trainings and {rows} test rows.",
    ),
    "limits": (
        "Limits",
        "The true value lies between these two numbers, with {level} confidence.",
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
        "What the certificate guarantees for each row before any data are seen: an average over "
        "keys and samples. It is not a limit for the single worst row of a measurement.",
    ),
    "seconds": ("Seconds", "Processor seconds of one training with its predictions."),
    "score": ("{score}", "{meaning}"),
    "accuracy": ("Accuracy", "Share of correct predictions among the test rows."),
    "balanced": (
        "Balanced accuracy",
        "The recall of each class, averaged over classes. A constant prediction scores 50 % with "
        "two classes, however rare one of them is.",
    ),
    "auc": (
        "AUC",
        "Chance that a row of one class gets a higher probability for it than a row of another "
        "class: 0.5 is a coin toss, 1 is perfect.",
    ),
    "recall": (
        "{found}",
        "Share of the rows of {which} that are predicted as such.",
    ),
    "precision": (
        "Precision",
        "Share of the rows predicted as {which} that are.",
    ),
    "brier": (
        "Brier score",
        "Mean squared error of the predicted probabilities: 0 is perfect, smaller is better.",
    ),
    "log_loss": (
        "Log-loss",
        "Penalty for confident wrong probabilities: 0 is perfect, smaller is better.",
    ),
}
"""Word and hint by key; in braces what belongs to one audit."""

SCORES = {
    "accuracy": "Share of correct predictions among the test rows.",
    "AUC": "Chance that a row of the rarer class gets a higher risk than another: 0.5 is a coin "
    "toss, 1 is perfect. Where a class is rare, accuracy says little.",
}
OF_CLASSES = ("accuracy", "balanced", "auc", "recall", "precision", "brier", "log_loss")
OF_NUMBERS = {
    "changed": (
        "Predictions that change",
        "Share of test rows whose two predictions differ by {tolerance} or more: the average over "
        "{pairs} pairs of trainings and {rows} test rows.",
    ),
    "score": (
        "R²",
        "Share of the variance of the test rows that the predictions explain: 1 is perfect, 0 is "
        "no better than the mean.",
    ),
}
"""Words of audits of a quantity, and those that they do not use."""


def glossary(report: Report) -> dict[str, tuple[str, str]]:
    """Return word and hint by key, with the sizes of this audit."""
    useful = report.contenders[0].usefulness
    names = {
        "pairs": f"{report.design.n_pairs}",
        "price": _words.highest_price(report.judgement),
        "different": "different rows"
        if report.design.new_rows == 1
        else f"samples that differ in {100 * report.design.new_rows:.3g} % of the rows",
        "rows": f"{report.design.n_test:,}",
        "tolerance": f"{report.judgement.tolerance or 0:g}",
        "level": f"{100 - 100 * report.design.delta:.0f} %",
    }
    if isinstance(useful, RegressionUsefulness):
        words = {key: pair for key, pair in WORDS.items() if key not in OF_CLASSES} | OF_NUMBERS
    else:
        words = WORDS
        rare = str(useful.shown.label)
        names |= {"found": f"Recall (class {rare})", "which": f"the rarer class, {rare!r}"}
        score = report.judgement.baseline.scores[0].name
        names |= {"score": score[0].upper() + score[1:], "meaning": SCORES[score]}
        if len(useful.classes) > 2:
            names |= {"found": "Lowest recall", "which": "the class with the lowest recall"}
    return {
        key: (word.format(**names), hint.format(**names)) for key, (word, hint) in words.items()
    }
