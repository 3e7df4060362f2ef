"""A sketch of training rows tells whether rows were used, and nothing of rows that nobody has."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from replearn import IncumbentClassifier, IncumbentRegressor, load, save
from replearn.exceptions import RetrainingWarning
from replearn.learners.row_sketch import (
    SKETCH_SIZE,
    rows_in_sketch,
    sketch_rows,
    warn_if_trained_on,
)

RNG = np.random.default_rng(0)


def sample(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.logistic(size=n) > 0).astype(int)


@pytest.mark.parametrize("n_rows", [100, 5000])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.0])
def test_the_share_of_known_rows_is_found(n_rows, share):
    X, fresh = RNG.normal(size=(2, n_rows, 3))
    n_known = int(share * n_rows)
    sketch = sketch_rows(X)
    assert len(sketch.hashes) <= SKETCH_SIZE
    mixed = np.concatenate([X[:n_known], fresh[n_known:]])
    found = sketch.share_of(RNG.permutation(mixed))
    assert found == pytest.approx(share, abs=0.15 if n_rows > SKETCH_SIZE else 1e-12)


@pytest.mark.parametrize("n_values", [3, 10, 30, 100])
def test_fresh_rows_of_few_categories_are_not_taken_for_known_ones(n_values):
    """Rows that occur once in both samples are at most 1/e of those that occur once in one."""
    for _ in range(20):
        X, fresh = RNG.integers(0, n_values, size=(2, 2000, 2))
        found = sketch_rows(X).share_of(fresh)
        assert found is None or found < 0.5


def test_two_sketches_have_no_hash_in_common():
    X, _ = sample()
    one, two = sketch_rows(X), sketch_rows(X[:-1])
    assert not np.isin(one.hashes, two.hashes).any()
    np.testing.assert_array_equal(sketch_rows(X).hashes, one.hashes)  # as fit is repeatable


def test_too_few_rows_tell_nothing():
    X, _ = sample()
    assert sketch_rows(X).share_of(X[:50]) is None
    assert sketch_rows(X).share_of(X[:600]) == 1.0


@pytest.mark.parametrize("kind", [IncumbentClassifier, IncumbentRegressor])
def test_retraining_on_the_same_rows_does_not_decide_memory(kind):
    X, y = sample()
    model = kind().fit(X, y)
    with pytest.warns(RetrainingWarning, match=r"memory is 0\.5, not tested: most of the rows"):
        again = kind(incumbent=model).fit(X, y)
    assert again.history_[-1]["untested"] == "same_rows"
    assert "tested" not in again.history_[-1]
    fresh = sample(seed=1)
    new = kind(incumbent=model).fit(*fresh)
    assert (new.history_[-1]["untested"], new.history_[-1]["tested"]) == (None, 3000)
    window = np.concatenate([X, fresh[0]]), np.concatenate([y, fresh[1]])
    is_new = np.arange(6000) >= 3000
    marked = kind(incumbent=model).fit(*window, new_rows=is_new)
    assert marked.history_[-1]["tested"] == 3000


def test_files_hold_the_sketch_unless_it_is_left_out(tmp_path):
    X, y = sample()
    model = IncumbentClassifier().fit(X, y)
    path = tmp_path / "m.replearn"
    save(model, path)
    assert rows_in_sketch(load(path), X) == 1.0
    assert rows_in_sketch(load(path), sample(seed=1)[0]) == 0.0
    save(model, path, sketch=False)
    assert rows_in_sketch(load(path), X) is None
    np.testing.assert_array_equal(load(path).predict(X), model.predict(X))
    assert rows_in_sketch(LogisticRegression().fit(X, y), X) is None


def test_tables_with_texts_have_a_sketch():
    pandas = pytest.importorskip("pandas")
    X, _ = sample(1000)
    frame = pandas.DataFrame({"age": X[:, 0], "town": np.where(X[:, 1] > 0, "Rome", "Oslo")})
    sketch = sketch_rows(frame)
    assert sketch.share_of(frame.iloc[::-1]) == 1.0
    assert sketch.share_of(frame.assign(town="Bonn")) == 0.0
    twice = pandas.DataFrame(X, columns=["a", "a", "b"])
    assert sketch_rows(twice) is None


def test_rows_that_a_model_was_trained_on_are_named():
    X, y = sample()
    model = IncumbentClassifier().fit(X, y)
    with pytest.warns(RetrainingWarning, match="100 % of the rows .* of the old model"):
        warn_if_trained_on("old", model, X)
    warn_if_trained_on("old", model, sample(seed=1)[0])
    warn_if_trained_on("new", LogisticRegression().fit(X, y), X)
