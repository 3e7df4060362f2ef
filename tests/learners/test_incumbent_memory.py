"""memory="auto": long where nothing changes, none after a change."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB

from replearn import IncumbentClassifier, PointwiseReplicableClassifier
from replearn.learners.incumbent_memory import (
    Loss,
    accuracy,
    choose_setting,
    ladder,
    loss_against,
    pooled,
)
from replearn.learners.incumbent_retraining import earlier_losses
from replearn.learners.incumbent_rule import Replay

N = 1500


def world(seed, n=N, *, turned=0.0, positives=0.0, broken=False):
    """Draw a sample; labels may be reversed, a column may break."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = 1.5 * X[:, 0] + X[:, 1] + positives + rng.logistic(size=n)
    y = (score > 0).astype(int)
    y = np.where(rng.random(n) < turned, 1 - y, y)
    if broken:
        X[:, 0] = 3.0  # stuck
    return X, y


def base():
    return LogisticRegression(max_iter=1000)


def run(worlds, **params):
    model = None
    models = []
    for X, y in worlds:
        model = IncumbentClassifier(base(), model, **params).fit(X, y)
        models.append(model)
    return models


def test_nothing_is_forgotten_while_nothing_changes():
    models = run([world(seed) for seed in range(8)], memory="auto")
    memories = [entry["memory"] for entry in models[-1].history_[1:]]
    assert np.mean(memories) > 0.6
    X, _ = world(99)
    flips = np.mean([(a.predict(X) != b.predict(X)).mean() for a, b in pairwise(models)])
    plain = [one.estimator_.predict(X) for one in models]
    alone = np.mean([(a != b).mean() for a, b in pairwise(plain)])
    assert flips < 0.3 * alone


CHANGES = {
    "concept": {"turned": 0.9},
    "prevalence": {"positives": 2.5},
    "broken feature": {"broken": True},
}


@pytest.mark.parametrize("change", CHANGES)
def test_after_a_change_it_is_as_good_as_plain_retraining(change):
    params = CHANGES[change]
    worlds = [world(seed) for seed in range(5)] + [world(5, **params)]
    model = run(worlds, memory="auto")[-1]
    X, y = world(77, 20_000, **params)
    plain = (model.estimator_.predict(X) == y).mean()
    assert (model.predict(X) == y).mean() >= plain - 0.01
    fixed = IncumbentClassifier(base(), run(worlds[:-1])[-1], memory=0.7, band=0.1)
    fixed.fit(*worlds[-1])
    assert (fixed.predict(X) == y).mean() < plain - 0.01
    assert model.history_[-1]["alarm"] is not None
    if change == "concept":
        assert model.history_[-1]["alarm"].startswith("reset")
        assert model.chain_.recent == ()


def test_a_slow_change_is_followed():
    shares = np.linspace(0, 0.9, 10)
    models = run([world(step, turned=share) for step, share in enumerate(shares)], memory="auto")
    for step in (5, 9):
        X, y = world(60 + step, 20_000, turned=shares[step])
        plain = (models[step].estimator_.predict(X) == y).mean()
        assert (models[step].predict(X) == y).mean() >= plain - 0.01


def test_the_metric_decides():
    """Accuracy of a rare class hardly notices what balanced accuracy does."""
    rng = np.random.default_rng(0)
    codes = (rng.random(4000) < 0.02).astype(int)
    new = np.where(codes == 1, 0.9, 0.1)
    nothing = np.zeros(4000, dtype=int)
    remembered = Replay(np.full(4000, 0.05), np.zeros((4000, 2)), nothing, nothing, nothing)
    settings = ladder(0.1, 0.5)[:1]
    lenient = choose_setting(remembered, new, codes, settings, max_loss=0.05)
    strict = choose_setting(
        remembered, new, codes, settings, max_loss=0.05, metric=balanced_accuracy_score
    )
    assert not lenient.is_reset
    assert strict.is_reset
    assert strict.rejected == 1


def test_limits_cover_the_loss():
    """Lower and upper limit fail with 5 % each; 400 samples, false alarm 1e-8."""
    rng = np.random.default_rng(4)
    low = 0
    high = 0
    for _ in range(400):
        codes = rng.integers(0, 2, 600)
        plain = np.where(rng.random(600) < 0.8, codes, 1 - codes)
        kept = np.where(rng.random(600) < 0.05, 1 - plain, plain)  # loses 0.05 * 0.6
        loss = loss_against(codes, plain, kept, accuracy, None)
        low += loss.lower > 0.03
        high += loss.upper < 0.03
    assert max(low, high) <= binom.isf(1e-8, 400, 0.06)
    assert low + high > 0


def test_a_setting_is_rejected_where_it_loses():
    codes = np.arange(2000) % 2
    plain = codes
    kept = np.where(np.arange(2000) < 100, 1 - codes, codes)
    loss = loss_against(codes, plain, kept, accuracy, None)
    assert loss.value == pytest.approx(0.05)
    assert 0 < loss.lower <= loss.value <= loss.upper
    weights = np.where(kept == codes, 1.0, 0.0)
    assert loss_against(codes, plain, kept, accuracy, weights).value == 0.0


def test_a_small_loss_that_lasts_is_seen():
    """The incumbent errs on 225 of 2,000 rows, the new model on 200 others: seen in six months."""
    codes = np.arange(2000) % 2
    rows = np.random.default_rng(0).permutation(2000)
    new = np.where(codes == 1, 0.9, 0.1)
    new[rows[:200]] = 1.0 - new[rows[:200]]
    remembered_codes = codes.copy()
    remembered_codes[rows[200:425]] = 1 - codes[rows[200:425]]
    remembered = Replay(None, np.zeros((2000, 2)), remembered_codes, remembered_codes, codes * 0)
    settings = [ladder(5.0, 0.5)[0]]  # everything is kept
    alone = choose_setting(remembered, new, codes, settings, max_loss=0.0)
    assert alone.longest.lower <= 0 < alone.longest.value
    assert alone.rejected == 0
    earlier = [alone.longest] * 5
    lasting = choose_setting(remembered, new, codes, settings, max_loss=0.0, earlier=earlier)
    assert pooled([*earlier, alone.longest]).lower > 0
    assert lasting.rejected == 1


def test_losses_before_a_reset_are_forgotten():
    one = {"longest_memory": {"value": 0.1, "error": 0.2}, "alarm": None}
    reset = {**one, "alarm": "reset: every memory loses against plain retraining"}
    assert earlier_losses([{"memory": 0.0}, one, reset, one, one]) == (Loss(0.1, 0.2),) * 2


def test_new_rows_of_a_window_decide():
    """Old rows of a rolling window were known to the incumbent and speak for it."""
    worlds = [world(seed) for seed in range(4)]
    X_old, y_old = worlds[-1]
    X_new, y_new = world(5, 500, turned=0.9)
    X = np.concatenate([X_old, X_old, X_old, X_new])
    y = np.concatenate([y_old, y_old, y_old, y_new])
    incumbent = run(worlds)[-1]
    is_new = np.arange(len(y)) >= 3 * len(y_old)
    model = IncumbentClassifier(base(), incumbent, memory="auto")
    model.fit(X, y, new_rows=is_new)
    assert model.history_[-1]["rows"] == len(y)
    with pytest.raises(ValueError, match="new_rows must hold one bool"):
        model.fit(X, y, new_rows=is_new[:-1])
    with pytest.raises(ValueError, match="new_rows selects no row"):
        model.fit(X, y, new_rows=np.zeros(len(y), dtype=bool))


@pytest.mark.parametrize("params", [{"memory": "auto"}, {"max_changes": 0.02}])
def test_nothing_is_certified_where_the_sample_decides(params):
    votes = PointwiseReplicableClassifier(GaussianNB(), n_blocks=6, shared_key="k", rho=0.5)
    old = IncumbentClassifier(votes).fit(*world(0))
    fixed = IncumbentClassifier(votes, old).fit(*world(1))
    chosen = IncumbentClassifier(votes, old, **params).fit(*world(1))
    assert old.certificate_.certified
    assert fixed.certificate_.certified
    assert chosen.certificate_.verdict == "not certified"
    assert "chosen from this sample" in chosen.certificate_.reason


def test_groups_stay_together_when_rows_are_left_out():
    X, y = world(0, 400)
    groups = np.repeat(np.arange(100), 4)
    votes = PointwiseReplicableClassifier(GaussianNB(), n_blocks=4, shared_key="k", rho=0.9)
    old = IncumbentClassifier(votes).fit(X, y, groups=groups)
    new = IncumbentClassifier(votes, old, memory="auto").fit(X, y, groups=groups)
    assert new.history_[-1]["counted_on"] == "cross-fitted rows"
