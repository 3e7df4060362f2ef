"""The exponents that the theory predicts: in the stored results, and measured again."""

from pathlib import Path

import pytest

from replearn.guarantees.planner import plan
from replearn_lab import all_experiments
from replearn_lab.experiments.promise import _vote
from replearn_lab.gallery import stored_results

RESULTS = Path(__file__).parents[2] / "docs" / "lab" / "results"
STORED = {result.experiment.name: result.numbers for result in stored_results(RESULTS)}
SCALING = {
    "scaling-rho": ("lines", "uniform law, measured", -2.15, -1.85),
    "scaling-dimension": ("lines", "votes, measured", 0.85, 1.15),
    "scaling-thresholds": ("alpha", "measured / (alpha t)^2", -2.15, -1.85),
    "scaling-semi": ("lines", "labelled rows, measured", 1.0, 2.0),
    "scaling-heavy": ("lines", "pointwise, measured", -1.15, -0.85),
    "scaling-approximate": ("gamma", "certified (Jensen)", -2.15, -1.85),
    "scaling-realizable": ("gamma", "certified, d = 1", -1.15, -0.85),
    "conjunctions": ("lines", "public rows, measured", 0.85, 1.15),
}
BESIDE = {
    "scaling-thresholds": ("rho", "measured", -2.15, -1.85),
    "scaling-heavy": ("lines", "whole set, measured", -3.2, -2.8),
}
# Bisection on whole fits: the limits that the counts allow must reach what theory says.
FITTED = [
    ("scaling-rho", "lines", "uniform law, fitted learners", -2.0),
    ("scaling-dimension", "lines", "fitted learners", 1.0),
    ("scaling-approximate", "gamma", "fitted learners", -2.0),
    ("scaling-realizable", "rho", "fitted learners", -2.0),
    ("scaling-thresholds", "rho", "fitted learners", -2.0),
    ("scaling-thresholds", "alpha", "fitted learners", -2.3),
    ("scaling-heavy", "lines", "pointwise, fitted", -1.0),
    ("scaling-heavy", "lines", "whole set, fitted, nu <= 0.1", -3.0),
]
CASES = [*SCALING.items(), *BESIDE.items()]


def slope_of(numbers, group, name):
    return next(line["exponent"][0] for line in numbers[group] if line["name"] == name)


@pytest.mark.parametrize(("experiment", "case"), CASES)
def test_stored_exponents(experiment, case):
    group, name, low, high = case
    assert low <= slope_of(STORED[experiment], group, name) <= high


@pytest.mark.parametrize(("experiment", "group", "name", "expected"), FITTED)
def test_stored_exponents_of_fitted_learners(experiment, group, name, expected):
    line = next(line for line in STORED[experiment][group] if line["name"] == name)
    _, low, high = line["exponent"]
    assert low <= expected <= high
    assert high - low < 2.0  # wider limits would say nothing


def test_the_logarithm_of_thresholds_is_what_was_derived():
    """The raw exponent is that of the sharpness squared, and -2 is left where the log is flat."""
    numbers = STORED["scaling-thresholds"]
    raw = slope_of(numbers, "alpha", "measured")
    assert raw == pytest.approx(numbers["slope"] - 2.0, abs=0.1)
    flat = slope_of(numbers, "alpha", "measured, tiny beta")
    assert flat == pytest.approx(-2.0, abs=0.15)
    semi = slope_of(STORED["scaling-semi"], "lines", "labelled rows, fitted")
    assert 1.0 <= semi <= 2.0


@pytest.mark.statistical
@pytest.mark.parametrize("experiment", SCALING)
def test_exponents_measured_again(experiment):
    numbers = all_experiments()[experiment].run("small", key="another").numbers
    for named, (group, name, low, high) in CASES:
        if named == experiment:
            assert low <= slope_of(numbers, group, name) <= high


def test_what_n_can_promise_is_what_the_planner_certifies():
    asked = {"n": 10**6, "alpha": 0.1, "beta": 0.05, "d": 10, "law": "uniform", "width": 1.0}
    best = _vote(10**6, 0.1, realizable=False)
    assert plan(rho=best, n_partitions=1, **asked).certified
    assert not plan(rho=0.98 * best, n_partitions=1, **asked).certified


def test_stored_limits_are_not_beaten():
    """Nothing measured is below what is impossible."""
    for row in STORED["coin-limit"]["rows"]:
        assert row["information"] <= row["lower"] <= row["upper"] <= row["arcsine"] * (1 + 1e-5)
        assert row["arcsine"] <= 1.08 * row["lower"]
    for row in STORED["promise"]["rows"]:
        assert row["impossible"] < (row["pointwise"] or 1.0)
    for row in STORED["realizable-to-coin"]["rows"]:
        assert row["flips"][2] >= row["limit_flips"]
    broken = {row["name"]: row["seen"][1] > row["claim"] for row in STORED["impossible"]["rows"]}
    assert broken.pop("our learner, one key") is False
    assert all(broken.values())
