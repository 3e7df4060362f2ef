"""Labels of heavy points: exact flips and errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from replearn.bounds import flip_curve
from replearn.bounds.signs import label_error_bound, label_flip_bound, label_law, smallest_labels


@pytest.mark.parametrize(("k", "a"), [(1, 1.0), (7, 0.5), (100, 0.3), (1000, 0.15), (1000, 1.0)])
def test_flips_stay_below_the_bound_and_come_close(k, a):
    q = np.sin(np.linspace(0, np.pi / 2, 801)) ** 2
    curve = flip_curve(label_law(k, a), q)
    bound = label_flip_bound(k, a)
    assert curve.max() <= bound + 1e-12
    if a * np.sqrt(k) > 3:
        assert curve.max() >= 0.97 * bound


@settings(max_examples=50)
@given(st.integers(1, 300), st.floats(0.02, 1), st.floats(0.02, 1))
def test_error_is_exact_or_hoeffding(k, alpha, a):
    law = label_law(k, a)
    exact = stats.binom.pmf(np.arange(k + 1), k, (1 + alpha) / 2) @ (1 - law.probabilities)
    bound = label_error_bound(k, alpha, a)
    hoeffding = np.exp(-k * (alpha - a) ** 2 / 2) if a < alpha else 1.0
    assert exact <= bound + 1e-12
    assert bound <= min(exact * (1 + 1e-6) + 1e-300, hoeffding * (1 + 1e-9))


@given(st.floats(0.05, 0.95))
@settings(max_examples=20)
def test_a_clearer_majority_errs_less(alpha):
    assert label_error_bound(50, alpha, 0.3) >= label_error_bound(50, alpha + 0.05, 0.3)


def test_many_labels_fall_back_to_hoeffding():
    assert label_error_bound(200_000, 0.05, 0.03) == pytest.approx(np.exp(-40), rel=1e-9)
    assert label_error_bound(200_000, 0.05, 0.05) == 1.0


def test_unanimous_labels_are_never_overruled():
    for a in (0.1, 1.0):
        assert label_error_bound(5, 1.0, a) == 0.0


@pytest.mark.parametrize("rho", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("alpha", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("n_points", [1, 1000])
def test_planned_labels_pass_and_one_fewer_fails(rho, alpha, n_points):
    beta = 0.05
    k, a = smallest_labels(rho, beta, alpha, n_points=n_points)
    assert label_flip_bound(k, a) <= rho
    assert n_points * label_error_bound(k, alpha, a) <= beta
    if k > 1:
        # One fewer: the narrowest width that keeps the budget errs too often, or none keeps it.
        narrow = a * label_flip_bound(k - 1, a) / rho * (1 + 1e-9)
        assert narrow > 1 or n_points * label_error_bound(k - 1, alpha, narrow) > beta * (1 - 1e-6)


def test_realizable_labels_need_only_the_flip_budget():
    k, a = smallest_labels(0.1, 1e-9, 1.0, n_points=10**6)
    assert k == 32
    assert a <= 1.0


def test_a_full_budget_allows_any_width():
    k, a = smallest_labels(1.0, 0.05, 0.5)
    assert label_error_bound(k, 0.5, a) <= 0.05


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: label_flip_bound(0, 0.5), "k=.* must"),
        (lambda: label_flip_bound(5, 0.0), "a="),
        (lambda: label_error_bound(5, 0.0, 0.5), "alpha"),
        (lambda: smallest_labels(0.0, 0.1, 0.1), "rho"),
        (lambda: smallest_labels(0.1, 0.1, 0.1, n_points=0), "n_points"),
        (lambda: smallest_labels(1e-5, 0.1, 0.1), "labels"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()
