"""What the pairs show: the predictions of each contender."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._contenders import Contender, kind_of
from replearn.auditing._statistics import (
    ANY,
    SHARES,
    Mean,
    Predictions,
    RegressionUsefulness,
    Usefulness,
    has_changed,
    usefulness,
)
from replearn.auditing._table import AuditDesign
from replearn.bounds import agreement_probability, halves_supremum
from replearn.checks.fingerprint import in_words
from replearn.guarantees.certificate import Certificate

if TYPE_CHECKING:
    from replearn.auditing._runs import PairOutcome

Floats = NDArray[np.float64]
ScoreTable = tuple[Floats, tuple[float, float] | None]
"""Pairs and rows, whose mean is a score; and between which numbers that lies, if not shares."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ContenderResult:
    """All pairs of one contender.

    Parameters
    ----------
    name : str
        Its name in the report.
    description : str
        The estimator in words.
    kind : str
        The classes of the estimator and of the steps before it, without parameters.
    needs : str
        What it requires besides the data: nothing, the old model, or a shared key.
    truth : ndarray of shape (rows,)
        True labels of the test rows: indices in the list of classes, or numbers.
    predicted_flips : ndarray of shape (pairs, 2, rows), or None
        Flip probabilities that each run estimates for the other.
    seconds : ndarray of shape (pairs, 2)
        Processor seconds of one fit and prediction.
    certificate : Certificate or None
        Of the first run.
    promises : tuple of str
        Sentences of a certificate of another kind.
    promised_as : str
        Verdict of that certificate: "certified", "estimated" or "not certified".
    incomparable : tuple of str
        Why the runs of some pair are not comparable; empty if all are.
    in_front : tuple of str
        Transformers in front of a replicable estimator that learn from data.
    default_key : bool
        Whether a replicable estimator has the default key.
    remark : str
        What a reader of the report should know.
    measured_as : str
        What the audited estimator is, if it is not the one that ``fit`` would train.
    is_setting : bool
        Whether it is a setting of a grid, from which the best is chosen.
    decision_threshold : float or None
        Mean decision threshold of the runs, if they have one.
    notes : tuple of (str, int)
        Warnings, and in how many pairs they were raised.
    """

    name: str
    description: str
    kind: str
    needs: str
    truth: NDArray[Any]
    predicted_flips: Floats | None = None
    seconds: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    certificate: Certificate | None = None
    promises: tuple[str, ...] = ()
    promised_as: str = ""
    incomparable: tuple[str, ...] = ()
    in_front: tuple[str, ...] = ()
    default_key: bool = False
    remark: str = ""
    measured_as: str = ""
    is_setting: bool = False
    decision_threshold: float | None = None
    notes: tuple[tuple[str, int], ...] = ()

    @classmethod
    def from_pairs(
        cls,
        contender: Contender,
        truth: NDArray[Any],
        outcomes: list[PairOutcome],
        names: Iterable[str],
        **settings: Any,
    ) -> Self:
        """Put the pairs of one contender together, with the arrays of these names."""
        arrays = {name: stacked([getattr(o, name) for o in outcomes]) for name in names}
        certificates = [o.certificates for o in outcomes if o.certificates is not None]
        return cls(
            name=contender.name,
            description=in_words(contender.estimator),
            kind=kind_of(contender.estimator),
            needs=contender.needs,
            truth=truth,
            **arrays,
            **settings,
            seconds=np.array([outcome.seconds for outcome in outcomes]),
            certificate=Certificate.from_json(certificates[0][0]) if certificates else None,
            promises=outcomes[0].promises,
            promised_as="".join(outcomes[0].verdict),
            incomparable=_differences(certificates),
            in_front=contender.learned_in_front,
            default_key=contender.has_default_key,
            remark=contender.remark,
            measured_as=contender.measured_as,
            is_setting=contender.is_setting,
            decision_threshold=_mean_threshold(outcomes),
            notes=_counted([outcome.notes for outcome in outcomes]),
        )

    @property
    def flips(self) -> Floats:
        """Probability that the prediction of a row changes, shape (pairs, rows)."""
        raise NotImplementedError

    @property
    def key_flips(self) -> Floats:
        """Whether the prediction changed under the key of the audit, shape (pairs, rows)."""
        raise NotImplementedError

    @property
    def frequency(self) -> Floats:
        """Mean flips of each test row over pairs."""
        return self.flips.mean(axis=0)

    def usefulness(self, classes: tuple[Any, ...], mean: Mean) -> Usefulness | RegressionUsefulness:
        """Measure how useful the predictions are, with limits by ``mean``."""
        raise NotImplementedError

    @property
    def has_ranking(self) -> bool:
        """Whether one of two classes is rare, and probabilities rank the rows."""
        return False

    def score_tables(
        self, n_classes: int, *, ranking: bool = False, costs: Floats | None = None
    ) -> Mapping[str, ScoreTable]:
        """Return the scores that it is judged by; the first one leads the report."""
        raise NotImplementedError

    def promise(self, design: AuditDesign) -> float | None:
        """Largest flip probability of a row that the certificate allows for such pairs.

        Two random halves of one file are not independent: their limit is a little larger than rho
        (theorem: halves-of-one-file).
        """
        certificate = self.certificate
        vote = None if certificate is None else certificate.design
        if certificate is None or vote is None or certificate.task != "pointwise":
            return None
        if vote.runs != 2:
            return None
        if design.sample == "bootstrap" or design.independent_pairs:
            return certificate.rho
        if vote.law is None:
            return None  # halves of one file: no limit is known
        return max(certificate.rho or 0.0, halves_supremum(vote.law, vote.vote))


RARE = 0.2
"""With a smaller share of the rows, a class is rare: accuracy says little."""

CLASSIFIER_ARRAYS = (
    *("predictions", "law", "votes", "probabilities", "thresholds", "predicted_flips"),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassifierResult(ContenderResult):
    """All pairs of one classifier.

    Parameters
    ----------
    predictions : ndarray of int, shape (pairs, 2, rows)
        Predictions of both runs, as indices in the list of classes.
    law, votes, probabilities, thresholds : ndarray or None
        As in a pair, with the pairs as first axis.
    """

    predictions: NDArray[np.int32]
    law: Floats | None = None
    votes: Floats | None = None
    probabilities: Floats | None = None
    thresholds: Floats | None = None

    @cached_property
    def key_flips(self) -> Floats:
        """Whether the two predictions differed, shape (pairs, rows): under this very key."""
        return has_changed(self.predictions[:, 0], self.predictions[:, 1]).astype(np.float64)

    @cached_property
    def flips(self) -> Floats:
        """Probability that the two runs differ, shape (pairs, rows), thresholds integrated out."""
        if self.law is not None:
            # theorem: pointwise-threshold
            return np.abs(self.law[:, 0] - self.law[:, 1])
        if self.votes is not None:
            # theorem: multiclass-vote
            return 1.0 - agreement_probability(self.votes[:, 0], self.votes[:, 1])
        return self.key_flips

    @cached_property
    def right(self) -> Floats:
        """Probability that a run predicts the true label, shape (pairs, 2, rows)."""
        return self.as_predictions(1 + int(max(self.truth.max(), self.predictions.max()))).right

    @cached_property
    def both_right(self) -> Floats:
        """Probability that both runs predict the true label, shape (pairs, rows)."""
        if self.law is not None:
            return self.right.min(axis=1)
        if self.votes is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = (self.votes / self.right[..., np.newaxis]).max(axis=1)
                # theorem: multiclass-vote
                shared = 1.0 / ratios.sum(axis=2)
            return np.where(self.right.min(axis=1) > 0, shared, 0.0)
        return self.right.prod(axis=1)

    def as_predictions(self, n_classes: int) -> Predictions:
        """What every run predicted, thresholds integrated out, beside the truth."""
        if self.law is not None:
            shares = np.stack([1.0 - self.law, self.law], axis=-1)
        elif self.votes is not None:
            shares = self.votes
        else:
            shares = (self.predictions[..., np.newaxis] == np.arange(n_classes)).astype(np.float64)
        return Predictions(self.truth, shares, self.probabilities)

    def usefulness(self, classes: tuple[Any, ...], mean: Mean) -> Usefulness:
        """Measure accuracy, recall, AUC and others."""
        return usefulness(self.as_predictions(len(classes)), classes, mean)

    def score_tables(
        self, n_classes: int, *, ranking: bool = False, costs: Floats | None = None
    ) -> Mapping[str, ScoreTable]:
        """Accuracy (with ``ranking``, AUC) and balanced accuracy; with costs of errors weighted."""
        predictions = self.as_predictions(n_classes)
        areas = predictions.aucs() if ranking else None
        ranks: dict[str, ScoreTable] = {} if areas is None else {"AUC": (areas, SHARES)}
        if costs is not None:
            return {"weighted accuracy": (predictions.weighted(costs), SHARES), **ranks}
        first: dict[str, ScoreTable] = {"accuracy": (predictions.right.mean(axis=1), None)}
        return {**(ranks or first), "balanced accuracy": (predictions.balanced(), SHARES)}

    @property
    def has_ranking(self) -> bool:
        """Whether one of two classes is rare, and probabilities rank the rows."""
        return self.probabilities is not None and self.has_rare_class

    @property
    def has_rare_class(self) -> bool:
        """Whether one of two classes has few of the test rows."""
        counts = np.bincount(self.truth)
        present = counts[counts > 0]
        return len(present) == 2 and bool(present.min() < RARE * len(self.truth))


REGRESSOR_ARRAYS = ("values", "reported", "predicted_flips")


@dataclass(frozen=True, eq=False, kw_only=True)
class RegressorResult(ContenderResult):
    """All pairs of one regressor.

    Parameters
    ----------
    values : ndarray of shape (pairs, 2, rows)
        Predictions before a shared grid rounds them.
    reported : ndarray of shape (pairs, 2, rows)
        Predictions.
    tolerance : float
        Predictions that differ by at least this much have changed.
    resolution : float or None
        Spacing of the shared grid to which a replicable regressor rounds.
    """

    values: Floats
    reported: Floats
    tolerance: float
    resolution: float | None = None

    @property
    def apart(self) -> Floats:
        """Distance of the two predictions before rounding, shape (pairs, rows)."""
        return np.abs(self.values[:, 0] - self.values[:, 1])

    @cached_property
    def key_flips(self) -> Floats:
        """Whether two predictions differ by the tolerance or more: under this very key."""
        before, after = self.reported[:, 0], self.reported[:, 1]
        return has_changed(before, after, self.tolerance).astype(np.float64)

    @cached_property
    def flips(self) -> Floats:
        """The same, with the offset of a shared grid integrated out."""
        if self.resolution is None:
            return self.key_flips
        # theorem: rounded-regression (means that are x spacings apart are rounded floor(x) or
        # floor(x) + 1 spacings apart, the latter with the fraction of x as probability)
        steps = max(1, int(np.ceil(self.tolerance / self.resolution * (1 - 1e-9))))
        return np.clip(self.apart / self.resolution - (steps - 1), 0.0, 1.0)

    def usefulness(self, classes: tuple[Any, ...], mean: Mean) -> RegressionUsefulness:
        """Measure the explained share of the variance, the error, and how far predictions move."""
        table, limits = self.score_tables(0)["R²"]
        errors = (self.reported - self.truth) ** 2
        return RegressionUsefulness(
            r2=mean(table, within=limits),
            rmse=float(np.sqrt(errors.mean())),
            spread=mean(self.apart, within=ANY),
        )

    def score_tables(
        self, n_classes: int, *, ranking: bool = False, costs: Floats | None = None
    ) -> Mapping[str, ScoreTable]:
        """Share of the variance of the test rows that predictions explain."""
        errors = ((self.reported - self.truth) ** 2).mean(axis=1)
        variance = float(np.var(self.truth)) or 1.0
        return {"R²": (1.0 - errors / variance, (-np.inf, 1.0))}


@dataclass(frozen=True, eq=False)
class NewRowsResult:
    """Which predictions change when this many of the training rows are new.

    Parameters
    ----------
    share : float
        Share of new rows.
    flips : dict of str to ndarray of shape (pairs, rows)
        Of each contender.
    """

    share: float
    flips: Mapping[str, Floats]


def stacked(parts: list[Any]) -> Any:
    """Put arrays together along a new first axis; None if any is missing."""
    return None if any(part is None for part in parts) else np.stack(parts)


def _mean_threshold(outcomes: list[PairOutcome]) -> float | None:
    thresholds = [threshold for outcome in outcomes for threshold in outcome.decision_thresholds]
    return float(np.mean(thresholds)) if thresholds else None


def _counted(notes: list[tuple[str, ...]]) -> tuple[tuple[str, int], ...]:
    """Count in how many pairs a warning was raised; other numbers in it make no other warning.

    >>> _counted([("10 % differ", "11 % differ"), ("12 % differ",), ()])
    (('10 % differ', 2),)
    """
    texts: dict[str, str] = {}
    pairs: dict[str, set[int]] = {}
    for pair, raised in enumerate(notes):
        for text in raised:
            kind = re.sub(r"\d[\d.,]*", "0", text)
            texts.setdefault(kind, text)
            pairs.setdefault(kind, set()).add(pair)
    return tuple(sorted((texts[kind], len(where)) for kind, where in pairs.items()))


def _differences(pairs: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return why the runs of some pair are not comparable, each reason once."""
    reasons: dict[str, None] = {}
    for one, two in pairs:
        if one != two:
            verdict = Certificate.from_json(one).comparable(Certificate.from_json(two))
            reasons.update(dict.fromkeys(verdict.differences))
    return tuple(reasons)
