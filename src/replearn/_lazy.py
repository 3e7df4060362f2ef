"""Names of a package that are loaded when they are first used, as its stub lists them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lazy_loader


def attach_stub(package: str, filename: str) -> tuple[Callable[[str], Any], Any, list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package from its ``.pyi``.

    As ``lazy_loader.attach_stub``, but ``__all__`` is that of the stub: names that the stub imports
    beside it (``from .module import name as name``) are for other packages of this library.

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    filename : str
        Its ``__file__``; the stub lies beside it.
    """
    names: dict[str, list[str]] = {}
    public: list[str] = []
    for node in ast.parse(Path(filename).with_suffix(".pyi").read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names.setdefault(node.module, []).extend(alias.name for alias in node.names)
        elif isinstance(node, ast.Assign):
            public = ast.literal_eval(node.value)
    get, names_of, _ = lazy_loader.attach(package, submod_attrs=names)
    return get, names_of, public
