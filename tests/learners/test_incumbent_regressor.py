import pickle

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from replearn import (
    IncumbentClassifier,
    IncumbentRegressor,
    PointwiseReplicableRegressor,
    load,
    save,
)
from replearn.exceptions import RetrainingWarning
from replearn.learners.chain import MAX_RETRAININGS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4000, 3))
Y = 2 * X[:, 0] + RNG.normal(size=4000)
NEW = RNG.normal(size=(500, 3))


@parametrize_with_checks([IncumbentRegressor()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def fitted(part, incumbent=None, estimator=None, rows=200, **params):
    taken = slice(rows * part, rows * (part + 1))
    return IncumbentRegressor(estimator, incumbent, **params).fit(X[taken], Y[taken])


def test_the_old_number_stays_within_the_band():
    old = fitted(0)
    new = fitted(1, old, memory=0.4, band=0.05)
    mean = 0.4 * old.predict(NEW) + 0.6 * new.estimator_.predict(NEW)
    near = np.abs(mean - old.predict(NEW)) <= 0.05
    assert 0 < near.mean() < 1
    np.testing.assert_array_equal(new.predict(NEW)[near], old.predict(NEW)[near])
    np.testing.assert_allclose(new.predict(NEW)[~near], mean[~near], atol=1e-12)
    assert np.abs(new.predict(NEW) - mean).max() <= 0.05 + 1e-12


def test_without_a_band_it_is_the_running_mean():
    old = fitted(0)
    new = fitted(1, old, memory=0.5)
    every = [one.estimator_.predict(NEW) for one in (old, new)]
    np.testing.assert_allclose(new.predict(NEW), np.mean(every, axis=0), atol=1e-12)


def test_fewer_changes_and_less_error_than_plain_retraining():
    tree = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    model = None
    changes = []
    errors = []
    plain_errors = []
    for part in range(12):
        before = None if model is None else model.predict(NEW)
        model = fitted(part, model, tree, rows=300, memory=0.5, band=1.0)
        truth = 2 * NEW[:, 0]
        errors.append(np.mean((model.predict(NEW) - truth) ** 2))
        plain_errors.append(np.mean((model.estimator_.predict(NEW) - truth) ** 2))
        if before is not None:
            changes.append((model.predict(NEW) != before).mean())
    assert np.mean(changes) < 0.3
    assert np.mean(errors[3:]) < np.mean(plain_errors[3:])


def test_chains_are_bounded():
    model = None
    for part in range(40):
        model = fitted(part % 15, model, band=0.1, memory=0.5)
    assert len(model.chain_) == 1 + MAX_RETRAININGS
    assert len(model.history_) == 40
    again = pickle.loads(pickle.dumps(model))
    assert again.incumbent is None
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


def test_a_plain_regressor_may_be_the_start_and_files_keep_the_chain(tmp_path):
    old = LinearRegression().fit(X[:100], Y[:100])
    new = fitted(1, old, Ridge(), band=0.2)
    save(new, tmp_path / "m.replearn")
    again = load(tmp_path / "m.replearn")
    np.testing.assert_array_equal(again.predict(NEW), new.predict(NEW))
    with pytest.raises(ValueError, match="trained on 3 features"):
        IncumbentRegressor(incumbent=old).fit(X[:, :2], Y)


def test_a_column_of_predictions_is_one_value_per_row():
    column = LinearRegression().fit(X[:200], Y[:200, np.newaxis])
    plain = LinearRegression().fit(X[:200], Y[:200])
    found, expected = (fitted(1, start).predict(NEW) for start in (column, plain))
    np.testing.assert_allclose(found, expected)
    pair = LinearRegression().fit(X[:200], np.column_stack([Y[:200], Y[:200]]))
    with pytest.raises(ValueError, match=r"LinearRegression predicts an array of shape \(200, 2\)"):
        fitted(1, pair)


def test_a_classifier_is_refused():
    with pytest.raises(ValueError, match=r"estimator=GaussianNB\(\) is a classifier: give a reg"):
        fitted(0, estimator=GaussianNB())


def test_a_classifier_in_use_is_refused():
    X = np.arange(40.0).reshape(-1, 1)
    labels = np.arange(40) % 2
    for incumbent in (GaussianNB().fit(X, labels), IncumbentClassifier().fit(X, labels)):
        with pytest.raises(ValueError, match=r"incumbent=.* is a classifier: give a regressor"):
            IncumbentRegressor(incumbent=incumbent).fit(X, X[:, 0])


def test_a_secret_key_stays_out_of_the_file(tmp_path):
    base = PointwiseReplicableRegressor(
        resolution=16.0, y_range=(-8.0, 8.0), n_blocks=10, rho=0.9, shared_key="secret"
    )
    model = fitted(0, estimator=base)
    save(model, tmp_path / "m.replearn")
    assert b"secret" not in (tmp_path / "m.replearn").read_bytes()
    with pytest.raises(ValueError, match="requires its shared key"):
        load(tmp_path / "m.replearn")
    again = load(tmp_path / "m.replearn", shared_key="secret")
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


def test_memory_is_kept_without_a_change_and_lost_with_one():
    model = None
    for part in range(6):
        model = fitted(part, model, rows=400)
    assert [entry.get("alarm") for entry in model.history_] == [None] * 6
    assert {entry["memory"] for entry in model.history_[1:]} == {0.7}
    rows = slice(3000, 4000)
    with pytest.warns(RetrainingWarning, match="alarm: nothing is remembered.*squared error"):
        turned = IncumbentRegressor(incumbent=model).fit(X[rows], -Y[rows])
    np.testing.assert_array_equal(turned.predict(NEW), turned.estimator_.predict(NEW))
    with pytest.warns(RetrainingWarning, match="alarm: nothing is remembered"):
        moved = IncumbentRegressor(incumbent=model).fit(X[rows], Y[rows] + 0.4)
    entry = moved.history_[-1]
    assert entry["observed"] - entry["in_use"] > 0.3
    assert entry["served"] == pytest.approx(entry["observed"], abs=0.01)


def test_groups_of_numbers_stay_together():
    """Ten rows of each patient with one number: a tree that knows the patient knows it."""
    rng = np.random.default_rng(0)

    def patients():
        points = np.repeat(rng.normal(size=(200, 4)), 10, axis=0)
        return points, np.repeat(points[::10, 0] + rng.normal(size=200), 10)

    tree = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    old = IncumbentRegressor(tree).fit(*patients())
    points, numbers = patients()
    with pytest.warns(RetrainingWarning):  # as if the old model had become useless
        IncumbentRegressor(tree, old).fit(points, numbers)
    groups = np.repeat(np.arange(200), 10)
    together = IncumbentRegressor(tree, old).fit(points, numbers, groups=groups)
    assert together.history_[-1]["alarm"] is None
