"""From finite domains to all domains: indices of a huge imagined sample.

An estimator that keeps an approximate promise on every finite domain is run on n indices of an
imagined sample of ``size`` rows; only the rows that are requested are ever drawn.
"""

import math

from replearn.bounds.numeric import round_up, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records import check_count, check_counts, check_fraction, check_positive


@theorem("domain-reduction")
def collision_bound(size: int, draws: int) -> float:
    """Bound the probability that this many independent indices are not all different.

    Returns ``draws (draws - 1) / (2 size)``, at most 1.

    >>> round(collision_bound(365, 10), 4)
    0.1233
    """
    check_counts(size=size, draws=draws)
    return upper_probability(draws * (draws - 1) / (2.0 * size))


@theorem("domain-reduction")
def reduced_disagreement(gamma: float, size: int, n: int, slack: float) -> float:
    """Disagreeing mass on the real domain.

    Returns ``gamma size / (size - 2 n) + slack`` for a disagreeing share gamma of the imagined
    sample.

    >>> round(reduced_disagreement(0.1, 10_000, 1000, 0.01), 6)
    0.135
    """
    check_fraction("gamma", gamma, zero=True)
    check_positive("slack", slack)
    rest = size - 2 * check_count("n", n)
    if rest <= 0:
        raise ValueError(f"size={size!r} must be above 2 n = {2 * n}.")
    return round_up(gamma * size / rest + slack)


@theorem("domain-reduction")
def reduced_failure(rho: float, size: int, n: int, slack: float) -> float:
    """Probability that two models disagree on more than `reduced_disagreement`.

    Returns ``rho + P(collision) + exp(-2 (size - 2 n) slack^2)``, cut at 1.

    >>> round(reduced_failure(0.05, 10**9, 1000, 0.01), 4)
    0.052
    """
    check_fraction("rho", rho, zero=True)
    check_positive("slack", slack)
    rest = size - 2 * check_count("n", n)
    if rest <= 0:
        return 1.0
    return upper_probability(
        rho + collision_bound(size, 2 * n) + math.exp(-2.0 * rest * slack * slack)
    )
