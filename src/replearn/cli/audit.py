"""``replearn audit``: measure on your own file how often retraining changes predictions."""

from __future__ import annotations

import argparse
from typing import Any

from replearn.auditing import AuditResult, audit, is_replicable
from replearn.cli._console import DONE, GATE_FAILED, put, put_json, say, say_all
from replearn.cli._inputs import (
    MODEL_HELP,
    add_sample_arguments,
    base_model,
    read_key,
    read_sample,
    takes_columns_itself,
    to_pandas,
)

ENDINGS = (".html", ".json", ".md")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_sample_arguments(parser)
    parser.add_argument("--model", default="logreg", metavar="NAME", help=MODEL_HELP)
    parser.add_argument(
        "--rho",
        type=float,
        default=0.1,
        help="flip probability that the replicable contender guarantees (default: 0.1)",
    )
    parser.add_argument(
        "--subgroup",
        action="append",
        metavar="COLUMN",
        help="report flips for each of its values (may be repeated)",
    )
    parser.add_argument("--pairs", type=int, default=20, help="pairs of trainings (default: 20)")
    parser.add_argument(
        "--time-budget", type=float, metavar="SECONDS", help="start no pair of trainings after this"
    )
    parser.add_argument("--out", metavar="FILE", help="write the report: .html, .json or .md")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--fail-above",
        type=float,
        metavar="RATE",
        help="exit with 1 if the measured flip rate of the model is larger",
    )
    parser.add_argument(
        "--fail-above-limit",
        type=float,
        metavar="RATE",
        help="the same for its upper 95 %% limit: passes only if the rate is shown to be smaller",
    )
    parser.add_argument(
        "--resume", metavar="DIR", help="keep finished pairs here, and continue from them"
    )
    parser.add_argument("--key-file", metavar="FILE", help="key from which the samples are drawn")
    parser.add_argument(
        "--hide-values", action="store_true", help="leave features out of the report"
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", default=-1, help="workers (default: all cores)"
    )
    parser.add_argument("--quiet", action="store_true", help="no remarks, no progress")


def run(args: argparse.Namespace) -> int:
    """Run the audit, write the report, print a summary, and apply the gates."""
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
        design={"time_budget": args.time_budget},
        groups=sample.groups,
        subgroups="auto" if args.subgroup is None else args.subgroup,
        rho=args.rho,
        shared_key=0 if key is None else key,
        n_jobs=args.jobs,
        resume=args.resume,
        verbose=-1 if args.quiet else 0,
    )
    if args.out:
        result.save(args.out, values=not args.hide_values)
        if not args.quiet:
            say(f"report written to {args.out}")
    gates = _gates(result, base, args)
    put_json({**result.to_dict(), "gates": gates}) if args.json else put(str(result))
    for gate in gates:
        say(_verdict(gate))
    return DONE if all(gate["passed"] for gate in gates) else GATE_FAILED


def _check(args: argparse.Namespace) -> None:
    if args.out and not args.out.lower().endswith(ENDINGS):
        raise ValueError(f"--out {args.out} must end in {', '.join(ENDINGS)}.")
    for option in ("fail_above", "fail_above_limit"):
        limit = getattr(args, option)
        if limit is not None and not 0 <= limit <= 1:
            raise ValueError(f"--{option.replace('_', '-')} {limit} must lie in [0, 1].")


def _gates(result: AuditResult, base: Any, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Judge the model that was named: the baseline, or a replicable learner."""
    contenders = [c for c in result.contenders if c.certificate is not None]
    judged = contenders[-1] if is_replicable(base) and contenders else result.contenders[0]
    rate = result.flip_rate(judged.name)
    allowed_rates = {"estimate": args.fail_above, "upper limit": args.fail_above_limit}
    values = {"estimate": rate.value, "upper limit": rate.upper}
    return [
        {
            "model": judged.name,
            "judged": what,
            "allowed": allowed,
            "estimate": rate.value,
            "lower": rate.lower,
            "upper": rate.upper,
            "passed": values[what] <= allowed,
        }
        for what, allowed in allowed_rates.items()
        if allowed is not None
    ]


def _verdict(gate: dict[str, Any]) -> str:
    return (
        f"gate {'passed' if gate['passed'] else 'FAILED'}: flip rate of {gate['model']!r} is "
        f"{gate['estimate']:.2%} ({gate['lower']:.2%} to {gate['upper']:.2%}), allowed "
        f"{gate['allowed']:.2%} for the {gate['judged']}"
    )
