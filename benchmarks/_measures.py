"""Accuracy and flips of pairs of runs, with the thresholds integrated out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score


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
        "recall": float(scores[:, :, y == 1].mean()),
        "balanced": float(np.mean([_right(scores, y)[:, :, y == k].mean() for k in (0, 1)])),
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


def probability_measures(pairs: Any, y: NDArray[np.intp]) -> dict[str, float]:
    """AUC, log loss and Brier score of predicted probabilities, mean over pairs and halves."""
    tables = [np.array(half["proba"]) for pair in pairs for half in pair if half.get("proba")]
    if not tables:
        return {}
    clipped = [np.clip(table, 1e-5, 1 - 1e-5) for table in tables]
    return {
        "auc": float(np.mean([roc_auc_score(y, table) for table in tables])),
        "log_loss": float(np.mean([log_loss(y, table) for table in clipped])),
        "brier": float(np.mean([brier_score_loss(y, table) for table in tables])),
    }


def tail(scores: NDArray[np.float64], limit: float) -> dict[str, float]:
    """Judge how often the rows flip that flip most, shape (pairs, 2, rows).

    With few pairs the largest means are partly chance: the rows above are those whose lower 95 %
    limit (Student's t over pairs) is above the limit, and the worst per cent by every other pair
    is measured on the pairs between.
    """
    flips = np.abs(scores[:, 0] - scores[:, 1])
    n_pairs, n_rows = flips.shape
    mean, error = flips.mean(axis=0), flips.std(axis=0, ddof=1) / np.sqrt(n_pairs)
    lower = mean - stats.t.ppf(0.95, n_pairs - 1) * error
    worst = np.argsort(flips[::2].mean(axis=0))[-max(1, n_rows // 100) :]
    return {
        "pairs": n_pairs,
        "row_99": float(np.quantile(mean, 0.99)),
        "above": float((lower > limit).mean()),
        "worst_percent": float(flips[1::2, worst].mean()),
    }
