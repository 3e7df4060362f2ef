"""Models with a heavy stage: membership, labels and votes concentrate, each its own way.

Given the samples, points differ independently of each other because each has thresholds of its
own. What carries little mass then averages out; only labels of heavy points are left to Markov.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from replearn.bounds.completeness import found_from, some_missed_point_bound
from replearn.bounds.laws import ROUNDING
from replearn.bounds.membership import MembershipLaw
from replearn.bounds.numeric import Floats, round_up, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records import check_fraction, check_positive

_EXPONENTS = 900

# Shares and failure probabilities that are tried: every one gives a valid bound.
_LABEL_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_MISSED = (1e-2, 1e-3, 1e-4, 1e-6)
# Share of rho for points that are missed although they are heavy.
_MISSED_SHARE = 0.02
_HALVINGS = 26


def crowd_bound(mean: float, spread: float, mass: float, rho: float) -> float:
    """Mass of differing points, except with probability ``rho``, when no point is heavy.

    ``min over l of (ln(1/rho) + s mean + s^2 spread/4) / l``, ``s = (e^(l mass) - 1)/mass``,
    and at most Markov's ``mean / rho``, rounded up.

    >>> round(crowd_bound(0.01, 0.0, 0.001, 0.1), 4), round(crowd_bound(0.01, 0.0, 1.0, 0.1), 4)
    (0.0175, 0.1)
    """
    exponents, slopes = _exponents(mean, spread, mass)
    check_fraction("rho", rho)
    # theorem: approximate-heavy
    logs = -math.log(rho) + 1e-11 + slopes * mean + slopes * slopes * spread / 4.0
    return round_up(round_up(min(float((logs / exponents).min()), mean / rho)))


def crowd_tail(mean: float, spread: float, mass: float, gamma: float) -> float:
    """Probability that differing points carry more than ``gamma``; see `crowd_bound`.

    Rounded up, at most 1.

    >>> round(crowd_tail(0.01, 0.0, 0.001, 0.02), 4), round(crowd_tail(0.01, 0.0, 1.0, 0.02), 4)
    (0.021, 0.5)
    """
    exponents, slopes = _exponents(mean, spread, mass)
    check_positive("gamma", gamma)
    # theorem: approximate-heavy
    logs = slopes * mean + slopes * slopes * spread / 4.0 - exponents * gamma
    return upper_probability(min(math.exp(min(0.0, float(logs.min()))), mean / gamma))


def _exponents(mean: float, spread: float, mass: float) -> tuple[Floats, Floats]:
    """Exponents l and slopes (e^(l mass) - 1)/mass, from far too small to far too large.

    Every exponent gives a valid bound, so a grid is as good as the exact minimum.
    """
    check_positive("mean", mean, zero=True)
    check_positive("spread", spread, zero=True)
    size = max(check_fraction("mass", mass, zero=True), 1e-12)
    exponents = np.geomspace(0.01, 60.0 / max(size, min(mean, 1e-3), 1e-9), _EXPONENTS)
    return exponents, np.expm1(exponents * size) / size * (1.0 + 1e-12)


def membership_spread(n: int, law: MembershipLaw, mass: float) -> float:
    """Spread of the expected mass whose membership differs, over the rows of both samples.

    Returns ``n (2 mass g)^2``, g the largest step of the law from one count to the next.

    >>> round(membership_spread(1_000_000, MembershipLaw.standard(0.01), 0.01) * 1e6, 2)
    28.44
    """
    if law.kind == "sqrt":
        step = 0.5 / (n * math.sqrt(law.low) * (math.sqrt(law.high) - math.sqrt(law.low)))
    else:
        step = 1.0 / (n * (law.high - law.low))
    # theorem: approximate-heavy
    return round_up(n * (2.0 * mass * (step + 2.0 * ROUNDING)) ** 2)


@lru_cache(maxsize=4096)
def _complete_from(n: int, law: MembershipLaw, beta: float) -> tuple[float, float] | None:
    """A mass from which on all points are members, and the probability that one is not."""
    mass = found_from(n, law, beta)
    return None if mass is None else (mass, some_missed_point_bound(n, law, mass))


@theorem("approximate-heavy")
def membership_disagreement_tail(
    n: int, law: MembershipLaw, membership_flip: float, gamma: float
) -> float:
    """Probability that two heavy sets differ on more than ``gamma``.

    ``membership_flip`` holds for one point; each point has a threshold of its own.

    >>> law = MembershipLaw.standard(0.01)
    >>> round(membership_disagreement_tail(100_000, law, 0.024, 0.1), 4)
    0.0305
    """
    check_positive("gamma", gamma)

    def tail(mass: float) -> float:
        return crowd_tail(membership_flip, membership_spread(n, law, mass), mass, gamma)

    return _best_tail(n, law, tail)


@theorem("approximate-heavy")
def label_disagreement_tail(n: int, core: MembershipLaw, label_flip: float, gamma: float) -> float:
    """Probability that labels of heavy points outside a core differ on more than ``gamma``.

    Points outside both cores are light, except those that the core missed.

    >>> core = MembershipLaw("sqrt", 0.01, 0.02)
    >>> round(label_disagreement_tail(100_000, core, 0.01, 0.1), 4)
    0.0017
    """
    check_positive("gamma", gamma)
    return _best_tail(n, core, lambda mass: crowd_tail(label_flip, 0.0, mass, gamma))


def _best_tail(n: int, law: MembershipLaw, tail: Callable[[float], float]) -> float:
    """Return the smallest tail of points lighter than a mass from which on none is missed."""
    best = 1.0
    for beta in _MISSED:
        complete = _complete_from(n, law, beta)
        if complete is not None:
            mass, missed = complete
            # theorem: approximate-heavy
            best = min(best, 2.0 * missed + tail(mass))
    return upper_probability(best)


@theorem("sample-reuse")
def reuse_flip_bound(membership: float, labels: float, votes: float) -> float:
    """Pointwise flip bound of an estimator with a heavy stage that uses its sample three times.

    Returns ``membership + max(labels, votes)``, cut at 1 and rounded up: bounds of P(heavy in one
    run only), of P(labels differ) if heavy in both, of P(votes differ) without a heavy stage.

    >>> round(reuse_flip_bound(0.02, 0.05, 0.08), 6)
    0.1
    """
    for name, value in (("membership", membership), ("labels", labels), ("votes", votes)):
        check_fraction(name, value, zero=True)
    return upper_probability(membership + max(labels, votes))
