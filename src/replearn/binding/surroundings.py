"""What a base estimator depends on besides its rows: the other rows of a batch, and files.

The promise is about a point, whatever else is scored with it, so a few rows are scored alone and
together (`batch_condition`). A file that is read while a block is fitted or scored is no part of
any digest: it is named as unknown (`files_read`).
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.execution import one_thread
from replearn.tables import copy_rows, n_rows, take_rows

ROWS_TOGETHER = 32
ROWS_ALONE = 4

_CLOSE = 1e-6
_METHODS = ("predict_proba", "decision_function", "predict")
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, partial, np.ufunc)


# -- the other rows of a batch ---------------------------------------------------------------------
def takes_functions(base: Any) -> bool:
    """Whether a parameter of an estimator or of its parts is a function, which may do anything.

    >>> from sklearn.preprocessing import FunctionTransformer, scale
    >>> takes_functions(FunctionTransformer(scale))
    True
    """
    params = base.get_params(deep=True) if hasattr(base, "get_params") else {}
    return any(isinstance(value, _FUNCTIONS) for value in params.values())


def batch_condition(model: Any, probes: Any) -> tuple[str, ...]:
    """Score rows alone and together; say if predictions depend on the other rows."""
    rows = take_rows(probes, np.arange(min(n_rows(probes), ROWS_TOGETHER)))
    predict = next((getattr(model, name) for name in _METHODS if hasattr(model, name)), None)
    if predict is None or not _depends_on_batch(predict, rows):
        return ()
    return (
        f"predictions of {_step(model, rows)} depend on the other rows of the batch: a row that is "
        "scored alone gets other ones, and so does the same row in another batch. Compute in fit "
        "what is computed from the rows of a batch",
    )


def _depends_on_batch(compute: Callable[[Any], Any], rows: Any) -> bool:
    """Whether a method gives some rows other results alone than together; False on an error."""
    try:
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore")  # predictions will show them
            together = _dense(compute(copy_rows(rows)))
            some = np.linspace(0, len(together) - 1, ROWS_ALONE).astype(np.intp)
            alone = [_dense(compute(copy_rows(take_rows(rows, some[k : k + 1])))) for k in range(4)]
    except Exception:  # nothing is known: a prediction will show it
        return False
    return not all(map(_same, alone, (together[row : row + 1] for row in some)))


def _dense(values: Any) -> NDArray[Any]:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def _same(one: NDArray[Any], two: NDArray[Any]) -> bool:
    if one.shape != two.shape:
        return False
    if one.dtype.kind == "f" and two.dtype.kind == "f":
        return np.allclose(one, two, rtol=_CLOSE, atol=_CLOSE, equal_nan=True)
    return bool(((one == two) | ((one != one) & (two != two))).all())


def _step(model: Any, rows: Any) -> str:
    """Name the first step of a pipeline whose result depends on the batch, else the estimator."""
    for name, step in getattr(model, "steps", ())[:-1]:
        if not hasattr(step, "transform"):
            continue
        if _depends_on_batch(step.transform, rows):
            return f"step {name!r} ({type(step).__name__}) of the base estimator"
        rows = step.transform(copy_rows(rows))
    return f"the base estimator ({type(model).__name__})"


# -- files -----------------------------------------------------------------------------------------
_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".dll", ".dylib", ".pth")
_SYSTEM = ("/proc/", "/sys/", "/dev/", "/etc/")
_watching: list[tuple[int, list[str]]] = []
_installed: list[bool] = []


@contextmanager
def files_read() -> Iterator[list[str]]:
    """List the files that this thread opens for reading meanwhile; code and temporary ones not.

    Hooks of audit events cannot be removed: one is installed when it is first needed, and does
    nothing while nobody listens.
    """
    if not _installed:
        _installed.append(True)
        sys.addaudithook(_listen)
    listener: tuple[int, list[str]] = (threading.get_ident(), [])
    _watching.append(listener)
    try:
        yield listener[1]
    finally:
        _watching.remove(listener)


def _listen(event: str, args: tuple[Any, ...]) -> None:
    if not _watching or event != "open":
        return
    path, mode, flags = args
    writes = flags & (os.O_WRONLY | os.O_CREAT) if isinstance(flags, int) else 0
    if writes or (isinstance(mode, str) and mode[:1] in ("w", "x", "a")):
        return
    try:
        name = os.path.abspath(os.fsdecode(path))
    except (TypeError, OSError):  # a number, or a folder that is gone: what opens it may say so
        return
    for thread, names in _watching:
        if thread == threading.get_ident() and _is_data(name) and name not in names:
            names.append(name)


def _is_data(name: str) -> bool:
    """Whether a file is neither code, nor a part of an installed package, nor ours."""
    installed = (sys.prefix, sys.base_prefix, sys.exec_prefix)
    ours = os.path.join(tempfile.gettempdir(), "replearn-")
    return not (
        name.endswith(_CODE)
        or name.startswith((*_SYSTEM, ours, *(os.path.join(path, "") for path in installed)))
        or "zoneinfo" in name
        or "joblib" in name
    )
