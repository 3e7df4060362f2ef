import numpy as np
from hypothesis import given, settings, strategies as st

from replearn.paper.hypotheses._cuts import cut_between, cuts_of
from replearn.paper.hypotheses._inputs import as_weights

finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(finite, min_size=10, max_size=20))
def test_a_cut_lies_between(values):
    values = np.unique(values)
    low, high = (one.ravel() for one in np.meshgrid(values, values))
    low, high = low[low < high], high[low < high]  # all pairs: hundreds for each list
    cuts = cut_between(low, high)
    assert ((low <= cuts) & (cuts < high)).all()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_a_cut_lies_in_the_middle_half(low, gap):
    high = low + gap
    cut = float(cut_between(low, high))
    assert low + 0.2499 * gap <= cut <= high - 0.2499 * gap


def test_neighbouring_doubles_and_both_ends_of_the_range():
    largest = np.finfo(float).max
    for low in (1.0, -1.0, 0.0, 5e-324, 1e300):
        high = np.nextafter(low, np.inf)
        assert low <= float(cut_between(low, high)) < high
    assert abs(float(cut_between(-largest, largest))) < 1e300


def test_cuts_have_few_digits():
    cuts = cut_between([41, 0.123456, 20183.37, -3.7], [42, 0.123999, 39941.02, 8.1])
    assert [str(cut) for cut in cuts.tolist()] == ["41.5", "0.1237", "30000.0", "2.0"]


def test_no_values_one_value():
    assert cuts_of(np.array([])).tolist() == [-np.inf]
    assert cuts_of(np.array([3.0])).tolist() == [-np.inf, np.inf]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=20), st.integers(-900, 900))
def test_weights_keep_their_ratios_exactly(weights, exponent):
    scaled = as_weights(np.ldexp(np.array(weights, dtype=float), exponent), len(weights))
    assert sum(scaled.tolist()) <= 2**62
    total, exact = sum(weights), sum(scaled.tolist())
    assert all(a * exact == int(b) * total for a, b in zip(weights, scaled, strict=True))
