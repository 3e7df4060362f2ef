"""Run all pairs of all contenders: fit on two samples, predict the test rows, keep the outcome."""

from __future__ import annotations

import inspect
import io
import json
import os
import re
import textwrap
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from replearn.auditing._contenders import Contender, prepare
from replearn.auditing._design import AuditDesign, Rows, draw_pair
from replearn.exceptions import NotCertifiedWarning
from replearn.execution import Progress, one_thread
from replearn.guarantees import Certificate
from replearn.randomness import SharedKey
from replearn.records.files import claim_folder, write_bytes_atomically
from replearn.records.json import digest_of
from replearn.tables import take_rows

ARRAYS = ("predictions", "law", "votes", "probabilities", "thresholds", "predicted_flips")
LEAST_PAIRS = 2
"""A time budget never stops an audit before limits can be given at all."""

LONGEST_NOTE, LONGEST_GROUP = 400, 60
MANIFEST = "audit.json"
FORMAT = "replearn-audit-folder"


@dataclass(frozen=True, eq=False)
class Task:
    """Everything a worker needs: contenders, data, design and key."""

    contenders: list[Contender]
    X: Any
    labels: NDArray[Any]
    classes: NDArray[Any]
    groups: NDArray[Any] | None
    rows: Rows
    design: AuditDesign
    key: SharedKey


@dataclass(frozen=True, eq=False)
class PairOutcome:
    """What two runs predicted for the test rows; the first axis of the arrays is the run."""

    predictions: NDArray[np.int32]  # places in the list of classes
    law: NDArray[np.float64] | None = None  # two classes: probability of the second one
    votes: NDArray[np.float64] | None = None  # more classes: vote shares
    probabilities: NDArray[np.float64] | None = None
    thresholds: NDArray[np.float64] | None = None  # the rows' own, under the contender's key
    predicted_flips: NDArray[np.float64] | None = None  # what each run estimated of the other
    seconds: tuple[float, ...] = ()  # processor seconds of fit and prediction
    certificates: tuple[str, ...] | None = None  # JSON of both
    promises: tuple[str, ...] = ()  # sentences of a certificate of another task
    notes: tuple[str, ...] = ()  # warnings, each once

    def to_bytes(self) -> bytes:
        """Return the bytes of an npz file."""
        present = {name: getattr(self, name) for name in ARRAYS if getattr(self, name) is not None}
        texts = ("seconds", "certificates", "promises", "notes")
        words = json.dumps({name: getattr(self, name) for name in texts})
        buffer = io.BytesIO()
        np.savez_compressed(buffer, words=np.array(words), **present)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> PairOutcome:
        """Read what `to_bytes` wrote."""
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            words = json.loads(str(file["words"]))
            items: dict[str, Any] = {name: file.get(name) for name in ARRAYS}
        items |= {name: None if value is None else tuple(value) for name, value in words.items()}
        return cls(**items)


class Store:
    """Finished pairs in memory, and in a folder if there is one, so that an audit can continue.

    A folder of another audit (another manifest) is refused.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, manifest: dict[str, Any]) -> None:
        self._folder = None if folder is None else Path(folder)
        self._tag = digest_of(manifest)[:12]
        self.finished: dict[tuple[int, int], PairOutcome] = {}
        if self._folder is not None:
            claim_folder(self._folder, MANIFEST, {"format": FORMAT, **manifest}, "audit")

    def has(self, contender: int, pair: int) -> bool:
        """Tell whether a pair is finished; then it is in `finished`."""
        path = self._path(contender, pair)
        if (contender, pair) not in self.finished and path is not None and path.exists():
            self.finished[contender, pair] = PairOutcome.from_bytes(path.read_bytes())
        return (contender, pair) in self.finished

    def put(self, contender: int, pair: int, outcome: PairOutcome) -> None:
        """Keep a finished pair."""
        self.finished[contender, pair] = outcome
        path = self._path(contender, pair)
        if path is not None:
            write_bytes_atomically(path, outcome.to_bytes())

    def _path(self, contender: int, pair: int) -> Path | None:
        name = f"{self._tag}-{contender:02d}-{pair:04d}.npz"
        return None if self._folder is None else self._folder / name


def run_pairs(
    task: Task, store: Store, *, time_budget: float | None, n_jobs: int | None, verbose: int
) -> list[list[PairOutcome]]:
    """Run what the store does not hold yet; return the finished pairs of each contender.

    Each new pair is stored as soon as it is done. No pair is started after ``time_budget``
    seconds; pairs that were started are finished, for all contenders.
    """
    progress = Progress(len(task.contenders) * task.design.n_pairs, "pairs", verbose=verbose)
    started: list[int] = []
    missing = _missing(task, store, time_budget, started, progress)
    jobs = (delayed(_run_one)(task, contender, pair) for contender, pair in missing)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
    try:
        for contender, pair, outcome in parallel(jobs):
            store.put(contender, pair, outcome)
            progress.advance()
    finally:
        progress.close()
    return [[store.finished[c, pair] for pair in started] for c in range(len(task.contenders))]


def _missing(
    task: Task, store: Store, time_budget: float | None, started: list[int], progress: Progress
) -> Iterator[tuple[int, int]]:
    """Yield what is to be run, pair by pair, so that all contenders have the same pairs."""
    start = time.monotonic()
    for pair in range(task.design.n_pairs):
        late = time_budget is not None and time.monotonic() - start > time_budget
        if late and pair >= LEAST_PAIRS:
            return
        started.append(pair)
        for contender in range(len(task.contenders)):
            if store.has(contender, pair):
                progress.advance()
            else:
                yield contender, pair


def _run_one(task: Task, contender: int, pair: int) -> tuple[int, int, PairOutcome]:
    try:
        return contender, pair, run_pair(task, task.contenders[contender], pair)
    except Exception as error:
        error.add_note(f"contender {task.contenders[contender].name!r}, pair {pair}")
        raise


def run_pair(task: Task, contender: Contender, pair: int) -> PairOutcome:
    """Fit one contender on both samples of a pair and predict the test rows."""
    points = take_rows(task.X, task.rows.test)
    samples = draw_pair(task.design, task.rows, task.key, pair)
    with one_thread(), warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("default")
        # Told by the certificate and by a finding.
        warnings.simplefilter("ignore", NotCertifiedWarning)
        runs = [_run(task, contender, pair, rows, points) for rows in samples]
    notes = {_shortened(f"{w.category.__name__}: {w.message}") for w in raised}
    arrays = {name: _stacked(runs, name) for name in ARRAYS if name != "thresholds"}
    certificates = tuple(run["certificate"] for run in runs)
    return PairOutcome(
        **arrays,
        thresholds=runs[0].get("thresholds"),
        seconds=tuple(run["seconds"] for run in runs),
        certificates=None if None in certificates else certificates,
        promises=runs[0]["promises"],
        notes=tuple(sorted(notes)),
    )


def _shortened(text: str) -> str:
    """One line without the parameters of pipelines, cut between words."""
    plain = re.sub(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", _short_group, text)
    return textwrap.shorten(plain, LONGEST_NOTE, placeholder=" …", break_long_words=False)


def _short_group(group: re.Match[str]) -> str:
    return group[0] if len(group[0]) <= LONGEST_GROUP else "(…)"


def _stacked(runs: list[dict[str, Any]], name: str) -> Any:
    parts: list[Any] = [run.get(name) for run in runs]
    return None if any(part is None for part in parts) else np.stack(parts)


def _run(
    task: Task, contender: Contender, pair: int, rows: NDArray[np.intp], points: Any
) -> dict[str, Any]:
    model = prepare(contender, task.key, pair)
    start = time.process_time()
    labels = task.labels[rows]
    if (labels == labels[0]).all() and contender.replicable_part is None:
        # A sample without a second class: most classifiers refuse it; the prediction is plain.
        code = np.searchsorted(task.classes, labels[0])
        predictions = np.full(len(task.rows.test), code, dtype=np.int32)
        return {"predictions": predictions, "seconds": 0.0, "certificate": None, "promises": ()}
    extra = {}
    if task.groups is not None and "groups" in inspect.signature(model.fit).parameters:
        extra["groups"] = task.groups[rows]
    model.fit(take_rows(task.X, rows), labels, **extra)
    predict = _predict_replicable if contender.is_replicable else _predict
    outcome = predict(model, task.classes, points)
    seconds = time.process_time() - start
    return {**outcome, "seconds": seconds, **_certificate_of(model)}


def _certificate_of(model: Any) -> dict[str, Any]:
    """Return a fitted vote's certificate as JSON; of other tasks only the promises."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    certificate = getattr(last, "certificate_", None)
    if isinstance(certificate, Certificate) and certificate.design is not None:
        return {"certificate": certificate.to_json(), "promises": ()}
    promises = tuple(map(str, getattr(certificate, "promises", ())))
    return {"certificate": None, "promises": promises}


def _predict(model: Any, classes: NDArray[Any], points: Any) -> dict[str, Any]:
    outcome: dict[str, Any] = {"predictions": _codes(model.predict(points), classes)}
    if hasattr(model, "predict_proba"):
        values = model.predict_proba(points)
        outcome["probabilities"] = np.zeros((len(values), len(classes)))
        outcome["probabilities"][:, np.searchsorted(classes, model.classes_)] = values
    return outcome


def _predict_replicable(model: Any, classes: NDArray[Any], points: Any) -> dict[str, Any]:
    if len(model.classes_) > 2 or len(classes) > 2:
        outcome = _predict(model, classes, points)
        # Fewer classes in this sample than in the file: another rule, judged by its predictions.
        if len(model.classes_) == len(classes):
            outcome["votes"] = outcome["probabilities"]
            outcome["predicted_flips"] = model.flip_probability(points)
        return outcome
    explained = model.explain(points)
    if len(model.classes_) == 1:
        law = np.full(len(explained.answer), float(model.classes_[0] == classes[-1]))
        share, flips = law, np.zeros_like(law)
    else:
        law, share = explained.law_value, explained.vote_share
        flips = explained.flip_probability
    return {
        "predictions": _codes(explained.answer, classes),
        "law": law,
        "probabilities": np.column_stack([1 - share, share]),
        "thresholds": explained.threshold,
        "predicted_flips": flips,
    }


def _codes(labels: Any, classes: NDArray[Any]) -> NDArray[np.int32]:
    return np.searchsorted(classes, np.asarray(labels)).astype(np.int32)
