import itertools

import numpy as np
import pytest

from replearn.bounds import sign_test


def test_fair_coins_by_hand():
    np.testing.assert_allclose(sign_test([0, 1, 0], [1, 1, 5]), [1.0, 1.0, 2 / 32], rtol=1e-9)
    assert sign_test(0, 0) == 1.0


@pytest.mark.parametrize("chances", [(0.5,) * 6, (0.1, 0.3, 0.5, 0.5, 0.8, 0.9)])
@pytest.mark.parametrize("level", [0.02, 0.05, 0.2, 0.5])
def test_the_level_by_enumeration_also_with_different_chances(chances, level):
    pairs = {(a, b): None for a in (0, 1) for b in (0, 1)}
    total = 0.0
    for votes in itertools.product(pairs, repeat=len(chances)):
        first = sum(a > b for a, b in votes)
        second = sum(a < b for a, b in votes)
        if sign_test(first, second) <= level:
            total += np.prod(
                [
                    (p if a else 1 - p) * (p if b else 1 - p)
                    for p, (a, b) in zip(chances, votes, strict=True)
                ]
            )
    assert total <= level * (1 + 1e-9)
