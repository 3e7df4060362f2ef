"""``replearn votes``: what the blocks of a model vote on rows that two labs share."""

from __future__ import annotations

from dataclasses import dataclass

from replearn.cli import DONE, Action, argument, number, option, say
from replearn.cli._predictions import ModelOptions, load_model, read_points


@dataclass(frozen=True, kw_only=True)
class VotesOptions(ModelOptions):
    """Options of the command."""

    COMMON = ("out", "key_file", "jobs", "quiet")
    EXAMPLES = (
        "replearn votes m.replearn shared.csv --key-file key.txt --out votes.json",
        "replearn certify a.replearn b.replearn --votes votes-a.json votes-b.json",
    )

    model: str = argument("model file")
    rows: str = argument("rows that both labs have and neither model was trained on")
    out: str = option("file for the votes, for certify --votes", "FILE", required=True)
    jobs: int | None = number("number of workers")


def run(options: VotesOptions) -> int:
    """Let the blocks vote, and write their votes."""
    model, notes = load_model(options.model, options.key_file, options)
    if not hasattr(model, "block_votes"):
        raise ValueError(f"{options.model} holds {type(model).__name__}, which has no block votes.")
    model.n_jobs = options.jobs
    X, _, remarks = read_points(options.rows, notes, options.encoding)
    say(*remarks, quiet=options.quiet)
    votes = model.block_votes(X)
    votes.save(options.out)
    say(
        f"votes of {votes.n_blocks} blocks on {len(votes.rows)} rows written to {options.out}",
        quiet=options.quiet,
    )
    return DONE


COMMAND = Action(VotesOptions, run, "write the votes of a model's blocks, to compare two labs")
