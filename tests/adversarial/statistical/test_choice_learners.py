"""Learners that choose, at their planned sizes and against distributions made to break them."""

import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone

from replearn.bounds.selection import smallest_sample_selection
from replearn.exceptions import NotCertifiedWarning
from replearn.paper.finite_randomness import above, finite_randomness_flip_bound, shared_thresholds
from replearn.paper.hypotheses import Boxes, Stumps, Thresholds
from replearn.paper.realizable import (
    RealizableReplicableClassifier,
    cover_distance,
    realizable_flip_bound,
    smallest_sample_realizable,
)
from replearn.paper.semi_replicable import SemiReplicableClassifier
from replearn.primitives.selection import choose_by_errors
from replearn.randomness.key import SharedKey
from tests.factories import FALSE_ALARM, Choosing, limit

pytestmark = pytest.mark.statistical


def _semi(hypotheses, pool, alpha, rho=0.3):
    """A learner for this pool, and the number of labelled rows that it plans."""
    rest = alpha - cover_distance(len(pool), hypotheses.vc_dimension, 0.05)
    n, _ = smallest_sample_selection(rho, rest, 0.05, len(hypotheses.cover(pool)))
    return SemiReplicableClassifier(hypotheses, rho=rho, alpha=alpha, beta=0.1), n


def _identical_pairs(model, n, draw, pool, pairs):
    alike = []
    for pair in range(pairs):
        rng = np.random.default_rng((5, pair))
        one, two = (
            clone(model).set_params(shared_key=pair).fit(*draw(rng, n), X_shared=pool)
            for _ in range(2)
        )
        assert one.certificate_.certified
        same = one.hypothesis_ == two.hypothesis_ and hash(one.hypothesis_) == hash(two.hypothesis_)
        alike.append(same and one.rule() == two.rule())
    return sum(alike)


@pytest.mark.parametrize("kind", ["noise", "one good feature"])
def test_stumps_over_thirty_features_are_identical(kind):
    def draw(rng, n):
        X = rng.random((n, 30))
        flips = rng.random(n) < (0.5 if kind == "noise" else 0.2)
        return X, (X[:, 4] > 0.5) ^ flips

    pool = np.random.default_rng(0).random((300, 30))
    model, n = _semi(Stumps(30), pool, alpha=0.4)
    pairs = 20
    alike = _identical_pairs(model, n, draw, pool, pairs)
    assert alike >= binom.ppf(FALSE_ALARM, pairs, 0.7)


def test_boxes_in_the_plane_are_identical():
    def draw(rng, n):
        X = rng.random((n, 2))
        return X, ((X > 0.2) & (X < 0.8)).all(axis=1) ^ (rng.random(n) < 0.2)

    pool = np.random.default_rng(0).random((60, 2))
    model, n = _semi(Boxes(2), pool, alpha=0.6)
    pairs = 12
    assert _identical_pairs(model, n, draw, pool, pairs) >= binom.ppf(FALSE_ALARM, pairs, 0.7)


def test_accuracy_of_the_semi_replicable_rule_against_the_true_best():
    pool = np.random.default_rng(0).random((300, 1))
    model, n = _semi(Thresholds(">"), pool, alpha=0.3)
    bad = 0
    for run in range(60):
        rng = np.random.default_rng((6, run))
        X = rng.random((n, 1))
        y = (X[:, 0] > 0.35) ^ (rng.random(n) < 0.1)
        chosen = clone(model).set_params(shared_key=run).fit(X, y, X_shared=pool).hypothesis_
        new = np.linspace(0, 1, 20_001)[:, None]
        bad += 0.8 * np.mean(chosen.predict(new) != (new[:, 0] > 0.35)) > 0.3
    assert bad <= limit(60, 0.1)


@pytest.mark.filterwarnings("ignore:RealizableReplicableClassifier abstains")
@pytest.mark.parametrize("noise", [0.0, 0.01, 0.03, 0.06, 0.09, 0.11, 0.13, 0.5])
def test_realizable_learner_is_replicable_on_every_distribution(noise):
    # The best error lies below, inside and above the range of the shared limit.
    rho, gamma = 0.2, 0.3
    n, ceiling = smallest_sample_realizable(rho, gamma, 0.1, 0.05, 1)
    assert realizable_flip_bound(n, 1, gamma, ceiling) <= rho
    pairs, far, rng = 150, 0, np.random.default_rng(7)
    new = np.linspace(0, 1, 5001)[:, None]
    for pair in range(pairs):
        answers = []
        for _ in range(2):
            X = rng.random((n, 1))
            y = (X[:, 0] > 0.5) ^ (rng.random(n) < noise)
            model = RealizableReplicableClassifier(
                Thresholds(">"), rho=rho, gamma=gamma, shared_key=pair, classes=[False, True]
            )
            answers.append(model.fit(X, y).predict(new))
            if noise == 0:
                assert model.released_
        far += np.mean(answers[0] != answers[1]) > gamma
    assert far <= limit(pairs, rho)


@pytest.mark.filterwarnings("ignore:RealizableReplicableClassifier abstains")
def test_an_unshared_limit_breaks_the_realizable_learner():
    pairs, far, rng = 150, 0, np.random.default_rng(8)
    new = np.linspace(0, 1, 5001)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        for pair in range(pairs):
            answers = []
            for run in range(2):
                X = rng.random((2000, 1))
                y = (X[:, 0] > 0.5) ^ (rng.random(2000) < 0.05)
                model = RealizableReplicableClassifier(
                    Thresholds(">"), max_error_limit=0.1, shared_key=f"{pair} {run}"
                )
                answers.append(model.fit(X, y).predict(new))
            far += np.mean(answers[0] != answers[1]) > 0.3
    assert far > limit(pairs, 0.2)


@pytest.mark.parametrize("shape", ["coins", "spread"])
def test_finite_randomness_keeps_both_promises(shape):
    # Votes of T blocks at 40 points of equal mass: models and their choice as the learner makes it.
    n_blocks, n_candidates, t, m, gamma, pairs = 20_000, 3, 2.0, 50_000, 0.1, 400
    chances = np.full(40, 0.5) if shape == "coins" else np.linspace(0.3, 0.7, 40)
    bounds = {
        g: finite_randomness_flip_bound(n_blocks, n_candidates, t, m, g) for g in (None, gamma)
    }
    assert max(bounds.values()) < 0.2
    rng, at_one_point, far = np.random.default_rng(10), 0, 0
    for pair in range(pairs):
        key, answers = SharedKey(pair), []
        units = shared_thresholds(key, n_candidates)
        for _ in range(2):
            votes = rng.binomial(n_blocks, chances)
            candidates = above(votes, units[:, None], n_blocks)
            rows = rng.integers(0, 40, m)
            labels = rng.random(m) < chances[rows]
            errors = (candidates[:, rows] != labels).mean(axis=1)
            chosen, _ = choose_by_errors(errors, np.arange(n_candidates), sharpness=t, key=key)
            answers.append(candidates[chosen])
        at_one_point += answers[0][20] != answers[1][20]
        far += np.mean(answers[0] != answers[1]) > gamma
    assert at_one_point <= limit(pairs, bounds[None])
    assert far <= limit(pairs, bounds[gamma])


def test_selector_among_near_ties():
    n, _ = smallest_sample_selection(0.2, 0.2, 0.05, 4)
    models = {f"column {j}": (lambda X, j=j: X[:, j]) for j in range(4)}
    pairs, differ, rng = 200, 0, np.random.default_rng(9)
    for pair in range(pairs):
        chosen = set()
        for _ in range(2):
            y = rng.random(n) < 0.5
            X = y[:, None] ^ (rng.random((n, 4)) < 0.3)
            selector = Choosing(models, rho=0.2, alpha=0.2, shared_key=pair)
            chosen.add(selector.fit(X, y).selected_name_)
            assert selector.certificate_.certified
        differ += len(chosen) == 2
    assert differ <= limit(pairs, 0.2)
