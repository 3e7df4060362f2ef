"""Edits of the source that find their spot by structure, not by text.

A mutation names a definition and an edit inside it::

    _m(
        "labels left out of the hash",
        "replearn.execution.fitting._partition",
        change("K.order(P, Y)", "K.order(P)"),
        "tests/execution/test_fitting_partition.py::test_blocks_are_disjoint",
    )

**The definition** is a dotted name: a package or a module, then the qualified name of a function,
a class or a module's variable. After a package, the definition is looked for in all of its modules,
so that it may move from one to another. Without a qualified name the whole module is meant.

**The edits.** All of them fail if what they look for is not there exactly once.

- ``change(old, new)`` replaces an expression.
- ``condition(old, new)`` does the same, but looks only at whole tests of ``if`` and ``while``.
- ``body(new)`` replaces all statements of a function by one.
- ``positional(name)`` takes the ``*`` away that makes this the first keyword-only parameter.

**Patterns.** ``old`` is a Python expression. A single capital letter stands for any expression, the
same letter for the same expression each time; ``...`` at the end of arguments, operands or elements
stands for all that follow. In ``new`` the letters stand for what they matched, and ``MATCH`` stands
for the whole match. Parentheses are added where they are needed. Write letters for local variables:
the mutation then outlives their renaming. tests/test_mutations.py fails if a name of ``new`` is not
defined where the edit is made. Annotations and f-strings are not looked at. Patterns are
compared as syntax trees: line breaks, quotes and comments do not matter.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

WILDCARD = re.compile(r"[A-Z]$")
ANY_NUMBER = "Constant(value=Ellipsis)"
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript, ast.List, ast.Dict)


class AnchorError(Exception):
    """A mutation does not fit the source any more."""


class Replacement(NamedTuple):
    """Bytes ``start`` to ``stop`` of a module become ``text``."""

    start: int
    stop: int
    text: str


class Module:
    """A text, its syntax tree, and where in the text a node is."""

    def __init__(self, text: str):
        self.content = text.encode()
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in self.content.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: Any) -> tuple[int, int]:
        """Return the first byte of a node and the one after its last."""
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def segment(self, node: Any) -> str:
        """Return the source of an expression, in parentheses where it could fall apart."""
        start, stop = self.span(node)
        text = self.content[start:stop].decode()
        return text if isinstance(node, ATOMS) and "\n" not in text else f"({text})"

    def replaced(self, *replacements: Replacement) -> str:
        """Return the text with some parts replaced, all others as they are."""
        content = self.content
        for start, stop, text in sorted(replacements, reverse=True):
            content = content[:start] + text.encode() + content[stop:]
        return content.decode()


Edit = Callable[[Module, Any], Replacement]


def change(old: str, new: str, *, nth: int | None = None) -> Edit:
    """Replace an expression; ``nth`` counts from 1 where several match and any of them would do."""

    def edit(module: Module, scope: Any) -> Replacement:
        return _replacement(module, old, new, _expressions(scope), nth)

    return edit


def condition(old: str, new: str) -> Edit:
    """Replace the test of the only ``if`` or ``while`` whose whole test matches."""

    def edit(module: Module, scope: Any) -> Replacement:
        tests = (node.test for node in _nodes(scope) if isinstance(node, (ast.If, ast.While)))
        return _replacement(module, old, new, tests)

    return edit


def body(new: str) -> Edit:
    """Replace the statements of a function, but for its docstring."""

    def edit(module: Module, scope: Any) -> Replacement:
        if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            raise AnchorError("only a function has a body that can be replaced")
        statements = scope.body[ast.get_docstring(scope) is not None :]
        return Replacement(module.span(statements[0])[0], module.span(statements[-1])[1], new)

    return edit


def positional(name: str) -> Edit:
    """Let the first keyword-only parameter be given by position, too."""

    def edit(module: Module, scope: Any) -> Replacement:
        first = next(iter(scope.args.kwonlyargs), None)
        if first is None or first.arg != name or not scope.args.args:
            raise AnchorError(f"{name!r} is not the first keyword-only parameter")
        before = scope.args.args[-1]
        if scope.args.vararg or len(scope.args.defaults) > 0:
            raise AnchorError(f"the parameters before {name!r} have defaults, or take any number")
        return Replacement(module.span(before)[1], module.span(first)[0], ", ")

    return edit


def edited(source: Path, where: str, edit: Edit) -> tuple[str, str]:
    """Return the path of a module below ``source`` and its text after the edit.

    Raises
    ------
    AnchorError
        If the definition or the pattern is not there exactly once.
    """
    path, module, scope = find(source, where)
    try:
        text = module.replaced(edit(module, scope))
    except AnchorError as error:
        line = getattr(scope, "lineno", 1)
        raise AnchorError(
            f"{where} ({path}, line {line}): {error}; the code has changed, so change the "
            "mutation (tools/mutation_edits.py says how)"
        ) from None
    return path, text


def find(source: Path, where: str) -> tuple[str, Module, Any]:
    """Return the path, the module and the node of a definition that is named once."""
    modules, names = _candidates(source, where.split("."))
    found = [
        (path, module, scope)
        for path, module in modules
        for scope in _definitions(module.tree, names)
    ]
    if len(found) != 1:
        raise AnchorError(_not_one(where, [path for path, _, _ in found], modules, names))
    path, module, scope = found[0]
    return path.relative_to(source).as_posix(), module, scope


def _candidates(source: Path, parts: list[str]) -> tuple[list[tuple[Path, Module]], list[str]]:
    """Split a dotted name: the modules where it may be, and the qualified name in them."""
    place = source
    while parts and (place / parts[0]).is_dir():
        place = place / parts[0]
        parts = parts[1:]
    if parts and (place / f"{parts[0]}.py").is_file():
        paths = [place / f"{parts[0]}.py"]
        parts = parts[1:]
    else:
        paths = sorted(place.rglob("*.py")) if place != source else []
    texts = [(path, path.read_text(encoding="utf-8")) for path in paths]
    return [(path, _module(text)) for path, text in texts], parts


@cache
def _module(text: str) -> Module:
    return Module(text)


def _definitions(node: Any, names: list[str]) -> Iterator[Any]:
    if not names:
        yield node
        return
    for child in getattr(node, "body", []):
        if isinstance(child, SCOPES) and child.name == names[0]:
            yield from _definitions(child, names[1:])
        targets = child.targets if isinstance(child, ast.Assign) and len(names) == 1 else []
        if any(isinstance(target, ast.Name) and target.id == names[0] for target in targets):
            yield child


def _not_one(where: str, found: list[Path], modules: list[Any], names: list[str]) -> str:
    if found:
        places = ", ".join(str(path) for path in found)
        return f"{where} is defined {len(found)} times: {places}. Name the module, too."
    known = {name for _, module in modules for name in _qualified_names(module.tree)}
    near = difflib.get_close_matches(".".join(names), sorted(known), n=3)
    last = [name for name in sorted(known) if name.split(".")[-1] == names[-1]] if names else []
    hint = ", ".join(dict.fromkeys(last + near)) or "nothing with a similar name"
    return f"{where} is not defined. There is: {hint}. Change the mutation's dotted name."


def _qualified_names(node: Any, prefix: str = "") -> Iterator[str]:
    for child in getattr(node, "body", []):
        if isinstance(child, SCOPES):
            yield prefix + child.name
            yield from _qualified_names(child, f"{prefix}{child.name}.")


def _nodes(scope: Any) -> Iterator[Any]:
    """Walk through a definition in the order of the source, without annotations and f-strings."""
    for name, value in ast.iter_fields(scope):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield child
                yield from _nodes(child)


def _expressions(scope: Any) -> Iterator[Any]:
    return (node for node in _nodes(scope) if isinstance(node, ast.expr))


def _replacement(
    module: Module, old: str, new: str, nodes: Iterator[Any], nth: int | None = None
) -> Replacement:
    pattern = ast.parse(old, mode="eval").body
    matches = []
    for node in nodes:
        letters: dict[str, Any] = {}
        if _fits(pattern, node, letters):
            matches.append((node, letters))
    if nth is None and len(matches) != 1:
        lines = ", ".join(str(node.lineno) for node, _ in matches)
        raise AnchorError(f"`{old}` matches {len(matches)} times, not once (lines: {lines or '-'})")
    if nth is not None and len(matches) < nth:
        raise AnchorError(f"`{old}` matches {len(matches)} times, but nth={nth}")
    matches.sort(key=lambda match: module.span(match[0]))
    node, letters = matches[0 if nth is None else nth - 1]
    start, stop = module.span(node)
    return Replacement(start, stop, _filled(new, module, letters | {"MATCH": node}))


def _fits(pattern: Any, node: Any, letters: dict[str, Any]) -> bool:
    """Return whether a node fits, and enter what the letters stand for."""
    if isinstance(pattern, ast.Name) and WILDCARD.match(pattern.id):
        if not isinstance(node, ast.expr) or isinstance(node, (ast.Starred, ast.Slice)):
            return False
        return ast.unparse(letters.setdefault(pattern.id, node)) == ast.unparse(node)
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, ast.AST):
        fields = [name for name in pattern._fields if name != "ctx"]
        if isinstance(pattern, ast.Call) and _is_open(pattern.args):
            fields = ["func", "args"]
        pairs = [(getattr(pattern, name), getattr(node, name)) for name in fields]
        return all(_fits(one, other, letters) for one, other in pairs)
    if isinstance(pattern, list):
        if _is_open(pattern) and len(node) >= len(pattern) - 1:
            node = node[: len(pattern) - 1]
            pattern = pattern[:-1]
        same_length = len(pattern) == len(node)
        return same_length and all(map(_fits, pattern, node, [letters] * len(node)))
    return bool(pattern == node)


def _is_open(patterns: list[Any]) -> bool:
    return bool(patterns) and ast.dump(patterns[-1]) == ANY_NUMBER


def _filled(new: str, module: Module, letters: dict[str, Any]) -> str:
    """Return an expression with the letters replaced by what they matched."""
    template = Module(new)
    replacements = []
    for node in ast.walk(template.tree):
        if isinstance(node, ast.Name) and (node.id == "MATCH" or WILDCARD.match(node.id)):
            if node.id not in letters:
                raise AnchorError(f"{node.id} of `{new}` is not in the pattern")
            replacements.append(Replacement(*template.span(node), module.segment(letters[node.id])))
    text = template.replaced(*replacements)
    return text if isinstance(template.tree.body[0].value, ATOMS) else f"({text})"  # type: ignore
