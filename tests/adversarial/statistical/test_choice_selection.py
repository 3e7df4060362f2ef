"""The choice among hypotheses against its theorem: near ties, fresh samples, planned sizes."""

import numpy as np
import pytest
from scipy.stats import binom

from replearn.bounds.selection import (
    selection_flip_bound,
    selection_flip_bound_sampled,
    smallest_sample_selection,
)
from replearn.primitives.selection import choose_by_errors
from replearn.randomness.key import SharedKey
from tests.factories import FALSE_ALARM, limit


def _errors(rng, m, count, kind):
    """Empirical errors of near-tied hypotheses on one sample of m rows."""
    if kind == "independent":
        return rng.binomial(m, 0.5, count) / m
    if kind == "opposite pairs":  # what one gets wrong the other gets right
        half = rng.binomial(m, 0.5, count // 2) / m
        return np.concatenate([half, 1 - half])
    gaps = np.linspace(0, 0.02, count)  # a ladder of slightly worse ones
    return rng.binomial(m, 0.3 + gaps) / m


KINDS = ("independent", "opposite pairs", "ladder")


def differing(kind, m, count, t, pairs, seed=0):
    rng, names = np.random.default_rng(seed), np.arange(count)
    return sum(
        len({choose_by_errors(_errors(rng, m, count, kind), names, sharpness=t, key=pair)[0]
             for _ in range(2)}) == 2
        for pair in range(pairs)
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_fresh_samples_differ_as_rarely_as_promised(kind):
    m, count, pairs = 2000, 20, 400
    t = 20.0
    bound = selection_flip_bound_sampled(t, count, m)
    assert 0.1 < bound < 0.3
    assert differing(kind, m, count, t, pairs) <= limit(pairs, bound)


@pytest.mark.statistical
def test_the_bound_is_approached_from_below():
    # Two hypotheses whose errors move by exactly D in opposite directions.
    t, deviation, pairs = 40.0, 0.01, 4000
    names = ["a", "b"]
    differ = sum(
        choose_by_errors([0.3, 0.3 + deviation], names, sharpness=t, key=SharedKey(k))[0]
        != choose_by_errors([0.3 + deviation, 0.3], names, sharpness=t, key=SharedKey(k))[0]
        for k in range(pairs)
    )
    bound = selection_flip_bound(t, deviation)
    assert differ <= limit(pairs, bound)
    assert differ >= binom.ppf(FALSE_ALARM, pairs, 0.98 * bound)


def test_unshared_randomness_breaks_it():
    m, count, pairs, t = 2000, 20, 200, 9.0
    rng, names = np.random.default_rng(0), np.arange(count)
    differ = sum(
        len({choose_by_errors(_errors(rng, m, count, "independent"), names, sharpness=t,
                              key=SharedKey(f"{pair} {run}"))[0] for run in range(2)}) == 2
        for pair in range(pairs)
    )  # fmt: skip
    assert differ > limit(pairs, selection_flip_bound_sampled(t, count, m))


@pytest.mark.statistical
@pytest.mark.parametrize("kind", KINDS)
def test_planned_size(kind):
    m, t = smallest_sample_selection(0.1, 0.1, 0.05, 20)
    pairs = 2000
    assert differing(kind, m, 20, t, pairs) <= limit(pairs, 0.1)


@pytest.mark.statistical
def test_accuracy_against_the_true_best():
    m, t = smallest_sample_selection(0.2, 0.1, 0.05, 50)
    truth = np.r_[0.2, np.full(49, 0.301)]
    rng, names, trials = np.random.default_rng(0), np.arange(50), 1500
    bad = sum(
        truth[choose_by_errors(rng.binomial(m, truth) / m, names, sharpness=t, key=SharedKey(k))[0]]
        > 0.3
        for k in range(trials)
    )
    assert bad <= limit(trials, 0.05)
    assert bad > 0  # the plan is not wasteful: the tail is nearly used
