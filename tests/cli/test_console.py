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


def test_bugs_and_debugging_show_the_traceback(monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("replearn.cli.plan.plan", fail)
    error = TypeError("a bug")
    with pytest.raises(TypeError, match="a bug"):
        main(["plan", "--n", "5"])
    monkeypatch.setenv("REPLEARN_DEBUG", "1")
    error = ValueError("asked for")
    with pytest.raises(ValueError, match="asked for"):
        main(["plan", "--n", "5"])


def test_a_reader_that_has_gone_is_no_error(capsys, monkeypatch):
    def gone(_):
        raise BrokenPipeError

    silenced = []
    monkeypatch.setattr("replearn.cli.plan.put", gone)
    monkeypatch.setattr("replearn.cli.stay_silent", lambda: silenced.append(True))
    assert main(["plan", "--n", "5000"]) == 2
    assert silenced
    assert capsys.readouterr().err == ""


def test_every_command_is_a_module_with_a_run():
    for module_name, summary in replearn.cli.COMMANDS.values():
        module = __import__(module_name, fromlist=["run"])
        assert callable(module.run)
        assert callable(module.add_arguments)
        assert summary
