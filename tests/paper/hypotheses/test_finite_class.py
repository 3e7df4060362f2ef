import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from replearn.paper.hypotheses import Constant, FiniteClass, make_box

CUTS = [make_box([(0, float(cut), np.inf)]) for cut in range(8)]


def test_the_place_in_the_list_does_not_matter():
    rng = np.random.default_rng(26)
    for _ in range(20):
        shuffled = [CUTS[place] for place in rng.permutation(8)]
        X, y = rng.uniform(0, 8, size=6), rng.integers(0, 2, size=6)
        family, other = FiniteClass(CUTS, 1), FiniteClass(shuffled, 1)
        assert family.erm(X, y) == other.erm(X, y)
        first, second = family.cover(X), other.cover(X)
        assert list(first.rules) == list(second.rules)
        np.testing.assert_array_equal(first.identity, second.identity)


def test_erm_against_the_whole_list():
    rng = np.random.default_rng(27)
    for _ in range(20):
        X, y, weight = rng.uniform(0, 8, size=9), rng.integers(0, 2, size=9), rng.random(9)
        least = min(rule.error(X, y, weight) for rule in CUTS)
        assert FiniteClass(CUTS, 1).erm(X, y, weight).error(X, y, weight) == least


def test_fitted_estimators_are_welcome():
    rng = np.random.default_rng(28)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    good = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    bad = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, 1 - y)
    family = FiniteClass([bad, good], n_features=2)
    assert family.erm(X, y) is good
    assert family.consistent(X, y) is good
    assert family.consistent(X, rng.integers(0, 2, size=300)) is None
    with pytest.raises(TypeError, match="to_dict"):
        family.to_dict()


def test_largest_shattered_subset_of_a_domain():
    family = FiniteClass([*CUTS, *(make_box([(0, -np.inf, float(c))]) for c in range(8))], 1)
    found = family.shattered_set(np.arange(9))
    assert len(found) == 2 < family.vc_dimension == 4
    assert family.shatters(found)
    with pytest.raises(ValueError, match="domain is None"):
        family.shattered_set()


def test_what_is_refused():
    with pytest.raises(ValueError, match="hypotheses is empty"):
        FiniteClass([], 1)
    with pytest.raises(TypeError, match=r"hypotheses\[1\]"):
        FiniteClass([Constant(True), "age > 3"], 1)

    class Scores:
        def predict(self, X):
            return np.full(len(X), 0.5)

    with pytest.raises(ValueError, match="0 and 1"):
        FiniteClass([Scores()], 1).erm([1.0], [1])
