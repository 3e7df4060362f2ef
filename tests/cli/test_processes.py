"""The true command in its own process: exit codes, streams, and two machines that agree."""

import json
import subprocess
import sys

import pytest


def replearn(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "replearn", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
    )


def test_fit_there_predict_here(shop, call, tmp_path):
    fitted = replearn(
        *("fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt"),
        *("--plan", shop / "plan.json", "--model", "tree", "--out", "again.replearn", "--json"),
        cwd=tmp_path,
    )
    assert fitted.returncode == 0, fitted.stderr
    assert json.loads(fitted.stdout)["certified"]
    assert "customer_id" in fitted.stderr
    key = ("--key-file", shop / "key.txt")
    here = call("predict", shop / "a.replearn", shop / "new.csv", *key, "--explain")[1]
    there = call("predict", tmp_path / "again.replearn", shop / "new.csv", *key, "--explain")[1]
    assert here == there
    # and the model that was fitted here answers the same in a fresh process
    fresh = replearn(
        "predict", shop / "a.replearn", shop / "new.csv", *key, "--explain", cwd=tmp_path
    )
    assert fresh.returncode == 0, fresh.stderr
    assert fresh.stdout == here


def test_a_user_error_in_a_process(shop, tmp_path):
    done = replearn("audit", "nothing.csv", "--target", "churn", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "replearn: error: nothing.csv does not exist, or is not a file.\n"
    assert done.stdout == ""


@pytest.mark.statistical
def test_every_command_in_a_process(shop, tmp_path):
    key = ("--key-file", "key.txt")
    made = {
        "plan": ("--n", "700", "--rho", "0.1", "--max-fits", "20", "--save", "plan.json"),
        "key": ("new", "--out", "key.txt"),
        "fit": (shop / "a.csv", "--target", "churn", "--plan", "plan.json", *key, "--out", "a"),
        "predict": ("a", shop / "new.csv", *key, "--max-flip", "0.1"),
        "certify": ("a", "a"),
        "compare": ("a", "a", shop / "new.csv", *key),
        "audit": (shop / "a.csv", "--target", "churn", "--pairs", "2", "--out", "report.html"),
    }
    for command, arguments in made.items():
        plain = replearn(command, *arguments, cwd=tmp_path)
        assert (command, plain.returncode) == (command, 0), plain.stderr
        if command != "key":
            as_json = replearn(command, *arguments, "--json", cwd=tmp_path)
            assert json.loads(as_json.stdout), as_json.stderr
    assert (tmp_path / "report.html").exists()
    gate = replearn("audit", *made["audit"], "--fail-above", "0", cwd=tmp_path)
    assert gate.returncode == 1
    other = replearn("certify", "a", shop / "a.json", cwd=tmp_path)
    assert (other.returncode, other.stderr) == (1, "")
    assert "not comparable" in other.stdout


@pytest.mark.statistical
def test_a_reader_that_leaves_early(shop, tmp_path):
    command = f"{sys.executable} -m replearn plan --n 5000 --json | head -c 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
