"""What an audit found: frozen arrays, and everything else derived from them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from replearn.audit._columns import Subgroups
from replearn.audit._design import AuditDesign
from replearn.audit._facts import DataFacts
from replearn.audit._runs import ARRAYS, PairOutcome
from replearn.audit._statistics import Estimate, mean_limits, row_limits
from replearn.bounds import agreement_probability, halves_supremum
from replearn.certificates import Certificate
from replearn.certificates._json import write_atomically

if TYPE_CHECKING:
    from replearn.audit._findings import Finding

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
    incomparable : tuple of str
        Why runs of one pair do not belong to one promise, if so.
    in_front : tuple of str
        Transformers that learn from data in front of a replicable learner.
    default_key : bool
        Whether a replicable learner has the key that everybody has.
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
    incomparable: tuple[str, ...] = ()
    in_front: tuple[str, ...] = ()
    default_key: bool = False
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
        if found is None or found.claim.notion != "pointwise" or found.claim.runs != 2:
            return None
        if design.sample == "disjoint" and not design.independent_pairs and found.law is not None:
            return max(found.claim.rho, halves_supremum(found.law, found.vote))
        return found.claim.rho


def gather(
    name: str,
    description: str,
    truth: NDArray[np.intp],
    outcomes: list[PairOutcome],
    *,
    in_front: tuple[str, ...],
    default_key: bool,
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
        incomparable=_differences(certificates),
        in_front=in_front,
        default_key=default_key,
        notes=tuple(sorted(counts.items())),
    )


def _differences(certificates: list[tuple[str, ...]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for one, two in certificates:
        if one != two:
            compared = Certificate.from_json(one).comparable(Certificate.from_json(two))
            found.update(dict.fromkeys(compared.differences))
    return tuple(found)


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult:
    """The measurement of an audit; made by :func:`audit`.

    Parameters
    ----------
    design : AuditDesign
        How the file was cut.
    contenders : tuple of ContenderResult
        In order; the first is the one that others are compared with.
    classes : tuple
        The labels.
    test : ndarray of int
        Positions of the test rows in the file.
    clusters : ndarray of int or None
        Group of each test row.
    subgroups : dict
        Name to (levels, level of each test row).
    facts : DataFacts
        What the rows themselves say.
    shown_rows : ndarray of int
        The least stable test rows, as places among the test rows.
    columns : tuple of str
        Names of the features.
    cells : tuple of tuple of str
        The features of the shown rows, in words.
    delta : float
        Each pair of confidence limits fails with probability at most delta.
    rho : float
        The flip probability that was asked for.
    ignore : tuple of str
        Codes of findings that are not looked for.
    pairs_wanted : int
        Pairs asked for; fewer were run if the time budget ended the audit.
    wall_seconds : float
        How long the audit took in this process.
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
    delta: float
    rho: float
    ignore: tuple[str, ...]
    pairs_wanted: int
    wall_seconds: float

    def __getitem__(self, name: str) -> ContenderResult:
        for contender in self.contenders:
            if contender.name == name:
                return contender
        raise KeyError(f"no contender {name!r}; there are {[c.name for c in self.contenders]}")

    def flip_rate(self, name: str) -> Estimate:
        """Mean flip rate of a contender with limits over pairs and rows."""
        return mean_limits(self[name].flips, self.delta, self.clusters)

    def row_flips(self, name: str) -> dict[str, NDArray[Any]]:
        """Flip frequency of each test row of a contender, with limits for each row separately."""
        frequency, lower, upper = row_limits(self[name].flips, self.delta)
        return {"row": self.test, "frequency": frequency, "lower": lower, "upper": upper}

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What deserves a look, by code."""
        from replearn.audit._findings import find

        return find(self)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        from replearn.audit._summary import summarize

        return summarize(self)

    def to_dict(self, *, timings: bool = True) -> dict[str, Any]:
        """Return everything as JSON values; the schema is documented.

        Parameters
        ----------
        timings : bool, default=True
            Whether to tell seconds; without them two equal audits give equal bytes.

        Returns
        -------
        dict
            See the page on the schema.
        """
        from replearn.audit._summary import without_timings

        return self._summary if timings else without_timings(self._summary)

    def to_json(self, *, timings: bool = True) -> str:
        """Return everything as JSON text."""
        from replearn.audit._report import to_json

        return to_json(self.to_dict(timings=timings))

    def to_markdown(self) -> str:
        """Return a short report for a pull request or a wiki."""
        from replearn.audit._report import to_markdown

        return to_markdown(self._summary)

    def to_html(self, *, values: bool = True) -> str:
        """Return the report as one self-contained HTML page (needs jinja2).

        Parameters
        ----------
        values : bool, default=True
            Whether the features of the least stable rows are shown. False: only their places in
            the file, for reports that leave the house.

        Returns
        -------
        str
            Opens from disk; nothing is loaded from a network.
        """
        from replearn.audit._report import to_html

        return to_html(self._summary, values=values)

    def save(self, path: str | os.PathLike[str], *, values: bool = True) -> None:
        """Write the report; the ending .html, .json or .md says how."""
        writers = {
            ".html": lambda: self.to_html(values=values),
            ".json": self.to_json,
            ".md": self.to_markdown,
        }
        ending = Path(path).suffix.lower()
        if ending not in writers:
            raise ValueError(f"path={str(path)!r} must end in {', '.join(writers)}.")
        write_atomically(path, writers[ending]() + "\n")

    def frame(self) -> Any:
        """Return a pandas DataFrame with one line per contender."""
        import pandas as pd

        from replearn.audit._summary import contender_lines

        return pd.DataFrame(contender_lines(self._summary))

    def __repr__(self) -> str:
        names = ", ".join(c.name for c in self.contenders)
        return f"AuditResult({names}; {self.design.n_pairs} pairs, {self.design.n_test} test rows)"

    def __str__(self) -> str:
        from replearn.audit._report import to_text

        return to_text(self._summary)

    def _repr_html_(self) -> str:
        from replearn.audit._report import to_notebook

        return to_notebook(self._summary)
