"""A gate is a number of the table and a limit: what is judged, what is said, what does not pass."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from replearn.auditing.audits import audit
from replearn.auditing.comparison import compare
from replearn.auditing.gate import gates
from tests.populations import ConstantLearner

X = np.zeros((400, 1))
OLD = np.zeros(400, dtype=int)


def changed(rows):
    new = OLD.copy()
    new[:rows] = 1
    return new


@pytest.mark.parametrize(
    ("name", "allowed", "passed"),
    [
        ("flips", 0.02, True),  # equal is not above
        ("flips", 0.019, False),
        ("upper flips", 0.02, False),
        ("upper flips", 0.05, True),
        ("flips", 0.0, False),
    ],
)
def test_estimate_or_upper_limit(name, allowed, passed):
    found = compare(OLD, changed(8), X)
    assert found.flips.value == 0.02
    assert found.flips.upper == pytest.approx(0.0390, abs=1e-4)  # Clopper and Pearson, 8 of 400
    (gate,) = gates(found, {name: allowed})
    assert gate.passed is passed
    assert gate.to_dict()["passed"] is passed
    assert str(gate).startswith("passed" if passed else "FAILED")


def test_nothing_asked_nothing_judged():
    assert gates(compare(OLD, changed(8), X), {}) == ()


def test_the_worst_group_is_one_that_is_large_enough():
    groups = np.array(["three people"] * 3 + ["many"] * 200 + ["others"] * 197)
    new = OLD.copy()
    new[:2] = 1  # most of three people
    new[3:83] = 1  # 40 % of many
    found = compare(OLD, new, X, subgroups={"who": groups})
    (gate,) = gates(found, {"worst group": 0.3})
    assert not gate.passed
    assert "worst group (who = many) 40.00 %" in str(gate)


def test_a_model_that_predicts_one_class_does_not_pass():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(900, 2))
    labels = (rows[:, 0] > 0).astype(int)
    models = {"constant": ConstantLearner(), "bayes": GaussianNB()}
    result = audit(models, rows, labels, n_pairs=2, verbose=-1)
    (gate,) = gates(result, {"flips": 0.5})
    assert gate.value == 0
    assert not gate.passed
    assert "it predicts a single class" in str(gate)
    assert gates(result, {"flips": 0.5}, "bayes")[0].passed


def test_reports_show_gates_that_data_cannot_break():
    groups = np.where(np.arange(400) < 200, "<b>a|b</b>", "c")
    found = compare(OLD, changed(8), X, OLD, subgroups={"g": groups})
    failed = found.with_settings(
        gates=gates(found, {"flips": 0.01}), about={"old": "a.csv", "new": "b.csv"}
    )
    text = failed.to_markdown()
    assert text.startswith("# a.csv → b.csv")
    assert "- gate FAILED: flips 2.00 % (limits 0.87 to 3.90 %), allowed 1.00 %" in text
    assert "| accuracy | 100.0 % (99.1 to 100.0 %) | 98.0 % (96.1 to 99.1 %) |" in text
    assert "<b>" not in text
    assert r"| g = &lt;b&gt;a\|b&lt;/b&gt; | 200 | 4.0 % (" in text
    assert "May it be deployed? No: flips 2.00 %" in " ".join(str(failed).split())
    passed = found.with_settings(gates=gates(found, {"flips": 0.02}))
    assert "May it be deployed? Yes, it passed the gate." in str(passed)
    assert failed.to_dict()["gates"][0]["measured"]["what"] == "flips"


def test_predictions_must_match_the_rows():
    with pytest.raises(ValueError, match=r"new has no predict.*400 rows.*\(399,\)"):
        compare(OLD, OLD[1:], X)
