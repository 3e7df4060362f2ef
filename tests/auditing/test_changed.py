"""One definition of a change: audits, comparisons and gates count the same predictions."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from replearn import PointwiseReplicableRegressor, audit, compare
from replearn.auditing.gate import gates
from replearn.auditing.metrics import has_changed

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(8000, 3))
QUANTITY = ROWS @ [1.0, 0.5, -0.2] + RNG.normal(size=8000)


def rounded(**params):
    model = LinearRegression()
    return PointwiseReplicableRegressor(model, resolution=0.1, shared_key="k", verbose=-1, **params)


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
def test_two_rounded_predictions_that_differ_have_changed():
    models = [
        rounded(y_range=(-6, 6)).fit(ROWS[s], QUANTITY[s]) for s in (np.s_[:1500], np.s_[1500:3000])
    ]
    old, new = (model.predict(ROWS[3000:]) for model in models)
    differ = float((old != new).mean())
    short = float((np.abs(old - new) >= 0.1).mean())
    assert short < differ - 0.1, "some neighbours on the grid are nearer than 0.1 in floating point"
    found = compare(*models, ROWS[3000:], tolerance=0.1)
    assert found.flips.value == differ
    (gate,) = gates(found, {"flips": (short + differ) / 2})
    assert not gate.passed


def test_an_audit_and_a_comparison_count_the_same():
    result = audit(
        {"rounded": rounded(y_range=(-6, 6))}, ROWS[:2000], QUANTITY[:2000], n_pairs=2, verbose=-1
    )
    found = result["rounded"].predictions
    for pair in range(2):
        old, new = found.reported[pair]
        changed = has_changed(old, new, result.tolerance)
        assert compare(old, new, tolerance=0.1).flips.value == changed.mean()


@pytest.mark.parametrize(
    ("old", "new", "tolerance", "changed"),
    [
        (0.2, 0.3, 0.1, True),  # 0.3 - 0.2 is 0.09999999999999998
        (0.2, 0.2999, 0.1, False),
        (1, 1, None, False),
        ("a", "b", None, True),
        (np.nan, np.nan, None, False),
        (np.nan, 1.0, None, True),
    ],
)
def test_what_has_changed(old, new, tolerance, changed):
    assert has_changed(np.array([old]), np.array([new]), tolerance).tolist() == [changed]
