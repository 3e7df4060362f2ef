"""Audit of a quantity: predictions that differ by the tolerance or more have changed."""

import json
import re

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from replearn.auditing.audits import audit
from replearn.learners.regressor import PointwiseReplicableRegressor

TREE = DecisionTreeRegressor(max_depth=5)
SIZES = {"n_pairs": 3, "test_size": 200, "train_size": 800, "subgroups": None}
SMALL = {**SIZES}


def _table(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, np.clip(10 * X[:, 0] + rng.normal(0, 2, n), 0, 10)


class Jump(LinearRegression):
    """Predict 0 or 4, whichever side of 1/2 the first row lies on."""

    def fit(self, X, y):
        self.value_ = 4.0 * (X[0, 1] > 0.5)
        return self

    def predict(self, X):
        return np.full(len(X), self.value_)


def test_changes_and_spread_of_a_regressor_that_jumps():
    found = audit({"jump": Jump()}, *_table(), tolerance=4.0, n_pairs=12)
    jump = found["jump"]
    assert set(np.unique(jump.flips)) == {0.0, 1.0}
    np.testing.assert_array_equal(jump.predictions.moved, 4.0 * jump.flips)
    spread = found.table.get("change of the value")
    assert spread.value == pytest.approx(4.0 * found.flip_rate("jump").value)
    # a jump of four is below this tolerance: nothing changes, the spread stays
    coarse = audit({"jump": Jump()}, *_table(), tolerance=4.1, n_pairs=12)
    assert coarse.flip_rate("jump").value == 0.0
    assert coarse.table.get("change of the value").value == spread.value
    assert coarse.judgement["jump"].outcome == "predicts a single class"
    assert "find a better model" in str(coarse)


@pytest.fixture(scope="module")
def found():
    return audit(TREE, *_table(), tolerance=3.0, y_range=(0, 10), **SIZES)


def test_a_tree_and_the_other_contenders(found):
    assert [c.name for c in found.contenders] == [
        "baseline",
        "bagging (5 models)",
        "incumbent",
        "replicable",
    ]
    assert found.flip_rate("incumbent").value < found.flip_rate("baseline").value
    ours = found["replicable"]
    # the chance that a shared grid separates two means is their distance over its spacing
    np.testing.assert_allclose(ours.flips, np.minimum(1.0, ours.predictions.moved / 3.0))
    assert ours.promises
    base = found["baseline"].predictions
    np.testing.assert_array_equal(base.flips, base.moved >= 3.0)
    squared = (base.reported - base.truth) ** 2
    r2 = 1 - squared.mean() / base.truth.var()
    assert found.table.get("R²").value == pytest.approx(r2)
    assert found.table.get("RMSE").value == pytest.approx(np.sqrt(squared.mean()))


def test_findings_of_a_quantity_name_the_tolerance(found):
    texts = [text for finding in found.findings for text in finding.explanations]
    counted = [text for text in texts if "% of the predictions" in text]
    assert counted
    for text in counted:
        assert re.search(r"% of the predictions( change)? by 3 or more", text), text


def test_a_coarse_tolerance_counts_steps_of_a_fine_grid():
    fine = PointwiseReplicableRegressor(TREE, resolution=1.0, n_blocks=8, shared_key="k")
    one = audit({"fine": fine}, *_table(), tolerance=1.0, **SMALL)["fine"]
    two = audit({"fine": fine}, *_table(), tolerance=2.0, **SMALL)["fine"]
    np.testing.assert_allclose(one.flips, np.clip(one.predictions.moved, 0, 1))
    np.testing.assert_allclose(two.flips, np.clip(two.predictions.moved - 1, 0, 1))
    # over many offsets of the grid, rounded values are that often at least two steps apart
    rng = np.random.default_rng(0)
    offsets = rng.random((4000, 1))
    means = two.predictions.values[0][:, np.argsort(-two.predictions.moved[0])[:20]]
    cells = np.floor(means[:, np.newaxis] - offsets)
    simulated = (np.abs(cells[0] - cells[1]) >= 2).mean(axis=0)
    expected = np.clip(np.abs(means[0] - means[1]) - 1, 0, 1)
    np.testing.assert_allclose(simulated, expected, atol=0.04)


def test_a_replicable_regressor_brings_its_tolerance():
    model = PointwiseReplicableRegressor(TREE, resolution=3.0, y_range=(0, 10), n_blocks=16)
    found = audit(model, *_table(), **SMALL)
    assert found.tolerance == 3.0
    assert [c.name for c in found.contenders][-1] == "replicable"
    assert found["replicable"].flips.shape == (3, 200)


def test_jobs_groups_and_a_folder(tmp_path):
    X, y = _table(900)
    options = {"tolerance": 2.0, "n_pairs": 2, "contenders": ["baseline"], "subgroups": None}
    groups = np.arange(900) // 3
    first = audit(TREE, X, y, groups=groups, resume=tmp_path, **options)
    again = audit(TREE, X, y, groups=groups, resume=tmp_path, n_jobs=2, **options)
    assert first.to_json(timings=False) == again.to_json(timings=False)
    with pytest.raises(ValueError, match="not the same data"):
        audit(TREE, X, y + 0.25, groups=groups, resume=tmp_path, **options)


def test_reports(found, tmp_path):
    for name in ("r.html", "r.json", "r.md"):
        found.save(tmp_path / name)
    stored = json.loads((tmp_path / "r.json").read_text())
    assert stored["measured"][0]["value"] == found.flip_rate("baseline").value
    assert stored["leading"] == "R²"
    assert stored["tolerance"] == 3.0
    assert "predictions change by 3 or more when the model is retrained" in " ".join(
        str(found).split()
    )
    assert "RMSE" in (tmp_path / "r.html").read_text()
    assert "| replicable" in (tmp_path / "r.md").read_text()
    assert set(found.frame()["contender"]) == {c.name for c in found.contenders}
    assert "balanced accuracy" not in found.to_text(details=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "tolerance=None"),
        ({"tolerance": -1.0}, "tolerance=-1"),
        ({"tolerance": 1.0, "contenders": ["score"]}, "contenders="),
        ({"tolerance": 1.0, "n_pairs": 1}, "n_pairs"),
    ],
)
def test_errors_name_the_parameter(settings, message):
    with pytest.raises(ValueError, match=message):
        audit(TREE, *_table(200), **settings)
