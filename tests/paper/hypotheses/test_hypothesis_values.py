import pickle

import numpy as np
import pytest

from replearn.paper.hypotheses import (
    Box,
    BoxRules,
    Constant,
    hypothesis_from_dict,
    make_box,
)

INF = np.inf


def test_one_function_has_one_value():
    assert make_box([(0, 1, INF), (1, -INF, INF)]) == make_box([(0, 1.0, INF)])
    assert make_box([(1, 0, 2), (0, 1, INF)]) == make_box([(0, 1, INF), (1, 0, 2)])
    assert make_box([(0, 3, 3)]) == make_box([(0, 3, 3), (1, 0, 1)]) == Constant(False)
    assert make_box([]) == Constant(True)
    assert make_box([(0, -0.0, 1)]) == make_box([(0, 0.0, 1)])


@pytest.mark.parametrize(
    ("hypothesis", "names", "rule"),
    [
        (make_box([(0, 41.5, INF)]), ["age"], "age > 41.5"),
        (make_box([(1, 12.5, 30.1), (0, -INF, 4)]), None, "x0 <= 4 and 12.5 < x1 <= 30.1"),
        (Constant(True), None, "always"),
    ],
)
def test_rules_read_well(hypothesis, names, rule):
    assert hypothesis.rule(names) == rule


def test_values_are_frozen_and_pickle():
    box = make_box([(0, 1.0, 2.0)])
    with pytest.raises(AttributeError):
        box.bounds = ()
    assert pickle.loads(pickle.dumps(box)) == box
    assert len({box, make_box([(0, 1.0, 2.0)])}) == 1
    assert isinstance(box, Box)


def test_open_and_closed_ends():
    assert make_box([(0, 1, 2)]).predict([1, 1.5, 2, 2.5]).tolist() == [False, True, True, False]
    assert Constant(True).predict([[1, 2], [3, 4]]).tolist() == [True, True]


def test_error_is_weighted():
    box = make_box([(0, 1.5, INF)])
    assert box.error([1, 2, 3], [1, 1, 0], [1, 2, 5]) == 0.75
    assert box.error([], []) == 0


@pytest.mark.parametrize(
    "bounds", [[(0, np.nan, 1)], [(0, 1, 2), (0, 3, 4)], [(-1, 0, 1)]], ids=str
)
def test_impossible_boxes(bounds):
    with pytest.raises(ValueError, match="bounds"):
        make_box(bounds)


def test_other_errors():
    with pytest.raises(ValueError, match="kind='tree'"):
        hypothesis_from_dict({"kind": "tree"})


def test_many_rules_predict_as_single_ones():
    rng = np.random.default_rng(29)
    X = rng.integers(-2, 3, size=(40, 2)).astype(float)
    ends = np.sort(rng.choice([-INF, -1.0, 0.0, 0.5, INF], size=(50, 2, 2)), axis=2)
    ends[:2, 0] = [1.0, -1.0]  # bounds in the wrong order hold nothing
    ends[0, 1] = [-INF, INF]
    ends[1, 1] = [-1.0, 1.0]
    boxes = BoxRules(ends[:, :, 0], ends[:, :, 1])
    for rules in (boxes, boxes.take(np.arange(50)[::-1])):
        labels = rules.predict(X)
        values = rng.integers(-(2**61), 2**61, size=(40, 2))
        sums = rules.sums(X, values)
        for place, rule in enumerate(rules):
            np.testing.assert_array_equal(rule.predict(X), labels[place])
            with np.errstate(over="ignore"):
                np.testing.assert_array_equal(values[labels[place]].sum(axis=0), sums[place])
        assert list(rules.take(np.array([3, 1]))) == [rules[3], rules[1]]
        joined = type(rules).join([rules.take(slice(0, 20)), rules.take(slice(20, 50))])
        assert list(joined) == list(rules)
