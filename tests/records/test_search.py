"""Every search returns a side that passes, next to one that fails."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from replearn.bounds.numeric import bisect_arrays
from replearn.records.search import bisect, geometric_mean, require_integer, smallest_integer


@given(st.integers(1, 10**12), st.integers(1, 100))
def test_search_finds_the_first_passing_number(boundary, start):
    assert smallest_integer(lambda n: n >= boundary, start=start) == max(boundary, start)


def test_search_gives_up_at_the_limit():
    assert smallest_integer(lambda n: n > 1000, limit=1000) is None
    assert smallest_integer(lambda n: n >= 1000, limit=1000) == 1000
    assert require_integer(lambda n: n >= 1000, "too many", limit=1000) == 1000
    with pytest.raises(ValueError, match="more than 1000 rows"):
        require_integer(lambda n: n > 1000, "more than 1000 rows", limit=1000)


@given(st.floats(1e-6, 1.0))
def test_bisection_keeps_the_passing_side(boundary):
    from_above = bisect(lambda x: x >= boundary, 1.0, 0.0, tolerance=1e-9)
    assert boundary <= from_above <= boundary * (1 + 1e-8)
    from_below = bisect(lambda x: x <= boundary, 1e-7, 1.1, tolerance=1e-9, mean=geometric_mean)
    assert boundary * (1 - 1e-8) <= from_below <= boundary


def test_bisection_stops_where_it_is_told():
    tried = []
    bisect(lambda x: tried.append(x) is None and x >= 0.3, 1.0, 0.0, halvings=5)
    assert len(tried) == 5
    tried.clear()
    bisect(lambda x: tried.append(x) is None and x >= 0.3, 1.0, 0.0, least_gap=0.25)
    assert len(tried) == 2


def test_bisection_ends_when_only_zero_passes():
    assert bisect(lambda x: x <= 0.0, 0.0, 1.0, tolerance=1e-9) == 0.0


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5))
def test_many_intervals_at_once_are_bisected_like_one(boundaries):
    ends = np.array(boundaries)
    many = bisect_arrays(lambda x: x >= ends, np.ones(len(ends)), np.zeros(len(ends)), 30)
    one = [bisect(lambda x, b=b: x >= b, 1.0, 0.0, halvings=30) for b in boundaries]
    assert many.tolist() == one
