"""What pyproject.toml says agrees with what the code imports, and the import contracts work."""

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import replearn

SOURCE = Path(replearn.__file__).parent
ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = {"lazy-loader": "lazy_loader", "scikit-learn": "sklearn"}


def modules_of(requirements):
    """Return the modules that requirements install, extras of this project resolved."""
    extras = PROJECT["project"]["optional-dependencies"]
    modules = set()
    for text in requirements:
        name, _, rest = re.match(r"([\w-]+)(\[(.*)\])?", text).groups(default="")
        if name == PROJECT["project"]["name"]:
            modules |= set().union(*(modules_of(extras[extra]) for extra in rest.split(",")))
        else:
            modules.add(MODULES.get(name, name))
    return modules


def imports_of(paths):
    """Return the packages imported anywhere in files, but for this one and Python's own."""
    names = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.split(".")[0])
    return names - sys.stdlib_module_names - {"replearn", "replearn_lab"}


REQUIRED = modules_of(PROJECT["project"]["dependencies"])
EXTRAS = PROJECT["project"]["optional-dependencies"]


@cache
def library():
    """Return what library and lab import; parsed once, and not while tests are collected."""
    return imports_of(path for path in SOURCE.parent.rglob("*.py"))


def test_every_dependency_is_imported():
    assert library() >= REQUIRED


def test_every_import_is_a_dependency_or_in_an_extra():
    # Other people's platforms are heavy: an extra each, and not part of "all".
    extras = modules_of([f"replicable-learn[{name}]" for name in ("all", "mlflow", "dask")])
    assert extras == library() - REQUIRED - {"cloudpickle"}  # joblib brings it, or has it inside


@pytest.mark.parametrize("extra", EXTRAS)
def test_extras_name_only_what_the_code_imports(extra):
    assert modules_of(EXTRAS[extra]) <= library()


def test_the_demo_has_what_it_imports():
    group = modules_of(PROJECT["dependency-groups"]["demo"])
    assert imports_of(
        [SOURCE.parents[1] / "examples" / "demo.py"]
    ) <= REQUIRED | group | modules_of(EXTRAS["all"])


def test_strict_types_and_layers_name_rooms_that_exist():
    strict = PROJECT["tool"]["mypy"]["overrides"][1]["module"]
    layers = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    assert layers[0] == "replearn_lab"
    named = [room.strip() for layer in layers[1:] for room in layer.split("|")]
    rooms = {
        f"replearn.{path.stem}"
        for path in SOURCE.iterdir()
        if not path.stem.startswith("_")
        and (path.suffix == ".py" or (path / "__init__.py").exists())
    }
    assert set(named) == rooms
    assert {name.removesuffix(".*") for name in strict} <= rooms


def test_make_imports_runs_the_contract():
    settings = PROJECT["tool"]["importlinter"]
    assert settings["root_packages"] == ["replearn", "replearn_lab"]
    assert [contract["type"] for contract in settings["contracts"]] == ["layers"]
    assert "lint-imports" in (ROOT / "Makefile").read_text(encoding="utf-8")
