"""Find one heavy point, the same in two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from replearn.bounds import one_heavy_power
from replearn.guarantees import Certificate, certify
from replearn.heavy.counting import count_points
from replearn.primitives import sample_correlated
from replearn.randomness import SharedKey
from replearn.records import check_fraction, if_given
from replearn.tables import take_rows


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
    certificate : Certificate
        What is promised.
    """

    value: Any
    count: int
    n: int
    certificate: Certificate


def find_one_heavy_hitter(
    points: Any,
    nu: float,
    *,
    key: SharedKey | str | bytes | int,
    rho: float | None = None,
    beta: float = 0.05,
    kappa: float | None = None,
    decimals: int | None = None,
) -> OneHeavyHitter:
    """Find one heavy point, the same in two runs, from about 1/nu rows.

    Parameters
    ----------
    points : container of rows
        The sample.
    nu : float
        Some point has at least this mass.
    key : SharedKey, str, bytes or int
        The same in both runs.
    rho : float, default=None
        Requested probability of different points in two runs. If None, it is only stated.
    beta : float, default=0.05
        Failure probability of the statement about the mass of the result.
    kappa : float, default=None
        Power of the counts in the weights, at least 2. If None, 2 + ln(1/nu).
    decimals : int, default=None
        Number of decimals to which numbers are rounded before points are compared.

    Examples
    --------
    >>> sample = [7] * 900 + list(range(10, 110))
    >>> find_one_heavy_hitter(sample, 0.5, key="a").value
    [7]
    """
    check_fraction("nu", nu)
    check_fraction("beta", beta)
    if_given(check_fraction, "rho", rho)
    key = SharedKey(key)
    power = one_heavy_power(nu) if kappa is None else float(kappa)
    counted = count_points(points, decimals=decimals)
    # theorem: single-heavy-hitter
    weights = power * np.log(counted.counts)
    # Keyed by the rounded points: which of the rows behind a point is shown depends on the file.
    drawn = sample_correlated(counted.points, weights, key=key.child("one heavy")).index
    run: dict[str, Any] = {"n": counted.n, "nu": float(nu), "kappa": power}
    certificate = certify("one heavy point", key.fingerprint, **run, rho=rho, beta=float(beta))
    value = take_rows(counted.values, np.array([drawn]))
    return OneHeavyHitter(value, int(counted.counts[drawn]), counted.n, certificate)
