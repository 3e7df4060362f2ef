"""``replearn fit``: fit a replicable classifier on a file, and save it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from replearn.cli import DONE, add_options, put, put_json, say
from replearn.cli._incumbent import (
    add_incumbent_options,
    check_plain_options,
    history_table,
    read_incumbent,
    with_incumbent,
)
from replearn.cli._inputs import (
    add_sample_arguments,
    add_threshold,
    base_model,
    read_key,
    read_sample,
    read_threshold,
    takes_columns_itself,
)
from replearn.cli._predictions import add_trust
from replearn.guarantees import Plan, plan as make_plan
from replearn.records import pretty_json, write_atomically

MAX_CELLS = 320_000_000
"""Cells that all partitions train on together, unless more are requested: 8 partitions of a million
rows of 40 columns, five minutes or so with a linear model."""

NEW_KEY = "replearn key new --out key.txt makes one"
MANY_MODELS = 500
"""From so many on, writing them takes seconds and is announced."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_sample_arguments(parser)
    add_options(
        parser, "FILE", key_file=f"the shared key, needed unless --learner plain: {NEW_KEY}"
    )
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="model file, such as m.replearn"
    )
    add_options(
        parser,
        "FILE",
        plan="plan that all labs share",
        incumbent="model file in use: its predictions stay unless the new evidence is clear",
        certificate="write the certificate as JSON",
        save_columns="write the kinds of the columns",
    )
    parser.add_argument(
        "--learner",
        choices=("certified", "score", "plain"),
        default="certified",
        help="many small blocks with a certificate (default), few large ones with an estimate, or "
        "plain: one fit without key and certificate, to be the incumbent of the next one",
    )
    add_threshold(parser)
    _add_indices(parser)
    add_options(parser, float, rho="without a plan: flip probability (default: 0.1)")
    add_incumbent_options(parser)
    add_options(
        parser, int, max_fits="without a plan: largest number of fits", jobs="number of workers"
    )
    add_options(
        parser,
        bool,
        include_key="put the key into the model",
        check_price="also train one model without blocks, and print what the blocks lose",
        quiet="print nothing but warnings and errors",
        json="print the result as JSON",
    )
    add_trust(parser)


def _add_indices(parser: argparse.ArgumentParser) -> None:
    add_options(
        parser,
        "DIR",
        resume="keep finished blocks here, and continue from them",
        folder="for files larger than memory: work in pieces, kept here; an interrupted fit "
        "continues",
    )
    add_options(
        parser,
        "ADDRESS",
        scheduler="with --folder on storage that all workers see: the Dask cluster that works, as "
        "tcp://host:8786",
    )


def run(args: argparse.Namespace) -> int:
    """Fit, save, print the certificate."""
    is_plain = args.learner == "plain"
    if args.key_file is None and not is_plain:
        raise ValueError(f"--key-file FILE is required, the key that all runs share; {NEW_KEY}.")
    if is_plain:
        check_plain_options(args)
    key = None if is_plain else read_key(args.key_file)
    shared = _read_plan(args)
    _check_folders(args.out, args.certificate, args.save_columns)
    in_pieces = args.folder is not None or args.scheduler is not None
    incumbent = None if in_pieces else read_incumbent(args)
    if in_pieces:
        from replearn.cli._large import read_in_pieces

        sample: Any = read_in_pieces(args, by_scores=_by_scores(args, shared))
    else:
        sample = read_sample(args)
    sample.tell(quiet=args.quiet)
    say(*_about_columns(args), quiet=args.quiet)
    # What learns is loaded here and not above: a command should start, help and refuse at once.
    from replearn.auditing import is_replicable
    from replearn.persistence import check_savable

    say(*_size_of_fit(args, shared, sample), quiet=args.quiet)
    base = base_model(args.model, sample.columns)
    if is_replicable(base):
        raise ValueError(f"model {args.model!r} is replicable already; name its base estimator.")
    check_savable(base, f"model {args.model!r}")  # what cannot be saved fails before training
    labels = None if in_pieces else sample.y
    estimator = base
    if not is_plain:
        estimator = _estimator(args, base, shared, labels)
        estimator.set_params(shared_key=key, n_jobs=args.jobs, verbose=-1 if args.quiet else 0)
        estimator.set_params(check_price=args.check_price)
    if is_plain or incumbent is not None:
        estimator = with_incumbent(args, estimator, incumbent, labels)
    _fit(args, estimator, base, sample, in_pieces)
    _write(args, estimator, base, sample)
    _print(args, estimator, sample)
    return DONE


def _fit(args: argparse.Namespace, estimator: Any, base: Any, sample: Any, in_pieces: bool) -> None:
    if in_pieces:
        from replearn.outofcore import fit_files

        fit_files(
            estimator,
            sample.cells,
            args.target,
            folder=sample.work,
            features=list(sample.columns),
            container="pandas" if takes_columns_itself(base) else "polars",
            client=args.scheduler,
            trusted_types=args.trust,
        )
        return
    from replearn.execution import fit_in_context
    from replearn.persistence import resumable

    context = None if args.resume is None else resumable(args.resume, trusted_types=args.trust)
    X = sample.features_for(base)
    grouped = {} if args.learner == "plain" else {"groups": sample.groups}
    fit_in_context(estimator, X, sample.y, context, **grouped)


def _estimator(args: argparse.Namespace, base: Any, shared: Plan | None, labels: Any) -> Any:
    """Return the estimator of the options, without key and workers."""
    from replearn.learners import PointwiseReplicableClassifier, ScoreReplicableClassifier

    rho = 0.1 if args.rho is None else args.rho
    threshold = read_threshold(args, labels)
    if _by_scores(args, shared):
        if shared is not None:
            return ScoreReplicableClassifier(base, plan=shared, threshold=threshold)
        if args.max_fits is not None:
            raise ValueError(
                "--learner score takes no --max-fits: it fits 24 models, or those of its plan "
                "(replearn plan score)."
            )
        return ScoreReplicableClassifier(base, rho=rho, threshold=threshold)
    if shared is not None:
        return PointwiseReplicableClassifier(base, plan=shared, threshold=threshold)
    return PointwiseReplicableClassifier(base, rho=rho, max_fits=args.max_fits, threshold=threshold)


def _by_scores(args: argparse.Namespace, shared: Plan | None) -> bool:
    """Tell whether thresholds are in standard errors: by the option, or by the plan."""
    return args.learner == "score" or (shared is not None and shared.task == "score")


def _read_plan(args: argparse.Namespace) -> Plan | None:
    if args.plan is None:
        return None
    if args.rho is not None or args.max_fits is not None:
        raise ValueError("--plan fixes rho and the number of fits; leave --rho and --max-fits out.")
    return Plan.load(args.plan)


def _size_of_fit(args: argparse.Namespace, shared: Plan | None, sample: Any) -> list[str]:
    """Return what to say of the fits before they start.

    A large table gets fewer partitions. All of it follows from the size of the table and the
    options, never from the data.
    """
    if _by_scores(args, shared) or args.learner == "plain":  # blocks are large, or there are none
        return []
    if shared is not None or sample.groups is not None:
        return []
    options = {"rho": 0.1 if args.rho is None else args.rho, "max_fits": args.max_fits}
    plan = make_plan(n=sample.n, n_classes=sample.n_classes, **options)
    n_partitions = plan.n_partitions
    if args.max_fits is None:
        n_cells = sample.n * len(sample.columns)
        n_partitions = min(n_partitions, max(1, MAX_CELLS // n_cells))
    remark = f"{n_partitions} x {plan.n_blocks} blocks of {plan.block_size} rows are fitted"
    if n_partitions < plan.n_partitions:
        args.max_fits = n_partitions * plan.n_blocks
        remark += (
            f", instead of {plan.n_partitions} x {plan.n_blocks}, since the table is large: same "
            f"promise. --max-fits {plan.n_partitions * plan.n_blocks} fits them all; other labs "
            f"need --max-fits {args.max_fits}, or one --plan"
        )
    return [remark]


def _about_columns(args: argparse.Namespace) -> list[str]:
    """Warn where two labs could read their files differently."""
    if args.columns is not None or args.save_columns is not None:
        return []
    return [
        "the kinds of the columns were guessed from this file; another lab adopts them with "
        f"--columns {args.out} (or --save-columns here), and certify compares them"
    ]


def _check_folders(*paths: str | None) -> None:
    """Refuse missing folders before the training, not after it."""
    for path in paths:
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise ValueError(f"{path}: the folder does not exist.")


def _write(args: argparse.Namespace, estimator: Any, base: Any, sample: Any) -> None:
    from replearn.persistence import save

    votes = getattr(estimator, "estimator_", estimator)  # inside of one that keeps an incumbent
    notes = {
        "columns": sample.columns,
        "target": args.target,
        "target_kind": sample.target_kind,
        "clean_labels": args.clean_labels,
        "id": args.id,
        "ids": list(sample.ids),
        "frame": "pandas" if takes_columns_itself(base) else "polars",
    }
    say(*_about_saving(votes), quiet=args.quiet)
    save(estimator, args.out, include_key=args.include_key, notes=notes)
    if args.certificate:
        estimator.certificate_.save(args.certificate)
    if args.save_columns:
        kinds = {**sample.columns, args.target: sample.target_kind}
        aside = {name: "id" for name in (args.id, args.group_by) if name is not None}
        write_atomically(args.save_columns, pretty_json({**kinds, **aside}) + "\n")
    say(f"model written to {args.out} ({_size(args.out)})", quiet=args.quiet)


def _about_saving(estimator: Any) -> list[str]:
    """Announce a file that takes a while to write."""
    from replearn.persistence import why_not_packed

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


def _print(args: argparse.Namespace, estimator: Any, sample: Any) -> None:
    certificate = getattr(estimator, "certificate_", None)
    usefulness = getattr(estimator, "usefulness_", None)
    history = getattr(estimator, "history_", None)
    if not args.json:
        if args.quiet:
            return
        if certificate is not None:
            put(str(certificate))
        if history is not None:
            put(history_table(history[-1:]))
        if usefulness is not None:
            put(f"usefulness: {usefulness}")
        return
    result = {
        "model": args.out,
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
            "rho": certificate.rho,
            "key_fingerprint": certificate.key_fingerprint,
            "certificate": certificate.to_dict(),
        }
    if history is not None:
        result["retraining"] = history[-1]
    put_json(result)
