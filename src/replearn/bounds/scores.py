"""Thresholds in standard errors of a score: how often two runs with mean scores differ.

A score is divided by its standard error (Z), and the point's threshold is uniform on [-c, c]. These
numbers are conditional on the standard error, which no worst-case theorem knows, but for the worst
case of the same design. Proofs: docs/theory/score-thresholds.md.
"""

import math

from replearn.bounds.numeric import round_up, upper_probability
from replearn.bounds.pairs import central_binomial
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count, check_fraction, check_positive

NORMAL_DIFFERENCE = 2.0 / math.sqrt(math.pi)
"""E|Z - Z'| of two independent normal numbers, in standard deviations."""

LARGEST_DIFFERENCE = 2.0 / math.sqrt(3.0)
"""The largest E|Z - Z'| of any distribution, in standard deviations: that of the uniform one."""


@theorem("score-thresholds")
def score_half_width(rho: float, reach: float | None = None) -> float:
    """Return the half-width c of the thresholds, in standard errors, with normal flips ``rho``.

    At most ``reach``, the distance to scores of 0 or 1, which no threshold overrules.

    >>> round(score_half_width(0.1), 3), score_half_width(0.1, reach=4.5)
    (5.642, 4.5)
    """
    width = round_up(NORMAL_DIFFERENCE / (2.0 * check_fraction("rho", rho)))
    return width if reach is None else min(width, check_positive("reach", reach))


@theorem("score-thresholds")
def normal_flip_bound(half_width: float, excess: float = 1.0) -> float:
    """Bound the flips of normal scores whose standard error is ``excess`` times the assumed one.

    >>> round(normal_flip_bound(score_half_width(0.1), excess=2.0), 6)
    0.2
    """
    width = check_positive("half_width", half_width)
    return upper_probability(check_positive("excess", excess) * NORMAL_DIFFERENCE / (2.0 * width))


@theorem("score-thresholds")
def any_score_flip_bound(half_width: float, excess: float = 1.0) -> float:
    """Bound the flips of scores of any distribution, by their standard error alone.

    >>> round(any_score_flip_bound(score_half_width(0.1)), 5)
    0.10233
    """
    width = check_positive("half_width", half_width)
    return upper_probability(check_positive("excess", excess) * LARGEST_DIFFERENCE / (2.0 * width))


@theorem("score-thresholds")
def mismatch_flip_bound(ratio: float) -> float:
    """Bound what is added if the standard errors of two runs differ by a factor of up to ``ratio``.

    >>> round(mismatch_flip_bound(1.05), 4)
    0.0238
    """
    factor = check_positive("ratio", ratio)
    return upper_probability((1.0 - min(factor, 1.0 / factor)) / 2.0)


@theorem("score-thresholds")
def worst_score_flip_bound(
    n_blocks: int, half_width: float, standard_error: float, n_classes: int = 2
) -> float:
    """Bound the flips of any estimator whatever its scores do, for thresholds fixed beforehand.

    The score is a mean over ``n_blocks`` independent blocks. At most 1, which says nothing.

    >>> round(worst_score_flip_bound(8, score_half_width(0.1), 0.05), 3)
    0.348
    """
    width = check_positive("half_width", half_width) * check_positive(
        "standard_error", standard_error
    )
    pairs = math.comb(check_count("n_classes", n_classes, least=2), 2)
    return upper_probability(pairs * central_binomial(n_blocks) / (2.0 * width))
