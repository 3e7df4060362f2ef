"""Labels of heavy points: exact flips and errors."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from replearn.bounds.flips import flip_curve
from replearn.bounds.laws import uniform_law
from replearn.paper.signs import label_error_bound, label_flip_bound


@pytest.mark.parametrize(("k", "a"), [(1, 1.0), (7, 0.5), (100, 0.3), (1000, 0.15), (1000, 1.0)])
def test_flips_stay_below_the_bound_and_come_close(k, a):
    q = np.sin(np.linspace(0, np.pi / 2, 801)) ** 2
    curve = flip_curve(uniform_law(k, a), q)
    bound = label_flip_bound(k, a)
    assert curve.max() <= bound + 1e-12
    if a * np.sqrt(k) > 3:
        assert curve.max() >= 0.97 * bound


@settings(max_examples=50)
@given(st.integers(1, 300), st.floats(0.02, 1), st.floats(0.02, 1))
def test_error_is_exact_or_hoeffding(k, alpha, a):
    law = uniform_law(k, a)
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


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: label_flip_bound(0, 0.5), "k=.* must"),
        (lambda: label_flip_bound(5, 0.0), "a="),
        (lambda: label_error_bound(5, 0.0, 0.5), "alpha"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()
