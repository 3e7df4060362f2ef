"""The exponents that the theory predicts, measured."""

import pytest

from replearn.guarantees.planner import plan
from replearn_lab import all_experiments
from replearn_lab.experiments.promise import _vote

SCALING = [
    ("rho", "votes, measured", -2.15, -1.85),
    ("rho", "complete learner", -2.1, -1.8),
    ("rho", "the same, no noise", -2.1, -1.8),
    ("gamma", "realizable", -1.15, -0.85),
    ("alpha", "complete learner", -3.0, -2.4),
    ("alpha", "the same, no noise", -1.2, -1.0),
    ("d", "complete learner", 0.4, 1.0),
    ("d", "semi, labelled, measured", 1.0, 2.0),
    ("nu", "a point", -1.1, -0.9),
    ("nu", "a point, measured", -1.3, -0.8),
    ("nu", "the whole set, measured", -3.4, -2.7),
    ("nu", "the whole set", -3.1, -2.9),
]


@pytest.mark.statistical
def test_the_table_of_results_as_exponents():
    numbers = all_experiments()["scaling"].run("small", key="another").numbers
    found = {
        (group, line["name"]): line["exponent"][0]
        for group, lines in numbers.items()
        if group != "pairs"
        for line in lines
    }
    for group, name, low, high in SCALING:
        assert low <= found[group, name] <= high, (group, name)


@pytest.mark.statistical
def test_rows_of_public_cuts_grow_with_the_dimension():
    numbers = all_experiments()["conjunctions"].run("small", key="another").numbers
    found = {line["name"]: line["exponent"][0] for line in numbers["lines"]}
    assert 0.85 <= found["public rows, measured"] <= 1.15


def test_what_n_can_promise_is_what_the_planner_certifies():
    asked = {"n": 10**6, "alpha": 0.1, "beta": 0.05, "d": 10, "law": "uniform", "width": 1.0}
    best = _vote(10**6, 0.1, realizable=False)
    assert plan(rho=best, n_partitions=1, **asked).certified
    assert not plan(rho=0.98 * best, n_partitions=1, **asked).certified


@pytest.mark.statistical
def test_limits_are_not_beaten():
    """Nothing measured is below what is impossible."""
    results = {
        name: all_experiments()[name].run("small").numbers
        for name in ("coin-limit", "promise", "realizable-to-coin", "impossible")
    }
    for row in results["coin-limit"]["rows"]:
        assert row["information"] <= row["lower"] <= row["upper"] <= row["arcsine"] * (1 + 1e-5)
        assert row["arcsine"] <= 1.08 * row["lower"]
    for row in results["promise"]["rows"]:
        assert row["impossible"] < (row["pointwise"] or 1.0)
    for row in results["realizable-to-coin"]["rows"]:
        assert row["flips"][2] >= row["limit_flips"]
    broken = {row["name"]: row["seen"][1] > row["claim"] for row in results["impossible"]["rows"]}
    assert broken.pop("our learner, one key") is False
    assert all(broken.values())
