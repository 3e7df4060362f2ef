"""The arguments of plan: validated in one place, and one home for each value."""

import dataclasses
import json

import numpy as np
import pytest

from replearn.bounds import uniform_law
from replearn.guarantees import Design, PlanRequest, plan, plan_votes

FIELDS = [field.name for field in dataclasses.fields(PlanRequest)]
REQUESTS = [
    PlanRequest(rho=0.1),
    PlanRequest(n=20_000, rho=0.1, classes=["yes", "no"], decimals=6, n_partitions=2),
    PlanRequest(n=300, rho=0.1, min_block=30, max_fits=40),
    PlanRequest(n=5_000),
    PlanRequest(n=5_000, rho=0.2, vote="soft", unit="groups", law="uniform", width=0.9),
    PlanRequest(n=900, rho=0.2, law=uniform_law(30)),
    PlanRequest(n=5_000, rho=0.3, n_classes=3),
    PlanRequest(n=8_000, rho=0.3, runs=4),
    PlanRequest(n=90_000, rho=0.2, beta=0.1, d=2, label_noise=False),
    PlanRequest("approximate", n=5_000, rho=0.2, max_point_mass=0.001),
    PlanRequest("approximate", n=5_000, gamma=0.3, n_classes=4),
]


def settled(design):
    """Return the request of a design with everything that the design fixes."""
    return dataclasses.replace(
        design.request,
        n=design.n,
        n_blocks=design.n_blocks,
        law=design.law,
        n_partitions=design.n_partitions,
    )


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_a_design_planned_again_is_the_same_design(request_):
    design = plan_votes(request_).design
    assert plan_votes(settled(design)).design == design


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_what_a_design_fixes_has_one_home(request_):
    request = plan_votes(request_).design.request
    assert request == request.without_design()
    kept = ("task", "rho", "gamma", "vote", "classes", "n_classes", "runs", "unit", "decimals")
    assert [getattr(request, name) for name in kept] == [getattr(request_, name) for name in kept]


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_a_solved_design_survives_json(request_):
    design = plan_votes(request_).design
    assert Design.from_dict(json.loads(json.dumps(design.to_dict()))) == design


@pytest.mark.parametrize("name", FIELDS)
def test_every_argument_is_documented(name):
    assert name in PlanRequest.__doc__
    assert name in plan.__doc__


def test_numbers_of_numpy_become_plain_numbers():
    request = PlanRequest(
        n=np.int64(900), rho=np.float64(0.5), n_blocks=np.int32(4), label_noise=np.bool_(False)
    )
    values = (request.n, request.rho, request.n_blocks, request.label_noise)
    assert [type(value) for value in values] == [int, float, int, bool]
    assert values == (900, 0.5, 4, False)
    assert request == PlanRequest(n=900, rho=0.5, n_blocks=4, label_noise=False)


def test_a_changed_request_is_validated_again():
    with pytest.raises(ValueError, match="n_blocks=20 is larger than n=10"):
        dataclasses.replace(PlanRequest(n=10), n_blocks=20)
    with pytest.raises(dataclasses.FrozenInstanceError):
        PlanRequest().rho = 0.1


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"label_noise": "no"}, TypeError, "label_noise must be True or False, got 'no'"),
        ({"task": "selection"}, ValueError, "task='selection' must be one of 'pointwise'"),
        ({"min_block": 0}, ValueError, "min_block=0 must be at least 1"),
        ({"n": 9.0}, TypeError, "n must be a whole number, got 9.0"),
    ],
)
def test_wrong_arguments_are_named(params, error, words):
    with pytest.raises(error, match=words):
        PlanRequest(**params)
