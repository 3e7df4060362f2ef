"""List words that the project does not use, in identifiers and text of the source and on pages.

``python tools/vocabulary.py [--count] [PATH ...]``, where paths are those of sources. One concept
has one name, and the name is the one that users of scikit-learn know. Words of a data format
(labels of keys, names of fields that are written to files) are data and stay. Exits with 1 if a
word is left that has no reason in `ALLOWED`.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DEFAULT = ("src/replearn",)

WORDS = {
    "answer": "prediction, predict",
    "answers": "predictions",
    "answered": "predicted",
    "ask": "predict, request",
    "asked": "requested",
    "asks": "predicts, requests",
    "door": "module, public API",
    "doors": "modules, public API",
    "told": "params, result",
    "learner": "estimator",
    "learners": "estimators",
    "member": "block estimator",
    "members": "block estimators",
    "voter": "predictor",
    "voters": "predictors",
    "room": "package",
    "rooms": "packages",
    "house": "package",
    "place": "index",
    "places": "indices",
    "seat": "group",
    "wish": "request",
    "wishes": "requests",
    "hopes": "targets",
    "least": "MIN_ (constants)",
    "fewest": "MIN_ (constants)",
    "most": "MAX_ (constants)",
}
"""Words that are not used, with what to write instead."""

PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "tests/README.md", "benchmarks/README.md")
THEORY = ("docs/theory", "docs/lab", "docs/paper-map.md", "docs/_build", "docs/gallery")
"""Pages in the words of the theory (a learner, a member), and what is built from others."""

IN_SOURCE_ONLY = frozenset({"place", "places", "member", "members", "door", "doors"})
"""Ordinary words, which a page may use in their ordinary sense."""

CONSTANTS_ONLY = frozenset({"least", "fewest", "most"})

ALLOWED = {
    ("replearn/heavy", "member"): "a point of the heavy set: the paper's word",
    ("replearn/heavy", "members"): "points of the heavy set: the paper's word",
    ("replearn/bounds", "member"): "a point of the heavy set: the paper's word",
    ("replearn/bounds", "members"): "points of the heavy set: the paper's word",
    ("replearn/guarantees", "member"): "a point of the heavy set: the paper's word",
    ("replearn/guarantees", "members"): "points of the heavy set: the paper's word",
    ("replearn/learners/vote.py", "member"): "a point of the heavy set: the paper's word",
    ("replearn", "learners"): "name of the package of estimators",
    ("replearn/guarantees", "learner"): "a field of certificates, which are files",
    ("replearn/testing", "learner"): "estimators of the theory, bound by name in certificates",
    ("replearn/binding/sample.py", "member"): "a name that columns of ids have: data",
    ("replearn/cli/__init__.py", "learner"): "the option --learner of the command line",
    ("replearn/cli/_inputs.py", "learner"): "the option --learner of the command line",
    ("replearn/cli/fit.py", "learner"): "the option --learner of the command line",
    ("replearn/cli/_incumbent.py", "learner"): "the option --learner of the command line",
    ("replearn/randomness", "place"): "in place: without a copy, as in numpy's documentation",
}
"""Where a word may stand, and why: a path below src (or the beginning of one) and the word."""


class Use(NamedTuple):
    """One use of a word that the project does not use."""

    path: str
    line: int
    word: str
    text: str


def uses(path: Path) -> Iterator[Use]:
    """Yield the uses in identifiers, comments and docstrings of one file."""
    name = str(path.relative_to(ROOT / "src"))
    source = path.read_text("utf-8")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            for word in identifier_words(token.string):
                yield Use(name, token.start[0], word, token.string)
        elif token.type == tokenize.COMMENT:
            yield from _in_text(name, token.start[0], token.string)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield from _in_text(name, node.lineno, node.value)


def pages() -> list[Path]:
    """Return the pages of the documentation that are written for users."""
    found = [ROOT / name for name in PAGES] + sorted((ROOT / "docs").rglob("*.md"))
    return [p for p in found if not str(p.relative_to(ROOT)).startswith(THEORY)]


def uses_on_page(path: Path) -> Iterator[Use]:
    """Yield the uses in the text of a page; code and addresses of links are left out."""
    text = re.sub(r"```.*?```", _as_blank_lines, path.read_text("utf-8"), flags=re.S)
    text = re.sub(r"`[^`]*`", _as_blank_lines, text)
    for number, line in enumerate(text.splitlines(), start=1):
        for use in _in_text(str(path.relative_to(ROOT)), number, re.sub(r"\]\([^)]*\)", "]", line)):
            if use.word not in IN_SOURCE_ONLY:
                yield use


def _as_blank_lines(code: re.Match[str]) -> str:
    return "\n" * code.group().count("\n")


def identifier_words(identifier: str) -> list[str]:
    """Return the words of an identifier that are not used.

    >>> identifier_words("MOST_ROWS"), identifier_words("most_rows"), identifier_words("ask_labels")
    (['most'], [], ['ask'])
    """
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", identifier)
    constant = identifier.isupper()
    return [
        part.lower()
        for part in parts
        if part.lower() in WORDS and (constant or part.lower() not in CONSTANTS_ONLY)
    ]


def _in_text(name: str, line: int, text: str) -> Iterator[Use]:
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in WORDS and word not in CONSTANTS_ONLY:
            yield Use(name, line, word, " ".join(text.split())[:60])


def is_allowed(use: Use) -> bool:
    """Whether there is a reason for this word at this path."""
    return any(use.path.startswith(path) and use.word == word for path, word in ALLOWED)


def main() -> int:
    """Print the uses, or how many there are of each word."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", default=DEFAULT, metavar="PATH")
    parser.add_argument("--count", action="store_true", help="print numbers only")
    args = parser.parse_args()
    files = [
        file
        for path in args.paths
        for file in (sorted((ROOT / path).rglob("*.py")) or [ROOT / path])
    ]
    found = [use for file in files for use in uses(file) if not is_allowed(use)]
    found += [use for page in pages() for use in uses_on_page(page)]
    if args.count:
        for word, count in Counter(use.word for use in found).most_common():
            print(f"{count:5} {word} (write {WORDS[word]})")
    else:
        for use in found:
            print(f"{use.path}:{use.line}: {use.word} (write {WORDS[use.word]}): {use.text}")
    print(f"{len(found)} uses of words that are not used")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
