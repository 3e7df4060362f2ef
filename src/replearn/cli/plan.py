"""``replearn plan``: what n rows can promise, or how many rows a promise needs."""

from __future__ import annotations

import argparse

from replearn.certificates._json import read_object
from replearn.cli._console import DONE, put, put_json, say
from replearn.planning import plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    numbers = parser.add_argument_group("numbers; what is left out is solved")
    numbers.add_argument("--n", type=int, help="rows of each sample")
    numbers.add_argument("--rho", type=float, help="probability that two runs differ")
    numbers.add_argument("--gamma", type=float, help="mass of points (approximate notion)")
    numbers.add_argument("--block-size", type=int, help="rows that a block needs at least")
    parser.add_argument("--notion", choices=("pointwise", "approximate"), default="pointwise")
    parser.add_argument("--runs", type=int, default=2, help="how many runs shall agree")
    parser.add_argument("--classes", metavar="A,B", help="the labels, part of the protocol")
    parser.add_argument("--n-classes", type=int, help="number of labels, if not --classes")
    parser.add_argument("--n-blocks", type=int)
    parser.add_argument("--n-partitions", type=int)
    parser.add_argument("--max-fits", type=int, help="compute budget: at most so many fits")
    parser.add_argument("--law", choices=("arcsine", "uniform", "programme"))
    parser.add_argument("--vote", choices=("hard", "soft"), default="hard")
    parser.add_argument("--decimals", type=int, help="round numbers before they key thresholds")
    parser.add_argument("--groups", action="store_true", help="n counts groups (fit --together)")
    parser.add_argument("--save", metavar="FILE", help="write the plan as JSON")
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")


def run(args: argparse.Namespace) -> int:
    """Make the plan, save it, print it."""
    made = plan(
        args.notion,
        n=args.n,
        rho=args.rho,
        gamma=args.gamma,
        block_size=args.block_size,
        runs=args.runs,
        classes=None if args.classes is None else read_labels(args.classes),
        n_classes=args.n_classes,
        n_blocks=args.n_blocks,
        n_partitions=args.n_partitions,
        max_fits=args.max_fits,
        law=args.law,
        vote=args.vote,
        decimals=args.decimals,
        unit="groups" if args.groups else "rows",
    )
    if args.save:
        made.save(args.save)
        say(f"plan written to {args.save}")
    if args.json:
        put_json(read_object(made.to_json(), "plan"))
    else:
        put(str(made))
    return DONE


def read_labels(text: str) -> list[str] | list[int]:
    """Read labels from one argument: whole numbers if all are, texts otherwise.

    Examples
    --------
    >>> read_labels("no, yes"), read_labels("0,1")
    (['no', 'yes'], [0, 1])
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(parts) or len(set(parts)) < len(parts):
        raise ValueError(f"classes {text!r}: different labels between commas are expected.")
    try:
        return [int(part) for part in parts]
    except ValueError:
        return parts
