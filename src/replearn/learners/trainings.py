"""Errors of configurations over many small trainings on rows of their own.

Every training has its own rows and every test row trains nothing: the errors of the trainings are
independent and have one expectation in all runs, whatever the learner does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.execution import block_store, fit_blocks
from replearn.primitives import sample_order
from replearn.randomness import SharedKey
from replearn.tables import take_rows

# Models that are trained and kept at a time.
GROUP = 64


def cut_trainings(
    key: SharedKey, X: Any, codes: NDArray[np.intp], train_size: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of each training, and one test row for each; surplus rows are left out.

    Examples
    --------
    >>> rows, tests = cut_trainings(SharedKey(0), np.arange(11.0)[:, None], np.zeros(11), 4)
    >>> rows.shape, tests.shape
    ((2, 4), (2,))
    """
    count = len(codes) // (train_size + 1)
    if count < 1:
        raise ValueError(
            f"train_size={train_size} needs at least {train_size + 1} rows, got "
            f"n_samples={len(codes)}."
        )
    # theorem: search-trainings
    order = sample_order(key, X, codes)
    cut = order[: count * (train_size + 1)]
    return cut[count:].reshape(count, train_size), cut[:count]


def training_errors(
    models: Sequence[Any],
    X: Any,
    codes: NDArray[np.intp],
    cut: tuple[NDArray[np.intp], NDArray[np.intp]],
    key: SharedKey,
    n_jobs: int | None = None,
    look: Callable[[Any, list[Any]], None] | None = None,
) -> NDArray[np.float64]:
    """Return the mean error of each configuration over all trainings.

    Every model counts its own test row only. Testing all models on all rows would fluctuate less,
    but then the two runs are no longer exchangeable training by training, and the proof is gone.

    Parameters
    ----------
    models : sequence of classifiers
        The configurations, not fitted.
    X : container of rows
        The sample.
    codes : ndarray of intp
        Labels as codes.
    cut : tuple of ndarray
        From `cut_trainings`.
    key : SharedKey
        Where the seeds come from.
    n_jobs : int, optional
        Number of joblib workers.
    look : callable, optional
        Shown every configuration with its first fitted models.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = np.arange(30.0)[:, None], (np.arange(30) > 14).astype(np.intp)
    >>> key = SharedKey(0)
    >>> cut = cut_trainings(key, X, y, 9)
    >>> training_errors([GaussianNB()], X, y, cut, key).shape
    (1,)
    """
    trainings, tests = cut
    wrong = np.zeros(len(models), dtype=np.int64)
    for start in range(0, len(tests), GROUP):
        blocks, held = trainings[start : start + GROUP], tests[start : start + GROUP]
        # One seed for all trainings: given the key they are then identically distributed.
        keys = [key.child("seed")] * len(held)
        rows, labels = take_rows(X, held), codes[held]
        for place, model in enumerate(models):
            with block_store(None):  # a folder of finished blocks is for one fit, not for these
                fitted = fit_blocks(model, X, codes, list(blocks), keys, n_jobs=n_jobs)
            wrong[place] += sum(_own_error(fitted, rows, labels))
            if look is not None and start == 0:
                look(model, fitted)
    return wrong / len(tests)


def _own_error(fitted: list[Any], rows: Any, labels: NDArray[np.intp]) -> Iterator[bool]:
    """Whether each model is wrong on its own row; all rows are asked, to cut the table once."""
    for own, model in enumerate(fitted):
        yield bool(np.asarray(model.predict(rows))[own] != labels[own])
