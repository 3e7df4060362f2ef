"""Estimators that hold a key: a secret one given as text is not kept as text."""

from __future__ import annotations

from typing import Any

from replearn.exceptions import PublicKeyWarning, WeakKeyWarning, warn_user
from replearn.randomness.hashing import EXPORT_PREFIX
from replearn.randomness.key import SharedKey

DEFAULT_KEY = 0
"""The key of runs that were given none; everybody knows it."""

_PARAMETER = "shared_key"


def key_or_default(value: Any) -> SharedKey:
    """Return a parameter ``shared_key`` as a key; None stands for the public default key.

    >>> key_or_default(None) == SharedKey(0), key_or_default("trial") == SharedKey("trial")
    (True, True)
    """
    return SharedKey(DEFAULT_KEY if value is None else value)


def warn_if_weak(value: Any) -> None:
    """Warn that a parameter ``shared_key`` can be guessed from the fingerprint that is published.

    Nothing is said of None, the public default key: ``fit`` has warned of it.
    """
    if value is None or not (key := SharedKey(value)).is_weak:
        return
    warn_user(
        f"the key {key.fingerprint} was made of a short text or a small number: whoever reads the "
        "fingerprint can guess it, and compute every threshold. Use SharedKey.generate() (on the "
        "command line: replearn key new); if the key is public on purpose, ignore WeakKeyWarning.",
        WeakKeyWarning,
    )


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

    shared_key: Any

    def _key(self) -> SharedKey:
        """Return the key of this estimator."""
        return key_or_default(self.shared_key)

    def _key_for_fit(self) -> SharedKey:
        """Return the key, and warn if nobody has chosen it."""
        if self.shared_key is None:
            warn_user(
                "shared_key is not set: the public default key is used. Runs that should agree "
                "must use the same key; set shared_key to a text that they share, or to a secret "
                "SharedKey.generate().",
                PublicKeyWarning,
            )
        return self._key()

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, _held(value) if name == _PARAMETER else value)


def _held(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith(EXPORT_PREFIX):
        return value
    try:
        return SharedKey(value)
    except ValueError:  # mistyped: fit says so, as for every other parameter
        return value
