"""memory="auto": long where nothing changes, none after a change."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn import (
    IncumbentClassifier,
    PointwiseReplicableClassifier,
    ScoreReplicableClassifier,
)
from replearn.exceptions import NotCertifiedWarning
from replearn.learners.incumbent_chain import (
    ALARM_RATE,
    DRIFTED,
    HELD_BACK,
    MIN_DIFFERENT_ROWS,
    WAITING,
    Evidence,
    Loss,
    Replay,
    accuracy,
    choose_setting,
    evidence_of,
    got_worse,
    loss_against,
    settings_to_try,
    shows_loss,
)
from replearn.learners.incumbent_retraining import (
    _folds,
    cross_fitted,
    interleaved_folds,
    was_alarmed,
)
from tests.factories import limit, voting

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


def test_an_incumbent_that_falls_is_not_trusted():
    """Few rows do not show that it loses against a model that has little to learn."""
    alarms = {"as it is": 0, "its errors are not known": 0}
    for seed in range(12):
        *_, incumbent = run([world(10 * seed + month, 300) for month in range(3)])
        sample = world(10 * seed + 3, 300, turned=0.55)
        for name in alarms:
            model = IncumbentClassifier(base(), incumbent).fit(*sample)
            alarms[name] += model.history_[-1]["alarm"] is not None
            incumbent.history_[-1].pop("n_wrong", None)
    assert alarms["as it is"] >= 8
    assert alarms["its errors are not known"] <= 4


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


def test_a_budget_holds_after_a_change():
    """Nothing is worth remembering, but the user has said how much may change."""
    incumbent = run([world(0), world(1)])[-1]
    X, y = world(2, turned=0.9)
    model = IncumbentClassifier(base(), incumbent, max_changes=0.05).fit(X, y)
    entry = model.history_[-1]
    assert entry["alarm"] == HELD_BACK
    assert entry["memory"] == 0.0
    assert entry["changed"] <= 0.05
    assert len(model.chain_.recent) == 2
    free = IncumbentClassifier(base(), incumbent, max_changes=1.0).fit(X, y)
    assert free.history_[-1]["alarm"].startswith("reset")
    assert free.chain_.recent == ()


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
    settings = settings_to_try(0.1, 0.5)[:1]
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


@pytest.mark.parametrize("n_groups", [3, 5])
def test_limits_of_few_groups_are_wide(n_groups):
    """Groups that lose by chance: a lower limit of 99 % is above 0 in one sample of a hundred.

    The loss of a group is normal, and all its rows lose it: Student's t with ``n_groups - 1``
    degrees of freedom is exact. With 19 the limit of three groups would fail six times as often.
    """
    rng = np.random.default_rng(6)
    n_samples = 2000
    groups = np.repeat(np.arange(n_groups), 4)
    nothing = np.zeros(len(groups))
    failed = 0
    for _ in range(n_samples):
        lost = rng.normal(size=n_groups)[groups]
        loss = loss_against(nothing, lost, nothing, lambda _, values: values.mean(), None, groups)
        assert loss.n_parts == n_groups
        failed += loss.limit(0.99) > 0
    assert 0 < failed <= limit(n_samples, 0.01)


def test_a_setting_is_rejected_where_it_loses():
    codes = np.arange(2000) % 2
    plain = codes
    kept = np.where(np.arange(2000) < 100, 1 - codes, codes)
    loss = loss_against(codes, plain, kept, accuracy, None)
    assert loss.value == pytest.approx(0.05)
    assert 0 < loss.lower <= loss.value <= loss.upper
    weights = np.where(kept == codes, 1.0, 0.0)
    assert loss_against(codes, plain, kept, accuracy, weights).value == 0.0


def test_few_rows_must_show_more():
    loss = Loss(0.01, 0.01 / 2.8)  # 99 % of Student's t with 19 degrees: 2.54, 99.9 %: 3.58
    assert shows_loss(Evidence(loss), 0.0, MIN_DIFFERENT_ROWS)
    assert not shows_loss(Evidence(loss), 0.0, MIN_DIFFERENT_ROWS - 1)
    assert not shows_loss(Evidence(loss), 0.01, MIN_DIFFERENT_ROWS)
    assert shows_loss(Evidence(loss, loss), 0.0, 0)  # expected losses count all rows near by
    weak = Loss(0.01, 0.01)
    assert not shows_loss(Evidence(weak, weak), 0.0, 2000)


def test_an_alarm_is_remembered_once():
    calm = {"alarm": None}
    drifted = {"alarm": DRIFTED}
    assert was_alarmed([calm, drifted])
    assert not was_alarmed([drifted, calm])
    assert not was_alarmed([])
    assert not was_alarmed([{"memory": 0.5}])  # a retraining with a fixed memory


def calibrated(n, shift, seed):
    """Draw rows near the threshold whose remembered score is too low by a shift."""
    rng = np.random.default_rng(seed)
    eta = rng.uniform(0.3, 0.7, n)
    codes = (rng.random(n) < eta).astype(np.intp)
    new = eta + rng.normal(0, 0.02, n)
    score = eta - shift + rng.normal(0, 0.01, n)
    kept = (score > 0.5).astype(np.intp)
    return Replay(score, evidence_of(score, 0.5), kept, kept, 0 * kept), new, codes


def test_an_expected_loss_is_seen_before_a_counted_one():
    """Labels near the threshold are coin flips: what they cost is known from all of them."""
    settings = settings_to_try(0.1, 0.5)
    n_seen = {"expected": 0, "counted": 0}
    differences = []
    for seed in range(20):
        rows = calibrated(2000, 0.1, seed)
        choice = choose_setting(*rows, settings, max_loss=0.0)
        n_seen["expected"] += choice.rejected > 0
        n_seen["counted"] += choice.longest.counted.limit(0.99) > 0
        assert choice.longest.expected.error < choice.longest.counted.error
        differences.append(choice.longest.expected.value - choice.longest.counted.value)
    assert abs(np.mean(differences)) < 0.01  # both estimate the same
    assert n_seen["expected"] >= n_seen["counted"] + 5
    unmoved = [
        choose_setting(*calibrated(2000, 0.0, seed), settings, max_loss=0.0)
        for seed in range(100, 120)
    ]
    assert sum(choice.rejected > 0 for choice in unmoved) <= binom.isf(1e-8, 20, 0.05)


def test_after_an_alarm_the_longest_memory_must_not_lose():
    """A loss that is not shown is enough to be given up again."""
    for seed in range(20):
        rows = calibrated(300, 0.05, seed)
        settings = settings_to_try(0.1, 0.5)
        calm = choose_setting(*rows, settings, max_loss=0.0)
        cautious = choose_setting(*rows, settings, max_loss=0.0, cautious=True)
        if calm.rejected == 0 and calm.longest.value > 0:
            break
    assert calm.setting == settings[0]
    assert cautious.rejected > 0
    assert choose_setting(*rows, settings, max_loss=0.5, cautious=True).rejected == 0


def test_expected_losses_of_several_classes():
    """A new model of three classes that is right, an incumbent that is not: it is overruled."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, 900)
    new = np.full((900, 3), 0.2)
    new[np.arange(900), codes] = 0.6
    old = np.roll(new, 1, axis=1)
    kept = old.argmax(axis=1)
    remembered = Replay(old, old, kept, kept, 0 * kept)
    choice = choose_setting(remembered, new, codes, settings_to_try(0.1, 0.0), max_loss=0.0)
    assert choice.rejected == 3
    assert choice.loss.value == 0.0
    assert choice.longest.expected.value == pytest.approx(choice.longest.counted.value, abs=0.02)
    same = Replay(new, new, codes, codes, 0 * kept)
    assert choose_setting(same, new, codes, settings_to_try(0.1, 0.0), max_loss=0.0).rejected == 0


def test_folds_have_rows_of_every_month():
    """Folds of neighbouring rows would leave out what is new all at once."""
    months = np.repeat(np.arange(12), 50)
    y = np.random.default_rng(0).integers(0, 3, 600)
    fold = interleaved_folds(y, 5)
    counts = np.array([np.bincount(fold[months == month], minlength=5) for month in range(12)])
    assert counts.min() >= 7
    for label in range(3):
        assert np.ptp(np.bincount(fold[y == label])) <= 1


def window(n_new_rows, turned, seed=3):
    """Draw a window whose last rows may have reversed labels."""
    X_old, y_old = world(seed, 3000)
    X_new, y_new = world(seed + 1, n_new_rows, turned=turned)
    is_new = np.arange(3000 + n_new_rows) >= 3000
    return np.concatenate([X_old, X_new]), np.concatenate([y_old, y_new]), is_new


@pytest.mark.parametrize("turned", [0.0, 0.6])
def test_new_rows_that_do_not_fit_are_an_alarm(turned):
    """A window follows a change slowly; its new rows show it at once."""
    X, y, is_new = window(300, turned)
    model = IncumbentClassifier(base(), run([world(0), world(1)])[-1], memory="auto")
    model.fit(X, y, new_rows=is_new)
    if turned:
        assert model.history_[-1]["alarm"] == DRIFTED
        assert model.chain_.recent == ()
        later = IncumbentClassifier(base(), model, memory="auto").fit(X, y, new_rows=is_new)
        assert later.history_[-1]["alarm"] == WAITING
        half = np.arange(len(y)) >= len(y) // 2  # a window of two samples: all is new by now
        passed = IncumbentClassifier(base(), model).fit(X, y, new_rows=half)
        assert passed.history_[-1]["alarm"] != WAITING
    else:
        assert model.history_[-1]["alarm"] is None
    repeated = IncumbentClassifier(base(), run([world(0), world(1)])[-1], memory="auto")
    repeated.fit(X, y)  # all rows are new: there is nothing to compare them with
    assert repeated.history_[-1]["alarm"] != DRIFTED


def test_a_window_waits_until_a_change_has_passed():
    """Windows of four months that move by one: forgotten for three of them after a change."""
    months = [world(seed, 600, turned=0.9 * (seed >= 5)) for seed in range(12)]
    is_new = np.arange(2400) >= 1800
    model = None
    for last in range(3, 12):
        window = months[last - 3 : last + 1]
        X, y = (np.concatenate(part) for part in zip(*window, strict=True))
        model = IncumbentClassifier(base(), model).fit(X, y, new_rows=is_new)
    alarms = [entry.get("alarm") for entry in model.history_]
    assert alarms[:5] == [None, None, DRIFTED, WAITING, WAITING]
    assert alarms[-2:] == [None, None]
    assert not set(alarms[5:]) & {DRIFTED, WAITING}


def test_new_rows_that_fit_are_no_alarm():
    """Rows that no model has seen, an eighth of them new: an alarm in one of a thousand."""
    rng = np.random.default_rng(8)
    is_new = np.arange(800) >= 700
    n_alarms = sum(got_worse(rng.random(800) < 0.2, is_new) for _ in range(4000))
    assert n_alarms <= binom.isf(1e-8, 4000, ALARM_RATE)
    worse = np.where(is_new, 0.5, 0.2)
    assert sum(got_worse(rng.random(800) < worse, is_new) for _ in range(50)) >= 45


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


@pytest.mark.parametrize("params", [{}, {"memory": 0.5, "max_changes": 0.02}])
@pytest.mark.parametrize("kind", ["certified", "estimated"])
def test_a_certificate_is_not_lost_without_a_warning(kind, params):
    """The default decides from the sample: fit says that the certificate is lost, and the cure."""
    votes = PointwiseReplicableClassifier(GaussianNB(), n_blocks=6, shared_key="k", rho=0.5)
    scores = ScoreReplicableClassifier(GaussianNB(), shared_key="k")
    replicable = votes if kind == "certified" else scores
    old = IncumbentClassifier(replicable).fit(*world(0))
    fixed = IncumbentClassifier(replicable, old, memory=0.5).fit(*world(1))
    assert old.certificate_.verdict == fixed.certificate_.verdict == kind
    with pytest.warns(NotCertifiedWarning, match=rf"is {kind}, this model is not.*memory=0\.5"):
        chosen = IncumbentClassifier(replicable, old, **params).fit(*world(1))
    assert chosen.certificate_.verdict == "not certified"
    assert "chosen from this sample" in chosen.certificate_.reason
    newest = chosen.chain_.newest
    told = IncumbentClassifier(replicable, old, memory=newest.memory, band=newest.band)
    assert told.fit(*world(1)).certificate_.verdict == kind
    np.testing.assert_array_equal(told.predict(world(2)[0]), chosen.predict(world(2)[0]))


def test_nothing_is_said_where_nothing_is_lost():
    votes = PointwiseReplicableClassifier(GaussianNB(), n_blocks=6, shared_key="k", rho=0.01)
    with pytest.warns(NotCertifiedWarning):
        old = IncumbentClassifier(votes).fit(*world(0))
    with pytest.warns(NotCertifiedWarning) as said:
        IncumbentClassifier(votes, old).fit(*world(1))
    assert not any("this model is not" in str(one.message) for one in said)


# -- samples that are small, weighted, grouped -----------------------------------------------------
def votes(**params):
    return voting(GaussianNB(), n_blocks=4, shared_key="k", **params)


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
@pytest.mark.parametrize("n_groups", [2, 3, 100])
def test_groups_stay_together_when_rows_are_left_out(n_groups):
    X, y = world(0, 400)
    groups = np.arange(400) % n_groups
    left_out = [set(groups[test]) for _, test in _folds(y, groups)]
    assert len(left_out) == min(5, n_groups)
    assert sum(map(len, left_out)) == n_groups
    if n_groups == 100:
        old = IncumbentClassifier(votes(rho=0.9)).fit(X, y, groups=groups)
        new = IncumbentClassifier(votes(rho=0.9), old).fit(X, y, groups=groups)
        assert new.history_[-1]["counted_on"] == "cross-fitted rows"


def test_groups_need_no_estimator_that_takes_them():
    """Ten rows of each patient with the same label: a tree that knows the patient knows it."""
    rng = np.random.default_rng(0)

    def patients():
        X = np.repeat(rng.normal(size=(200, 4)), 10, axis=0)
        y = np.repeat((X[::10, 0] + rng.logistic(size=200) > 0).astype(int), 10)
        return X, y, np.repeat(np.arange(200), 10)

    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    X, y, _ = patients()
    old = IncumbentClassifier(tree).fit(X, y)
    X, y, groups = patients()
    apart = IncumbentClassifier(tree, old).fit(X, y)
    together = IncumbentClassifier(tree, old).fit(X, y, groups=groups)
    assert apart.history_[-1]["alarm"] is not None  # as if the old model had become useless
    assert together.history_[-1]["alarm"] is None


def test_samples_that_are_too_small_are_named():
    X, y = world(0, 60)
    old = IncumbentClassifier(base()).fit(X, y)
    lonely = np.zeros(60, dtype=int)
    with pytest.raises(ValueError, match=r"every class of y has a single row: .*memory=0\.5"):
        IncumbentClassifier(base(), old).fit(X[:2], np.array([0, 1]))
    assert IncumbentClassifier(base(), old, memory=0.5).fit(X[:2], [0, 1]).n_retrainings_ == 1
    for n_rows in (1, 2, 3):  # the only row of a class is never left out; two folds; three
        lonely[:n_rows] = 1
        new = IncumbentClassifier(base(), old, max_changes=0.1).fit(X, lonely)
        assert new.history_[-1]["rows"] == 60
    is_new = np.arange(60) >= 30
    lonely[:] = np.arange(60) == 40
    assert IncumbentClassifier(base(), old).fit(X, lonely, new_rows=is_new).n_retrainings_ == 1
    inner = CalibratedClassifierCV(GaussianNB(), cv=3)
    lonely[:3] = 1
    lonely[3:] = 0
    with pytest.raises(ValueError, match=r"CalibratedClassifierCV cannot be fitted on a part"):
        IncumbentClassifier(inner, old).fit(X, lonely)
    with pytest.raises(ValueError, match="of one group"):
        _folds(y, np.zeros(60))
    with pytest.raises(ValueError, match="left out together"):
        cross_fitted(base(), X, y, np.arange(60), 2, "score", {}, y)


def test_a_fit_warns_once():
    short = LogisticRegression(max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = IncumbentClassifier(short).fit(*world(0))
    with pytest.warns(ConvergenceWarning) as said:
        IncumbentClassifier(short, old).fit(*world(1))
    assert len(said) == 1


def test_labels_alone_cannot_be_retrained():
    class Labels(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

    with pytest.raises(ValueError, match="Labels predicts labels only"):
        IncumbentClassifier(Labels()).fit(*world(0))


def test_weights_decide():
    """Rows of weight zero are as if they were not there, also by the name of a step."""
    incumbent = run([world(0), world(1)])[-1]
    X, y = world(2)
    X_bad, y_bad = world(3, 3 * N, turned=1.0)
    both = np.concatenate([X, X_bad]), np.concatenate([y, y_bad])
    weights = np.repeat([1.0, 0.0], [len(y), len(y_bad)])
    weighed = IncumbentClassifier(base(), incumbent).fit(*both, sample_weight=weights)
    assert weighed.history_[-1]["alarm"] is None
    piped = IncumbentClassifier(make_pipeline(StandardScaler(), base()), incumbent)
    piped.fit(*both, logisticregression__sample_weight=weights)
    assert piped.history_[-1]["alarm"] is None
    assert IncumbentClassifier(base(), incumbent).fit(*both).history_[-1]["alarm"] is not None


# -- rare classes ----------------------------------------------------------------------------------
def rare(seed, n=4000, *, shift=0.0, turned=False):
    """Draw a sample with about 6 % positives."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    slope = np.array([-1.2, 0.8, 0.5, 0.0, 0.0] if turned else [1.2, -0.8, 0.5, 0.0, 0.0])
    chance = 1.0 / (1.0 + np.exp(3.6 - shift - X @ slope))
    return X, (rng.random(n) < chance).astype(int)


def run_rare(worlds):
    model = None
    for X, y in worlds:
        model = IncumbentClassifier(base(), model, threshold=0.1).fit(X, y)
    return model


def mean_cost(labels, predicted):
    return np.where(labels == 1, 1.8 * (predicted == 0), 0.2 * (predicted == 1)).mean()


def test_a_low_threshold_is_no_reason_to_forget():
    """By plain accuracy every new positive prediction is a loss, and nothing is remembered."""
    for seed in range(4):
        model = run_rare([rare(10 * seed + month) for month in range(4)])
        assert [entry.get("alarm") for entry in model.history_] == [None] * 4


@pytest.mark.parametrize("change", [{"shift": 1.5}, {"turned": True}])
def test_a_change_is_seen_at_a_low_threshold(change):
    worlds = [rare(month) for month in range(3)]
    model = run_rare([*worlds, rare(3, **change)])
    assert model.history_[-1]["alarm"] is not None
    X, y = rare(99, 40_000, **change)
    plain = mean_cost(y, model.estimator_.predict(X))
    assert mean_cost(y, model.predict(X)) <= plain + 0.005
    fixed = IncumbentClassifier(base(), run_rare(worlds), threshold=0.1, memory=0.7)
    assert mean_cost(y, fixed.fit(*rare(3, **change)).predict(X)) > plain + 0.01


def test_where_an_estimator_keeps_its_threshold_errors_cost_as_much():
    X, y = rare(0)
    scores = ScoreReplicableClassifier(GaussianNB(), shared_key="k", threshold=0.1)
    blocks = PointwiseReplicableClassifier(GaussianNB(), n_blocks=6, shared_key="k", threshold=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [IncumbentClassifier(one).fit(X, y) for one in (scores, blocks, GaussianNB())]
    found = [model._options(None).costs.tolist() for model in models]
    assert found[0] == pytest.approx([0.2, 1.8])
    assert found[1] == pytest.approx([0.2, 1.8])
    assert found[2] == [1.0, 1.0]
