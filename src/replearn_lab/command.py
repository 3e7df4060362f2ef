"""``replearn lab``: list the experiments of the paper's theory, or run one."""

from __future__ import annotations

import argparse
import time

from replearn.cli import DONE, add_options, put, put_json, say
from replearn.records import two_columns
from replearn_lab.experiment import FORMATS, SIZES, Experiment
from replearn_lab.experiments import all_experiments, find_experiment
from replearn_lab.learning import NamedLearner


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listed = actions.add_parser("list", help="name every experiment and its theorem")
    run_one = actions.add_parser("run", help="run an experiment; write data, figure and text")
    run_one.add_argument("name", help="name of the experiment, or 'all'")
    run_one.add_argument(
        "--size", choices=SIZES, default=None, help="how much to compute (default: full)"
    )
    add_options(run_one, bool, small="the same as --size small: at most two minutes")
    add_options(run_one, "DIR", out="where to write NAME.json, NAME.md and the figure")
    add_options(run_one, "KEY", key="source of all random numbers (default: 0)")
    learner = "a classifier or learner of your own, for experiments that support it"
    add_options(run_one, "MODULE:NAME", learner=learner)
    run_one.add_argument("--format", choices=FORMATS, default="png", help="format of the figure")
    for action in (listed, run_one):
        add_options(action, bool, json="print JSON")
    add_options(run_one, bool, quiet="no progress")


def run(args: argparse.Namespace) -> int:
    """List or run experiments."""
    if args.action == "list":
        return _list(args.json)
    if args.small and args.size not in (None, "small"):
        raise ValueError(f"--small and --size {args.size} contradict each other: give one.")
    names = list(all_experiments()) if args.name == "all" else [args.name]
    experiments = [find_experiment(name) for name in names]
    if args.learner and args.name == "all":
        experiments = [experiment for experiment in experiments if experiment.takes_learner]
    for experiment in experiments:
        _run(experiment, args)
    return DONE


def _list(as_json: bool) -> int:
    experiments = list(all_experiments().values())
    if as_json:
        put_json([experiment.describe() for experiment in experiments])
    else:
        put(two_columns([(e.name, f"{e.summary} ({e.labels[0]})") for e in experiments]))
    return DONE


def _run(experiment: Experiment, args: argparse.Namespace) -> None:
    size = "small" if args.small else args.size or "full"
    report = None if args.quiet else _progress(experiment.name)
    learner = NamedLearner(args.learner) if args.learner else None
    result = experiment.run(size, 0 if args.key is None else args.key, report, learner)
    put_json(result.to_dict()) if args.json else put(result.text)
    if args.out:
        written = result.write(args.out, args.format)
        if len(written) < 3:
            say("note: no figure; it needs matplotlib: pip install 'replicable-learn[plot]'")
        say(f"written: {', '.join(str(path) for path in written)}", quiet=args.quiet)


def _progress(name: str):
    """Return a function that writes a line of progress, at most one every two seconds."""
    last = [time.monotonic()]

    def report(text: str) -> None:
        if time.monotonic() - last[0] >= 2.0:
            last[0] = time.monotonic()
            say(f"{name}: {text}")

    return report
