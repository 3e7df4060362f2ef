"""The help of every command fits on a screen; ``--help-all`` shows the rest."""

import dataclasses
import importlib
import re

import pytest

from replearn.cli import COMMANDS

MAX_LINES = 40
WITH_ACTIONS = ("key", "probe", "lab")


def options_of(command):
    found = importlib.import_module(COMMANDS[command][0]).COMMAND
    return list(found.values()) if isinstance(found, dict) else [found]


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_on_a_screen_and_has_two_examples(command, call):
    code, out, _ = call(command, "--help")
    assert code == 0
    lines = out.splitlines()
    assert len(lines) <= MAX_LINES
    assert max(map(len, lines)) <= 80
    examples = lines[lines.index("examples:") :]
    assert sum(line.startswith(f"  replearn {command}") for line in examples) >= 1
    assert sum(line.startswith("  replearn ") for line in examples) == 2


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in WITH_ACTIONS])
def test_all_options_are_shown_on_request(command, call):
    [action] = options_of(command)
    short = call(command, "--help")[1]
    code, long, _ = call(command, "--help-all")
    assert code == 0
    fields = dataclasses.fields(action.options)
    flags = {f"--{field.name.replace('_', '-')}" for field in fields if "flag" in field.metadata}
    common = {f"--{name.replace('_', '-')}" for name in action.options.COMMON}
    assert common <= flags
    assert {flag for flag in flags if re.search(rf"{flag}[ ,\n]", long)} == flags
    hidden = {flag for flag in flags if f"  {flag} " not in short and f"  {flag}\n" not in short}
    assert hidden == flags - common


def test_one_flag_has_one_meaning():
    """A flag has the same explanation in all commands, except where it is about their input."""
    meanings = {}
    for command in COMMANDS:
        for action in options_of(command):
            for field in dataclasses.fields(action.options):
                if field.name in ("group_by", "subgroups", "resume", "max_memory", "threshold"):
                    meanings.setdefault(field.name, set()).add(field.metadata["help"])
    assert {name: len(texts) for name, texts in meanings.items()} == dict.fromkeys(meanings, 1)
    assert set(meanings) == {"group_by", "subgroups", "resume", "max_memory", "threshold"}


@pytest.mark.parametrize("command", COMMANDS)
def test_options_cannot_be_changed(command):
    for action in options_of(command):
        assert dataclasses.is_dataclass(action.options)
        assert action.options.__dataclass_params__.frozen
