"""Run all pairs of all contenders: fit on two samples, predict the test rows, keep the outcome."""

from __future__ import annotations

import inspect
import io
import json
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from replearn.auditing._certificates import certificate_of
from replearn.auditing._contenders import Contender, prepare
from replearn.auditing._design import AuditDesign, Rows, draw_pair
from replearn.exceptions import NotCertifiedWarning
from replearn.execution import Progress, one_thread
from replearn.randomness import SharedKey
from replearn.records.files import claim_folder, write_bytes_atomically
from replearn.records.json import digest_of
from replearn.tables import take_rows

ARRAYS = ("predictions", "law", "votes", "probabilities", "thresholds", "predicted_flips")
LEAST_PAIRS = 2
"""A time budget never stops an audit before limits can be given at all."""

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
    """What two runs predicted for the test rows; the first axis of the arrays is the run.

    Parameters
    ----------
    predictions : ndarray of int, shape (2, rows)
        Places in the list of classes.
    law : ndarray or None, shape (2, rows)
        Replicable learner, two classes: probability over thresholds of the second class.
    votes : ndarray or None, shape (2, rows, classes)
        Replicable learner, more classes: vote shares.
    probabilities : ndarray or None, shape (2, rows, classes)
        Predicted probabilities (vote shares for a replicable learner).
    thresholds : ndarray or None, shape (rows,)
        The rows' own thresholds under the contender's key.
    predicted_flips : ndarray or None, shape (2, rows)
        What each run, alone, estimated of the other.
    seconds : tuple of float
        Processor seconds of fit and prediction.
    certificates : tuple of str or None
        JSON of both certificates, where there are any.
    promises : tuple of str
        Sentences of a certificate of another kind.
    notes : tuple of str
        Warnings that the runs raised, each once.
    """

    predictions: NDArray[np.int32]
    law: NDArray[np.float64] | None = None
    votes: NDArray[np.float64] | None = None
    probabilities: NDArray[np.float64] | None = None
    thresholds: NDArray[np.float64] | None = None
    predicted_flips: NDArray[np.float64] | None = None
    seconds: tuple[float, ...] = ()
    certificates: tuple[str, ...] | None = None
    promises: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_bytes(self) -> bytes:
        """Return the bytes of an npz file.

        Examples
        --------
        >>> outcome = PairOutcome(np.zeros((2, 3), dtype=np.int32), seconds=(0.5, 0.25))
        >>> PairOutcome.from_bytes(outcome.to_bytes()).seconds
        (0.5, 0.25)
        """
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
    """A folder with one file per finished pair, so that an audit can continue; or memory.

    Parameters
    ----------
    folder : path or None
        Where finished pairs are kept; each file is written whole or not at all.
    manifest : dict
        What identifies the audit: equal manifests give equal results. A folder of another audit
        is refused.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, manifest: dict[str, Any]) -> None:
        self._folder = None if folder is None else Path(folder)
        self._tag = digest_of(manifest)[:12]
        self._memory: dict[tuple[int, int], PairOutcome] = {}
        if self._folder is not None:
            claim_folder(self._folder, MANIFEST, {"format": FORMAT, **manifest}, "audit")

    def get(self, contender: int, pair: int) -> PairOutcome | None:
        """Return a finished pair, or None."""
        place = (contender, pair)
        if place not in self._memory and self._folder is not None:
            path = self._folder / self._name(*place)
            if path.exists():
                self._memory[place] = PairOutcome.from_bytes(path.read_bytes())
        return self._memory.get(place)

    def put(self, contender: int, pair: int, outcome: PairOutcome) -> None:
        """Keep a finished pair."""
        self._memory[contender, pair] = outcome
        if self._folder is not None:
            write_bytes_atomically(self._folder / self._name(contender, pair), outcome.to_bytes())

    def _name(self, contender: int, pair: int) -> str:
        return f"{self._tag}-{contender:02d}-{pair:04d}.npz"


def run_pairs(
    task: Task, store: Store, *, time_budget: float | None, n_jobs: int | None, verbose: int
) -> list[list[PairOutcome]]:
    """Run what the store does not hold yet; return the finished pairs of each contender.

    Each new pair is stored as soon as it is done. No pair is started after ``time_budget``
    seconds; pairs that were started are finished, for all contenders.
    """
    n_contenders = len(task.contenders)
    progress = Progress(n_contenders * task.design.n_pairs, "pairs", verbose=verbose)
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
    return [[_finished(store, c, pair) for pair in started] for c in range(n_contenders)]


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
            if store.get(contender, pair) is None:
                yield contender, pair
            else:
                progress.advance()


def _finished(store: Store, contender: int, pair: int) -> PairOutcome:
    outcome = store.get(contender, pair)
    assert outcome is not None, "every pair that was started is finished"
    return outcome


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
    notes = {f"{w.category.__name__}: {' '.join(str(w.message).split())}"[:300] for w in raised}
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
    certificate, promises = certificate_of(model)
    return {**outcome, "seconds": seconds, "certificate": certificate, "promises": promises}


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
