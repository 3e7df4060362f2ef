"""Limits and p-value of a difference of accuracies: exact, and never in contradiction."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from replearn.auditing._paired_tests import compare_accuracy, exact_difference
from replearn.auditing._row_limits import RowLimits

GROUPS = np.arange(400) // 2


def right_and_wrong(gained, lost, n):
    """Which rows two models predict correctly, with so many gains and losses."""
    before = np.r_[np.zeros(gained), np.ones(n - gained)].astype(bool)
    return before, np.r_[np.ones(n - lost), np.zeros(lost)].astype(bool)


@pytest.mark.parametrize(("groups", "counts"), [(None, range(15)), (GROUPS, range(0, 57, 8))])
def test_limits_and_p_value_agree_with_few_changed_rows(groups, counts):
    """Six gains and no loss are significant, but separate limits of both shares include 0."""
    limits = RowLimits(0.05, groups)
    shown = 0
    for gained, lost in product(counts, counts):
        test = compare_accuracy(*right_and_wrong(gained, lost, len(GROUPS)), limits)
        is_shown = test.outcome != "no difference shown"
        assert is_shown == (test.p_value <= 0.05)
        shown += is_shown
    assert 0 < shown < len(counts) ** 2 / 2


def test_exact_limits_of_a_difference_miss_at_most_as_often_as_they_say():
    """All numbers of gains and losses among 14 rows: no simulation."""
    n = 14
    found = {
        (g, m): exact_difference(g, m, n, 0.05) for g in range(n + 1) for m in range(n + 1 - g)
    }
    for changing, better in product(np.linspace(0.05, 1, 20), np.linspace(0, 1, 21)):
        truth = changing * (2 * better - 1)
        law = stats.multinomial(n, [changing * better, changing * (1 - better), 1 - changing])
        missed = [
            law.pmf([gained, lost, n - gained - lost])
            for (gained, lost), e in found.items()
            if not e.lower <= truth <= e.upper or (truth == 0 and (e.lower >= 0) != (e.upper <= 0))
        ]
        assert sum(missed) <= 0.05
