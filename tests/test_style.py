"""Habits that a tool can hold: packed assignments, words that are not used, inner modules."""

import ast

from tools import test_map
from tools.package_imports import inner_imports
from tools.packed_assignments import ROOT, exchanges, packed
from tools.shared_logic import shared, shared_by_learners
from tools.vocabulary import identifier_words, is_allowed, pages, uses, uses_on_page

SOURCES = sorted((ROOT / "src").rglob("*.py"))


def test_every_module_has_tests_that_the_rule_finds():
    importing = test_map.importers()
    untested = [
        name
        for name in test_map.modules()
        if not test_map.own_tests(name) and not test_map.other_tests(name, importing)
    ]
    assert untested == []


def test_topics_of_a_longer_name_belong_to_that_module():
    names = {path.name for path in test_map.own_tests("replearn.learners.incumbent")}
    assert "test_incumbent.py" in names
    assert "test_incumbent_chain.py" not in names
    names = {path.name for path in test_map.own_tests("replearn.bounds.flips")}
    assert {"test_flips.py", "test_flips_runs.py"} <= names


def test_packages_are_imported_not_their_modules():
    found = [one for path in SOURCES for one in inner_imports(path)]
    assert found == []


def test_imports_of_inner_modules_are_found(monkeypatch):
    monkeypatch.setattr("tools.package_imports.ALLOWED", {})
    found = list(inner_imports(ROOT / "src" / "replearn" / "guarantees" / "coins.py"))
    assert [one.module for one in found] == ["replearn.bounds.theorem"]


def test_two_assignments_are_two_lines():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in packed(ast.parse(path.read_text("utf-8")))
    ]
    assert found == []


def test_values_that_are_exchanged_need_one_line():
    swap = ast.parse("a, b = b, a").body[0]
    assert exchanges(swap.targets[0].elts, swap.value.elts)
    shift = ast.parse("low, high = high, 2 * high").body[0]
    assert not exchanges(shift.targets[0].elts, shift.value.elts)
    assert len(list(packed(ast.parse("self.a, self.b = a, b")))) == 1


def test_estimators_share_no_statements():
    assert shared_by_learners() == []


def test_shared_statements_are_found():
    body = "\n".join(f"    step_{number}(rows)" for number in range(6))
    one = f'def fit(rows):\n    """Fit."""\n{body}\n'
    two = f"def train(rows):\n    check(rows)\n{body}\n"
    assert [len(run) for run in shared(one, two)] == [6]
    stored = "\n".join(f"    self.rho{number} = rho{number}" for number in range(6))
    one, two = (f"def {name}(self):\n{stored}\n" for name in ("__init__", "other"))
    assert list(shared(one, two)) == []


def test_no_new_words_of_our_own():
    sources = [path for path in SOURCES if "replearn_lab" not in path.parts]
    found = [use for path in sources for use in uses(path) if not is_allowed(use)]
    assert found == []


def test_words_of_identifiers():
    assert identifier_words("ask_labels") == ["ask"]
    assert identifier_words("MOST_ROWS") == ["most"]
    assert identifier_words("most_rows") == []
    assert identifier_words("predict_labels") == []


def test_pages_use_the_same_words():
    assert [use for page in pages() for use in uses_on_page(page)] == []


def test_words_on_pages_are_found_outside_code(monkeypatch, tmp_path):
    monkeypatch.setattr("tools.vocabulary.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("`ask` here,\n```\nask\n```\nand [ask](ask.md) there.")
    assert [(use.line, use.word) for use in uses_on_page(page)] == [(5, "ask")]
