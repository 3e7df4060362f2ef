"""Private code of other packages has one door, and may be missing behind it."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.ensemble._forest import BaseForest
from sklearn.ensemble._gb import BaseGradientBoosting
from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
from sklearn.utils import all_estimators

import replearn
from replearn.compat import shared_base
from replearn.persistence import _validators

SOURCE = Path(replearn.__file__).parent

PROCESS = """
import contextlib, json, pathlib, sys, tempfile, warnings
import sklearn.base, sklearn.ensemble, sklearn.linear_model, sklearn.model_selection
import sklearn.multiclass, sklearn.naive_bayes, sklearn.pipeline, sklearn.preprocessing
import sklearn.tree, sklearn.compose, sklearn.dummy, sklearn.impute, sklearn.decomposition
import sklearn.datasets, sklearn.feature_extraction, sklearn.metrics, skops.io
from unittest import mock

X, y = sklearn.datasets.make_classification(600, random_state=0)
tree = sklearn.tree.DecisionTreeClassifier(max_depth=3)
modules = (
    "joblib._parallel_backends",
    "sklearn._loss.loss",
    "sklearn.ensemble._forest",
    "sklearn.ensemble._gb",
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting",
    "sklearn.utils._param_validation",
)

@contextlib.contextmanager
def without_fit_context():
    context = sklearn.base._fit_context
    del sklearn.base._fit_context
    try:
        yield
    finally:
        sklearn.base._fit_context = context

def run(path):
    for name in [name for name in sys.modules if name.split(".")[0] == "replearn"]:
        del sys.modules[name]  # loaded anew, with what is there now
    from replearn import PointwiseReplicableClassifier, load, save
    from replearn.persistence.model_file import describe
    model = PointwiseReplicableClassifier(tree, n_blocks=18, max_fits=18, shared_key="k").fit(X, y)
    save(model, path)
    again = load(path, shared_key="k", trusted_types=describe(path).untrusted_types)
    assert (again.predict(X) == model.predict(X)).all()
    for wrong in ({"rho": 2.0}, {"n_blocks": -1}, {"vote": "loud"}):
        try:
            PointwiseReplicableClassifier(tree, **wrong).fit(X, y)
        except ValueError:
            continue
        raise AssertionError(wrong)
    compat = sys.modules["replearn.compat"]
    usual = getattr(sklearn.base, "_fit_context", None)
    doors = [compat.fit_context is usual, compat.LokyBackend is not None]
    message = None
    with mock.patch.dict(sys.modules, {"skops": None}):
        try:
            save(model, path)
        except ModuleNotFoundError as error:
            message = str(error)
    return {
        "doors": doors,
        "results": [model.predict(X).tolist(), model.certificate_.to_json()],
        "without skops": message,
    }

warnings.simplefilter("ignore")
results = {}
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "m.replearn"
    results["nothing"] = run(path)
    with without_fit_context():
        results["one name"] = run(path)
    with mock.patch.dict(sys.modules, dict.fromkeys(modules)):
        results["every module"] = run(path)
print(json.dumps(results))
"""
"""What is taken away is missing when replearn is loaded; scikit-learn has been loaded before."""


@pytest.fixture(scope="module")
def results():
    """Return what the same program prints, by what is missing; one process for all."""
    command = [sys.executable, "-c", PROCESS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def private_imports(path):
    """Return the private modules and names that a file imports from other packages."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            package, *rest = name.split(".")
            private = any(part.startswith("_") and not part.endswith("__") for part in rest)
            if private and package not in ("replearn", "__future__"):
                yield f"{path.relative_to(SOURCE.parent)}:{node.lineno}: {name}"


def test_only_compat_imports_private_code_of_other_packages():
    door = SOURCE / "compat.py"
    assert list(private_imports(door)), "the scan finds nothing, not even at the door"
    others = [path for path in sorted(SOURCE.parent.rglob("*.py")) if path != door]
    assert [line for path in others for line in private_imports(path)] == []


@pytest.mark.parametrize(
    ("absent", "doors"), [("one name", [False, True]), ("every module", [False, False])]
)
def test_results_do_not_depend_on_private_code(results, absent, doors):
    assert results["nothing"]["doors"] == [True, True]
    assert results[absent]["doors"] == doors, "nothing was taken away"
    assert results[absent]["results"] == results["nothing"]["results"]


def test_without_skops_trees_are_packed_or_the_extra_is_named(results):
    assert results["nothing"]["without skops"] is None
    assert "pip install 'replicable-learn[files]'" in results["every module"]["without skops"]


def test_every_estimator_with_trees_is_recognised():
    kinds = [kind for _, kind in all_estimators()]
    expected = [kind for kind in kinds if issubclass(kind, BaseForest | BaseGradientBoosting)]
    assert len(expected) >= 7
    assert expected == [k for k in kinds if issubclass(k, _validators._CHECK_WIDTH_FOR_TREES)]
    assert list(_validators._HISTOGRAM_BOOSTING) == [BaseHistGradientBoosting]


def test_without_a_shared_base_the_public_classes_count():
    class Moved(RandomForestRegressor):
        pass

    Moved.__module__ = "elsewhere"
    assert shared_base(Moved, RandomForestClassifier) == (Moved, RandomForestClassifier)
