"""A class list that is read from the data: what holds, and the reading that does not.

Exact sums over all samples of a small world: four labels, equally likely, two blocks of two rows.
A block votes 1 if its labels are {a, b}, {c, d}, {a, d} or {b, c}, else 0. Whoever sees all four
labels has two votes of one kind: the list tells that the votes agree, not which way.
"""

from collections import Counter
from itertools import product

import pytest

from replearn.bounds.flips import flip_supremum
from replearn.bounds.laws import uniform_law

LAW = uniform_law(2)
R = flip_supremum(LAW)
YES = [frozenset(pair) for pair in ("ab", "cd", "ad", "bc")]


def world():
    """Probability of each (list of classes, number of votes) over all samples of four rows."""
    found = Counter()
    for rows in product("abcd", repeat=4):
        votes = sum(frozenset(block) in YES for block in (rows[:2], rows[2:]))
        found[frozenset(rows), votes] += 4.0**-4
    return found


def differ(one, two):
    return abs(LAW.probabilities[one] - LAW.probabilities[two])


def flips_given(wanted):
    """Return the chance that both runs see this list, and of that and different predictions."""
    seen = {votes: mass for (labels, votes), mass in world().items() if labels == wanted}
    both = sum(seen.values()) ** 2
    apart = sum(p * q * differ(a, b) for a, p in seen.items() for b, q in seen.items())
    return both, apart


def test_the_same_list_and_different_answers_are_within_the_bound():
    lists = {labels for labels, _ in world()}
    together = [flips_given(labels) for labels in lists]
    same, apart = (sum(column) for column in zip(*together, strict=True))
    assert 0.0 < same < 1.0
    assert apart <= R
    # the part that is promised is part of all flips, which are within the bound as well
    masses = world()
    every = sum(
        p * q * differ(a, b) for (_, a), p in masses.items() for (_, b), q in masses.items()
    )
    assert apart <= every <= R


def test_among_runs_that_saw_the_same_list_it_may_be_more():
    """The number is not a conditional probability: given the list the votes are not independent."""
    both, apart = flips_given(frozenset("abcd"))
    assert both == pytest.approx((24 / 256) ** 2)
    assert apart / both == pytest.approx(4 / 9)
    assert apart / both > 1.18 * R
    assert apart / both <= R / both
