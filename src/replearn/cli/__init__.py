"""The command ``replearn``: parse, call, print, exit code.

Each command is a module with ``add_arguments`` and ``run``, loaded when it is asked for. Results go
to standard output, everything else to standard error.

Exit codes: 0 done; 1 a gate failed (``--fail-above`` of audit and compare) or runs are not
comparable (``certify``); 2 wrong usage or bad input, with one line that says what to do; 130
interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from replearn._version import __version__
from replearn.exceptions import NotCertifiedWarning, PreprocessingWarning
from replearn.records.json import pretty_json

__all__ = ["DONE", "add_options", "main", "put", "put_json", "say"]

STARTED = time.monotonic()
"""When the command began, for time budgets."""

DONE = 0
GATE_FAILED = 1
BAD_INPUT = 2
UNKNOWN = 3
INTERRUPTED = 130
COMMANDS = {
    "audit": ("replearn.cli.audit", "measure how often retraining changes predictions"),
    "plan": ("replearn.cli.plan", "what n rows can guarantee, or how many rows are needed"),
    "key": ("replearn.cli.key", "generate a shared key, or show its fingerprint"),
    "fit": ("replearn.cli.fit", "fit a replicable classifier on a file"),
    "predict": ("replearn.cli.predict", "predict class labels for a file"),
    "certify": ("replearn.cli.certify", "verify certificates; are these runs comparable?"),
    "probe": ("replearn.cli.probe", "do two labs make the same points of the same raw rows?"),
    "compare": ("replearn.cli.compare", "what changes when a model replaces another; a gate on it"),
    "lab": ("replearn_lab.command", "run the paper's lower bounds and separations"),
    "demo": ("replearn.demo", "two labs, two samples of real data, one key"),
}
_EPILOG = "Exit codes: 0 done, 1 gate failed or not comparable, 2 usage or bad input."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments; None: those of the process.

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
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = make_parser(arguments)
    args = parser.parse_args(arguments)
    try:
        with plain_warnings():
            return int(args.run(args))
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        stay_silent()
        return BAD_INPUT
    except (ValueError, OSError, ImportError, MemoryError, RuntimeError) as error:
        if os.environ.get("REPLEARN_DEBUG"):
            raise
        say(f"error: {_in_one_line(error)}")
        return BAD_INPUT


def make_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser; of the commands, only the one that is asked for is loaded."""
    parser = argparse.ArgumentParser(
        prog="replearn",
        description="Replicable classifiers: retrain on a fresh sample, keep the predictions.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"replearn {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    asked = next((word for word in arguments if not word.startswith("-")), None)
    for name, (module_name, summary) in COMMANDS.items():
        command = commands.add_parser(
            name, help=summary, description=summary, epilog=_EPILOG, allow_abbrev=False
        )
        if name == asked:
            module = importlib.import_module(module_name)
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _in_one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def say(*texts: str, quiet: bool = False) -> None:
    """Write lines to standard error, unless quiet."""
    for text in () if quiet else texts:
        sys.stderr.write(f"replearn: {text}\n")
        sys.stderr.flush()


def put(text: str) -> None:
    """Write a result to standard output."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    sys.stdout.flush()


def put_json(value: Any) -> None:
    """Write a result to standard output as JSON, and nothing else."""
    put(pretty_json(value))


def add_options(parser: Any, kind: type | str, **options: str) -> None:
    """Add options of one kind, each with its help: a type, or the word for a text's meaning."""
    for name, text in options.items():
        flag = f"--{name.replace('_', '-')}"
        if kind is bool:
            parser.add_argument(flag, action="store_true", help=text)
        elif isinstance(kind, str):
            parser.add_argument(flag, metavar=kind, help=text)
        else:
            parser.add_argument(flag, type=kind, metavar="N" if kind is int else "X", help=text)


def stay_silent() -> None:
    """Discard standard output whose reader has gone (as in ``| head``)."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def plain_warnings() -> Iterator[None]:
    """Turn warnings into single lines; count those that every block repeats."""
    repeated: Counter[str] = Counter()
    told: set[str] = set()

    def show(message: Any, category: Any, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if issubclass(category, NotCertifiedWarning | PreprocessingWarning):
            if text not in told:
                told.add(text)
                say(f"note: {text}")
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
