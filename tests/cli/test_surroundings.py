"""Closed streams, full disks, little memory, early interrupts, and control characters in data."""

import csv
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from replearn.auditing.audits import audit
from replearn.auditing.comparison import compare
from replearn.records.text import aligned, html_table, two_columns, visible

PLAN = [sys.executable, "-m", "replearn", "plan", "--n", "5000"]
EVIL = "\x1b]0;owned\x07\x9b2J\r\u202egnp.exe\u2066\u200f."
HIDDEN = set("\x1b\x07\x9b\u202e\u2066\u200f\r\x7f")


def test_control_characters_are_written_as_escapes():
    assert visible("a\tb\n\x1b[1m\u202e\x7f") == "a\tb\n\\u001b[1m\\u202e\\u007f"
    assert visible("na\u00efve \u0634\u0645\u0633 \U0001f469\u200d\U0001f52c") == (
        "na\u00efve \u0634\u0645\u0633 \U0001f469\u200d\U0001f52c"
    )
    text = json.dumps({EVIL: ["\\\u202e"]}, ensure_ascii=False)
    assert json.loads(visible(text)) == {EVIL: ["\\\u202e"]}


@pytest.mark.parametrize(
    "write",
    [
        lambda rows: aligned(rows),
        lambda rows: two_columns(rows),
        lambda rows: html_table(EVIL, rows),
    ],
)
def test_tables_show_control_characters(write):
    text = write([(EVIL, "b"), ("c", EVIL)])
    assert not HIDDEN & set(text)
    assert "\\u001b]0;owned" in text


@pytest.fixture
def evil_file(tmp_path):
    """A column, a class and a group of a file try to steer the terminal."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    label = np.where(x[:, 0] + rng.normal(size=300) > 0, EVIL, "no")
    path = tmp_path / "data.csv"
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["a", f"b{EVIL}", "y"])
        writer.writerows((f"{a:.3f}", f"{b:.3f}", c) for (a, b), c in zip(x, label, strict=True))
    return path


@pytest.mark.parametrize("form", ["--json", "--quiet"])
def test_what_the_command_prints_steers_no_terminal(evil_file, call, form):
    more = ("--quick", "--pairs", 2, "--jobs", 1, form, "--details", "--subgroups", f"b{EVIL}")
    code, out, err = call("audit", evil_file, "--target", "y", *more)
    assert code == 0, err
    assert not HIDDEN & set(out + err)
    assert "owned" in out
    code, out, err = call("audit", evil_file, "--target", EVIL)
    assert code == 2
    assert not HIDDEN & set(out + err)
    code, _, err = call("plan", "--n", 5000, f"--{EVIL}")
    assert code == 2
    assert not HIDDEN & set(err)


def test_reports_show_control_characters(evil_file):
    pd = pytest.importorskip("pandas")
    from sklearn.naive_bayes import GaussianNB

    frame = pd.read_csv(evil_file)
    rows = frame.iloc[:, :2]
    result = audit({EVIL: GaussianNB(), "other": GaussianNB()}, rows, frame["y"], n_pairs=2)
    for text in (result.to_html(), result.to_markdown(), str(result), result._repr_html_()):
        assert not HIDDEN & set(text)
        assert "owned" in text
    labels = np.where(np.arange(40) % 2, EVIL, "no")
    changed = compare(labels, labels[::-1], np.zeros((40, 1)), subgroups={EVIL: labels})
    changed = changed.with_settings(about={"old": EVIL})
    for text in (changed.to_markdown(), changed.to_html(), str(changed)):
        assert not HIDDEN & set(text)


def test_data_are_changed_on_a_terminal_only(monkeypatch, capsys):
    from replearn.cli import put_data

    put_data(f"id\n{EVIL}\n")
    assert capsys.readouterr().out == f"id\n{EVIL}\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    put_data(f"id\n{EVIL}\n")
    assert not HIDDEN & set(capsys.readouterr().out)


def run(command, **options):
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.parametrize("command", [PLAN, [*PLAN, "--json"], [*PLAN[:3], "--help"]])
def test_closed_output_is_no_failed_gate(command):
    done = run(command, preexec_fn=lambda: os.close(1))
    assert done.returncode == 2
    assert done.stderr == (
        "replearn: error: standard output is closed: there is nowhere to write the result.\n"
    )


def test_both_streams_closed():
    done = subprocess.run(PLAN, preexec_fn=lambda: os.closerange(1, 3))
    assert done.returncode == 2


def test_a_reader_that_has_gone():
    read, write = os.pipe()
    os.close(read)
    done = run(PLAN, stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (2, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_output_to_a_full_disk():
    with open("/dev/full", "w") as full:
        done = run(PLAN, stdout=full)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr


INTERRUPT = """
import os, signal, sys


class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPT_AT"]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)


sys.meta_path.insert(0, Interrupt())
"""


@pytest.mark.parametrize(
    "module", ["argparse", "replearn.cli", "replearn.records.json", "replearn.cli.plan", "numpy"]
)
def test_an_early_interrupt_shows_no_traceback(tmp_path, module):
    """Ctrl-C arrives exactly when a module is imported, before or after the command begins."""
    (tmp_path / "sitecustomize.py").write_text(INTERRUPT)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "INTERRUPT_AT": module}
    done = run(PLAN, env=environment, stdout=subprocess.PIPE, cwd=tmp_path)
    assert done.returncode in (130, -signal.SIGINT)
    assert done.stderr in ("", "replearn: interrupted\n")
    assert done.stdout == ""
