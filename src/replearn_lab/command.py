"""``replearn lab``: list the experiments of the paper's theory, or run one."""

from __future__ import annotations

import time
from dataclasses import dataclass

from replearn.cli import (
    DONE,
    Action,
    CommandOptions,
    argument,
    flag,
    option,
    put,
    put_json,
    say,
)
from replearn.records.text import two_columns
from replearn_lab.experiment import Experiment
from replearn_lab.experiments import all_experiments, find_experiment


@dataclass(frozen=True, kw_only=True)
class ListOptions(CommandOptions):
    """Options of ``lab list``."""

    COMMON = ("json",)
    EXAMPLES = ("replearn lab list",)

    json: bool = flag("print JSON")


@dataclass(frozen=True, kw_only=True)
class RunOptions(CommandOptions):
    """Options of ``lab run``."""

    COMMON = ("small", "out", "key", "json", "quiet")
    EXAMPLES = ("replearn lab run two-coins --small --out results",)

    name: str = argument("name of the experiment, or 'all'")
    small: bool = flag("at most a minute or two instead of as long as it takes")
    out: str | None = option("where to write NAME.json and NAME.png", "DIR")
    key: str | None = option("source of all random numbers (default: 0)", "KEY")
    json: bool = flag("print JSON")
    quiet: bool = flag("no progress")


def run(options: RunOptions) -> int:
    """Run experiments."""
    names = list(all_experiments()) if options.name == "all" else [options.name]
    for name in names:
        _run(find_experiment(name), options)
    return DONE


def list_all(options: ListOptions) -> int:
    """List the experiments."""
    experiments = list(all_experiments().values())
    if options.json:
        put_json([experiment.describe() for experiment in experiments])
    else:
        put(two_columns([(e.name, f"{e.summary} ({e.labels[0]})") for e in experiments]))
    return DONE


def _run(experiment: Experiment, options: RunOptions) -> None:
    report = None if options.quiet else _progress(experiment.name)
    key = 0 if options.key is None else options.key
    result = experiment.run("small" if options.small else "full", key, report)
    put_json(result.to_dict()) if options.json else put(result.text)
    if options.out:
        written = result.write(options.out)
        if len(written) < 2:
            say("note: no figure; it needs matplotlib: pip install 'replicable-learn[plot]'")
        say(f"written: {', '.join(str(path) for path in written)}", quiet=options.quiet)


def _progress(name: str):
    """Return a function that writes a line of progress, at most one every two seconds."""
    last = [time.monotonic()]

    def report(text: str) -> None:
        if time.monotonic() - last[0] >= 2.0:
            last[0] = time.monotonic()
            say(f"{name}: {text}")

    return report


COMMAND = {
    "list": Action(ListOptions, list_all, "name every experiment and its theorem"),
    "run": Action(RunOptions, run, "run an experiment; write data, figure and text"),
}
