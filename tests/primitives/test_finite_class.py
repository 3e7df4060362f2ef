"""Shared order and margin: the first good candidate, whatever the order of the list."""

import numpy as np
import pytest
from scipy.stats import binom

from replearn.bounds.finite_class import (
    amplified_error_tail,
    amplified_flip_bound,
    order_error_tail,
    order_flip_bound,
    smallest_sample_amplified,
    smallest_sample_order,
)
from replearn.bounds.selection import smallest_sample_selection
from replearn.primitives.candidates import sample_order
from replearn.primitives.finite_class import block_errors, learn_finite_class, named_pair
from replearn.randomness import SharedKey, as_points


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


def _rows_needed(*asked):
    select, order = smallest_sample_selection(*asked)[0], smallest_sample_order(*asked)[0]
    return select, order, smallest_sample_amplified(*asked).n


def test_which_method_needs_the_fewest_rows():
    select, order, amplified = _rows_needed(0.1, 0.1, 0.05, 1000)
    assert select < order / 5
    assert order < amplified
    assert _rows_needed(0.1, 0.1, 0.05, 20) == (56083, 2009719, 1708362243)
    for beta in (1e-30, 1e-40):
        select, *others = _rows_needed(0.1, 0.1, beta, 20)
        assert min(others) < select


def test_errors():
    with pytest.raises(ValueError, match="names is missing"):
        learn_finite_class([len], [[1]], [1], key=SharedKey(0))
    with pytest.raises(ValueError, match="beta"):
        learn_finite_class({"a": len}, [[1]], [1], key=SharedKey(0), beta=2)


AMPLIFIED = {"rho": 0.6, "alpha": 0.6, "beta": 0.3}


def test_the_amplified_design_keeps_both_promises():
    for rho, alpha, beta, count in ((0.6, 0.6, 0.3, 2), (0.3, 0.3, 0.1, 10)):
        design = smallest_sample_amplified(rho, alpha, beta, count)
        assert design.n == design.n_blocks * design.block_size
        same = (count, design.width, design.block_size, design.n_blocks)
        assert amplified_flip_bound(*same, design.n_strings, design.kappa) <= rho
        assert amplified_error_tail(*same, alpha) <= beta
        # amplification needs a good base learner: one row per block is not
        assert amplified_flip_bound(count, design.width, 1, design.n_blocks, 4, 3.0) == 1


def test_amplified_choice_is_certified_at_the_planned_size_and_belongs_to_the_name():
    design = smallest_sample_amplified(**AMPLIFIED, n_hypotheses=2)
    rng, names = np.random.default_rng(0), np.array(["a", "b"])
    matrix, y = _matrix([0.1, 0.9], design.n, rng)
    chosen = learn_finite_class(
        matrix, None, y, names=names, key=SharedKey(3), amplify=True, **AMPLIFIED
    )
    chosen.certificate.check()
    assert chosen.certificate.certified
    assert set(chosen.certificate.theorems) == {"finite-class"}
    assert chosen.name == "a"
    again = learn_finite_class(
        matrix[::-1], None, y, names=names[::-1], key=SharedKey(3), amplify=True, **AMPLIFIED
    )
    assert again.name == "a"
    fewer = learn_finite_class(
        matrix[:, :-1], None, y[:-1], names=names, key=SharedKey(3), amplify=True, **AMPLIFIED
    )
    assert not fewer.certificate.certified


def test_what_is_named_came_out_of_the_blocks():
    rng = np.random.default_rng(0)
    errors = rng.random((40, 6))
    points, key, width = as_points(list("abcdef")), SharedKey(1), 0.3
    string, index, counts = named_pair(errors, points, key, width=width, n_strings=3, kappa=3.0)
    margin = key.child("margins").uniforms(np.arange(3))[string] * width
    ranks = key.child("order", string).hashes(points)
    literal = [
        min(np.flatnonzero(row <= row.min() + margin), key=lambda h: ranks[h]) for row in errors
    ]
    np.testing.assert_array_equal(counts, np.bincount(literal, minlength=6))
    assert counts[index] > 0


def test_blocks_hold_each_row_once():
    X = np.random.default_rng(0).random((103, 1))
    y = X[:, 0] > 0.4
    models = [lambda x: x[:, 0] > 0.5, lambda x: x[:, 0] > 0.1]
    shared = {"key": SharedKey(0), "points": as_points(["a", "b"])}
    by_models, size, n = block_errors(models, X, y, 10, **shared)
    # the same blocks, cut here by hand
    order = sample_order(SharedKey(0).child("blocks"), X, y)[:100].reshape(10, 10)
    wrong = np.array([[(model(X[own]) != y[own]).mean() for model in models] for own in order])
    np.testing.assert_array_equal(by_models, wrong)
    assert (size, n) == (10, 103)
    matrix = np.array([model(X) for model in models])
    # All rows but the surplus, whichever that is, are in one block each.
    by_matrix, *_ = block_errors(matrix, None, y, 10, **shared)
    surplus = (matrix != y).sum(axis=1) - np.rint(by_matrix.sum(axis=0) * size)
    assert ((surplus >= 0) & (surplus <= 3)).all()
    with pytest.raises(ValueError, match="not chunks"):
        block_errors(models, iter([(X, y)]), None, 10, **shared)
    with pytest.raises(ValueError, match="only 103 rows"):
        block_errors(models, X, y, 200, **shared)
    with pytest.raises(ValueError, match="103 labels for 102 rows"):
        block_errors(matrix[:, 1:], None, y, 10, **shared)


@pytest.mark.parametrize("as_matrix", [True, False])
def test_the_order_of_the_file_and_of_the_list_does_not_matter(as_matrix):
    # Near-tied candidates and small blocks: another cut is another answer.
    rng, names = np.random.default_rng(5), np.array(list("abcdefgh"))
    X = rng.random((1500, 1))
    y = (X[:, 0] > 0.5) ^ (rng.random(1500) < 0.3)
    cuts = np.linspace(0.47, 0.53, 8)
    by_label = np.lexsort((X[:, 0], y))
    found = set()
    for trial in range(4):
        answers = []
        for order in (by_label, by_label[::-1], rng.permutation(1500)):
            turned = rng.permutation(8)
            models = [lambda x, cut=cuts[i]: x[:, 0] > cut for i in turned]
            plain = np.array([model(X[order]) for model in models]) if as_matrix else models
            chosen = learn_finite_class(
                plain, None if as_matrix else X[order], y[order], names=names[turned],
                key=SharedKey(trial), amplify=True, rho=0.9, alpha=0.9, beta=0.9, width=0.02,
            )  # fmt: skip
            answers.append((chosen.name, tuple(chosen.errors[np.argsort(turned)])))
        assert len(set(answers)) == 1
        found |= {name for name, _ in answers}
    assert len(found) > 1


def test_equal_rows_and_few_different_predictions_are_cut_like_any_others():
    y = np.repeat([0, 1], 500)
    matrix = np.array([np.zeros(1000, int), np.ones(1000, int)])
    shared = {"key": SharedKey(2), "points": as_points(["a", "b"])}
    errors, size, _ = block_errors(matrix, None, y, 50, **shared)
    # Fair coins, not blocks of one label each.
    ones = errors[:, 0] * size
    assert ones.min() > 0
    assert ones.max() < size
    np.testing.assert_allclose(errors.sum(axis=1), 1)


def test_two_samples_with_common_rows_are_cut_independently():
    # A cut keyed by single rows would put the common rows into the same blocks of both runs.
    X = np.arange(2001.0)
    y = X.astype(int) % 2
    one, two = (
        sample_order(SharedKey(0), X[part], y[part]) for part in (slice(2000), slice(1, 2001))
    )
    block_of = np.full((2, 2001), -1)
    block_of[0, one], block_of[1, two + 1] = np.arange(2000) // 100, np.arange(2000) // 100
    same = int((block_of[0, 1:2000] == block_of[1, 1:2000]).sum())
    assert same <= binom.isf(1e-8, 1999, 1 / 20)


def test_names_are_drawn_by_powers_of_their_counts():
    # no margin worth mentioning: 30 blocks give the first candidate, 10 the second
    errors = np.repeat([[0.1, 0.5], [0.5, 0.1]], [30, 10], axis=0)
    points, draws = as_points(["a", "b"]), 800
    first = sum(
        named_pair(errors, points, SharedKey(k), width=1e-6, n_strings=1, kappa=2.0)[1] == 0
        for k in range(draws)
    )
    expected = 30**2 / (30**2 + 10**2)
    assert binom.ppf(1e-8, draws, expected) <= first <= binom.isf(1e-8, draws, expected)


def test_a_wrong_block_is_enough_for_a_wrong_name():
    one = order_error_tail(5, 0.1, 4000, 0.2)
    assert amplified_error_tail(5, 0.1, 4000, 300, 0.2) == pytest.approx(300 * one)
