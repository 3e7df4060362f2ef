"""What the runs of one pair predicted, kept in a file if need be; and what all pairs show."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing.contenders import Contender, kind_of
from replearn.auditing.design import ANY_PERIOD, NEXT_PERIOD
from replearn.auditing.facts import Table
from replearn.auditing.metrics import Labels, Predictions, Quantities
from replearn.auditing.runs import ContenderResult, Runs
from replearn.checks.fingerprint import in_words
from replearn.guarantees.certificate import Certificate

ARRAYS = ("codes", "chances", "probabilities", "values", "reported")


@dataclass(frozen=True, eq=False)
class Outcome:
    """What the runs of one pair predicted for the test rows; the first axis of arrays is the run.

    One name per run says what is different from the run that it is compared with.
    """

    variants: tuple[str, ...]
    firsts: tuple[int, ...]
    codes: NDArray[np.int32] | None = None  # indices in the list of classes
    chances: NDArray[np.float64] | None = None  # of each prediction over shared randomness
    probabilities: NDArray[np.float64] | None = None
    values: NDArray[np.float64] | None = None  # of a quantity: predictions before rounding
    reported: NDArray[np.float64] | None = None  # of a quantity: predictions
    by_gumbel: bool = False
    seconds: tuple[float, ...] = ()  # processor seconds of fit and prediction
    certificates: tuple[str, ...] | None = None  # JSON of each run
    promises: tuple[str, ...] = ()  # sentences of a certificate of another task
    verdict: str = ""  # of a certificate of another task: certified, estimated, ...
    notes: tuple[str, ...] = ()  # warnings, each once
    decision_thresholds: tuple[float, ...] = ()  # of the runs that have one

    def pair(self, variant: str) -> list[int]:
        """Return the places of the two runs that show what a variant changes."""
        second = self.variants.index(variant)
        return [self.firsts[second], second]

    def to_bytes(self) -> bytes:
        """Return the bytes of an npz file."""
        present = {name: getattr(self, name) for name in ARRAYS if getattr(self, name) is not None}
        names = [f.name for f in dataclasses.fields(self) if f.name not in ARRAYS]
        words = json.dumps({name: getattr(self, name) for name in names})
        buffer = io.BytesIO()
        np.savez_compressed(buffer, words=np.array(words), **present)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Outcome:
        """Read what `to_bytes` wrote."""
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            words = json.loads(str(file["words"]))
            arrays: dict[str, Any] = {name: file.get(name) for name in ARRAYS}
        words = {
            n: tuple(value) if isinstance(value, list) else value for n, value in words.items()
        }
        return cls(**arrays, **words)


def result_of(
    table: Table, vary: tuple[str, ...], contender: Contender, pairs: list[Outcome]
) -> ContenderResult:
    """Put the pairs of one contender together."""
    certificates = [pair.certificates for pair in pairs if pair.certificates is not None]
    thresholds = [one for pair in pairs for one in pair.decision_thresholds]
    return ContenderResult(
        name=contender.name,
        description=in_words(contender.estimator),
        kind=kind_of(contender.estimator),
        needs=contender.needs,
        runs=_runs_by_variant(table, vary, contender, pairs),
        seconds=np.array([pair.seconds for pair in pairs]),
        certificate=Certificate.from_json(certificates[0][0]) if certificates else None,
        promises=pairs[0].promises,
        promised_as=pairs[0].verdict,
        incomparable=_differences(certificates),
        in_front=contender.learned_in_front,
        default_key=contender.has_default_key,
        remark=contender.remark,
        measured_as=contender.measured_as,
        is_setting=contender.is_setting,
        decision_threshold=float(np.mean(thresholds)) if thresholds else None,
        notes=_counted([pair.notes for pair in pairs]),
    )


def _runs_by_variant(
    table: Table, vary: tuple[str, ...], contender: Contender, pairs: list[Outcome]
) -> dict[str, Runs]:
    """Return the pairs by what differs between their two runs; "" is what the report is about."""
    found: dict[str, Runs] = {}
    for variant in vary:
        name = "" if variant == vary[0] else variant
        predictions = predictions_of(table, contender, pairs, variant)
        found[name] = Runs(contender.name, predictions, table.clusters, name)
    if NEXT_PERIOD in found:
        # Windows overlap, and are no sample: the spread of random pairs stands for theirs.
        spread = float(found[ANY_PERIOD].flips.mean(axis=1).var(ddof=1))
        found[NEXT_PERIOD] = replace(found[NEXT_PERIOD], pair_variance=spread)
    return found


def predictions_of(
    table: Table, contender: Contender, pairs: list[Outcome], variant: str
) -> Predictions:
    """Stack the two runs that show what a variant changes, over all pairs."""

    def stack(name: str) -> Any:
        arrays = [getattr(pair, name) for pair in pairs]
        if any(array is None for array in arrays):
            return None
        return np.stack([a[pair.pair(variant)] for a, pair in zip(arrays, pairs, strict=True)])

    if table.tolerance is not None:
        grid = getattr(contender.estimator, "resolution", None)
        resolution = None if grid is None else float(grid)
        numbers = stack("reported"), table.truth, stack("values")
        return Quantities(table.tolerance, *numbers, resolution)
    chances = stack("chances")
    return Labels(
        classes=table.class_names,
        codes=stack("codes"),
        truth=table.truth,
        chances=chances,
        by_gumbel=chances is not None and all(pair.by_gumbel for pair in pairs),
        probabilities=stack("probabilities"),
    )


def stacked(parts: list[Any]) -> Any:
    """Put arrays together along a new first axis; None if any is missing."""
    return None if any(part is None for part in parts) else np.stack(parts)


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
    for one, *others in pairs:
        for other in others:
            if one != other:
                verdict = Certificate.from_json(one).comparable(Certificate.from_json(other))
                reasons.update(dict.fromkeys(verdict.differences))
    return tuple(reasons)
