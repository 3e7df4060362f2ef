"""Flips by subgroup and intersection: counts, limits for many groups, an error rate that holds."""

import numpy as np
import pytest
from scipy import stats

from replearn.auditing import compare
from replearn.auditing._table import factorize, levels

N = 600
TOWN = np.array(["Ulm", "Rom", "Bonn"])[np.arange(N) % 3]
SEX = np.array(["f", "m"])[np.arange(N) // 3 % 2]
OLD = np.zeros(N, dtype=int)


def test_counts_of_groups_and_intersections():
    rng = np.random.default_rng(0)
    new = (rng.random(N) < 0.2).astype(int)
    truth = (rng.random(N) < 0.5).astype(int)
    found = compare(OLD, new, y=truth, subgroups={"town": TOWN, "sex": SEX})
    assert len(found.by_subgroup) == 5
    assert len(found.by_intersection) == 6
    for group in found.by_intersection:
        town, sex = group.level.split(" × ")
        rows = (town == TOWN) & (sex == SEX)
        assert group.rows == rows.sum()
        assert group.value == pytest.approx(new[rows].mean())
        assert group.negative == pytest.approx(np.mean((truth == 0)[rows] & (new == 1)[rows]))
        assert group.joint.lower <= group.lower <= group.value <= group.upper <= group.joint.upper
        exact = stats.binomtest(int(new[rows].sum()), int(rows.sum())).proportion_ci(1 - 0.05 / 11)
        assert (group.joint.lower, group.joint.upper) == pytest.approx((exact.low, exact.high))


def test_tests_of_groups_are_fishers_twice_the_smaller_tail():
    new = np.zeros(N, dtype=int)
    new[np.flatnonzero(TOWN == "Ulm")[:30]] = 1
    new[np.flatnonzero(TOWN == "Rom")[:10]] = 1
    found = compare(OLD, new, subgroups={"town": TOWN})
    raw = []
    for group in found.by_subgroup:
        inside = new[group.level == TOWN]
        outside = new[group.level != TOWN]
        table = [[inside.sum(), len(inside) - inside.sum()]]
        table.append([outside.sum(), len(outside) - outside.sum()])
        tails = [stats.fisher_exact(table, side).pvalue for side in ("less", "greater")]
        raw.append(min(1.0, 2 * min(tails)))
    order = np.argsort(raw)
    steps = np.maximum.accumulate(np.array(raw)[order] * [3, 2, 1])  # Holm's method
    corrected = np.empty(3)
    corrected[order] = np.minimum(steps, 1.0)
    assert [g.p_value for g in found.by_subgroup] == pytest.approx(corrected, rel=1e-6)


def test_small_intersections_are_left_out():
    rare = np.where(np.arange(N) < 8, "rare", "usual")
    found = compare(OLD, OLD, subgroups={"town": TOWN, "kind": rare})
    assert "rare" in {g.level for g in found.by_subgroup}
    assert all("rare" not in g.level for g in found.by_intersection)


@pytest.mark.parametrize(
    ("clustered", "runs"),
    [(False, 200), (True, 50), pytest.param(True, 1000, marks=pytest.mark.long)],
)
def test_no_group_stands_out_by_chance_more_often_than_allowed(clustered, runs):
    """Flips do not depend on groups: one of 17 is named in at most 5 % of the comparisons."""
    rng = np.random.default_rng(5)
    cases = np.repeat(np.arange(N // 4), 4)
    alarms = 0
    for _ in range(runs):
        town = rng.integers(3, size=N)
        kind = rng.integers(4, size=N)
        sure = rng.random(N) < 0.15
        by_case = np.repeat(rng.random(N // 4) < 0.15, 4)
        new = (by_case if clustered else sure).astype(int)
        groups = cases if clustered else None
        found = compare(OLD, new, subgroups={"town": town, "kind": kind}, groups=groups)
        every = [*found.by_subgroup, *found.by_intersection]
        alarms += any(g.p_value is not None and g.p_value <= 0.05 for g in every)
    assert alarms <= stats.binom.isf(1e-8, runs, 0.05)


def test_without_correction_groups_stand_out_by_chance():
    """The sibling of the test above: single tests of many groups raise many alarms."""
    rng = np.random.default_rng(6)
    runs = 200
    alarms = 0
    for _ in range(runs):
        kind = rng.integers(40, size=N)
        new = (rng.random(N) < 0.3).astype(int)
        found = compare(OLD, new, subgroups={"kind": kind})
        alarms += any(not g.lower <= 0.3 <= g.upper for g in found.by_subgroup)
    assert alarms > stats.binom.isf(1e-8, runs, 0.05)


def test_joint_limits_hold_for_all_groups_at_once():
    rng = np.random.default_rng(9)
    runs = 200
    missed = 0
    for _ in range(runs):
        kind = rng.integers(12, size=N)
        new = (rng.random(N) < 0.3).astype(int)
        found = compare(OLD, new, subgroups={"kind": kind})
        missed += any(not g.joint.lower <= 0.3 <= g.joint.upper for g in found.by_subgroup)
    assert missed <= stats.binom.isf(1e-8, runs, 0.05)


def test_a_group_that_changes_more_is_named():
    new = (TOWN == "Ulm") & (np.random.default_rng(2).random(N) < 0.5)
    found = compare(OLD, new.astype(int), subgroups={"town": TOWN, "sex": SEX})
    assert "It changes most where town = Ulm" in found.to_markdown()
    calm = compare(OLD, (np.arange(N) % 7 == 0).astype(int), subgroups={"town": TOWN})
    assert "No group is shown to change more often" in calm.to_markdown()


def test_few_groups_of_rows_are_not_tested():
    cases = np.where(TOWN == "Ulm", np.arange(N) % 5, np.arange(N))
    new = (TOWN == "Ulm").astype(int)
    found = compare(OLD, new, subgroups={"town": TOWN}, groups=cases)
    by_level = {g.level: g for g in found.by_subgroup}
    assert by_level["Ulm"].p_value is None
    assert by_level["Rom"].p_value is not None


def test_levels_are_texts_whatever_the_type():
    mixed = np.array([1, True, "1", 1.0, None, [2]], dtype=object)
    names, codes = levels(mixed)
    assert names == ["1", "None", "True", "[2]"]
    assert codes.tolist() == [0, 2, 0, 0, 1, 3]
    assert levels(np.array([0.5, np.nan, 0.5]))[0] == ["0.5", "nan"]
    distinct, codes = factorize(np.array(["b", "a", "b"]))
    assert [distinct[code] for code in codes] == ["b", "a", "b"]
