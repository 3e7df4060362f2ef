"""Littlestone dimension of finite classes, and worst-case mistakes of online learners."""

from itertools import product

import numpy as np
import pytest

from replearn.paper.hypotheses import Intervals, Thresholds
from replearn_lab.littlestone import (
    by_dimension,
    first_consistent,
    halving,
    littlestone_dimension,
    worst_mistakes,
)


def thresholds(n):
    (block,) = Thresholds(">").dichotomies(np.arange(n, dtype=float)[:, None])
    return block.labels


def has_tree(labels, depth):
    """Whether some complete mistake tree of this depth is shattered, from the definition."""
    if depth == 0:
        return len(labels) > 0
    return any(
        all(has_tree(labels[labels[:, point] == side], depth - 1) for side in (0, 1))
        for point in range(labels.shape[1])
    )


@pytest.mark.parametrize("n", range(1, 20))
def test_thresholds_have_the_logarithm_of_their_number(n):
    assert littlestone_dimension(thresholds(n)) == int(np.log2(n + 1))


@pytest.mark.parametrize("seed", range(12))
def test_the_recursion_is_the_definition(seed):
    labels = np.random.default_rng(seed).integers(0, 2, (9, 5))
    depth = littlestone_dimension(labels)
    assert has_tree(labels, depth)
    assert not has_tree(labels, depth + 1)


def test_all_labellings_and_single_points():
    cube = np.array(list(product((0, 1), repeat=4)))
    assert littlestone_dimension(cube) == 4
    assert littlestone_dimension(np.eye(6)) == 1
    assert littlestone_dimension(np.ones((3, 2))) == 0


@pytest.mark.parametrize("labels", [thresholds(11), np.eye(5)], ids=["thresholds", "points"])
def test_the_optimal_learner_errs_as_often_as_the_dimension_says(labels):
    assert worst_mistakes(labels, by_dimension) == littlestone_dimension(labels)
    assert worst_mistakes(labels, halving) <= np.log2(len(labels))


def test_consistency_alone_errs_more_often():
    assert worst_mistakes(thresholds(11), first_consistent) == 11
    blocks = Intervals().dichotomies(np.arange(12.0)[:, None])
    labels = np.vstack([block.labels for block in blocks])
    assert (worst_mistakes(labels, halving), littlestone_dimension(labels)) == (6, 5)


@pytest.mark.parametrize("labels", [[0, 1], [[0, 2]], np.zeros((0, 3))])
def test_other_tables_raise(labels):
    with pytest.raises(ValueError, match="a row for each hypothesis"):
        littlestone_dimension(labels)
