"""Find the tests of a module: ``python tools/test_map.py [MODULE ...]``.

The tests of ``package/module.py`` are ``tests/package/test_module.py`` and, by topic,
``tests/package/test_module_<topic>.py``. A module without a file of its own is tested by files that
import it, or through the modules that import it: the tests of the nearest ones are listed. Without
arguments the script prints how many modules have tests of each kind, and exits with 1 if one has
none.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"replearn": "tests", "replearn_lab": "tests/lab"}
BY_NAME = {
    "replearn.cli": "tests/cli/test_commands.py",
    "replearn.fastpaths": "tests/fastpaths/test_switches.py",
    "replearn_lab.experiments": "tests/lab/test_experiments.py",
    "replearn_lab.command": "tests/cli/test_lab_command.py",
}
"""Modules that are loaded by their names, and the file of tests that runs them all."""


@cache
def modules() -> dict[str, Path]:
    """Return the modules of both packages by their dotted names; packages themselves are left out.

    >>> "replearn.bounds.flips" in modules()
    True
    """
    found = {}
    for package in FOLDERS:
        for path in sorted((ROOT / "src" / package).rglob("*.py")):
            if not path.name.startswith("__") and path.name != "_version.py":
                found[".".join(path.relative_to(ROOT / "src").with_suffix("").parts)] = path
    return found


def own_tests(name: str) -> list[Path]:
    """Return the files of tests that are named after a module.

    >>> own_tests("replearn.bounds.flips")[0].name
    'test_flips.py'
    """
    package, *folders, module = name.split(".")
    folder = ROOT.joinpath(FOLDERS[package], *folders)
    stem = f"test_{module.lstrip('_')}"
    whole = folder / f"{stem}.py"
    others = {path.stem.lstrip("_") for path in modules()[name].parent.glob("*.py")}
    longer = [other for other in others if other.startswith(f"{module.lstrip('_')}_")]
    topics = [
        path
        for path in sorted(folder.glob(f"{stem}_*.py"))
        if not any(path.stem.startswith(f"test_{other}") for other in longer)
    ]
    return [*([whole] if whole.exists() else []), *topics]


def importers() -> dict[str, set[str]]:
    """Return for each module the modules and files of tests that import it, or a name of it."""
    known = modules()
    found: dict[str, set[str]] = {name: set() for name in known}
    exported = {package: _exports(package) for package in {n.rpartition(".")[0] for n in known}}
    tests = {str(path): path for path in sorted((ROOT / "tests").rglob("test_*.py"))}
    for name, path in {**known, **tests}.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            homes = exported.get(node.module, {})
            for alias in node.names:
                for source in (node.module, f"{node.module}.{alias.name}", homes.get(alias.name)):
                    if source in found and source != name:
                        found[source].add(name)
    return found


def _exports(package: str) -> dict[str, str]:
    """Return the module of each name that a package's ``__init__`` hands on."""
    folder = ROOT.joinpath("src", *package.split("."))
    homes = {}
    for path in (folder / "__init__.py", folder / "__init__.pyi"):
        for node in ast.walk(ast.parse(path.read_text("utf-8") if path.exists() else "")):
            if isinstance(node, ast.ImportFrom):
                source = f"{package}.{node.module}" if node.level else str(node.module)
                homes |= {alias.asname or alias.name: source for alias in node.names}
    return homes


def other_tests(name: str, importing: dict[str, set[str]]) -> list[Path]:
    """Return files of tests that import a module, or those of the nearest modules that do."""
    for start, file in BY_NAME.items():
        if name.startswith(start):
            return [ROOT / file]
    seen = {name}
    nearest = {name}
    while nearest:
        nearest = {other for one in nearest for other in importing.get(one, ())} - seen
        seen |= nearest
        files = {Path(one) for one in nearest if one.endswith(".py")}
        files |= {path for one in nearest if one in importing for path in own_tests(one)}
        if files:
            return sorted(files)
    return []


def main(names: list[str]) -> int:
    """Print the tests of some modules, or how modules are tested."""
    importing = importers()
    unknown = [name for name in names if name not in importing]
    if unknown:
        print(f"no module {', '.join(unknown)}", file=sys.stderr)
        return 2
    counts: Counter[str] = Counter()
    for name in names or importing:
        own = own_tests(name)
        files = own or other_tests(name, importing)
        kind = (
            "of its own"
            if own
            else "by files that import it, or through others"
            if files
            else "none"
        )
        counts[kind] += 1
        if names or not files:
            print(f"{name}: {kind}")
            print("".join(f"  {path.relative_to(ROOT)}\n" for path in files), end="")
    if not names:
        for kind, count in counts.items():
            print(f"{count:4d} modules: tests {kind}")
    return int(counts["none"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
