"""Settings of a grid, and limits that hold for the one that is chosen."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from replearn.auditing.audits import audit
from replearn.auditing.contenders import Setting, make_contenders
from replearn.auditing.limits import mean_limits

X, Y = make_classification(1200, flip_y=0.2, random_state=0)
TREE = DecisionTreeClassifier(max_depth=8, random_state=0)
OPTIONS = {"n_pairs": 3, "n_jobs": 1, "verbose": -1}
SETTING = Setting(rho=0.1, shared_key="k", n=500)


def test_every_setting_is_a_contender():
    result = audit(TREE, X, Y, param_grid={"max_depth": [1, 2]}, **OPTIONS)
    assert [c.name for c in result.contenders] == ["baseline", "max_depth=1", "max_depth=2"]
    assert sum(c.is_setting for c in result.contenders) == 2
    alone = audit({"stump": TREE.set_params(max_depth=1)}, X, Y, **OPTIONS)
    TREE.set_params(max_depth=8)
    np.testing.assert_array_equal(result["max_depth=1"].flips, alone["stump"].flips)
    assert "hold for all of them at once" in " ".join(result.to_text(details=True).split())
    together = audit(
        TREE, X, Y, param_grid={"max_depth": [1]}, contenders=["baseline", "bagging"], **OPTIONS
    )
    assert [c.name for c in together.contenders][2:] == ["max_depth=1"]


def test_other_contenders_are_not_missed():
    found = audit(LinearSVC(), X, Y, param_grid={"C": [0.1]}, **OPTIONS)
    assert found.cut_short == ()


def test_limits_of_settings_hold_at_once():
    result = audit(TREE, X, Y, param_grid={"max_depth": [1, 2, 3, 4]}, **OPTIONS)
    for name, delta in (("max_depth=1", 0.05 / 4), ("baseline", 0.05)):
        found = result.flip_rate(name)
        expected = mean_limits(result[name].flips, delta)
        assert (found.lower, found.upper) == (expected.lower, expected.upper)
    alone = audit({"stump": DecisionTreeClassifier(max_depth=1, random_state=0)}, X, Y, **OPTIONS)
    wide, usual = result.table.get("accuracy", "max_depth=1"), alone.table.get("accuracy")
    assert wide.upper - wide.lower > 1.2 * (usual.upper - usual.lower)


def test_the_best_of_many_equal_settings_is_covered():
    """Ten settings that all change 10 %: limits of the one with the fewest changes hold.

    With limits for each alone it would be missed far more often than once in twenty.
    """
    rng = np.random.default_rng(0)
    trials = 400
    missed = {1: 0, 10: 0}
    for _ in range(trials):
        flips = np.repeat(rng.uniform(0, 0.2, (10, 20, 1)), 50, axis=2)  # pairs differ most
        best = flips[flips.mean(axis=(1, 2)).argmin()]
        for n_settings in missed:
            missed[n_settings] += mean_limits(best, 0.05 / n_settings).upper < 0.1
    assert stats.binom.sf(missed[10] - 1, trials, 0.05) > 1e-8
    assert stats.binom.sf(missed[1] - 1, trials, 0.05) < 1e-8


def test_the_last_part_of_a_name_is_enough():
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    [_, shallow] = make_contenders(pipeline, SETTING, None, {"max_depth": [3]})
    assert shallow.estimator.steps[1][1].max_depth == 3
    with pytest.raises(ValueError, match="'depth' of Pipeline is not one of its parameters"):
        make_contenders(pipeline, SETTING, None, {"depth": [3]})
    two = make_pipeline(StandardScaler(), StandardScaler(), GaussianNB())
    with pytest.raises(ValueError, match="'with_mean' of Pipeline could be"):
        make_contenders(two, SETTING, None, {"with_mean": [True]})
    with pytest.raises(ValueError, match="dict of contenders"):
        make_contenders({"a": TREE}, SETTING, None, {"max_depth": [3]})
