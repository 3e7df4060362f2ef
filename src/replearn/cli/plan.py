"""``replearn plan``: what n rows can promise, or how many rows a promise needs."""

from __future__ import annotations

import argparse

from replearn.cli import DONE, add_options, put, put_json, say
from replearn.guarantees import GUARANTEES, about_rare_classes, plan
from replearn.records import read_object

# Options that say numbers: type and explanation. What is left out is solved, or a default.
_NUMBERS: dict[str, tuple[type, str]] = {
    "n": (int, "rows of each sample"),
    "rho": (float, "probability that two runs differ"),
    "gamma": (float, "mass of points on which two models may differ"),
    "alpha": (float, "excess error that is allowed"),
    "beta": (float, "probability of a larger one"),
    "d": (int, "VC dimension of the class"),
}
_OF_VOTES: dict[str, tuple[type, str]] = {
    "block_size": (int, "rows that a block needs at least"),
    "runs": (int, "how many runs should agree"),
    "n_classes": (int, "number of labels, if not --classes"),
    "n_blocks": (int, "number of blocks"),
    "n_partitions": (int, "in how many ways the rows are cut into blocks"),
    "max_fits": (int, "compute budget: at most so many fits"),
    "decimals": (int, "round numbers before they key thresholds"),
}
_OF_OTHERS: dict[str, tuple[type, str]] = {
    "n_hypotheses": (int, "number of candidates or configurations"),
    "n_shared": (int, "rows of the shared pool, if fixed"),
    "n_directions": (int, "2: the rule may point either way; 1: it may not"),
    "train_size": (int, "rows of each training of a search"),
    "drift": (float, "assumed: how far a true error moves between trainings"),
    "cv": (int, "folds of a search with --drift"),
    "n_candidates": (int, "candidates of finite randomness"),
    "resolution": (float, "spacing of the grid of a regression, in units of y"),
    "y_span": (float, "length of the range of y"),
    "epsilon": (float, "privacy loss"),
    "delta": (float, "failure probability of privacy"),
    "standard_error": (float, "assumed: standard error of a score"),
    "nu": (float, "mass from which a point is heavy"),
    "p0": (float, "lower end of the gap of a coin, between -1 and 1"),
    "q0": (float, "upper end of the gap"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    tasks = [_dashed(task) for task, entry in GUARANTEES.items() if entry.needed]
    parser.add_argument(
        "task",
        nargs="?",
        default="pointwise",
        choices=["pointwise", "approximate", *tasks],
        help="what is planned (default: pointwise)",
    )
    groups = (
        ("numbers; what is left out is solved", _NUMBERS),
        ("options of blocks that vote (pointwise, approximate; score takes some)", _OF_VOTES),
        ("options of other tasks", _OF_OTHERS),
    )
    for title, options in groups:
        group = parser.add_argument_group(title)
        for name, (kind, text) in options.items():
            add_options(group, kind, **{name: text})
        if options is _OF_VOTES:
            group.add_argument("--classes", metavar="A,B", help="the labels, part of the protocol")
            group.add_argument("--law", choices=("arcsine", "uniform", "optimal"))
            group.add_argument("--vote", choices=("hard", "soft"))
            group.add_argument(
                "--small-blocks",
                choices=("adapt", "keep"),
                help="whether default leaf sizes follow the block size (default: adapt)",
            )
            add_options(group, bool, groups="n counts groups (fit --group-by)")
    add_options(parser, "FILE", save="write the plan as JSON")
    paper = "show the paper's constants beside the plan"
    add_options(parser, bool, json="print the plan as JSON", paper=paper)


def run(args: argparse.Namespace) -> int:
    """Make the plan, save it, print it."""
    names = (*_NUMBERS, *_OF_VOTES, *_OF_OTHERS, "law", "vote", "small_blocks")
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    if args.classes is not None:
        given["classes"] = read_labels(args.classes)
    if args.groups:
        given["unit"] = "groups"
    try:
        planned = plan(_task(args.task), **given)
    except TypeError as error:
        if not str(error).startswith("plan("):
            raise  # a bug, not an option that this task does not take
        raise ValueError(str(error)) from None
    if args.save:
        planned.save(args.save)
        say(f"plan written to {args.save}")
    if args.json:
        put_json(read_object(planned.to_json(), "plan"))
    else:
        put(str(planned))
        say(*filter(None, [about_rare_classes(planned)]))
        if args.paper:
            put(f"\n{planned.paper_constants()}")
    return DONE


def _dashed(name: str) -> str:
    return name.replace(", ", "-").replace(" ", "-").replace("_", "-")


def _task(option: str) -> str:
    return next((task for task in GUARANTEES if _dashed(task) == option), option)


def read_labels(text: str) -> list[str] | list[int]:
    """Read labels from one argument: whole numbers if all are, texts otherwise.

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
