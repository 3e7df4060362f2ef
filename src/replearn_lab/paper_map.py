"""Where each numbered statement of the paper runs: a table, checked, and a page made from it.

``paper_map.txt`` has one line for each label of the paper. A line names objects and
experiments that carry the statement out and the tests that check them, or says why there is
nothing to run. ``python -m replearn_lab.paper_map`` writes the page docs/paper-map.md.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from replearn.records.json import write_atomically

NOT_EXECUTABLE = "not executable"
IN_PART = "in part"
KINDS = {
    "def": "definition",
    "thm": "theorem",
    "lem": "lemma",
    "lemma": "lemma",
    "prop": "proposition",
    "cor": "corollary",
    "clm": "claim",
    "alg": "algorithm",
    "table": "table",
    "fig": "figure",
}
_HEAD = """# The paper, statement by statement

Every definition, lemma, proposition, theorem, claim, algorithm, table and figure of the paper that
has a label: what carries it out here, and what checks it. Made from `replearn_lab/paper_map.txt` by
`python -m replearn_lab.paper_map`; a test compares it with the list of labels. Names in the third
column are importable; `lab run` names an experiment of the [lab](lab/README.md). *In part*: the
second column says which part runs.

"""

_SLIPS = """
## Slips of the paper

Signs and constants that must not be followed to the letter, each read in the paper's source. None
changes a theorem; the code has the corrected version.

"""


@dataclass(frozen=True)
class Statement:
    """One statement of the paper."""

    label: str  # the paper's
    text: str  # what it says, in a few words
    objects: tuple[str, ...]  # dotted names of what carries it out
    experiments: tuple[str, ...]  # of the lab
    tests: tuple[str, ...]  # files, from the root of the repository
    reason: str = ""  # why nothing is executed or tested

    @property
    def status(self) -> str:
        """Whether all of it runs, part of it, or nothing."""
        if self.reason:
            return NOT_EXECUTABLE
        return IN_PART if IN_PART in self.text else "runs"

    @property
    def files(self) -> list[str]:
        """The files, below src/, of what carries it out."""
        experiments = [
            f"replearn_lab/experiments/{name.replace('-', '_')}.py" for name in self.experiments
        ]
        return list(dict.fromkeys([*map(_file_of, self.objects), *experiments]))

    @property
    def kind(self) -> str:
        """Definition, theorem, ..."""
        return KINDS[self.label.split(":")[0]]


def paper_map() -> list[Statement]:
    """Return one statement for each line of the table."""
    return [_statement(line) for line in _lines("paper_map.txt")]


def page() -> str:
    """Return the page docs/paper-map.md."""
    lines = [
        "| label | what | where it runs | file | status | checked by |",
        "|---|---|---|---|---|---|",
    ]
    for one in paper_map():
        runs = [f"`{name}`" for name in one.objects]
        runs += [f"`lab run {name}`" for name in one.experiments]
        checks = [f"`{path}`" for path in one.tests] or [one.reason]
        places = [f"`src/{path}`" for path in one.files]
        cells = (
            f"{one.kind} `{one.label}`",
            one.text,
            ", ".join(runs) or "-",
            ", ".join(places) or "-",
            one.status,
            ", ".join(checks),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return _HEAD + "\n".join(lines) + "\n" + _SLIPS + "\n".join(_slips()) + "\n"


def resolve(dotted: str) -> Any:
    """Import what a dotted name stands for.

    >>> resolve("replearn.select_hypothesis").__name__
    'select_hypothesis'
    """
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            value = getattr(value, name)
        return value
    raise ModuleNotFoundError(dotted)


def _file_of(dotted: str) -> str:
    found = inspect.unwrap(getattr(resolve(dotted), "fget", resolve(dotted)))
    return f"{found.__module__.replace('.', '/')}.py"


def _slips() -> list[str]:
    """Return the table of what must not be followed to the letter."""
    lines = [
        "| where | what stands there | what it must be | what runs here |",
        "|---|---|---|---|",
    ]
    for line in _lines("slips.txt"):
        label, *cells = (cell.strip() for cell in line.split(" | "))
        lines.append(f"| `{label}` | {' | '.join(cells)} |")
    return lines


def _lines(name: str) -> list[str]:
    text = (files("replearn_lab") / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _statement(line: str) -> Statement:
    label, text, where, checks = (cell.strip() for cell in line.split(" | "))
    places = [] if where == "-" else [place.strip() for place in where.split(",")]
    experiments = tuple(place[4:] for place in places if place.startswith("lab:"))
    objects = tuple(place for place in places if not place.startswith("lab:"))
    if checks.startswith(NOT_EXECUTABLE):
        return Statement(label, text, objects, experiments, (), checks)
    tests = tuple(path.strip() for path in checks.split(","))
    return Statement(label, text, objects, experiments, tests)


if __name__ == "__main__":
    write_atomically(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/paper-map.md"), page())
