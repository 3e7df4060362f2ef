import dataclasses

import numpy as np
import pytest

from replearn.auditing.design import draw_rows, make_design, runs_of_pair
from replearn.randomness.key import SharedKey

KEY = SharedKey("design")


def draw_pair(design, rows, key, pair):
    return [run.rows for run in runs_of_pair(design, rows, key, pair)]


def designed(n=1000, groups=None, test_size=100, **sizes):
    rows = draw_rows(n, test_size, groups, KEY)
    n_pairs = sizes.pop("n_pairs", 4)
    return make_design(n, rows, n_pairs=n_pairs, key=KEY, **sizes), rows


def test_samples_of_a_pair_share_no_row_and_no_test_row():
    design, rows = designed()
    for pair in range(4):
        one, two = draw_pair(design, rows, KEY, pair)
        assert len(one) == len(two) == design.train_size == 450
        assert not set(one) & set(two)
        assert not (set(one) | set(two)) & set(rows.test)


def test_pairs_differ_but_repeat_with_the_key():
    design, rows = designed()
    first = [draw_pair(design, rows, KEY, pair)[0] for pair in (0, 1)]
    assert set(first[0]) != set(first[1])
    np.testing.assert_array_equal(draw_pair(design, rows, KEY, 0)[0], first[0])
    assert set(draw_pair(design, rows, SharedKey("other"), 0)[0]) != set(first[0])


def test_small_samples_give_pairs_that_share_nothing():
    design, rows = designed(train_size=100)
    assert design.independent_pairs
    parts = [part for pair in range(4) for part in draw_pair(design, rows, KEY, pair)]
    assert len(set(np.concatenate(parts))) == 800
    design, _ = designed(train_size=113)
    assert not design.independent_pairs
    assert "this file" in design.limits_hold_for
    stopped = dataclasses.replace(design, n_pairs=2)  # its rows were drawn for four pairs
    assert not stopped.independent_pairs


def test_bootstrap_draws_with_replacement_from_the_pool():
    design, rows = designed(sample="bootstrap")
    one, two = draw_pair(design, rows, KEY, 0)
    assert len(one) == len(two) == 900
    assert len(set(one)) < 700
    assert not set(one) & set(rows.test)
    assert not design.independent_pairs


def test_groups_stay_together():
    groups = np.repeat(np.arange(200), 5)
    design, rows = designed(groups=groups)
    assert (design.unit, design.n_pool, design.train_size) == ("groups", 180, 90)
    one, two = draw_pair(design, rows, KEY, 0)
    kinds = [set(groups[part]) for part in (rows.test, one, two)]
    assert [len(kind) for kind in kinds] == [20, 90, 90]
    assert not kinds[0] & kinds[1]
    assert not kinds[1] & kinds[2]
    assert len(one) == 450


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"test_size": 0}, "test_size=0"),
        ({"test_size": 1.5}, r"test_size=1\.5"),
        ({"test_size": 999}, "test_size=999"),
        ({"train_size": 451}, "train_size=451.* 450 rows"),
        ({"n_pairs": 1}, "n_pairs=1"),
    ],
)
def test_impossible_sizes_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        designed(**arguments)
