"""Every function about heavy points takes its key as text, bytes, number or SharedKey."""

import numpy as np
import pytest

from replearn.paper.heavy_hitters import MembershipLaw, find_heavy_hitters
from replearn.paper.heavy_labels import label_heavy_hitters
from replearn.randomness.key import SharedKey

POINTS = np.repeat(np.arange(20), 30)[:, np.newaxis]
LABELS = np.arange(600) % 2
LAW = MembershipLaw("sqrt", 0.01, 0.02)
HEAVY = find_heavy_hitters(POINTS, 0.05, key=SharedKey(0), law=LAW)

# What each function says that depends on the key.
CALLS = {
    "find_heavy_hitters": lambda key: find_heavy_hitters(POINTS, 0.05, key=key, law=LAW).thresholds,
    "label_heavy_hitters": lambda key: (
        label_heavy_hitters(POINTS, LABELS, HEAVY, key=key).thresholds
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("key", ["a", b"a", 7])
def test_a_key_may_be_given_by_its_text_bytes_or_number(name, key):
    call = CALLS[name]
    expected = np.asarray(call(SharedKey(key)))
    np.testing.assert_array_equal(np.asarray(call(key)), expected)
    assert not np.array_equal(np.asarray(call("another key")), expected)
