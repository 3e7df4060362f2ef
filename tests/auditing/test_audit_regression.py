"""Audit of regression: flips are other rounded values, the spread is in units of y."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from replearn.auditing import audit_regression
from replearn.learners import PointwiseReplicableRegressor

TREE = DecisionTreeRegressor(max_depth=5)
SMALL = {"n_pairs": 3, "test_size": 200, "train_size": 800}


def _table(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, np.clip(10 * X[:, 0] + rng.normal(0, 2, n), 0, 10)


class Jump(LinearRegression):
    """Predictions 0 or 4, whichever side of 1/2 the first row lies on."""

    def fit(self, X, y):
        self.value_ = 4.0 * (X[0, 1] > 0.5)
        return self

    def predict(self, X):
        return np.full(len(X), self.value_)


def test_flips_and_spread_of_a_regressor_that_jumps():
    found = audit_regression({"jump": Jump()}, *_table(), resolution=1.0, n_pairs=12)
    flips = found["jump"].flips
    assert set(np.unique(flips)) == {0.0, 1.0}
    np.testing.assert_array_equal(found["jump"].apart, 4.0 * flips)
    assert found.spread("jump").value == pytest.approx(4.0 * found.flip_rate("jump").value)
    # on a grid of 9 both values round to the same number: nothing flips, the spread stays
    coarse = audit_regression({"jump": Jump()}, *_table(), resolution=9.0, n_pairs=12)
    assert coarse.flip_rate("jump").value == 0.0
    assert coarse.spread("jump").value == found.spread("jump").value


def test_a_tree_beside_its_replicable_version():
    found = audit_regression(TREE, *_table(), resolution=3.0, y_range=(0, 10), **SMALL)
    single, ours = found.regressors
    assert (single.name, ours.name) == ("single fit", "replicable")
    assert found.headline.startswith("Fewer flips: replicable")
    # the chance that a shared grid separates two means is their distance over its spacing
    np.testing.assert_allclose(ours.flips, np.minimum(1.0, ours.apart / 3.0))
    assert ours.certified is not None
    assert ours.estimated == pytest.approx(ours.flips.mean(), rel=0.6)
    assert single.certified is None
    assert found.flip_rate("replicable").upper < found.flip_rate("single fit").lower


MODEL = PointwiseReplicableRegressor(TREE, resolution=3.0, y_range=(0, 10), n_blocks=16)


def test_a_replicable_regressor_brings_its_grid():
    found = audit_regression(MODEL, *_table(), **SMALL)
    assert found.resolution == 3.0
    assert [one.name for one in found.regressors] == ["single fit", "replicable"]
    assert found["replicable"].flips.shape == (3, 200)


@pytest.mark.long
def test_jobs_do_not_matter():
    found, again = (audit_regression(MODEL, *_table(), n_jobs=jobs, **SMALL) for jobs in (1, 2))
    np.testing.assert_array_equal(found["replicable"].flips, again["replicable"].flips)
    np.testing.assert_array_equal(found["single fit"].flips, again["single fit"].flips)


def test_reports(tmp_path):
    found = audit_regression(TREE, *_table(), resolution=3.0, **SMALL)
    for name in ("r.html", "r.json", "r.md"):
        found.save(tmp_path / name)
    stored = json.loads((tmp_path / "r.json").read_text())
    assert [one["name"] for one in stored["regressors"]] == ["single fit", "replicable"]
    assert stored["regressors"][0]["flips"]["estimate"] == found.flip_rate("single fit").value
    assert found.headline in (tmp_path / "r.html").read_text()
    assert "| replicable |" in (tmp_path / "r.md").read_text()
    assert list(found.frame()["name"]) == ["single fit", "replicable"]
    assert "spread" in str(found)
    with pytest.raises(ValueError, match="must end in"):
        found.save(tmp_path / "r.pdf")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "resolution=None"),
        ({"resolution": -1.0}, "resolution"),
        ({"resolution": 1.0, "sample": "some"}, "sample="),
        ({"resolution": 1.0, "n_pairs": 1}, "n_pairs"),
    ],
)
def test_errors_name_the_parameter(settings, message):
    with pytest.raises(ValueError, match=message):
        audit_regression(TREE, *_table(200), **settings)
