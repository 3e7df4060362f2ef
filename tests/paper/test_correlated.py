import numpy as np
import pytest
from scipy.stats import binom

from replearn.bounds.multiclass import agreement_probability
from replearn.paper.correlated_sampling import (
    agreement_of_draws,
    sample_correlated,
    sample_correlated_stream,
)
from replearn.randomness.key import SharedKey

NAMES = ["a", "b", "c", "d", "e"]
P = np.array([0.1, 0.4, 0.2, 0.2, 0.1])
Q = np.array([0.3, 0.2, 0.2, 0.0, 0.3])


def logs(weights):
    with np.errstate(divide="ignore"):
        return np.log(weights)


def test_marginals_and_agreement_are_exact():
    n_keys = 600
    draws = [
        [sample_correlated(NAMES, logs(w), key=SharedKey(k)).index for w in (P, Q)]
        for k in range(n_keys)
    ]
    first, second = np.array(draws).T
    for drawn, weights in ((first, P), (second, Q)):
        for i, chance in enumerate(weights):
            count = int((drawn == i).sum())
            assert binom.ppf(1e-9, n_keys, chance) <= count <= binom.isf(1e-9, n_keys, chance)
    agreed = int((first == second).sum())
    exact = agreement_of_draws((NAMES, logs(P)), (NAMES, logs(Q)))
    assert exact == pytest.approx(float(agreement_probability(P, Q)), abs=1e-12)
    assert binom.ppf(1e-9, n_keys, exact) <= agreed <= binom.isf(1e-9, n_keys, exact)


def test_gumbels_by_place_break_the_agreement():
    """The same weights in another order: keyed by the candidate, nothing changes."""
    order = [2, 0, 4, 1, 3]
    shuffled = [NAMES[i] for i in order]
    kept = moved = 0
    for k in range(120):
        key = SharedKey(k)
        here = sample_correlated(NAMES, logs(P), key=key).value
        kept += here == sample_correlated(shuffled, logs(P[order]), key=key).value
        place = sample_correlated(range(5), logs(P[order]), key=key).index
        moved += here != shuffled[place]
    assert kept == 120
    assert moved > 30


def test_agreement_for_other_candidates_and_weights():
    tv = np.abs(P - Q).sum() / 2
    assert agreement_of_draws((NAMES, logs(P)), (NAMES, logs(Q))) >= (1 - tv) / (1 + tv)
    assert agreement_of_draws((NAMES, logs(P)), (NAMES, logs(7 * P))) == pytest.approx(1.0)
    assert agreement_of_draws((["a"], [0.0]), (["b"], [0.0])) == 0.0
    first, second = (["a", "b"], [0.0, 0.0]), (["b", "c"], [0.0, 0.0])
    assert agreement_of_draws(first, second) == pytest.approx(1 / 3)


def test_streams_are_cut_anywhere():
    rng = np.random.default_rng(0)
    X, weights, key = rng.standard_normal((2000, 3)), rng.standard_normal(2000), SharedKey("s")
    whole = sample_correlated(X, weights, key=key)
    for size in (101, 999, 2000):
        cuts = range(0, 2000, size)
        part = sample_correlated_stream(
            ((X[i : i + size], weights[i : i + size]) for i in cuts), key=key
        )
        assert (part.index, part.score) == (whole.index, whole.score)
        assert part.margin == pytest.approx(whole.margin)


def test_weight_zero_is_never_drawn():
    for k in range(100):
        assert sample_correlated(NAMES, logs(Q), key=SharedKey(k)).value != "d"


def test_bound_for_moving_weights_is_tanh():
    draw = sample_correlated(NAMES, logs(P), key=SharedKey(0), deviation=0.2)
    assert draw.certificate.value("draw_flip") == pytest.approx(np.tanh(0.1))
    draw.certificate.check()
    rng = np.random.default_rng(0)
    for _ in range(50):
        moved = logs(P) + rng.choice([-0.2, 0.2], 5)
        flip = 1 - agreement_of_draws((NAMES, logs(P)), (NAMES, moved))
        assert flip <= np.tanh(0.1) + 1e-12


def test_bad_weights_are_named():
    for weights in ([0.0], [np.nan] * 5, [np.inf] * 5, [-np.inf] * 5):
        with pytest.raises(ValueError, match="log_weights"):
            sample_correlated(NAMES, weights, key=SharedKey(0))
