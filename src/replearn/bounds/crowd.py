"""Many light points that differ independently of each other: their mass concentrates."""

import math

import numpy as np

from replearn.bounds._numeric import Floats, round_up, upper_probability
from replearn.records.checks import check_fraction, check_positive

__all__ = ["crowd_bound", "crowd_tail"]

_EXPONENTS = 900


def crowd_bound(mean: float, spread: float, mass: float, rho: float) -> float:
    """Mass of differing points, except with probability ``rho``, when no point is heavy.

    Parameters
    ----------
    mean, spread : float
        ``E exp(s Z) <= exp(s mean + s^2 spread / 4)`` for the expected mass Z given the samples.
    mass : float
        Largest mass of a single point, in [0, 1].
    rho : float
        Failure probability in (0, 1].

    Returns
    -------
    float
        ``min over l of (ln(1/rho) + s mean + s^2 spread/4) / l``, ``s = (e^(l mass) - 1)/mass``,
        and at most Markov's ``mean / rho``, rounded up.

    Examples
    --------
    >>> round(crowd_bound(0.01, 0.0, 0.001, 0.1), 4), round(crowd_bound(0.01, 0.0, 1.0, 0.1), 4)
    (0.0175, 0.1)
    """
    _check(mean, spread, mass)
    check_fraction("rho", rho)
    exponents, slopes = _exponents(mass, mean)
    # theorem: approximate-heavy
    logs = -math.log(rho) + 1e-11 + slopes * mean + slopes * slopes * spread / 4.0
    return round_up(round_up(min(float((logs / exponents).min()), mean / rho)))


def crowd_tail(mean: float, spread: float, mass: float, gamma: float) -> float:
    """Probability that differing points carry more than ``gamma``; see `crowd_bound`.

    Parameters
    ----------
    mean, spread, mass
        As for `crowd_bound`.
    gamma : float
        Mass allowed, positive.

    Returns
    -------
    float
        Rounded up, at most 1.

    Examples
    --------
    >>> round(crowd_tail(0.01, 0.0, 0.001, 0.02), 4), round(crowd_tail(0.01, 0.0, 1.0, 0.02), 4)
    (0.021, 0.5)
    """
    _check(mean, spread, mass)
    check_positive("gamma", gamma)
    exponents, slopes = _exponents(mass, mean)
    # theorem: approximate-heavy
    logs = slopes * mean + slopes * slopes * spread / 4.0 - exponents * gamma
    return upper_probability(min(math.exp(min(0.0, float(logs.min()))), mean / gamma))


def _check(mean: float, spread: float, mass: float) -> None:
    check_positive("mean", mean, zero=True)
    check_positive("spread", spread, zero=True)
    check_fraction("mass", mass, zero=True)


def _exponents(mass: float, mean: float) -> tuple[Floats, Floats]:
    """Exponents l and slopes (e^(l mass) - 1)/mass, from far too small to far too large.

    Every exponent gives a valid bound, so a grid is as good as the exact minimum.
    """
    size = max(mass, 1e-12)
    exponents = np.geomspace(0.01, 60.0 / max(size, min(mean, 1e-3), 1e-9), _EXPONENTS)
    return exponents, np.expm1(exponents * size) / size * (1.0 + 1e-12)
