"""The true command in its own process: every command, every bad input, and a kill in the middle.

A process costs seconds, so that each is used for several checks.
"""

import csv
import io
import json
import signal
import subprocess
import sys
import time

import pytest

from replearn.persistence.model_file import describe


def replearn(*arguments, cwd):
    done = subprocess.run(
        [sys.executable, "-m", "replearn", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def home(shop, tmp_path_factory):
    """What one lab has after a day of work, each command in a process of its own."""
    folder = tmp_path_factory.mktemp("home")
    key = ("--key-file", "key.txt", "--quiet")
    commands = {
        "key": ("new", "--out", "key.txt"),
        "plan": ("--n", 700, "--rho", 0.1, "--max-fits", 20, "--save", "plan.json"),
        "fit": (
            *(shop / "a.csv", "--target", "churn", "--plan", "plan.json"),
            *("--key-file", "key.txt", "--model", "tree", "--out", "a.replearn"),
        ),
        "predict": ("a.replearn", shop / "new.csv", *key, "--explain", "--max-flip", 0.1),
    }
    done = {
        name: replearn(name, *arguments, "--json", cwd=folder)
        for name, arguments in commands.items()
    }
    return folder, done


@pytest.mark.parametrize("command", ["key", "plan", "fit", "predict"])
def test_exit_code_and_nothing_but_json_on_standard_output(home, command):
    done = home[1][command]
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), dict)


@pytest.mark.long
def test_a_gate_that_fails_in_a_process(shop, tmp_path):
    """In this process: tests/cli/test_audit.py."""
    lines = (shop / "a.csv").read_text().splitlines()
    (tmp_path / "few.csv").write_text("\n".join(lines[:200]))
    base = ("few.csv", "--target", "churn", "--pairs", 2, "--drop", "comment", "--jobs", 1)
    model = ("--model", "sklearn.naive_bayes:GaussianNB", "--fail-above", 0)
    done = replearn("audit", *base, *model, "--out", "report.html", "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert isinstance(json.loads(done.stdout), dict)
    assert "gate FAILED" in done.stderr
    report = (tmp_path / "report.html").read_text()
    assert report.lstrip().lower().startswith("<!doctype html")


def test_what_the_commands_say_and_write(home):
    folder, done = home
    found = {name: json.loads(one.stdout) for name, one in done.items()}
    assert found["key"]["fingerprint"] == found["fit"]["key_fingerprint"]
    assert json.loads((folder / "plan.json").read_text()) == found["plan"]
    assert found["fit"]["certified"]
    assert "'customer_id' looks like an id of the row and is not learned from" in done["fit"].stderr
    assert "customer_id" not in found["fit"]["columns"]
    assert found["predict"]["rows"] == 60
    assert "threshold" in found["predict"]["predictions"][0]["why"]
    assert describe(folder / "a.replearn").key_fingerprint == found["key"]["fingerprint"]


def test_fit_there_predict_here(home, call, shop):
    folder, done = home
    base = ("--key-file", folder / "key.txt", "--explain", "--max-flip", 0.1, "--json")
    _, here, _ = call("predict", folder / "a.replearn", shop / "new.csv", *base)
    assert json.loads(here)["predictions"] == json.loads(done["predict"].stdout)["predictions"]


@pytest.mark.long
def test_two_models_and_two_certificates_in_a_process(home, shop):
    """In this process: tests/cli/test_commands.py."""
    folder, _ = home
    done = replearn("certify", "a.replearn", shop / "a.json", "--json", cwd=folder)
    assert done.returncode == 1, done.stderr  # lab B of the fixture used another key
    assert not json.loads(done.stdout)["comparable"]
    ask = (shop / "new.csv", "--key-file", "key.txt", "--quiet", "--json")
    done = replearn("compare", "a.replearn", "a.replearn", *ask, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n_changed"] == 0


@pytest.mark.statistical
def test_a_model_fitted_here_answers_the_same_there(call, shop, tmp_path):
    base = ("predict", shop / "a.replearn", shop / "new.csv", "--key-file", shop / "key.txt")
    there = replearn(*base, "--explain", cwd=tmp_path)
    assert there.returncode == 0, there.stderr
    assert there.stdout == call(*base, "--explain")[1]
    assert len(list(csv.DictReader(io.StringIO(there.stdout)))) == 60


def test_a_bad_file(tmp_path):
    """One is enough here: tests/cli/test_bad_input.py has all of them, without a process each."""
    (tmp_path / "data.csv").write_bytes(b"x,Churn\n1,no\n")
    done = replearn("audit", "data.csv", "--target", "churn", "--json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("replearn: error: ")
    assert "no column 'churn'. Did you mean 'Churn'?" in done.stderr
    assert done.stderr.count("\n") == 1


SLOW = """
import time
from sklearn.naive_bayes import GaussianNB

quick = GaussianNB.fit

def fit(self, X, y, sample_weight=None):
    time.sleep(0.15)
    quick(self, X, y, sample_weight)
    with open("fits.log", "a") as log:
        log.write("fitted\\n")
    return self

GaussianNB.fit = fit
model = GaussianNB()
"""


@pytest.mark.long
def test_a_fit_that_was_killed_continues_with_the_same_bits(shop, call, tmp_path, monkeypatch):
    (tmp_path / "slow.py").write_text(SLOW)
    base = ("fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt", "--quiet")
    more = ("--plan", shop / "plan.json", "--drop", "comment")
    there = ("--model", "slow:model", "--resume", "kept", "--out", "m", "--certificate", "c.json")
    command = [sys.executable, "-m", "replearn", *map(str, (*base, *more, *there))]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    kept = tmp_path / "kept"
    while process.poll() is None and len(list(kept.glob("*/block-*"))) < 3:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, process.communicate()
    process.stderr.close()
    assert not (tmp_path / "m").exists()
    saved, before = len(list(kept.glob("*/block-*"))), _fits(tmp_path)
    assert saved >= before - 1  # at most the block in hand is lost
    done = replearn(*base, *more, *there, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    total = describe(tmp_path / "m").certificate.design.n_blocks
    assert _fits(tmp_path) - before == len(list(kept.glob("*/block-*"))) - saved
    assert _fits(tmp_path) - before < total
    whole = ("--model", "sklearn.naive_bayes:GaussianNB", "--out", tmp_path / "w")
    assert call(*base, *more, *whole, "--certificate", tmp_path / "w.json")[0] == 0
    one, two = (json.loads((tmp_path / name).read_text()) for name in ("c.json", "w.json"))
    for certificate in (one, two):  # the learners have the same bits, but not the same code
        del certificate["identity"]["learner_digest"], certificate["identity"]["versions"]
        del certificate["digest"]
    assert one == two
    ask = (shop / "new.csv", "--key-file", shop / "key.txt", "--explain")
    assert call("predict", tmp_path / "m", *ask)[1] == call("predict", tmp_path / "w", *ask)[1]
    # and a folder belongs to one fit
    other = ("--resume", kept, "--out", tmp_path / "x", "--model", "tree")
    code, _, err = call(*base, *more, *other)
    assert code == 2
    assert "holds another fit: not the same estimator." in err
    code, _, err = call(*base[:1], shop / "b.csv", *base[2:], *more, *other)
    assert code == 2
    assert "holds another fit: not the same data, blocks, estimator." in err


def _fits(folder):
    return len((folder / "fits.log").read_text().splitlines())


@pytest.mark.statistical
def test_every_command_as_text(shop, home, tmp_path):
    folder, _ = home
    key = ("--key-file", "key.txt")
    made = {
        "plan": ("--n", "700", "--rho", "0.1"),
        "key": ("show", "key.txt"),
        "fit": (shop / "a.csv", "--target", "churn", "--plan", "plan.json", *key, "--out", "b"),
        "predict": ("a.replearn", shop / "new.csv", *key, "--max-flip", "0.1"),
        "certify": ("a.replearn",),
        "compare": ("a.replearn", "a.replearn", shop / "new.csv", *key),
        "audit": (shop / "a.csv", "--target", "churn", "--pairs", "2"),
    }
    for command, arguments in made.items():
        plain = replearn(command, *arguments, cwd=folder)
        assert (command, plain.returncode) == (command, 0), plain.stderr
        assert plain.stdout


@pytest.mark.statistical
def test_a_reader_that_leaves_early(tmp_path):
    command = f"{sys.executable} -m replearn plan --n 5000 --json | head -c 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
