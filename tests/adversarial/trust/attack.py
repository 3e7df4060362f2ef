"""Search for the worst case of a claim: random search, then hill climbing, then a fresh count.

A claim says that something bad happens with probability at most ``certified``. Its attack is a map
from a cube to cases (populations, learners, sizes), with the probability of the bad event in each
case: exact where a closed sum exists, else a mean over simulated samples. The worst case that the
search finds is simulated afresh, through the rules and the keyed hashes of the library.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import beta

# Probability that one claim's limits are wrong although the claim is true.
ALARM = 1e-9
# Exact sums are right to about this.
ROUNDING = 1e-9
CHUNK = 100_000
SHRINK = 0.97


class Claim:
    """One claim and the attack on it."""

    name = ""
    theorem = ""
    exact = True  # whether `value` is exact, or a mean over simulated samples
    size = 1  # coordinates of the cube
    most = 0.35  # promises above this are not worth a search
    least = 0.02  # nor are those below this, where the search has to simulate
    quick = 1.0  # part of the usual tries in a short search, for slow claims
    slack = ""  # why the worst case stays far below what is certified

    def case(self, z: np.ndarray) -> Any:
        """Return the case at a place of the cube."""
        raise NotImplementedError

    def certified(self, case: Any) -> float:
        """Return what the library promises for this case."""
        raise NotImplementedError

    def value(self, case: Any) -> float:
        """Return the probability of the bad event, exactly or nearly."""
        raise NotImplementedError

    def simulate(self, case: Any, rng: np.random.Generator, pairs: int) -> int:
        """Return how often the bad event happens among so many pairs of runs."""
        raise NotImplementedError


@dataclass
class Finding:
    """The worst case that was found."""

    claim: Claim
    case: Any
    certified: float
    value: float
    tried: int
    hits: int = 0
    pairs: int = 0
    worst: float = field(default=0.0)

    @property
    def ratio(self) -> float:
        """Return measured / certified: of the exact value, or of the fresh simulation."""
        measured = self.value if self.claim.exact else self.hits / max(self.pairs, 1)
        return measured / self.certified

    @property
    def limits(self) -> tuple[float, float]:
        """Clopper-Pearson limits of the simulated probability, each wrong with ALARM / 2."""
        k, n, tail = self.hits, self.pairs, ALARM / 2
        low = 0.0 if k == 0 else float(beta.ppf(tail, k, n - k + 1))
        return low, 1.0 if k == n else float(beta.isf(tail, k + 1, n - k))

    @property
    def complaints(self) -> list[str]:
        """Return what is wrong: a broken claim, or a simulation that contradicts the sum."""
        low, high = self.limits
        wrong = []
        if low > self.certified:
            wrong.append(f"simulated {self.hits}/{self.pairs} > certified {self.certified:.6g}")
        if self.claim.exact and self.value > self.certified * (1 + ROUNDING) + 1e-12:
            wrong.append(f"exact {self.value:.9g} > certified {self.certified:.9g}")
        if self.claim.exact and not low - ROUNDING <= self.value <= high + ROUNDING:
            wrong.append(f"exact {self.value:.6g} outside simulated [{low:.6g}, {high:.6g}]")
        return [f"{self.claim.name}: {text} at {words(self.case)}" for text in wrong]


def attack(claim: Claim, *, tries: int, steps: int, pairs: int, seed: int = 0) -> Finding:
    """Search with so many random tries and steps uphill, then simulate the worst case."""
    rng = np.random.default_rng([seed, zlib.crc32(claim.name.encode())])
    places = rng.random((tries, claim.size))
    # Worst cases often lie on the border or in the middle of a coordinate.
    special = rng.random(places.shape) < 0.15
    places[special] = rng.choice([0.0, 0.5, 1.0], special.sum())
    best, best_ratio = places[0], -math.inf
    for place in places:
        ratio = _ratio(claim, place)
        if ratio > best_ratio:
            best, best_ratio = place, ratio
    reach = 0.3
    for _ in range(steps):
        moved = rng.random(claim.size) < max(0.3, 1.0 / claim.size)
        step = np.where(moved, rng.normal(0.0, reach, claim.size), 0.0)
        place = np.clip(best + step, 0.0, 1.0)
        ratio = _ratio(claim, place)
        if ratio >= best_ratio:
            best, best_ratio = place, ratio
        else:
            reach = max(reach * SHRINK, 1e-3)
    case = claim.case(best)
    found = Finding(claim, case, claim.certified(case), claim.value(case), tries + steps)
    while found.pairs < pairs:
        now = min(CHUNK, pairs - found.pairs)
        found.hits += int(claim.simulate(case, rng, now))
        found.pairs += now
    return found


def _ratio(claim: Claim, place: np.ndarray) -> float:
    case = claim.case(place)
    certified = claim.certified(case)
    # A promise of (nearly) 1 says nothing, and rare events would not be seen in the simulation.
    least = 0.01 if claim.exact else claim.least
    return claim.value(case) / certified if least <= certified <= claim.most else -certified


def words(case: Any) -> str:
    """Return a case in a few words."""
    return ", ".join(f"{name} {_short(value)}" for name, value in case._asdict().items())


def _short(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.3g}"
    if isinstance(value, np.ndarray):
        return "(" + " ".join(_short(part) for part in value.ravel()[:8].tolist()) + ")"
    return str(value)


# -- places of the cube -------------------------------------------------------------------------
def whole(place: float, low: int, high: int) -> int:
    """Return a whole number from low to high, small ones more often."""
    return min(high, int(low * (high / low + 1e-12) ** place + 0.5))


def among(place: float, options: Any) -> Any:
    """Return one of some options."""
    return options[min(int(place * len(options)), len(options) - 1)]


def between(place: float, low: float, high: float) -> float:
    """Return a number from low to high."""
    return float(low + (high - low) * place)


def masses(places: np.ndarray) -> np.ndarray:
    """Return a distribution: equal places give equal masses, a place of 0 no mass."""
    weights = np.asarray(places, float) ** 2
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(places), 1.0 / len(places))
