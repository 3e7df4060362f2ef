"""The price of replicability: one fit of the base estimator, judged on rows it has not seen.

It is trained for the comparison only (``check_price=True``), and decides nothing.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.execution import BlockEnsemble, fit_blocks
from replearn.learners.decision_threshold import block_thresholds
from replearn.learners.training import TrainedBlocks
from replearn.learners.usefulness import N_ROWS, Usefulness, usefulness
from replearn.randomness import SharedKey

HELD_OUT = 5
"""One row in so many is held out from the single fit, `N_ROWS` at most."""


def n_rows_tried(n_rows: int, *, check_price: bool) -> int:
    """Return how many training rows are predicted; with a single fit, only what it can miss.

    >>> n_rows_tried(800, check_price=False), n_rows_tried(800, check_price=True)
    (1000, 160)
    """
    return min(N_ROWS, max(1, n_rows // HELD_OUT)) if check_price else N_ROWS


def with_single_fit(
    measured: Usefulness | None,
    blocks: TrainedBlocks,
    estimator: Any,
    threshold: Any,
    classes: NDArray[Any],
    key: SharedKey,
) -> Usefulness | None:
    """Return the record with that of a single fit for the same rows beside it.

    The single fit is trained on all rows of the sample but those of the blocks to which these rows
    belong: rows of one group stay on one side.
    """
    if measured is None:
        return None
    sample = blocks.sample
    n_tried = n_rows_tried(len(sample.codes), check_price=True)
    X, codes, owners = blocks.cut.first_rows(n_tried)
    held_out = np.concatenate(blocks.cut.rows[: owners[-1] + 1])
    training = np.setdiff1d(np.arange(len(sample.codes)), held_out)
    if len(training) == 0:
        return measured
    names = ["the single fit of check_price=True"]
    seeds = [key.child("price")]
    rows = [training]
    params = sample.params
    models = fit_blocks(estimator, sample.X, sample.codes, rows, seeds, names=names, params=params)
    shares = [float(np.mean(sample.codes[training] == 1))]
    models, thresholds = block_thresholds(models, threshold, shares)
    ensemble = BlockEnsemble(models, np.arange(max(2, len(classes))), 1, thresholds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # predictions will show them
        labels = _per_class(ensemble.vote_counts(X)[:, 0])
        scores = labels
        if hasattr(models[0], "predict_proba"):
            scores = _per_class(ensemble.soft_scores(X)[:, 0])
    single = usefulness(labels.argmax(axis=1), scores, codes, classes, hard=False)
    return replace(measured, single=single)


def _per_class(votes: NDArray[Any]) -> NDArray[np.float64]:
    """Return what each class gets, (n, classes)."""
    votes = votes.astype(np.float64)
    return np.column_stack([1.0 - votes, votes]) if votes.ndim == 1 else votes
