"""Every estimator that can be fitted can be saved, and predicts the same in another process."""

import io
import json
import subprocess
import sys
import warnings
import zipfile
from copy import copy
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import replearn
from replearn import SharedKey
from replearn.exceptions import ModelFileError, NotCertifiedWarning
from replearn.learners.incumbent import IncumbentClassifier
from replearn.learners.pointwise import PointwiseReplicableClassifier
from replearn.learners.search import ReplicableSearchCV
from replearn.paper.hypotheses import (
    Boxes,
    Conjunctions,
    FiniteClass,
    Intervals,
    Stumps,
    Thresholds,
    make_box,
)
from replearn.paper.hypotheses.documents import read_class
from replearn.paper.realizable import RealizableReplicableClassifier
from replearn.paper.semi_replicable import SemiReplicableClassifier
from replearn.persistence._trust import dump, load_trusted
from replearn.persistence.model_file import describe, load, save
from replearn.records.json import digest_of
from replearn.registry import ESTIMATORS
from tests.factories import voting
from tests.registry import NAMES, NEW, X, Y, fit, fitted, planned

KEY = "a secret that is long enough to look for"
TREES = {"max_depth": [1, 2, 3]}


def pointwise(base=None, **params):
    settings = {"n_blocks": 6, "n_partitions": 1, "rho": 0.5, "shared_key": KEY} | params
    return voting(base or GaussianNB(), **settings)


NOT_ALONE = ("IncumbentRegressor", "ReplicableSearchCV")
"""One is a part of others, the others have no certificate (tests/learners)."""

ALONE = tuple(name for name in NAMES if name not in NOT_ALONE)
"""Estimators that are saved as they are."""

MORE = {
    "planned threshold": lambda: fit(
        "ReplicableThresholdClassifier",
        planned("ReplicableThresholdClassifier", shared_key=KEY),
    ),
    "score with costs": lambda: fitted(
        "ScoreReplicableClassifier", threshold=(1, 2), pos_label="yes", shared_key=KEY
    ),
    "semi with a class": lambda: SemiReplicableClassifier(Boxes(2), shared_key=KEY).fit(
        X, Y, X_shared=X[:8]
    ),
    "semi with candidates": lambda: SemiReplicableClassifier(
        candidates=[make_box([(0, cut, np.inf)]) for cut in (-1.0, 0.0, 1.0)], shared_key=KEY
    ).fit(X, Y),
    "realizable with a classifier": lambda: RealizableReplicableClassifier(
        DecisionTreeClassifier(max_depth=9), max_error_limit=1.0, shared_key=KEY
    ).fit(X, Y),
}
"""Other parameters, whose files have other parts."""


def of_registry(name):
    """Return the fitted model of the registry; an incumbent has a certificate if its parts do."""
    if name == "IncumbentClassifier":
        old = pointwise().fit(X[:400], Y[:400])
        return IncumbentClassifier(pointwise(), old, memory=0.5).fit(X, Y)
    return fitted(name, shared_key=KEY)


MODELS = {name: partial(of_registry, name) for name in ALONE} | MORE


def heavy_model(container, base=None):
    settings = {"rho": 0.5, "max_fits": 4, "shared_key": KEY, "alpha": 0.9, "beta": 0.5}
    model = voting(base or DummyClassifier(), **settings)
    return model.fit(container, np.arange(_size(container)) % 7 < 3)


def _size(container):
    return container.shape[0] if hasattr(container, "shape") else len(container)


N = 6000
SIZES = [5000, 600, 400]
TOWNS = np.repeat(["Ulm", "Rom", "Bern"], SIZES)
NUMBERS = np.repeat([[1.0, np.nan], [0.0, 0.1], [2.0, -3.5]], SIZES, axis=0)
TIMES = np.repeat(
    pd.to_datetime(["2024-02-03 04:05:06.5", None, "2023-01-01 00:00:00.0"], utc=True), SIZES
)
CONTAINERS = {
    "numbers": NUMBERS,
    "sparse": sparse.csr_array(np.nan_to_num(NUMBERS)),
    "texts": TOWNS.tolist(),
    "objects": np.array([[town, None if town == "Rom" else 1.5] for town in TOWNS], dtype=object),
    "pandas": pd.DataFrame(
        {
            "when": TIMES,
            "town": pd.Categorical(TOWNS),
            "a": pd.array(np.repeat(np.array([1, None, 3], dtype=object), SIZES), "Int64"),
        }
    ),
    "polars": pl.DataFrame({"town": TOWNS, "a": NUMBERS[:, 1]}),
}


@pytest.fixture(autouse=True)
def _uncertified():
    """These samples are too small for any promise; that is not what is tested."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        warnings.filterwarnings("ignore", "RealizableReplicableClassifier abstains")
        yield


@pytest.fixture(scope="module")
def models():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        warnings.filterwarnings("ignore", "RealizableReplicableClassifier abstains")
        return {name: make() for name, make in MODELS.items()}


@pytest.fixture(scope="module")
def folder(models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name, model in models.items():
        save(model, folder / f"{name}.replearn")
    return folder


def everything(path):
    with zipfile.ZipFile(path) as outer:
        for name in outer.namelist():
            yield outer.read(name)
        for part in outer.namelist()[1:]:
            with zipfile.ZipFile(io.BytesIO(outer.read(part))) as inside:
                yield from (inside.read(name) for name in inside.namelist())


def test_no_learner_is_forgotten(models):
    public = [replearn, replearn.paper]
    kinds = {name: getattr(package, name) for package in public for name in package.__all__}
    assert sorted(ESTIMATORS) == sorted(
        name
        for name, kind in kinds.items()
        if isinstance(kind, type) and issubclass(kind, BaseEstimator)
    )
    assert {type(model).__name__ for model in models.values()} == set(ALONE)


@pytest.mark.parametrize("name", MODELS)
def test_what_was_fitted_comes_back(models, folder, name):
    before, path = models[name], folder / f"{name}.replearn"
    after = load(path, KEY)
    assert (after.predict(NEW) == before.predict(NEW)).all()
    assert after.certificate_ == before.certificate_
    assert describe(path).certificate == before.certificate_
    assert set(vars(after)) == set(vars(before))
    for item in (
        "best_params_",
        "random_bits_",
        "keyed_threshold_",
        "cut_",
        "limit_",
    ):
        assert getattr(after, item, None) == getattr(before, item, None)
    again = folder / "again"
    save(after, again)  # what was loaded can be saved
    assert (load(again, KEY).predict(NEW) == before.predict(NEW)).all()


def test_an_estimator_that_is_a_part_of_others_has_no_file(tmp_path):
    model = replearn.ReplicableSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, cv=2).fit(X, Y)
    with pytest.raises(ModelFileError, match="has no certificate"):
        save(model, tmp_path / "m.replearn")


@pytest.mark.parametrize("name", MODELS)
def test_what_fit_leaves_behind_is_declared(models, name):
    model = copy(models[name])
    parameters = set(model.get_params(deep=False))
    model._forget_fit()
    assert set(vars(model)) <= parameters
    left_out = set(vars(models[name])) - set(models[name]._file_state())
    assert left_out - {"shared_key"} <= set(model._derived_state)


class Remembering(PointwiseReplicableClassifier):
    """An estimator with a fitted attribute that no file needs."""

    _private_state = (*PointwiseReplicableClassifier._private_state, "_n_models")
    _derived_state = (*PointwiseReplicableClassifier._derived_state, "_n_models")

    def fit(self, X, y):
        super().fit(X, y)
        self._n_models = len(self.estimators_)
        return self

    def _derive(self, key):
        super()._derive(key)
        self._n_models = len(self.estimators_)


def remembering():
    return Remembering(GaussianNB(), n_blocks=6, rho=0.5, shared_key=KEY)


def test_an_estimator_owns_how_it_is_restored(tmp_path, monkeypatch):
    model = remembering().fit(X, Y)
    with pytest.raises(ModelFileError, match="'Remembering' is not an estimator"):
        save(model, tmp_path / "m")
    monkeypatch.setitem(ESTIMATORS, "Remembering", Remembering.__module__)
    save(model, tmp_path / "m")
    assert b"_n_models" not in b"".join(everything(tmp_path / "m"))
    again = load(tmp_path / "m", KEY)
    assert again._n_models == len(model.estimators_)
    assert (again.predict(NEW) == model.predict(NEW)).all()


@pytest.mark.parametrize("wrap", [make_pipeline, lambda model: model])
def test_a_subclass_with_a_key_is_never_written(tmp_path, wrap):
    hidden = FunctionTransformer(kw_args={"model": wrap(remembering().fit(X, Y))})
    model = pointwise().fit(X, Y)
    model.estimator = make_pipeline(hidden, GaussianNB())
    with pytest.raises(ModelFileError, match="Remembering"):
        save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_rules_and_choices_are_the_same_values(models, folder):
    for name in (
        "ReplicableThresholdClassifier",
        "SemiReplicableClassifier",
        "semi with a class",
        "RealizableReplicableClassifier",
    ):
        after = load(folder / f"{name}.replearn", KEY)
        assert after.hypothesis_ == models[name].hypothesis_
        assert after.rule() == models[name].rule()
    semi = load(folder / "semi with a class.replearn", KEY)
    assert semi.hypotheses == Boxes(2)
    assert semi.selection_.margin == models["semi with a class"].selection_.margin
    assert semi.selection_.candidate == semi.hypothesis_


@pytest.mark.parametrize("name", MODELS)
def test_the_key_is_not_inside_and_another_is_refused(folder, name):
    path = folder / f"{name}.replearn"
    content = b"".join(everything(path))
    assert KEY.encode() not in content
    assert SharedKey(KEY).export().split("-")[1].encode() not in content
    assert SharedKey(KEY).fingerprint.encode() in content
    with pytest.raises(ModelFileError, match="belongs to the key with fingerprint"):
        load(path, "another")


def test_a_fresh_process_gives_the_same_answers(models, folder, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        heavy = heavy_model(CONTAINERS["numbers"])
    rows = NUMBERS[::100]
    save(heavy, tmp_path / "heavy.replearn")
    np.savez(tmp_path / "rows.npz", new=NEW, heavy=rows)
    code = (
        "import sys, json, numpy as np; from replearn import load\n"
        "rows = np.load(sys.argv[1]); key = sys.argv[2]; out = {}\n"
        "for path in sys.argv[3:]:\n"
        "    m = load(path, key); heavy = path.endswith('heavy.replearn')\n"
        "    out[path] = m.predict(rows['heavy' if heavy else 'new']).tolist()\n"
        "    if heavy: out['flips'] = m.flip_probability(rows['heavy']).tolist()\n"
        "print(json.dumps(out))\n"
    )
    paths = {name: str(folder / f"{name}.replearn") for name in MODELS}
    where = [tmp_path / "rows.npz", KEY, tmp_path / "heavy.replearn", *paths.values()]
    done = subprocess.run([sys.executable, "-c", code, *where], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for name, path in paths.items():
        assert found[path] == models[name].predict(NEW).tolist()
    assert found[str(tmp_path / "heavy.replearn")] == heavy.predict(rows).tolist()
    assert found["flips"] == heavy.flip_probability(rows).tolist()


def change_state(path, change):
    """Change the models' state as a careful forger would, who computes both digests again."""
    from hashlib import sha256

    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        models = {name: archive.read(name) for name in archive.namelist()[1:]}
    state = load_trusted(models, (), "m")
    change(manifest, state)
    models = dump(state)
    manifest.pop("digest")
    content = b"".join(models[name] for name in sorted(models))
    manifest["models_sha256"] = sha256(content).hexdigest()
    manifest["digest"] = digest_of(manifest)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, part in models.items():
            archive.writestr(name, part)


FORGERIES = {
    "do not agree on a heavy stage": lambda _, state: state.update(heavy_=None),
    "cannot be put together": lambda _, state: state["heavy_"].pop("counts"),
    "unknown part 'os.system'": lambda _, state: state.update(heavy_={"__replearn__": "os.system"}),
    "the file has 1 models": lambda _, state: state.update(estimators_=state["estimators_"][:1]),
}


def sign(certificate):
    """Make the digest fit, as a forger would."""
    del certificate["digest"]
    certificate["digest"] = digest_of(certificate)


def test_a_changed_rule_or_certificate_is_refused(folder, tmp_path):
    path = tmp_path / "m.replearn"
    path.write_bytes((folder / "ReplicableThresholdClassifier.replearn").read_bytes())
    change_state(
        path, lambda m, _: m["documents"]["certificate_"]["content"].update(certified=True)
    )
    with pytest.raises(
        ModelFileError, match="cannot be loaded: digest: the certificate was changed"
    ):
        load(path, KEY)
    change_state(path, lambda m, _: sign(m["documents"]["certificate_"]["content"]))
    with pytest.raises(ModelFileError, match="certified"):
        load(path, KEY)
    path.write_bytes((folder / "ReplicableThresholdClassifier.replearn").read_bytes())
    change_state(path, lambda m, _: m["documents"]["hypothesis_"]["content"].update(kind="x"))
    with pytest.raises(ModelFileError, match="kind='x'"):
        load(path, KEY)


REFUSED = {
    r"contains the function .*<lambda>": lambda: pointwise(FunctionTransformer(lambda X: X)),
    "estimator contains a shared key": lambda: pointwise(
        FunctionTransformer(kw_args={"key": SharedKey("hidden")})
    ),
}


@pytest.mark.parametrize(("message", "make"), REFUSED.items(), ids=REFUSED)
def test_what_cannot_be_saved_is_named(tmp_path, message, make):
    model = make()
    if not hasattr(model, "certificate_"):
        vars(model).update({**vars(pointwise().fit(X, Y)), "estimator": model.estimator})
    with pytest.raises(ModelFileError, match=message):
        save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_a_learner_inside_a_pipeline_is_refused_by_name(tmp_path):
    nested = make_pipeline(pointwise())
    search = ReplicableSearchCV(
        nested, {"pointwisereplicableclassifier__rho": [0.5, 0.6]}, cv=2, shared_key=KEY
    ).fit(X, Y)
    with pytest.raises(ModelFileError, match="has no certificate"):
        save(search, tmp_path / "m")


def test_functions_of_a_module_are_refused_at_loading_unless_trusted(tmp_path):
    base = make_pipeline(FunctionTransformer(np.nan_to_num), GaussianNB())
    model = pointwise(base).fit(X, Y)
    save(model, tmp_path / "m")
    types = describe(tmp_path / "m").untrusted_types
    assert "numpy.nan_to_num" in types
    with pytest.raises(ModelFileError, match=r"must be trusted by name.*numpy\.nan_to_num"):
        load(tmp_path / "m", KEY)
    again = load(tmp_path / "m", KEY, trusted_types=types)
    assert (again.predict(NEW) == model.predict(NEW)).all()


CLASSES = (
    *(Stumps(3), Stumps(2, ">"), Thresholds("<="), Intervals(), Boxes(2)),
    *(Conjunctions(2), Conjunctions(2, (">", "<="))),
    FiniteClass([make_box([(0, 1.0, np.inf)])], 2),
)


@pytest.mark.parametrize("family", CLASSES, ids=lambda family: type(family).__name__)
def test_hypothesis_classes_survive(family):
    again = read_class(json.loads(json.dumps(family.to_dict())))
    assert type(again) is type(family)
    assert again.to_dict() == family.to_dict()
    with pytest.raises(ValueError, match="not a hypothesis class"):
        read_class({"class": "Hypothesis"})
