"""List imports that name a module inside another package, instead of the package.

``python tools/package_imports.py``. A package's ``__init__`` lists what others may use: public
names in ``__all__``, and names for other packages beside it. Whoever moves a function between the
modules of a package then changes that package alone. Exits with 1 if there is such an import that
has no reason in `ALLOWED`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"

ALLOWED = {
    "replearn.bounds.theorem": "the decorator would hide the module of the same name",
}
"""Modules that are imported from outside their package, and why."""


class InnerImport(NamedTuple):
    """One import of a module inside another package."""

    path: str
    line: int
    module: str


def inner_imports(path: Path) -> Iterator[InnerImport]:
    """Yield the imports of one file that name a module inside another package."""
    name = path.relative_to(SOURCE).as_posix()
    own = ".".join(Path(name).with_suffix("").parts[:2])
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        for module in _modules(node):
            parts = module.split(".")
            inside = len(parts) > 2 and _is_package(parts[:2])
            if inside and ".".join(parts[:2]) != own and module not in ALLOWED:
                yield InnerImport(name, node.lineno, module)


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def _is_package(parts: list[str]) -> bool:
    return (SOURCE.joinpath(*parts) / "__init__.py").exists()


def main() -> int:
    """Print the imports."""
    found = [one for path in sorted(SOURCE.rglob("*.py")) for one in inner_imports(path)]
    for one in found:
        print(f"{one.path}:{one.line}: {one.module}")
    print(f"{len(found)} imports of modules inside another package")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
