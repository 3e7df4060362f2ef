"""FiniteRandomnessClassifier: the model is a function of the bits it reports."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from replearn import SharedKey
from replearn.exceptions import NotCertifiedWarning
from replearn.guarantees.certificate import certify
from replearn.paper import finite_randomness as room
from replearn.paper.finite_randomness import FiniteRandomnessClassifier, above, shared_thresholds

quiet = pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")


# two blocks: of the ten rows of one check a block of two may have one class only, and such a block
# takes any point
@parametrize_with_checks([FiniteRandomnessClassifier(GaussianNB(), n_blocks=2, n_candidates=3)])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def _draw(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, (X[:, 0] + 0.7 * rng.standard_normal(n) > 0).astype(int)


@quiet
@pytest.mark.filterwarnings(
    "ignore::replearn.exceptions.ConstantBlocksWarning"
)  # blocks of three rows
@pytest.mark.parametrize("key", range(12))
def test_a_missing_value_is_refused_wherever_its_row_goes(key):
    # 11 rows train in three blocks of 3: often a block has one class only, and 2 are left over
    X, y = _draw(16, 0)
    y = np.arange(16) % 2
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        FiniteRandomnessClassifier(GaussianNB(), n_blocks=3, shared_key=key).fit(X, y)
    FiniteRandomnessClassifier(DecisionTreeClassifier(), n_blocks=3, shared_key=key).fit(X, y)


@quiet
def test_the_model_is_the_vote_against_one_threshold():
    X, y = _draw(3000, 0)
    model = FiniteRandomnessClassifier(GaussianNB(), n_blocks=15, shared_key="k").fit(X, y)
    votes = sum(block.predict(X) for block in model.estimators_)
    np.testing.assert_array_equal(
        model.predict(X), (votes / 15 > model.keyed_threshold_).astype(int)
    )
    np.testing.assert_allclose(model.vote_share(X), votes / 15)
    assert model.keyed_threshold_ in model.keyed_thresholds_
    assert model.score(X, y) > 0.75


@quiet
def test_prediction_uses_no_further_bit(monkeypatch):
    X, y = _draw(1000, 0)
    model = FiniteRandomnessClassifier(GaussianNB(), n_blocks=8).fit(X, y)
    expected = model.predict(X)

    def forbidden(*arguments, **options):
        raise AssertionError("a random number was drawn at prediction time")

    for method in ("uniforms", "hashes", "gumbels", "order", "seed_for", "child"):
        monkeypatch.setattr(SharedKey, method, forbidden)
    np.testing.assert_array_equal(model.predict(X), expected)


@quiet
def test_the_bits_are_counted_and_enough(monkeypatch):
    X, y = _draw(1200, 0)
    model = FiniteRandomnessClassifier(
        DecisionTreeClassifier(max_depth=3), n_blocks=8, n_candidates=5
    )
    model.fit(X, y)
    bits = {"thresholds": 150, "choice": 260, "partition": 128, "seeds": 256}
    assert model.random_bits_ == bits
    assert model.n_random_bits_ == sum(bits.values())
    assert clone(model).fit(*_draw(4000, 1)).n_random_bits_ == model.n_random_bits_
    # The same bits from another source give the same model.
    words = [int(word) for word in shared_thresholds(SharedKey(0), 5)]
    assert all(0 <= word < 2**30 for word in words)
    monkeypatch.setattr(room, "shared_thresholds", lambda key, count: np.array(words))
    np.testing.assert_array_equal(clone(model).fit(X, y).predict(X), model.predict(X))


def test_thresholds_are_compared_in_exact_integers():
    assert above(np.array([1, 2]), 2**30 // 3, 3).tolist() == [True, True]
    assert above(np.array([1]), 2**30 // 3 + 1, 3).tolist() == [False]
    assert not above(np.array([0]), 0, 3).any()


def test_not_certified_at_practical_sizes_and_says_how_far():
    X, y = _draw(1000, 0)
    with pytest.warns(NotCertifiedWarning, match=r"at least 2549438 blocks are needed"):
        model = FiniteRandomnessClassifier(GaussianNB(), n_blocks=8).fit(X, y)
    model.certificate_.check()
    assert not model.certificate_.certified


def test_both_notions_are_in_the_certificate():
    big = {
        "n": 10**9,
        "n_test": 10**7,
        "n_blocks": 10**6,
        "n_candidates": 2,
        "sharpness": 5.0,
        "rho": 0.1,
    }
    approximate = certify("finite randomness", "0" * 16, gamma=0.1, **big)
    pointwise = certify("finite randomness", "0" * 16, gamma=None, **big)
    assert approximate.certified
    assert pointwise.certified
    assert "one fixed point" in approximate.promises[0]
    assert "a mass above 0.1" in approximate.promises[1]
    assert "mass" not in str(pointwise)
    move = 2 * float(np.exp(-0.5 * np.log(np.pi * 10**6)))  # R f(T)
    choice = np.tanh(2.5 * (move + np.sqrt(np.log(2) / 10**7)))
    assert pointwise.value("finite_randomness_flip_bound") == pytest.approx(move + choice, rel=1e-5)
    assert approximate.value("finite_randomness_flip_bound") == pytest.approx(
        10 * move + choice, rel=1e-5
    )
    X, y = _draw(400, 0)
    with pytest.warns(NotCertifiedWarning, match="blocks are needed"):
        FiniteRandomnessClassifier(GaussianNB(), n_blocks=8, gamma=None).fit(X, y)


@quiet
def test_fresh_samples_differ_little():
    # Not certified, so measured: most pairs of models differ on a few per cent of the population.
    new, _ = _draw(4000, 99)
    shares = []
    for pair in range(10):
        model = FiniteRandomnessClassifier(
            LogisticRegression(), n_blocks=16, n_candidates=4, alpha=0.2, shared_key=pair
        )
        one, two = (clone(model).fit(*_draw(3000, (pair, run))).predict(new) for run in range(2))
        shares.append(np.mean(one != two))
    assert np.median(shares) < 0.05


def test_errors():
    X, y = _draw(20, 0)
    with pytest.raises(ValueError, match="n_blocks=50"):
        FiniteRandomnessClassifier(n_blocks=50).fit(X, y)
    with pytest.raises(ValueError, match="binary"):
        FiniteRandomnessClassifier(n_blocks=2).fit(X, np.arange(20) % 3)
