"""``replearn votes``: what the blocks of a model vote on rows that two labs share."""

from __future__ import annotations

import argparse

from replearn.cli import DONE, add_options, say
from replearn.cli._predictions import add_model_arguments, load_model, read_points


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model", help="model file")
    parser.add_argument("rows", help="rows that both labs have and that neither has learned from")
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="file for the votes, for certify --votes"
    )
    add_options(parser, int, jobs="number of workers")
    add_model_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Let the blocks vote, and write their votes."""
    model, notes = load_model(args.model, args.key_file, args)
    if not hasattr(model, "block_votes"):
        raise ValueError(f"{args.model} is a {type(model).__name__}, which has no block votes.")
    model.n_jobs = args.jobs
    X, _, remarks = read_points(args.rows, notes, args.encoding)
    say(*remarks, quiet=args.quiet)
    votes = model.block_votes(X)
    votes.save(args.out)
    say(
        f"votes of {votes.n_blocks} blocks on {len(votes.rows)} rows written to {args.out}",
        quiet=args.quiet,
    )
    return DONE
