"""``replearn audit``: measure on your own file how often retraining flips answers."""

from __future__ import annotations

import argparse
from typing import Any

from replearn.audit import AuditResult, audit
from replearn.audit._contenders import is_replicable
from replearn.cli._console import DONE, GATE_FAILED, put, put_json, say, say_all
from replearn.cli._data import add_sample_arguments, read_key, read_sample, to_pandas
from replearn.cli._models import HELP, base_model, takes_columns_itself

ENDINGS = (".html", ".json", ".md")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_sample_arguments(parser)
    parser.add_argument("--model", default="logreg", metavar="NAME", help=HELP)
    parser.add_argument("--rho", type=float, default=0.1, help="promise of the replicable one")
    parser.add_argument(
        "--group", action="append", metavar="COLUMN", help="tell flips for each of its values"
    )
    parser.add_argument("--pairs", type=int, default=20, help="pairs of trainings (default: 20)")
    parser.add_argument("--time-budget", type=float, metavar="SECONDS")
    parser.add_argument("--out", metavar="FILE", help="write the report: .html, .json or .md")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--fail-above",
        type=float,
        metavar="RATE",
        help="exit with 1 if the measured flip rate of the model is larger",
    )
    parser.add_argument("--resume", metavar="DIR", help="keep finished pairs, continue from them")
    parser.add_argument("--key-file", metavar="FILE", help="key that draws the samples")
    parser.add_argument("--hide-values", action="store_true", help="no features in the report")
    parser.add_argument("--jobs", type=int, metavar="N", default=-1, help="workers (all cores)")
    parser.add_argument("--quiet", action="store_true", help="no remarks, no progress")


def run(args: argparse.Namespace) -> int:
    """Measure, write the report, print a summary, and keep the gate."""
    _check(args)
    key = read_key(args.key_file)
    sample = read_sample(args)
    say_all(sample.remarks, quiet=args.quiet)
    base = base_model(args.model, sample.columns)
    X = to_pandas(sample.X) if takes_columns_itself(base) else sample.X
    result = audit(
        base,
        X,
        sample.y,
        n_pairs=args.pairs,
        groups=sample.groups,
        subgroups="auto" if args.group is None else args.group,
        rho=args.rho,
        time_budget=args.time_budget,
        shared_key=0 if key is None else key,
        n_jobs=args.jobs,
        resume=args.resume,
        verbose=-1 if args.quiet else 0,
    )
    if args.out:
        result.save(args.out, values=not args.hide_values)
        if not args.quiet:
            say(f"report written to {args.out}")
    put_json(result.to_dict()) if args.json else put(str(result))
    return DONE if args.fail_above is None else _gate(result, base, args.fail_above)


def _check(args: argparse.Namespace) -> None:
    if args.out and not args.out.lower().endswith(ENDINGS):
        raise ValueError(f"--out {args.out} must end in {', '.join(ENDINGS)}.")
    if args.fail_above is not None and not 0 <= args.fail_above <= 1:
        raise ValueError(f"--fail-above {args.fail_above} must lie in [0, 1].")


def _gate(result: AuditResult, base: Any, limit: float) -> int:
    """Judge the model that was named: what is used today, or a replicable one."""
    contenders = [c for c in result.contenders if c.certificate is not None]
    judged = contenders[-1] if is_replicable(base) and contenders else result.contenders[0]
    rate = result.flip_rate(judged.name)
    passed = rate.value <= limit
    verdict = "passed" if passed else "FAILED"
    say(
        f"gate {verdict}: flip rate of {judged.name!r} is {rate.value:.2%} "
        f"({rate.lower:.2%} to {rate.upper:.2%}), allowed {limit:.2%}"
    )
    return DONE if passed else GATE_FAILED
