"""Two disjoint halves of one finite file are exchangeable, not independent."""

from functools import lru_cache

import numpy as np

from replearn.bounds.flips import (
    FLOAT_SLACK,
    LARGEST_BATCH,
    MAX_BLOCKS_BY_CELLS,
    NEGLECTED,
    flip_bound,
    log_choose,
    window_radius,
)
from replearn.bounds.foreseen import Integers
from replearn.bounds.laws import ROUNDING, VOTES, ThresholdLaw, uniform_law
from replearn.bounds.numeric import Floats
from replearn.bounds.theorem import theorem
from replearn.records import check_choice


@theorem("halves-of-one-file")
def halves_supremum(law: ThresholdLaw, vote: str = "hard") -> float:
    """Return how often runs on two random halves of one file can differ at a point.

    An audit that cuts a file in two must compare with this number instead of `flip_supremum`: if
    one half has many votes for 1, the other has few.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold, for at most 20,000 blocks.
    vote : {"hard", "soft"}, default="hard"
        Kind of votes.

    Returns
    -------
    float
        The maximum over the number j of votes for 1 in both halves, rounded up.

    Examples
    --------
    >>> from replearn.bounds import flip_supremum, uniform_law
    >>> round(halves_supremum(uniform_law(32)) / flip_supremum(uniform_law(32)), 4)
    1.0232
    """
    if law.n_blocks > MAX_BLOCKS_BY_CELLS:
        raise ValueError(
            f"halves of a file are bounded up to {MAX_BLOCKS_BY_CELLS} blocks, "
            f"got n_blocks={law.n_blocks}"
        )
    if check_choice("vote", vote, VOTES) == "soft":
        if law.lipschitz is None:
            return flip_bound(law, vote)  # says that a law with atoms takes hard votes only
        spread = halves_supremum(uniform_law(law.n_blocks)) + ROUNDING
        return min(2.0 * law.lipschitz * spread * (1.0 + 1e-12), 1.0)
    return _hard_supremum(law)


@lru_cache(maxsize=64)
def _hard_supremum(law: ThresholdLaw) -> float:
    """Return the largest value of `halves_curve`, rounded up; depends on the table alone."""
    # theorem: halves-of-one-file
    most = float(halves_curve(law).max())
    return min(most * (1.0 + FLOAT_SLACK) + FLOAT_SLACK + 2.0 * NEGLECTED, 1.0)


def halves_curve(law: ThresholdLaw) -> Floats:
    """Return E|G(S) - G(j - S)| for j = 0, ..., 2 T votes for 1, S ~ Hypergeometric(2 T, j, T).

    >>> from replearn.bounds import uniform_law
    >>> halves_curve(uniform_law(1)).round(6).tolist()
    [0.0, 1.0, 0.0]
    """
    n_blocks = law.n_blocks
    totals = np.arange(n_blocks + 1 if law.is_symmetric else 2 * n_blocks + 1)
    # Hoeffding holds for draws without replacement, too
    reach = np.arange(-window_radius(n_blocks) - 1, window_radius(n_blocks) + 2)
    rows = max(1, LARGEST_BATCH // len(reach))
    parts = [_expected_gaps(law, totals[i : i + rows], reach) for i in range(0, len(totals), rows)]
    values = np.concatenate(parts)
    return np.concatenate([values, values[-2::-1]]) if law.is_symmetric else values


def _expected_gaps(law: ThresholdLaw, totals: Integers, reach: Integers) -> Floats:
    """Return E|G(S) - G(j - S)| for some totals j."""
    n_blocks = law.n_blocks
    j = totals[:, np.newaxis]
    first = j // 2 + reach
    second = j - first
    possible = (np.minimum(first, second) >= 0) & (np.maximum(first, second) <= n_blocks)
    first = np.clip(first, 0, n_blocks)
    second = np.clip(second, 0, n_blocks)
    choose = log_choose(n_blocks)
    logs = choose[first] + choose[second] - log_choose(2 * n_blocks)[j]
    masses = np.exp(np.where(possible, logs, -np.inf))
    gaps = np.abs(law.probabilities[first] - law.probabilities[second])
    return np.asarray((masses * gaps).sum(axis=1))
