"""Base estimators of other packages: certified, audited, alike in any row order, saved by name."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replearn import PointwiseReplicableClassifier, audit, load, save
from replearn.cli import main
from replearn.exceptions import ModelFileError
from replearn.execution.context import fit_in_context
from replearn.persistence._trust import why_not_packed
from replearn.persistence.block_folder import resumable

X, Y = make_classification(1500, n_informative=5, random_state=0)
pytestmark = pytest.mark.filterwarnings("default")  # those of the packages themselves

LEARNERS = {
    "xgboost": ("XGBClassifier", {"n_estimators": 10, "max_depth": 3, "n_jobs": 1}),
    "lightgbm": (
        "LGBMClassifier",
        {"n_estimators": 10, "num_leaves": 8, "min_child_samples": 5, "n_jobs": 1, "verbose": -1},
    ),
    "catboost": (
        "CatBoostClassifier",
        {
            "iterations": 10,
            "depth": 3,
            "thread_count": 1,
            "verbose": 0,
            "allow_writing_files": False,
        },
    ),
}
TYPES = {
    "xgboost": ["xgboost.sklearn.XGBClassifier"],
    "lightgbm": ["lightgbm.sklearn.LGBMClassifier"],
    "catboost": ["catboost.core.CatBoostClassifier"],
}


@pytest.fixture(scope="module", params=LEARNERS)
def package(request):
    pytest.importorskip(request.param)
    return request.param


@pytest.fixture(scope="module")
def base(package):
    name, parameters = LEARNERS[package]
    return getattr(pytest.importorskip(package), name)(**parameters)


def learner(base):
    return PointwiseReplicableClassifier(base, n_blocks=12, rho=0.3, max_fits=12, shared_key="a")


def fitted(base, rows):
    return learner(base).fit(X[rows], Y[rows])


@pytest.fixture(scope="module")
def model(base):
    return fitted(base, np.arange(900))


def test_certified_and_alike_in_any_order_of_rows(base, model):
    other = fitted(base, np.arange(900)[::-1])
    assert model.certificate_.certified
    assert model.certificate_.comparable(other.certificate_)
    np.testing.assert_array_equal(model.predict(X[900:]), other.predict(X[900:]))
    assert np.mean(model.predict(X[900:]) == Y[900:]) > 0.75


def test_saved_when_its_types_are_trusted_by_name(package, model, tmp_path):
    path = tmp_path / "model.replearn"
    save(model, path)
    with pytest.raises(ModelFileError, match=TYPES[package][-1]):
        load(path, shared_key="a")
    again = load(path, shared_key="a", trusted_types=TYPES[package])
    np.testing.assert_array_equal(again.predict(X[900:]), model.predict(X[900:]))


def test_written_in_the_format_of_its_package(package, model, tmp_path):
    assert why_not_packed(model.estimators_) is None
    save(model, tmp_path / "model.replearn")
    with zipfile.ZipFile(tmp_path / "model.replearn") as outer:
        assert set(outer.namelist()) == {"manifest.json", "models.packed"}
        packed = outer.read("models.packed")
    with zipfile.ZipFile(io.BytesIO(packed)) as inner:
        content = b"".join(inner.read(name) for name in inner.namelist())
    marks = {"xgboost": b"learner_model_param", "lightgbm": b"feature_infos=", "catboost": b"CBM1"}
    assert content.count(marks[package]) >= len(model.estimators_)
    for mark in (b"sklearn.base\n", b"builtins\n", b"csklearn", b"cxgboost", b"ccatboost"):
        assert mark not in content  # of pickles


def test_inside_a_pipeline_and_a_folder_of_blocks(package, base, tmp_path):
    model = learner(make_pipeline(StandardScaler(), base))
    trusted = resumable(tmp_path / "blocks", trusted_types=TYPES[package])
    fit_in_context(model, X[:900], Y[:900], trusted)
    save(model, tmp_path / "model.replearn")
    again = load(tmp_path / "model.replearn", shared_key="a", trusted_types=TYPES[package])
    np.testing.assert_array_equal(again.predict_proba(X[900:]), model.predict_proba(X[900:]))
    resumed = learner(make_pipeline(StandardScaler(), base))
    fit_in_context(resumed, X[:900], Y[:900], trusted)
    np.testing.assert_array_equal(resumed.predict_proba(X[900:]), model.predict_proba(X[900:]))
    with pytest.raises(ModelFileError, match="trusted by name"):
        fit_in_context(
            learner(make_pipeline(StandardScaler(), base)),
            X[:900],
            Y[:900],
            resumable(tmp_path / "others"),
        )


def test_audited(base):
    result = audit({"baseline": base}, X, Y, n_pairs=2, test_size=300)
    rate = result.flip_rate("baseline")
    assert 0 < rate.lower <= rate.value <= rate.upper < 0.5


def test_blocks_cost_what_as_many_plain_fits_cost(package, base, speed):
    seconds, allowed = speed.beside_plain_loop(package, learner(base), X[:900], Y[:900])
    assert seconds <= allowed


@pytest.fixture(scope="module")
def towns():
    """A table with a column of text, and a pipeline that encodes it inside the blocks."""
    skrub = pytest.importorskip("skrub")
    pd = pytest.importorskip("pandas")
    from sklearn.linear_model import LogisticRegression

    table = pd.DataFrame(X[:, :5], columns=list("abcde"))
    table["town"] = np.where(X[:, 5] > 0, "Ulm", "Oslo")
    return table, make_pipeline(skrub.TableVectorizer(), LogisticRegression())


def test_skrub_encodes_inside(towns, speed):
    table, base = towns
    model = learner(base).fit(table[:900], Y[:900])
    assert model.certificate_.certified
    assert np.mean(model.predict(table[900:]) == Y[900:]) > 0.6
    seconds, allowed = speed.beside_plain_loop("skrub", learner(base), table[:900], Y[:900])
    assert seconds <= allowed


def test_skrub_is_audited_and_no_model_file_holds_it(towns, tmp_path):
    table, base = towns
    result = audit({"baseline": base}, table, Y, n_pairs=2, test_size=300)
    assert result.flip_rate("baseline").value < 0.5
    model = learner(base).fit(table[:900], Y[:900])
    # Its functions with several implementations are made inside a function.
    with pytest.raises(ModelFileError, match="define it by name in a module"):
        save(model, tmp_path / "model.replearn")


def test_by_name_on_the_command_line(package, tmp_path, capsys):
    table = pd.DataFrame(X[:900]).add_prefix("x").assign(y=Y[:900])
    table.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "key.txt").write_text("a key of the command line")
    out = tmp_path / "m.replearn"
    key = ["--key-file", str(tmp_path / "key.txt")]
    fit = [
        "fit",
        str(tmp_path / "rows.csv"),
        "--target",
        "y",
        "--model",
        package,
        "--out",
        str(out),
    ]
    assert main([*fit, *key, "--rho", "0.3", "--max-fits", "12", "--quiet"]) == 0
    predict = ["predict", str(out), str(tmp_path / "rows.csv"), *key, "--quiet"]
    assert main(predict) == 0  # what --model offers by name needs no --trust
    assert main(["compare", str(out), str(out), str(tmp_path / "rows.csv"), *key]) == 0
