"""Name one point that carries much mass, the same in two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from replearn.bounds.heavy_sets import one_heavy_power
from replearn.guarantees._heavy_promises import ONE
from replearn.guarantees._primitive_certificate import PrimitiveCertificate
from replearn.heavy._counting import count_points
from replearn.primitives.correlated import sample_correlated
from replearn.randomness import SharedKey
from replearn.records.checks import check_fraction, if_given
from replearn.tables import take_rows

__all__ = ["OneHeavyHitter", "find_one_heavy_hitter"]


@dataclass(frozen=True, eq=False)
class OneHeavyHitter:
    """One heavy point.

    Parameters
    ----------
    value : container of rows
        The point, as a container with one row.
    count : int
        Occurrences in the sample.
    n : int
        Rows of the sample.
    certificate : PrimitiveCertificate
        What is promised.
    """

    value: Any
    count: int
    n: int
    certificate: PrimitiveCertificate


def find_one_heavy_hitter(
    points: Any,
    nu: float,
    *,
    key: SharedKey,
    rho: float | None = None,
    beta: float = 0.05,
    kappa: float | None = None,
    decimals: int | None = None,
) -> OneHeavyHitter:
    """Name one heavy point, the same in two runs, from about 1/nu rows.

    Parameters
    ----------
    points : container of rows
        The sample.
    nu : float
        Some point has at least this mass.
    key : SharedKey
        The same in both runs.
    rho : float, default=None
        Probability of naming different points that is asked for; None: only stated.
    beta : float, default=0.05
        Failure probability of the statement about the named point's mass.
    kappa : float, default=None
        Power of the counts in the weights, at least 2; None: 2 + ln(1/nu).
    decimals : int, default=None
        Round numbers before points are compared.

    Returns
    -------
    OneHeavyHitter

    Examples
    --------
    >>> sample = [7] * 900 + list(range(10, 110))
    >>> find_one_heavy_hitter(sample, 0.5, key=SharedKey("a")).value
    [7]
    """
    check_fraction("nu", nu)
    check_fraction("beta", beta)
    if_given(check_fraction, "rho", rho)
    power = one_heavy_power(nu) if kappa is None else float(kappa)
    counted = count_points(points, decimals=decimals)
    # theorem: single-heavy-hitter
    weights = power * np.log(counted.counts)
    # Keyed by the rounded points: which of the rows behind a point is shown depends on the file.
    drawn = sample_correlated(counted.points, weights, key=key.child("one heavy")).index
    certificate = PrimitiveCertificate.issue(
        ONE, key.fingerprint, n=counted.n, nu=float(nu), kappa=power, rho=rho, beta=float(beta)
    )
    value = take_rows(counted.values, np.array([drawn]))
    return OneHeavyHitter(value, int(counted.counts[drawn]), counted.n, certificate)
