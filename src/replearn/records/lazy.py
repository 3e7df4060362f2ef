"""Names of a room that are loaded when they are first used, so that nobody waits for the others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def names_on_demand(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names live in its modules.

    >>> load, names = names_on_demand("replearn.records", {"replearn.records.text": ["aligned"]})
    >>> names()
    ['aligned']
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)  # the next time it is simply there
        return value

    return load, lambda: sorted(home_of)
