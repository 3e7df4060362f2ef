"""Checks of arguments: every message names the parameter, its value and what is allowed."""

import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar

Checked = TypeVar("Checked")


def check_number(name: str, value: Any) -> float:
    """Return a number as a float; booleans and texts are refused.

    >>> check_number("rho", 1)
    1.0
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


def check_fraction(name: str, value: Any, *, zero: bool = False, one: bool = True) -> float:
    """Return a number of the unit interval, with or without its ends; by default in (0, 1].

    >>> check_fraction("rho", 0.1)
    0.1
    """
    number = check_number(name, value)
    above = number >= 0.0 if zero else number > 0.0
    below = number <= 1.0 if one else number < 1.0
    if not (above and below):
        interval = f"{'[' if zero else '('}0, 1{']' if one else ')'}"
        raise ValueError(f"{name}={value!r} must lie in {interval}")
    return number


def check_positive(name: str, value: Any, *, zero: bool = False) -> float:
    """Return a finite number above 0 (or not below 0).

    >>> check_positive("slack", 2)
    2.0
    """
    number = check_number(name, value)
    if not math.isfinite(number) or number < 0.0 or (number == 0.0 and not zero):
        kind = "non-negative" if zero else "positive"
        raise ValueError(f"{name}={value!r} must be a finite {kind} number")
    return number


def check_count(name: str, value: Any, *, least: int = 1, most: int | None = None) -> int:
    """Return a whole number of at least ``least`` (and at most ``most``) as an int.

    >>> check_count("n_blocks", 32)
    32
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    count = int(value)
    if count < least or (most is not None and count > most):
        upper = "" if most is None else f" and at most {most}"
        raise ValueError(f"{name}={value!r} must be at least {least}{upper}")
    return count


def check_fractions(**values: Any) -> None:
    """Refuse numbers outside (0, 1], each named as it is passed.

    >>> check_fractions(rho=0.1, alpha=1.0)
    """
    for name, value in values.items():
        check_fraction(name, value)


def check_counts(**values: Any) -> None:
    """Refuse what is not a whole number of at least 1, each named as it is passed.

    >>> check_counts(n=32, n_hypotheses=2)
    """
    for name, value in values.items():
        check_count(name, value)


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return a text that is one of the choices.

    >>> check_choice("vote", "hard", ("hard", "soft"))
    'hard'
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}")
    return value


def if_given(check: Callable[..., Checked], name: str, value: Any, **limits: Any) -> Checked | None:
    """Return None for None, and what the check returns for everything else.

    >>> if_given(check_count, "n", None), if_given(check_count, "n", 5, least=2)
    (None, 5)
    """
    return None if value is None else check(name, value, **limits)
