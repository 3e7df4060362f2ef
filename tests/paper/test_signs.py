import numpy as np
import pytest
from scipy.stats import binom

from replearn.paper.signs import (
    estimate_signs,
    joint_sign_flip_bound,
    sign_error_bound,
    sign_flip_bound,
    sign_width,
)
from replearn.randomness.key import SharedKey
from tests.factories import limit


def count_differences(n_pairs, method, n, d, rng, *, shared=True, p=0.0, rho=0.2):
    different = 0
    for pair in range(n_pairs):
        signs = [
            estimate_signs(
                rng.random((n, d)) < (1 + p) / 2,
                0.5,
                key=SharedKey(pair if shared else 2 * pair + run),
                rho=rho,
                method=method,
            ).signs
            for run in range(2)
        ]
        different += bool((signs[0] != signs[1]).any())
    return different


@pytest.mark.parametrize(("method", "n", "d"), [("thresholds", 800, 4), ("joint", 3000, 4)])
def test_whole_vectors_agree(method, n, d):
    n_pairs, rho = 150, 0.2
    different = count_differences(n_pairs, method, n, d, np.random.default_rng(0), rho=rho)
    assert different <= limit(n_pairs, rho)
    assert different > 0


@pytest.mark.parametrize("method", ["thresholds", "joint"])
def test_a_key_of_its_own_for_each_run_breaks_it(method):
    different = count_differences(
        60, method, 3000, 4, np.random.default_rng(1), shared=False, rho=0.2
    )
    assert different > limit(60, 0.2)


@pytest.mark.parametrize("method", ["thresholds", "joint"])
def test_clear_coins_get_their_signs(method):
    rng = np.random.default_rng(2)
    p = np.array([0.7, -0.7, 0.9, -0.5])
    for seed in range(10):
        flips = rng.random((12_000, 4)) < (1 + p) / 2
        found = estimate_signs(flips, 0.5, key=SharedKey(seed), method=method, beta=0.01)
        assert found.certificate.certified
        assert (found.signs == np.sign(p)).all()


def test_joint_draws_have_the_right_marginals():
    """The sine law: at mean 0 every sign is a fair coin, at half the width sin^2(3 pi / 8)."""
    flips = np.zeros((1000, 2))
    flips[:500, 0] = 1
    width = sign_width(1000, 2, 0.3, joint=True)
    ones = round(500 * (1 + width / 2))
    flips[:ones, 1] = 1
    share = 2 * ones / 1000 - 1
    expected = np.sin(np.pi / 4 * (1 + share / width)) ** 2
    signs = [
        estimate_signs(flips, 0.5, key=SharedKey(k), rho=0.3, method="joint").signs
        for k in range(250)
    ]
    up = (np.array(signs) == 1).sum(axis=0)
    for count, chance in zip(up, (0.5, expected), strict=True):
        assert binom.ppf(1e-9, 250, chance) <= count <= binom.isf(1e-9, 250, chance)


def test_vectors_belong_to_names():
    flips = np.random.default_rng(3).random((500, 5)) < 0.5
    key, order = SharedKey("k"), [4, 2, 0, 1, 3]
    for method in ("thresholds", "joint"):
        found = estimate_signs(flips, 0.5, key=key, method=method, names=list("abcde"))
        again = estimate_signs(
            flips[:, order], 0.5, key=key, method=method, names=[list("abcde")[i] for i in order]
        )
        assert (found.signs[order] == again.signs).all()


def test_auto_takes_the_better_bound():
    assert sign_flip_bound(10**6, 8, 0.1) < joint_sign_flip_bound(10**6, 8, 0.1)
    assert sign_flip_bound(10**6, 20, 0.1) > joint_sign_flip_bound(10**6, 20, 0.1)
    few = np.zeros((50, 3))
    assert estimate_signs(few, 0.5, key=SharedKey(0)).method == "thresholds"
    assert estimate_signs(np.zeros((50, 20)), 0.5, key=SharedKey(0)).method == "joint"


def test_width_meets_the_budget():
    for joint in (False, True):
        width = sign_width(100_000, 5, 0.1, joint=joint)
        bound = joint_sign_flip_bound if joint else sign_flip_bound
        assert bound(100_000, 5, width) <= 0.1 < bound(100_000, 5, width * 0.99)
    assert sign_width(10, 5, 0.1, joint=True) is None
    assert sign_error_bound(1000, 3, 0.1, 0.2, joint=True) == 1.0


def test_bad_methods_are_named():
    with pytest.raises(ValueError, match="method"):
        estimate_signs([[1]], 0.5, key=SharedKey(0), method="best")


def test_more_than_twenty_coins_are_drawn_in_groups():
    """Groups sum up, beat thresholds by a fifth, and belong to the names of the coins."""
    one = joint_sign_flip_bound(10**7, 20, 0.1)
    assert joint_sign_flip_bound(10**7, 60, 0.1) == pytest.approx(3 * one, rel=1e-6)
    assert joint_sign_flip_bound(10**7, 60, 0.1) < 0.95 * sign_flip_bound(10**7, 60, 0.1)
    rng = np.random.default_rng(4)
    flips, names = rng.random((400, 30)) < 0.5, [f"coin {i}" for i in range(30)]
    flips[:, 7] = True
    found = estimate_signs(flips, 0.5, key=SharedKey(5), rho=0.9, method="joint", names=names)
    order = rng.permutation(30)
    again = estimate_signs(
        flips[:, order], 0.5, key=SharedKey(5), rho=0.9, method="joint",
        names=[names[i] for i in order],
    )  # fmt: skip
    assert (found.signs[order] == again.signs).all()
    assert found.signs[7] == 1
    assert len(set(found.signs.tolist())) == 2
    found.certificate.check()
