"""The theorem key of a bound stands on the bound itself.

A certificate writes down only numbers of functions that are marked here, so that a number without
a theorem cannot enter it; the name that it writes down belongs to one function only.
"""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

Bound = TypeVar("Bound", bound=Callable[..., Any])

BOUNDS: dict[str, Callable[..., Any]] = {}
"""All marked functions by name."""


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
        if _home(BOUNDS.get(name, function)) != _home(function):
            raise ValueError(f"two bounds are called {name!r}: certificates name them, rename one")
        BOUNDS[name] = function
        setattr(function, "theorem_key", key)  # noqa: B010 - functions have no such field
        return function

    return mark


def clear_caches() -> None:
    """Forget what bounds have computed: the next number is computed, not looked up."""
    homes = {function.__module__ for function in BOUNDS.values()}
    modules = [
        module
        for name, module in sys.modules.items()
        if name in homes or name.startswith("replearn.bounds")
    ]
    for value in [item for module in modules for item in vars(module).values()]:
        if hasattr(value, "cache_clear"):
            value.cache_clear()


def _home(function: Callable[..., Any]) -> tuple[str, str]:
    return function.__module__, function.__qualname__
