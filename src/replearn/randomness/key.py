"""The shared key: everything random in a run is a function of it and of what it is used on.

A random number that two runs must share cannot come from a generator that is consumed in order:
the runs see other rows, in another order. Here it is a keyed hash of the point itself.
"""

from __future__ import annotations

import hmac
import secrets
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.exceptions import PublicKeyWarning, SecretKeyWarning, WeakKeyWarning, warn_user
from replearn.randomness.hashing import (
    EXPORT_PREFIX,
    KEY_BYTES,
    Hashes,
    Purpose,
    check_digits,
    derive,
    framed,
    gumbel_from_hashes,
    hash_occurrences,
    hash_points,
    hash_with_labels,
    is_weak,
    label_cells,
    secret_of,
    uniforms_in_place,
)
from replearn.randomness.points import as_points, points_of


class SharedKey:
    """A key that several runs share, and the random numbers that follow from it.

    Parameters
    ----------
    value : str, bytes, int or SharedKey
        What the runs agree on. A short text is not secret: anybody who knows it can compute
        everything. Use `SharedKey.generate` for a secret key. Text written by `export` is read
        back.

    Attributes
    ----------
    fingerprint : str
        Sixteen hexadecimal digits that identify a key without revealing it.

    Notes
    -----
    A pickle of a key contains the key, readable by anybody who has the file. Pickling a secret key
    (from `generate`, or from text written by `export`) therefore warns, since joblib, MLflow and
    others pickle whole models; use `allow_pickle` if this is intended. Model files written by
    `replearn.save` contain no key unless ``include_key`` is set.

    Examples
    --------
    >>> key = SharedKey("trial-2026")
    >>> key
    SharedKey(fingerprint='...')
    >>> vote = key.child("vote")
    >>> bool((vote.uniforms([[1.0, 2.0]]) == vote.uniforms([(1, 2)])).all())
    True
    """

    __slots__ = ("_pickles", "_secret", "_weak")
    _secret: bytes
    _pickles: bool
    _weak: bool

    def __init__(self, value: str | bytes | int | SharedKey) -> None:
        if isinstance(value, SharedKey):
            self._set(value._secret, value._pickles, value._weak)
        else:
            exported = isinstance(value, str) and value.startswith(EXPORT_PREFIX)
            self._set(secret_of(value), not exported, is_weak(value))

    def _set(self, secret: bytes, pickles: bool, weak: bool) -> None:
        object.__setattr__(self, "_secret", secret)
        object.__setattr__(self, "_pickles", pickles)
        object.__setattr__(self, "_weak", weak)

    @classmethod
    def generate(cls) -> SharedKey:
        """Return a new secret key from the operating system's randomness.

        Examples
        --------
        >>> SharedKey.generate() == SharedKey.generate()
        False
        """
        return cls._of_secret(secrets.token_bytes(KEY_BYTES), pickles=False)

    @classmethod
    def _of_secret(cls, secret: bytes, pickles: bool, weak: bool = False) -> SharedKey:
        key = object.__new__(cls)
        key._set(secret, pickles, weak)
        return key

    def allow_pickle(self) -> SharedKey:
        """Return the same key for models that will be pickled, without the warning.

        Examples
        --------
        >>> import pickle
        >>> key = SharedKey.generate().allow_pickle()
        >>> pickle.loads(pickle.dumps(key)) == key
        True
        """
        return self._of_secret(self._secret, pickles=True, weak=self._weak)

    def export(self) -> str:
        """Return the key as text, with check digits; ``SharedKey(text)`` reads it back.

        Examples
        --------
        >>> key = SharedKey.generate()
        >>> SharedKey(key.export()) == key
        True
        """
        return f"{EXPORT_PREFIX}{self._secret.hex()}-{check_digits(self._secret)}"

    @property
    def is_weak(self) -> bool:
        """Whether the key was made from a short text or a small number, and can be guessed.

        Examples
        --------
        >>> SharedKey("trial-2026").is_weak, SharedKey.generate().is_weak
        (True, False)
        """
        return self._weak

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that identify a key without revealing it."""
        return derive(self._secret, Purpose.FINGERPRINT, size=8).hex()

    def child(self, *purpose: str | int | bytes) -> SharedKey:
        """Return the key for one purpose; children of different purposes are independent.

        Parameters
        ----------
        *purpose : str, int or bytes
            At least one value, for example ``"partition", 3``.

        Examples
        --------
        >>> key = SharedKey(7)
        >>> key.child("partition", 1) == key.child("partition", 2)
        False
        """
        secret = derive(self._secret, Purpose.CHILD, framed(purpose, "purpose"))
        return self._of_secret(secret, self._pickles, self._weak)

    def seed_for(self, *label: str | int | bytes) -> int:
        """Return a seed from 0 to 2**32 - 1 for something that needs its own generator.

        Examples
        --------
        >>> 0 <= SharedKey("trial-2026").seed_for("block", 3) < 2**32
        True
        """
        digest = derive(self._secret, Purpose.SEED, framed(label, "label"), size=4)
        return int.from_bytes(digest, "little")

    def hashes(self, X: Any, *, decimals: int | None = None) -> NDArray[np.uint64]:
        """Return a 64-bit keyed hash of each point (SipHash-2-4 of its canonical encoding).

        Parameters
        ----------
        X : container of rows, or Points
            See `as_points`.
        decimals : int, optional
            Number of decimals to which numbers are rounded first.

        Examples
        --------
        >>> SharedKey("a").hashes([[1, 2], [1, 2]]).dtype
        dtype('uint64')
        """
        return hash_points(derive(self._secret, Purpose.POINT), as_points(X, decimals=decimals))

    def uniforms(self, X: Any, *, decimals: int | None = None) -> NDArray[np.float64]:
        """Return one number in [0, 1) for each point, the same wherever the point occurs.

        Parameters
        ----------
        X, decimals
            As for `hashes`.

        Returns
        -------
        ndarray of float64
            Multiples of 2**-53.

        Examples
        --------
        >>> u = SharedKey("a").uniforms(["ann", "bob", "ann"])
        >>> bool(u[0] == u[2] != u[1])
        True
        """
        return uniforms_in_place(self.hashes(X, decimals=decimals))

    def gumbels(self, X: Any, labels: Any, *, decimals: int | None = None) -> NDArray[np.float64]:
        """Return a standard Gumbel number for each pair of point and label.

        Parameters
        ----------
        X, decimals
            As for `hashes`.
        labels : sequence or array of one dimension
            Different labels. Labels are compared by value: 1, 1.0 and True are the same label.

        Returns
        -------
        ndarray of float64, one row per point and one column per label

        Examples
        --------
        >>> g = SharedKey("a").gumbels([[0.5], [0.7]], ["no", "yes"])
        >>> g.shape
        (2, 2)
        >>> bool((g[:, ::-1] == SharedKey("a").gumbels([[0.5], [0.7]], ["yes", "no"])).all())
        True
        """
        points = as_points(X, decimals=decimals)
        cells = label_cells(labels)
        sip_key = derive(self._secret, Purpose.GUMBEL)
        result = np.empty((len(points), len(cells)))
        for rows, label, hashes in hash_with_labels(sip_key, points, cells):
            result[rows, label] = gumbel_from_hashes(hashes)
        return result

    def order(self, X: Any, y: Any = None, *, decimals: int | None = None) -> NDArray[np.intp]:
        """Return the rows in keyed order: by content, not by their index in the file.

        Rows are ordered by a keyed hash of (features, label, how many equal rows came before), so
        ``X[order], y[order]`` is the same however the file was shuffled, and marginally a
        uniformly random order of the rows.

        Parameters
        ----------
        X, decimals
            As for `hashes`; numbers of y are rounded as well.
        y : container of rows, optional
            Labels, and everything else that belongs to the row.

        Examples
        --------
        >>> import numpy as np
        >>> X, y = np.array([[5.0], [6.0], [7.0]]), np.array([0, 1, 0])
        >>> order = SharedKey("a").order(X, y)
        >>> again = SharedKey("a").order(X[::-1], y[::-1])
        >>> bool((X[order] == X[::-1][again]).all())
        True
        """
        return np.argsort(self.ranks(self.row_hashes(X, y, decimals=decimals)), kind="stable")

    def row_hashes(self, X: Any, y: Any = None, *, decimals: int | None = None) -> Hashes:
        """Return a hash of the content of each row, from which `ranks` makes the keyed order.

        Rows of one file may be hashed a few at a time; ranks need the hashes of all equal rows.

        Parameters
        ----------
        X, y, decimals
            As for `order`.

        Examples
        --------
        >>> hashes = SharedKey("a").row_hashes([[5.0], [5.0]], [0, 1])
        >>> bool(hashes[0] == hashes[1])
        False
        """
        points = as_points(X, decimals=decimals)
        if y is not None:
            points = points.beside(points_of(y, decimals, "y"))
        return hash_points(derive(self._secret, Purpose.CONTENT), points)

    def ranks(self, row_hashes: Hashes, numbers: Hashes | None = None) -> Hashes:
        """Return the numbers by which `order` sorts: row hashes with counts of equal rows.

        Parameters
        ----------
        row_hashes : ndarray of uint64
            From `row_hashes`.
        numbers : ndarray of uint64, optional
            How many equal rows came before, if the caller has counted them.

        Examples
        --------
        >>> key, X = SharedKey("a"), [[5.0], [6.0], [7.0]]
        >>> key.ranks(key.row_hashes(X)).argsort().tolist() == key.order(X).tolist()
        True
        """
        # theorem: content-keyed-partition
        counted = None if numbers is None else np.array(numbers, dtype=np.uint64)
        return hash_occurrences(derive(self._secret, Purpose.ORDER), row_hashes, counted)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a SharedKey never changes: cannot set {name!r}; make a new one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a SharedKey never changes: cannot delete {name!r}")

    def __repr__(self) -> str:
        return f"SharedKey(fingerprint={self.fingerprint!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SharedKey):
            return NotImplemented
        return hmac.compare_digest(self._secret, other._secret)

    def __hash__(self) -> int:
        return hash((SharedKey, self._secret))

    def __copy__(self) -> SharedKey:
        return self

    def __deepcopy__(self, memo: object) -> SharedKey:
        return self

    def __reduce__(self) -> tuple[Any, tuple[bytes, bool, bool]]:
        if not self._pickles:
            warnings.warn(
                f"the secret key {self.fingerprint} is being pickled: anybody who has the file can "
                "read it. Pass key.allow_pickle() to the estimator if this is intended; "
                "replearn.save writes model files without the key.",
                SecretKeyWarning,
                stacklevel=2,
            )
        return SharedKey._of_secret, (self._secret, self._pickles, self._weak)


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

    None, the public default key, does not warn here, since ``fit`` has warned of it.
    """
    if value is None or not (key := SharedKey(value)).is_weak:
        return
    warn_user(
        f"the key {key.fingerprint} was made from a short text or a small number: anybody who "
        "knows the fingerprint can guess it, and compute every threshold. Use "
        "SharedKey.generate() (on the command line: replearn key new); if the key is public on "
        "purpose, ignore WeakKeyWarning.",
        WeakKeyWarning,
    )


class HoldsKey:
    """Mixin for estimators with the parameter ``shared_key``.

    A text written by `SharedKey.export` becomes a `SharedKey` when the parameter is set:
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
