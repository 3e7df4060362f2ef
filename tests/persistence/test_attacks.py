"""Forged files: no signal, no process, no type that nobody named. Each is opened in a process."""

import subprocess
import sys
import time
import zipfile
from datetime import datetime

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, GradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from replearn import PointwiseReplicableClassifier, PointwiseReplicableRegressor, load, save
from replearn.exceptions import ModelFileError
from replearn.execution.context import fit_in_context
from replearn.persistence import _packing, model_file
from replearn.persistence._packing import pack_values, unpack_values
from replearn.persistence.block_folder import resumable
from replearn.persistence.model_file import describe

KEY = "attacks"
SVC_TYPE = "sklearn.svm._classes.SVC"
X, Y = make_classification(120, n_features=4, random_state=0)
pytestmark = pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")

OPEN = """
import os, sys, warnings
import numpy as np
from replearn import load

def children():
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and parent(pid) == os.getpid()]

def parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0

warnings.simplefilter("ignore")
before = children()
try:
    model = load(sys.argv[1], shared_key="attacks", trusted_types=sys.argv[2:])
    model.predict(np.zeros((5, 4)))
    end = "predicted"
except ValueError as error:
    end = f"refused: {error}"
print(end, "| new processes:", len(set(children()) - set(before)))
"""


def fitted(base):
    model = PointwiseReplicableClassifier(base, n_blocks=4, rho=0.5, max_fits=4, shared_key=KEY)
    return model.fit(X, Y)


def write(model, path, monkeypatch):
    """Save a model without the check that it can be loaded, as its forger would."""
    monkeypatch.setattr(model_file, "_check_loads", lambda *args: None)
    save(model, path)


def opened(path, *trusted):
    done = subprocess.run(
        [sys.executable, "-c", OPEN, str(path), *trusted], capture_output=True, text=True
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.strip()


linux = pytest.mark.skipif(sys.platform != "linux", reason="counts processes in /proc")


@linux
def test_masked_indices_do_not_reach_compiled_code(tmp_path, monkeypatch):
    model = fitted(SVC())
    for block in model.estimators_:
        support = np.ma.masked_array(block.support_, mask=False)
        support[::2] = 10**9
        support[::2] = np.ma.masked
        vars(block).update(kernel="precomputed", support_=support, shape_fit_=(4, 4))
    write(model, tmp_path / "m", monkeypatch)
    end = opened(tmp_path / "m")
    assert end.startswith("refused")
    assert SVC_TYPE in end
    assert "MaskedArray" in end
    assert "MaskedArray" in opened(tmp_path / "m", SVC_TYPE)


@linux
@pytest.mark.parametrize("outer", [make_pipeline, lambda base: BaggingClassifier(base, 2)])
def test_no_process_is_started(outer, tmp_path, monkeypatch):
    bagging = BaggingClassifier(DecisionTreeClassifier(max_depth=1), 8)
    model = fitted(outer(bagging))
    for block in model.estimators_:
        for nested in [block[0]] if hasattr(block, "steps") else [block, *block.estimators_]:
            nested.set_params(n_jobs=64, verbose=9)
    model.set_params(n_jobs=64, verbose=9)
    write(model, tmp_path / "m", monkeypatch)
    assert (tmp_path / "m").stat().st_size < 100_000
    assert opened(tmp_path / "m") == "predicted | new processes: 0"


class Quiet(np.ndarray):
    """A subclass of arrays."""


STRANGE = {
    "masked": np.ma.masked_array([1.0, 2.0], mask=[True, False]),
    "matrix": np.asmatrix(np.ones((2, 2))),
    "subclass": np.ones(2).view(Quiet),
    "records": np.zeros(2, dtype=[("a", "<f8")]),
    "bytes without a type": np.zeros(2, dtype="V16"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_arrays_are_not_packed(name):
    with pytest.raises(TypeError, match="not packed"):
        pack_values([STRANGE[name]])


def test_a_column_of_records_that_is_no_tree_is_refused(monkeypatch):
    column = np.zeros(2, dtype=[("a", "<f8")])
    with monkeypatch.context() as forged:
        forged.setattr(_packing, "node_types", lambda: (column.dtype,))
        forged.setattr(_packing, "_described", _packing._described.__wrapped__)
        written = pack_values([column])
    with pytest.raises(ModelFileError, match="only trees are tables of records"):
        unpack_values(written)


# -- the rule of trust -----------------------------------------------------------------------------
def test_the_error_prints_the_argument_that_opens_the_file(tmp_path):
    model = fitted(SVC())
    save(model, tmp_path / "m")
    assert describe(tmp_path / "m").untrusted_types == (SVC_TYPE,)
    with pytest.raises(ModelFileError) as error:
        load(tmp_path / "m", KEY)
    assert f"trusted_types=['{SVC_TYPE}']" in str(error.value)
    assert f"--trust {SVC_TYPE} on the command line" in str(error.value)
    again = load(tmp_path / "m", KEY, trusted_types=[SVC_TYPE])
    assert (again.predict(X) == model.predict(X)).all()


def test_every_type_of_an_unpacked_model_is_named(tmp_path):
    model = fitted(CalibratedClassifierCV(DecisionTreeClassifier(max_depth=2), cv=2))
    save(model, tmp_path / "m")
    types = describe(tmp_path / "m").untrusted_types
    assert "sklearn.calibration.CalibratedClassifierCV" in types
    assert "sklearn.tree._tree.Tree" in types
    for missing in types:
        with pytest.raises(ModelFileError, match=f"trusted_types=\\['{missing}'\\]"):
            load(tmp_path / "m", KEY, trusted_types=set(types) - {missing})
    assert (load(tmp_path / "m", KEY, trusted_types=types).predict(X) == model.predict(X)).all()


def test_a_folder_of_blocks_follows_the_same_rule(tmp_path):
    model = PointwiseReplicableClassifier(SVC(), n_blocks=4, rho=0.5, max_fits=4, shared_key=KEY)
    with pytest.raises(ModelFileError, match=SVC_TYPE):
        fit_in_context(model, X, Y, resumable(tmp_path / "one"))
    fit_in_context(model, X, Y, resumable(tmp_path / "two", trusted_types=[SVC_TYPE]))
    done = list((tmp_path / "two").glob("*/block-*"))
    assert len(done) == 4


@pytest.mark.parametrize("base", [LogisticRegression(), GradientBoostingRegressor(n_estimators=3)])
def test_packed_files_need_nothing(base, tmp_path):
    if isinstance(base, LogisticRegression):
        model = fitted(make_pipeline(StandardScaler(), base))
    else:
        model = PointwiseReplicableRegressor(
            base, resolution=0.5, y_range=(0, 1), n_blocks=4, rho=0.5, shared_key=KEY
        ).fit(X, Y.astype(float))
    save(model, tmp_path / "m")
    assert describe(tmp_path / "m").untrusted_types == ()
    assert (load(tmp_path / "m", KEY).predict(X) == model.predict(X)).all()


# -- archives --------------------------------------------------------------------------------------
BASES = {"packed": DecisionTreeClassifier(max_depth=2, random_state=0), "skops": SVC()}


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_equal_fits_give_equal_bytes_whatever_the_clock_says(base, tmp_path, monkeypatch):
    save(fitted(base), tmp_path / "one")
    past = datetime(1971, 2, 3).timetuple()
    with monkeypatch.context() as before:
        before.setattr(time, "localtime", lambda *args: past)
        save(fitted(base), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with zipfile.ZipFile(tmp_path / "two") as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}
