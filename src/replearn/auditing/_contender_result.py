"""All pairs of one contender: frozen arrays, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._design import AuditDesign
from replearn.auditing._runs import ARRAYS, PairOutcome
from replearn.bounds import agreement_probability, halves_supremum
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
    truth : ndarray of int, shape (rows,)
        True labels of the test rows, as places in the list of classes.
    answers : ndarray of int, shape (pairs, 2, rows)
        Answers of both runs, as places in the list of classes.
    law, votes, probabilities, thresholds, predicted_flips : ndarray or None
        As in a pair, with the pairs as first axis.
    seconds : ndarray of shape (pairs, 2)
        Processor seconds of one fit and prediction.
    certificate : Certificate or None
        Of the first run.
    promises : tuple of str
        What a certificate of another kind promises, in sentences.
    incomparable : tuple of str
        Why runs of one pair do not belong to one promise, if so.
    in_front : tuple of str
        Transformers that learn from data in front of a replicable learner.
    default_key : bool
        Whether a replicable learner has the key that everybody has.
    remark : str
        What a reader of the report should know.
    notes : tuple of (str, int)
        Warnings, and in how many pairs they were raised.
    """

    name: str
    description: str
    truth: NDArray[np.intp]
    answers: NDArray[np.int32]
    law: Floats | None = None
    votes: Floats | None = None
    probabilities: Floats | None = None
    thresholds: Floats | None = None
    predicted_flips: Floats | None = None
    seconds: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    certificate: Certificate | None = None
    promises: tuple[str, ...] = ()
    incomparable: tuple[str, ...] = ()
    in_front: tuple[str, ...] = ()
    default_key: bool = False
    remark: str = ""
    notes: tuple[tuple[str, int], ...] = ()

    @cached_property
    def key_flips(self) -> Floats:
        """Whether the two answers differed, shape (pairs, rows): under this very key."""
        return (self.answers[:, 0] != self.answers[:, 1]).astype(np.float64)

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
        """Probability that a run answers the truth, shape (pairs, 2, rows)."""
        if self.law is not None:
            return np.where(self.truth == 1, self.law, 1.0 - self.law)
        if self.votes is not None:
            return np.take_along_axis(
                self.votes, self.truth[np.newaxis, np.newaxis, :, np.newaxis], axis=3
            )[..., 0]
        return (self.answers == self.truth).astype(np.float64)

    @cached_property
    def both_right(self) -> Floats:
        """Probability that both runs answer the truth, shape (pairs, rows)."""
        if self.law is not None:
            return self.right.min(axis=1)
        if self.votes is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = (self.votes / self.right[..., np.newaxis]).max(axis=1)
                # theorem: multiclass-vote
                shared = 1.0 / ratios.sum(axis=2)
            return np.where(self.right.min(axis=1) > 0, shared, 0.0)
        return self.right.prod(axis=1)

    @property
    def frequency(self) -> Floats:
        """Mean flips of each test row over pairs."""
        return self.flips.mean(axis=0)

    def promise(self, design: AuditDesign) -> float | None:
        """Largest flip probability of a row that the certificate allows for such pairs.

        Two random halves of one file are not independent: their limit is a little larger than
        rho (theorem: halves-of-one-file).
        """
        found = self.certificate
        if found is None or found.task != "pointwise" or found.design.request.runs != 2:
            return None
        if design.sample == "bootstrap" or design.independent_pairs:
            return found.rho
        if found.design.law is None or found.design.heavy is not None:
            return None  # halves of one file: no limit is known
        return max(found.rho, halves_supremum(found.design.law, found.design.vote))


def gather(
    name: str,
    description: str,
    truth: NDArray[np.intp],
    outcomes: list[PairOutcome],
    *,
    in_front: tuple[str, ...],
    default_key: bool,
    remark: str,
) -> ContenderResult:
    """Put the pairs of one contender together."""
    arrays: dict[str, Any] = {}
    for array in ARRAYS:
        parts = [getattr(outcome, array) for outcome in outcomes]
        arrays[array] = None if any(part is None for part in parts) else np.stack(parts)
    counts: dict[str, int] = {}
    for outcome in outcomes:
        for note in outcome.notes:
            counts[note] = counts.get(note, 0) + 1
    certificates = [o.certificates for o in outcomes if o.certificates is not None]
    return ContenderResult(
        name=name,
        description=description,
        truth=truth,
        **arrays,
        seconds=np.array([outcome.seconds for outcome in outcomes]),
        certificate=Certificate.from_json(certificates[0][0]) if certificates else None,
        promises=outcomes[0].promises,
        incomparable=_differences(certificates),
        in_front=in_front,
        default_key=default_key,
        remark=remark,
        notes=tuple(sorted(counts.items())),
    )


def _differences(certificates: list[tuple[str, ...]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for one, two in certificates:
        if one != two:
            compared = Certificate.from_json(one).comparable(Certificate.from_json(two))
            found.update(dict.fromkeys(compared.differences))
    return tuple(found)
