"""Estimates with limits from pairs of runs: how often predictions change, how useful they are.

``flips`` has one line per pair and one column per test row; an entry is the probability, over
shared thresholds, that the two runs of the pair differ on the row (0 or 1 without thresholds).
Every measure of usefulness is written as such a table, whose mean is the measure (for ratios and
ranks: its linear part), so that one function gives limits of all.

Which limits are valid. Given the file and the test rows, pairs are independent draws: limits over
pairs hold for random splits of this file, and for fresh samples of the population only if no two
pairs share a training row. Test rows are a sample of the people to be predicted. All rows of a
pair share the two training samples, so nothing here treats rows of a pair as independent.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from replearn.bounds import binomial_limits, kl_lower, kl_upper

Floats = NDArray[np.float64]
DELTA = 0.05
"""Each pair of limits fails with probability at most this much, unless another delta is set."""

FEW_ROWS = 30
"""With fewer test rows that ever flip, the normal approximation over rows is not trusted."""

MIN_GROUP_ROWS = 10
"""Subgroups with fewer test rows are left out."""


# -- what has changed ------------------------------------------------------------------------------
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


# -- numbers as text and JSON ----------------------------------------------------------------------
def percent(value: float | None, digits: int = 2) -> str:
    """Write a share in percent.

    >>> percent(0.0191), percent(None)
    ('1.91 %', '')
    """
    return "" if value is None else f"{100 * value:.{digits}f} %"


def points(value: float, digits: int = 2) -> str:
    """Write a difference of shares in percentage points.

    >>> points(-0.0113), points(0.002, 1)
    ('−1.13', '+0.2')
    """
    return f"{100 * value:+.{digits}f}".replace("-", "−")


def percent_range(lower: float, upper: float, digits: int = 1) -> str:
    """Write two shares in percent.

    >>> percent_range(0.13, 0.44, 0)
    '13 to 44 %'
    """
    return f"{100 * lower:.{digits}f} to {100 * upper:.{digits}f} %"


@dataclass(frozen=True)
class Estimate:
    """A measured number with its confidence limits.

    Parameters
    ----------
    value : float
        The estimate.
    lower, upper : float
        Limits.
    """

    value: float
    lower: float
    upper: float

    def percent(self, digits: int = 1) -> str:
        """Write a share and its limits in percent.

        >>> Estimate(0.2, 0.13, 0.44).percent(0)
        '20 % (13 to 44 %)'
        """
        return f"{percent(self.value, digits)} ({percent_range(self.lower, self.upper, digits)})"

    def number(self, digits: int = 3) -> str:
        """Write a number and its limits.

        >>> Estimate(0.738, 0.7, 0.77).number()
        '0.738 (0.700 to 0.770)'
        """
        return f"{self.value:.{digits}f} ({self.lower:.{digits}f} to {self.upper:.{digits}f})"

    def __format__(self, digits: str) -> str:
        if not digits:
            return self.percent(2)
        return f"{self.value:{digits}} ({self.lower:{digits}} to {self.upper:{digits}})"

    def __str__(self) -> str:
        return format(self, "")


@dataclass(frozen=True)
class GroupFlips(Estimate):
    """Share of predictions that change among the rows of one subgroup, with limits.

    Parameters
    ----------
    value, lower, upper : float
        The share and its limits.
    subgroup, level : str
        The column, and its value that these rows have.
    rows : int
        Number of these rows.
    """

    subgroup: str
    level: str
    rows: int

    @property
    def name(self) -> str:
        """The subgroup and its value."""
        return f"{self.subgroup} = {self.level}"


def as_json(value: Any) -> Any:
    """Turn records into JSON values; labels of other types become text.

    >>> as_json(GroupFlips(0.5, 0.25, 0.75, "town", "Ulm", 12))["estimate"]
    0.5
    """
    if dataclasses.is_dataclass(value):
        named = {f.name: as_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"estimate": named.pop("value"), **named} if isinstance(value, Estimate) else named
    if isinstance(value, Mapping):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    try:
        json.dumps(value)
    except TypeError:
        return str(value)
    return value


# -- limits ----------------------------------------------------------------------------------------
def mean_limits(
    flips: Floats,
    delta: float,
    clusters: NDArray[np.intp] | None = None,
    *,
    rows: NDArray[np.bool_] | None = None,
    within: tuple[float, float] | None = None,
) -> Estimate:
    """Mean over pairs and (some) rows with two-way limits that respect clusters of rows.

    Student's limits with the variance of pair means and the variance of row means added: pairs
    and rows are both samples. Approximate: they need means that are nearly normal. Numbers are
    shares in [0, 1]; otherwise ``within`` says between which numbers their mean lies.

    >>> str(mean_limits(np.tile([0.0, 0.1, 0.0, 0.1], (20, 25)), 0.05))
    '5.00 % (4.00 to 6.00 %)'
    """
    if rows is not None:
        flips = flips[:, rows]
        clusters = None if clusters is None else clusters[rows]
    value = float(flips.mean())
    by_pair = flips.mean(axis=1)
    by_row = _cluster_totals(flips.mean(axis=0), value, clusters)
    parts = []
    if len(by_pair) > 1:
        parts.append((by_pair.var(ddof=1) / len(by_pair), len(by_pair) - 1))
    if len(by_row) > 1:
        parts.append((by_row.var(ddof=1) * len(by_row) / flips.shape[1] ** 2, len(by_row) - 1))
    variance = sum(v for v, _ in parts)
    reach = 0.0
    if variance > 0:
        freedom = variance**2 / sum(v**2 / f for v, f in parts)
        reach = float(stats.t.ppf(1 - delta / 2, freedom) * variance**0.5)
    lower = value - reach
    upper = value + reach
    # Few rows ever flip (or ever do not): what others may do is limited by their number only.
    if within is None and np.count_nonzero((flips > 0).any(axis=0)) < FEW_ROWS:
        upper = max(upper, float(kl_upper(min(value, 1.0), len(by_row), delta / 2)))
    if within is None and np.count_nonzero((flips < 1).any(axis=0)) < FEW_ROWS:
        lower = min(lower, float(kl_lower(min(value, 1.0), len(by_row), delta / 2)))
    lowest, highest = (0.0, 1.0) if within is None else within
    return Estimate(value, max(lowest, lower), min(highest, upper))


def _cluster_totals(by_row: Floats, value: float, clusters: NDArray[np.intp] | None) -> Floats:
    """Deviations summed within clusters; single rows are clusters of one."""
    deviations = by_row - value
    if clusters is None:
        return deviations
    _, indices = np.unique(clusters, return_inverse=True)
    return np.asarray(np.bincount(indices, weights=deviations), dtype=np.float64)


def strict_limits(flips: Floats, delta: float) -> Estimate:
    """Mean over pairs and rows with limits that hold whatever the distribution of pairs.

    Chernoff's inequality for as many independent numbers in [0, 1] as there are pairs
    (theorem: binomial-limits): wide, because a rare pair might flip every row.

    >>> str(strict_limits(np.full((20, 100), 0.02), 0.05))
    '2.00 % (0.00 to 22.74 %)'
    """
    value = float(flips.mean())
    trials = min(flips.shape)
    lower = kl_lower(value, trials, delta / 2)
    upper = kl_upper(value, trials, delta / 2)
    return Estimate(value, float(lower), float(upper))


def row_limits(flips: Floats, delta: float) -> tuple[Floats, Floats, Floats]:
    """Flip frequency of each row, with lower and upper limits for each row separately.

    Clopper-Pearson limits for flips that are 0 or 1, otherwise Chernoff's.

    >>> frequency, lower, upper = row_limits(np.zeros((20, 1)), 0.05)
    >>> float(lower[0]), round(float(upper[0]), 3)
    (0.0, 0.168)
    """
    pairs = len(flips)
    frequency = flips.mean(axis=0)
    if np.isin(flips, (0.0, 1.0)).all():
        lower, upper = binomial_limits(flips.sum(axis=0), pairs, delta)
        return frequency, np.asarray(lower), np.asarray(upper)
    frequency = np.clip(frequency, 0.0, 1.0)
    lower = np.maximum(kl_lower(frequency, pairs, delta / 2), 0.0)
    return frequency, lower, np.asarray(kl_upper(frequency, pairs, delta / 2))


def quantile_limits(flips: Floats, q: float, delta: float) -> Estimate:
    """Quantile over rows of the rows' flip probabilities.

    The observed quantile overstates the true one, because rows with bad luck gather at the top.
    The limits allow for that, however rows depend on each other: with limits that fail for each
    row with probability delta * a, more than a share a of them fails with probability at most
    delta (Markov), so that the true q-quantile lies between the (q - a)-quantile of the lower and
    the (q + a)-quantile of the upper limits. For the maximum: a union bound over rows.

    >>> p90 = quantile_limits(np.zeros((20, 1000)), 0.9, 0.05)
    >>> p90.value, p90.lower, round(p90.upper, 2)
    (0.0, 0.0, 0.28)
    """
    n_rows = flips.shape[1]
    slack = (1.0 - q) / 2.0 if (1.0 - q) / 2.0 * n_rows >= 1 else 1.0 / n_rows
    whole = q + slack >= 1.0
    # "At most a share a fails" means "none fails" once a is below one row.
    per_row = delta / n_rows if whole else delta * slack
    frequency, lower, upper = row_limits(flips, per_row)
    low, high = (q, q) if whole else (q - slack, q + slack)
    return Estimate(
        _order_statistic(frequency, q), _order_statistic(lower, low), _order_statistic(upper, high)
    )


def _order_statistic(values: Floats, q: float) -> float:
    return float(np.quantile(values, q, method="inverted_cdf"))


def tail_mean(flips: Floats, share: float) -> Estimate:
    """Mean flip probability of the least stable rows, bracketed.

    ``upper`` is what these pairs show for the rows that they themselves pick: too large on
    average. ``lower`` picks the rows by one half of the pairs and judges them by the other: too
    small on average, because it may pick the wrong rows. The estimate lies in the middle. The
    expectations bracket the truth; these are no confidence limits.

    >>> tail = tail_mean(np.tile([0.0, 0.0, 0.5, 0.0], (4, 1)), 0.25)
    >>> tail.lower, tail.upper
    (0.5, 0.5)
    """
    count = max(1, round(share * flips.shape[1]))
    even = flips[0::2].mean(axis=0)
    odd = flips[1::2].mean(axis=0)
    crossed = 0.5 * (_mean_of_top(even, odd, count) + _mean_of_top(odd, even, count))
    whole = flips.mean(axis=0)
    seen = _mean_of_top(whole, whole, count)
    return Estimate(0.5 * (crossed + seen), min(crossed, seen), seen)


def _mean_of_top(pick: Floats, judge: Floats, count: int) -> float:
    # A stable sort, so that ties do not depend on the machine.
    return float(judge[np.argsort(-pick, kind="stable")[:count]].mean())


@dataclass(frozen=True)
class ReliabilityBin:
    """Predicted and observed flip probability of the predictions in one bin."""

    lower: float
    upper: float
    count: int
    predicted: float
    observed: float


def reliability(
    predicted: Floats, observed: Floats, edges: tuple[float, ...]
) -> tuple[ReliabilityBin, ...]:
    """Compare predicted with observed flip probabilities, bin by bin; empty bins are left out.

    >>> bins = reliability(np.array([[0.0, 0.4]]), np.array([[0.0, 1.0]]), (0.1,))
    >>> [b.observed for b in bins]
    [0.0, 1.0]
    """
    bounds = (0.0, *edges, 1.0)
    indices = np.digitize(predicted, edges)
    return tuple(
        ReliabilityBin(
            lower=bounds[index],
            upper=bounds[index + 1],
            count=int(np.count_nonzero(indices == index)),
            predicted=float(predicted[indices == index].mean()),
            observed=float(observed[indices == index].mean()),
        )
        for index in np.unique(indices)
    )


# -- how useful predictions are: recall, precision, AUC, Brier score -------------------------------
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

    def weighted(self, costs: Floats) -> Floats:
        """Share of right predictions, each row counted as much as an error costs in its class.

        With equal costs it is the accuracy, with costs that are inverse to the shares of the
        classes the balanced accuracy.
        """
        weights = costs[self.truth] / costs[self.truth].mean()
        right = self.right.mean(axis=1)
        value = (weights * right).mean(axis=1, keepdims=True)
        return np.asarray(value + weights * (right - value))

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
    """What always predicting one class scores: the most frequent one, or that of least cost.

    Parameters
    ----------
    label : str
        That class.
    accuracy, balanced_accuracy, auc : float
        Of that prediction.
    weighted_accuracy : float or None
        With errors weighed as a decision threshold weighs them; None without one.
    brier, log_loss : float
        Of probabilities that are the same for all rows: the shares of the classes.
    """

    label: str
    accuracy: float
    balanced_accuracy: float
    auc: float
    weighted_accuracy: float | None
    brier: float
    log_loss: float

    def score(self, name: str) -> str:
        """Write one of its scores: "accuracy", "weighted accuracy" or "AUC"."""
        if name == "AUC":
            return f"{self.auc:.3f}"
        return percent(self.accuracy if name == "accuracy" else self.weighted_accuracy, 1)


def no_model(
    truth: NDArray[np.intp], labels: tuple[Any, ...], costs: Floats | None = None
) -> NoModel:
    """Score the constant prediction of the most frequent class, or of that of least cost.

    >>> no_model(np.array([0, 0, 0, 1]), ("good", "bad")).accuracy
    0.75
    >>> no_model(np.array([0, 0, 0, 1]), ("good", "bad"), np.array([0.2, 1.8])).label
    'bad'
    """
    counts = np.bincount(truth, minlength=len(labels))
    weights = counts if costs is None else counts * costs
    chosen = int(weights.argmax())
    shares = counts[counts > 0] / counts.sum()
    return NoModel(
        label=str(labels[chosen]),
        accuracy=float(counts[chosen] / counts.sum()),
        balanced_accuracy=1.0 / len(shares),
        auc=0.5,
        weighted_accuracy=None if costs is None else float(weights[chosen] / weights.sum()),
        brier=float(0.5 * (1.0 - (shares**2).sum())),
        log_loss=float(-(shares * np.log(shares)).sum()),
    )
