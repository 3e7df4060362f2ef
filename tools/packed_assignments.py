"""List assignments of several values in one line that could be several lines.

``python tools/packed_assignments.py [PATH ...]``. Two assignments are two lines; only values that
are exchanged (``a, b = b, a``) need a tuple. Exits with 1 if there are others.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEFAULT = ("src", "tools")


def packed(tree: ast.Module) -> Iterator[ast.Assign]:
    """Yield the assignments of a tuple literal to a tuple of targets that exchange nothing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                starred = any(isinstance(one, ast.Starred) for one in node.value.elts)
                equal = len(target.elts) == len(node.value.elts)
                if equal and not starred and not exchanges(target.elts, node.value.elts):
                    yield node


def exchanges(targets: list[ast.expr], values: list[ast.expr]) -> bool:
    """Whether no order of single assignments gives the same result, as in ``a, b = b, a``."""
    order = range(len(targets))
    needs_old = {
        (reader, written)
        for written in order
        for reader in order
        if reader != written and reads(values[reader], targets[written])
    }
    # an assignment may be made as soon as nobody else still needs the old value of its target
    left = set(order)
    while left:
        free = [one for one in left if not any((r, one) in needs_old for r in left - {one})]
        if not free:
            return True
        left -= set(free[:1])
    return False


def reads(value: ast.expr, target: ast.expr) -> bool:
    """Whether an expression names what a target names."""
    names = {ast.unparse(part) for part in _parts(target)}
    return any(
        ast.unparse(node) in names
        for node in ast.walk(value)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
    )


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _parts(part)
    else:
        yield target


def main(paths: list[str]) -> int:
    """Print every packed assignment below the paths."""
    found = 0
    for path in (ROOT / name for name in paths or DEFAULT):
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            for node in packed(ast.parse(file.read_text("utf-8"))):
                found += 1
                print(f"{file.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)[:80]}")
    print(f"{found} packed assignments")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
