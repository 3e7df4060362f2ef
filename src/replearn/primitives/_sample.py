"""A key of one sample alone: rows are cut alike however the file is ordered."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.randomness import SharedKey, as_points


def sample_key(key: SharedKey, X: Any, y: NDArray[Any]) -> SharedKey:
    """Return a key of this sample alone, whatever the order of its rows.

    Two samples are cut independently of each other, even where they have rows in common; equal
    samples are cut alike.

    Examples
    --------
    >>> X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 0, 1])
    >>> one, two = sample_key(SharedKey(0), X, y), sample_key(SharedKey(0), X[::-1], y[::-1])
    >>> one.fingerprint == two.fingerprint
    True
    """
    content = key.child("sample").hashes(as_points(X).beside(as_points(y)))
    digest = sha256(np.sort(content).astype("<u8").tobytes()).hexdigest()
    return key.child("rows of one sample", digest)


def sample_order(key: SharedKey, X: Any, y: NDArray[Any]) -> NDArray[np.intp]:
    """Return the rows in a random order that is this sample's own.

    Examples
    --------
    >>> X, y = np.arange(6.0), np.array([0, 1, 0, 1, 0, 1])
    >>> one, two = sample_order(SharedKey(0), X, y), sample_order(SharedKey(0), X[::-1], y[::-1])
    >>> bool((X[one] == X[::-1][two]).all())
    True
    """
    return sample_key(key, X, y).order(as_points(X), y)
