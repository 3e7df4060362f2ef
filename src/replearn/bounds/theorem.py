"""The theorem key of a bound stands on the bound itself.

A certificate writes down only numbers of functions that are marked here, so that a number without
a theorem cannot enter it, and finds the function again by its name to recompute the number.
"""

from collections.abc import Callable
from typing import Any, TypeVar

Bound = TypeVar("Bound", bound=Callable[..., Any])

_BOUNDS: dict[str, tuple[str, Callable[..., Any]]] = {}


def theorem(key: str) -> Callable[[Bound], Bound]:
    """Mark a function as a bound that follows from the theorem ``docs/theory/<key>.md``.

    >>> @theorem("several-partitions")
    ... def example_of_a_bound(flip_bound: float) -> float:
    ...     return flip_bound
    >>> example_of_a_bound.theorem_key
    'several-partitions'
    """

    def mark(function: Bound) -> Bound:
        name = function.__name__
        known = _BOUNDS.get(name)
        if known is not None and _home(known[1]) != _home(function):
            raise ValueError(f"two bounds are called {name!r}: certificates name them, rename one")
        _BOUNDS[name] = (key, function)
        setattr(function, "theorem_key", key)  # noqa: B010 - functions have no such field
        return function

    return mark


def bound_named(name: str) -> Callable[..., Any]:
    """Return the marked bound of this name.

    >>> bound_named("error_factor").__name__
    'error_factor'
    """
    if name not in _BOUNDS:
        raise ValueError(f"{name!r} is not a bound of this library")
    return _BOUNDS[name][1]


def theorems_in_use() -> dict[str, list[str]]:
    """Return the names of all marked bounds by theorem key."""
    names: dict[str, list[str]] = {}
    for name, (key, _) in sorted(_BOUNDS.items()):
        names.setdefault(key, []).append(name)
    return names


def _home(function: Callable[..., Any]) -> tuple[str, str]:
    return function.__module__, function.__qualname__
