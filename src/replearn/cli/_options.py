"""Options of commands: one dataclass for each command, from which its parser and its help follow.

A field is made by `argument`, `option` or `flag`, with its explanation. ``--help`` shows the
arguments and the options that ``COMMON`` names; ``--help-all`` shows the others as well.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import difflib
import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeVar

from replearn.records import visible

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


def yes_or_no(text: str) -> Any:
    """Return the field of a flag that has an opposite, ``--no-...``; None if neither is given."""
    return option(text, action=argparse.BooleanOptionalAction)


def number(text: str, kind: type = int, default: Any = None) -> Any:
    """Return the field of an option that is a number."""
    return option(text, "N" if kind is int else "X", default, type=kind)


def flag(text: str) -> Any:
    """Return the field of an option without a value."""
    return option(text, default=False, action="store_true")


def memory(text: str) -> int:
    """Read an amount of memory, such as 3GiB."""
    from replearn.tables import parse_memory

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


def share(text: str) -> float:
    """Read a share, as a number or in percent.

    >>> share("10%"), share("0.25")
    (0.1, 0.25)
    """
    stripped = text.strip()
    try:
        return float(stripped[:-1]) / 100 if stripped.endswith("%") else float(stripped)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a share: write it as 10% or 0.1."
        ) from None


def shares(text: str) -> tuple[float, ...]:
    """Read shares, separated by commas.

    >>> shares("1%, 0.1, 100%")
    (0.01, 0.1, 1.0)
    """
    return tuple(share(part) for part in names(text))


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

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; an unknown option ends the command that it was given to."""
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
    """Refuse to write over a file that is read: a table, a model, a key, a plan."""
    fields = dataclasses.fields(options)
    read = [field.name for field in fields if not field.metadata.get("flag")]
    for output in _OUTPUTS:
        written = getattr(options, output, None)
        if written is None or not os.path.isfile(written):
            continue
        for name in (*read, "key_file", "plan"):
            path = getattr(options, name, None)
            if isinstance(path, str) and os.path.isfile(path) and os.path.samefile(written, path):
                raise ValueError(
                    f"--{output.replace('_', '-')} {written} is a file that this command reads; "
                    "name another one."
                )


_OUTPUTS = ("out", "certificate", "save_columns", "save")


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
