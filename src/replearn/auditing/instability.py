"""What retraining changes, as the literature measures it: estimated risks, and sets of models.

The measures of estimated risks are those of Riley and Collins (2023, Biometrical Journal 65,
2200302), which the reporting guideline TRIPOD+AI requires and the R package pminternal draws. There
a model is compared with models that are trained on bootstrap samples. An audit compares pairs
instead: the first run of a pair stands for the model in use, the second for the one that replaces
it. Churn, multiplicity and negative flips are other names for changed predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.auditing._contender_results import ClassifierResult
from replearn.auditing._statistics import Estimate

if TYPE_CHECKING:
    from replearn.auditing._audit import Measurement

Floats = NDArray[np.float64]

RISK_BINS = 10
INTERVAL = (2.5, 97.5)
DECISION_THRESHOLDS = tuple(round(0.01 * k, 2) for k in range(1, 100))
FEW_THRESHOLDS = DECISION_THRESHOLDS[4::5]
MAX_CURVES = 20
"""Reports draw curves of this many retrained runs."""


# -- estimated risks -------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class RiskInterval:
    """Range of 95 % of the risks after retraining, by bins of the risk before."""

    count: NDArray[np.intp]
    original: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, eq=False)
class RiskBins:
    """Rows by their risk: mean risk, mean absolute change, share that is classified differently."""

    rows: NDArray[np.intp]
    risk: Floats
    mape: Floats
    index: Floats


@dataclass(frozen=True)
class CalibrationCurve:
    """Mean estimated risk and share of events, bin by bin."""

    predicted: Sequence[float]
    observed: Sequence[float]


@dataclass(frozen=True)
class DecisionCurves:
    """Net benefit of retrained models, and of treating everybody, by decision threshold."""

    thresholds: Sequence[float]
    net_benefit: Sequence[Sequence[float]]
    treat_all: Sequence[float]


@dataclass(frozen=True)
class Instability:
    """What reports draw of the estimated risks of one contender, rounded."""

    contender: str
    event: str
    interval: RiskInterval
    by_risk: RiskBins
    calibration: Sequence[CalibrationCurve]
    decision: DecisionCurves


@dataclass(frozen=True, eq=False)
class Retrainings:
    """Estimated risks of the same rows by models and by the models that replace them.

    Parameters
    ----------
    original, retrained : ndarray of shape (pairs, rows)
        Estimated probability of the event before and after; a single original model is repeated.
    changed : ndarray of bool, shape (pairs, rows)
        Whether the classification differs.
    truth : ndarray of bool, shape (rows,), or None
        Whether the event happened.
    event : str
        The class whose probability it is.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.auditing import Retrainings
    >>> before, after = np.array([[0.1, 0.6]]), np.array([[0.2, 0.4], [0.1, 0.6]])
    >>> runs = Retrainings.from_risks(before, after, threshold=0.5)
    >>> runs.mape().round(3).tolist(), runs.classification_index().tolist()
    ([0.05, 0.1], [0.0, 0.5])
    """

    original: Floats
    retrained: Floats
    changed: NDArray[np.bool_]
    truth: NDArray[np.bool_] | None = None
    event: str = "1"

    @classmethod
    def from_risks(
        cls,
        original: ArrayLike,
        retrained: ArrayLike,
        truth: ArrayLike | None = None,
        *,
        threshold: float = 0.5,
        event: str = "1",
    ) -> Retrainings:
        """Take probabilities, and classify them by a threshold."""
        after = np.atleast_2d(np.asarray(retrained, dtype=np.float64))
        before = np.broadcast_to(np.atleast_2d(np.asarray(original, dtype=np.float64)), after.shape)
        happened = None if truth is None else np.asarray(truth).astype(bool)
        if happened is not None and happened.shape != after.shape[1:]:
            raise ValueError(
                f"truth has shape {happened.shape}, but there are {after.shape[1]} rows."
            )
        # Above the threshold, as in pminternal.
        return cls(before, after, (before > threshold) != (after > threshold), happened, event)

    @classmethod
    def from_result(
        cls,
        result: Measurement,
        contender: str | None = None,
        *,
        event: Any = None,
        threshold: float | None = None,
    ) -> Retrainings:
        """Take the pairs of an audit.

        Parameters
        ----------
        result : AuditResult
            The result of `audit`.
        contender : str, default=None
            Name of the contender. If None, the baseline.
        event : label, default=None
            The class whose probability is considered. If None, the last one.
        threshold : float, default=None
            Rows with a larger probability are classified as the event. If None, the predictions
            of the runs are used.

        Returns
        -------
        Retrainings
            One pair of runs per line.
        """
        runs = result.contenders[0] if contender is None else result[contender]
        if not isinstance(runs, ClassifierResult) or runs.probabilities is None:
            raise ValueError(f"contender {runs.name!r} has no predict_proba, so no risks.")
        index = _index(event, result.classes)
        risks = runs.probabilities[..., index]
        found = cls.from_risks(
            risks[:, 0],
            risks[:, 1],
            runs.truth == index,
            threshold=0.5 if threshold is None else threshold,
            event=str(result.classes[index]),
        )
        return found if threshold is not None else replace(found, changed=runs.key_flips > 0)

    @classmethod
    def from_models(
        cls,
        original: Any,
        retrained: Sequence[Any],
        X: Any,
        y: ArrayLike | None = None,
        *,
        event: Any = None,
        threshold: float | None = None,
    ) -> Retrainings:
        """Predict the same rows with a model and its retrained versions.

        Parameters
        ----------
        original : fitted classifier
            The model in use.
        retrained : sequence of fitted classifiers
            The same model trained on other samples: bootstrap samples, as is usual for clinical
            prediction models, or fresh ones.
        X : array-like or frame
            Rows.
        y : array-like, default=None
            Their labels; calibration and decision curves need them.
        event, threshold
            As in `from_result`.

        Returns
        -------
        Retrainings
            The original model paired with each retrained one.
        """
        models = [original, *retrained]
        if len(models) < 2:
            raise ValueError("retrained is empty: give at least one retrained model.")
        index = _index(event, original.classes_)
        label = original.classes_[index]
        risks = np.stack([_risk(model, X, label) for model in models])
        found = cls.from_risks(
            risks[0],
            risks[1:],
            None if y is None else np.asarray(y) == label,
            threshold=0.5 if threshold is None else threshold,
            event=str(label),
        )
        if threshold is not None:
            return found
        predictions = [np.asarray(model.predict(X)) == label for model in models]
        return replace(found, changed=np.stack(predictions[1:]) != predictions[0])

    @property
    def risk(self) -> Floats:
        """Estimated risk of each row: by the original model, or on average over first runs."""
        return self.original.mean(axis=0)

    def mape(self) -> Floats:
        """Mean absolute prediction error of each row: how far retraining moves its risk."""
        return np.abs(self.retrained - self.original).mean(axis=0)

    def classification_index(self) -> Floats:
        """Classification instability index of each row: share of retrainings that reclassify it."""
        return self.changed.mean(axis=0)

    def interval(self, n_bins: int = RISK_BINS) -> RiskInterval:
        """Return the range of 95 % of the retrained risks, by bins of the original risk.

        Bins contain equal numbers of risks, except that equal risks stay together.
        """
        bins = _risk_bins(self.original.ravel(), n_bins)
        after = [self.retrained.ravel()[here] for here in bins]
        lower, upper = np.transpose([np.percentile(values, INTERVAL) for values in after])
        return RiskInterval(
            count=np.array([here.sum() for here in bins]),
            original=np.array([self.original.ravel()[here].mean() for here in bins]),
            lower=lower,
            upper=upper,
        )

    def by_risk(self, n_bins: int = RISK_BINS) -> RiskBins:
        """Return MAPE and classification instability index, by bins of the rows' risk."""
        columns = {"risk": self.risk, "mape": self.mape(), "index": self.classification_index()}
        bins = _risk_bins(self.risk, n_bins)
        means = {k: np.array([v[here].mean() for here in bins]) for k, v in columns.items()}
        return RiskBins(rows=np.array([here.sum() for here in bins]), **means)

    def calibration(self, n_bins: int = RISK_BINS) -> list[tuple[Floats, Floats]]:
        """Return a calibration curve per run, originals first: mean risk, share of events."""
        truth = self._truth("calibration")
        curves = []
        for risk in self._runs():
            bins = _risk_bins(risk, n_bins)
            observed = np.array([truth[here].mean() for here in bins])
            curves.append((np.array([risk[here].mean() for here in bins]), observed))
        return curves

    def net_benefit(self, thresholds: Sequence[float] = DECISION_THRESHOLDS) -> Floats:
        """Return the net benefit of each run at each decision threshold, originals first.

        True positives minus false positives, weighted by the odds of the threshold, per row
        (Vickers and Elkin 2006).
        """
        truth = self._truth("net benefit")
        return np.stack([net_benefit(risk, truth, thresholds) for risk in self._runs()])

    @property
    def n_originals(self) -> int:
        """Number of different original models: one, or the first run of each pair."""
        return 1 if (self.original == self.original[0]).all() else len(self.original)

    def summary(self, contender: str) -> Instability:
        """Return what reports draw: bins, and curves of some retrained runs."""
        first = self.n_originals
        last = self.n_originals + MAX_CURVES
        everybody = np.ones(len(self._truth("a summary")))
        return Instability(
            contender=contender,
            event=self.event,
            interval=RiskInterval(**_rounded_columns(self.interval())),
            by_risk=RiskBins(**_rounded_columns(self.by_risk())),
            calibration=[
                CalibrationCurve(_rounded(x), _rounded(y))
                for x, y in self.calibration()[first:last]
            ],
            decision=DecisionCurves(
                FEW_THRESHOLDS,
                [_rounded(v) for v in self.net_benefit(FEW_THRESHOLDS)[first:last]],
                _rounded(net_benefit(everybody, self._truth("a summary"), FEW_THRESHOLDS)),
            ),
        )

    def _runs(self) -> Floats:
        return np.concatenate([self.original[: self.n_originals], self.retrained])

    def _truth(self, what: str) -> NDArray[np.bool_]:
        if self.truth is None:
            raise ValueError(f"{what} needs to know who had the event: pass y.")
        return self.truth


def net_benefit(risk: Floats, truth: NDArray[np.bool_], thresholds: Sequence[float]) -> Floats:
    """Return the net benefit of treating everybody with at least a given risk.

    Examples
    --------
    >>> net_benefit(np.array([0.1, 0.3, 0.8, 0.9]), np.array([0, 1, 0, 1], dtype=bool), [0.5])
    array([0.])
    """
    order = np.argsort(risk, kind="stable")
    cuts = np.asarray(thresholds, dtype=np.float64)
    first = np.searchsorted(risk[order], cuts, side="left")
    below = np.concatenate([[0], np.cumsum(truth[order])])[first]
    true_positives = truth.sum() - below
    false_positives = len(risk) - first - true_positives
    return (true_positives - false_positives * cuts / (1.0 - cuts)) / len(risk)


def _rounded(values: Any) -> list[float]:
    return [round(float(value), 5) for value in values]


def _rounded_columns(bins: RiskInterval | RiskBins) -> dict[str, Any]:
    return {name: _rounded(values) for name, values in vars(bins).items()}


def _index(event: Any, classes: Any) -> int:
    labels = list(classes)
    if event is None:
        return len(labels) - 1
    if event not in labels:
        raise ValueError(f"event={event!r} is not one of the classes {labels}.")
    return labels.index(event)


def _risk(model: Any, X: Any, label: Any) -> Floats:
    if not hasattr(model, "predict_proba"):
        raise ValueError(f"{type(model).__name__} has no predict_proba, so no risks.")
    return np.asarray(model.predict_proba(X))[:, _index(label, model.classes_)]


def _risk_bins(risk: Floats, n_bins: int) -> list[NDArray[np.bool_]]:
    """Which risks are in each of some bins of about equal size; equal risks are in one bin."""
    edges = np.unique(np.quantile(risk, np.linspace(0, 1, n_bins + 1)[1:-1]))
    indices = np.searchsorted(edges, risk, side="left")
    return [indices == index for index in np.unique(indices)]


# -- churn, multiplicity and negative flips, from the same pairs -----------------------------------
# All runs of a contender are models of about the same accuracy for the same task: a set of
# competing models, as papers on predictive multiplicity call it.
@dataclass(frozen=True)
class Multiplicity:
    """How much the models of one contender differ, in the words of the literature.

    Parameters
    ----------
    contender : str
        Its name.
    n_models : int
        Models that are compared: two for each pair.
    churn : Estimate
        Share of predictions that differ between two models (Milani Fard and others 2016).
    self_consistency : Estimate
        Probability that two models agree on a row, averaged over rows (Cooper and others 2024).
    ambiguity : Estimate
        Share of rows on which the models are not unanimous (Marx and others 2020). It grows with
        their number; the limits are over rows, for these models.
    discrepancy : Estimate
        Largest share of rows on which the two models of a pair differ (Marx and others 2020); the
        limits are over rows, and hold for all pairs at once.
    negative_flips : Estimate
        Share of rows that the first model of a pair predicts right and the second one wrong.
    """

    contender: str
    n_models: int
    churn: Estimate
    self_consistency: Estimate
    ambiguity: Estimate
    discrepancy: Estimate
    negative_flips: Estimate


def multiplicity(result: Measurement, contender: ClassifierResult) -> Multiplicity:
    """Compute all of them from the pairs of a contender."""
    churn = result.flip_rate(contender.name)
    runs = contender.predictions.reshape(-1, len(contender.truth))
    split = (runs != runs[0]).any(axis=0).astype(np.float64)
    by_pair = contender.key_flips
    each = result.delta / len(by_pair)
    limits = [result.mean(flips[np.newaxis], delta=each) for flips in by_pair]
    return Multiplicity(
        contender=contender.name,
        n_models=len(runs),
        churn=churn,
        self_consistency=Estimate(1 - churn.value, 1 - churn.upper, 1 - churn.lower),
        ambiguity=result.mean(split[np.newaxis]),
        discrepancy=Estimate(
            max(limit.value for limit in limits),
            max(limit.lower for limit in limits),
            max(limit.upper for limit in limits),
        ),
        negative_flips=result.mean(contender.right[:, 0] - contender.both_right),
    )
