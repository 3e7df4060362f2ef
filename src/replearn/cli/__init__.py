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
import ast
import contextlib
import dataclasses
import difflib
import importlib
import os
import re
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeVar

from replearn._version import __version__
from replearn.exceptions import (
    NotCertifiedWarning,
    PreprocessingWarning,
    RetrainingWarning,
    UsefulnessWarning,
    WeakKeyWarning,
)
from replearn.records.json import pretty_json
from replearn.records.text import visible

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
    "show": ("replearn.cli.show", "show what a model file holds, and its retrainings"),
    "compare": ("replearn.cli.compare", "what changes when a model is replaced, with gates"),
    "lab": ("replearn_lab.command", "run the paper's lower bounds and separations"),
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
    folder = None  # of a command that continues where it was interrupted
    try:
        with plain_warnings(), _workers_without_current_folder():
            parsed = make_parser(arguments).parse_args(arguments)
            options = build(parsed.action.options, parsed)
            check_outputs(options)
            folder = getattr(options, "resume", None)
            return int(parsed.action.run(options))
    except KeyboardInterrupt:
        say(f"interrupted{_how_to_continue(folder)}")
        return INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return BAD_INPUT
    except Exception as error:
        if os.environ.get("REPLEARN_DEBUG") or not isinstance(error, EXPECTED_ERRORS):
            sys.stderr.write(visible(traceback.format_exc()))
        say(f"error: {as_options(_in_one_line(error))}")
        return BAD_INPUT


def _how_to_continue(folder: str | None) -> str:
    return "" if folder is None else f"; the same command continues from {folder}"


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
    r"\bmemory=([\d.]*\d)": r"--memory \1",
    r"\bmemory=\"auto\"": "--memory auto",
    r"\bband=([\d.]*\d)": r"--band \1",
    r"; band=None is ([\d.]*\d) here": r"; without --band it is \1 here",
    r"\bn_blocks or max_fits\b": "--max-fits",
    r"\(smaller n_blocks\)": "(fewer of them: --max-fits)",
    r"\(n_blocks below (\d+)\)": r"(fewer than \1: --max-fits)",
    r"\bn_blocks=(\d+) \(instead of": r"\1 blocks (instead of",
    r"\bn_blocks=(\d+) with n=(\d+) or more": r"\1 blocks with \2 rows or more",
    r"\bn_blocks=(\d+)": r"\1 blocks",
    r" usefulness_ has the numbers\.": "",
    r"\bdecimals=(\d+)": r"--decimals \1 (replearn plan)",
    r"\bids=(?=\W)": "--id COLUMN",
    r"\bestimator=make_pipeline\(.*?\)\)": "--model module:object, a pipeline",
    r"\bclass_weight='balanced'": "a --model with class weights",
    r"\bSharedKey\.generate\(\) \(on the command line: replearn key new\)": "replearn key new",
    r", ignore WeakKeyWarning": ", ignore this",
    r"\brho=([\d.]*\d)( halves|\.$)": r"--rho \1\2",
    r"\bfor rho=([\d.]*\d)": r"for --rho \1",
    r"\bPointwiseReplicableClassifier is": "--learner certified is",
    r"\bScoreReplicableClassifier is": "--learner score is",
    r"\bn_jobs == 0 in Parallel has no meaning": "--jobs 0: must be at least 1",
    r"\bthreshold='?([\w=.]*\w)'?": r"--threshold \1",
    r"\bpos_label='([^']*)'": r"--pos-label \1",
    r"\brequires pos_label\b": "requires --pos-label",
    r"fit\(X, y, new_rows=\.\.\.\)": "fit(X, y, new_rows=...) in Python",
    r"\bScoreReplicableClassifier has": "--learner score has",
    r"\bIncumbentClassifier keeps": "--incumbent FILE keeps",
}
"""Parameters that messages of the library name, as options of the commands."""


def as_options(text: str) -> str:
    """Name options in a message of the library, where it names parameters.

    >>> as_options("rho=3.0 must lie in (0, 1]")
    '--rho 3.0 must lie in (0, 1]'
    """
    for parameter, as_option in _AS_OPTIONS.items():
        text = re.sub(parameter, as_option, text)
    return re.sub(_WRONG_VALUE, _option_of, text)


_WRONG_VALUE = (
    r"(?<![\w-])(n|rho|max_fits|max_flip|new_rows|n_pairs)=(\S+)(?= must )"
    r"|The '(memory|band|max_changes)' parameter of \w+"
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
    RetrainingWarning,
    UsefulnessWarning,
    WeakKeyWarning,
)
"""Warnings that are printed as notes, each once."""


@contextlib.contextmanager
def _workers_without_current_folder() -> Iterator[None]:
    """Let workers import no file of the folder in which a command is run.

    joblib starts them by ``python -c``, which looks there first; they take over the import path of
    this process only after their first imports.
    """
    name = "PYTHONSAFEPATH"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        os.environ.pop(name)
        os.environ.update({} if before is None else {name: before})


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


# -- options of commands: a dataclass each, from which parser and help follow ----------------------
# A field is made by `argument`, `option` or `flag`, with its explanation. ``--help`` shows the
# arguments and the options that ``COMMON`` names; ``--help-all`` shows the others as well.
EXIT_CODES = "Exit codes: 0 done, 1 gate failed or not comparable, 2 usage or bad input."
_WIDEST_FLAG = 26

Built = TypeVar("Built", bound="CommandOptions")


@dataclasses.dataclass(frozen=True, kw_only=True)
class CommandOptions:
    """Base of the options of all commands."""

    COMMON: ClassVar[tuple[str, ...]] = ()
    """Options that ``--help`` shows, in this order."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ()
    """Two commands as somebody would type them."""


class Action(NamedTuple):
    """A command, or a part of one (``key new``): its options, what runs it, and a summary."""

    options: type[CommandOptions]
    run: Callable[[Any], int]
    summary: str


# -- fields ----------------------------------------------------------------------------------------
def argument(text: str, **settings: Any) -> Any:
    """Return the field of an argument without a flag."""
    is_needed = settings.get("nargs") != "?"
    default = {} if is_needed else {"default": settings.pop("default", None)}
    return dataclasses.field(metadata={"help": text, **settings}, **default)


def option(text: str, metavar: Any = None, default: Any = None, **settings: Any) -> Any:
    """Return the field of an option with a value; settings are those of argparse."""
    if metavar is not None:
        settings["metavar"] = metavar
    settings["help"] = text
    if settings.get("required"):
        return dataclasses.field(metadata={"flag": True, **settings})
    return dataclasses.field(default=default, metadata={"flag": True, **settings})


def repeated(text: str, metavar: str, **settings: Any) -> Any:
    """Return the field of an option that may be given several times; its value is a tuple."""
    text = f"{text} (may be repeated)"
    return option(text, metavar, default=(), action="append", **settings)


def number(text: str, kind: type = int, default: Any = None) -> Any:
    """Return the field of an option that is a number."""
    return option(text, "N" if kind is int else "X", default, type=kind)


def flag(text: str) -> Any:
    """Return the field of an option without a value."""
    return option(text, default=False, action="store_true")


def memory(text: str) -> int:
    """Read an amount of memory, such as 3GiB."""
    from replearn.tables.memory import parse_memory

    try:
        return parse_memory(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def names(text: str) -> tuple[str, ...]:
    """Read names, separated by commas.

    >>> names("sex, age")
    ('sex', 'age')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


def allowed(text: str) -> tuple[str, float]:
    """Read what a gate judges, and the largest number that passes; a number alone is for flips.

    >>> allowed("becomes wrong=1%"), allowed("0.02")
    (('becomes wrong', 0.01), ('flips', 0.02))
    """
    name, _, number = text.rpartition("=")
    stripped = number.strip()
    try:
        value = float(stripped[:-1]) / 100 if stripped.endswith("%") else float(stripped)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be NAME=LIMIT: flips=0.02.") from None
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"{text!r}: the limit must be at least 0.")
    return name.strip() or "flips", value


def check_limits(limits: Sequence[tuple[str, float]]) -> None:
    """Refuse limits of gates that cannot be, before anything is read."""
    if limits:
        from replearn.auditing.gate import check_limit

        for name, limit in limits:
            check_limit(name, limit)


def settings(text: str) -> tuple[str, tuple[Any, ...]]:
    """Read a parameter and the values that it takes in a grid.

    >>> settings("max_depth=2,4,None"), settings("criterion=gini,log_loss")
    (('max_depth', (2, 4, None)), ('criterion', ('gini', 'log_loss')))
    """
    name, sign, values = text.partition("=")
    if not sign or not name.strip() or not names(values):
        raise argparse.ArgumentTypeError(f"{text!r} must be a parameter and values: max_depth=2,4.")
    return name.strip(), tuple(map(_value, names(values)))


def _value(text: str) -> Any:
    """Read a number, True, False or None; anything else is a text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


# -- parsers ---------------------------------------------------------------------------------------
class Parser(argparse.ArgumentParser):
    """Messages show what control characters an argument has, and name similar options."""

    _arguments: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; an unknown option ends the command that it was given to."""
        self._arguments = args or ()
        parsed, unknown = super().parse_known_args(args, namespace)
        flag = next((word.partition("=")[0] for word in unknown if word.startswith("--")), None)
        if flag is not None:
            self.error(f"unrecognized arguments: {' '.join(unknown)}\n{self._similar(flag)}")
        return parsed, unknown

    def _similar(self, flag: str) -> str:
        """Name options that share a word with an unknown one, or are spelled like it."""
        known = [name[2:] for name in self._option_string_actions if name.startswith("--")]
        words = set(flag[2:].split("-"))
        similar = [name for name in known if words.intersection(name.split("-"))]
        similar = similar or difflib.get_close_matches(flag[2:], known, n=1, cutoff=0.5)
        hint = f"Did you mean --{' or --'.join(similar[:2])}? " if similar else ""
        return f"{hint}{self.prog} --help-all lists all options."

    def error(self, message: str) -> NoReturn:
        """End the command; if an option is missing, an unknown one may be meant for it."""
        if message.startswith("the following arguments are required"):
            flags = [word.partition("=")[0] for word in self._arguments if word.startswith("--")]
            unknown = [flag for flag in flags if flag not in self._option_string_actions]
            hints = [f"unrecognized: {flag}\n{self._similar(flag)}" for flag in unknown[:1]]
            message = "\n".join([message, *hints])
        super().error(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End the command."""
        super().exit(status, None if message is None else visible(message))


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=_WIDEST_FLAG)


def add_command(commands: Any, name: str, summary: str, **settings: Any) -> argparse.ArgumentParser:
    """Add a command to a parser of commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary,
        formatter_class=_Formatter,
        allow_abbrev=False,
        add_help=False,
        **settings,
    )
    return parser


def fill(
    parser: argparse.ArgumentParser, action: Action | dict[str, Action], arguments: Sequence[str]
) -> None:
    """Add the options of a command, or its actions with theirs."""
    if isinstance(action, dict):
        parser.add_argument("-h", "--help", action="help", help="show this help")
        examples = [example for part in action.values() for example in part.options.EXAMPLES]
        parser.epilog = _epilog(examples)
        actions = parser.add_subparsers(metavar="ACTION", required=True)
        for name, part in action.items():
            fill(add_command(actions, name, part.summary), part, arguments)
        return
    show_all = "--help-all" in arguments
    by_name = {field.name: field for field in dataclasses.fields(action.options)}
    positional = [field for field in by_name.values() if "flag" not in field.metadata]
    common = [by_name[name] for name in action.options.COMMON]
    rare = [field for field in by_name.values() if field not in positional + common]
    for field in positional:
        _add(parser, field)
    shown = parser.add_argument_group("common options" if rare else "options")
    others = parser.add_argument_group("other options")
    for field in common:
        _add(shown, field)
    for field in rare:
        _add(others, field, hidden=not show_all)
    shown.add_argument("-h", "--help", action="help", help="show this help")
    all_options = "show all options" if rare else argparse.SUPPRESS
    shown.add_argument("--help-all", action="help", help=all_options)
    parser.usage = _usage(parser.prog, by_name.values())
    parser.epilog = _epilog(action.options.EXAMPLES)
    parser.set_defaults(action=action)


def build(options: type[Built], parsed: argparse.Namespace) -> Built:
    """Return the options of a command as they were typed."""
    values = {field.name: getattr(parsed, field.name) for field in dataclasses.fields(options)}
    fixed = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
    return options(**fixed)


def check_outputs(options: CommandOptions) -> None:
    """Refuse files that cannot be written, or are read, before anything is done."""
    fields = dataclasses.fields(options)
    read = [field.name for field in fields if not field.metadata.get("flag")]
    for field in fields:
        path = getattr(options, field.name)
        if field.name == "resume" and path is not None and os.path.isfile(path):
            raise ValueError(f"--resume {path} is a file; name a folder.")
        if field.name in _OUTPUTS and field.metadata["metavar"] == "FILE" and path is not None:
            others = [getattr(options, name, None) for name in (*read, "key_file", "plan")]
            _check_output(f"--{field.name.replace('_', '-')} {path}", path, others)


def _check_output(named: str, path: str, others: list[Any]) -> None:
    """Refuse a folder, a file in a missing folder, and a file that is read."""
    if os.path.isdir(path):
        raise ValueError(f"{named} is a folder; name a file.")
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise ValueError(f"{named}: the folder does not exist.")
    for other in others:
        both = isinstance(other, str) and os.path.isfile(other) and os.path.isfile(path)
        if both and os.path.samefile(path, other):
            raise ValueError(f"{named} is a file that this command reads; name another one.")


_OUTPUTS = ("out", "certificate", "save_columns", "save", "summary", "picture", "report")


def _add(group: Any, field: Any, *, hidden: bool = False) -> None:
    settings = dict(field.metadata)
    if hidden:
        settings["help"] = argparse.SUPPRESS
    is_flag = settings.pop("flag", False)
    if field.default is not dataclasses.MISSING:
        is_list = settings.get("action") == "append"
        settings["default"] = list(field.default) if is_list else field.default
    flag_name = f"--{field.name.replace('_', '-')}" if is_flag else field.name
    group.add_argument(flag_name, **settings)


def _usage(prog: str, fields: Any) -> str:
    words = [prog]
    needed = []
    for field in fields:
        settings = field.metadata
        if "flag" not in settings:
            name = settings.get("metavar") or field.name.upper()
            nargs = settings.get("nargs")
            words.append({"?": f"[{name}]", "+": f"{name} [{name} ...]"}.get(nargs, name))
        elif settings.get("required"):
            needed.append(f"--{field.name.replace('_', '-')} {settings['metavar']}")
    return " ".join([*words, *needed, "[options]"])


def _epilog(examples: Sequence[str]) -> str:
    lines = "\n".join(f"  {example}" for example in examples)
    return f"examples:\n{lines}\n\n{EXIT_CODES}"
