"""Argument checks that every bound shares."""

import math
from numbers import Integral, Real

MOST_BLOCKS = 10_000_000
"""Beyond this many blocks nothing has been checked."""


def checked_blocks(n_blocks: int, *, name: str = "n_blocks") -> int:
    """Return ``n_blocks`` as an int, or raise if it is not in 1, 2, ..., 10^7."""
    return checked_count(n_blocks, name=name, smallest=1, largest=MOST_BLOCKS)


def checked_count(value: int, *, name: str, smallest: int, largest: int | None = None) -> int:
    """Return ``value`` as an int, or raise if it is not an integer in the given range."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < smallest or (largest is not None and value > largest):
        upper = "" if largest is None else f" and at most {largest}"
        raise ValueError(f"{name} must be at least {smallest}{upper}, got {value}")
    return int(value)


def checked_number(value: float, *, name: str, low: float, high: float) -> float:
    """Return ``value`` as a float, or raise if it is not in (low, high]."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = float(value)
    if not math.isfinite(number) or not low < number <= high:
        raise ValueError(f"{name} must be in ({low:g}, {high:g}], got {value!r}")
    return number


def check_fraction(name: str, value: float, *, zero: bool = False, one: bool = True) -> float:
    """Return ``value`` if it lies in the unit interval, with or without its ends."""
    number = float(value)
    above = number >= 0.0 if zero else number > 0.0
    below = number <= 1.0 if one else number < 1.0
    if not (above and below):
        interval = f"{'[' if zero else '('}0, 1{']' if one else ')'}"
        raise ValueError(f"{name}={value!r} must lie in {interval}.")
    return number


def check_positive(name: str, value: float, *, zero: bool = False) -> float:
    """Return ``value`` as a finite float above 0 (or not below 0)."""
    number = float(value)
    if not math.isfinite(number) or number < 0.0 or (number == 0.0 and not zero):
        kind = "non-negative" if zero else "positive"
        raise ValueError(f"{name}={value!r} must be a finite {kind} number.")
    return number


def checked_budget(rho: float) -> float:
    """Return the flip budget ``rho`` as a float, or raise if it is not in (0, 1]."""
    return checked_number(rho, name="rho", low=0.0, high=1.0)


def checked_width(width: float) -> float:
    """Return the half-width of a law as a float, or raise if it is not in (0, 1]."""
    return checked_number(width, name="width", low=0.0, high=1.0)


def checked_vote(vote: str) -> str:
    """Return ``vote``, or raise if it is neither "hard" nor "soft"."""
    if vote not in ("hard", "soft"):
        raise ValueError(f"vote must be 'hard' or 'soft', got {vote!r}")
    return vote
