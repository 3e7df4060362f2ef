"""Do two runs vote with the same probabilities? A sign test on the blocks that vote differently."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from replearn.bounds.numeric import Floats
from replearn.bounds.theorem import theorem


@theorem("same-votes")
def sign_test(first_only: ArrayLike, second_only: ArrayLike) -> Floats:
    """Return the two-sided p-value of each pair of counts, rounded up.

    ``first_only`` blocks vote 1 only in the first run, ``second_only`` only in the second. If both
    runs vote with the same probabilities, each such block is equally likely to be of either kind.

    >>> sign_test([0, 3, 10], [0, 5, 0]).round(4).tolist()
    [1.0, 0.7266, 0.002]
    """
    first = np.asarray(first_only)
    second = np.asarray(second_only)
    # theorem: same-votes (fair coins, one for each block that votes differently)
    tail = special.bdtr(np.minimum(first, second), first + second, 0.5)
    values: Floats = np.minimum(2.0 * tail * (1.0 + 1e-12), 1.0)
    return values
