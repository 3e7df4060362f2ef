"""Run pairs of trainings: fit on the samples, predict the test rows, keep the outcomes.

All contenders have the same pairs, as far as the time lasts. The first run of a pair is repeated on
its own sample with one thing changed: what then changes is not due to the data.
"""

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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from replearn.auditing._contender_results import (
    CLASSIFIER_ARRAYS,
    REGRESSOR_ARRAYS,
    ClassifierResult,
    ContenderResult,
    NewRowsResult,
    RegressorResult,
    stacked,
)
from replearn.auditing._contenders import Contender, prepare
from replearn.auditing._statistics import DELTA, has_changed, mean_limits
from replearn.auditing._table import AuditDesign, Rows, Table, draw_pair
from replearn.bounds import class_weights
from replearn.checks.fingerprint import fingerprint, in_words
from replearn.exceptions import NotCertifiedWarning
from replearn.execution import (
    DeadlinePassed,
    Progress,
    RunContext,
    context,
    fit_in_context,
    keyed_seeds,
    one_thread,
    predict_labels,
    predict_probabilities,
    random_state_names,
    set_seeds,
)
from replearn.guarantees.certificate import Certificate
from replearn.learners import PointwiseReplicableRegressor, fitted_threshold
from replearn.randomness import SharedKey
from replearn.records import WorkFolder
from replearn.tables import is_frame, n_rows, take_rows

ARRAYS = (
    *("predictions", "law", "votes", "probabilities", "thresholds", "predicted_flips"),
    *("values", "reported"),
)
TEXTS = (*("seconds", "certificates", "promises", "verdict", "notes", "decision_thresholds"),)
TIME = "the time budget ended"
INTERRUPTED = "it was interrupted"
LONGEST_NOTE = 400
LONGEST_GROUP = 60
MANIFEST_VERSION = 4
"""Raised when kept pairs are written in another way: folders of other versions are refused."""


# -- what is to be run, and what is kept of it -----------------------------------------------------
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
        shares = list(design.pop("other_shares"))
        design |= {"other_shares": shares} if shares else {}
        if not self.design.independent_pairs:
            del design["n_pairs"], design["n_drawn"]
        return {
            "version": MANIFEST_VERSION,
            "contenders": [
                [c.name, in_words(c.estimator), fingerprint(c.estimator).digest]
                for c in self.contenders
            ],
            "data": digest,
            "classes": [] if self.classes is None else list(map(str, self.classes.tolist())),
            "design": design,
        }


Sample = tuple[Any, NDArray[Any], NDArray[Any] | None]
"""What one run learns from: features, labels, groups."""


@dataclass(frozen=True, eq=False)
class Job:
    """One pair of one contender: its samples, and the points to predict."""

    contender: Contender
    pair: int
    key: SharedKey
    samples: list[Sample]
    points: Any
    classes: NDArray[Any] | None
    deadline: float | None  # on the monotonic clock, which all processes share
    seed_key: SharedKey | None = None  # other seeds than the pair's, fixed ones included
    n_threads: int = 1


@dataclass(frozen=True, eq=False)
class PairOutcome:
    """What the runs predicted for the test rows; the first axis of the arrays is the run."""

    predictions: NDArray[np.int32] | None = None  # indices in the list of classes
    law: NDArray[np.float64] | None = None  # two classes: probability of the second one
    votes: NDArray[np.float64] | None = None  # more classes: chance of each prediction over keys
    probabilities: NDArray[np.float64] | None = None
    thresholds: NDArray[np.float64] | None = None  # the rows' own, under the contender's key
    predicted_flips: NDArray[np.float64] | None = None  # what each run estimated of the other
    values: NDArray[np.float64] | None = None  # of a quantity: predictions before rounding
    reported: NDArray[np.float64] | None = None  # of a quantity: predictions
    seconds: tuple[float, ...] = ()  # processor seconds of fit and prediction
    certificates: tuple[str, ...] | None = None  # JSON of each run
    promises: tuple[str, ...] = ()  # sentences of a certificate of another task
    verdict: tuple[str, ...] = ()  # of a certificate of another task: certified, estimated, ...
    notes: tuple[str, ...] = ()  # warnings, each once
    decision_thresholds: tuple[float, ...] = ()  # of the runs that have one

    def against_first(self, run: int) -> PairOutcome:
        """Return the first run and another one as a pair."""
        items: dict[str, Any] = {
            name: None if (array := getattr(self, name)) is None else array[[0, run]]
            for name in ARRAYS
            if name != "thresholds"
        }
        for name in ("seconds", "certificates"):
            values = getattr(self, name)
            has_all = values is not None and len(values) == len(self.seconds)
            items[name] = (values[0], values[run]) if has_all else values
        return dataclasses.replace(self, **items)

    def of_rows(self, rows: slice) -> PairOutcome:
        """Return the predictions of some of the points alone."""
        predictions = None if self.predictions is None else self.predictions[:, rows]
        reported = None if self.reported is None else self.reported[:, rows]
        return PairOutcome(predictions=predictions, reported=reported)

    def changes(self, other: PairOutcome, tolerance: float | None) -> NDArray[np.float64]:
        """Compare the first runs of two outcomes row by row: 1 where the prediction changed."""
        if tolerance is None:
            assert self.predictions is not None
            assert other.predictions is not None
            return has_changed(self.predictions[0], other.predictions[0]).astype(np.float64)
        assert self.reported is not None
        assert other.reported is not None
        return has_changed(self.reported[0], other.reported[0], tolerance).astype(np.float64)

    def to_bytes(self) -> bytes:
        """Return the bytes of an npz file."""
        present = {name: getattr(self, name) for name in ARRAYS if getattr(self, name) is not None}
        words = json.dumps({name: getattr(self, name) for name in TEXTS})
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
    """Finished work in memory, and in a folder if there is one, so that an audit can continue."""

    def __init__(self, folder: str | os.PathLike[str] | None, manifest: dict[str, Any]) -> None:
        self._folder = None if folder is None else WorkFolder(folder)
        self.finished: dict[str, PairOutcome] = {}
        if self._folder is not None:
            self._folder.claim("audit", manifest)

    def __contains__(self, name: str) -> bool:
        """Tell whether something is finished; then it is in `finished`."""
        if name not in self.finished and self._folder is not None:
            content = self._folder.get(name)
            if content is not None:
                self.finished[name] = PairOutcome.from_bytes(content)
        return name in self.finished

    def put(self, name: str, outcome: PairOutcome) -> None:
        """Keep what is finished."""
        self.finished[name] = outcome
        if self._folder is not None:
            self._folder.put(name, outcome.to_bytes())


def pair_name(contender: int, pair: int) -> str:
    """Name under which a pair is kept."""
    return f"contender-{contender:02d}-{pair:04d}.pair"


@dataclass(eq=False)
class Runner:
    """Runs jobs in workers, keeps each outcome, and ends at the deadline or on Ctrl-C."""

    store: Store
    deadline: float | None = None
    n_jobs: int | None = None
    verbose: int = 0
    keep_interrupted: bool = False  # whether Ctrl-C ends the run instead of raising
    stopped: str = ""  # why not everything was run; empty if it was

    def run(
        self,
        jobs: Iterable[tuple[str, Job]],
        progress: Progress,
        *,
        n_jobs: int | None = None,
        so_far: Callable[[str], str] | None = None,
    ) -> None:
        """Run named jobs; ``n_jobs`` if other than usual.

        ``so_far`` takes the name of a finished one, and says what is known by then.
        """
        workers = self.n_jobs if n_jobs is None else n_jobs
        in_workers = Parallel(
            n_jobs=workers, return_as="generator_unordered", pre_dispatch="n_jobs"
        )
        try:
            for name, outcome in in_workers(delayed(_run_one)(*job) for job in jobs):
                if outcome is None:
                    self.stopped = TIME
                else:
                    self.store.put(name, outcome)
                    if so_far is not None and self.verbose >= 0:
                        progress.note = so_far(name) or progress.note
                    progress.advance()
        except KeyboardInterrupt:
            if not self.keep_interrupted:
                raise
            self.stopped = INTERRUPTED

    def run_missing(
        self, jobs: Mapping[str, Callable[[], Job]], what: str, *, n_jobs: int | None = None
    ) -> None:
        """Make and run the jobs whose names are not kept yet, until the deadline."""
        missing = {name: make for name, make in jobs.items() if name not in self.store}
        progress = Progress(len(missing), what, verb="run", verbose=self.verbose)
        try:
            self.run(self._in_time(missing), progress, n_jobs=n_jobs)
        finally:
            progress.close()

    def _in_time(self, jobs: Mapping[str, Callable[[], Job]]) -> Iterator[tuple[str, Job]]:
        for name, make in jobs.items():
            if self.deadline is not None and context.now() > self.deadline:
                self.stopped = self.stopped or TIME
            if self.stopped:
                return
            yield name, make()


# -- one pair of one contender ---------------------------------------------------------------------
def _run_one(name: str, job: Job) -> tuple[str, PairOutcome | None]:
    try:
        return name, run_pair(job)
    except DeadlinePassed:
        return name, None
    except Exception as error:
        error.add_note(f"contender {job.contender.name!r}, pair {job.pair}")
        raise


def run_pair(job: Job) -> PairOutcome:
    """Fit one contender on the samples of a pair and predict the test rows.

    Raises `DeadlinePassed` after the deadline, between two blocks (or models of an ensemble).
    """
    threads: contextlib.AbstractContextManager[Any] = one_thread()
    if job.n_threads > 1:
        threads = threadpool_limits(job.n_threads)
    with threads, warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("default")
        # The certificate and a finding say the first, and the second is measured.
        warnings.simplefilter("ignore", NotCertifiedWarning)
        first, in_use = _run(job, job.samples[0], None)
        runs = [first, *(_run(job, sample, in_use)[0] for sample in job.samples[1:])]
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


def _prepared(job: Job, in_use: Any) -> Any:
    """Return the model of one run, not fitted; it may succeed the one ``in_use``."""
    model = prepare(job.contender, job.key, job.pair)
    if job.seed_key is not None:
        set_seeds(model, keyed_seeds(random_state_names(model), job.seed_key))
    if job.n_threads > 1:
        names = [n for n in model.get_params(deep=True) if n.rpartition("__")[2] == "n_jobs"]
        model.set_params(**dict.fromkeys(names, job.n_threads))
    if job.contender.succeeds and in_use is not None:
        model.set_params(incumbent=in_use)
    return model


def _run(job: Job, sample: Sample, in_use: Any) -> tuple[dict[str, Any], Any]:
    """Return what one run predicts, and its model, which others may succeed."""
    model = _prepared(job, in_use)
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
    threshold = fitted_threshold(model)
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


# -- all pairs of all contenders, as far as time and patience last ---------------------------------
MIN_PAIRS = 2
"""Limits require two pairs: a contender with fewer is left out."""

START_SECONDS = 4.0
"""Starting worker processes takes about this long."""


@dataclass(frozen=True, eq=False)
class Finished:
    """What was run: the same pairs of all contenders that are kept."""

    kept: list[int]  # indices of the contenders
    pairs: list[int]  # numbers of the pairs that all of them have
    outcomes: list[list[PairOutcome]]  # of each kept contender

    @property
    def baseline(self) -> dict[int, PairOutcome]:
        """The pairs of the baseline, by their numbers."""
        return dict(zip(self.pairs, self.outcomes[0], strict=True))

    def results(
        self, task: Task, table: Table, tolerance: float | None, *, run: int = 1
    ) -> tuple[ContenderResult, ...]:
        """Return what each contender's pairs show; ``run`` is the one beside the first."""
        return tuple(
            _result(
                task.contenders[index],
                table.truth,
                [outcome.against_first(run) for outcome in pairs],
                tolerance,
            )
            for index, pairs in zip(self.kept, self.outcomes, strict=True)
        )

    def new_rows(
        self, task: Task, table: Table, tolerance: float | None
    ) -> tuple[NewRowsResult, ...]:
        """Return the changes for each of several shares of new rows; empty for a single one."""
        others = task.design.other_shares
        shares = dict(zip(others, range(2, 2 + len(others)), strict=True)) if others else {}
        shares |= {task.design.new_rows: 1} if others else {}
        return tuple(
            NewRowsResult(
                share,
                {c.name: c.flips for c in self.results(task, table, tolerance, run=run)},
            )
            for share, run in shares.items()
        )


def _result(
    contender: Contender, truth: NDArray[Any], pairs: list[PairOutcome], tolerance: float | None
) -> ContenderResult:
    if tolerance is None:
        return ClassifierResult.from_pairs(contender, truth, pairs, CLASSIFIER_ARRAYS)
    grid = getattr(contender.estimator, "resolution", None)
    settings = {"tolerance": tolerance, "resolution": None if grid is None else float(grid)}
    return RegressorResult.from_pairs(contender, truth, pairs, REGRESSOR_ARRAYS, **settings)


@dataclass(eq=False)
class _Clock:
    """When to stop, and how long a pair of all contenders takes."""

    runner: Runner
    started: list[float] = field(default_factory=list)

    def is_over(self) -> bool:
        """Tell whether the deadline has passed."""
        if self.runner.deadline is not None and context.now() > self.runner.deadline:
            self.runner.stopped = TIME
        return bool(self.runner.stopped)

    def allows(self) -> bool:
        """Tell whether another pair is likely to be finished in time."""
        now = context.now()
        self.started.append(now)
        if self.runner.deadline is None:
            return True
        first = self.started[0]
        pairs = len(self.started) - 1
        each = (now - first) / pairs if pairs else 0.0
        if now + each > self.runner.deadline:
            self.runner.stopped = TIME
        return not self.runner.stopped


def _so_far(task: Task, table: Table, store: Store, tolerance: float | None, name: str) -> str:
    """Say what is known of the baseline; empty before two pairs, and if another one has run."""
    names = [pair_name(0, pair) for pair in range(task.design.n_pairs)]
    pairs = [store.finished[name].against_first(1) for name in names if name in store.finished]
    if name not in names or len(pairs) < MIN_PAIRS:
        return ""
    baseline = task.contenders[0]
    flips = _result(baseline, table.truth, pairs, tolerance).flips
    return f"so far {baseline.name} changes {mean_limits(flips, DELTA, table.clusters).percent()}"


def run_pairs(task: Task, table: Table, runner: Runner, tolerance: float | None) -> Finished:
    """Run what the store does not hold yet.

    Each new pair is stored as soon as it is done. After the deadline nothing is started, and fits
    end at their next block.
    """
    total = len(task.contenders) * task.design.n_pairs
    progress = Progress(total, "pairs", verbose=runner.verbose)
    deadline = runner.deadline
    jobs = (
        (pair_name(contender, pair), task.job(contender, pair, deadline))
        for contender, pair in _missing(task, runner, progress)
    )
    # With little time left, it would go into starting workers.
    hurry = deadline is not None and deadline - context.now() < 2 * START_SECONDS
    try:
        so_far = partial(_so_far, task, table, runner.store, tolerance)
        runner.run(jobs, progress, n_jobs=1 if hurry else None, so_far=so_far)
    finally:
        progress.close()
    return _finished(task, runner)


def _missing(task: Task, runner: Runner, progress: Progress) -> Iterator[tuple[int, int]]:
    """Yield what is to be run, pair by pair, so that all contenders have the same pairs.

    Each contender gets its first pairs at once, the baseline before the others: there is something
    to report as early as possible.
    """
    clock = _Clock(runner)
    n_pairs = task.design.n_pairs
    indices = range(len(task.contenders))
    rounds = [[(c, p) for p in range(MIN_PAIRS)] for c in indices]
    rounds += [[(c, p) for c in indices] for p in range(MIN_PAIRS, n_pairs)]
    for number, work in enumerate(rounds):
        missing = [item for item in work if pair_name(*item) not in runner.store]
        if len(missing) < len(work):
            progress.advance(len(work) - len(missing))
        if missing and number >= len(indices) and not clock.allows():
            return
        # The first pairs of the baseline are begun in any case: without them there is no report.
        if missing and number > 0 and clock.is_over():
            return
        for item in missing:
            if runner.stopped:
                return
            yield item


def _finished(task: Task, runner: Runner) -> Finished:
    """Keep the contenders with enough finished pairs, and the pairs that all of them have."""
    wanted = range(task.design.n_pairs)
    store = runner.store
    done = [{p for p in wanted if pair_name(c, p) in store} for c in range(len(task.contenders))]
    pairs = set(wanted)
    kept: list[int] = []
    for contender in sorted(range(len(done)), key=lambda c: (c > 0, -len(done[c]))):
        shared = pairs & done[contender]
        if len(shared) >= MIN_PAIRS:
            pairs = shared
            kept = [*kept, contender]
        elif contender == 0:
            _refuse(task, runner.stopped, len(shared))
    kept = sorted(kept)
    numbers = sorted(pairs)
    outcomes = [[store.finished[pair_name(c, p)] for p in numbers] for c in kept]
    return Finished(kept, numbers, outcomes)


def _refuse(task: Task, stopped: str, n_done: int) -> None:
    """Say that too little was run for any report."""
    if stopped == INTERRUPTED:
        raise KeyboardInterrupt
    raise ValueError(
        f"{stopped} with {n_done} finished pairs of {task.contenders[0].name!r}, and limits need "
        f"{MIN_PAIRS}. Set a larger time_budget, a smaller max_rows (command line: --rows), or a "
        "faster model."
    )


# -- where changes come from: the same rows with another seed, order or number of threads ----------
SEED = "seed"
ROW_ORDER = "row order"
COLUMN_ORDER = "column order"
THREADS = "number of threads"
SOURCES = (SEED, ROW_ORDER, COLUMN_ORDER, THREADS)

MAX_SHARE = 0.2
"""Trainings that all sources together may add, as a share of those of the contenders."""

MIN_REPEATS = 5
"""With fewer, limits would miss the truth too often where one seed changes much and another little.
"""

N_THREADS = 2
_BY_COLUMN = ("categorical_features", "monotonic_cst", "interaction_cst", "cat_features")
"""Parameters that name columns by their index."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SourceResult:
    """Which predictions change when one thing changes, and the rows stay the same.

    Parameters
    ----------
    name : str
        What changes: "seed", "row order", "column order" or "number of threads".
    flips : ndarray of shape (n_repeats, n_test)
        1 where the prediction of a test row changes.
    """

    name: str
    flips: Floats


def n_repeats(n_pairs: int, n_contenders: int) -> int:
    """Return how often each source is measured: a number that depends on the design alone.

    All sources together take at most a fifth of the contenders' trainings, but five each.

    >>> n_repeats(20, 5), n_repeats(20, 1), n_repeats(2, 5)
    (10, 5, 2)
    """
    allowed = int(MAX_SHARE * 2 * n_pairs * n_contenders / len(SOURCES))
    return min(n_pairs, max(MIN_REPEATS, allowed))


def measure_sources(
    task: Task, first_runs: Mapping[int, PairOutcome], runner: Runner, tolerance: float | None
) -> tuple[SourceResult, ...]:
    """Repeat the baseline's first runs with one thing changed; ``first_runs`` are its pairs.

    A source that cannot be changed (columns by index) or that had no time is left out.
    """
    estimator = task.contenders[0].estimator
    if not hasattr(estimator, "get_params"):  # nothing can be changed
        return ()
    pairs = sorted(first_runs)[: n_repeats(task.design.n_pairs, len(task.contenders))]
    names = [name for name in SOURCES if _can_change(name, task)]
    # Without a seed there is nothing to repeat: it changes no prediction.
    repeated = [name for name in names if name != SEED or random_state_names(estimator)]
    for name in repeated:
        changed = partial(_changed, name, task, runner.deadline)
        jobs = {source_name(name, pair): partial(changed, pair) for pair in pairs}
        # Several threads in several workers at a time would wait for each other.
        runner.run_missing(jobs, f"repetitions ({name})", n_jobs=1 if name == THREADS else None)
    unchanged = np.zeros((len(pairs), len(task.rows.test)))
    found = {
        name: _changes(name, first_runs, runner.store, tolerance) if name in repeated else unchanged
        for name in names
    }
    return tuple(SourceResult(name, flips) for name, flips in found.items() if len(flips) > 1)


def _changes(
    name: str, first_runs: Mapping[int, PairOutcome], store: Store, tolerance: float | None
) -> Floats:
    """Compare first runs with their repetitions, as far as these are finished."""
    kept = store.finished
    done = [pair for pair in first_runs if source_name(name, pair) in kept]
    return np.array(
        [first_runs[pair].changes(kept[source_name(name, pair)], tolerance) for pair in done]
    )


def source_name(name: str, pair: int) -> str:
    """Name under which a repetition is kept."""
    return f"source-{name.replace(' ', '-')}-{pair:04d}.pair"


def _can_change(name: str, task: Task) -> bool:
    return name != COLUMN_ORDER or not _takes_columns_by_index(task)


def _takes_columns_by_index(task: Task) -> bool:
    """Whether another order of the columns would be another model, or none at all."""
    if not is_frame(task.X) and not (isinstance(task.X, np.ndarray) and task.X.ndim == 2):
        return True
    params = task.contenders[0].estimator.get_params(deep=True)
    by_index = any(
        isinstance(value, ColumnTransformer) and not is_frame(task.X) for value in params.values()
    )
    named = {name.rpartition("__")[2]: value for name, value in params.items()}
    return by_index or any(named.get(name) not in (None, "from_dtype") for name in _BY_COLUMN)


def _changed(name: str, task: Task, deadline: float | None, pair: int) -> Job:
    """Return the first run of a pair with one thing changed, by a key of its own."""
    job = task.job(0, pair, deadline)
    job = dataclasses.replace(job, samples=job.samples[:1])
    key = job.key.child("source", name, job.pair)
    [(X, labels, groups)] = job.samples
    if name == SEED:
        return dataclasses.replace(job, seed_key=key)
    if name == ROW_ORDER:
        order = np.argsort(key.uniforms(np.arange(n_rows(X))))
        groups = None if groups is None else groups[order]
        return dataclasses.replace(job, samples=[(take_rows(X, order), labels[order], groups)])
    if name == COLUMN_ORDER:
        columns = np.argsort(key.uniforms(np.arange(X.shape[1])))
        sample = (_take_columns(X, columns), labels, groups)
        return dataclasses.replace(job, samples=[sample], points=_take_columns(job.points, columns))
    return dataclasses.replace(job, n_threads=N_THREADS)


def _take_columns(X: Any, columns: NDArray[np.intp]) -> Any:
    return X[[X.columns[index] for index in columns]] if is_frame(X) else X[:, columns]
