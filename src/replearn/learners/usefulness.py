"""How useful a fitted model is: a record and a warning that decide nothing.

Stability is worth nothing without usefulness: a constant never changes. Rows
of the first blocks are predicted by all blocks of the partition but their own, as a fresh row
would be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from replearn.checks.blocks import says_it_is_poor
from replearn.exceptions import UsefulnessWarning, warn_user

Floats = NDArray[np.float64]

N_ROWS = 1000
"""Training rows that are predicted, at most."""

MIN_LEAD = 0.02
"""By how much the mean recall of block estimators must exceed chance, to have something to lose."""

MIN_CLASS_ROWS = 10
"""Rows of a class from which its recall is judged."""


@dataclass(frozen=True)
class Usefulness:
    """How well training rows are predicted by the block estimators that have not seen them.

    Parameters
    ----------
    classes : tuple
        The labels.
    class_counts : tuple of int
        Rows of each class among those that were predicted.
    accuracy : float
        Share of correct predictions.
    majority_accuracy : float
        The same if the most frequent class is always predicted.
    recall : tuple of float or None
        Share of correct predictions among the rows of each class; None for a class without rows.
    auc : float or None
        Area under the ROC curve of the combined score (several classes: mean over one against the
        rest); None if rows of some class are missing.
    predicted_counts : tuple of int
        How often each class was predicted.
    """

    classes: tuple[Any, ...]
    class_counts: tuple[int, ...]
    accuracy: float
    majority_accuracy: float
    recall: tuple[float | None, ...]
    auc: float | None
    predicted_counts: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows that were predicted."""
        return sum(self.class_counts)

    @property
    def balanced_accuracy(self) -> float:
        """Mean recall over the classes that have rows."""
        return _mean_of_known(self.recall)

    @property
    def predicts_single_class(self) -> bool:
        """Whether all rows got the same prediction although enough of them have other labels."""
        predicted = int(np.argmax(self.predicted_counts))
        n_others = self.n_rows - self.class_counts[predicted]
        return self.predicted_counts[predicted] == self.n_rows and n_others >= MIN_CLASS_ROWS

    def __str__(self) -> str:
        return (
            f"accuracy {self.accuracy:.1%} (always {self._most_frequent!s}: "
            f"{self.majority_accuracy:.1%}), {self._in_short}, "
            f"on {self.n_rows:,} training rows predicted by the other blocks"
        )

    @property
    def _in_short(self) -> str:
        rarest = min(
            (code for code, count in enumerate(self.class_counts) if count),
            key=self.class_counts.__getitem__,
        )
        return (
            f"balanced accuracy {self.balanced_accuracy:.1%}, AUC {_shown(self.auc)}, recall of "
            f"{self.classes[rarest]!s} {_shown(self.recall[rarest], '.1%')}"
        )

    @property
    def _most_frequent(self) -> Any:
        return self.classes[int(np.argmax(self.class_counts))]


def usefulness(
    predicted: NDArray[np.intp],
    scores: Floats,
    codes: NDArray[np.intp],
    classes: NDArray[Any],
) -> Usefulness:
    """Compare predictions and combined scores, (rows, classes), with the labels of the rows."""
    n_classes = len(classes)
    counts = np.bincount(codes, minlength=n_classes)
    of_class = [codes == code for code in range(n_classes)]
    recall = [_mean(predicted[rows] == code) for code, rows in enumerate(of_class)]
    return Usefulness(
        classes=tuple(classes.tolist()),
        class_counts=tuple(counts.tolist()),
        accuracy=float((predicted == codes).mean()),
        majority_accuracy=float(counts.max() / counts.sum()),
        recall=tuple(recall),
        auc=_auc(scores, codes, n_classes),
        predicted_counts=tuple(np.bincount(predicted, minlength=n_classes).tolist()),
    )


def without_own_block(totals: Floats, own: Floats, n_blocks: int) -> Floats:
    """Return what all blocks would give if a row's own block gave as much as the others do.

    >>> without_own_block(np.array([8.0]), np.array([1.0]), 15).tolist()
    [7.5]
    """
    left = np.maximum(totals - own, 0.0)  # sums of probabilities are rounded
    return np.asarray(left * (n_blocks / (n_blocks - 1)))


def warn_if_useless(measured: Usefulness | None, base: Any) -> None:
    """Warn with numbers if the model predicts a single class."""
    if measured is None or says_it_is_poor(base):
        return
    if measured.predicts_single_class:
        single = measured.classes[int(np.argmax(measured.predicted_counts))]
        others = 1.0 - measured.class_counts[measured.classes.index(single)] / measured.n_rows
        warn_user(
            f"the fitted model predicts {single!r} for all {measured.n_rows:,} training rows that "
            f"were tried, although {others:.1%} of them have another label (AUC "
            f"{_shown(measured.auc)}). {_remedy(measured, single != measured.classes[0])}",
            UsefulnessWarning,
        )


def _remedy(measured: Usefulness, is_first: bool) -> str:
    """Say what to do; thresholds of two classes are about the second, and the first may be missed.

    >>> two = Usefulness(("no", "yes"), (9, 1), 0.9, 0.9, (1.0, 0.0), 0.8, (10, 0))
    >>> "lower" in _remedy(two, False), "raise" in _remedy(two, True)
    (True, True)
    """
    threshold = "lower the decision threshold (threshold=0.1, threshold='prevalence', "
    threshold += "threshold='recall=0.8')"
    if is_first and len(measured.classes) == 2:
        threshold = f"raise the decision threshold, which is about {measured.classes[1]!r} "
        threshold += "(threshold=0.9, threshold='prevalence', threshold='specificity=0.8'),"
    return (
        "What the certificate says holds, but of a model that is of little use. If the class is "
        f"rare, {threshold} or use class_weight='balanced'; otherwise use larger blocks (smaller "
        "n_blocks) or more rows. usefulness_ has the numbers."
    )


def _shown(value: float | None, style: str = ".3f") -> str:
    return "unknown" if value is None else format(value, style)


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean()) if len(values) else None


def _mean_of_known(values: Sequence[float | None]) -> float:
    return float(np.mean([value for value in values if value is not None]))


def _auc(scores: Floats, codes: NDArray[np.intp], n_classes: int) -> float | None:
    if len(np.unique(codes)) < n_classes:
        return None
    if n_classes == 2:
        return float(roc_auc_score(codes, scores[:, 1]))
    one_against_rest = np.eye(n_classes, dtype=int)[codes]
    return float(roc_auc_score(one_against_rest, scores, average="macro"))
