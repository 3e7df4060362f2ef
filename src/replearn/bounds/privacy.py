"""Private selection of a frequent item, and the semi-private estimator built on it.

Counts get discrete Laplace noise of scale 2 / epsilon, and items whose noisy count stays below a
threshold are not released. Proofs: docs/theory/private-selection.md, docs/theory/semi-private.md.
"""

import math

import numpy as np

from replearn.bounds.numeric import binomial_cdf, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records import check_count, check_fraction, check_positive, require_integer

# Ends of the search: shares of parts that may differ from the common result, noise that is allowed
# for.
_SHARES = np.linspace(0.05, 0.95, 19)
_NOISE = np.linspace(0.0, 12.0, 17)


def noise_ratio(epsilon: float) -> float:
    """Ratio of neighbouring probabilities of the noise: ``exp(-epsilon / 2)``.

    >>> round(noise_ratio(1.0), 4)
    0.6065
    """
    return math.exp(-check_positive("epsilon", epsilon) / 2.0)


@theorem("private-selection")
def single_release(epsilon: float, threshold: int) -> float:
    """Probability that an item with a count of one reaches the threshold, rounded up.

    >>> single_release(1.0, 28) <= 1e-6 < single_release(1.0, 27)
    True
    """
    check_count("threshold", threshold, least=2)
    ratio = noise_ratio(epsilon)
    return upper_probability(math.exp(-epsilon / 2.0 * (threshold - 1)) / (1.0 + ratio))


@theorem("private-selection")
def release_threshold(epsilon: float, delta: float) -> int:
    """Return the smallest noisy count at which an item is released with (epsilon, delta)-privacy.

    >>> release_threshold(1.0, 1e-6)
    28
    """
    check_fraction("delta", delta, one=False)
    budget = min(delta, -math.expm1(-check_positive("epsilon", epsilon) / 2.0))
    return require_integer(
        lambda level: single_release(epsilon, level) <= budget,
        f"epsilon={epsilon!r} and delta={delta!r} are too small for any threshold below 10**9",
        start=2,
        limit=10**9,
    )


@theorem("semi-private")
def semi_private_miss(
    n_keys: int, n_parts: int, rho: float, threshold: int, epsilon: float
) -> float:
    """Probability that the common result of no key is released.

    ``n_keys`` keys with ``n_parts`` runs each, of an estimator whose runs under one key differ with
    probability ``rho``.

    >>> semi_private_miss(3, 100, 0.1, 28, 1.0) < 0.02
    True
    """
    check_count("n_keys", n_keys)
    check_count("n_parts", n_parts)
    ratio = noise_ratio(epsilon)
    noise = np.ceil(2.0 / epsilon * _NOISE)[:, np.newaxis]  # in units of its scale
    # theorem: semi-private (no good key; too few runs agree under one; too much negative noise)
    no_key = np.minimum(rho / _SHARES, 1.0) ** n_keys
    few = binomial_cdf(threshold + noise - 1, n_parts, 1.0 - _SHARES)
    drowned = np.exp(-epsilon / 2.0 * (noise + 1)) / (1.0 + ratio)
    return upper_probability(float(np.min(no_key + few + drowned)))


@theorem("semi-private")
def semi_private_wrong(n_runs: int, run_beta: float, threshold: int, epsilon: float) -> float:
    """Probability that an inaccurate result is released.

    ``run_beta`` is the probability that one of the ``n_runs`` runs is inaccurate.

    >>> semi_private_wrong(300, 1e-4, 28, 1.0) < 0.01
    True
    """
    check_count("n_runs", n_runs)
    ratio = noise_ratio(epsilon)
    many = np.arange(1, threshold + 1)
    # theorem: semi-private (too many inaccurate runs; noise lifts one of their results)
    runs = n_runs * run_beta / many
    single = (many - 1) * np.exp(-epsilon / 2.0 * (threshold - 1))
    lump = np.where(many > 1, np.exp(-epsilon / 2.0 * (threshold - many + 1)), 0.0)
    lifted = np.maximum(single, lump) / (1.0 + ratio)
    return upper_probability(float(np.min(runs + lifted)))


def run_failure(beta: float, n_runs: int, threshold: int) -> float:
    """Share of beta that one run may take: inaccurate runs stay well below the threshold.

    >>> round(run_failure(0.05, 300, 28), 6)
    0.000292
    """
    return beta * threshold / (16.0 * n_runs)


def fewest_parts(n_keys: int, rho: float, threshold: int, epsilon: float, beta: float) -> int:
    """Return the fewest runs of a key that release the common result, except with beta.

    Raises ValueError if no number is enough: then rho is too large for so few keys.

    >>> fewest_parts(3, 0.1, 28, 1.0, 0.02)
    86
    """
    return require_integer(
        lambda parts: semi_private_miss(n_keys, parts, rho, threshold, epsilon) <= beta,
        f"rho={rho!r} is too large for n_keys={n_keys} and beta={beta!r}",
        limit=10**6,
    )
