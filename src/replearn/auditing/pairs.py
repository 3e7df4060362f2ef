"""Run pairs of trainings: fit on the samples, predict the test rows, keep the outcomes.

All contenders have the same pairs, as far as the time lasts.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import textwrap
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed

from replearn.auditing.contenders import Contender, prepare
from replearn.auditing.design import NEXT_PERIOD, AuditDesign, Run, runs_of_pair
from replearn.auditing.facts import Table
from replearn.auditing.limits import DELTA, limits
from replearn.auditing.outcomes import ARRAYS, Outcome, predictions_of, result_of, stacked
from replearn.auditing.runs import ContenderResult
from replearn.bounds.multiclass import class_weights
from replearn.checks.fingerprint import fingerprint, in_words
from replearn.exceptions import NotCertifiedWarning
from replearn.execution import context
from replearn.execution.context import DeadlinePassed, Progress, RunContext, fit_in_context
from replearn.execution.fitting import keyed_seeds, random_state_names, set_seeds
from replearn.execution.plugins import predict_labels, predict_probabilities
from replearn.execution.voting import one_thread
from replearn.guarantees.certificate import Certificate
from replearn.learners.regressor import PointwiseReplicableRegressor
from replearn.learners.threshold import fitted_threshold
from replearn.randomness.key import SharedKey
from replearn.records.work_folder import WorkFolder
from replearn.tables.rows import n_rows, take_rows

TIME = "the time budget ended"
INTERRUPTED = "it was interrupted"
LONGEST_NOTE = 400
LONGEST_GROUP = 60
MANIFEST_VERSION = 5
"""Raised when kept pairs are written in another way: folders of other versions are refused."""


# -- what is to be run, and what is kept of it -----------------------------------------------------
@dataclass(frozen=True, eq=False)
class Task:
    """What is to be run: contenders, data, design and key."""

    contenders: list[Contender]
    table: Table
    design: AuditDesign
    key: SharedKey

    def job(self, contender: int, pair: int, deadline: float | None = None) -> Job:
        """Cut out what a worker needs for one pair of one contender."""
        table = self.table
        groups = table.groups
        runs = runs_of_pair(self.design, table.rows, self.key, pair)
        return Job(
            contender=self.contenders[contender],
            pair=pair,
            key=self.key,
            runs=runs,
            samples=[
                (
                    take_rows(table.X, run.rows),
                    table.labels[run.rows],
                    None if groups is None else groups[run.rows],
                )
                for run in runs
            ],
            points=take_rows(table.X, table.rows.test),
            classes=table.classes,
            deadline=deadline,
        )

    def manifest(self, digest: str) -> dict[str, Any]:
        """What two audits must share to have the same result; the number of pairs may grow."""
        design = dataclasses.asdict(self.design)
        design["vary"] = list(self.design.vary)
        if not self.design.independent_pairs and NEXT_PERIOD not in self.design.vary:
            del design["n_pairs"], design["n_drawn"]
        return {
            "version": MANIFEST_VERSION,
            "contenders": [
                [c.name, in_words(c.estimator), fingerprint(c.estimator).digest]
                for c in self.contenders
            ],
            "data": digest,
            "classes": list(map(str, self.table.class_names)),
            "design": design,
        }


Sample = tuple[Any, NDArray[Any], NDArray[Any] | None]
"""What one run learns from: features, labels, groups."""


@dataclass(frozen=True, eq=False)
class Job:
    """One pair of one contender: its runs with their samples, and the points to predict."""

    contender: Contender
    pair: int
    key: SharedKey
    runs: list[Run]
    samples: list[Sample]
    points: Any
    classes: NDArray[Any] | None
    deadline: float | None  # on the monotonic clock, which all processes share


class Store:
    """Finished work in memory, and in a folder if there is one, so that an audit can continue."""

    def __init__(self, folder: str | os.PathLike[str] | None, manifest: dict[str, Any]) -> None:
        self._folder = None if folder is None else WorkFolder(folder)
        self.finished: dict[str, Outcome] = {}
        if self._folder is not None:
            self._folder.claim("audit", manifest)

    def __contains__(self, name: str) -> bool:
        """Tell whether something is finished; then it is in `finished`."""
        if name not in self.finished and self._folder is not None:
            content = self._folder.get(name)
            if content is not None:
                self.finished[name] = Outcome.from_bytes(content)
        return name in self.finished

    def put(self, name: str, outcome: Outcome) -> None:
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
        n_jobs: int | None,
        so_far: Callable[[str], str],
    ) -> None:
        """Run named jobs; ``so_far`` takes the name of a finished one, and says what is known."""
        in_workers = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
        try:
            for name, outcome in in_workers(delayed(_run_one)(*job) for job in jobs):
                if outcome is None:
                    self.stopped = TIME
                else:
                    self.store.put(name, outcome)
                    if self.verbose >= 0:
                        progress.note = so_far(name) or progress.note
                    progress.advance()
        except KeyboardInterrupt:
            if not self.keep_interrupted:
                raise
            self.stopped = INTERRUPTED


# -- one pair of one contender ---------------------------------------------------------------------
def _run_one(name: str, job: Job) -> tuple[str, Outcome | None]:
    try:
        return name, run_pair(job)
    except DeadlinePassed:
        return name, None
    except Exception as error:
        error.add_note(f"contender {job.contender.name!r}, pair {job.pair}")
        raise


def run_pair(job: Job) -> Outcome:
    """Fit one contender on the samples of a pair and predict the test rows.

    Raises `DeadlinePassed` after the deadline, between two blocks (or models of an ensemble).
    """
    with one_thread(), warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("default")
        # The certificate and a finding say the first, and the second is measured.
        warnings.simplefilter("ignore", NotCertifiedWarning)
        models: list[Any] = []
        found = []
        for run, sample in zip(job.runs, job.samples, strict=True):
            in_use = models[run.first] if run.first < len(models) else None
            model, outcome = _run(job, run, sample, in_use)
            models.append(model)
            found.append(outcome)
    notes = {_shortened(f"{w.category.__name__}: {w.message}") for w in raised}
    certificates = tuple(one["certificate"] for one in found)
    return Outcome(
        variants=tuple(run.variant for run in job.runs),
        firsts=tuple(run.first for run in job.runs),
        **{name: stacked([one.get(name) for one in found]) for name in ARRAYS},
        by_gumbel=all(one.get("by_gumbel", False) for one in found),
        seconds=tuple(one["seconds"] for one in found),
        certificates=None if None in certificates else certificates,
        promises=found[0]["promises"],
        verdict=found[0].get("verdict", ""),
        notes=tuple(sorted(notes)),
        decision_thresholds=tuple(one["threshold"] for one in found if one.get("threshold")),
    )


def _shortened(text: str) -> str:
    """One line without the parameters of pipelines, whole sentences if there are some."""
    plain = re.sub(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", _short_group, text)
    short = textwrap.shorten(plain, LONGEST_NOTE, placeholder=" …", break_long_words=False)
    sentences = short.rpartition(". ")[0]
    return f"{sentences}." if short.endswith(" …") and sentences else short


def _short_group(group: re.Match[str]) -> str:
    return group[0] if len(group[0]) <= LONGEST_GROUP else "(…)"


def _prepared(job: Job, run: Run, in_use: Any) -> Any:
    """Return the model of one run, not fitted; it may succeed the one ``in_use``."""
    model = prepare(job.contender, job.key, job.pair)
    if run.has_own_seed and hasattr(model, "get_params"):
        seeds = keyed_seeds(random_state_names(model), job.key.child("source", "seed", job.pair))
        set_seeds(model, seeds)
    if job.contender.succeeds and in_use is not None:
        model.set_params(incumbent=in_use)
    return model


def _run(job: Job, run: Run, sample: Sample, in_use: Any) -> tuple[Any, dict[str, Any]]:
    """Return the model of one run, which others may succeed, and what it predicts."""
    model = _prepared(job, run, in_use)
    start = time.process_time()
    X, labels, groups = sample
    classes = job.classes
    one_class = classes is not None and bool((labels == labels[0]).all())
    if classes is not None and one_class and job.contender.replicable_part is None:
        # A sample without a second class: most classifiers refuse it; the prediction is plain.
        code = np.searchsorted(classes, labels[0])
        codes = np.full(n_rows(job.points), code, dtype=np.int32)
        return None, {"codes": codes, "seconds": 0.0, "certificate": None, "promises": ()}
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
    return model, found


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
    verdict = certificate.verdict if isinstance(certificate, Certificate) else ""
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
    outcome: dict[str, Any] = {"codes": _codes(labels, classes)}
    if hasattr(model, "predict_proba"):
        values = predict_probabilities(model, points, len(model.classes_), "a pair")
        outcome["probabilities"] = np.zeros((len(values), len(classes)))
        outcome["probabilities"][:, np.searchsorted(classes, model.classes_)] = values
    return outcome


def _predict_numbers(model: Any, points: Any) -> dict[str, Any]:
    reported = np.asarray(model.predict(points), dtype=np.float64)
    if not isinstance(model, PointwiseReplicableRegressor):
        return {"reported": reported}
    return {"values": model.block_mean(points), "reported": reported}


def _predict_replicable(model: Any, classes: NDArray[Any], points: Any) -> dict[str, Any]:
    if len(model.classes_) > 2 or len(classes) > 2:
        outcome = _predict(model, classes, points)
        # Fewer classes in this sample than in the file: another rule, judged by its predictions.
        if len(model.classes_) == len(classes) and model.certificate_.design is not None:
            sharpness = model.certificate_.design.sharpness
            outcome["chances"] = class_weights(outcome["probabilities"], sharpness)
            outcome["by_gumbel"] = True
        return outcome
    explained = model.explain(points)
    if len(model.classes_) == 1:
        law = np.full(len(explained.prediction), float(model.classes_[0] == classes[-1]))
        share = law
    else:
        law = explained.response
        share = explained.score
    return {
        "codes": _codes(explained.prediction, classes),
        "chances": np.column_stack([1 - law, law]),
        "probabilities": np.column_stack([1 - share, share]),
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
    outcomes: list[list[Outcome]]  # of each kept contender

    def results(self, task: Task) -> tuple[ContenderResult, ...]:
        """Return what each contender's pairs show."""
        return tuple(
            result_of(task.table, task.design.vary, task.contenders[index], pairs)
            for index, pairs in zip(self.kept, self.outcomes, strict=True)
        )


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


def _so_far(task: Task, store: Store, name: str) -> str:
    """Say what is known of the baseline; empty before two pairs, and if another one has run."""
    names = [pair_name(0, pair) for pair in range(task.design.n_pairs)]
    pairs = [store.finished[name] for name in names if name in store.finished]
    if name not in names or len(pairs) < MIN_PAIRS:
        return ""
    baseline = task.contenders[0]
    predictions = predictions_of(task.table, baseline, pairs, task.design.vary[0])
    changed = limits(predictions.flips, DELTA, task.table.clusters)
    return f"so far {baseline.name} changes {changed.percent()}"


def run_pairs(task: Task, runner: Runner) -> Finished:
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
        so_far = partial(_so_far, task, runner.store)
        runner.run(jobs, progress, n_jobs=1 if hurry else runner.n_jobs, so_far=so_far)
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
