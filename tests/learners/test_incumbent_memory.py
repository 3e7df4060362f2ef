"""memory="auto": long where nothing changes, none after a change."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn import (
    IncumbentClassifier,
    PointwiseReplicableClassifier,
    ScoreReplicableClassifier,
)
from replearn.exceptions import NotCertifiedWarning, RetrainingWarning
from replearn.learners.chain import (
    LEVEL,
    RARE_LEVEL,
    WINDOW_LEVEL,
    NewRows,
    chance_of_decisions,
    folds_of,
    new_rows_are_worse,
    ranked_columns,
    why_off,
)
from tests.factories import limit, voting

pytestmark = pytest.mark.filterwarnings("ignore::replearn.exceptions.RetrainingWarning")
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
    assert set(memories) == {0.7}
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
        assert model.history_[-1]["memory"] == 0
        assert len(model.chain_) == 1


def test_a_share_of_changes_holds_after_a_change():
    """Nothing is worth remembering, but the user has said how much may change."""
    incumbent = run([world(0), world(1)])[-1]
    X, y = world(2, turned=0.9)
    model = IncumbentClassifier(base(), incumbent, max_changes=0.05).fit(X, y)
    entry = model.history_[-1]
    assert entry["alarm"] == "decisions"
    assert entry["memory"] == 0.0
    assert entry["changed"] <= 0.05
    assert len(model.chain_) == 3
    free = IncumbentClassifier(base(), incumbent, max_changes=1.0).fit(X, y)
    assert len(free.chain_) == 1


def test_a_slow_change_is_followed():
    shares = np.linspace(0, 0.45, 10)
    models = run([world(step, turned=share) for step, share in enumerate(shares)], memory="auto")
    for step in (5, 9):
        X, y = world(60 + step, 20_000, turned=shares[step])
        plain = (models[step].estimator_.predict(X) == y).mean()
        assert (models[step].predict(X) == y).mean() >= plain - 0.01


# -- three drifts that decisions do not show -------------------------------------------------------
def credit(seed, change=None, n=3000):
    """Draw loans: 20 % are bad; a segment, the share of bad ones or all labels may change."""
    rng = np.random.default_rng(seed)
    n_drawn = 6 * n
    X = rng.normal(size=(n_drawn, 6))
    X[:, 5] = rng.integers(0, 4, n_drawn)  # a region
    score = X[:, 0] - 0.8 * X[:, 1] + 0.5 * X[:, 2] * X[:, 3] + 0.5 * (X[:, 5] == 2) - 2.1
    y = (score + rng.logistic(size=n_drawn) > 0).astype(int)
    segment = (X[:, 4] > 0.8) & (X[:, 5] > 0)
    if change == "segment":
        y = np.where(segment & (rng.random(n_drawn) < 0.3), 1, y)
    if change == "inverted":
        y = 1 - y
    odds = 2.5 if change == "rate" else 1.0
    kept = rng.random(n_drawn) < np.where(y == 1, 1.0, 1.0 / odds)
    return X[kept][:n], y[kept][:n], segment[kept][:n]


@pytest.fixture(scope="module")
def in_use():
    """Return the model in use after six months without a change."""
    models = {}
    for threshold in (0.5, 0.1):
        model = None
        for month in range(6):
            forest = RandomForestClassifier(60, min_samples_leaf=10, random_state=month)
            model = IncumbentClassifier(forest, model, threshold=threshold)
            model.fit(*credit(month)[:2])
        assert [entry.get("alarm") for entry in model.history_] == [None] * 6
        models[threshold] = model
    return models


@pytest.mark.parametrize("threshold", [0.5, 0.1])
@pytest.mark.parametrize("change", ["segment", "rate", "inverted"])
def test_probabilities_are_right_in_the_month_of_a_change(in_use, change, threshold):
    forest = RandomForestClassifier(60, min_samples_leaf=10, random_state=9)
    model = IncumbentClassifier(forest, in_use[threshold], threshold=threshold)
    X, y, _ = credit(6, change)
    with pytest.warns(RetrainingWarning, match="alarm: nothing is remembered"):
        model.fit(X, y)
    entry = model.history_[-1]
    X, y, inside = credit(77, change, 20_000)
    where = inside if change == "segment" else slice(None)
    served = model.predict_proba(X)[where, 1].mean()
    plain = model.estimator_.predict_proba(X)[where, 1].mean()
    before = in_use[threshold].predict_proba(X)[where, 1].mean()
    assert served == pytest.approx(plain, rel=0.1)
    assert abs(before - plain) > 0.2 * plain
    if change == "segment":
        assert entry["alarm"] in ("segment", "log_loss")
        assert 0.05 < entry["segment_share"] < 0.4
        assert entry["segment_observed"] - entry["segment_in_use"] > 0.1
        assert abs(entry["segment_served"] - entry["segment_observed"]) < 0.1


# -- false alarms ----------------------------------------------------------------------------------
@pytest.mark.parametrize("threshold", [0.5, 0.1])
def test_few_of_five_hundred_retrainings_are_false_alarms(threshold):
    """At most 2 %: what the levels of the tests add up to where memory is no worse at all."""
    assert pytest.approx(0.02) == 2 * LEVEL + RARE_LEVEL
    alarms = 0
    for chain in range(50):
        model = None
        for month in range(11):
            X, y = world(1000 * chain + month, 300)
            model = IncumbentClassifier(GaussianNB(), model, threshold=threshold).fit(X, y)
        alarms += sum(entry.get("alarm") is not None for entry in model.history_)
    assert alarms <= 10


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(class_weight="balanced"),
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(20, class_weight="balanced", max_depth=4, random_state=0),
    ],
    ids=["balanced", "tree", "forest"],
)
def test_an_estimator_that_is_off_by_itself_is_no_alarm(estimator):
    model = None
    for month in range(12):
        model = IncumbentClassifier(estimator, model).fit(*world(month, positives=-2.0))
    assert sum(entry.get("alarm") is not None for entry in model.history_) <= 1


@pytest.mark.parametrize("threshold", [0.5, 0.1, 0.8])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_decisions_of_equal_cost_are_called_worse_at_the_level(threshold, share):
    """Labels are 1 with the probability of the threshold: both decisions cost the same."""
    rng = np.random.default_rng([3, int(10 * threshold), int(10 * share)])
    n_samples = 4000
    found = 0
    for _ in range(n_samples):
        codes = (rng.random(60) < threshold).astype(int)
        plain = (rng.random(60) < share).astype(int)
        found += chance_of_decisions(plain, 1 - plain, codes, threshold) < LEVEL
    assert found <= limit(n_samples, LEVEL)


@pytest.mark.parametrize("n_segments", [1, 5])
@pytest.mark.parametrize("rare", [False, True])
def test_right_means_are_called_wrong_at_the_level(n_segments, rare):
    """Remembered scores are the probabilities themselves; rare ones in the worst case."""
    rng = np.random.default_rng([4, n_segments, rare])
    n_samples = 3000
    found = 0
    for _ in range(n_samples):
        chance = rng.beta(0.3, 30 if rare else 3, 500)
        y = (rng.random(500) < chance).astype(float)
        segments = np.arange(500) % n_segments
        sums = np.bincount(segments, y) / np.bincount(segments)
        rows = NewRows(sums[segments], y, np.ones(500))  # a new model that is right by chance
        found += why_off(rows, chance, segments, RARE_LEVEL, is_probability=True) is not None
    # normal limits of skewed sums: measured at most three times the level where labels are rare
    assert found <= limit(n_samples, (3 if rare else 1.5) * RARE_LEVEL)


def test_columns_of_any_kind_are_ranked():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [30.0, np.nan, 20.0], "town": ["b", "a", None]})
    assert ranked_columns(frame)[:2].tolist() == [[1.0, 2.0], [2.0, 1.0]]
    assert ranked_columns(["a text", "another text"]) is None


def test_several_classes_are_tested_one_against_the_rest():
    rng = np.random.default_rng(2)

    def flowers(moved):
        X = rng.normal(size=(1500, 3))
        scores = np.column_stack([X[:, 0] + moved * (X[:, 2] > 1), X[:, 1], 0.5 * X[:, 2]])
        y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
        return X, np.array(["iris", "lily", "rose"])[y]

    model = None
    for _ in range(6):
        model = IncumbentClassifier(DecisionTreeClassifier(min_samples_leaf=20), model)
        model.fit(*flowers(0.0))
    assert [entry.get("alarm") for entry in model.history_] == [None] * 6
    assert IncumbentClassifier(base(), model).fit(*flowers(3.0)).history_[-1]["alarm"] is not None


# -- windows ---------------------------------------------------------------------------------------
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
        assert model.history_[-1]["alarm"] == "window"
        assert len(model.chain_) == 1
        X, y, _ = window(300, turned, seed=11)
        later = IncumbentClassifier(base(), model, memory="auto").fit(X, y, new_rows=is_new)
        assert later.history_[-1]["alarm"] == "waiting"
        half = np.arange(len(y)) >= len(y) // 2  # a window of two samples: all is new by now
        X, y, _ = window(300, turned, seed=13)
        passed = IncumbentClassifier(base(), model).fit(X, y, new_rows=half)
        assert passed.history_[-1]["alarm"] != "waiting"
    else:
        assert model.history_[-1]["alarm"] is None
    repeated = IncumbentClassifier(base(), run([world(0), world(1)])[-1], memory="auto")
    repeated.fit(X, y)  # all rows are new: there is nothing to compare them with
    assert repeated.history_[-1]["alarm"] != "window"


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
    assert alarms[:5] == [None, None, "window", "waiting", "waiting"]
    assert alarms[-2:] == [None, None]
    assert not set(alarms[5:]) & {"window", "waiting"}


def test_new_rows_that_fit_are_no_alarm():
    """Rows that no model has seen, an eighth of them new: an alarm in one of a thousand."""
    rng = np.random.default_rng(8)
    is_new = np.arange(800) >= 700
    n_alarms = sum(new_rows_are_worse(rng.random(800) < 0.2, is_new) for _ in range(4000))
    assert n_alarms <= binom.isf(1e-8, 4000, WINDOW_LEVEL)
    worse = np.where(is_new, 0.5, 0.2)
    assert sum(new_rows_are_worse(rng.random(800) < worse, is_new) for _ in range(50)) >= 45


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
    entry = model.history_[-1]
    assert (entry["rows"], entry["tested"]) == (len(y), 500)
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
    newest = chosen.chain_[-1]
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
@pytest.mark.parametrize("n_groups", [4, 5, 100])
def test_groups_stay_together_when_rows_are_left_out(n_groups):
    X, y = world(0, 400)
    groups = np.arange(400) % n_groups
    folds = folds_of(y, groups, is_stratified=True)
    assert (folds is None) == (n_groups < 5)
    for train, test in folds or ():
        assert not set(groups[train]) & set(groups[test])
    if n_groups == 100:
        old = IncumbentClassifier(votes(rho=0.9)).fit(X, y, groups=groups)
        new = IncumbentClassifier(votes(rho=0.9), old).fit(*world(1, 400), groups=groups)
        assert new.history_[-1]["tested"] == 400


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


def test_a_sample_that_is_too_small_is_not_tested():
    X, y = world(0, 300)
    old = IncumbentClassifier(base()).fit(X, y)
    X, y = world(1, 300)
    rare = (np.arange(300) % 75 == 0).astype(int)  # four rows
    is_new = np.arange(300) >= 250
    for labels, params in ((y, {"new_rows": is_new}), (rare, {}), (y, {"groups": is_new})):
        with pytest.warns(RetrainingWarning, match=r"memory is 0\.5, not tested: .* 100 new rows"):
            new = IncumbentClassifier(base(), old).fit(X, labels, **params)
        assert new.history_[-1]["untested"] == "few_rows"
        assert new.chain_[-1].memory == 0.5
    fixed = IncumbentClassifier(base(), old, memory=0.4).fit(X[:50], y[:50])
    assert fixed.history_[-1]["untested"] is None
    inner = CalibratedClassifierCV(GaussianNB(), cv=6)
    rare = (np.arange(300) % 50 == 0).astype(int)
    with pytest.raises(ValueError, match=r"CalibratedClassifierCV cannot be fitted on four fifths"):
        IncumbentClassifier(inner, old).fit(X, rare)


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
    plain = mean_cost(y, model.estimator_.predict_proba(X)[:, 1] >= 0.1)
    assert mean_cost(y, model.predict(X)) <= plain + 0.005
    fixed = IncumbentClassifier(base(), run_rare(worlds), threshold=0.1, memory=0.7)
    assert mean_cost(y, fixed.fit(*rare(3, **change)).predict(X)) > plain + 0.01


def test_where_an_estimator_keeps_its_threshold_errors_cost_as_much():
    X, y = rare(0)
    scores = ScoreReplicableClassifier(GaussianNB(), shared_key="k", threshold=0.1)
    blocks = PointwiseReplicableClassifier(GaussianNB(), n_blocks=6, shared_key="k", threshold=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [IncumbentClassifier(one).fit(X, y) for one in (scores, blocks)]
    assert [model._equal_costs("margin", 0.0) for model in models] == pytest.approx([0.1, 0.1])
