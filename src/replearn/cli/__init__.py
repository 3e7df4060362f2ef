"""The command ``replearn``: parse, call, print, exit code.

Each command is a module with ``add_arguments`` and ``run``, loaded when it is asked for.

Exit codes: 0 done; 1 a gate failed (``audit --fail-above``) or runs are not comparable
(``certify``); 2 wrong usage or bad input, with one line that says what to do; 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from replearn._version import __version__
from replearn.cli._console import BAD_INPUT, INTERRUPTED, plain_warnings, say, stay_silent

COMMANDS = {
    "audit": ("replearn.cli.audit", "measure how often retraining changes predictions"),
    "plan": ("replearn.cli.plan", "what n rows can guarantee, or how many rows are needed"),
    "key": ("replearn.cli.key", "generate a shared key, or show its fingerprint"),
    "fit": ("replearn.cli.fit", "fit a replicable classifier on a file"),
    "predict": ("replearn.cli.predict", "predict class labels for a file"),
    "certify": ("replearn.cli.certify", "verify certificates; are these runs comparable?"),
    "compare": ("replearn.cli.compare", "compare the predictions of two models"),
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
    except (ValueError, OSError, ImportError, MemoryError) as error:
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
