"""From the records to text, Markdown and HTML; the tables and sentences that all of them share."""

from __future__ import annotations

import html
import json
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from replearn._version import __version__
from replearn.auditing._checks import Finding
from replearn.auditing._contenders import NOTHING
from replearn.auditing._judgement import (
    BASELINE,
    ContenderJudgement,
    Judgement,
    by_need,
    caution,
    events,
    headline,
    highest_price,
    recommendation,
    risk,
    score_text,
    verdict,
    verdict_sentences,
    weighing,
)
from replearn.auditing._records import (
    CertificateRecord,
    ContenderRecord,
    DesignRecord,
    Report,
    TimeRecord,
)
from replearn.auditing._statistics import (
    MIN_GROUP_ROWS,
    Estimate,
    NoModel,
    RegressionUsefulness,
    as_json,
    percent,
    percent_range,
    points,
)
from replearn.auditing._time import N_SHUFFLES
from replearn.records import aligned, html_table, html_text, visible, write_atomically

SCREEN = 100
LONGEST_CELL = 40
MARKDOWN_ROWS = 10
PLOTTED = (
    *("design", "judgement", "contenders"),
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


# -- terminal --------------------------------------------------------------------------------------
def to_text(report: Report, *, details: bool = False) -> str:
    """Write the audit for a terminal: the first screen, and on request everything else."""
    parts = _first_screen(report)
    if details:
        judgement = report.judgement
        parts += [
            _paragraph(*by_need(judgement), *verdict_sentences(judgement)),
            design_sentence(report),
            aligned(stability(report)),
            guarantee_note(report),
            *(
                text
                for part in (*retraining(report), *by_group(report))
                for text in (f"{part.title}. {part.note}", aligned(part.lines))
            ),
            aligned(usefulness(report)),
            *remarks(report),
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
        _paragraph(title(report), headline(judgement), risk(judgement), weighing(judgement)),
        aligned(overview(judgement)),
        _paragraph(recommendation(judgement), caution(judgement), events(judgement)),
        _paragraph(
            new_rows_sentence(report),
            time_sentence(report),
            grid_sentence(report),
            shortage(report),
            short_design(report),
            findings_sentence(report),
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


# -- notebook --------------------------------------------------------------------------------------
def to_notebook(report: Report) -> str:
    """Write the audit for a notebook cell; every text is escaped."""
    judgement = report.judgement
    lines = [(f.code, f.title, " ".join(f.explanations)) for f in report.found]
    texts = [
        risk(judgement),
        weighing(judgement),
        recommendation(judgement),
        caution(judgement),
        events(judgement),
        new_rows_sentence(report),
        time_sentence(report),
        grid_sentence(report),
        shortage(report),
    ]
    return "".join(
        [
            f"<p><strong>{html_text(headline(judgement))}</strong></p>",
            html_table(design_sentence(report), overview(judgement), header=True),
            *(f"<p>{html_text(text)}</p>" for text in filter(None, texts)),
            html_table("How useful", usefulness(report), header=True),
            html_table("Findings", lines) if lines else "",
        ]
    )


# -- Markdown --------------------------------------------------------------------------------------
def to_markdown(report: Report) -> str:
    """Write the audit as Markdown; texts from the data are escaped."""
    judgement = report.judgement
    details = [*by_need(judgement), *verdict_sentences(judgement)]
    parts = [
        f"# {markdown_text(title(report))}",
        f"**{markdown_text(headline(judgement))}**",
        markdown_text(risk(judgement)),
        markdown_text(weighing(judgement)),
        _right_aligned(overview(judgement)),
        markdown_text(recommendation(judgement)),
        markdown_text(caution(judgement)),
        markdown_text(events(judgement)),
        markdown_text(grid_sentence(report)),
        markdown_text(shortage(report)),
        markdown_text(design_sentence(report)),
        "## Details",
        "\n".join(f"- {markdown_text(text)}" for text in details),
        "## How stable",
        _right_aligned(stability(report)),
        markdown_text(guarantee_note(report)),
        *(
            text
            for part in (*retraining(report), *by_group(report))
            for text in (
                f"## {part.title}",
                markdown_text(part.note),
                _right_aligned(part.lines),
            )
        ),
        "## How useful",
        _right_aligned(usefulness(report)),
        *map(markdown_text, remarks(report)),
        "## Findings",
        *_markdown_findings(report),
        "## Least stable rows",
        _markdown_rows(report),
    ]
    return "\n\n".join(filter(None, parts))


def _right_aligned(lines: Lines) -> str:
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


# -- HTML ------------------------------------------------------------------------------------------
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
        headline=headline(report.judgement),
        recommendation=recommendation(report.judgement),
        risk=risk(report.judgement),
        weighing=weighing(report.judgement),
        caution=caution(report.judgement),
        events=events(report.judgement),
        by_need=by_need(report.judgement),
        sentences=verdict_sentences(report.judgement),
        overview=overview(report.judgement),
        stability=stability(report),
        retraining=retraining(report),
        drawn=DRAWN,
        first_notes=[
            new_rows_sentence(report),
            time_sentence(report),
            grid_sentence(report),
        ],
        useful=usefulness(report),
        score_text=score_text,
        title=title(report),
        head_items=head_items(report, __version__),
        words=glossary(report),
        guarantee_note=guarantee_note(report),
        remarks=remarks(report),
        shortage=shortage(report),
        sentence=design_sentence(report),
        short_design=short_design(report),
        found_sentence=findings_sentence(report),
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


# -- hints of the page -----------------------------------------------------------------------------
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
        "Worth it: fewer predictions change, beyond chance, at a price of at most {price}. Points "
        "lost: the larger loss against the baseline of the scores that it rests on ({scores}).",
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
    "weighted accuracy": "Share of correct predictions, where each row counts as much as its error "
    "costs at the decision threshold: accuracy at 0.5, balanced accuracy at the prevalence.",
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
        "price": highest_price(report.judgement),
        "different": "different rows"
        if report.design.new_rows == 1
        else f"samples that differ in {100 * report.design.new_rows:.3g} % of the rows",
        "rows": f"{report.design.n_test:,}",
        "tolerance": f"{report.judgement.tolerance or 0:g}",
        "level": f"{100 - 100 * report.design.delta:.0f} %",
        "scores": " and ".join(score.name for score in report.judgement.baseline.scores),
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


# -- tables and sentences that all reports share ---------------------------------------------------
Lines = list[tuple[str, ...]]
SHOWN_FINDINGS = 2
"""Findings that the first screen names; the others are counted."""


def overview(judgement: Judgement) -> Lines:
    """Return the table of the first screen, header first: what the verdicts rest on."""
    score = judgement.baseline.scores[0].name
    lines: Lines = [("contender", "needs", "predictions that change", score, "verdict")]
    for judged in judgement.contenders:
        name = f"{judged.name} *" if judged.name == judgement.recommended else judged.name
        lines.append(
            (
                name,
                judged.needs,
                judged.changed.percent(),
                score_text(judged.scores[0]),
                ", ".join(filter(None, (verdict(judged), points_lost(judged)))),
            )
        )
    none = judgement.no_model
    if none is not None:
        lines.append((f"always {none.label!r}", NOTHING, percent(0, 1), none.score(score), ""))
    return lines


def points_lost(judged: ContenderJudgement) -> str:
    """Say the largest loss among the scores; which, where it is not that of the first."""
    worst = max(judged.scores, key=lambda score: -score.difference.value)
    lost = round(-100 * worst.difference.value, 1)
    if judged.outcome == BASELINE or not judged.usable or lost <= 0:
        return ""
    named = "" if worst is judged.scores[0] else f" of {worst.name}"
    return f"{lost} points{named} lost"


def stability(report: Report) -> Lines:
    """Return the table of changed predictions, header first."""
    lines: Lines = [
        ("contender", "changed predictions", "1 row in 100", "worst row", "guarantee", "s per run")
    ]
    seconds = report.timings.seconds_per_run
    for c in report.contenders:
        lines.append(
            (
                c.name,
                c.flip_rate.percent(2),
                at_least(c.row_flips.p99.value),
                percent(c.row_flips.max.value, 0),
                guarantee(c),
                f"{seconds[c.name]:.2f}",
            )
        )
    return lines


def sources(report: Report) -> Lines:
    """Tabulate where changes of the baseline come from; nothing if it was not measured."""
    if not report.sources:
        return []
    lines = [("Only this changes", "Predictions that change", "Repetitions")]
    for source in report.sources:
        lines.append((source.name, source.changed.percent(), str(source.repeats)))
    fresh = report.contenders[0].flip_rate
    share = report.design.new_rows
    what = "all rows are new" if share == 1 else f"{_share(share)} of the rows are new"
    return [*lines, (what, fresh.percent(), str(report.design.n_pairs))]


def new_rows(report: Report) -> Lines:
    """Tabulate changes against the share of new rows; nothing for a single share."""
    if not report.new_rows:
        return []
    names = list(report.new_rows[0].changed)
    lines: Lines = [("New rows", *names)]
    for found in report.new_rows:
        lines.append((_share(found.share), *(found.changed[name].percent() for name in names)))
    return lines


def in_time_order(report: Report) -> Lines:
    """Tabulate retrainings in time order beside shuffled ones; nothing if not measured."""
    found = report.in_time_order
    if found is None:
        return []
    lines: Lines = [
        ("Trained until", "Tested until", "Test rows", "Changed in time order", "Shuffled")
        + (() if found.retrainings[0].accuracy is None else ("Accuracy", "Shuffled accuracy"))
    ]
    for step in found.retrainings:
        line = [step.trained_until, step.test_until, f"{step.test_rows:,}", step.changed.percent()]
        line += [percent(step.shuffled, 1)]
        if step.accuracy is not None:
            line += [percent(step.accuracy, 1), percent(step.shuffled_accuracy, 1)]
        lines.append(tuple(line))
    return lines


def by_group(report: Report) -> list[Section]:
    """Return the table of changes by true class and by value of each subgroup, if there are any."""
    lines: Lines = [("Group", "Test rows", *(c.name for c in report.contenders))]
    flips = [(*c.by_class, *c.by_subgroup) for c in report.contenders]
    for group in zip(*flips, strict=True):
        named = f"{group[0].subgroup} = {group[0].level}"
        lines.append((named, f"{group[0].rows:,}", *(share.percent() for share in group)))
    note = (
        "Predictions that change, by true class and by subgroup; values with fewer than "
        f"{MIN_GROUP_ROWS} test rows are left out."
    )
    return [Section("groups", "Changes by group", note, lines)] if len(lines) > 1 else []


def new_rows_sentence(report: Report) -> str:
    """Say how the changes of the baseline depend on the share of new rows; empty for one share."""
    if not report.new_rows:
        return ""
    name = report.contenders[0].name
    parts = [
        f"{percent(found.changed[name].value, 1)} with {_share(found.share)}"
        for found in report.new_rows
    ]
    return f"Predictions of {name} that change by the share of new rows: {', '.join(parts)}."


def time_sentence(report: Report) -> str:
    """Say how much of the changes in time order is drift; empty if it was not measured."""
    found = report.in_time_order
    if found is None:
        return ""
    sizes = f"{found.periods} periods, {found.window} windows"
    sentence = (
        f"In time order {found.changed.percent()} of predictions change at a retraining ({sizes}), "
        f"with the same rows shuffled {found.shuffled.percent()}: {_judged_drift(found)} "
        f"(p = {found.p_value:.2g}, {found.shuffles} shuffles)."
    )
    if found.accuracy is None:
        return sentence
    return (
        f"{sentence} Accuracy on the period after the windows is {percent(found.accuracy, 1)}, "
        f"shuffled {percent(found.shuffled_accuracy, 1)} (p = {found.accuracy_p_value:.2g})."
    )


def _judged_drift(found: TimeRecord) -> str:
    drift = found.changed.value - found.shuffled.value
    if found.p_value <= 1 / (1 + N_SHUFFLES):
        return f"drift adds {points(drift, 1)} points"
    return "no changes by drift are shown"


def grid_sentence(report: Report) -> str:
    """Say for what the limits of the settings of a grid hold; empty without a grid."""
    n_settings = report.judgement.n_settings
    if not n_settings:
        return ""
    return (
        f"Limits of the {n_settings} settings hold for all of them at once, so also for the one "
        "that is chosen."
    )


class Section(NamedTuple):
    """A part of a report about how a model is retrained."""

    id: str
    title: str
    note: str
    lines: Lines


def retraining(report: Report) -> list[Section]:
    """Return the parts about retraining that were measured."""
    repeated = (
        "The baseline was trained again on the same rows with one thing changed. What changes then "
        "is not due to the data."
    )
    sections = [
        Section("sources", "Where changes come from", repeated, sources(report)),
        Section("new-rows", "Some rows are new", new_rows_sentence(report), new_rows(report)),
        Section("time", "Retraining in time order", time_sentence(report), in_time_order(report)),
    ]
    return [section for section in sections if section.lines]


def _share(share: float) -> str:
    return f"{100 * share:.3g} %"


def at_least(value: float) -> str:
    """Write the share of pairs in which one row in a hundred changes."""
    return f"{percent(value, 0)} or more" if value > 0 else "0 %"


def usefulness(report: Report) -> Lines:
    """Return the table of right predictions, header first, no model at all last."""
    first = report.contenders[0].usefulness
    if isinstance(first, RegressionUsefulness):
        return _errors(report)
    several = len(first.classes) > 2
    label = f"class {str(first.rarest.label)!r}"
    found = ("lowest recall", "precision there") if several else (f"recall, {label}", "precision")
    lines: Lines = [("contender", "accuracy", "balanced", "AUC", *found, "Brier", "log-loss")]
    for c in report.contenders:
        useful = c.usefulness
        assert not isinstance(useful, RegressionUsefulness), "one audit has one kind of target"
        rare = useful.shown
        named = f", {str(rare.label)!r}" if several else ""
        lines.append(
            (
                c.name,
                useful.accuracy.percent(),
                useful.balanced_accuracy.percent(),
                _number(useful.auc),
                rare.recall.percent() + named,
                "not predicted" if rare.precision is None else rare.precision.percent(),
                _number(useful.brier),
                _number(useful.log_loss),
            )
        )
    none = report.judgement.no_model
    return lines if none is None else [*lines, _no_model(none, first.shown.label)]


def _errors(report: Report) -> Lines:
    """Return the table of errors of regressors, header first."""
    lines: Lines = [("contender", "R²", "RMSE", "mean change of a prediction")]
    for c in report.contenders:
        useful = c.usefulness
        assert isinstance(useful, RegressionUsefulness), "one audit has one kind of target"
        spread = (
            f"{useful.spread.value:.4g} ({useful.spread.lower:.4g} to {useful.spread.upper:.4g})"
        )
        lines.append((c.name, useful.r2.number(), f"{useful.rmse:.4g}", spread))
    return lines


def _no_model(none: NoModel, shown: Any) -> tuple[str, ...]:
    shares = [percent(none.accuracy, 1), percent(none.balanced_accuracy, 1)]
    numbers = [f"{none.brier:.3f}", f"{none.log_loss:.3f}"]
    found = ("0.0 %", "not predicted")
    if none.label == str(shown):
        found = ("100.0 %", percent(none.accuracy, 1))
    return (f"always {none.label!r}", *shares, "0.500", *found, *numbers)


def _number(estimate: Estimate | None) -> str:
    return "" if estimate is None else estimate.number()


def guarantee(contender: ContenderRecord) -> str:
    """Say what the certificate guarantees, and where it is worth nothing."""
    certificate = contender.certificate
    if certificate is None:
        kind = contender.promised_as or "another kind"
        return f"{kind}, see its promise" if contender.other_promises else "none"
    if certificate.void_because:
        return "void"
    if contender.usefulness.undecided:
        constant = getattr(contender.usefulness, "constant", None)
        return "empty: predicts " + ("as by chance" if constant is None else "a single class")
    return _limit(certificate)


def _limit(certificate: CertificateRecord) -> str:
    limit = f"at most {percent(certificate.rho, 1)}"
    if certificate.gamma is not None:
        gamma = percent(certificate.gamma, 1)
        limit = f"at most {gamma} of the rows, except with probability {certificate.rho:.3g}"
    if certificate.certified:
        return limit
    return f"{limit} (not certified as requested)"


def guarantee_note(report: Report) -> str:
    """Explain why a measured row may lie above the guarantee; empty without one."""
    if all(c.certificate is None for c in report.contenders):
        return ""
    return (
        "The guarantee is, for each row, an average over keys and samples; the worst row is the "
        f"largest of {report.design.n_test:,} measured rows over {report.design.n_pairs} pairs, "
        "and may lie above it by chance."
    )


def title(report: Report) -> str:
    """Name file, target, model and decision threshold in one line."""
    about = report.about
    parts = [about[name] for name in ("file", "model") if about.get(name)]
    if about.get("target"):
        parts.insert(1, f"target {about['target']}")
    if about.get("threshold"):
        parts.append(f"threshold {about['threshold']}")
    return "Audit of " + ", ".join(parts)


def head_items(report: Report, version: str) -> list[tuple[str, str]]:
    """Return what the head of the page names: file, target, model, threshold, date, version."""
    names = ("File", "Target", "Model", "Threshold")
    items = {name: report.about.get(name.lower(), "") for name in names}
    items["Date"] = report.timings.finished
    items["Version"] = f"replearn {version}"
    return [(name, text) for name, text in items.items() if text]


def shortage(report: Report) -> str:
    """Say how far the audit got, if not as far as requested."""
    return f"How far it got: {'; '.join(report.cut_short)}." if report.cut_short else ""


def design_sentence(report: Report) -> str:
    """Describe the design in one sentence."""
    d = report.design
    stopped = f" (of {d.pairs_wanted} requested)" if d.n_pairs < d.pairs_wanted else ""
    return (
        f"{d.n_pairs} pairs of {_kind_of_samples(d)}{stopped}, {d.train_size:,} {d.unit} each, "
        f"from a table of {d.n_rows:,} rows; {d.n_test:,} test rows. In brackets: "
        f"{percent(1 - d.delta, 0)} limits, for {d.limits_hold_for}."
    )


def _kind_of_samples(design: DesignRecord) -> str:
    if design.new_rows == 1:
        return f"{design.sample} samples"
    return f"samples of which {_share(design.new_rows)} are new"


def short_design(report: Report) -> str:
    """Describe the design in one line."""
    d = report.design
    source = "fresh samples" if d.independent_pairs else "random splits of this file"
    return (
        f"{d.n_pairs} pairs of samples of {d.train_size:,} {d.unit}, {d.n_test:,} test rows; in "
        f"brackets {percent(1 - d.delta, 0)} limits for {source}."
    )


def findings_sentence(report: Report) -> str:
    """Name what the checks found in one line."""
    names = [f"{f.code} {f.title}{_other_contenders(report, f)}" for f in report.found]
    if not names:
        return "No findings."
    more = [f"{len(names) - SHOWN_FINDINGS} more"] if len(names) > SHOWN_FINDINGS else []
    return f"Findings: {'; '.join(names[:SHOWN_FINDINGS] + more)}."


def _other_contenders(report: Report, finding: Finding) -> str:
    """Name the contenders of a finding, if the baseline is not one of them."""
    named = [
        c.name
        for c in report.contenders
        if any(text.startswith(f"{c.name}: ") for text in finding.explanations)
    ]
    if not named or report.contenders[0].name in named:
        return ""
    return f" ({', '.join(named)})"


def remarks(report: Report) -> list[str]:
    """Return what readers should know about single contenders, and what estimators warned of."""
    found = [f"{c.name}: {c.remark}" for c in report.contenders if c.remark]
    return found + [
        f"{c.name} warned in {note.pairs} of {report.design.n_pairs} pairs: {note.text}"
        for c in report.contenders
        for note in c.notes
    ]
