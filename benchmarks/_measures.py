"""Accuracy and flips of pairs of runs, with the thresholds integrated out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def gain(
    scores: NDArray[np.float64], reference: NDArray[np.float64], y: NDArray[np.intp]
) -> tuple[float, float]:
    """Return the accuracy gained over a reference, and its standard error over test rows.

    The training samples count as given: it is the error of having these test rows, not others.
    """
    by_row = _right(scores, y).mean(axis=(0, 1)) - _right(reference, y).mean(axis=(0, 1))
    return float(by_row.mean()), float(by_row.std(ddof=1) / np.sqrt(len(y)))


def measure(scores: NDArray[np.float64], y: NDArray[np.intp]) -> dict[str, float]:
    """Judge the probabilities of answer 1 of pairs of runs, shape (pairs, 2, rows).

    Two runs with one threshold differ with probability |G1 - G2|. A row's flip rate is its mean
    over pairs.
    """
    flips = np.abs(scores[:, 0] - scores[:, 1])
    rows = flips.mean(axis=0)
    spread = flips.mean(axis=1).std(ddof=1) if len(scores) > 1 else float("nan")
    return {
        "pairs": len(scores),
        "accuracy": float(_right(scores, y).mean()),
        "flips": float(rows.mean()),
        "flips_sd": float(spread),
        "flips_99": float(np.quantile(rows, 0.99)),
        "flips_max": float(rows.max()),
    }


def against(
    scores: NDArray[np.float64], single: NDArray[np.float64], y: NDArray[np.intp]
) -> dict[str, float]:
    """Judge pairs of runs, beside the single fit on the same pairs."""
    difference, error = gain(scores, single, y)
    ours, theirs = measure(scores, y), measure(single, y)
    ratio = ours["flips"] / theirs["flips"] if theirs["flips"] else float("nan")
    return {**ours, "gain": difference, "gain_error": error, "ratio": ratio}


def _right(scores: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.where(y == 1, scores, 1 - scores)
