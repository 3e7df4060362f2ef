"""Shared order and margin: the first good candidate, whatever the order of the list."""

import numpy as np
import pytest

from replearn.bounds import order_flip_bound, smallest_sample_order
from replearn.primitives.finite_class import learn_finite_class, smallest_sample_choice
from replearn.randomness import SharedKey


def _matrix(errors, n, rng):
    y = rng.integers(0, 2, n)
    return np.array([y ^ (rng.random(n) < error) for error in errors]), y


def test_the_choice_is_good_and_belongs_to_the_name():
    rng = np.random.default_rng(0)
    names = np.array([f"rule {i}" for i in range(30)])
    matrix, y = _matrix(np.linspace(0.1, 0.5, 30), 5000, rng)
    for trial in range(20):
        key = SharedKey(trial)
        chosen = learn_finite_class(matrix, None, y, names=names, key=key, width=0.08)
        assert chosen.errors[chosen.index] <= chosen.errors.min() + chosen.margin
        order = rng.permutation(30)
        again = learn_finite_class(matrix[order], None, y, names=names[order], key=key, width=0.08)
        assert again.name == chosen.name
        assert again.certificate == chosen.certificate


def test_different_keys_choose_among_all_good_ones():
    matrix, y = _matrix([0.2] * 5, 3000, np.random.default_rng(1))
    found = {
        learn_finite_class(matrix, None, y, names="abcde", key=SharedKey(k), width=0.1).name
        for k in range(60)
    }
    assert found == set("abcde")


def test_certified_from_the_planned_number_of_rows_on():
    m, width = smallest_sample_order(0.4, 0.4, 0.2, 2)
    assert order_flip_bound(2, width, m) <= 0.4
    rng = np.random.default_rng(0)
    certified = []
    for n in (m, m - 1):
        matrix, y = _matrix([0.1, 0.3], n, rng)
        chosen = learn_finite_class(
            matrix, None, y, names="ab", key=SharedKey(0), rho=0.4, alpha=0.4, beta=0.2
        )
        chosen.certificate.check()
        certified.append(chosen.certificate.certified)
    assert certified == [True, False]


def test_which_of_the_two_is_cheaper():
    usual = smallest_sample_choice(0.1, 0.1, 0.05, 1000)
    assert usual.method == "select_hypothesis"
    assert usual.n_select < usual.n_order / 5
    assert smallest_sample_choice(0.1, 0.1, 1e-40, 20).method == "learn_finite_class"


def test_errors():
    with pytest.raises(ValueError, match="names is missing"):
        learn_finite_class([len], [[1]], [1], key=SharedKey(0))
    with pytest.raises(ValueError, match="beta"):
        learn_finite_class({"a": len}, [[1]], [1], key=SharedKey(0), beta=2)
