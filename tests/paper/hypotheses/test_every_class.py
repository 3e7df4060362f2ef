"""What holds for every hypothesis class, tried on small pools with many ties."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from replearn.paper.hypotheses import (
    Boxes,
    Conjunctions,
    FiniteClass,
    HypothesisClass,
    Intervals,
    Stumps,
    Thresholds,
    hypothesis_from_dict,
    make_box,
    sauer_bound,
)

LISTED = [make_box([(0, low, high)]) for low in (0.5, 1.5, 2.5) for high in (2.0, 3.5, np.inf)]
CLASSES = [
    Thresholds(),
    Thresholds(">"),
    Thresholds("<="),
    Intervals(),
    Stumps(3),
    Stumps(2, ">"),
    Boxes(1),
    Boxes(2),
    Boxes(3),
    Conjunctions(1),
    Conjunctions(2),
    Conjunctions(2, ("<=", ">")),
    Conjunctions(3, (">", "<=", ">")),
    FiniteClass(LISTED, n_features=1),
]
every_class = pytest.mark.parametrize("family", CLASSES, ids=repr)
INFINITE = [family for family in CLASSES if not isinstance(family, FiniteClass)]

VALUES = st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, 2.0, 3.0, -0.0, 2.75])
quick = settings(max_examples=12, deadline=None, derandomize=True)


@st.composite
def samples(draw, n_features, max_rows=6):
    n_rows = draw(st.integers(0, max_rows))
    rows = draw(st.lists(st.tuples(*[VALUES] * n_features), min_size=n_rows, max_size=n_rows))
    y = draw(st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows))
    weight = draw(
        st.none()
        | st.lists(
            st.sampled_from([0.0, 1.0, 2.0, 0.1, 0.2, 0.3]), min_size=n_rows, max_size=n_rows
        )
    )
    return np.array(rows, dtype=float).reshape(n_rows, n_features), np.array(y, dtype=int), weight


def all_of(family: HypothesisClass, pool, **options):
    blocks = list(family.dichotomies(pool, **options))
    return (
        np.concatenate([block.labels for block in blocks]),
        [rule for block in blocks for rule in block.rules],
        np.concatenate([block.identity for block in blocks]),
    )


@every_class
@quick
@given(data=st.data())
def test_dichotomies_blocks_and_cover(family, data):
    pool, y, weight = data.draw(samples(family.n_features))
    everything = all_of(family, pool)
    check_each_once_with_its_representative(family, pool, *everything)
    order = data.draw(st.permutations(range(len(pool))))
    check_the_order_of_rows_does_not_matter(family, pool, order, *everything)
    check_small_blocks_are_the_same_list(family, pool, *everything)
    check_the_cover_is_the_same_list(family, (pool, y, weight), *everything)


def check_each_once_with_its_representative(family, pool, labels, rules, identity):
    assert labels.shape == (len(rules), len(pool))
    assert len({line.tobytes() for line in labels}) == len(labels)
    assert len({line.tobytes() for line in identity}) == len(labels)
    for rule, line in zip(rules, labels, strict=True):
        np.testing.assert_array_equal(rule.predict(pool), line)
    n_distinct = len(np.unique(pool + 0.0, axis=0))
    assert len(labels) <= family.growth_bound(n_distinct)
    assert family.growth_bound(n_distinct) <= sauer_bound(n_distinct, family.vc_dimension)


def check_the_order_of_rows_does_not_matter(family, pool, order, labels, rules, identity):
    doubled = np.concatenate([pool[order], pool[:1]]).reshape(-1, family.n_features)
    other_labels, other_rules, other_identity = all_of(family, doubled)
    assert other_rules == rules
    np.testing.assert_array_equal(other_identity, identity)
    np.testing.assert_array_equal(other_labels[:, : len(pool)], labels[:, order])


def check_small_blocks_are_the_same_list(family, pool, labels, rules, identity):
    small_labels, small_rules, small_identity = all_of(family, pool, max_cells=7)
    assert small_rules == rules
    np.testing.assert_array_equal(small_labels, labels)
    np.testing.assert_array_equal(small_identity, identity)


def check_the_cover_is_the_same_list(family, sample, labels, rules, identity):
    pool, y, weight = sample
    cover = family.cover(pool)
    assert list(cover.rules) == rules
    assert cover[0] == rules[0]
    np.testing.assert_array_equal(cover.identity, identity)
    errors = (
        [float(np.average(line != y, weights=weight)) for line in labels] if _any(weight, y) else 0
    )
    np.testing.assert_allclose(cover.errors(pool, y, weight), errors, atol=1e-12)


def _any(weight, y):
    return len(y) > 0 and (weight is None or sum(weight) > 0)


@every_class
@quick
@given(data=st.data())
def test_erm_is_the_first_of_the_best_dichotomies(family, data):
    X, y, weight = data.draw(samples(family.n_features))
    found = family.erm(X, y, weight)
    present = np.ones(len(X), dtype=bool) if weight is None else np.array(weight) > 0
    kept = None if weight is None else np.array(weight)[present]
    _, rules, _ = all_of(family, X[present])
    exact = family.cover(X[present]).errors(X[present], y[present], kept)
    assert found == rules[int(np.argmin(exact))]
    order = np.array(data.draw(st.permutations(range(len(X)))), dtype=int)
    shuffled = None if weight is None else np.array(weight)[order]
    assert family.erm(X[order], y[order], shuffled) == found


@every_class
@quick
@given(data=st.data())
def test_consistent_finds_a_hypothesis_without_error_if_there_is_one(family, data):
    X, y, _ = data.draw(samples(family.n_features))
    labels, _, _ = all_of(family, X)
    if len(X) and data.draw(st.booleans()):
        y = labels[data.draw(st.integers(0, len(labels) - 1))].astype(int)
    found = family.consistent(X, y)
    possible = (labels == (y == 1)).all(axis=1).any()
    assert (found is not None) == possible
    if found is not None:
        np.testing.assert_array_equal(found.predict(X), y == 1)
        assert len(X) == 0 or found.error(X, y) == 0


@pytest.mark.parametrize("family", INFINITE, ids=repr)
def test_shattered_set_has_the_vc_dimension(family):
    points = family.shattered_set()
    assert points.shape == (family.vc_dimension, family.n_features)
    labels, _, _ = all_of(family, points)
    assert {tuple(line) for line in labels.tolist()} == set(
        itertools.product([False, True], repeat=len(points))
    )
    assert family.shatters(points)


@pytest.mark.parametrize("family", INFINITE, ids=repr)
def test_no_larger_set_is_shattered(family):
    rng = np.random.default_rng(20)
    size = family.vc_dimension + 1
    for _ in range(25):
        points = rng.normal(size=(size, family.n_features))
        assert sum(len(block) for block in family.dichotomies(points)) < 2**size
        assert not family.shatters(points)


@every_class
def test_hypotheses_travel_as_json(family):
    rng = np.random.default_rng(21)
    pool = rng.normal(size=(5, family.n_features))
    _, rules, _ = all_of(family, pool)
    for rule in rules:
        back = hypothesis_from_dict(json.loads(json.dumps(rule.to_dict())))
        assert back == rule
        assert hash(back) == hash(rule)
        assert str(rule) == rule.rule()
    assert json.loads(json.dumps(family.to_dict()))["class"] == type(family).__name__


@every_class
def test_a_class_is_a_value(family):
    (copy,) = [other for other in CLASSES if other == family]
    assert copy is family
    assert hash(family) == hash(copy)


@every_class
def test_no_rows_at_all(family):
    empty = np.zeros((0, family.n_features))
    labels, rules, _ = all_of(family, empty)
    assert labels.shape == (1, 0)
    assert family.erm(empty, []) == rules[0]
    assert family.erm([[1.0] * family.n_features], [1], [0.0]) == rules[0]
    assert family.consistent(empty, []) is not None
    assert family.growth_bound(0) == 1


@every_class
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_and_infinite_values_are_refused(family, bad):
    pool = np.zeros((3, family.n_features))
    pool[1, -1] = bad
    with pytest.raises(ValueError, match=rf"pool\[1, {family.n_features - 1}\] is {bad}"):
        list(family.dichotomies(pool))
    with pytest.raises(ValueError, match="finite values"):
        family.erm(pool, [0, 1, 0])


@every_class
def test_wrong_labels_weights_and_shapes_are_refused(family):
    X = np.zeros((2, family.n_features))
    with pytest.raises(ValueError, match="encode the two classes as 0 and 1"):
        family.erm(X, [0, 2])
    with pytest.raises(ValueError, match="one label for each of 2 rows"):
        family.erm(X, [0])
    with pytest.raises(ValueError, match="not negative"):
        family.erm(X, [0, 1], [1.0, -1.0])
    with pytest.raises(ValueError, match="not negative"):
        family.erm(X, [0, 1], [1.0, np.nan])
    with pytest.raises(ValueError, match="one weight for each"):
        family.erm(X, [0, 1], [1.0])
    with pytest.raises(ValueError, match=f"{family.n_features} column"):
        family.cover(np.zeros((2, family.n_features + 1)))
    with pytest.raises(ValueError, match="max_cells is 0"):
        list(family.dichotomies(X, max_cells=0))


@every_class
def test_too_long_a_cover_is_refused(family):
    with pytest.raises(ValueError, match="max_candidates = 0"):
        family.cover(np.zeros((2, family.n_features)), max_candidates=0)


@every_class
def test_weights_are_exact_whatever_their_scale(family):
    rng = np.random.default_rng(22)
    X, y = rng.normal(size=(12, family.n_features)), rng.integers(0, 2, size=12)
    weight = rng.integers(1, 4, size=12).astype(float)
    repeated = np.repeat(np.arange(12), weight.astype(int))
    expected = family.erm(X[repeated], y[repeated])
    for scale in (1.0, 1e-300, 1e300, 2.0**-1000):
        # Powers of ten round each weight, but equal weights stay equal and ratios are kept.
        assert family.erm(X, y, weight * scale).error(X, y, weight) == expected.error(X, y, weight)
    assert family.erm(X, y, weight) == expected
