"""The arguments of plan: validated in one place, and one home for each value."""

import dataclasses
import json

import numpy as np
import pytest

from replearn.bounds.laws import uniform_law
from replearn.guarantees.design import VoteDesign
from replearn.guarantees.planner import plan, plan_votes

ARGUMENTS = [
    {"rho": 0.1},
    {"n": 20_000, "rho": 0.1, "classes": ["yes", "no"], "decimals": 6, "n_partitions": 2},
    {"n": 300, "rho": 0.1, "min_block": 30, "max_fits": 40},
    {"n": 5_000},
    {"n": 5_000, "rho": 0.2, "vote": "soft", "unit": "groups", "law": "uniform", "width": 0.9},
    {"n": 900, "rho": 0.2, "law": uniform_law(30)},
    {"n": 5_000, "rho": 0.3, "n_classes": 3},
    {"n": 8_000, "rho": 0.3, "runs": 4},
    {"n": 90_000, "rho": 0.2, "beta": 0.1, "d": 2, "label_noise": False},
    {"task": "approximate", "n": 5_000, "rho": 0.2, "max_point_mass": 0.001},
    {"task": "approximate", "n": 5_000, "gamma": 0.3, "n_classes": 4},
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_a_design_planned_again_is_the_same_design(arguments):
    made = plan(**arguments)
    fixed = {item.name: getattr(made.design, item.name) for item in dataclasses.fields(VoteDesign)}
    again = plan_votes(made.task, **{k: v for k, v in fixed.items() if k not in UNPLANNED})
    assert again.design == made.design


UNPLANNED = ("encoding", "sharpness")
"""What follows from the other items."""


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_a_solved_design_survives_json(arguments):
    design = plan(**arguments).design
    assert VoteDesign.from_dict(json.loads(json.dumps(design.to_dict()))) == design


@pytest.mark.parametrize("name", [item.name for item in dataclasses.fields(VoteDesign)])
def test_every_item_is_documented(name):
    assert name in VoteDesign.__doc__


def test_numbers_of_numpy_become_plain_numbers():
    design = VoteDesign.of(
        n=np.int64(900), rho=np.float64(0.5), n_blocks=np.int32(4), label_noise=np.bool_(False)
    )
    values = (design.n, design.rho, design.n_blocks, design.label_noise)
    assert [type(value) for value in values] == [int, float, int, bool]
    assert values == (900, 0.5, 4, False)
    assert design == VoteDesign.of(n=900, rho=0.5, n_blocks=4, label_noise=False)


def test_a_design_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        VoteDesign.of(n=10).rho = 0.1


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"label_noise": "no"}, TypeError, "label_noise must be True or False, got 'no'"),
        ({"vote": "loud"}, ValueError, "vote='loud' must be one of 'hard'"),
        ({"min_block": 0}, ValueError, "min_block=0 must be at least 1"),
        ({"n": 100, "family": "any"}, TypeError, "does not take"),
        ({"n": 9.0}, TypeError, "n must be a whole number, got 9.0"),
    ],
)
def test_wrong_arguments_are_named(params, error, words):
    with pytest.raises(error, match=words):
        plan(**params)
