"""Commands start at once: what learns, draws or reads tables is loaded when it is used."""

import json
import subprocess
import sys

import pytest

PROCESS = """
import contextlib, io, json, sys
import replearn

def loaded(start):
    return sorted(name for name in sys.modules if name.startswith(start))

found = {"replearn": loaded("replearn.")}
from replearn.cli import main
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main(words)
    heavy = ("sklearn", "pandas", "polars", "matplotlib", "skops", "joblib", "scipy.stats")
    found[" ".join(words)] = [name for name in heavy if name in sys.modules]
replearn.PointwiseReplicableClassifier
found["an estimator"] = loaded("replearn.learners.se")
import replearn.auditing.audits
found["auditing"] = [name for name in ("matplotlib", "jinja2") if name in sys.modules]
found["before the lab"] = loaded("replearn_lab")
with contextlib.redirect_stdout(io.StringIO()):
    assert main(["lab", "list"]) == 0
found["the lab"] = loaded("replearn_lab")
print(json.dumps(found))
"""

COMMANDS = [
    ["--version"],
    ["--help"],
    ["key", "new", "--json"],
    ["fit", "--help"],
    ["predict", "--help"],
    ["certify", "--help"],
    ["probe", "--help"],
    ["compare", "--help"],
    ["audit", "--help"],
    ["plan", "--n", "2000"],
]
"""In the order of what they load: one process runs them all."""


@pytest.fixture(scope="module")
def loaded():
    command = [sys.executable, "-c", PROCESS, json.dumps(COMMANDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_nothing_heavy_is_loaded_to_start(loaded, words):
    assert loaded[" ".join(words)] == []


def test_importing_replearn_loads_no_package(loaded):
    assert loaded["replearn"] == []


def test_the_help_of_audit_names_all_contenders():
    from replearn.auditing.contenders import KINDS
    from replearn.cli.audit import CONTENDERS

    assert tuple(KINDS) == CONTENDERS


def test_a_learner_does_not_wait_for_the_others(loaded):
    assert loaded["an estimator"] == []


def test_auditing_brings_neither_matplotlib_nor_jinja(loaded):
    assert loaded["auditing"] == []


def test_other_commands_do_not_load_the_lab(loaded):
    assert loaded["before the lab"] == []
    assert "replearn_lab.command" in loaded["the lab"]


def test_unknown_names_are_attribute_errors():
    import replearn

    with pytest.raises(AttributeError, match=r"attribute '?ausit"):
        _ = replearn.ausit
    assert set(replearn.__all__) <= set(dir(replearn))
