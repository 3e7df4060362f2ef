"""Every primitive takes its key as text, bytes, number or SharedKey, with the same result."""

import numpy as np
import pytest

from replearn import select_hypothesis
from replearn.paper.coins import decide_coin, decide_coins
from replearn.paper.correlated_sampling import sample_correlated, sample_correlated_stream
from replearn.paper.quantiles import cuts_of_sample, draw_level, quantile_grid
from replearn.paper.signs import estimate_signs
from replearn.primitives.selection import choose_by_errors
from replearn.randomness.key import SharedKey

pytestmark = pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")

FLIPS = np.random.default_rng(0).random((60, 12)) < 0.5
NAMES = [f"model {i}" for i in range(40)]
ERRORS = np.linspace(0.2, 0.21, 40)
MATRIX, LABELS = np.eye(3, 40, dtype=int), np.zeros(40, dtype=int)
CUTS = cuts_of_sample(np.arange(50.0), np.arange(50) >= 20)

# What each primitive says that depends on the key.
CALLS = {
    "choose_by_errors": lambda key: choose_by_errors(ERRORS, NAMES, sharpness=9.0, key=key),
    "decide_coin": lambda key: decide_coin(FLIPS[:, 0], -0.1, 0.1, key=key).thresholds,
    "decide_coins": lambda key: decide_coins(FLIPS, -0.1, 0.1, key=key).thresholds,
    "draw_level": lambda key: draw_level(CUTS, sharpness=5.0, key=key),
    "estimate_signs": lambda key: estimate_signs(FLIPS, 0.2, key=key, rho=0.9).signs,
    "quantile_grid": lambda key: quantile_grid(np.arange(50.0), 4, key=key).levels,
    "sample_correlated": lambda key: sample_correlated(NAMES, ERRORS, key=key).score,
    "sample_correlated_stream": lambda key: (
        sample_correlated_stream([(NAMES, ERRORS)], key=key).score
    ),
    "select_hypothesis": lambda key: (
        select_hypothesis(MATRIX, None, LABELS, names="abc", shared_key=key).margin
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("key", ["a", b"a", 7])
def test_a_key_may_be_given_by_its_text_bytes_or_number(name, key):
    call = CALLS[name]
    expected = np.asarray(call(SharedKey(key)))
    np.testing.assert_array_equal(np.asarray(call(key)), expected)
    assert not np.array_equal(np.asarray(call("another key")), expected)


def test_certificates_know_the_key_by_its_fingerprint():
    one, two = (
        select_hypothesis(MATRIX, None, LABELS, names="abc", shared_key=k)
        for k in ("k", SharedKey("k"))
    )
    assert one.name == two.name
    assert one.certificate == two.certificate
