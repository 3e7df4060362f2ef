"""The decision rule: vote shares against keyed thresholds, in exact arithmetic.

Two classes: answer 1 iff ``u < G(share)``, averaged over partitions (theorem: pointwise-threshold,
several-partitions). With hard votes every number is an integer, so that the rule gives the same
bits on every machine. More classes: see `replearn.learners._class_votes`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from replearn.bounds import ThresholdLaw
from replearn.bounds.laws import LAW_BITS

_UNIFORM_BITS = 53


def law_values(law: ThresholdLaw, votes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Sum over partitions of G(vote share), in units of 2**-30."""
    return law.table[votes].sum(axis=1, dtype=np.int64)


def hard_answers(
    values: NDArray[np.int64], n_partitions: int, uniforms: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Whether ``u < mean G``, decided in integers.

    Examples
    --------
    >>> import numpy as np
    >>> hard_answers(np.array([2**30, 0]), 2, np.array([0.49, 0.0]))
    array([ True, False])
    """
    # u * 2^53 < (sum / (J 2^30)) 2^53  <=>  (u 2^53) J < sum 2^23; below 2^63 for J <= 1023.
    if n_partitions >= 2 ** (63 - _UNIFORM_BITS):
        raise ValueError(f"n_partitions={n_partitions} is too large; use at most 1023.")
    scaled = (uniforms * 2.0**_UNIFORM_BITS).astype(np.int64)
    return scaled * n_partitions < values << (_UNIFORM_BITS - LAW_BITS)


def mean_law(values: NDArray[np.int64], n_partitions: int) -> NDArray[np.float64]:
    """Mean of G over partitions, as a number in [0, 1]."""
    return values / (n_partitions * 2.0**LAW_BITS)
