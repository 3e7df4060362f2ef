"""Statements that two estimators share: ``python tools/shared_logic.py [LINES]``.

Lists of parameters, ``self.rho = rho`` and docstrings are repeated on purpose, because
scikit-learn wants them spelled out in every estimator; what a function does is written once.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEARNERS = ROOT / "src" / "replearn" / "learners"
MIN_LINES = 6


def logic(source: str) -> list[str]:
    """Return the lines of the statements in functions, without docstrings and stored parameters."""
    lines = source.splitlines()
    chosen: set[int] = set()
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                if not _is_spelled_out(statement):
                    last = statement.end_lineno or statement.lineno
                    chosen.update(range(statement.lineno, last + 1))
    return [text for number in sorted(chosen) if (text := lines[number - 1].strip())]


def _is_spelled_out(statement: ast.stmt) -> bool:
    text = ast.unparse(statement)
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    name = text.removeprefix("self.").partition(" = ")[0]
    return is_text or text == f"self.{name} = {name}" or text.startswith("super().__init__(")


def shared(one: str, two: str, least: int = MIN_LINES) -> Iterator[list[str]]:
    """Yield runs of lines that the functions of two sources have in common."""
    first = logic(one)
    for run in SequenceMatcher(None, first, logic(two), autojunk=False).get_matching_blocks():
        if run.size >= least:
            yield first[run.a : run.a + run.size]


def shared_by_learners(least: int = MIN_LINES) -> list[str]:
    """Name all pairs of modules of estimators that share statements, with the first line."""
    sources = {path.name: path.read_text("utf-8") for path in sorted(LEARNERS.glob("*.py"))}
    return [
        f"{one} and {two}, {len(run)} lines: {run[0]}"
        for one, two in combinations(sources, 2)
        for run in shared(sources[one], sources[two], least)
    ]


if __name__ == "__main__":
    print("\n".join(shared_by_learners(*map(int, sys.argv[1:]))) or "none")
