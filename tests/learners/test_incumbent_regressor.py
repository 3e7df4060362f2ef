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
from replearn.learners.incumbent_chain import MAX_RETRAININGS

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
    models = [fitted(0, memory="all")]
    for part in (1, 2):
        models.append(fitted(part, models[-1], memory="all"))
    every = [one.estimator_.predict(NEW) for one in models]
    np.testing.assert_allclose(models[-1].predict(NEW), np.mean(every, axis=0), atol=1e-12)


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


def test_chains_are_bounded_and_counted():
    model = None
    for part in range(40):
        model = fitted(part % 15, model, band=0.1)
    assert len(model.chain_.recent) == MAX_RETRAININGS
    assert model.n_retrainings_ == 39
    assert model.history_[-1]["dropped_changes"] >= 0
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
