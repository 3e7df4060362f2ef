"""Every theorem used in code has an entry and a page, and every page has an entry."""

import ast
import importlib
import pkgutil
import re
from functools import lru_cache
from pathlib import Path

import pytest

import replearn.bounds
import replearn.guarantees
import replearn.paper.domain_reduction
from replearn.bounds.theorem import BOUNDS
from replearn.exceptions import CertificateError
from replearn.guarantees.theorems import THEOREMS, theorem
from replearn.registry import TASKS as ALL_TASKS, entries_of

GUARANTEES = entries_of(ALL_TASKS)

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "replearn").rglob("*.py"))
PAGES = ROOT / "docs" / "theory"
CITATION = re.compile(r"#\s*theorem:\s*(\S+)")


@lru_cache
def cited_keys():
    return {
        key.rstrip(".,;)")
        for source in SOURCES
        for key in CITATION.findall(source.read_text(encoding="utf-8"))
    }


@lru_cache
def marked_bounds():
    """Return the names of all functions marked with ``@theorem`` and their keys, as written."""
    marks = {}
    for text in (source.read_text(encoding="utf-8") for source in SOURCES):
        for node in ast.walk(ast.parse(text)) if "@theorem(" in text else ():
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "theorem":
                    marks[node.name] = mark.args[0].value
    return marks


@pytest.fixture(scope="module", autouse=True)
def _all_bounds_are_imported():
    for room in (replearn.bounds, replearn.guarantees):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)


def test_citations_and_marks_are_found():
    assert {"pointwise-threshold", "content-keyed-partition", "many-runs"} <= cited_keys()
    assert marked_bounds()["class_step"] == "training-rows"


def test_every_cited_or_marked_key_has_an_entry():
    assert cited_keys() - set(THEOREMS) == set()
    assert set(marked_bounds().values()) - set(THEOREMS) == set()
    assert {bound.theorem_key for bound in BOUNDS.values()} - set(THEOREMS) == set()
    assert {entry.theorem for entry in GUARANTEES.values()} - set(THEOREMS) == set()


def test_every_entry_is_cited_or_marked():
    assert set(THEOREMS) - cited_keys() - set(marked_bounds().values()) == set()


def test_every_marked_bound_is_found_by_the_name_that_steps_write():
    for name, key in marked_bounds().items():
        assert BOUNDS[name].__name__ == name
        assert BOUNDS[name].theorem_key == key


@pytest.mark.parametrize("key", sorted(THEOREMS))
def test_every_theorem_has_a_page(key):
    page = ROOT / THEOREMS[key].page
    assert page.is_file(), f"{THEOREMS[key].page} is missing"
    assert page.read_text(encoding="utf-8").startswith("# ")


def test_every_page_has_a_theorem():
    pages = {page.stem for page in PAGES.glob("*.md")} - {"index", "README"}
    assert pages - set(THEOREMS) == set()


@pytest.mark.parametrize("key", sorted(THEOREMS))
def test_entries_say_something(key):
    entry = THEOREMS[key]
    assert entry.key == key
    assert entry.statement.endswith(".")
    assert entry.paper_label


def test_unknown_theorems_are_refused():
    with pytest.raises(CertificateError, match="no-such-theorem"):
        theorem("no-such-theorem")


def test_one_name_for_two_bounds_is_refused():
    def class_step(law):
        return law

    with pytest.raises(ValueError, match="two bounds are called 'class_step'"):
        replearn.bounds.theorem.theorem("training-rows")(class_step)
    assert BOUNDS["class_step"] is not class_step
