import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from replearn.bounds import (
    arcsine_law,
    flip_bound,
    flip_supremum,
    make_law,
    optimal_law,
    runs_bound,
    smallest_blocks,
    smallest_width,
    uniform_law,
)
from replearn.bounds.optimal import tightest_law

BUILD = {"uniform": uniform_law, "arcsine": arcsine_law}


@pytest.mark.parametrize(("rho", "n_blocks"), [(0.1, 32), (0.05, 128), (0.02, 796), (0.01, 3183)])
def test_blocks_of_the_uniform_law(rho, n_blocks):
    assert smallest_blocks(rho) == n_blocks
    assert flip_bound(uniform_law(n_blocks)) <= rho < flip_bound(uniform_law(n_blocks - 1))


def test_the_arcsine_law_needs_eighteen_blocks_and_the_optimal_law_sixteen():
    assert smallest_blocks(0.1, law="arcsine", width=None) == 18
    assert smallest_blocks(0.1, law="optimal", width=None) == 16
    assert smallest_width(0.1, 18) is not None
    assert smallest_width(0.1, 17) is None
    assert flip_supremum(tightest_law(16)) <= 0.1 < flip_supremum(tightest_law(15))


@pytest.mark.parametrize(("n_blocks", "width"), [(32, 0.847), (64, 0.651), (128, 0.4794)])
def test_half_widths_of_the_arcsine_law(n_blocks, width):
    assert smallest_width(0.1, n_blocks) == width
    assert flip_supremum(arcsine_law(n_blocks, width)) <= 0.1
    assert flip_supremum(arcsine_law(n_blocks, width - 1e-4)) > 0.1


def test_rounding_to_the_unsafe_side_is_noticed():
    assert flip_supremum(arcsine_law(32, 0.85)) <= 0.1
    assert flip_supremum(arcsine_law(64, 0.6511)) <= 0.1
    assert flip_supremum(arcsine_law(64, 0.65)) > 0.1


@pytest.mark.parametrize(("n_blocks", "width"), [(32, 0.9935), (64, 0.7039), (128, 0.4982)])
def test_half_widths_of_the_uniform_law(n_blocks, width):
    assert smallest_width(0.1, n_blocks, law="uniform") == width
    assert smallest_width(0.1, n_blocks, law="uniform", vote="soft") == width


def test_widths_are_scanned_because_the_worst_case_rises_again_near_one():
    width = smallest_width(0.1, 18)
    assert flip_supremum(arcsine_law(18, width)) <= 0.1
    assert flip_supremum(arcsine_law(18, 1.0)) > 0.1  # a bisection of (0, 1] would give up here


@given(
    st.floats(0.05, 0.6),
    st.integers(1, 150),
    st.sampled_from(["uniform", "arcsine"]),
    st.sampled_from(["hard", "soft"]),
)
@settings(max_examples=12, deadline=None)
def test_a_smallest_width_passes_and_the_one_before_fails(rho, n_blocks, law, vote):
    width = smallest_width(rho, n_blocks, law=law, vote=vote)
    if width is None:
        tried = [flip_bound(BUILD[law](n_blocks, w), vote) for w in np.linspace(0.02, 1, 50)]
        assert min(tried) > rho
        return
    assert flip_bound(BUILD[law](n_blocks, width), vote) <= rho
    step = 10.0 ** (math.floor(math.log10(width)) - 3)
    if vote == "hard" and width > 1.0 / n_blocks + step:
        assert flip_bound(BUILD[law](n_blocks, width - step), vote) > rho


@pytest.mark.parametrize("rho", [1.0, 0.5, 0.37, 0.2, 0.1, 0.06])
@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"width": 0.7},
        {"law": "arcsine", "width": 0.8},
        {"law": "arcsine", "width": 0.9, "vote": "soft"},
        {"width": 0.8, "vote": "soft"},
        {"runs": 5},
    ],
    ids=str,
)
def test_a_smallest_number_of_blocks_passes_and_one_fewer_fails(rho, choice):
    n_blocks = smallest_blocks(rho, **choice)
    build, width = BUILD[choice.get("law", "uniform")], choice.get("width", 1.0)
    runs, vote = choice.get("runs", 2), choice.get("vote", "hard")
    assert runs_bound(build(n_blocks, width), runs, vote) <= rho
    assert n_blocks == 1 or runs_bound(build(n_blocks - 1, width), runs, vote) > rho


@pytest.mark.parametrize("rho", [1.0, 0.3, 0.1, 0.06])
def test_any_width_needs_no_more_blocks_than_a_given_one(rho):
    free = smallest_blocks(rho, law="arcsine", width=None)
    assert free <= smallest_blocks(rho, law="arcsine", width=0.8)
    assert smallest_blocks(rho, law="optimal", width=None) <= free <= smallest_blocks(rho)


def test_more_runs_need_more_blocks_and_wider_laws():
    assert smallest_blocks(0.1, runs=12) > smallest_blocks(0.1, runs=3) > smallest_blocks(0.1)
    twelve = smallest_width(0.1, 400, runs=12)
    assert twelve > smallest_width(0.1, 400)
    assert runs_bound(arcsine_law(400, twelve), 12) <= 0.1
    assert runs_bound(arcsine_law(400, twelve - 1e-4), 12) > 0.1


def test_the_edges():
    assert smallest_blocks(1.0) == 1
    assert smallest_blocks(0.5) == 1  # one block: the flips of one fair coin
    assert smallest_blocks(0.5 - 1e-9) == 2
    assert smallest_width(1.0, 1) == 1.0
    assert smallest_width(1.0, 9) == 0.1112  # the plain majority
    assert smallest_width(0.1, 1) is None
    assert smallest_blocks(0.0002) == 7_957_822
    with pytest.raises(ValueError, match="more than 10000000 blocks"):
        smallest_blocks(0.0001)


def test_very_many_blocks_have_a_width():
    assert smallest_width(0.1, 10**7, law="uniform") == 0.001785
    width = smallest_width(0.1, 50_000)
    assert flip_supremum(arcsine_law(50_000, width)) <= 0.1
    assert width == pytest.approx(smallest_width(0.1, 50_000, law="uniform"), rel=1e-3)


def test_laws_by_name():
    assert make_law("arcsine", 32, rho=0.1) == arcsine_law(32, 0.847)
    assert make_law("uniform", 32, width=0.5) == uniform_law(32, 0.5)
    assert make_law("optimal", 32, rho=0.1) == optimal_law(32, 0.1)


@pytest.mark.parametrize("name", ["arcsine", "uniform", "optimal"])
def test_what_cannot_be_reached_is_said_with_what_can(name):
    with pytest.raises(ValueError, match="the smallest rho") as error:
        make_law(name, 12, rho=0.1)
    reachable = float(str(error.value).split("many blocks is ")[1].split(":")[0])
    assert 0.1 < reachable < 0.2
    if name != "optimal":
        assert flip_supremum(make_law(name, 12, rho=reachable)) <= reachable


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: smallest_width(0.0, 4),
        lambda: smallest_width(1.1, 4),
        lambda: smallest_width(0.1, 4, law="optimal"),
        lambda: smallest_width(0.1, 4, vote="loud"),
        lambda: smallest_blocks(0.1, law="magic"),
        lambda: smallest_blocks(0.1, width=2.0, law="arcsine"),
        lambda: smallest_blocks(0.1, law="optimal", width=None, vote="soft"),
        lambda: smallest_blocks(0.1, runs=1),
        lambda: make_law("uniform", 4),
        lambda: make_law("uniform", 4, width=0.5, rho=0.1),
        lambda: make_law("optimal", 4, width=0.5),
        lambda: make_law("magic", 4, width=0.5),
    ],
)
def test_wrong_values_are_named(wrong):
    with pytest.raises(ValueError, match=r"must|takes|give either|made from"):
        wrong()


@pytest.mark.parametrize(("law", "runs"), [("arcsine", 2), ("arcsine", 4), ("uniform", 3)])
@pytest.mark.parametrize("n_blocks", [5, 20, 61, 90, 94, 133])
def test_soft_votes_find_a_width_wherever_there_is_one(law, runs, n_blocks):
    # the steepest line rises and falls with the width: compare with a scan of all widths
    rho = 0.1 if runs == 2 else 0.25
    build = BUILD[law]
    widths = np.arange(0.2, 1.00001, 0.001).round(4)
    passes = (w for w in widths if runs_bound(build(n_blocks, w), runs, "soft") <= rho)
    first = next(passes, None)
    found = smallest_width(rho, n_blocks, law=law, vote="soft", runs=runs)
    if first is not None:
        assert found is not None
        assert found <= first
    if found is not None:
        assert runs_bound(build(n_blocks, found), runs, "soft") <= rho
