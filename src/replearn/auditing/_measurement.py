"""What an audit measured: arrays of all pairs, and the numbers that follow from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._columns import DataFacts, Subgroups
from replearn.auditing._contenders import Contender, kind_of
from replearn.auditing._design import AuditDesign
from replearn.auditing._judgement import MAX_PRICE, Judgement, judge
from replearn.auditing._runs import ARRAYS, PairOutcome, stacked
from replearn.auditing._statistics import Estimate, mean_limits, row_limits
from replearn.auditing._usefulness import Predictions, Usefulness, usefulness
from replearn.binding.learner import describe_estimator
from replearn.bounds import halves_supremum
from replearn.bounds.multiclass import agreement_probability
from replearn.guarantees import Certificate

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ContenderResult:
    """All pairs of one contender.

    Parameters
    ----------
    name : str
        How the report calls it.
    description : str
        The estimator in words.
    kind : str
        The classes of the estimator and of the steps before it, without parameters.
    needs : str
        What it requires besides the data: nothing, the old model, or a shared key.
    truth : ndarray of int, shape (rows,)
        True labels of the test rows, as indices in the list of classes.
    predictions : ndarray of int, shape (pairs, 2, rows)
        Predictions of both runs, as indices in the list of classes.
    law, votes, probabilities, thresholds, predicted_flips : ndarray or None
        As in a pair, with the pairs as first axis.
    seconds : ndarray of shape (pairs, 2)
        Processor seconds of one fit and prediction.
    certificate : Certificate or None
        Of the first run.
    promises : tuple of str
        Sentences of a certificate of another kind.
    promised_as : str
        Verdict of that certificate: "certified", "estimated" or "not certified".
    incomparable : tuple of str
        Why the runs of some pair are not comparable, if so.
    in_front : tuple of str
        Transformers that learn from data in front of a replicable estimator.
    default_key : bool
        Whether a replicable estimator has the default key.
    remark : str
        What a reader of the report should know.
    measured_as : str
        Where the audited estimator is not the one that ``fit`` would train: what it is.
    notes : tuple of (str, int)
        Warnings, and in how many pairs they were raised.
    """

    name: str
    description: str
    kind: str
    needs: str
    truth: NDArray[np.intp]
    predictions: NDArray[np.int32]
    law: Floats | None = None
    votes: Floats | None = None
    probabilities: Floats | None = None
    thresholds: Floats | None = None
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
    notes: tuple[tuple[str, int], ...] = ()

    @classmethod
    def from_pairs(
        cls, contender: Contender, truth: NDArray[np.intp], outcomes: list[PairOutcome]
    ) -> ContenderResult:
        """Put the pairs of one contender together."""
        arrays = {name: stacked([getattr(o, name) for o in outcomes]) for name in ARRAYS}
        certificates = [o.certificates for o in outcomes if o.certificates is not None]
        return cls(
            name=contender.name,
            description=describe_estimator(contender.estimator)[0],
            kind=kind_of(contender.estimator),
            needs=contender.needs,
            truth=truth,
            **arrays,
            seconds=np.array([outcome.seconds for outcome in outcomes]),
            certificate=Certificate.from_json(certificates[0][0]) if certificates else None,
            promises=outcomes[0].promises,
            promised_as="".join(outcomes[0].verdict),
            incomparable=_differences(certificates),
            in_front=contender.learned_in_front,
            default_key=contender.has_default_key,
            remark=contender.remark,
            measured_as=contender.measured_as,
            notes=_counted([outcome.notes for outcome in outcomes]),
        )

    @cached_property
    def key_flips(self) -> Floats:
        """Whether the two predictions differed, shape (pairs, rows): under this very key."""
        return (self.predictions[:, 0] != self.predictions[:, 1]).astype(np.float64)

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

    @property
    def frequency(self) -> Floats:
        """Mean flips of each test row over pairs."""
        return self.flips.mean(axis=0)

    def promise(self, design: AuditDesign) -> float | None:
        """Largest flip probability of a row that the certificate allows for such pairs.

        Two random halves of one file are not independent: their limit is a little larger than rho
        (theorem: halves-of-one-file).
        """
        certificate = self.certificate
        vote = None if certificate is None else certificate.design
        if certificate is None or vote is None or certificate.task != "pointwise":
            return None
        if vote.request.runs != 2:
            return None
        if design.sample == "bootstrap" or design.independent_pairs:
            return certificate.rho
        if vote.law is None or vote.heavy is not None:
            return None  # halves of one file: no limit is known
        return max(certificate.rho or 0.0, halves_supremum(vote.law, vote.vote))


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


@dataclass(frozen=True, eq=False, repr=False)
class Measurement:
    """The numbers of an audit, before limits, findings and reports are derived from them.

    Parameters
    ----------
    design : AuditDesign
        How the file was split.
    contenders : tuple of ContenderResult
        In order; the first is the baseline.
    classes : tuple
        The labels.
    test : ndarray of int
        Positions of the test rows in the file.
    clusters : ndarray of int or None
        Group of each test row.
    subgroups : dict
        Name to (levels, level of each test row).
    facts : DataFacts
        What the rows themselves show.
    shown_rows : ndarray of int
        The least stable test rows, as indices among the test rows.
    columns : tuple of str
        Names of the features.
    cells : tuple of tuple of str
        The features of the shown rows, as text.
    rho : float
        The flip probability that was requested.
    pairs_wanted : int
        Pairs requested; fewer were run if the time budget ended the audit.
    wall_seconds : float
        How long the audit took in this process.
    delta : float, default=0.05
        Each pair of confidence limits fails with probability at most delta.
    max_price : float, default=0.01
        The largest loss of accuracy, as a share, at which a contender is recommended.
    ignore : tuple of str, default=()
        Codes of findings that are not looked for.
    not_measured : tuple of str, default=()
        Contenders that were left out for lack of time.
    cut_short : tuple of str, default=()
        How far the audit got, where it is not as far as requested, in words.
    interrupted : bool, default=False
        Whether Ctrl-C ended the audit.
    reader : {"python", "command"}, default="python"
        Whether remedies name functions or options of the command line.
    about : dict of str to str, default={}
        Where the rows come from (``file``, ``target``, ``model``), for the head of reports.
    finished : str, default=""
        Date and time of the audit.
    """

    design: AuditDesign
    contenders: tuple[ContenderResult, ...]
    classes: tuple[Any, ...]
    test: NDArray[np.intp]
    clusters: NDArray[np.intp] | None
    subgroups: Subgroups
    facts: DataFacts
    shown_rows: NDArray[np.intp]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    rho: float
    pairs_wanted: int
    wall_seconds: float
    delta: float = 0.05
    max_price: float = MAX_PRICE
    ignore: tuple[str, ...] = ()
    not_measured: tuple[str, ...] = ()
    cut_short: tuple[str, ...] = ()
    interrupted: bool = False
    reader: str = "python"
    about: Mapping[str, str] = field(default_factory=dict)
    finished: str = ""

    def __getitem__(self, name: str) -> ContenderResult:
        contenders = {contender.name: contender for contender in self.contenders}
        if name not in contenders:
            raise KeyError(f"no contender {name!r}; there are {list(contenders)}")
        return contenders[name]

    def flip_rate(self, name: str) -> Estimate:
        """Mean flip rate of a contender with limits over pairs and rows."""
        return self.mean(self[name].flips)

    def row_flips(self, name: str) -> dict[str, NDArray[Any]]:
        """Flip frequency of each test row of a contender, with limits for each row separately."""
        frequency, lower, upper = row_limits(self[name].flips, self.delta)
        return {"row": self.test, "frequency": frequency, "lower": lower, "upper": upper}

    def usefulness(self, name: str) -> Usefulness:
        """How useful a contender's predictions are, with limits over pairs and rows."""
        if name not in self._usefulness:
            predictions = self[name].as_predictions(len(self.classes))
            self._usefulness[name] = usefulness(predictions, self.classes, self.mean)
        return self._usefulness[name]

    @cached_property
    def judgement(self) -> Judgement:
        """Each contender against the baseline, and which one to use."""
        return judge(self)

    @cached_property
    def _usefulness(self) -> dict[str, Usefulness]:
        return {}

    def mean(
        self,
        values: Floats,
        *,
        rows: NDArray[np.bool_] | None = None,
        delta: float | None = None,
        within: tuple[float, float] | None = None,
    ) -> Estimate:
        """Mean over pairs and (some) test rows, with limits that respect the groups of rows."""
        return mean_limits(values, delta or self.delta, self.clusters, rows=rows, within=within)
