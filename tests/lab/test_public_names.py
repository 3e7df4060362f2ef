"""The lab uses what any user of replearn can use, and replearn does not need the lab."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import replearn
import replearn_lab

LIBRARY = Path(replearn.__file__).parent
LAB = Path(replearn_lab.__file__).parent
MODULES = sorted(LAB.rglob("*.py"))


def imported_names(path):
    """Return pairs (package of replearn, name) that a module imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "replearn":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
            assert not [name for name in modules if name.split(".")[0] == "replearn"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_the_lab_imports_public_names_only(path):
    for module, name in imported_names(path):
        package = importlib.import_module(module)
        assert hasattr(package, "__path__"), f"{module} is a module, not a package"
        assert name in package.__all__, f"{name} is not in __all__ of {module}"


def test_the_scan_finds_the_imports_of_the_lab():
    found = {pair for path in MODULES for pair in imported_names(path)}
    assert {("replearn.randomness", "SharedKey"), ("replearn.bounds", "CoinLaw")} <= found


def test_replearn_names_the_lab_in_one_line():
    lines = [
        (path.relative_to(LIBRARY).as_posix(), line.strip())
        for path in sorted(LIBRARY.rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"\breplearn_lab\b", line)
    ]
    assert [path for path, _ in lines] == ["cli/__init__.py"]
    assert lines[0][1].startswith('"lab": ("replearn_lab.command",')


def test_every_public_name_of_the_lab_is_described():
    assert list(replearn_lab.__all__) == sorted(replearn_lab.__all__)
    for name in replearn_lab.__all__:
        assert getattr(replearn_lab, name).__doc__, name
