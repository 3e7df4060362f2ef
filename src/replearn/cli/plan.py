"""``replearn plan``: what n rows can promise, or how many rows a promise needs.

With ``--choice``, for learners that choose: a model, a configuration, a cut-off, a rule.
"""

from __future__ import annotations

import argparse
from typing import Any

from replearn.cli._console import DONE, put, put_json, say
from replearn.guarantees import ChoicePlan, Plan, plan, plan_choice
from replearn.guarantees._choice_tasks import TASKS
from replearn.records.json import read_object

NO_MASS = "none"

# Options of a choice alone: type and explanation.
_OF_CHOICES: dict[str, tuple[type, str]] = {
    "alpha": (float, "error above the best that is allowed"),
    "beta": (float, "probability of a larger one"),
    "n_hypotheses": (int, "number of candidates or configurations"),
    "d": (int, "VC dimension of the class"),
    "n_shared": (int, "rows of the shared pool, if fixed"),
    "n_directions": (int, "2: the rule may point either way; 1: it may not"),
    "train_size": (int, "rows of each training of a search"),
    "drift": (float, "assumed: how far a true error moves between trainings"),
    "cv": (int, "folds of a search with --drift"),
    "n_candidates": (int, "candidates of finite randomness"),
}
# Options that a choice may share with other plans, and those that it may not, with their defaults.
_OF_ALL = ("rho", "gamma", "block_size")
_OF_PLANS: dict[str, Any] = {
    "notion": "pointwise",
    "runs": 2,
    "classes": None,
    "n_classes": None,
    "n_blocks": None,
    "n_partitions": None,
    "max_fits": None,
    "law": None,
    "vote": "hard",
    "decimals": None,
    "groups": False,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    numbers = parser.add_argument_group("numbers; what is left out is solved")
    numbers.add_argument("--n", type=int, help="rows of each sample")
    numbers.add_argument("--rho", type=float, help="probability that two runs differ")
    numbers.add_argument(
        "--gamma",
        type=_mass,
        help="mass of points (approximate notion); none: a promise for each point, only with "
        "--choice finite-randomness",
    )
    numbers.add_argument("--block-size", type=int, help="rows that a block needs at least")
    parser.set_defaults(**_OF_PLANS)
    parser.add_argument("--notion", choices=("pointwise", "approximate"))
    parser.add_argument("--runs", type=int, help="how many runs shall agree")
    parser.add_argument("--classes", metavar="A,B", help="the labels, part of the protocol")
    parser.add_argument("--n-classes", type=int, help="number of labels, if not --classes")
    parser.add_argument("--n-blocks", type=int)
    parser.add_argument("--n-partitions", type=int)
    parser.add_argument("--max-fits", type=int, help="compute budget: at most so many fits")
    parser.add_argument("--law", choices=("arcsine", "uniform", "optimal"))
    parser.add_argument("--vote", choices=("hard", "soft"))
    parser.add_argument("--decimals", type=int, help="round numbers before they key thresholds")
    parser.add_argument("--groups", action="store_true", help="n counts groups (fit --together)")
    choice = parser.add_argument_group("plans of a replicable choice")
    tasks = [task.replace(" ", "-") for task in TASKS]
    choice.add_argument("--choice", choices=tasks, help="what chooses; replearn.plan_choice")
    for name, (kind, text) in _OF_CHOICES.items():
        choice.add_argument(_option(name), type=kind, help=text)
    parser.add_argument("--save", metavar="FILE", help="write the plan as JSON")
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")


def run(args: argparse.Namespace) -> int:
    """Make the plan, save it, print it."""
    made = _plan(args) if args.choice is None else _plan_choice(args)
    if args.save:
        made.save(args.save)
        say(f"plan written to {args.save}")
    if args.json:
        put_json(read_object(made.to_json(), "plan"))
    else:
        put(str(made))
    return DONE


def _plan(args: argparse.Namespace) -> Plan:
    foreign = [_option(name) for name in _OF_CHOICES if getattr(args, name) is not None]
    if foreign:
        raise ValueError(f"{', '.join(foreign)}: only for plans of a choice; add --choice.")
    if args.gamma == NO_MASS:
        raise ValueError("--gamma none: leave it out, --notion pointwise says it.")
    return plan(
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


def _plan_choice(args: argparse.Namespace) -> ChoicePlan:
    task = args.choice.replace("-", " ")
    known = (*TASKS[task].required, *TASKS[task].optional)
    targets = {name: getattr(args, name) for name in (*_OF_ALL, *_OF_CHOICES)}
    given = {name: value for name, value in targets.items() if value is not None}
    foreign = [name for name in given if name not in known]
    foreign += [name for name, default in _OF_PLANS.items() if getattr(args, name) != default]
    missing = [name for name in TASKS[task].required if name not in given]
    if foreign or missing:
        problem = "does not take" if foreign else "needs"
        named = ", ".join(map(_option, foreign or missing))
        takes = ", ".join(map(_option, ("n", *known)))
        raise ValueError(f"--choice {args.choice} {problem} {named}; it takes {takes}.")
    if given.get("gamma") == NO_MASS:
        if "gamma" not in TASKS[task].nullable:
            raise ValueError(f"--choice {args.choice}: --gamma must be a number, got none.")
        given["gamma"] = None
    return plan_choice(task, n=args.n, **given)


def _mass(text: str) -> float | str:
    return NO_MASS if text == NO_MASS else float(text)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


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
