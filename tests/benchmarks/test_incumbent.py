"""Retraining every month (benchmarks/incumbent.py): the page has the tables of its data."""

import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"
PAGE = ROOT / "docs" / "benchmarks" / "retraining.md"
if not (FOLDER / "incumbent.py").exists():
    pytest.skip("benchmarks are not in a source distribution", allow_module_level=True)
pytest.importorskip("pandas")


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # the script sets it where it is not
    return importlib.import_module("incumbent")


def test_the_tables_are_made_from_the_kept_numbers(script):
    results = json.loads((PAGE.parent / "data" / "retraining.json").read_text(encoding="utf-8"))
    text = script.report(results)
    assert text in PAGE.read_text(encoding="utf-8")
    assert all(len(cell["chains"]) == 5 for cell in results)
    assert len(results) == 5 * 4 * 7  # files, estimators, kinds of samples and drift


def test_numbers_are_rounded_and_nothing_else_is_changed(script):
    assert script.rounded({"a": [0.123456789, 3, "x"], "b": {"c": None}}) == {
        "a": [0.12346, 3, "x"],
        "b": {"c": None},
    }
