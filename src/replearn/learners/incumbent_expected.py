"""What remembering costs by expectation: probabilities instead of labels.

Rows on which an incumbent and plain retraining differ lie near the decision threshold, where labels
are close to coin flips: counting them shows large losses only. The probability of a label is
estimated from all rows near the threshold and those that differ, by a linear combination of the
remembered score and the new one, and the loss is its mean over the rows that differ. A drift of the
share of labels moves the constant of that combination, a change of the concept the weight of the
new score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.learners.incumbent_rule import Codes, Floats

REACH = 3.0
"""Rows whose remembered or new score is within so many bands of the threshold are near it."""

MIN_ROWS = 100
"""With fewer rows near the threshold, or on which rules differ, all rows are used."""


def expected_losses(
    remembered: Floats,
    new: Floats,
    codes: Codes,
    plain: Codes,
    kept: Sequence[Codes],
    *,
    threshold: float,
    band: Floats | float,
    weights: Floats | None,
    costs: Floats,
    groups: NDArray[np.intp],
) -> tuple[Floats, Floats]:
    """Return the expected loss of each setting, and its value without each group.

    Parameters
    ----------
    remembered, new : ndarray of shape (n,) or (n, n_classes)
        Scores.
    codes : ndarray of int
        Codes of the labels.
    plain : ndarray of int
        Predictions of plain retraining.
    kept : sequence of ndarray of int
        Predictions with each setting.
    threshold : float
        Decision threshold on the score, for two classes.
    band : ndarray or float
        The widest band, in units of the score.
    weights : ndarray or None
        One weight per row.
    costs : ndarray of shape (n_classes,)
        What an error costs at a row of each class.
    groups : ndarray of int
        Group of each row, from 0, for the jackknife.

    Returns
    -------
    tuple of ndarray
        Shapes (n_settings,) and (n_groups, n_settings).
    """
    share = np.ones(len(codes)) if weights is None else weights
    columns = _columns(remembered, new, codes)
    near = share
    if remembered.ndim == 1:
        distance = np.minimum(np.abs(remembered - threshold), np.abs(new - threshold))
        differs = np.any([one != plain for one in kept], axis=0)  # a tree's are far from it
        inside = differs | (distance <= REACH * np.asarray(band))
        near = share * inside if inside.sum() >= MIN_ROWS else share
    whole = np.ones(len(codes), dtype=bool)
    parts = [whole, *(groups != number for number in range(int(groups.max()) + 1))]
    found = np.array([_losses(columns, near, share, costs, part, plain, kept) for part in parts])
    return found[0], found[1:]


def _columns(remembered: Floats, new: Floats, codes: Codes) -> list[tuple[Floats, Floats]]:
    """Return for each class what its probability is a linear function of, and whether it came."""
    if remembered.ndim == 1:
        features = np.column_stack([np.ones(len(codes)), remembered, new])
        return [(features, (codes == 1).astype(np.float64))]
    return [
        (
            np.column_stack([np.ones(len(codes)), remembered[:, label], new[:, label]]),
            (codes == label).astype(np.float64),
        )
        for label in range(remembered.shape[1])
    ]


def _losses(
    columns: Any,
    near: Floats,
    share: Floats,
    costs: Floats,
    part: Any,
    plain: Codes,
    kept: Any,
) -> list[float]:
    """Return the expected loss of each setting on a part of the rows, estimated from this part."""
    fitted = []
    for features, came in columns:
        rows = features[part]
        moments = rows.T * near[part]
        weights = np.linalg.lstsq(moments @ rows, moments @ came[part], rcond=1e-10)[0]
        fitted.append(np.clip(rows @ weights, 0.0, 1.0))
    if len(fitted) == 1:
        fitted = [1.0 - fitted[0], fitted[0]]
    worth = np.column_stack(fitted) * costs  # what a prediction of each class saves
    every = np.arange(len(worth))
    now = worth[every, plain[part]]
    total = float(share[part].sum())
    return [float((share[part] * (now - worth[every, one[part]])).sum() / total) for one in kept]
