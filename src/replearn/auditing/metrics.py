"""What the runs of pairs predict: what changes, for the better or the worse, how useful it is.

`Labels` and `Quantities` have the same face: ``flips`` is a table of pairs and rows, ``changes``
and ``scores`` give every other measure as such a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from replearn.auditing.limits import ANY, POSITIVE, SHARES, Floats, Mask, Range

MAX_CLASSES = 30
"""Recall and precision are measured for so many classes, the most frequent ones."""

CONSTANT_SHARE = 0.02
"""Constant: other predictions than the usual one, for fewer than this share of the other rows."""

CHANCE = 0.005
"""Regressors: with less explained variance than this, predicting the mean is about as good."""

RARE = 0.2
"""With a smaller share of the rows, one of two classes is rare: accuracy says little."""


IN_UNITS = ("RMSE", "mean absolute error", "change of the value")
"""Measures in the units of a quantity; all others are shares, or numbers without a unit."""


def has_changed(
    old: NDArray[Any], new: NDArray[Any], tolerance: float | None = None
) -> NDArray[np.bool_]:
    """Tell which predictions changed: audits, comparisons and gates all ask here.

    Labels have changed if they differ (a missing label equals another missing one). Quantities have
    changed if they differ by ``tolerance`` or more; multiples of a spacing are not exact in
    floating point, so the tolerance is met a billionth earlier.

    >>> has_changed(np.array([0.2]), np.array([0.3]), 0.1).tolist()
    [True]
    """
    if tolerance is not None:
        return np.asarray(np.abs(old - new) >= tolerance * (1 - 1e-9))
    both_missing = np.asarray(old != old) & np.asarray(new != new)
    return np.asarray(old != new) & ~both_missing


class Measure(NamedTuple):
    """A measure as a table of pairs and rows, whose mean it is.

    ``within`` says between which numbers it lies (None: the table has shares of events), ``rows``
    over which rows the mean is taken (None: all).
    """

    name: str
    table: Floats
    within: Range | None = None
    rows: Mask | None = None


# -- labels ----------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Labels:
    """What the runs of all pairs predicted for the test rows, and the truth.

    Parameters
    ----------
    classes : tuple
        The labels.
    codes : ndarray of int, shape (pairs, runs, rows)
        Predictions, as indices in the list of classes.
    truth : ndarray of int of shape (rows,), or None
        True labels; None if they are not known.
    chances : ndarray of shape (pairs, runs, rows, classes), or None
        Chance of each prediction over shared randomness, where it is integrated out.
    by_gumbel : bool
        Whether the shared randomness are Gumbel numbers; otherwise it is a threshold for each row.
    probabilities : ndarray of the same shape, or None
        What ``predict_proba`` says.
    """

    classes: tuple[Any, ...]
    codes: NDArray[np.int32]
    truth: NDArray[np.intp] | None = None
    chances: Floats | None = None
    by_gumbel: bool = False
    probabilities: Floats | None = None

    @property
    def n_rows(self) -> int:
        """Number of test rows."""
        return self.codes.shape[2]

    def run(self, index: int) -> Labels:
        """Return what one of the runs of each pair predicted, as pairs of one run."""
        some = slice(index, index + 1)
        return replace(
            self,
            codes=self.codes[:, some],
            chances=None if self.chances is None else self.chances[:, some],
            probabilities=None if self.probabilities is None else self.probabilities[:, some],
        )

    def of_class(self, index: int) -> Floats:
        """Chance that a run predicts a class, shape (pairs, runs, rows)."""
        if self.chances is None:
            return (self.codes == index).astype(np.float64)
        return self.chances[..., index]

    @cached_property
    def right(self) -> Floats:
        """Chance that a run predicts the true class."""
        assert self.truth is not None, "the truth is known"
        if self.chances is None:
            return (self.codes == self.truth).astype(np.float64)
        return np.take_along_axis(self.chances, self.truth[None, None, :, None], axis=3)[..., 0]

    def both(self, index: int) -> Floats:
        """Chance that both runs of a pair predict a class, shape (pairs, rows)."""
        a, b = self.of_class(index)[:, 0], self.of_class(index)[:, 1]
        if not self.by_gumbel or self.chances is None:
            return np.minimum(a, b)  # theorem: pointwise-threshold
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = self.chances / self.chances[..., [index]]
            shared = 1.0 / ratios.max(axis=1).sum(axis=-1)  # theorem: multiclass-vote
        return np.where(np.minimum(a, b) > 0, shared, 0.0)

    @cached_property
    def flips(self) -> Floats:
        """Chance that the two runs of a pair predict differently, shape (pairs, rows)."""
        if self.chances is None:
            return has_changed(self.codes[:, 0], self.codes[:, 1]).astype(np.float64)
        agree = sum(self.both(index) for index in range(self.chances.shape[-1]))
        return np.clip(1.0 - agree, 0.0, 1.0)

    @cached_property
    def both_right(self) -> Floats:
        """Chance that both runs of a pair predict the true class, shape (pairs, rows)."""
        assert self.truth is not None, "the truth is known"
        if self.chances is None:
            return self.right.min(axis=1)
        found = np.zeros(self.flips.shape)
        for index in self.present:
            here = self.truth == index
            found[:, here] = self.both(index)[:, here]
        return found

    def changes(self) -> Iterator[Measure]:
        """Yield what happens from the first to the second run of a pair, besides flips."""
        if self.truth is not None:
            yield Measure("becomes wrong", self.right[:, 0] - self.both_right)
            yield Measure("becomes right", self.right[:, 1] - self.both_right)
        if self.probabilities is not None:
            moved = np.abs(self.probabilities[:, 0] - self.probabilities[:, 1]).sum(axis=-1) / 2
            yield Measure("change of the probability", moved, SHARES)

    def scores(self) -> Iterator[Measure]:
        """Yield how useful the predictions are: the first score is that of a table's first column.

        >>> labels = Labels(("no", "yes"), np.zeros((1, 1, 4), int), np.array([0, 0, 0, 1]))
        >>> [(score.name, float(score.table.mean())) for score in labels.scores()][:2]
        [('accuracy', 0.75), ('balanced accuracy', 0.5)]
        """
        if self.truth is None:
            return
        yield Measure("accuracy", self.right.mean(axis=1))
        yield Measure("balanced accuracy", self._balanced(), SHARES)
        if self.probabilities is not None:
            if len(self.present) > 1:
                yield Measure("AUC", self._auc(), SHARES)
            known = self.truth[:, np.newaxis] == np.arange(len(self.classes))
            errors = 0.5 * ((self.probabilities - known) ** 2).sum(axis=-1)
            yield Measure("Brier score", errors.mean(axis=1), SHARES)
            of_truth = self.probabilities[..., np.arange(len(self.truth)), self.truth]
            losses = -np.log(np.clip(of_truth, np.finfo(float).eps, 1.0))
            yield Measure("log-loss", losses.mean(axis=1), POSITIVE)
        for index in self.frequent:
            here = self.truth == index
            recall = self.of_class(index).mean(axis=1)
            yield Measure(f"recall of {self.classes[index]}", recall, None, here)
            precision = self._precision(index)
            if precision is not None:
                yield precision

    @cached_property
    def present(self) -> list[int]:
        """Classes that the test rows hold."""
        return [] if self.truth is None else np.unique(self.truth).tolist()

    @property
    def frequent(self) -> list[int]:
        """Those of them for which recall and precision are measured."""
        assert self.truth is not None, "the truth is known"
        counts = np.bincount(self.truth, minlength=len(self.classes))
        ranked = sorted(self.present, key=lambda index: -counts[index])
        return sorted(ranked[:MAX_CLASSES])

    def _balanced(self) -> Floats:
        """Mean of the recalls of all classes."""
        assert self.truth is not None, "the truth is known"
        found = np.zeros((len(self.codes), len(self.truth)))
        recalls = []
        for index in self.present:
            here = self.truth == index
            values = self.of_class(index).mean(axis=1)[:, here]
            recalls.append(values.mean(axis=1))
            weight = len(here) / (len(self.present) * here.sum())
            found[:, here] = weight * (values - recalls[-1][:, np.newaxis])
        return found + np.mean(recalls, axis=0)[:, np.newaxis]

    def _precision(self, index: int) -> Measure | None:
        """Share of right ones among the predictions of a class; None without such predictions.

        If all predictions of it are right, or all are wrong, they do not vary: their number limits
        what other rows may show.
        """
        name = f"precision of {self.classes[index]}"
        predicted = self.of_class(index).mean(axis=1)
        share = predicted.mean()
        if share == 0:
            return None
        right = self.truth == index
        precision = (predicted * right).mean() / share
        if precision in (0.0, 1.0):
            table = np.tile(right, (len(predicted), 1)).astype(np.float64)
            return Measure(name, table, None, (predicted > 0).any(axis=0))
        return Measure(name, precision + predicted * (right - precision) / share, SHARES)

    def _auc(self) -> Floats:
        """Area under the ROC curve; of several classes each against the others, averaged."""
        assert self.probabilities is not None
        indices = self.present if len(self.classes) > 2 else [1]
        truth = np.asarray(self.truth)
        parts = [_auc(self.probabilities[..., index], truth == index) for index in indices]
        return np.mean(parts, axis=0).mean(axis=1)

    @property
    def constant(self) -> Any:
        """The label that is predicted (nearly) always although the truth has others, or None.

        Relative to the other rows: a class of one percent is predicted rarely by good models too.
        """
        shares = [float(self.of_class(index).mean()) for index in range(len(self.classes))]
        usual = int(np.argmax(shares))
        others = float(np.mean(np.asarray(self.truth) != usual))
        is_constant = others > 0 and 1.0 - shares[usual] < CONSTANT_SHARE * others
        return self.classes[usual] if is_constant else None

    @property
    def has_rare_class(self) -> bool:
        """Whether one of two classes has few of the rows."""
        if self.truth is None or len(self.present) != 2:
            return False
        return bool(np.unique(self.truth, return_counts=True)[1].min() < RARE * len(self.truth))

    @property
    def leading(self) -> str:
        """The score that leads a report: AUC where a class is rare, otherwise accuracy."""
        return "AUC" if self.has_rare_class and self.probabilities is not None else "accuracy"

    def no_model(self) -> dict[str, float]:
        """Score the constant prediction of the most frequent class.

        >>> truth = np.array([0, 0, 0, 1])
        >>> Labels(("good", "bad"), np.zeros((1, 1, 4), int), truth).no_model()["accuracy"]
        0.75
        """
        assert self.truth is not None, "the truth is known"
        shares = np.bincount(self.truth) / len(self.truth)
        known = shares[shares > 0]
        found = {"accuracy": float(shares.max()), "balanced accuracy": 1.0 / len(known)}
        return found | {
            "AUC": 0.5,
            "Brier score": float(0.5 * (1.0 - (known**2).sum())),
            "log-loss": float(-(known * np.log(known)).sum()),
        }

    @property
    def usual(self) -> Any:
        """The most frequent true class."""
        assert self.truth is not None, "the truth is known"
        return self.classes[int(np.bincount(self.truth).argmax())]


def _auc(scores: Floats, positive: Mask) -> Floats:
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


# -- quantities ------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Quantities:
    """What the runs of all pairs predicted for the test rows, where the target is a number.

    Parameters
    ----------
    tolerance : float
        Predictions that differ by at least this much have changed.
    reported : ndarray of shape (pairs, runs, rows)
        Predictions.
    truth : ndarray of shape (rows,), or None
        True values; None if they are not known.
    values : ndarray of shape (pairs, runs, rows), or None
        Predictions before a shared grid rounds them; None where none does.
    resolution : float or None
        Spacing of that grid.
    """

    tolerance: float
    reported: Floats
    truth: Floats | None = None
    values: Floats | None = None
    resolution: float | None = None

    leading = "R²"
    has_rare_class = False
    classes: tuple[Any, ...] = ()
    probabilities = None

    @property
    def n_rows(self) -> int:
        """Number of test rows."""
        return self.reported.shape[2]

    def run(self, index: int) -> Quantities:
        """Return what one of the runs of each pair predicted, as pairs of one run."""
        some = slice(index, index + 1)
        values = None if self.values is None else self.values[:, some]
        return replace(self, reported=self.reported[:, some], values=values)

    @property
    def moved(self) -> Floats:
        """Distance of the two predictions before rounding, shape (pairs, rows)."""
        values = self.reported if self.values is None else self.values
        return np.abs(values[:, 0] - values[:, 1])

    @cached_property
    def flips(self) -> Floats:
        """Chance that two predictions differ by the tolerance or more, shape (pairs, rows).

        The offset of a shared grid is integrated out.
        """
        if self.resolution is None:
            before, after = self.reported[:, 0], self.reported[:, 1]
            return has_changed(before, after, self.tolerance).astype(np.float64)
        # theorem: rounded-regression (means that are x spacings apart are rounded floor(x) or
        # floor(x) + 1 spacings apart, the latter with the fraction of x as probability)
        steps = max(1, int(np.ceil(self.tolerance / self.resolution * (1 - 1e-9))))
        return np.clip(self.moved / self.resolution - (steps - 1), 0.0, 1.0)

    @property
    def right(self) -> Floats:
        """Whether a prediction is closer to the truth than the tolerance."""
        assert self.truth is not None, "the truth is known"
        return (~has_changed(self.reported, self.truth, self.tolerance)).astype(np.float64)

    def changes(self) -> Iterator[Measure]:
        """Yield what happens from the first to the second run of a pair, besides flips."""
        if self.truth is not None:
            first, second = self.right[:, 0], self.right[:, 1]
            yield Measure("becomes wrong", first * (1.0 - second))
            yield Measure("becomes right", (1.0 - first) * second)
        yield Measure("change of the value", self.moved, POSITIVE)

    def scores(self) -> Iterator[Measure]:
        """Yield how useful the predictions are."""
        if self.truth is None:
            return
        squares = ((self.reported - self.truth) ** 2).mean(axis=1)
        variance = float(np.var(self.truth)) or 1.0
        yield Measure("R²", 1.0 - squares / variance, (-np.inf, 1.0))
        rmse = float(np.sqrt(squares.mean()))
        yield Measure("RMSE", rmse + (squares - rmse**2) / (2 * rmse or 1.0), POSITIVE)
        yield Measure("mean absolute error", np.abs(self.reported - self.truth).mean(axis=1), ANY)
        yield Measure("share within the tolerance", self.right.mean(axis=1))

    @property
    def constant(self) -> Any:
        """The mean, if predicting it is about as good; otherwise None."""
        r2 = next(self.scores()).table.mean()
        return float(np.mean(self.truth)) if r2 <= CHANCE else None  # type: ignore[arg-type]

    def no_model(self) -> dict[str, float]:
        """Score the constant prediction of the mean."""
        return {"R²": 0.0}

    @property
    def usual(self) -> Any:
        """The mean."""
        return f"{np.mean(self.truth):.4g}"  # type: ignore[arg-type]


Predictions = Labels | Quantities
