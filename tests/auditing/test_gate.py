"""A gate on flips: what is judged, what the summary says, and that texts from data are escaped."""

import numpy as np
import pytest

from replearn.auditing import Estimate, compare, flip_gates

X = np.zeros((400, 1))
OLD = np.zeros(400, dtype=int)


def changed(rows):
    new = OLD.copy()
    new[:rows] = 1
    return new


@pytest.mark.parametrize(
    ("judged", "allowed", "passed"),
    [
        ("fail_above", 0.02, True),  # equal is not above
        ("fail_above", 0.019, False),
        ("fail_above_limit", 0.02, False),
        ("fail_above_limit", 0.05, True),
        ("fail_above", 0.0, False),
    ],
)
def test_estimate_or_upper_limit(judged, allowed, passed):
    flips = compare(OLD, changed(8), X).flips
    assert flips.value == 0.02
    assert flips.upper == pytest.approx(0.0390, abs=1e-4)  # Clopper and Pearson, 8 of 400
    (gate,) = flip_gates(flips, **{judged: allowed})
    assert gate.passed is passed
    assert gate.to_dict()["passed"] is passed


def test_nothing_asked_nothing_judged():
    assert flip_gates(Estimate(1.0, 1.0, 1.0)) == ()


def test_what_is_allowed_is_a_share():
    with pytest.raises(ValueError, match="fail_above=2"):
        flip_gates(Estimate(0.1, 0.0, 0.2), fail_above=2)


def test_the_worst_group_is_one_that_is_shown():
    groups = np.array(["three people"] * 2 + ["many"] * 200 + ["others"] * 198)
    new = OLD.copy()
    new[0] = 1  # half of three people
    new[2:82] = 1  # 40 % of many
    found = compare(OLD, new, X, subgroups={"who": groups})
    assert [g.level for g in found.worst_subgroups()] == ["many", "three people", "others"]
    assert "who = many" in str(found)


def test_summary_is_markdown_that_data_cannot_break():
    groups = np.where(np.arange(400) < 200, "<b>a|b</b>", "c")
    truth = OLD
    found = compare(OLD, changed(8), X, truth, subgroups={"g": groups})
    text = found.to_markdown(flip_gates(found.flips, fail_above=0.01), old="a.csv", new="b.csv")
    lines = text.splitlines()
    assert lines[0] == "### Gate FAILED: 8 of 400 predictions change"
    assert "| flip rate | 2.00 % (0.87 to 3.90 %) |" in lines
    judged = "FAILED: flip rate 2.00 % (0.87 to 3.90 %), allowed 1.00 % for the estimate"
    assert f"| gate: flip rate | {judged} |" in lines
    assert "| accuracy | 100.00 % → 98.00 % |" in lines
    assert "<b>" not in text
    assert any(line.startswith(r"| g = &lt;b&gt;a\|b&lt;/b&gt; | 200 | 4.0 % (") for line in lines)
    passed = found.to_markdown(flip_gates(found.flips, fail_above=0.02))
    assert passed.startswith("### Gate passed: 8 of")
    assert found.to_markdown().startswith("### 8 of 400")


def test_many_groups_are_cut_and_counted():
    found = compare(OLD, changed(8), X, subgroups={"g": np.arange(400) % 50})
    assert "30 more groups are not listed." in found.to_markdown()


def test_predictions_must_match_the_rows():
    with pytest.raises(ValueError, match=r"new has no predict.*400 rows.*\(399,\)"):
        compare(OLD, OLD[1:], X)
