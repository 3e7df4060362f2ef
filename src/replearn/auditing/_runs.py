"""One pair of one contender: fit on two samples, predict the test rows, keep the outcome."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import json
import os
import re
import textwrap
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from replearn.auditing._contenders import Contender, prepare
from replearn.auditing._design import AuditDesign, Rows, draw_pair
from replearn.binding import describe_estimator
from replearn.bounds import class_weights
from replearn.exceptions import NotCertifiedWarning, SmallSampleWarning
from replearn.execution import (
    RunContext,
    fit_in_context,
    keyed_seeds,
    one_thread,
    predict_labels,
    predict_probabilities,
    random_state_names,
    set_seeds,
)
from replearn.guarantees import Certificate
from replearn.learners import PointwiseReplicableRegressor, fitted_threshold
from replearn.randomness import SharedKey
from replearn.records import WorkFolder
from replearn.tables import n_rows, take_rows

ARRAYS = (
    *("predictions", "law", "votes", "probabilities", "thresholds", "predicted_flips"),
    *("values", "reported"),
)
LONGEST_NOTE = 400
LONGEST_GROUP = 60
MANIFEST_VERSION = 3
"""Raised when kept pairs are written in another way: folders of other versions are refused."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be run: contenders, data, design and key."""

    contenders: list[Contender]
    X: Any
    labels: NDArray[Any]
    classes: NDArray[Any] | None  # None: the target is a quantity
    groups: NDArray[Any] | None
    rows: Rows
    design: AuditDesign
    key: SharedKey

    def job(self, contender: int, pair: int, deadline: float | None = None) -> Job:
        """Cut out what a worker needs for one pair of one contender."""
        samples = draw_pair(self.design, self.rows, self.key, pair)
        groups = self.groups
        return Job(
            contender=self.contenders[contender],
            pair=pair,
            key=self.key,
            samples=[
                (take_rows(self.X, r), self.labels[r], None if groups is None else groups[r])
                for r in samples
            ],
            points=take_rows(self.X, self.rows.test),
            classes=self.classes,
            deadline=deadline,
        )

    def manifest(self, digest: str) -> dict[str, Any]:
        """What two audits must share to have the same result; the number of pairs may grow."""
        design = dataclasses.asdict(self.design)
        if not self.design.independent_pairs:
            del design["n_pairs"], design["n_drawn"]
        return {
            "version": MANIFEST_VERSION,
            "contenders": [[c.name, *describe_estimator(c.estimator)] for c in self.contenders],
            "data": digest,
            "classes": [] if self.classes is None else list(map(str, self.classes.tolist())),
            "design": design,
        }


Sample = tuple[Any, NDArray[Any], NDArray[Any] | None]
"""What one run learns from: features, labels, groups."""


@dataclass(frozen=True, eq=False)
class Job:
    """One pair of one contender: two samples, and the points to predict."""

    contender: Contender
    pair: int
    key: SharedKey
    samples: list[Sample]
    points: Any
    classes: NDArray[Any] | None
    deadline: float | None  # on the monotonic clock, which all processes share
    seed_key: SharedKey | None = None  # other seeds than the pair's, fixed ones included


@dataclass(frozen=True, eq=False)
class PairOutcome:
    """What two runs predicted for the test rows; the first axis of the arrays is the run."""

    predictions: NDArray[np.int32] | None = None  # indices in the list of classes
    law: NDArray[np.float64] | None = None  # two classes: probability of the second one
    votes: NDArray[np.float64] | None = None  # more classes: chance of each prediction over keys
    probabilities: NDArray[np.float64] | None = None
    thresholds: NDArray[np.float64] | None = None  # the rows' own, under the contender's key
    predicted_flips: NDArray[np.float64] | None = None  # what each run estimated of the other
    values: NDArray[np.float64] | None = None  # of a quantity: predictions before rounding
    reported: NDArray[np.float64] | None = None  # of a quantity: predictions
    seconds: tuple[float, ...] = ()  # processor seconds of fit and prediction
    certificates: tuple[str, ...] | None = None  # JSON of both
    promises: tuple[str, ...] = ()  # sentences of a certificate of another task
    verdict: tuple[str, ...] = ()  # of a certificate of another task: certified, estimated, ...
    notes: tuple[str, ...] = ()  # warnings, each once
    decision_thresholds: tuple[float, ...] = ()  # of the runs that have one

    def to_bytes(self) -> bytes:
        """Return the bytes of an npz file."""
        present = {name: getattr(self, name) for name in ARRAYS if getattr(self, name) is not None}
        texts = ("seconds", "certificates", "promises", "verdict", "notes", "decision_thresholds")
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


def earlier_manifest(folder: str | os.PathLike[str] | None) -> dict[str, Any] | None:
    """Return what an earlier call wrote into the folder, if there was one."""
    return None if folder is None else WorkFolder(folder).manifest()


class Store:
    """Finished pairs in memory, and in a folder if there is one, so that an audit can continue."""

    def __init__(self, folder: str | os.PathLike[str] | None, manifest: dict[str, Any]) -> None:
        self._folder = None if folder is None else WorkFolder(folder)
        self.finished: dict[tuple[int, int], PairOutcome] = {}
        if self._folder is not None:
            self._folder.claim("audit", manifest)

    def has(self, contender: int, pair: int) -> bool:
        """Tell whether a pair is finished; then it is in `finished`."""
        if (contender, pair) not in self.finished and self._folder is not None:
            content = self._folder.get(_pair_file(contender, pair))
            if content is not None:
                self.finished[contender, pair] = PairOutcome.from_bytes(content)
        return (contender, pair) in self.finished

    def put(self, contender: int, pair: int, outcome: PairOutcome) -> None:
        """Keep a finished pair."""
        self.finished[contender, pair] = outcome
        if self._folder is not None:
            self._folder.put(_pair_file(contender, pair), outcome.to_bytes())


def _pair_file(contender: int, pair: int) -> str:
    return f"contender-{contender:02d}-{pair:04d}.pair"


def run_pair(job: Job, n_threads: int = 1) -> PairOutcome:
    """Fit one contender on both samples of a pair and predict the test rows.

    Raises `DeadlinePassed` after the deadline, between two blocks (or models of an ensemble).
    """
    threads = one_thread() if n_threads == 1 else contextlib.nullcontext()
    with threads, warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("default")
        # The certificate and a finding say the first, and the second is measured.
        warnings.simplefilter("ignore", NotCertifiedWarning)
        warnings.simplefilter("ignore", SmallSampleWarning)
        runs = []
        in_use = None
        for sample in job.samples:
            run, in_use = _run(job, sample, in_use, n_threads)
            runs.append(run)
    notes = {_shortened(f"{w.category.__name__}: {w.message}") for w in raised}
    arrays = {n: stacked([run.get(n) for run in runs]) for n in ARRAYS if n != "thresholds"}
    certificates = tuple(run["certificate"] for run in runs)
    return PairOutcome(
        **arrays,
        thresholds=runs[0].get("thresholds"),
        seconds=tuple(run["seconds"] for run in runs),
        certificates=None if None in certificates else certificates,
        promises=runs[0]["promises"],
        verdict=runs[0].get("verdict", ()),
        notes=tuple(sorted(notes)),
        decision_thresholds=tuple(run["threshold"] for run in runs if run.get("threshold")),
    )


def _shortened(text: str) -> str:
    """One line without the parameters of pipelines, whole sentences if there are some."""
    plain = re.sub(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", _short_group, text)
    short = textwrap.shorten(plain, LONGEST_NOTE, placeholder=" …", break_long_words=False)
    sentences = short.rpartition(". ")[0]
    return f"{sentences}." if short.endswith(" …") and sentences else short


def _short_group(group: re.Match[str]) -> str:
    return group[0] if len(group[0]) <= LONGEST_GROUP else "(…)"


def stacked(parts: list[Any]) -> Any:
    """Put arrays together along a new first axis; None if any is missing."""
    return None if any(part is None for part in parts) else np.stack(parts)


def _run(job: Job, sample: Sample, in_use: Any, n_threads: int) -> tuple[dict[str, Any], Any]:
    """Return what one run predicts, and its model, which the next one may succeed."""
    model = prepare(job.contender, job.key, job.pair)
    if job.seed_key is not None:
        set_seeds(model, keyed_seeds(random_state_names(model), job.seed_key))
    if n_threads > 1:
        names = [n for n in model.get_params(deep=True) if n.rpartition("__")[2] == "n_jobs"]
        model.set_params(**dict.fromkeys(names, n_threads))
    if job.contender.succeeds and in_use is not None:
        model.set_params(incumbent=in_use)
    start = time.process_time()
    X, labels, groups = sample
    classes = job.classes
    one_class = classes is not None and bool((labels == labels[0]).all())
    if classes is not None and one_class and job.contender.replicable_part is None:
        # A sample without a second class: most classifiers refuse it; the prediction is plain.
        code = np.searchsorted(classes, labels[0])
        predictions = np.full(n_rows(job.points), code, dtype=np.int32)
        plain = {"predictions": predictions, "seconds": 0.0, "certificate": None, "promises": ()}
        return plain, None
    if one_class:  # a replicable estimator requires the names of the others
        _name_classes(model, classes)
    extra = {}
    if groups is not None and "groups" in inspect.signature(model.fit).parameters:
        extra["groups"] = groups
    fit_in_context(model, X, labels, RunContext(deadline=job.deadline), **extra)
    if classes is None:
        outcome = _predict_numbers(model, job.points)
    else:
        predict = _predict_replicable if job.contender.is_replicable else _predict
        outcome = predict(model, classes, job.points)
    seconds = time.process_time() - start
    threshold = fitted_threshold(model) or getattr(model, "threshold_", None)
    found = {**outcome, "seconds": seconds, "threshold": threshold, **_certificate_of(model)}
    return found, model


def _last_step(model: Any) -> Any:
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def _name_classes(model: Any, classes: NDArray[Any] | None) -> None:
    """Set the classes of the whole file, where a replicable estimator has none."""
    last = _last_step(model)
    if hasattr(last, "shared_key") and getattr(last, "classes", 0) is None:
        last.set_params(classes=classes)


def _certificate_of(model: Any) -> dict[str, Any]:
    """Return a fitted vote's certificate as JSON; of other tasks only the promises."""
    certificate = getattr(_last_step(model), "certificate_", None)
    if isinstance(certificate, Certificate) and certificate.design is not None:
        return {"certificate": certificate.to_json(), "promises": ()}
    promises = tuple(map(str, getattr(certificate, "promises", ())))
    verdict = (certificate.verdict,) if isinstance(certificate, Certificate) else ()
    return {"certificate": None, "promises": promises, "verdict": verdict}


def _predict(model: Any, classes: NDArray[Any], points: Any) -> dict[str, Any]:
    labels = predict_labels(model, points, "a run")
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        kind = type(model).__name__
        prediction = labels[unknown].tolist()[0]
        raise ValueError(
            f"{kind} predicted {prediction!r}, which is not one of the labels {classes!r}"
        )
    outcome: dict[str, Any] = {"predictions": _codes(labels, classes)}
    if hasattr(model, "predict_proba"):
        values = predict_probabilities(model, points, len(model.classes_), "a pair")
        outcome["probabilities"] = np.zeros((len(values), len(classes)))
        outcome["probabilities"][:, np.searchsorted(classes, model.classes_)] = values
    return outcome


def _predict_numbers(model: Any, points: Any) -> dict[str, Any]:
    reported = np.asarray(model.predict(points), dtype=np.float64)
    if not isinstance(model, PointwiseReplicableRegressor):
        return {"values": reported, "reported": reported}
    return {
        "values": model.block_mean(points),
        "reported": reported,
        "predicted_flips": model.flip_probability(points),
    }


def _predict_replicable(model: Any, classes: NDArray[Any], points: Any) -> dict[str, Any]:
    if len(model.classes_) > 2 or len(classes) > 2:
        outcome = _predict(model, classes, points)
        # Fewer classes in this sample than in the file: another rule, judged by its predictions.
        if len(model.classes_) == len(classes) and model.certificate_.design is not None:
            sharpness = model.certificate_.design.sharpness
            outcome["votes"] = class_weights(outcome["probabilities"], sharpness)
            outcome["predicted_flips"] = model.flip_probability(points)
        return outcome
    explained = model.explain(points)
    if len(model.classes_) == 1:
        law = np.full(len(explained.prediction), float(model.classes_[0] == classes[-1]))
        share = law
        flips = np.zeros_like(law)
    else:
        law = explained.response
        share = explained.score
        flips = explained.flip_probability
    return {
        "predictions": _codes(explained.prediction, classes),
        "law": law,
        "probabilities": np.column_stack([1 - share, share]),
        "thresholds": explained.keyed_threshold,
        "predicted_flips": flips,
    }


def _codes(labels: Any, classes: NDArray[Any]) -> NDArray[np.int32]:
    return np.searchsorted(classes, np.asarray(labels)).astype(np.int32)
