"""One rule of trust: packed parts need nothing, a part of skops needs the names of its types.

What can be is packed into columns (`replearn.persistence._packing`): a closed list of types, whose
numbers are checked before compiled code follows them (`replearn.persistence._validators`). The rest
is written by skops, and opened only if all of its types are trusted by name
(`replearn.persistence._skops`). Models in formats of other packages are packed, but trusted by
name, too. Nothing that is loaded starts processes or prints: ``n_jobs`` and ``verbose`` are reset.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from replearn.exceptions import ModelFileError
from replearn.persistence import _skops
from replearn.persistence._budget import Budget
from replearn.persistence._container import PACKED, SKOPS, Parts
from replearn.persistence._packing import (
    NotPackedError,
    native_types,
    pack_values,
    unpack_values,
)
from replearn.persistence._validators import check_models, check_trees, reset_jobs


def dump(state: dict[str, Any]) -> Parts:
    """Write the models' state: each item packed if it can be, otherwise by skops."""
    try:
        return {PACKED: pack_values([state])}
    except NotPackedError:
        packed = {name: value for name, value in state.items() if not why_not_packed(value)}
    rest = {name: value for name, value in state.items() if name not in packed}
    return {PACKED: pack_values([packed]), SKOPS: _skops.write(rest)}


def why_not_packed(value: Any) -> str | None:
    """Say why a model cannot be packed into arrays, and is written one by one by skops.

    Parameters
    ----------
    value : object
        A base estimator, or any value of a model file.

    Returns
    -------
    str or None
        The type that is not packed; None if everything is.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from replearn.persistence._trust import why_not_packed
    >>> why_not_packed(DecisionTreeClassifier()) is None, why_not_packed(SVC())
    (True, 'sklearn.svm._classes.SVC is not packed')
    """
    try:
        pack_values([value])
    except NotPackedError as error:
        return str(error)
    return None


def load_trusted(
    models: Parts, trusted_types: Sequence[str], name: str, max_bytes: int | None = None
) -> dict[str, Any]:
    """Rebuild the models' state; raise if it has types that are not trusted."""
    budget = Budget(name, sum(map(len, models.values())), max_bytes)
    state: dict[str, Any] = {}
    for part, read in ((PACKED, _read_packed), (SKOPS, _skops.read)):
        try:
            content = read(models[part], trusted_types, budget) if part in models else {}
            reset_jobs(content)
            check_trees(content, name)
            check_models(content, name)
        except (ModelFileError, ModuleNotFoundError):
            raise
        except Exception as error:
            # What a broken state raises is not documented; none of it is the caller's mistake.
            raise ModelFileError(f"{name} cannot be rebuilt here: {error}") from error
        if not isinstance(content, dict) or set(content) & set(state):
            raise ModelFileError(f"{name} has two values for one item.")
        state |= content
    return state


def _read_packed(models: bytes, trusted_types: Sequence[str], budget: Budget) -> Any:
    [state] = unpack_values(models, budget, trusted_types)
    return state


def untrusted_types(models: Parts, name: str) -> set[str]:
    """Return the names of the types that `load` trusts only by name; nothing is built."""
    budget = Budget(name, sum(map(len, models.values())))
    try:
        native = native_types(models[PACKED], budget) if PACKED in models else set()
        return native | (_skops.types_of(models[SKOPS], budget) if SKOPS in models else set())
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(f"{name} is damaged: {error}") from error
