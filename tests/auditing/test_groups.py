"""Groups that change more often than the others: found where they do, and by chance hardly ever."""

import numpy as np
import pytest

from replearn.auditing.comparison import compare
from replearn.auditing.groups import changes_more, members
from tests.factories import limit


def test_small_groups_are_left_out():
    sizes = {"town": (["Rom", "Ulm", "Bonn"], np.repeat([0, 1, 2], [9, 10, 81]))}
    assert [(value, int(rows.sum())) for _, value, rows in members(sizes)] == [
        ("Ulm", 10),
        ("Bonn", 81),
    ]


def test_shares_of_groups_are_those_of_their_rows():
    town = np.array(["Rom", "Ulm"])[np.arange(400) % 2]
    old = np.zeros(400, dtype=int)
    new = (np.arange(400) % 8 == 0).astype(int)
    found = compare(old, new, y=old, subgroups={"town": town})
    assert found.table.get("flips", "new", "town = Rom").value == 0.25
    assert found.table.get("becomes wrong", "new", "town = Rom").value == 0.25
    assert found.table.get("flips", "new", "town = Ulm").value == 0
    (worst,) = found.changes_more()
    assert (worst.name, worst.inside, worst.outside) == ("town = Rom", 0.25, 0)
    assert "It changes most where town = Rom" in str(found)


@pytest.mark.parametrize(
    ("clustered", "runs"),
    [(False, 200), (True, 100), pytest.param(True, 1000, marks=pytest.mark.long)],
)
def test_no_group_stands_out_by_chance_more_often_than_allowed(clustered, runs):
    rng, alarms = np.random.default_rng(5), 0
    clusters = np.arange(600) // 4 if clustered else None
    for _ in range(runs):
        rate = np.repeat(rng.random(150) * 0.3, 4) if clustered else np.full(600, 0.15)
        flips = (rng.random(600) < rate).astype(float)[np.newaxis]
        codes = np.repeat(rng.integers(0, 6, 150), 4) if clustered else rng.integers(0, 6, 600)
        groups = {"column": ([str(k) for k in range(6)], codes)}
        alarms += bool(changes_more(flips, groups, 0.05, clusters))
    # One-sided, at half of delta; Student's limits are approximate.
    assert alarms <= limit(runs, 0.045)


def test_more_columns_do_not_hide_a_group():
    rng = np.random.default_rng(0)
    here = rng.integers(0, 4, 2000)
    flips = (rng.random(2000) < np.where(here == 2, 0.2, 0.05)).astype(float)[np.newaxis]
    groups = {"town": (["a", "b", "c", "d"], here)}
    groups |= {f"noise {k}": (["x", "y"], rng.integers(0, 2, 2000)) for k in range(20)}
    assert changes_more(flips, groups, 0.05)[0].name == "town = c"


def test_values_are_texts_whatever_the_type():
    mixed = np.array([1, "1.0", None, True] * 25, dtype=object)
    found = compare(np.zeros(100), np.ones(100), subgroups={"x": mixed})
    assert {row.group for row in found.table.groups()} == {
        "x = 1",
        "x = 1.0",
        "x = None",
        "x = True",
    }
