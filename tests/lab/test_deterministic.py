"""Rules without shared randomness: exact polynomials, sides, meeting points."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from replearn_lab.deterministic import (
    OUTCOMES,
    RULES,
    TwoCoinRule,
    deaf,
    even_point,
    rule_of_counts,
    rule_of_learner,
    smallest_value,
)
from replearn_lab.learning import MajorityLabel, TableLearner, keyed, vote_learner


@pytest.mark.parametrize("function", [rule for rule in RULES if rule is not deaf])
@pytest.mark.parametrize("n", [3, 8])
def test_accurate_rules_give_opposite_answers_somewhere(function, n):
    rule = rule_of_counts(function, n)
    assert all(side.certified for side in rule.sides())
    meeting = rule.meeting()
    assert sum(meeting.chances) == 1
    assert min(meeting.chances[place] for place in meeting.pair) >= Fraction(1, 10)
    first, second = (OUTCOMES[place] for place in meeting.pair)
    assert first == tuple(-answer for answer in second)
    assert meeting.opposite >= Fraction(2, 100)


def test_a_rule_that_does_not_listen_is_wrong_on_two_sides():
    rule = rule_of_counts(deaf, 5)
    assert {side.name for side in rule.sides() if not side.certified} == {"left", "bottom"}
    assert rule.meeting().opposite == 0


def test_polynomials_agree_with_simulation():
    rule, rng, runs = rule_of_counts(RULES[3], 6), np.random.default_rng(0), 40_000
    exact = rule.chances_exactly(Fraction(1, 5), Fraction(-1, 3))
    heads = rng.binomial(6, [0.6, 1 / 3], (runs, 2))
    seen = [RULES[3](*pair, 6) for pair in heads.tolist()]
    for outcome, chance in zip(OUTCOMES, exact, strict=True):
        assert seen.count(outcome) / runs == pytest.approx(float(chance), abs=0.015)
    floats = rule.chances(np.array([0.2]), np.array([-1 / 3]))[0, 0]
    assert floats == pytest.approx([float(chance) for chance in exact], abs=1e-12)


def test_a_rule_of_your_own_is_checked():
    with pytest.raises(ValueError, match="pair of -1 or \\+1"):
        rule_of_counts(lambda heads, others, n: (0, 1), 3)


def test_sides_that_are_right_with_high_probability_only():
    """The side must be checked between its ends, where the chance may dip."""
    shares = rule_of_counts(RULES[0], 4).shares.copy()
    shares[0, 2] = [Fraction(1, 2), 0, Fraction(1, 2), 0]  # left side, coin 2 even
    dip = TwoCoinRule("dip", shares).sides(beta=0.1)[0]
    assert not dip.certified
    assert dip.chance == 1 - Fraction(6, 16) / 2
    assert TwoCoinRule("dip", shares).sides(beta=0.2)[0].certified


@pytest.mark.parametrize(
    ("least", "certified"), [(Fraction(49, 100), True), (Fraction(51, 100), False)]
)
def test_bernstein_subdivision(least, certified):
    """1 - 2 s (1 - s) is at least 1/2 although its middle coefficient is 0."""
    assert smallest_value([Fraction(1), Fraction(0), Fraction(1)], least)[0] is certified


def test_one_coin_is_even_somewhere():
    accept = [Fraction(int(heads > 6)) for heads in range(10)]
    place, chance = even_point(accept)
    assert abs(chance - Fraction(1, 2)) < Fraction(1, 10**5)
    assert 0 < place < 1
    with pytest.raises(ValueError, match="only \\+1"):
        even_point([Fraction(1)] * 4)


@pytest.mark.parametrize(
    "learner",
    [keyed(TableLearner()), keyed(DecisionTreeClassifier()), vote_learner(8, 2)],
    ids=["table", "tree", "vote under one key"],
)
def test_accurate_learners_give_opposite_labels_somewhere(learner):
    rule = rule_of_learner(learner, 8)
    assert all(share == 1 for share in rule.shares.sum(axis=2).ravel())
    meeting = rule.meeting()
    assert sum(meeting.chances) == 1
    if all(side.certified for side in rule.sides(beta=0.05)):
        assert min(meeting.chances[place] for place in meeting.pair) >= Fraction(1, 10)


def test_the_tree_is_accurate_and_the_majority_of_all_rows_is_not():
    sides = rule_of_learner(keyed(DecisionTreeClassifier()), 8).sides()
    assert all(side.certified for side in sides)
    assert min(side.chance for side in sides) == 1 - Fraction(1, 2**8)  # the point was not drawn
    assert not any(side.certified for side in rule_of_learner(keyed(MajorityLabel()), 8).sides())


def test_the_reduction_agrees_with_simulation():
    learner = keyed(TableLearner())
    rng = np.random.default_rng(0)
    exact = rule_of_learner(learner, 6).chances_exactly(Fraction(1, 5), Fraction(-1, 3))
    runs = 6000
    counts = dict.fromkeys(OUTCOMES, 0)
    for _ in range(runs):
        places = rng.integers(0, 2, 6)
        labels = (rng.random(6) < np.array([0.6, 1 / 3])[places]).astype(int)
        if len(set(labels.tolist())) == 1:
            signs = np.repeat(2 * labels[0] - 1, 2)
        else:
            model = learner(places[:, np.newaxis].astype(float), labels, None)
            signs = 2 * model.predict(np.array([[0.0], [1.0]])) - 1
        counts[tuple(signs.tolist())] += 1
    for outcome, chance in zip(OUTCOMES, exact, strict=True):
        assert counts[outcome] / runs == pytest.approx(float(chance), abs=0.035)
