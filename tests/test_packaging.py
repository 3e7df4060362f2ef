"""What pyproject.toml says agrees with what the code imports, and the import contracts work."""

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import grimp
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
    return imports_of(path for path in SOURCE.parent.rglob("*.py") if path.name != "demo.py")


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
    assert imports_of([SOURCE / "demo.py"]) <= REQUIRED | group | modules_of(EXTRAS["all"])


def test_strict_types_and_layers_name_rooms_that_exist():
    strict = PROJECT["tool"]["mypy"]["overrides"][1]["module"]
    layers = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    named = [room.strip() for layer in layers for room in layer.split("|")]
    rooms = {
        f"replearn.{path.stem}"
        for path in SOURCE.iterdir()
        if not path.stem.startswith("_")
        and (path.suffix == ".py" or (path / "__init__.py").exists())
    }
    assert set(named) == rooms
    assert {name.removesuffix(".*") for name in strict} <= rooms


@pytest.fixture
def private_modules(monkeypatch):
    """Return the project's contract type, applied to a house of two rooms."""
    monkeypatch.syspath_prepend(str(ROOT))
    from tools.import_contracts import PrivateModules

    return PrivateModules("private", {"root_packages": ["house"]}, {"packages": ["house"]})


@pytest.mark.parametrize(
    ("importer", "imported", "allowed"),
    [
        ("house.kitchen.cook", "house.kitchen._stove", True),
        ("house.kitchen", "house.kitchen._stove", True),
        ("house.kitchen._oven", "house.kitchen._stove.knob", True),
        ("house.hall", "house._version", True),
        ("house.hall", "house.kitchen.cook", True),
        ("house.hall", "house.__main__", True),
        ("house.hall", "other._private", True),  # another package: tests/test_compat.py
        ("house.hall", "house.kitchen._stove", False),
        ("house.hall", "house.kitchen._stove.knob", False),
        ("house", "house.kitchen._stove", False),
        ("house.kitchen_garden", "house.kitchen._stove", False),
    ],
)
def test_private_modules_stay_in_their_room(private_modules, importer, imported, allowed):
    graph = grimp.ImportGraph()
    graph.add_import(importer=importer, imported=imported, line_number=3, line_contents="import")
    check = private_modules.check(graph, verbose=False)
    assert check.kept is allowed
    assert check.metadata["broken"] == ([] if allowed else [(importer, imported, "l.3")])


@pytest.mark.parametrize(
    ("importer", "imported", "allowed"),
    [
        ("garden.shed", "house", True),
        ("garden.shed", "house.kitchen", True),
        ("garden.shed", "garden.tools", True),
        ("garden.shed", "household.kitchen", True),
        ("house.hall", "house.kitchen.stove", True),
        ("garden.shed", "house.kitchen.stove", False),
        ("garden", "house.exceptions", False),
    ],
)
def test_one_package_imports_packages_of_another_only(monkeypatch, importer, imported, allowed):
    monkeypatch.syspath_prepend(str(ROOT))
    from tools.import_contracts import PackagesOnly

    options = {"importers": ["garden"], "imported": ["house"]}
    contract = PackagesOnly("packages", {"root_packages": ["garden", "house"]}, options)
    graph = grimp.ImportGraph()
    for module in ("house", "house.kitchen", "house.kitchen.stove", "house.exceptions"):
        graph.add_module(module)
    graph.add_import(importer=importer, imported=imported, line_number=3, line_contents="import")
    check = contract.check(graph, verbose=False)
    assert check.kept is allowed
    assert check.metadata["broken"] == ([] if allowed else [(importer, imported, "l.3")])


def test_make_imports_runs_the_contracts():
    settings = PROJECT["tool"]["importlinter"]
    assert settings["contract_types"] == [
        "private: tools.import_contracts.PrivateModules",
        "packages: tools.import_contracts.PackagesOnly",
    ]
    assert settings["root_packages"] == ["replearn", "replearn_lab"]
    contracts = {contract["type"]: contract for contract in settings["contracts"]}
    assert contracts["private"]["packages"] == ["replearn", "replearn_lab"]
    assert contracts["packages"]["importers"] == ["replearn_lab"]
    assert contracts["packages"]["imported"] == ["replearn"]
    forbidden = [contract for contract in settings["contracts"] if contract["type"] == "forbidden"]
    assert ["replearn_lab"] in [contract["forbidden_modules"] for contract in forbidden]
    assert "lint-imports" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_oldest_versions_are_the_declared_lower_bounds():
    text = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8")
    oldest = dict(line.split("==") for line in text.splitlines() if not line.startswith("#"))
    declared = {
        name.lower(): bound
        for group in (
            PROJECT["project"]["dependencies"],
            *(EXTRAS[e] for e in EXTRAS if e != "mlflow"),
        )
        for name, bound in re.findall(r"^([\w-]+)>=([\d.]+)$", "\n".join(group), flags=re.M)
    }
    for name, bound in declared.items():
        assert f"{oldest[name]}.0".startswith(f"{bound}."), (name, bound, oldest[name])


PLACEHOLDER = re.compile(r"example\.org/replicable-learn|\bOWNER/|PLACEHOLDER")
WRITTEN = {".md", ".toml", ".cff", ".bib", ".yml", ".yaml"}


def test_placeholders_are_listed_until_they_are_filled_in():
    files = [path for path in ROOT.glob("*") if path.suffix in WRITTEN]
    for folder in ("docs", ".github", "src"):
        files += [path for path in (ROOT / folder).rglob("*.*") if path.suffix in WRITTEN | {".py"}]
    built = ROOT / "docs" / "_build"
    found = {
        path.relative_to(ROOT).as_posix()
        for path in files
        if built not in path.parents and PLACEHOLDER.search(path.read_text(encoding="utf-8"))
    }
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page[page.index("| file | placeholder |") :]
    listed = set(re.findall(r"^\| `([^`]+)` \|", table, flags=re.M))
    assert found - {"CONTRIBUTING.md"} == listed


def test_the_draft_of_the_paper_has_the_length_that_the_journal_asks_for():
    text = (ROOT / "paper.md").read_text(encoding="utf-8")
    body = text.split("---", 2)[2]
    assert 750 <= len(body.split()) <= 1750
    cited = set(re.findall(r"@(\w+)", body))
    entries = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "paper.bib").read_text("utf-8"), flags=re.M))
    assert cited == entries
