"""Private selection: thresholds, delta against the true noise, fresh noise, what it needs."""

import builtins
import math

import numpy as np
import pytest

from replearn.paper.semi_private import (
    fewest_parts,
    release_counts,
    release_threshold,
    run_failure,
    select_privately,
    semi_private_miss,
    semi_private_wrong,
    single_release,
)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-3), (8.0, 1e-9)])
def test_threshold_is_the_smallest_that_keeps_delta(epsilon, delta):
    level = release_threshold(epsilon, delta)
    assert single_release(epsilon, level) <= delta < single_release(epsilon, level - 1)


def test_released_counts_have_the_noise_that_the_theorem_names():
    # Every noisy count from 2 on is released; discrete Laplace noise has these tails.
    n, a = 6_000, math.exp(-0.5)
    released = release_counts({str(i): 1 for i in range(n)}, 1.0, 2)
    values = np.array(list(released.values()))
    assert values.min() == 2
    for level in (2, 3, 6):
        expected = n * single_release(1.0, level)
        assert expected == pytest.approx(n * a ** (level - 1) / (1 + a))
        assert abs((values >= level).sum() - expected) < 6 * math.sqrt(expected)


def test_selection_tells_the_frequent_item_with_fresh_noise():
    counts = {select_privately([1] * 400 + ["1"] * 9, 1.0, 1e-6).noisy_count for _ in range(12)}
    assert len(counts) > 1
    assert select_privately([1] * 400 + ["1"] * 9, 1.0, 1e-6).item == 1
    nothing = select_privately([], 1.0, 1e-6)
    assert (nothing.item, nothing.noisy_count) == (None, 0)


@pytest.mark.parametrize(
    ("arguments", "name"), [((0.0, 1e-6), "epsilon"), ((1.0, 0.0), "delta"), ((1.0, 1.0), "delta")]
)
def test_errors_name_the_parameter(arguments, name):
    with pytest.raises(ValueError, match=name):
        select_privately(["a"], *arguments)


def test_a_missing_package_is_named(monkeypatch):
    real = builtins.__import__

    def without_opendp(name, *args, **kwargs):
        if name.startswith("opendp"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_opendp)
    with pytest.raises(ImportError, match=r"replicable-learn\[privacy\]"):
        select_privately(["a"], 1.0, 1e-6)


@pytest.mark.parametrize("rho", [0.1, 0.3])
def test_bounds_of_the_reduction_against_a_simulation(rho):
    # The worst learner: under a share of the keys its runs answer anything, else always alike.
    rng = np.random.default_rng(0)
    epsilon, level, n_keys, runs = 2.0, release_threshold(2.0, 1e-4), 2, 4000
    n_parts = fewest_parts(n_keys, rho, level, epsilon, 0.2)
    a = math.exp(-epsilon / 2)
    # Good with probability 1 - rho; the common answer of a good key occurs in every part.
    good = rng.random((runs, n_keys)) < 1 - rho
    noise = rng.geometric(1 - a, (runs, n_keys)) - rng.geometric(1 - a, (runs, n_keys))
    missed = ~(good & (n_parts + noise >= level)).any(axis=1)
    bound = semi_private_miss(n_keys, n_parts, rho, level, epsilon)
    assert missed.mean() - 6 * missed.std() / math.sqrt(runs) <= bound <= 0.2
    # Inaccurate runs that all give one wrong answer.
    beta = run_failure(0.1, n_keys * n_parts, level)
    wrong = rng.binomial(n_keys * n_parts, beta, 100_000)
    noise = rng.geometric(1 - a, 100_000) - rng.geometric(1 - a, 100_000)
    lifted = ((wrong > 0) & (wrong + noise >= level)).mean()
    assert lifted <= semi_private_wrong(n_keys * n_parts, beta, level, epsilon) < 0.1
