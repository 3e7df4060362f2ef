"""Streams, warnings, interruptions, and the parser's laziness."""

import os
import warnings

import pytest

import replearn.cli
from replearn.cli import main, plain_warnings
from replearn.exceptions import NotCertifiedWarning


def test_warnings_become_single_lines(capsys):
    with plain_warnings():
        assert os.environ["PYTHONWARNINGS"] == "ignore"
        for _ in range(3):
            warnings.warn("too\nfew rows", NotCertifiedWarning, stacklevel=1)
            warnings.warn("no convergence", RuntimeWarning, stacklevel=1)
    err = capsys.readouterr().err
    assert err.count("note: too few rows") == 1
    assert "note: 3 times RuntimeWarning: no convergence" in err
    assert "PYTHONWARNINGS" not in os.environ


def test_the_persons_own_choice_of_warnings_stands(monkeypatch):
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    with plain_warnings():
        assert os.environ["PYTHONWARNINGS"] == "error"


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (ValueError("rho=2\n is wrong"), 2, "error: rho=2 is wrong"),
        (OSError(28, "No space left on device", "m.replearn"), 2, "m.replearn: No space left"),
        (MemoryError(), 2, "error: MemoryError"),
        (ImportError("needs polars"), 2, "needs polars"),
    ],
)
def test_errors_are_one_line(capsys, monkeypatch, error, code, text):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("replearn.cli.plan.plan", fail)
    assert main(["plan", "--n", "5"]) == code
    err = capsys.readouterr().err
    assert text in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("error", [TypeError("a bug"), ValueError("asked for")])
def test_bugs_and_debugging_show_the_traceback(capsys, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("replearn.cli.plan.plan", fail)
    if isinstance(error, ValueError):
        monkeypatch.setenv("REPLEARN_DEBUG", "1")
    assert main(["plan", "--n", "5"]) == 2  # 1 is for a gate that failed
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert err.endswith(f"replearn: error: {error}\n")


def test_errors_before_a_command_runs_are_one_line(capsys, monkeypatch):
    monkeypatch.setitem(replearn.cli.COMMANDS, "plan", ("replearn.cli.no_such_module", ""))
    assert main(["plan", "--n", "5"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_reader_that_has_gone_is_no_error(capsys, monkeypatch):
    class Gone:
        def write(self, _):
            raise BrokenPipeError

    discarded = []
    monkeypatch.setattr("replearn.cli.discard_output", lambda: discarded.append(True))
    monkeypatch.setattr("sys.stdout", Gone())
    assert main(["plan", "--n", "5000"]) == 2
    assert discarded
    assert capsys.readouterr().err == ""


def test_every_command_is_a_module_with_a_run():
    for module_name, summary in replearn.cli.COMMANDS.values():
        command = __import__(module_name, fromlist=["COMMAND"]).COMMAND
        for action in command.values() if isinstance(command, dict) else [command]:
            assert callable(action.run)
            assert action.options.EXAMPLES
            assert action.summary
        assert summary
