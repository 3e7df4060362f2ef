"""Extrapolate the flip rate from two sample sizes to a third one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from replearn.auditing._audit import Measurement
from replearn.auditing._statistics import Estimate, as_json, percent


@dataclass(frozen=True)
class Extrapolation:
    """Flip rate at a sample size that was not measured.

    Parameters
    ----------
    contender : str
        Its name.
    n : int
        Sample size requested.
    sizes : tuple of int
        The two sample sizes that were measured.
    measured : tuple of float
        Flip rates there.
    exponent : float or None
        Exponent of the power law through both; None if nothing flips at one of them.
    rate : Estimate or None
        The extrapolated rate. The limits cover errors of measurement only, not the error of the
        power law.
    """

    contender: str
    n: int
    sizes: tuple[int, int]
    measured: tuple[float, float]
    exponent: float | None
    rate: Estimate | None

    def __str__(self) -> str:
        seen = " and ".join(
            f"{percent(rate)} at n = {size}"
            for rate, size in zip(self.measured, self.sizes, strict=True)
        )
        if self.rate is None:
            return f"{self.contender}: measured {seen}; too few flips to extrapolate"
        return (
            f"{self.contender}: measured {seen}; extrapolated to n = {self.n}: "
            f"{self.rate} if a power law holds"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON values."""
        return {"extrapolation": True, **as_json(self)}


def extrapolate(
    smaller: Measurement, larger: Measurement, n: int | None = None
) -> tuple[Extrapolation, ...]:
    """Extrapolate the flip rate from two audits of different ``train_size``.

    An audit trains on at most half of the file, but the model in use is trained on all of it. A
    power law through the flip rates at n/4 and n/2 gives an estimate for n.

    Parameters
    ----------
    smaller, larger : AuditResult
        Audits of the same contenders; ``larger`` with the larger ``train_size``.
    n : int or None, default=None
        Sample size. If None, twice the larger one.

    Returns
    -------
    tuple of Extrapolation
        One per contender.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from replearn.auditing import audit, extrapolate
    >>> X, y = make_classification(2000, flip_y=0.2, random_state=0)
    >>> contenders = {"nb": GaussianNB()}
    >>> results = [audit(contenders, X, y, n_pairs=5, train_size=m) for m in (300, 600)]
    >>> guess, = extrapolate(*results)
    >>> guess.n, guess.rate.lower < guess.rate.value < guess.rate.upper
    (1200, True)
    """
    sizes = smaller.design.train_size, larger.design.train_size
    if sizes[0] >= sizes[1]:
        raise ValueError(f"smaller and larger have train_size {sizes[0]} and {sizes[1]}.")
    names = [contender.name for contender in larger.contenders]
    if names != [contender.name for contender in smaller.contenders]:
        raise ValueError("smaller and larger must have the same contenders, in the same order.")
    target = 2 * sizes[1] if n is None else n
    if target <= sizes[1]:
        raise ValueError(f"n={n} is not larger than train_size={sizes[1]}: use the measured rate.")
    return tuple(_extrapolate(name, smaller, larger, target) for name in names)


def _extrapolate(name: str, smaller: Measurement, larger: Measurement, n: int) -> Extrapolation:
    sizes = smaller.design.train_size, larger.design.train_size
    # Half of delta for each measurement: together they fail with probability delta.
    few, many = (
        result.mean(result[name].flips, delta=larger.delta / 2) for result in (smaller, larger)
    )
    exponent = None
    rate = None
    if min(few.lower, many.lower) > 0:
        span = math.log(sizes[1] / sizes[0])
        exponent = math.log(many.value / few.value) / span
        reach = math.log(n / sizes[1]) / span
        rate = Estimate(
            _power(many.value, few.value, reach),
            _power(many.lower, few.upper, reach),
            min(1.0, _power(many.upper, few.lower, reach)),
        )
    return Extrapolation(name, n, sizes, (few.value, many.value), exponent, rate)


def _power(many: float, few: float, reach: float) -> float:
    return many * (many / few) ** reach
