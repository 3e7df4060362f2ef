"""Estimators that hold a key: a secret one given as text is not kept as text."""

from __future__ import annotations

from typing import Any

from replearn.randomness.hashing import EXPORT_PREFIX
from replearn.randomness.key import SharedKey

_PARAMETER = "shared_key"


class HoldsKey:
    """Mixin for estimators with the parameter ``shared_key``.

    A text that `SharedKey.export` has written becomes a `SharedKey` when the parameter is set:
    ``repr``, the HTML display and ``get_params`` show its fingerprint, and pickling the estimator
    warns. Any other value is kept as it is, as scikit-learn expects.

    Examples
    --------
    >>> from replearn import PointwiseReplicableClassifier, SharedKey
    >>> secret = SharedKey.generate()
    >>> model = PointwiseReplicableClassifier(shared_key=secret.export())
    >>> secret.export() in repr(model), model.shared_key == secret
    (False, True)
    """

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, _held(value) if name == _PARAMETER else value)


def _held(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith(EXPORT_PREFIX):
        return value
    try:
        return SharedKey(value)
    except ValueError:  # mistyped: fit says so, as for every other parameter
        return value
