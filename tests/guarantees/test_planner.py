"""The planner: the prediction passes, one less fails, and every argument can be solved back."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from replearn.bounds.flips import flip_bound
from replearn.bounds.laws import table_law, uniform_law
from replearn.guarantees.planner import plan


# -- the numbers the theory page promises ----------------------------------------------------------
@pytest.mark.parametrize(("rho", "blocks"), [(0.1, 32), (0.05, 128), (0.02, 796), (0.01, 3183)])
def test_uniform_law_of_width_one(rho, blocks):
    made = plan(rho=rho, law="uniform", width=1.0, block_size=10)
    assert (made.design.n_blocks, made.n) == (blocks, 10 * blocks)
    assert made.certified


@pytest.mark.parametrize(("blocks", "width"), [(32, 0.847), (64, 0.651), (128, 0.4794)])
def test_arcsine_widths(blocks, width):
    made = plan(n=100 * blocks, rho=0.1, n_blocks=blocks)
    assert made.design.law.width == pytest.approx(width, abs=2e-4)
    assert made.certified


def test_smallest_numbers_of_blocks():
    assert plan(rho=0.1).design.n_blocks == 18
    assert plan(rho=0.1, n_classes=3).design.n_blocks == 87


# -- n passes, n - 1 fails -------------------------------------------------------------------------
GRID = [
    {"rho": 0.3},
    {"rho": 0.1},
    {"rho": 0.05},
    {"rho": 0.1, "block_size": 7},
    {"rho": 0.2, "law": "uniform"},
    {"rho": 0.1, "law": "uniform", "width": 1.0},
    {"rho": 0.1, "law": "uniform", "width": 0.5},
    {"rho": 0.1, "width": 0.9},
    {"rho": 0.1, "vote": "soft"},
    {"rho": 0.2, "n_classes": 3},
    {"rho": 0.3, "n_classes": 5},
    {"rho": 0.3, "runs": 3},
    {"rho": 0.29, "runs": 12, "law": "uniform"},
    {"rho": 0.3, "runs": 3, "vote": "soft", "law": "uniform"},
    {"rho": 0.4, "runs": 3, "n_classes": 3},
    {"task": "approximate", "rho": 0.05, "gamma": 0.2},
    {"task": "approximate", "rho": 0.2, "gamma": 0.3, "law": "arcsine"},
    {"task": "approximate", "rho": 0.05, "gamma": 0.3, "max_point_mass": 1e-3},
    {"task": "approximate", "rho": 0.05, "gamma": 0.3, "vote": "soft"},
    {"task": "approximate", "rho": 0.5, "gamma": 0.5, "n_classes": 3},
    {"rho": 0.2, "alpha": 0.3, "beta": 0.1, "d": 3},
    {"rho": 0.2, "alpha": 0.1, "beta": 0.05, "d": 3, "label_noise": False},
    {"rho": 0.2, "alpha": 0.3, "beta": 0.1, "d": 3, "max_point_mass": 1e-4},
    {"rho": 0.2, "alpha": 0.3, "beta": 0.1, "d": 3, "n_partitions": 2},
]


@pytest.mark.parametrize("targets", GRID, ids=str)
def test_the_solved_n_passes_and_one_less_fails(targets):
    solved = plan(**targets)
    assert "n" in solved.solved
    assert solved.certified
    assert plan(n=solved.n, **targets).certified
    short = plan(n=solved.n - 1, **targets)
    assert not short.certified
    assert short.needed_n == solved.n


@pytest.mark.parametrize("rho", [0.5, 0.3, 0.2, 0.1, 0.05])
@pytest.mark.parametrize("law", ["arcsine", "uniform"])
def test_the_smallest_blocks_pass_and_one_less_fails(rho, law):
    blocks = plan(rho=rho, law=law).design.n_blocks
    assert plan(n=10 * blocks, n_blocks=blocks, rho=rho, law=law).certified
    if blocks > 1:
        assert not plan(n=10 * blocks, n_blocks=blocks - 1, rho=rho, law=law).certified


@pytest.mark.statistical
@pytest.mark.parametrize(("rho", "blocks"), [(0.02, 369), (0.01, 1424)])
def test_smallest_blocks_for_small_rho(rho, blocks):
    made = plan(rho=rho)
    assert made.design.n_blocks == blocks
    assert made.certified


# -- every argument can be solved back -------------------------------------------------------------
@pytest.mark.parametrize("rho", [0.3, 0.1, 0.05])
@pytest.mark.parametrize("law", ["arcsine", "uniform"])
def test_blocks_width_and_rho_solve_each_other(rho, law):
    first = plan(n=20_000, rho=rho, law=law)
    again = plan(n=20_000, n_blocks=first.design.n_blocks, width=first.design.law.width, law=law)
    assert again.rho == first.rho <= rho
    back = plan(n=20_000, n_blocks=first.design.n_blocks, rho=rho, law=law)
    assert back.design.law.width == first.design.law.width
    narrower = plan(
        n=20_000,
        n_blocks=first.design.n_blocks,
        width=0.999 * first.design.law.width,
        rho=rho,
        law=law,
    )
    assert not narrower.certified


@pytest.mark.parametrize("n", [30, 450, 800])
def test_the_rho_of_n_needs_that_n(n):
    best = plan(n=n)
    assert best.certified
    assert plan(n=n, rho=best.rho).certified
    assert not plan(n=n, rho=0.98 * best.rho).certified


def test_gamma_and_rho_of_the_approximate_notion_solve_each_other():
    gamma = plan("approximate", n=4000, rho=0.05).gamma
    assert plan("approximate", n=4000, rho=0.05, gamma=gamma).certified
    assert not plan("approximate", n=4000, rho=0.05, gamma=0.99 * gamma).certified
    rho = plan("approximate", n=4000, gamma=gamma).rho
    assert rho == pytest.approx(0.05, rel=1e-6)


ACCURACY = {"alpha": 0.25, "beta": 0.1, "d": 3}


@pytest.mark.parametrize("name", ["alpha", "beta", "d"])
@pytest.mark.parametrize("label_noise", [True, False])
def test_accuracy_items_solve_back(name, label_noise):
    sized = plan(rho=0.2, label_noise=label_noise, n_partitions=1, **ACCURACY)
    given_items = {key: value for key, value in ACCURACY.items() if key != name}
    fixed = {"rho": 0.2, "n": sized.n, "n_blocks": sized.design.n_blocks, "n_partitions": 1}
    solved = plan(label_noise=label_noise, **fixed, **given_items)
    assert name in solved.solved
    assert solved.certified
    value = getattr(solved.design, name)
    worse = value + 1 if name == "d" else 0.99 * value
    assert not plan(label_noise=label_noise, **fixed, **given_items, **{name: worse}).certified
    # one row per block fewer would not have been enough for the value we started from
    assert value >= ACCURACY[name] if name == "d" else value <= ACCURACY[name]


def test_accuracy_beyond_n_is_an_answer():
    made = plan(n=5_000, rho=0.1, alpha=0.05, beta=0.05, d=10)
    assert not made.certified
    assert "per block" in made.reason
    assert made.needed_n > 5_000
    assert plan(n=made.needed_n, rho=0.1, alpha=0.05, beta=0.05, d=10).certified


# -- not reachable ---------------------------------------------------------------------------------
def test_not_reachable_says_what_n_can_and_what_rho_needs():
    made = plan(n=300, rho=0.1)
    assert not made.certified
    assert made.design.block_size >= 25
    assert made.needed_n == 450
    assert made.advice[1] == "the request needs 18 blocks and n=450 rows"
    assert plan(n=300, rho=float(made.advice[0].partition("rho=")[2])).certified
    assert "n=450" in made.reason
    assert "n=450" in str(made)


def test_compute_budget_in_the_way():
    made = plan(n=20_000, rho=0.1, max_fits=10)
    assert made.design.n_blocks == 10
    assert made.design.n_partitions == 1
    assert not made.certified
    assert made.advice[1] == "the request needs 18 blocks and n=450 rows"
    assert float(made.advice[0].partition("rho=")[2]) <= 0.1
    assert made.reason.endswith("raise n_blocks or max_fits to at least 18")
    assert "raise" not in plan(n=200, rho=0.1).reason  # there it is the rows


def test_tiny_samples_do_not_crash():
    for n in (1, 2, 24, 25, 49, 50):
        made = plan(n=n, rho=0.1)
        assert made.design.n_blocks == max(1, n // 25)
        assert not made.certified


def test_nobody_trains_more_blocks_than_were_asked_for():
    assert plan(n=10**9, law="uniform").design.n_blocks == 4_000
    assert plan(n=200_000, rho=1e-3, law="uniform").design.n_blocks == 4_000
    assert plan(n=10**8, rho=1e-3, law="uniform").design.n_blocks == 318_311


def test_tiny_rho_does_not_hang():
    made = plan(n=1_000, rho=1e-6)
    assert not made.certified
    assert made.needed_n is None


# -- policy ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("n", "rho", "blocks", "partitions"),
    [(20_000, 0.1, 88, 8), (3_000, 0.1, 88, 8), (450, 0.1, 18, 16), (100_000, 0.05, 352, 2)],
)
def test_defaults(n, rho, blocks, partitions):
    made = plan(n=n, rho=rho)
    assert (made.design.n_blocks, made.design.n_partitions) == (blocks, partitions)
    assert made.certified


@given(st.integers(1, 10**6), st.sampled_from([0.5, 0.2, 0.1]), st.integers(1, 1000))
@settings(max_examples=25, deadline=None)
def test_budget_and_block_size_are_kept(n, rho, max_fits):
    made = plan(n=n, rho=rho, max_fits=max_fits, law="uniform")
    assert made.design.n_blocks * made.design.n_partitions <= max_fits
    assert made.design.n_blocks == 1 or made.design.block_size >= 25
    assert made.n - made.design.n_blocks < made.design.n_used <= made.n
    assert made.certified is (made.rho <= rho)


@pytest.mark.parametrize("kind", ["given", "numpy"])
def test_laws_and_numbers_of_any_kind(kind):
    if kind == "given":
        law = table_law([0, 0.1, 0.5, 0.9, 1])
        made = plan(n=400, law=law)
        assert made.design.law == law
        assert made.rho == flip_bound(law)
        assert not plan(n=400, law=law, rho=0.9 * made.rho).certified
        assert plan(law=law, rho=made.rho).n == 100
    else:
        made = plan(n=np.int64(20_000), rho=np.float32(0.125), classes=np.array([0, 1]))
        assert made.digest == plan(n=20_000, rho=0.125, classes=[0, 1]).digest


def test_a_plan_depends_on_its_parameters_only():
    first = plan(n=20_000, rho=0.1, classes=["no", "yes"])
    np.random.default_rng(0).random(10)
    second = plan(n=20_000, rho=0.1, classes=("no", "yes"))
    assert first == second
    assert first.to_json() == second.to_json()


# -- wrong arguments -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n": 100, "n_blocks": 101}, "n_blocks=101 is larger than n=100"),
        ({"n": 100, "n_blocks": 10, "block_size": 20}, "block_size=20 need 200 rows, but n=100"),
        ({"n": 100, "block_size": 101}, "n_blocks=1 with block_size=101 need 101 rows"),
        ({"n": 100, "law": uniform_law(8), "block_size": 20}, "n_blocks=8 with block_size=20"),
        ({"n": 0}, "n=.* must be at least 1"),
        ({"n": 100, "rho": 0}, "rho=.* must lie"),
        ({"n": 100, "rho": 1.5}, "rho=.* must lie"),
        ({"n": 100, "gamma": 0.1}, "approximate"),
        ({"task": "approximate", "n": 100}, "rho or gamma"),
        ({"task": "approximate", "rho": 0.1}, "both missing"),
        ({"task": "approximate", "n": 100, "rho": 0.1, "runs": 3}, "runs=3"),
        ({}, "both missing"),
        ({"n": 100, "alpha": 0.1}, "beta and d are both missing"),
        ({"rho": 0.1, "alpha": 0.1, "beta": 0.1}, "d and n are both missing"),
        ({"task": "vague", "n": 100}, "task=.* must be one of"),
        ({"n": 100, "law": "normal"}, "law=.* must be one of"),
        ({"n": 100, "vote": "loud"}, "vote=.* must be one of"),
        ({"n": 100, "unit": "cows"}, "unit=.* must be one of"),
        ({"n": 100, "law": uniform_law(4), "n_blocks": 5}, "law is for 4 blocks"),
        ({"n": 100, "classes": ["a", "a"]}, "different"),
        ({"n": 100, "classes": ["a", "b"], "n_classes": 3}, "does not match"),
        ({"n": 100, "width": 0}, "width=.* must lie"),
        ({"n": 100, "runs": 1}, "runs=.* must be at least 2"),
        ({"n": 10_000, "rho": 0.2, "beta": 0.01, "d": 10**6}, "no alpha can be promised"),
    ],
    ids=str,
)
def test_wrong_values_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        plan(**arguments)


@pytest.mark.parametrize("arguments", [{"n": 1.5}, {"n": True}, {"n": 100, "rho": "0.1"}])
def test_wrong_types_are_named(arguments):
    with pytest.raises(TypeError, match=r"n must|rho must"):
        plan(**arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"n": 100, "atoms": 0.1},
            r"plan\('pointwise'\) does not take \['atoms'\].*max_point_mass",
        ),
        ({"task": "approximate", "n": 100, "rho": 0.1, "nu": 0.1}, r"does not take \['nu'\]"),
        (
            {"task": "selection", "n_hypotheses": 3, "law": "uniform"},
            r"take \['law'\].*n_hypotheses",
        ),
        ({"task": "coins", "p0": 0.0, "q0": 0.5, "gamma": 0.1}, r"take \['gamma'\].* p0, q0"),
        ({"task": "heavy"}, r"needs \['nu'\]; it takes nu, n, rho, beta"),
    ],
)
def test_unknown_options_are_named_beside_what_the_task_takes(arguments, words):
    with pytest.raises(TypeError, match=words):
        plan(**arguments)
