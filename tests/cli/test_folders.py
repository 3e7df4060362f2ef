"""The current folder holds data, perhaps of somebody else: nothing in it is run, unless asked."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

HOSTILE = (
    *sorted(sys.stdlib_module_names - {"sitecustomize", "usercustomize"}),
    *("cloudpickle", "joblib", "numpy", "pandas", "polars", "replearn", "scipy", "sklearn"),
    *("skops", "threadpoolctl"),
)
COMMAND = "import sys; from replearn.cli import main; sys.exit(main())"
COMMANDS = """
import json, sys
from replearn.cli import main

if __name__ == "__main__":
    for arguments in json.loads(sys.argv[1]):
        assert main(arguments) == 0, arguments
"""
"""Several commands in one process: to start one takes longer than they do."""
BASELINE = ("--contenders", "baseline")
RUN = "open({marker!r}, 'a').write(__name__ + '\\n')\n"

OWN_CLASS = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from replearn import PointwiseReplicableClassifier, audit

class Own(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.mean_ = float(np.mean(X[:, 0]))
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > self.mean_).astype(int)]

if __name__ == "__main__":
    X, y = make_classification(600, random_state=0)
    PointwiseReplicableClassifier(Own(), n_blocks=8, rho=0.5).fit(X, y)
    audit(Own(), X, y, n_pairs=4, n_jobs=2, contenders=["baseline"])
"""
"""A class of a script, whose workers get it by value."""


@pytest.fixture
def folder(tmp_path):
    """A folder with a table."""
    data = tmp_path / "data"
    data.mkdir()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    label = X[:, 0] + rng.normal(size=400) > 0
    rows = [",".join(map(str, [*row, int(y)])) for row, y in zip(X.tolist(), label, strict=True)]
    (data / "good.csv").write_text("\n".join(["a,b,c,label", *rows]) + "\n")
    return data


@pytest.fixture
def hostile(folder, tmp_path):
    """The folder, with a file for each module that Python or this library imports."""
    marker = tmp_path / "ran.txt"
    for name in HOSTILE:
        (folder / f"{name}.py").write_text(RUN.format(marker=str(marker)))
    return marker


def run(script, folder, *arguments):
    """Run a script that lies elsewhere, as an installed command does."""
    elsewhere = folder.parent / "bin"
    elsewhere.mkdir(exist_ok=True)
    (elsewhere / "script.py").write_text(script)
    command = [sys.executable, str(elsewhere / "script.py"), *arguments]
    drop = ("PYTHONSAFEPATH",)
    env = {name: value for name, value in os.environ.items() if name not in drop}
    result = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_commands_and_a_class_of_a_script_run_no_file_of_the_folder(folder, hostile):
    table = ("good.csv", "--target", "label")
    commands = [
        ("audit", *table, *BASELINE, "--pairs", "4", "--jobs", "2"),
        ("key", "new", "--out", "key.txt"),
        ("fit", *table, "--key-file", "key.txt", "--out", "m", "--jobs", "2"),
        ("predict", "m", "good.csv", "--key-file", "key.txt"),
    ]
    run(COMMANDS + OWN_CLASS, folder, json.dumps(commands))
    assert not hostile.exists(), hostile.read_text()


def test_the_files_would_run_if_python_looked_there(folder, hostile):
    """The twin: the current folder in front of the import path, as ``python -c`` has it."""
    subprocess.run([sys.executable, "-c", COMMAND], cwd=folder, capture_output=True, check=False)
    assert hostile.exists()


OWN_MODULE = """
import os
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from helper_of_own_model import threshold

class Own(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        with open("processes.txt", "a") as file:
            file.write(f"{os.getpid()}\\n")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > threshold()).astype(int)]
"""


@pytest.fixture
def own_module(folder):
    """A module of the user in the current folder, beside a file that must not replace json."""
    (folder / "own_model.py").write_text(OWN_MODULE)
    (folder / "helper_of_own_model.py").write_text("def threshold():\n    return 0.0\n")
    marker = folder / "ran.txt"
    (folder / "json.py").write_text(RUN.format(marker=str(marker)))
    return marker


def test_a_model_of_the_folder_is_run_when_asked_for_in_workers_too(folder, own_module):
    model = ("good.csv", "--target", "label", "--model", "own_model:Own", "--jobs", "2")
    commands = [
        ("audit", *model, *BASELINE, "--pairs", "4"),
        ("key", "new", "--out", "key.txt"),
        ("fit", *model, "--key-file", "key.txt", "--out", "m", "--rho", "0.5"),
    ]
    run(COMMANDS, folder, json.dumps(commands))
    of_the_audit = (folder / "processes.txt").read_text().split()[:8]  # four pairs
    assert len(set(of_the_audit)) > 1
    assert not own_module.exists()


SESSION = """
import numpy as np
from own_model import Own
from replearn import audit
X = np.random.default_rng(0).normal(size=(400, 3))
audit(Own(), X, X[:, 0] > 0, n_pairs=4, n_jobs=2, contenders=["baseline"])
"""


@pytest.mark.parametrize(
    "front",
    [
        pytest.param(True, id="python"),
        pytest.param(False, id="ipython", marks=pytest.mark.long),  # as for the command, above
    ],
)
def test_modules_beside_an_interactive_session_keep_working(folder, own_module, front):
    """Its import path has the current folder: in front, or behind the standard library."""
    (folder / "json.py").unlink()
    place = "" if front else "import sys; sys.path.append(sys.path.pop(0))"
    command = [sys.executable, "-c", place + SESSION]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
