"""Reports of audits and comparisons: one table of measured numbers, and templates that show it."""

from __future__ import annotations

import html
import json
import os
import re
import textwrap
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from replearn._version import __version__
from replearn.auditing.limits import Estimate, percent
from replearn.auditing.metrics import IN_UNITS
from replearn.auditing.runs import (
    ALL,
    DIFFERENCE,
    FLIPS,
    Measured,
)
from replearn.records.json import pretty_json, write_atomically
from replearn.records.text import aligned, visible

FORMATS = {"audit": "replearn-audit", "compare": "replearn-compare"}
VERSION = 3
SCREEN = 100
LONGEST_CELL = 40
MAX_CELL_BYTES = 150_000
"""Features of the listed rows take at most that much of the page."""

MAX_DRAWN = 8
"""The picture of the first screen shows this many groups, the worst first."""

MAX_BARS = 30
PLAIN = ("AUC", "R²", "Brier score", "log-loss")
"""Scores that are written as plain numbers."""

DETAILS = ("recall of", "precision of", "Brier", "log-loss", "becomes wrong w", "becomes right w")
"""Measures of a comparison that are not on the first screen."""

WORDS = {
    "flips": "share of rows whose two predictions differ, averaged over all pairs",
    "becomes wrong": "right in the first run (by the old model), wrong in the second (by the new)",
    "flips, 1 row in 100": "one row in a hundred changes in at least this share of the pairs",
    "limits": "the numbers in brackets: the true value lies between them, with this confidence",
    "balanced accuracy": "the recall of each class, averaged; a constant prediction scores 50 % "
    "with two classes, however rare one is",
    "recall": "share of the rows of a class that are predicted as such",
    "precision": "share of the rows predicted as a class that are of it",
    "AUC": "chance that a row of a class gets a higher probability for it than another row: 0.5 is "
    "a coin toss",
    "Brier score, log-loss": "errors of the probabilities; smaller is better",
}
"""Words that a page explains."""

Lines = list[tuple[str, ...]]


class Presented:
    """What the results of `audit` and `compare` share: text, Markdown, HTML and JSON."""

    kind: str

    @property
    def _result(self) -> Any:
        return self

    def to_dict(self, *, timings: bool = True, values: bool = True) -> dict[str, Any]:
        """Return everything as JSON values; the schema is documented.

        Parameters
        ----------
        timings : bool, default=True
            Whether to include seconds; without them two equal audits give equal bytes.
        values : bool, default=True
            Whether to include the features of the listed rows.

        Returns
        -------
        dict
            See the page on the schema.
        """
        result = self._result
        return {
            "format": FORMATS[self.kind],
            "version": VERSION,
            "replearn": __version__,
            "about": dict(result.about),
            "measured": result.table.to_dicts(),
            "gates": [gate.to_dict() for gate in result.gates],
            **result.items(values=values),
            **({"timings": result.timings()} if timings and self.kind == "audit" else {}),
        }

    def to_json(self, *, timings: bool = True, values: bool = True) -> str:
        """Return everything as JSON text; parameters as in `to_dict`."""
        return pretty_json(self.to_dict(timings=timings, values=values))

    def to_text(self, *, details: bool = False) -> str:
        """Return the report for a terminal, as ``print`` shows it.

        Parameters
        ----------
        details : bool, default=False
            Whether to add every table and finding.

        Returns
        -------
        str
            The headline, a table and a recommendation, followed by the details.
        """
        text = _render("report.txt", self, details=details)
        return visible(re.sub(r"\n{3,}", "\n\n", text).strip())

    def to_markdown(self) -> str:
        """Return a short report for a pull request or a wiki."""
        text = _render("report.md", self)
        return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"

    def to_html(self, *, values: bool = True) -> str:
        """Return the report as one self-contained HTML page.

        Parameters
        ----------
        values : bool, default=True
            Whether the features of the listed rows are shown. If False, only their numbers are,
            for reports that are passed on.

        Returns
        -------
        str
            A page that opens from disk, and loads nothing from a network.
        """
        columns, rows = _row_table(self)
        page = _render(
            "report.html",
            self,
            values=values,
            row_columns=columns,
            rows=rows,
            fitting=columns_that_fit(self._result.columns, [cells for _, cells in rows])
            if values
            else 0,
            verdict_class=_verdict_class(self),
            words_used=WORDS,
            style=_asset("page.css"),
            script=_asset("page.js") + _asset("report.js"),
            data=script_json(_drawn(self)),
        )
        return visible(page)

    def save(self, path: str | os.PathLike[str], *, values: bool = True) -> None:
        """Write the report in the format of the suffix: .html, .json or .md.

        Parameters
        ----------
        path : path
            The file to write.
        values : bool, default=True
            Whether to include the features of the listed rows (Markdown never does).
        """
        writers = {
            ".html": lambda: self.to_html(values=values),
            ".json": lambda: self.to_json(values=values),
            ".md": self.to_markdown,
        }
        ending = Path(path).suffix.lower()
        if ending not in writers:
            raise ValueError(f"path={str(path)!r} must end in {', '.join(writers)}.")
        write_atomically(path, writers[ending]().rstrip("\n") + "\n")

    def frame(self) -> Any:
        """Return a pandas DataFrame with one line per measured number."""
        return self._result.table.frame()

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return visible(_render("notebook.html", self))


# -- numbers as text -------------------------------------------------------------------------------
def value_text(value: float, what: str) -> str:
    """Write a number as what it measures is written.

    >>> value_text(0.5, "accuracy"), value_text(0.5, "AUC"), value_text(12.34567, "RMSE")
    ('50.0 %', '0.500', '12.35')
    """
    what = what.removeprefix(DIFFERENCE)
    if what in IN_UNITS:
        return f"{value:.4g}"
    return f"{value:.3f}" if what in PLAIN else percent(value, 1)


def number_text(measured: Measured | None) -> str:
    """Write a measured number with its limits.

    >>> number_text(Measured(0.5, 0.4, 0.6, "baseline", "accuracy"))
    '50.0 % (40.0 to 60.0 %)'
    """
    if measured is None:
        return ""
    what = measured.what.removeprefix(DIFFERENCE)
    is_difference = what != measured.what
    if what in IN_UNITS or what in PLAIN:
        form = ".4g" if what in IN_UNITS else ".3f"
        numbers = (measured.value, measured.lower, measured.upper)
        value, lower, upper = (f"{n:{'+' if is_difference else ''}{form}}" for n in numbers)
        return f"{value} ({lower} to {upper})".replace("-", "−")
    if is_difference:
        limits = f"{points(measured.lower)} to {points(measured.upper)}"
        return f"{points(measured.value)} points ({limits})"
    return measured.percent(1)


def points(value: float, digits: int = 2) -> str:
    """Write a difference of shares in percentage points.

    >>> points(-0.0113), points(0.002, 1)
    ('−1.13', '+0.2')
    """
    return f"{100 * value:+.{digits}f}".replace("-", "−")


# -- tables ----------------------------------------------------------------------------------------
class Section(NamedTuple):
    """A table of a report; ``drawn``: with a picture on the page."""

    id: str
    title: str
    lines: Lines
    drawn: bool = False


def overview(result: Any) -> Lines:
    """Return the table of the first screen, header first."""
    if result.kind == "audit":
        return _contenders(result)
    return [line for line in _old_and_new(result) if not line[0].startswith(DETAILS)]


def _contenders(result: Any) -> Lines:
    """Return what the verdicts of an audit rest on: each contender, no model at all last."""
    judgement = result.judgement
    lead = judgement.leading
    lines: Lines = [("contender", "needs", "predictions that change", lead, "verdict")]
    for c in judgement.contenders:
        name = f"{c.name} *" if c.name == judgement.recommended else c.name
        numbers = [number_text(result.table.get(what, c.name)) for what in (FLIPS, lead)]
        lost = f", {100 * c.price:.1f} points lost" if c.price >= 0.0005 else ""
        verdict = "" if c.outcome == "baseline" else f"{c.outcome}{lost if c.usable else ''}"
        lines.append((name, c.needs, *numbers, verdict))
    predictions = result.contenders[0].predictions
    score = value_text(predictions.no_model()[lead], lead)
    return [*lines, (f"always {predictions.usual}", "nothing", percent(0, 1), score, "")]


def _old_and_new(result: Any) -> Lines:
    """Return changes, and the scores of both models with their differences."""
    lines: Lines = [("", "old", "new", "difference")]
    for row in result.table.select(contender="new", group=ALL):
        difference = result.table.get(f"{DIFFERENCE}{row.what}", "new")
        old = result.table.get(row.what, "old")
        if old is not None:
            lines.append((row.what, *map(number_text, (old, row, difference))))
        elif not row.what.startswith(DIFFERENCE) and row.what != "must not change":
            lines.append((row.what, "", number_text(row), ""))
    return lines


def sections(result: Any) -> list[Section]:
    """Return the tables below the first screen; empty ones are left out."""
    if result.kind == "audit":
        found = [
            Section("numbers", "All numbers", _numbers_of_contenders(result)),
            Section("variants", "What differs between two runs", _variants(result), drawn=True),
        ]
    else:
        found = [
            Section("numbers", "All numbers", _old_and_new(result)),
            Section("transitions", "From which label to which", _transitions(result)),
        ]
    found.append(Section("groups", "Changes by group", _by_group(result), drawn=True))
    return [section for section in found if len(section.lines) > 1]


def _numbers_of_contenders(result: Any) -> Lines:
    """Return one line per measure, one column per contender."""
    table = result.table.select(group=ALL, variant="")
    names = table.names("contender")
    lines: Lines = [("", *names)]
    for what in table.names("what"):
        if not what.startswith(DIFFERENCE):
            lines.append((what, *(number_text(table.get(what, name)) for name in names)))
    seconds = result.timings()["seconds_per_run"]
    return [*lines, ("seconds per run", *(f"{seconds[name]:.2f}" for name in names))]


def _variants(result: Any) -> Lines:
    """Return the changes of each contender by what differs between two runs."""
    names = [c.name for c in result.contenders]
    vary = result.design.vary
    if len(vary) == 1:
        return []
    lines: Lines = [("what differs", *names)]
    for place, variant in enumerate(vary):
        wanted = variant if place else ""
        cells = (result.table.get(FLIPS, name, variant=wanted) for name in names)
        lines.append((variant, *map(number_text, cells)))
    return lines


def _by_group(result: Any) -> Lines:
    """Return the changes of each group with enough rows."""
    table = result.table.groups(FLIPS)
    if result.kind == "audit":
        columns = [(name, FLIPS, name) for name in table.names("contender")]
    else:
        kinds = (FLIPS, "becomes wrong", "becomes right")
        columns = [(what, what, "new") for what in kinds if result.table.groups(what)]
    lines: Lines = [("group", "rows", *(title for title, _, _ in columns))]
    for group in table.names("group"):
        cells = [result.table.get(what, name, group) for _, what, name in columns]
        lines.append((group, f"{cells[0].rows:,}", *map(number_text, cells)))
    return lines


def _transitions(result: Any) -> Lines:
    """Return how many rows change from which label to which."""
    known = result.right is not None
    lines: Lines = [("old", "new", "rows", *(("become right", "become wrong") if known else ()))]
    for one in result.transitions:
        outcome = (f"{one.become_right:,}", f"{one.become_wrong:,}") if known else ()
        lines.append((one.old, one.new, f"{one.rows:,}", *outcome))
    return lines


def _row_table(result: Any) -> tuple[list[tuple[str, str]], list[tuple[list[Any], Any]]]:
    """Return columns (name, kind) and rows (cells with what they are sorted by, features)."""
    rows = []
    if result.kind == "audit":
        names = [c.name for c in result.contenders]
        columns = [("Row", "number"), ("Label", "text"), *((name, "number") for name in names)]
        for shown in result.items()["rows"]:
            flips = [(percent(shown["flips"][n], 0), shown["flips"][n]) for n in names]
            cells = [(str(shown["row"]), shown["row"]), (shown["truth"], None), *flips]
            rows.append((cells, shown["cells"]))
        return columns, rows
    columns = [("Row", "text"), ("Old", "text"), ("New", "text")]
    columns += [("Truth", "text"), ("Change", "text"), ("Moved", "number")]
    for row in result.changed_rows:
        texts = (row.id, row.old, row.new, row.truth or "", row.change)
        moved = ("" if row.moved is None else f"{row.moved:.3g}", row.moved or 0.0)
        rows.append(([*((text, None) for text in texts), moved], list(row.cells)))
    return columns, rows


# -- what the pictures show ------------------------------------------------------------------------
def _drawn(result: Any) -> dict[str, Any]:
    """Return the numbers that the pictures of a page show."""
    if result.kind == "compare":
        return {"scatter": None, "bars": {"changes": _changes(result), "groups": _groups(result)}}
    lead = result.judgement.leading
    marks = [
        {
            "name": c.name,
            "flips": _numbers(result.table.get(FLIPS, c.name)),
            "score": _numbers(result.table.get(lead, c.name)),
        }
        for c in result.contenders
    ]
    scatter = {"score": lead, "plain": lead in PLAIN, "points": marks}
    variants = [
        _bar(result.table.get(FLIPS, name, variant=variant if place else ""), variant, series)
        for place, variant in enumerate(result.design.vary)
        for series, name in enumerate(c.name for c in result.contenders)
    ]
    bars = {"variants": variants[:MAX_BARS], "groups": _groups(result)}
    return {"scatter": scatter, "bars": bars}


def _changes(result: Any) -> list[dict[str, Any]]:
    """Return what changes, and the groups that change most, beside what gates allow."""
    allowed = {gate.name.removeprefix("upper "): gate.allowed for gate in result.gates}
    rows = [
        row
        for row in result.table.select(contender="new", group=ALL)
        if row.what.startswith((FLIPS, "becomes", "added flips", "added becomes"))
    ]
    bars = [_bar(row, row.what, 1, allowed.get(row.what)) for row in rows]
    worst = sorted(result.table.groups(FLIPS), key=lambda row: -row.lower)[:MAX_DRAWN]
    return bars + [_bar(row, row.group, 2, allowed.get("worst group")) for row in worst]


def _groups(result: Any) -> list[dict[str, Any]]:
    rows = result.table.groups(FLIPS).select(contender=result.judged)
    return [_bar(row, row.group, 2) for row in rows[:MAX_BARS]]


def _bar(
    measured: Measured, name: str, series: int, allowed: float | None = None
) -> dict[str, Any]:
    named = {"name": name, "series": series, "rows": measured.rows, "allowed": allowed}
    return named | _numbers(measured)


def _numbers(estimate: Estimate) -> dict[str, float]:
    return {"value": estimate.value, "lower": estimate.lower, "upper": estimate.upper}


def _verdict_class(result: Any) -> str:
    """Return the colour of the box with the advice."""
    if result.kind == "audit":
        return "recommendation"
    passed = all(gate.passed for gate in result.gates)
    return f"verdict {'passed' if passed else 'failed'}" if result.gates else "verdict"


# -- templates -------------------------------------------------------------------------------------
@cache
def _environment(*, escaped: bool) -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=escaped,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        share=percent,
        points=points,
        value=value_text,
        number=number_text,
        line=_line,
        wrap=_wrapped,
        aligned=aligned,
        md=markdown_text,
        md_table=markdown_table,
        short=_short,
        unbroken=_unbroken,
    )
    return environment


def _render(name: str, result: Any, **context: Any) -> str:
    environment = _environment(escaped=name.endswith(".html"))
    if name.endswith(".html"):
        from markupsafe import Markup

        safe = ("style", "script", "data")
        context |= {name: Markup(context[name]) for name in safe if name in context}
    shared = {"overview": overview(result), "sections": sections(result), "replearn": __version__}
    text: str = environment.get_template(name).render(r=result, **shared, **context)
    return text


def _asset(name: str) -> str:
    """Read a template, a style sheet or a script."""
    folder = resources.files("replearn.auditing").joinpath("templates")
    return folder.joinpath(name).read_text(encoding="utf-8")


def _line(text: str) -> str:
    """Put a sentence of several lines on one; what is escaped stays so."""
    joined = type(text)(re.sub(r"\s+([.,;:])", r"\1", " ".join(text.split())))
    return _unbroken(joined)


def _unbroken(text: str) -> str:
    """Keep a percent sign with its number at the end of a line."""
    return type(text)(text.replace(" %", "\u00a0%"))


def _wrapped(text: str) -> str:
    """Break a sentence between words."""
    filled = textwrap.fill(
        _line(text),
        SCREEN,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace("\u00a0", " ")


def _short(text: str) -> str:
    """Names and cells of the page: short enough for a hundred columns in two hundred rows."""
    text = str(text)
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"


def columns_that_fit(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Count the columns that a page can show for all its rows within its budget.

    >>> columns_that_fit(["age", "town"], [["41", "Ulm"]])
    2
    """
    used = 0
    for index, name in enumerate(columns):
        cells = [_short(row[index]) for row in rows]
        used += sum(len(html.escape(text).encode()) for text in cells)
        used += len(cells) * (len(html.escape(_short(name)).encode()) + len("<b></b> , "))
        if used > MAX_CELL_BYTES:
            return index
    return len(columns)


def markdown_table(lines: Iterable[Iterable[str]]) -> str:
    r"""Write a table whose first line is its head; texts are escaped.

    >>> markdown_table([("a", "b"), ("1", "2|3")])
    '| a | b |\n|---|---:|\n| 1 | 2\\|3 |'
    """
    head, *rest = ([markdown_text(cell) for cell in line] for line in lines)
    alignment = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join(
        [f"| {' | '.join(head)} |", alignment, *(f"| {' | '.join(line)} |" for line in rest)]
    )


def markdown_text(text: str) -> str:
    r"""Escape what Markdown or HTML would interpret.

    >>> markdown_text("a|b <script>")
    'a\\|b &lt;script&gt;'
    """
    escaped = re.sub(r"([\\|*_`\[\]#])", r"\\\1", html.escape(visible(text), quote=False))
    return re.sub(r"\s+([.,;:])", r"\1", " ".join(escaped.split()))


def script_json(value: Any) -> str:
    r"""Write JSON that can stand inside a script element, whatever the data hold.

    >>> script_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = visible(json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
