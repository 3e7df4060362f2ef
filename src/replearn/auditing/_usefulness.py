"""How useful predictions are: recall, precision, AUC, Brier score, with limits over pairs and rows.

Every measure is written as a table with one line per pair and one column per test row whose mean is
the measure (for ratios and ranks: its linear part), so that one function gives limits of all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from replearn.auditing._statistics import Estimate, percent

Floats = NDArray[np.float64]
Mean = Callable[..., Estimate]
"""Mean of a table of pairs and rows with limits; takes ``rows`` (a mask) and ``within``."""

SHARES = (0.0, 1.0)
ANY = (0.0, float("inf"))


@dataclass(frozen=True, eq=False)
class Predictions:
    """What the runs of all pairs predicted for the test rows."""

    truth: NDArray[np.intp]  # indices in the list of classes
    shares: Floats  # pairs, runs, rows, classes: probability that a run predicts the class
    probabilities: Floats | None = None  # the same shape: what predict_proba says

    @property
    def present(self) -> list[int]:
        """Classes that the test rows hold."""
        return np.unique(self.truth).tolist()

    @property
    def right(self) -> Floats:
        """Probability that a run predicts the true class."""
        indices = self.truth[np.newaxis, np.newaxis, :, np.newaxis]
        return np.take_along_axis(self.shares, indices, axis=3)[..., 0]

    def predicted_shares(self) -> Floats:
        """Share of each class among all predictions."""
        return self.shares.mean(axis=(0, 1, 2))

    def recalls(self, index: int) -> Floats:
        """Predictions of one class: over the rows of that class, the mean is its recall."""
        return self.shares[..., index].mean(axis=1)

    def balanced(self) -> Floats:
        """Mean of the recalls of all classes."""
        found = np.zeros(self.shares.shape[:1] + self.truth.shape)
        recalls = []
        for index in self.present:
            here = self.truth == index
            values = self.recalls(index)[:, here]
            recalls.append(values.mean(axis=1))
            weight = len(here) / (len(self.present) * here.sum())
            found[:, here] = weight * (values - recalls[-1][:, np.newaxis])
        return found + np.mean(recalls, axis=0)[:, np.newaxis]

    def precisions(self, index: int) -> Floats | None:
        """Share of right ones among the predictions of one class; None without such predictions."""
        predicted = self.recalls(index)
        share = predicted.mean()
        if share == 0:
            return None
        right = self.truth == index
        precision = (predicted * right).mean() / share
        return np.asarray(precision + predicted * (right - precision) / share)

    def aucs(self) -> Floats | None:
        """Area under the ROC curve; of several classes each against the others, averaged."""
        if self.probabilities is None or len(self.present) < 2:
            return None
        indices = self.present if self.shares.shape[-1] > 2 else [1]
        parts = [_auc(self.probabilities[..., index], self.truth == index) for index in indices]
        return np.mean(parts, axis=0).mean(axis=1)

    def briers(self) -> Floats | None:
        """Squared error of the probabilities (of two classes: of either one)."""
        if self.probabilities is None:
            return None
        right = self.truth[:, np.newaxis] == np.arange(self.shares.shape[-1])
        return 0.5 * ((self.probabilities - right) ** 2).sum(axis=-1).mean(axis=1)

    def log_losses(self) -> Floats | None:
        """Negative logarithm of the true class's probability, cut as scikit-learn cuts it."""
        if self.probabilities is None:
            return None
        of_truth = self.probabilities[..., np.arange(len(self.truth)), self.truth]
        return -np.log(np.clip(of_truth, np.finfo(float).eps, 1.0)).mean(axis=1)


def _auc(scores: Floats, positive: NDArray[np.bool_]) -> Floats:
    """Tables whose mean over rows is the AUC of each run: its value plus each row's part in it.

    >>> scores = np.array([[[0.1, 0.4, 0.35, 0.8]]])
    >>> float(_auc(scores, np.array([False, False, True, True])).mean())
    0.75
    """
    ranks = stats.rankdata(scores, axis=-1)
    found = np.empty_like(ranks)
    for here in (positive, ~positive):
        others = len(here) - here.sum()
        # Rows of the other class below each row; ties count half.
        below = (ranks[..., here] - stats.rankdata(scores[..., here], axis=-1)) / others
        found[..., here] = below if here is positive else 1.0 - below
    value = found[..., positive].mean(axis=-1, keepdims=True)
    weights = np.where(positive, positive.mean(), 1.0 - positive.mean())
    return np.asarray(value + (found - value) / weights)


@dataclass(frozen=True)
class ClassRecall:
    """Recall and precision of one class."""

    label: Any
    rows: int
    recall: Estimate
    precision: Estimate | None
    predicted_share: float


@dataclass(frozen=True)
class Usefulness:
    """How useful the predictions of one classifier are.

    Parameters
    ----------
    accuracy, balanced_accuracy : Estimate
        Share of right predictions, and mean recall over classes.
    auc, brier, log_loss : Estimate or None
        Of the probabilities; None without probabilities.
    classes : tuple of ClassRecall
        Recall and precision of each class that the test rows hold.
    constant : object or None
        The label that is predicted for (nearly) every row, if there is one.
    """

    accuracy: Estimate
    balanced_accuracy: Estimate
    auc: Estimate | None
    brier: Estimate | None
    log_loss: Estimate | None
    classes: tuple[ClassRecall, ...]
    constant: Any

    @property
    def uninformed(self) -> bool:
        """Whether predictions do not depend on the row: balanced accuracy as by chance."""
        return self.balanced_accuracy.value <= 1.0 / len(self.classes) + CHANCE

    @property
    def undecided(self) -> bool:
        """Whether predictions hardly depend on the row: a single class, or as by chance."""
        return self.constant is not None or self.uninformed

    @property
    def ranks(self) -> bool:
        """Whether probabilities are shown to rank rows better than chance."""
        return self.auc is not None and self.auc.lower > 0.5

    @property
    def useless(self) -> bool:
        """Whether neither predictions nor probabilities are shown to depend on the row."""
        return self.undecided and not self.ranks

    @property
    def rarest(self) -> ClassRecall:
        """The class with the fewest test rows."""
        return min(self.classes, key=lambda c: c.rows)

    @property
    def worst(self) -> ClassRecall:
        """The class with the lowest recall."""
        return min(self.classes, key=lambda c: c.recall.value)

    @property
    def shown(self) -> ClassRecall:
        """The class that tables show: of two the rarer one, of several that of lowest recall."""
        return self.rarest if len(self.classes) <= 2 else self.worst


@dataclass(frozen=True)
class RegressionUsefulness:
    """How useful the predictions of one regressor are.

    Parameters
    ----------
    r2 : Estimate
        Share of the variance of the test rows that predictions explain.
    rmse : float
        Root mean squared error.
    spread : Estimate
        Mean distance of two predictions of one row, before a shared grid rounds them.
    """

    r2: Estimate
    rmse: float
    spread: Estimate

    @property
    def undecided(self) -> bool:
        """Whether predicting the mean is about as good."""
        return self.r2.value <= CHANCE

    @property
    def useless(self) -> bool:
        """Whether predicting the mean is about as good."""
        return self.undecided


CONSTANT_SHARE = 0.02
"""Constant: other predictions than the usual one, for fewer than this share of the other rows."""


CHANCE = 0.005
"""Uninformed: balanced accuracy at most half a point above that of chance."""


def usefulness(predictions: Predictions, labels: tuple[Any, ...], mean: Mean) -> Usefulness:
    """Measure everything, with limits by ``mean``.

    >>> from functools import partial
    >>> from replearn.auditing._statistics import mean_limits
    >>> shares = np.zeros((2, 2, 40, 2))
    >>> shares[..., 0] = 1.0
    >>> predictions = Predictions(np.arange(40) // 30, shares)
    >>> found = usefulness(predictions, ("good", "bad"), partial(mean_limits, delta=0.05))
    >>> found.accuracy.value, found.balanced_accuracy.value, found.constant
    (0.75, 0.5, 'good')
    """

    def estimate(values: Floats | None, within: tuple[float, float] = SHARES) -> Estimate | None:
        return None if values is None else mean(values, within=within)

    shares = predictions.predicted_shares()
    return Usefulness(
        accuracy=mean(predictions.right.mean(axis=1)),
        balanced_accuracy=mean(predictions.balanced(), within=SHARES),
        auc=estimate(predictions.aucs()),
        brier=estimate(predictions.briers()),
        log_loss=estimate(predictions.log_losses(), ANY),
        classes=tuple(
            ClassRecall(
                label=labels[index],
                rows=int((predictions.truth == index).sum()),
                recall=mean(predictions.recalls(index), rows=predictions.truth == index),
                precision=_precision(predictions, index, mean),
                predicted_share=float(shares[index]),
            )
            for index in predictions.present
        ),
        constant=_constant(predictions, labels),
    )


def _precision(predictions: Predictions, index: int, mean: Mean) -> Estimate | None:
    """Estimate the precision of one class.

    If all predictions of it are right, or all are wrong, they do not vary: their number limits what
    other rows may show.
    """
    values = predictions.precisions(index)
    if values is None:
        return None
    found = mean(values, within=SHARES)
    if found.lower < found.upper:
        return found
    predicted = (predictions.recalls(index) > 0).any(axis=0)
    right = np.tile(predictions.truth == index, (len(values), 1)).astype(np.float64)
    return mean(right, rows=predicted)


def _constant(predictions: Predictions, labels: tuple[Any, ...]) -> Any:
    """The label that is predicted (nearly) always although the truth has others."""
    shares = predictions.predicted_shares()
    usual = int(shares.argmax())
    others = float((predictions.truth != usual).mean())
    # Relative to the other rows: a class of one percent is predicted rarely by good models too.
    return labels[usual] if others > 0 and 1.0 - shares[usual] < CONSTANT_SHARE * others else None


@dataclass(frozen=True)
class NoModel:
    """What always predicting the most frequent class of the test rows scores.

    Parameters
    ----------
    label : str
        That class.
    accuracy, balanced_accuracy, auc : float
        Of that prediction.
    brier, log_loss : float
        Of probabilities that are the same for all rows: the shares of the classes.
    """

    label: str
    accuracy: float
    balanced_accuracy: float
    auc: float
    brier: float
    log_loss: float

    def score(self, name: str) -> str:
        """Write one of its scores: "accuracy", "balanced accuracy" or "AUC"."""
        if name == "AUC":
            return f"{self.auc:.3f}"
        return percent(self.accuracy if name == "accuracy" else self.balanced_accuracy, 1)


def no_model(truth: NDArray[np.intp], labels: tuple[Any, ...]) -> NoModel:
    """Score the constant prediction of the most frequent class.

    >>> no_model(np.array([0, 0, 0, 1]), ("good", "bad")).accuracy
    0.75
    """
    counts = np.bincount(truth, minlength=len(labels))
    shares = counts[counts > 0] / counts.sum()
    return NoModel(
        label=str(labels[int(counts.argmax())]),
        accuracy=float(shares.max()),
        balanced_accuracy=1.0 / len(shares),
        auc=0.5,
        brier=float(0.5 * (1.0 - (shares**2).sum())),
        log_loss=float(-(shares * np.log(shares)).sum()),
    )
