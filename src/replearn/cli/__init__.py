"""The command ``replearn``: parse, call, print, exit code.

Each command is a module with a ``COMMAND``: the dataclass of its options, and a function that takes
them. It is loaded when it is used. Results go to standard output, everything else to standard
error.

Exit codes: 0 done; 1 a gate failed (``--fail-above`` of audit and compare) or runs are not
comparable (``certify``), and never anything else; 2 wrong usage, bad input or any other failure,
with one line that says what to do; 3 not known whether runs are comparable; 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import re
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from replearn._version import __version__
from replearn.cli._options import (
    EXIT_CODES,
    Action,
    CommandOptions,
    Parser,
    add_command,
    argument,
    build,
    check_outputs,
    fill,
    flag,
    memory,
    names,
    number,
    option,
    repeated,
    settings,
    shares,
    yes_or_no,
)
from replearn.exceptions import (
    NotCertifiedWarning,
    PreprocessingWarning,
    UsefulnessWarning,
    WeakKeyWarning,
)
from replearn.records import pretty_json, visible

__all__ = [
    "DONE",
    "ENCODING_HELP",
    "Action",
    "CommandOptions",
    "argument",
    "flag",
    "main",
    "memory",
    "names",
    "number",
    "option",
    "put",
    "put_data",
    "put_json",
    "repeated",
    "say",
    "settings",
    "shares",
    "yes_or_no",
]

ENCODING_HELP = "encoding of text files, such as latin-1 (default: utf-8)"

STARTED = time.monotonic()
"""When the command began, for time budgets."""

DONE = 0
GATE_FAILED = 1
BAD_INPUT = 2
UNKNOWN = 3
INTERRUPTED = 130
EXPECTED_ERRORS = (ValueError, OSError, ImportError, MemoryError, RuntimeError)
"""Caused by input or surroundings; any other error is a bug, and its traceback is shown."""

COMMANDS = {
    "audit": ("replearn.cli.audit", "measure how often retraining changes predictions"),
    "plan": ("replearn.cli.plan", "what n rows can guarantee, or how many rows are needed"),
    "key": ("replearn.cli.key", "generate a shared key, or show its fingerprint"),
    "fit": ("replearn.cli.fit", "fit a replicable classifier on a file"),
    "predict": ("replearn.cli.predict", "predict class labels for a file"),
    "certify": (
        "replearn.cli.certify",
        "verify certificates; check whether runs are comparable",
    ),
    "probe": (
        "replearn.cli.probe",
        "check that two labs make the same points of raw rows",
    ),
    "votes": ("replearn.cli.votes", "write the votes of a model's blocks, to compare two labs"),
    "history": ("replearn.cli.history", "list the retrainings of a model with an incumbent"),
    "compare": ("replearn.cli.compare", "what changes when a model is replaced, with gates"),
    "lab": ("replearn_lab.command", "run the paper's lower bounds and separations"),
    "demo": ("replearn.cli.demo", "two labs, two samples of real data, one key"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments. If None, those of the process.

    Returns
    -------
    int
        The exit code. Wrong usage raises ``SystemExit(2)``, as argparse does.

    Examples
    --------
    >>> from replearn.cli import main
    >>> main(["key", "new", "--out", "/no/such/folder/key.txt"])
    2
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        say("error: standard output is closed: there is nowhere to write the result.")
        return BAD_INPUT
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with plain_warnings():
            parsed = make_parser(arguments).parse_args(arguments)
            options = build(parsed.action.options, parsed)
            check_outputs(options)
            return int(parsed.action.run(options))
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return BAD_INPUT
    except Exception as error:
        if os.environ.get("REPLEARN_DEBUG") or not isinstance(error, EXPECTED_ERRORS):
            sys.stderr.write(visible(traceback.format_exc()))
        say(f"error: {as_options(_in_one_line(error))}")
        return BAD_INPUT


def make_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser; only the command that is used is loaded."""
    parser = Parser(
        prog="replearn",
        description="Replicable classifiers: retrain on a fresh sample, keep the predictions.",
        epilog=EXIT_CODES,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"replearn {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    used = next((word for word in arguments if not word.startswith("-")), None)
    for name, (module_name, summary) in COMMANDS.items():
        command = add_command(commands, name, summary)
        if name == used:
            fill(command, importlib.import_module(module_name).COMMAND, arguments)
    return parser


_AS_OPTIONS = {
    r"fit\(X, y, groups=X\[('[^']*')\]\)": r"--group-by \1",
    r"fit\(X, y, groups=\.\.\.\)": "--group-by COLUMN",
    r"\bids=(?=\.)": "--id COLUMN",
    r"\bcheck_price=True": "--check-price",
    r"\bmemory=([\d.]*\d)": r"--memory \1",
    r"\bband=([\d.]*\d)": r"--band \1",
    r"\bn_blocks or max_fits\b": "--max-fits",
    r"\bn_jobs == 0 in Parallel has no meaning": "--jobs 0: must be at least 1",
    r"\bthreshold='?([\w=.]*\w)'?": r"--threshold \1",
    r"\bScoreReplicableClassifier has": "--learner score has",
    r"\bIncumbentClassifier keeps": "--incumbent FILE keeps",
}
"""Parameters that messages of the library name, as options of the commands."""


def as_options(text: str) -> str:
    """Name options in a message of the library, where it names parameters.

    >>> as_options("check_price=True measures what is lost.")
    '--check-price measures what is lost.'
    >>> as_options("rho=3.0 must lie in (0, 1]")
    '--rho 3.0 must lie in (0, 1]'
    """
    for parameter, as_option in _AS_OPTIONS.items():
        text = re.sub(parameter, as_option, text)
    return re.sub(_WRONG_VALUE, _option_of, text)


_WRONG_VALUE = (
    r"(?<![\w-])(n|rho|max_fits|max_flip|new_rows|n_pairs)=(\S+)(?= must )"
    r"|The '(memory|band|max_changes|max_negative_flips|keep_rate)' parameter of \w+"
)


def _option_of(found: re.Match[str]) -> str:
    name = (found[1] or found[3]).removeprefix("n_").replace("_", "-")
    return f"--{name} {found[2]}" if found[2] else f"--{name}"


def _in_one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def say(*texts: str, quiet: bool = False) -> None:
    """Write lines to standard error, unless quiet."""
    for text in () if quiet else texts:
        sys.stderr.write(f"replearn: {visible(text)}\n")
        sys.stderr.flush()


def put(text: str) -> None:
    """Write a result to standard output; control characters become visible."""
    _write_out(visible(text))


def put_data(text: str) -> None:
    """Write data to standard output: as they are, except on a terminal."""
    _write_out(visible(text) if sys.stdout.isatty() else text)


def _write_out(text: str) -> None:
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except OSError:
        discard_output()  # or Python tries again when it ends
        raise


def put_json(value: Any) -> None:
    """Write a result to standard output as JSON, and nothing else."""
    put(pretty_json(value))


def discard_output() -> None:
    """Discard standard output whose reader has gone (as in ``| head``)."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_NOTES = (
    NotCertifiedWarning,
    PreprocessingWarning,
    UsefulnessWarning,
    WeakKeyWarning,
)
"""Warnings that are printed as notes, each once."""


@contextlib.contextmanager
def plain_warnings() -> Iterator[None]:
    """Turn warnings into single lines; count those that every block repeats."""
    repeated: Counter[str] = Counter()
    shown: set[str] = set()

    def show(message: Any, category: Any, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if issubclass(category, _NOTES):
            if text not in shown:
                shown.add(text)
                say(f"note: {as_options(text)}")
        else:
            repeated[f"{category.__name__}: {text[:100]}"] += 1

    with warnings.catch_warnings(), _quiet_workers():
        warnings.simplefilter("always")
        warnings.showwarning = show
        try:
            yield
        finally:
            for text, count in repeated.most_common(3):
                say(f"note: {count} times {text}")


@contextlib.contextmanager
def _quiet_workers() -> Iterator[None]:
    """Worker processes repeat the same warnings on the same terminal, each in its own words."""
    if "PYTHONWARNINGS" in os.environ:
        yield
        return
    os.environ["PYTHONWARNINGS"] = "ignore"
    try:
        yield
    finally:
        del os.environ["PYTHONWARNINGS"]
