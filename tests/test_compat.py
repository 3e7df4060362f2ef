"""Private code of other packages has one door, and may be missing behind it."""

import ast
import contextlib
import io
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
from replearn.persistence import _trust

SOURCE = Path(replearn.__file__).parent

FIT_CONTEXT = "import sklearn.base; del sklearn.base._fit_context"
PRIVATE_MODULES = """
for name in (
    "joblib._parallel_backends",
    "sklearn._loss.loss",
    "sklearn.ensemble._forest",
    "sklearn.ensemble._gb",
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting",
    "sklearn.utils._param_validation",
):
    sys.modules[name] = None
"""
ABSENT = {"one name": FIT_CONTEXT, "every module": PRIVATE_MODULES}
"""What is taken away, after scikit-learn has loaded and before replearn does."""

RUN = """
import sys, pathlib, warnings
import numpy as np
import sklearn.ensemble, sklearn.linear_model, sklearn.model_selection, sklearn.multiclass
import sklearn.naive_bayes, sklearn.pipeline, sklearn.preprocessing, sklearn.tree, skops.io
import sklearn.compose, sklearn.dummy, sklearn.impute, sklearn.decomposition, sklearn.datasets
import sklearn.feature_extraction, sklearn.metrics
{absent}
from replearn import PointwiseReplicableClassifier, load, save
warnings.simplefilter("ignore")
X, y = sklearn.datasets.make_classification(1200, random_state=0)
tree = sklearn.tree.DecisionTreeClassifier(max_depth=3)
model = PointwiseReplicableClassifier(tree, n_blocks=18, shared_key="k").fit(X, y)
save(model, sys.argv[1])
assert (load(sys.argv[1], shared_key="k").predict(X) == model.predict(X)).all()
for wrong in ({{"rho": 2.0}}, {{"n_blocks": -1}}, {{"vote": "loud"}}):
    try:
        PointwiseReplicableClassifier(tree, **wrong).fit(X, y)
    except ValueError:
        continue
    raise AssertionError(wrong)
print(model.predict(X).tolist(), model.certificate_.to_json())
"""


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
                yield f"{path.relative_to(SOURCE)}:{node.lineno}: {name}"


def test_only_compat_imports_private_code_of_other_packages():
    door = SOURCE / "compat.py"
    assert list(private_imports(door)), "the scan finds nothing, not even at the door"
    others = [path for path in sorted(SOURCE.rglob("*.py")) if path != door]
    assert [line for path in others for line in private_imports(path)] == []


@pytest.mark.parametrize("absent", ABSENT.values(), ids=ABSENT)
def test_results_do_not_depend_on_private_code(absent, tmp_path, monkeypatch):
    path = str(tmp_path / "m.replearn")
    command = [sys.executable, "-c", RUN.format(absent=absent), path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr(sys, "argv", ["", path])
    with contextlib.redirect_stdout(io.StringIO()) as usual:
        exec(RUN.format(absent=""), {})
    assert done.stdout == usual.getvalue()


def test_without_skops_the_extra_is_named(tmp_path):
    code = (
        "import sys; sys.modules['skops'] = None\n"
        "from sklearn.datasets import make_classification\n"
        "from replearn import PointwiseReplicableClassifier, save\n"
        "X, y = make_classification(1200, random_state=0)\n"
        "save(PointwiseReplicableClassifier(n_blocks=18).fit(X, y), sys.argv[1])\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "m.replearn")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "pip install 'replicable-learn[files]'" in done.stderr


def test_every_estimator_with_trees_is_recognised():
    kinds = [kind for _, kind in all_estimators()]
    expected = [kind for kind in kinds if issubclass(kind, BaseForest | BaseGradientBoosting)]
    assert len(expected) >= 7
    assert expected == [k for k in kinds if issubclass(k, _trust._CHECK_WIDTH_FOR_TREES)]
    assert list(_trust._HISTOGRAM_BOOSTING) == [BaseHistGradientBoosting]


def test_without_a_shared_base_the_public_classes_count():
    class Moved(RandomForestRegressor):
        pass

    Moved.__module__ = "elsewhere"
    assert shared_base(Moved, RandomForestClassifier) == (Moved, RandomForestClassifier)
