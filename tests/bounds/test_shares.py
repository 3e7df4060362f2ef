"""Counts in two samples: against enumeration, and false alarms counted exactly."""

import numpy as np
import pytest
from scipy import stats

from replearn.bounds.shares import equal_share_tail


@pytest.mark.parametrize(("n", "m"), [(5, 9), (40, 40), (300, 20)])
def test_twice_the_smaller_hypergeometric_tail(n, m):
    for k, other in [(0, 3), (2, 2), (n, 0), (n // 2, m // 3)]:
        law = stats.hypergeom(n + m, k + other, n)
        exact = min(1.0, 2 * min(law.cdf(k), law.sf(k - 1)))
        tail = equal_share_tail(k, n, other, m)
        assert exact <= tail * (1 + 1e-12)
        assert tail <= exact * (1 + 1e-5)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
def test_false_alarms_are_as_rare_as_promised(share):
    """All outcomes of two binomial samples, with their probabilities."""
    n, m, level = 30, 45, 0.1
    first, second = (stats.binom(size, share).pmf(np.arange(size + 1)) for size in (n, m))
    alarms = sum(
        first[k] * second[other]
        for k in range(n + 1)
        for other in range(m + 1)
        if equal_share_tail(k, n, other, m) < level
    )
    assert alarms <= level


def test_one_tail_alone_would_alarm_too_often():
    n, level = 30, 0.1
    law = stats.binom(n, 0.5).pmf(np.arange(n + 1))
    alarms = sum(
        law[k] * law[other]
        for k in range(n + 1)
        for other in range(n + 1)
        if equal_share_tail(k, n, other, n) / 2 < level
    )
    assert alarms > level


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="within"):
        equal_share_tail(6, 5, 0, 5)
