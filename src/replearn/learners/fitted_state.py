"""What ``fit`` leaves on an estimator: how it is dropped, written to a file and restored."""

from __future__ import annotations

from typing import Any, ClassVar

from replearn.randomness import SharedKey


class FittedState:
    """Mixin for estimators of this library: they own how they are restored from a model file.

    A file holds what `_file_state` returns: the parameters and the fitted attributes, without the
    shared key. `_restore` is called on an object that has all of them again, and the key.

    A subclass that fits something which does not belong in a file, or is not in the form in which
    it can be written, lists it in ``_derived_state``, or changes it in `_file_state`, and overrides
    `_derive`. Nothing that is written may hold the key.
    """

    _private_state: ClassVar[tuple[str, ...]] = ()
    """Fitted attributes whose names do not end with an underscore."""

    _derived_state: ClassVar[tuple[str, ...]] = ()
    """Fitted attributes that are not written, because `_derive` computes them."""

    _always_certified: ClassVar[bool] = True
    """Whether every fitted estimator has a certificate, which its file must contain."""

    certificate_: Any
    shared_key: Any

    def _forget_fit(self) -> None:
        """Delete the fitted attributes."""
        for name in list(vars(self)):
            is_fitted = name.endswith("_") and not name.startswith("__")
            if is_fitted or name in self._private_state:
                delattr(self, name)

    def _file_state(self) -> dict[str, Any]:
        """Return the attributes that a file needs; raise ValueError if one cannot be written."""
        left_out = {"shared_key", *self._derived_state}
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def _restore(self, key: SharedKey) -> None:
        """Check the attributes of a file, and compute what follows from them and the key.

        Raises
        ------
        ValueError
            If the attributes do not fit together, or belong to another key.
        """
        certificate = getattr(self, "certificate_", None)
        if certificate is None:  # not fitted: a parameter of another estimator
            return
        if certificate.key_fingerprint != key.fingerprint:
            raise ValueError(f"the certificate of {type(self).__name__} belongs to another key.")
        self._derive(key)

    def _derive(self, key: SharedKey) -> None:
        """Check the attributes of a fitted estimator, and compute those of ``_derived_state``."""


def check_n_models(models: list[Any], n_blocks: int, n_partitions: int) -> None:
    """Raise if there is not one model for each block of each partition."""
    if len(models) != n_blocks * n_partitions:
        raise ValueError(
            f"the plan has {n_blocks} blocks in {n_partitions} partitions, but the file has "
            f"{len(models)} models."
        )
