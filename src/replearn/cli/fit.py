"""``replearn fit``: fit a replicable classifier on a file, and save it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from replearn.cli import DONE, GATE_FAILED, Action, flag, number, option, put, put_json, say
from replearn.cli._incumbent import (
    IncumbentOptions,
    base_of_incumbent,
    check_columns,
    check_plain_options,
    incumbent_params,
    read_incumbent,
)
from replearn.cli._inputs import (
    MODEL_HELP,
    MemoryOptions,
    Reading,
    SampleOptions,
    ThresholdOptions,
    base_model,
    check_dependence,
    jobs_within,
    read_key,
    read_sample,
    reading_of,
    takes_columns_itself,
    threshold_params,
)
from replearn.cli._large import (
    LargeSample,
    holds_pieces,
    read_in_pieces,
    work_folder,
)
from replearn.cli._predictions import TrustOptions
from replearn.exceptions import RetrainingWarning
from replearn.guarantees.plan import Plan
from replearn.randomness.key import SharedKey
from replearn.records.json import pretty_json, write_atomically

DEFAULT_MODEL = "logreg"
NEW_KEY = "replearn key new --out key.txt makes one"
MANY_MODELS = 500
"""From this many on, writing them takes seconds and is announced."""


@dataclass(frozen=True, kw_only=True)
class FitOptions(SampleOptions, ThresholdOptions, IncumbentOptions, MemoryOptions, TrustOptions):
    """Options of the command."""

    COMMON = (
        *("target", "key_file", "out", "model", "learner", "rho", "plan", "group_by", "id"),
        *("threshold", "incumbent", "resume", "max_memory", "jobs", "json"),
    )
    EXAMPLES = (
        "replearn fit people.csv --target income --key-file key.txt --out m.replearn",
        "replearn fit may.csv --target y --incumbent april.replearn --out may.replearn",
    )

    key_file: str | None = option(
        "the shared key (replearn key new makes one); not for --learner plain", "FILE"
    )
    out: str = option("model file, such as m.replearn", "FILE", required=True)
    plan: str | None = option("plan that all labs share", "FILE")
    certificate: str | None = option("write the certificate as JSON", "FILE")
    save_columns: str | None = option("write the kinds of the columns", "FILE")
    model: str = option(f"{MODEL_HELP}; with --incumbent its own", "NAME", default="")
    learner: str | None = option(
        "certified (default), score: few large blocks and an estimate, or plain: one fit without "
        "key, for the next --incumbent; with --incumbent its own",
        "NAME",
        choices=("certified", "score", "plain"),
    )
    resume: str | None = option("keep finished work here, and continue from it", "DIR")
    scheduler: str | None = option(
        "Dask scheduler, such as tcp://host:8786; requires --resume on storage that all workers "
        "see, such as s3://bucket/work",
        "ADDRESS",
    )
    rho: float | None = number("without a plan: flip probability (default: 0.1)", float)
    max_fits: int | None = number("without a plan: largest number of fits")
    jobs: int | None = number("number of workers")
    include_key: bool = flag("put the key into the model")
    quiet: bool = flag("print nothing but warnings and errors")
    json: bool = flag("print the result as JSON")

    @property
    def is_plain(self) -> bool:
        """Whether there is one fit without key and blocks."""
        return self.learner == "plain"

    @property
    def requested_rho(self) -> float:
        """The flip probability, where no plan sets it."""
        return 0.1 if self.rho is None else self.rho


def run(options: FitOptions) -> int:
    """Fit, save, print the certificate, or what a retraining changes."""
    incumbent, options = read_incumbent(options)
    if options.key_file is None and not options.is_plain:
        raise ValueError(f"--key-file FILE is required, the key that all runs share; {NEW_KEY}.")
    if options.is_plain:
        check_plain_options(options)
    key = None if options.is_plain else read_key(options.key_file)
    shared = _read_plan(options)
    reading = _reading(options, shared)
    if reading is None:
        return _run(options, key, shared, incumbent, read_sample(options))
    with work_folder(options.resume, options.out) as home:
        kept = "kept" if options.resume else "removed afterwards"
        reason = f"{reading.why}: " if not reading.fits else ""
        say(f"{reason}it is read in pieces, work in {home} ({kept})", quiet=options.quiet)
        sample = read_in_pieces(options, home)
        planned = _planned_blocks(options, shared, sample, len(sample.columns))
        design = None if planned is None else planned.design
        rows_per_block = None if design is None else design.block_size
        reading.require_pieces(rows_per_block, len(sample.columns))
        return _run(options, key, shared, None, sample)


def _reading(options: FitOptions, shared: Plan | None) -> Reading | None:
    """Return how the table is read in pieces; None if it is read whole."""
    reading = reading_of(options.data, options.max_memory)
    in_memory = {
        "--group-by": options.group_by,
        "--incumbent": options.incumbent,
        "--learner score": _by_scores(options, shared) or None,
        "--learner plain": options.is_plain or None,
    }
    needs_memory = next((name for name, value in in_memory.items() if value is not None), None)
    if options.scheduler is not None:
        if options.resume is None:
            raise ValueError("--scheduler requires --resume: storage that all workers see.")
        if needs_memory is not None:
            raise ValueError(f"{needs_memory} requires the table in memory: leave out --scheduler.")
        return reading
    if needs_memory is not None:
        reading.require_whole(needs_memory)
        return None
    return None if reading.fits and not holds_pieces(options.resume) else reading


def _run(
    options: FitOptions, key: SharedKey | None, shared: Plan | None, incumbent: Any, sample: Any
) -> int:
    """Fit on a sample, save and print; return the exit code."""
    if incumbent is None:
        sample.tell(quiet=options.quiet)
    else:  # its columns are known
        classes = sample.overview.splitlines()[-1]
        say(f"{sample.n:,} rows, {classes}", *sample.remarks[:2], quiet=options.quiet)
    check_dependence(sample, has_promise=not options.is_plain)
    check_columns(options, sample.columns)
    say(*_about_columns(options), quiet=options.quiet)
    threshold = threshold_params(options, sample.label_counts)
    say(*_about_first_label(options, sample))
    # What learns is loaded here and not above: a command should start, help and refuse at once.
    from replearn.auditing.contenders import is_replicable
    from replearn.persistence._parts import check_savable

    if incumbent is not None and not options.model:
        base = base_of_incumbent(incumbent)
    else:
        base = base_model(options.model or DEFAULT_MODEL, sample.columns)
    if is_replicable(base):
        raise ValueError(f"model {options.model!r} is already replicable; name its base estimator.")
    check_savable(base, f"model {options.model!r}")  # what cannot be saved fails before training
    if shared is None:
        say(*_about_blocks(options, sample), quiet=options.quiet)
    estimator = base
    if not options.is_plain:
        estimator = _estimator(options, base, shared, threshold)
        jobs = jobs_within(options.jobs, options.max_memory)
        estimator.set_params(shared_key=key, n_jobs=jobs, verbose=-1 if options.quiet else 0)
    if options.is_plain or incumbent is not None:
        from replearn.learners.incumbent import IncumbentClassifier

        own = threshold if options.is_plain else {}
        estimator = IncumbentClassifier(estimator, incumbent, **own, **incumbent_params(options))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RetrainingWarning)  # printed with the result
        _fit(options, estimator, base, sample)
    _write(options, estimator, base, sample)
    _print(options, estimator, sample)
    alarm = None if incumbent is None else estimator.history_[-1]["alarm"]
    return GATE_FAILED if options.fail_on_alarm and alarm is not None else DONE


def _fit(options: FitOptions, estimator: Any, base: Any, sample: Any) -> None:
    if isinstance(sample, LargeSample):
        from replearn.outofcore import fit_files

        fit_files(
            estimator,
            sample.cells,
            options.target,
            folder=sample.work,
            features=list(sample.columns),
            container="pandas" if takes_columns_itself(base) else "polars",
            client=options.scheduler,
            trusted_types=options.trusted_types,
        )
        return
    from replearn.execution.context import fit_in_context
    from replearn.persistence.block_folder import resumable

    context = None
    if options.resume is not None:
        context = resumable(options.resume, trusted_types=options.trusted_types)
    X = sample.features_for(base)
    fit_in_context(estimator, X, sample.y, context, groups=sample.groups)


def _estimator(
    options: FitOptions, base: Any, shared: Plan | None, threshold: Mapping[str, Any]
) -> Any:
    """Return the estimator of the options, without key and workers."""
    from replearn.learners.pointwise import PointwiseReplicableClassifier
    from replearn.learners.score import ScoreReplicableClassifier

    rho = options.requested_rho
    max_fits = options.max_fits
    if _by_scores(options, shared):
        if shared is not None:
            return ScoreReplicableClassifier(base, plan=shared, **threshold)
        if max_fits is not None:
            raise ValueError(
                "--learner score takes no --max-fits: it fits 24 models, or those of its plan "
                "(replearn plan score)."
            )
        return ScoreReplicableClassifier(base, rho=rho, **threshold)
    if shared is not None:
        return PointwiseReplicableClassifier(base, plan=shared, **threshold)
    return PointwiseReplicableClassifier(base, rho=rho, max_fits=max_fits, **threshold)


def _by_scores(options: FitOptions, shared: Plan | None) -> bool:
    """Tell whether thresholds are in standard errors: by the option, or by the plan."""
    return options.learner == "score" or (shared is not None and shared.task == "score")


def _read_plan(options: FitOptions) -> Plan | None:
    if options.plan is None:
        return None
    if options.rho is not None or options.max_fits is not None:
        raise ValueError("--plan fixes rho and the number of fits; leave --rho and --max-fits out.")
    return Plan.load(options.plan)


def _planned_blocks(
    options: FitOptions, shared: Plan | None, sample: Any, n_columns: int | None
) -> Plan | None:
    """Return the plan of the blocks; None if there are none, they are large, or rows have groups.

    It follows from the options and the size of the table, never from the data.
    """
    if shared is not None and shared.task != "score":
        return shared if shared.inputs.get("unit") == "rows" else None
    if _by_scores(options, shared) or options.is_plain or sample.groups is not None:
        return None
    from replearn.learners.training import usual_plan

    base = base_model(options.model or DEFAULT_MODEL, sample.columns)
    threshold = threshold_params(options, sample.label_counts)
    estimator = _estimator(options, base, None, threshold)
    n_classes = max(2, len(sample.label_counts))
    return usual_plan(estimator, sample.n, n_classes, n_columns)


def _about_blocks(options: FitOptions, sample: Any) -> list[str]:
    """Say how many blocks are fitted, and if the table is so large that there are fewer."""
    made = _planned_blocks(options, None, sample, len(sample.columns))
    small = _planned_blocks(options, None, sample, None)
    plan = None if made is None else made.design
    usual = None if small is None else small.design
    if plan is None or usual is None:
        return []
    blocks = f"{plan.n_partitions} x {plan.n_blocks} blocks of {plan.block_size} rows are fitted"
    if plan.n_partitions == usual.n_partitions:
        return [blocks]
    return [
        f"{blocks} instead of {usual.n_partitions} x {usual.n_blocks}, because the table is large; "
        "the promise is the same. "
        f"--max-fits {usual.n_partitions * usual.n_blocks} fits them all"
    ]


def _about_columns(options: FitOptions) -> list[str]:
    """Warn where two labs could read their files differently."""
    if options.columns is not None or options.save_columns is not None:
        return []
    return [
        "the kinds of the columns were guessed from this file; another lab adopts them with "
        f"--columns {options.out} (or --save-columns here), and certify compares them"
    ]


def _about_first_label(options: FitOptions, sample: Any) -> list[str]:
    """Say that a threshold about the first label is written as one about the second."""
    labels = [str(label) for label in sorted(sample.label_counts)]
    is_kept = options.is_plain or options.threshold is None
    if is_kept or len(labels) != 2 or options.pos_label != labels[0]:
        return []
    return [
        f"note: --threshold {options.threshold} is about {labels[0]!r}; what is printed and saved "
        f"as the threshold is the same decision in terms of {labels[1]!r}, the last label in "
        "sorted order"
    ]


def _write(options: FitOptions, estimator: Any, base: Any, sample: Any) -> None:
    from replearn.persistence.model_file import save

    votes = getattr(estimator, "estimator_", estimator)  # inside of one that keeps an incumbent
    notes = {
        "columns": sample.columns,
        "target": options.target,
        "target_kind": sample.target_kind,
        "clean_labels": options.clean_labels,
        "id": options.id,
        "ids": list(sample.ids),
        "frame": "pandas" if takes_columns_itself(base) else "polars",
    }
    say(*_about_saving(votes), quiet=options.quiet)
    save(estimator, options.out, include_key=options.include_key, notes=notes)
    if options.certificate:
        estimator.certificate_.save(options.certificate)
    if options.save_columns:
        kinds = {**sample.columns, options.target: sample.target_kind}
        aside = {name: "id" for name in (options.id, options.group_by) if name is not None}
        write_atomically(options.save_columns, pretty_json({**kinds, **aside}) + "\n")
    say(
        f"model written to {options.out} ({_size(options.out)})",
        *_about_trust(options.out),
        quiet=options.quiet,
    )


def _about_trust(path: str) -> list[str]:
    """Say which types must be named to open a file."""
    from replearn.persistence._native_types import NATIVE_TYPES
    from replearn.persistence._skops import trust_options
    from replearn.persistence.model_file import describe

    types = [name for name in describe(path).untrusted_types if name not in NATIVE_TYPES]
    if not types:
        return []
    return [
        f"the file holds types that are not checked: it opens only with {trust_options(types)} "
        f"(load(..., trusted_types={types!r}) in Python)"
    ]


def _about_saving(estimator: Any) -> list[str]:
    """Announce a file that takes a while to write."""
    from replearn.persistence._trust import why_not_packed

    if not hasattr(estimator, "estimators_"):
        return []
    n_models = len(estimator.estimators_)
    reason = why_not_packed(estimator.estimators_[0])
    if reason is not None:
        return [f"writing {n_models} models one by one, which may take minutes: {reason}"]
    return [f"writing {n_models} models"] if n_models >= MANY_MODELS else []


def _size(path: str) -> str:
    n_bytes = Path(path).stat().st_size
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e5 else f"{n_bytes / 1e3:.0f} kB"


def _print(options: FitOptions, estimator: Any, sample: Any) -> None:
    certificate = getattr(estimator, "certificate_", None)
    usefulness = getattr(estimator, "usefulness_", None)
    history = getattr(estimator, "history_", None)
    if not options.json:
        if history is not None:
            _print_retraining(options, history[-1], estimator.classes_[1])
        if options.quiet:
            return
        if certificate is not None:
            put(str(certificate))
        if usefulness is not None:
            put(f"usefulness: {usefulness}")
        return
    result = {
        "model": options.out,
        "rows": sample.n,
        "classes": estimator.classes_.tolist(),
        "columns": sample.columns,
        "remarks": list(sample.remarks),
        "usefulness": None if usefulness is None else asdict(usefulness),
    }
    if certificate is not None:
        result |= {
            "certified": certificate.certified,
            "verdict": certificate.verdict,
            "rho": None if certificate.failed_conditions else certificate.rho,
            "key_fingerprint": certificate.key_fingerprint,
            "certificate": certificate.to_dict(),
        }
    if history is not None:
        result["retraining"] = history[-1]
    put_json(result)


def _print_retraining(options: FitOptions, entry: dict[str, Any], label: Any) -> None:
    """Print what a retraining has decided and changes; an alarm is printed even if quiet."""
    from replearn.learners.chain import sentences_of

    if "alarm" not in entry:  # the first model of a chain
        return
    sentences = sentences_of(entry, label)
    if entry["alarm"] is None and entry["untested"] is None:
        tested = "no test shows a loss" if "tested" in entry else "as given"
        sentences.insert(0, f"memory {entry['memory']:g}, band {entry['band']:.3g}: {tested}")
    elif options.quiet:
        say(sentences[0])
    if not options.quiet:
        put("\n".join(sentences))


COMMAND = Action(FitOptions, run, "fit a replicable classifier on a file")
