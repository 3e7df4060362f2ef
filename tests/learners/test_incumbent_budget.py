"""Budgets of change: bands from held-out rows, batches that never exceed them."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from replearn import IncumbentClassifier
from replearn.learners.incumbent_retraining import Budget, Moves, budget_band, choose_changes

X, Y = make_classification(9000, n_features=6, flip_y=0.3, class_sep=0.4, random_state=1)
NEW = X[4000:]


def random_moves(rng, n_moves):
    return Moves(
        np.arange(n_moves),
        rng.integers(1, 30, n_moves) / 30,  # with ties
        rng.choice([-1, 1], n_moves),
        rng.random(n_moves),
    )


@pytest.mark.parametrize("seed", range(30))
def test_a_batch_never_exceeds_a_budget(seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(20, 200))
    moves = random_moves(rng, int(rng.integers(0, n_rows)))
    shares = [None if rng.random() < 0.3 else rng.random() * 0.3 for _ in range(3)]
    budget = Budget(*shares)
    made = choose_changes(moves, budget, n_rows)
    changes, flips, rate = budget.limits(n_rows)
    assert made.sum() <= changes
    assert moves.cost[made].sum() <= flips
    assert abs(moves.direction[made].sum()) <= rate


def test_the_strongest_evidence_comes_first():
    rng = np.random.default_rng(1)
    moves = random_moves(rng, 50)
    made = choose_changes(moves, Budget(max_changes=0.1), 100)
    assert made.sum() == 10
    assert moves.strength[made].min() >= moves.strength[~made].max()
    assert choose_changes(moves, Budget(), 100).all()


def test_opposite_changes_make_room_for_each_other():
    direction = np.array([1, 1, 1, -1, -1, -1, -1])
    moves = Moves(np.arange(7), np.linspace(0.9, 0.3, 7), direction, np.zeros(7))
    made = choose_changes(moves, Budget(keep_rate=0.01), 100)
    assert made.all()  # three up, four down: one more is what 1 % of 100 rows allows
    exact = choose_changes(moves, Budget(keep_rate=0.0), 100)
    assert exact.sum() == 6
    assert direction[exact].sum() == 0
    few = choose_changes(moves, Budget(max_changes=0.03, keep_rate=0.0), 100)
    assert few.sum() == 2


def test_the_band_is_the_smallest_that_keeps_the_budget():
    rng = np.random.default_rng(2)
    for _ in range(50):
        moves = random_moves(rng, 40)
        budget = Budget(max_changes=float(rng.random() * 0.3))
        band, n_changes = budget_band(moves, budget, 100, 0.02)
        assert (moves.strength > band).sum() == n_changes <= budget.limits(100)[0]
        narrower = moves.strength[moves.strength <= band]
        if band > 0.02:
            assert (moves.strength >= narrower.max()).sum() > budget.limits(100)[0]


def models(**budget):
    old = IncumbentClassifier(GaussianNB()).fit(X[:600], Y[:600])
    base = RandomForestClassifier(30, random_state=0)
    new = IncumbentClassifier(base, old, memory=0.3, band=0.01, **budget)
    return old, new.fit(X[600:3600], Y[600:3600])


def test_a_budget_of_changes_becomes_a_band():
    old, loose = models()
    _, tight = models(max_changes=0.03)
    before = old.predict(NEW)
    assert (loose.predict(NEW) != before).mean() > 0.06
    changed = int((tight.predict(NEW) != before).sum())
    entry = tight.history_[-1]
    assert entry["band"] > 0.01
    assert entry["budget"] == {"max_changes": 0.03}
    assert 0.03 < entry["changes_limit"] < 0.05
    # Held-out rows and these are independent: the limit of the former, then of these, 1e-8 each.
    limit = binom.isf(1e-8, 3000, 0.03) / 3000
    assert changed <= binom.isf(1e-8, len(NEW), limit)
    assert changed >= binom.isf(1 - 1e-8, len(NEW), 0.015)


def test_a_budget_of_negative_flips_becomes_a_band():
    old, loose = models()
    _, tight = models(max_negative_flips=0.005)
    truth = Y[4000:]
    before = old.predict(NEW)

    def worse(model):
        after = model.predict(NEW)
        return int(((before == truth) & (after != truth)).sum())

    assert worse(tight) < worse(loose)
    limit = binom.isf(1e-8, 3000, 0.005) / 3000
    assert worse(tight) <= binom.isf(1e-8, len(NEW), limit)


def test_batches_of_a_model_keep_their_budgets():
    old, new = models()
    before = old.predict(NEW)
    after = new.predict(NEW)
    for share in (0.0, 0.004, 0.02):
        labels = new.predict_batch(NEW, max_changes=share)
        changed = labels != before
        assert changed.sum() <= share * len(NEW)
        assert (labels[changed] == after[changed]).all()
        strength = new.explain(NEW).margin
        waits = (after != before) & ~changed
        if changed.any():
            assert strength[changed].min() >= strength[waits].max()
    same = new.predict_batch(NEW, keep_rate=0.0)
    assert (same == 1).sum() == (before == 1).sum()
    assert (same != before).any()
    careful = new.predict_batch(NEW, max_negative_flips=0.005)
    changed = careful != before
    old_class = new.predict_proba(NEW)[np.arange(len(NEW)), before]
    assert old_class[changed].sum() <= 0.005 * len(NEW)
    np.testing.assert_array_equal(new.predict_batch(NEW), after)


def test_budgets_of_the_estimator_hold_for_batches():
    old, new = models(max_changes=0.01)
    few = new.predict_batch(NEW[:500])
    assert (few != old.predict(NEW[:500])).sum() <= 5


def test_what_a_budget_requires_is_named():
    three = np.arange(3000) % 3
    with pytest.raises(ValueError, match=r"keep_rate=0.1 requires two classes"):
        IncumbentClassifier(GaussianNB(), keep_rate=0.1).fit(X[:3000], three)
    old, new = models()
    with pytest.raises(ValueError, match=r"max_changes=-1 must be a share"):
        new.predict_batch(NEW[:10], max_changes=-1)
    with pytest.raises(ValueError, match=r"single row: .*memory=0.5"):
        IncumbentClassifier(GaussianNB(), old, max_changes=0.1).fit(X[:2], [0, 1])
