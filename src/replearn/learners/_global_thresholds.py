"""A few global thresholds on vote shares: their shared random bits, and what they promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.execution import ConstantVote, random_state_names
from replearn.randomness import SharedKey, as_points
from replearn.tables import n_rows, take_rows

THRESHOLD_BITS = 30
GUMBEL_BITS = 52
KEY_BITS = 128
SEED_BITS = 32


def held_out(
    key: SharedKey, X: Any, codes: NDArray[np.intp], test_share: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows that train and the rows that choose, by a keyed order of their content.

    Examples
    --------
    >>> train, test = held_out(SharedKey(0), np.arange(10.0)[:, None], np.zeros(10), 0.3)
    >>> len(train), len(test)
    (7, 3)
    """
    order = key.child("hold out").order(as_points(X), codes)
    n_test = round(test_share * len(order))
    return order[n_test:], order[:n_test]


def check_unseen_rows(X: Any, blocks: Sequence[NDArray[np.intp]], models: Sequence[Any]) -> None:
    """Show a base learner the rows that none was trained on, so that it may refuse them.

    Surplus rows are in no block, and a block of one class is not handed to the base learner: a
    missing value there would go unnoticed, or not, depending on the key. (Where every block has
    one class only there is nobody to ask.)

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.array([[0.0], [1.0], [np.nan]])
    >>> check_unseen_rows(X, [np.array([0, 1])], [GaussianNB().fit(X[:2], [0, 1])])
    Traceback (most recent call last):
    ...
    ValueError: Input X contains NaN...
    """
    trained = [not isinstance(model, ConstantVote) for model in models]
    if not any(trained):
        return
    unseen = np.ones(n_rows(X), dtype=bool)
    for block, seen in zip(blocks, trained, strict=True):
        unseen[block] &= not seen
    if unseen.any():
        models[trained.index(True)].predict(take_rows(X, np.flatnonzero(unseen)))


def shared_thresholds(key: SharedKey, count: int) -> NDArray[np.int64]:
    """Return so many thresholds of 30 random bits each.

    Examples
    --------
    >>> shared_thresholds(SharedKey(0), 3).dtype
    dtype('int64')
    """
    uniforms = key.child("thresholds").uniforms(np.arange(count))
    return np.floor(uniforms * 2**THRESHOLD_BITS).astype(np.int64)


def above(votes: NDArray[Any], units: Any, n_blocks: int) -> NDArray[np.bool_]:
    """Whether the vote share exceeds a threshold in units of 2**-30, in exact integers.

    Examples
    --------
    >>> above(np.array([0, 1, 2]), 2**29, 2).tolist()
    [False, False, True]
    """
    return votes.astype(np.int64) << THRESHOLD_BITS > units * n_blocks


def count_bits(base: Any, n_candidates: int, n_blocks: int) -> dict[str, Any]:
    """Return the number of shared random bits by purpose, and their sum.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> count_bits(GaussianNB(), 2, 32)["n_random_bits_"]
    292
    """
    seeds = len(random_state_names(base)) if hasattr(base, "get_params") else 0
    bits = {
        "thresholds": THRESHOLD_BITS * n_candidates,
        "choice": GUMBEL_BITS * n_candidates,
        "partition": KEY_BITS,
        "seeds": SEED_BITS * seeds * n_blocks,
    }
    return {"random_bits_": bits, "n_random_bits_": sum(bits.values())}
