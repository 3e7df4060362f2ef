"""Model files: the same predictions elsewhere, no key inside, nothing foreign built."""

import io
import json
import os
import secrets
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import replearn.persistence.model_file
from replearn import PointwiseReplicableClassifier, SharedKey, plan
from replearn.bounds.laws import uniform_law
from replearn.exceptions import ModelFileError, WeakKeyWarning
from replearn.persistence._validators import check_trees
from replearn.persistence.model_file import describe, load, save
from replearn.records.json import digest_of
from tests.factories import voting, whole_models

RNG = np.random.default_rng(5)
X = RNG.normal(size=(700, 4))
Y = np.where(X[:, 0] + RNG.normal(size=700) > 0, "yes", "no")
NEW = RNG.normal(size=(300, 4))
KEY = "trial-2026"


def fitted(base=None, **params):
    settings = {"n_blocks": 18, "n_partitions": 1, "shared_key": KEY} | params
    return voting(base, **settings).fit(X, Y)


@pytest.fixture(scope="module")
def model():
    return fitted(make_pipeline(StandardScaler(), LogisticRegression()))


@pytest.fixture
def path(model, tmp_path):
    save(model, tmp_path / "model.replearn")
    return tmp_path / "model.replearn"


BASES = {
    "tree": DecisionTreeClassifier(max_depth=4),
    "forest": RandomForestClassifier(3),
    "boosting": HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5),
    "bayes": GaussianNB(),
    "default": None,
}


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_predictions_survive(base, tmp_path):
    before = fitted(base)
    save(before, tmp_path / "m.replearn")
    after = load(tmp_path / "m.replearn", KEY)
    assert (after.predict(NEW) == before.predict(NEW)).all()
    assert (after.flip_probability(NEW) == before.flip_probability(NEW)).all()
    assert after.certificate_ == before.certificate_
    assert after.get_params()["rho"] == before.rho


def test_every_kind_of_parameter_survives(tmp_path):
    made = plan(n=600, n_blocks=18, rho=0.2, law=uniform_law(18))
    before = PointwiseReplicableClassifier(GaussianNB(), plan=made, shared_key=SharedKey(3))
    before.fit(X, Y)
    with_law = fitted(GaussianNB(), rho=0.2, law=uniform_law(18))
    for number, one in enumerate((before, with_law)):
        save(one, tmp_path / f"{number}.replearn", notes={"by": "lab A"})
        again = load(tmp_path / f"{number}.replearn", one.shared_key)
        assert again.plan == one.plan
        assert (again.predict(NEW) == one.predict(NEW)).all()
    assert describe(tmp_path / "0.replearn").notes == {"by": "lab A"}


def test_blocks_with_one_class_and_three_classes(tmp_path):
    labels = np.where(np.arange(700) < 3, "rare", Y)
    before = PointwiseReplicableClassifier(
        GaussianNB(), n_blocks=60, max_fits=60, rho=0.5, shared_key=KEY
    ).fit(X, labels)
    few = PointwiseReplicableClassifier(n_blocks=18, max_fits=18, shared_key=KEY)
    few.fit(X, np.where(np.arange(700) < 2, 1, 0))
    for one in (before, few):
        save(one, tmp_path / "m.replearn")
        assert (load(tmp_path / "m.replearn", KEY).predict(NEW) == one.predict(NEW)).all()


def test_the_key_stays_outside(model, path, tmp_path):
    secret = SharedKey(KEY).export().split("-")[1]
    content = b"".join(_everything(path))
    assert secret.encode() not in content
    assert KEY.encode() not in content
    assert SharedKey(KEY).fingerprint.encode() in content
    save(model, tmp_path / "open.replearn", include_key=True)
    assert describe(tmp_path / "open.replearn").includes_key
    assert (load(tmp_path / "open.replearn").predict(NEW) == model.predict(NEW)).all()


def _everything(path):
    with zipfile.ZipFile(path) as outer:
        for name in outer.namelist():
            yield outer.read(name)
        for part in outer.namelist()[1:]:
            with zipfile.ZipFile(io.BytesIO(outer.read(part))) as inner:
                yield from (inner.read(name) for name in inner.namelist())


def test_wrong_and_missing_key_are_named(path):
    with pytest.raises(ModelFileError, match="requires its shared key"):
        load(path)
    with pytest.raises(ModelFileError, match=f"shared_key has {SharedKey('x').fingerprint}"):
        load(path, "x")


def _rewrite(path, change, *, sign=True):
    """Change the manifest; a careful forger computes the digest again."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(parts["manifest.json"])
    change(manifest)
    if sign:
        manifest.pop("digest")
        manifest["digest"] = digest_of(manifest)
    parts["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


CHANGES = {
    "changed after it was written": (lambda m: m.update(notes={"x": 1}), False),
    "version 4": (lambda m: m.update(version=4), True),
    "encoding 'other'": (lambda m: m.update(encoding="other"), True),
    "scikit-learn 0.1": (lambda m: m.update(sklearn_version="0.1"), True),
    "not a replearn model file": (lambda m: m.update(format="x"), True),
    "not an estimator": (lambda m: m.update(learner="exec"), True),
    "cannot be loaded": (
        lambda m: m["documents"]["certificate_"]["content"].update(n_available=1),
        True,
    ),
    "damaged: notes of": (lambda m: m.pop("notes"), True),
    "damaged: documents of": (lambda m: m.update(documents=[]), True),
    "damaged: key of": (lambda m: m.pop("key"), True),
    "no certificate": (lambda m: m["documents"].pop("certificate_"), True),
    "unknown document": (lambda m: m["documents"]["plan_"].update(kind="os.system"), True),
}


@pytest.mark.parametrize(("message", "change"), CHANGES.items(), ids=CHANGES)
def test_a_changed_manifest_is_refused(path, message, change):
    _rewrite(path, change[0], sign=change[1])
    with pytest.raises(ModelFileError, match=message):
        load(path, KEY)


def test_another_scikit_learn_can_be_risked(path, model):
    _rewrite(path, lambda m: m.update(sklearn_version="0.1"))
    assert (load(path, KEY, any_version=True).predict(NEW) == model.predict(NEW)).all()


@pytest.mark.parametrize("place", [40, 0.3, 0.6, 0.99])
def test_no_flipped_byte_goes_unnoticed(path, place):
    data = bytearray(path.read_bytes())
    data[int(place if place > 1 else place * len(data))] ^= 0x10
    path.write_bytes(data)
    with pytest.raises(ModelFileError):
        load(path, KEY)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no zip at all"])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ModelFileError, match="not a replearn model file"):
        describe(tmp_path / "x")


def test_foreign_types_are_refused_by_name(tmp_path):
    save(fitted(KNeighborsClassifier(algorithm="kd_tree")), tmp_path / "m.replearn")
    with pytest.raises(ModelFileError, match=r"trusted by name.*KDTree"):
        load(tmp_path / "m.replearn", KEY)


def test_functions_are_refused_unless_trusted(tmp_path):
    base = make_pipeline(FunctionTransformer(os.path.normcase, validate=False), GaussianNB())
    model = PointwiseReplicableClassifier(base, n_blocks=1, max_fits=1)
    vars(model).update({**vars(fitted(GaussianNB())), "estimator": base, "shared_key": KEY})
    save(model, tmp_path / "m.replearn")
    with pytest.raises(ModelFileError, match=r"posixpath\.normcase"):
        load(tmp_path / "m.replearn", KEY)


def test_the_state_cannot_replace_the_certificate(model, tmp_path, monkeypatch):
    path = tmp_path / "m.replearn"
    whole = replearn.persistence.model_file.take_apart
    forged = "certificate_"
    monkeypatch.setattr(
        "replearn.persistence.model_file.take_apart",
        lambda one, **_: (whole(one)[0], {**whole(one)[1], forged: "trust me"}),
    )
    monkeypatch.setattr("replearn.persistence.model_file._check_loads", lambda *_: None)
    save(model, path)
    with pytest.raises(ModelFileError, match="two values for its plan or certificate"):
        load(path, KEY)
    forged = "predict"
    save(model, path)
    with pytest.raises(ModelFileError, match=r"would replace \['predict'\]"):
        load(path, KEY)


def test_trees_with_indices_that_lead_outside_are_refused():
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    check_trees([tree], "m")
    state = tree.tree_.__getstate__()
    for name, value in [("left_child", 99), ("right_child", 0), ("feature", 4), ("feature", -1)]:
        nodes = state["nodes"].copy()
        nodes[name][0] = value
        tree.tree_.__setstate__({**state, "nodes": nodes})
        with pytest.raises(ModelFileError, match="indices lead outside"):
            check_trees({"estimators_": [tree]}, "m")


@pytest.mark.parametrize("node_count", [-1, 0, 10**9])
def test_trees_that_state_more_nodes_than_they_have_are_refused(node_count):
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    tree.tree_.__setstate__({**tree.tree_.__getstate__(), "node_count": node_count})
    with pytest.raises(ModelFileError, match="indices lead outside"):
        check_trees([tree], "m")


def test_a_forest_that_understates_its_width_is_refused():
    forest = RandomForestClassifier(2, max_depth=2).fit(X, Y)
    check_trees(forest, "m")
    forest.n_features_in_ = 2
    with pytest.raises(ModelFileError, match="indices lead outside"):
        check_trees(forest, "m")
    del forest.n_features_in_
    with pytest.raises(ModelFileError, match="indices lead outside"):
        check_trees(forest, "m")


@pytest.mark.parametrize(("name", "value"), [("left", 99), ("right", 0), ("feature_idx", 4)])
def test_boosted_trees_are_checked_too(name, value):
    model = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=5).fit(X, Y)
    check_trees(model, "m")
    model._predictors[0][0].nodes[name][0] = value
    with pytest.raises(ModelFileError, match="indices lead outside"):
        check_trees(model, "m")


def test_trees_that_no_known_estimator_owns_are_refused():
    model = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=5).fit(X, Y)
    model._renamed = vars(model).pop("_predictors")  # as another scikit-learn might
    with pytest.raises(ModelFileError, match="no estimator known here owns"):
        check_trees(model, "m")
    with pytest.raises(ModelFileError, match="no estimator known here owns"):
        check_trees({"loose": DecisionTreeClassifier(max_depth=2).fit(X, Y).tree_}, "m")


def test_categories_of_boosted_trees_are_checked():
    table = np.column_stack([RNG.integers(0, 9, 700), X[:, 0]])
    model = HistGradientBoostingClassifier(max_iter=1, categorical_features=[0])
    model.fit(table, table[:, 0] % 2 == 0)
    check_trees(model, "m")
    nodes = model._predictors[0][0].nodes
    assert nodes["is_categorical"].any()
    nodes["bitset_idx"] = 1000
    with pytest.raises(ModelFileError, match="indices lead outside"):
        check_trees(model, "m")


def test_a_failed_save_leaves_the_old_file(model, path, monkeypatch):
    old = path.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save(model, path)
    assert path.read_bytes() == old
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_what_could_not_be_loaded_is_not_saved_and_the_old_file_stays(model, path):
    old = path.read_bytes()
    forest = RandomForestClassifier(2, max_depth=2)
    broken = PointwiseReplicableClassifier(forest, n_blocks=8, rho=0.9, shared_key=KEY, max_fits=8)
    broken.fit(X, Y).estimators_[3].n_features_in_ = 2
    with pytest.raises(ModelFileError, match=r"could not be loaded: .* indices lead outside"):
        save(broken, path)
    assert path.read_bytes() == old


def test_what_would_predict_otherwise_is_not_saved(model, path, monkeypatch):
    old = path.read_bytes()
    whole = replearn.persistence.model_file.take_apart

    def reversed_classes(one, **_):
        documents, rest = whole(one)
        return documents, {**rest, "classes_": rest["classes_"][::-1].copy()}

    monkeypatch.setattr("replearn.persistence.model_file.take_apart", reversed_classes)
    with pytest.raises(ModelFileError, match="would predict otherwise"):
        save(model, path)
    assert path.read_bytes() == old


def test_only_fitted_learners_of_this_library_are_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save(PointwiseReplicableClassifier(), tmp_path / "m")
    with pytest.raises(ValueError, match="'GaussianNB' is not an estimator"):
        save(GaussianNB().fit(X, Y), tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_the_approximate_learner_too(tmp_path):
    learner = whole_models(GaussianNB(), n_blocks=18, gamma=0.9, shared_key=KEY)
    learner = learner.set_params(n_partitions=1, rho=0.5).fit(X, Y)
    save(learner, tmp_path / "m.replearn")
    assert (load(tmp_path / "m.replearn", KEY).predict(NEW) == learner.predict(NEW)).all()


# -- weak keys -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("key", "weak"),
    [
        ("trial-2026", True),
        (7, True),
        (b"0123456789", True),
        (SharedKey("trial-2026"), True),
        (SharedKey(7).allow_pickle(), True),
        (SharedKey.generate(), False),
        (SharedKey.generate().export(), False),
        (secrets.token_hex(16), False),
        (secrets.token_bytes(16), False),
        (2**127 + secrets.randbits(127), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_key_that_can_be_guessed_is_named_when_the_model_is_saved(tmp_path, key, weak):
    cut = {"n_blocks": 6, "n_partitions": 1}
    model = voting(GaussianNB(), rho=0.5, shared_key=key, **cut)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*make_classification(600, random_state=0))
        model.predict(np.zeros((1, 20)))
        save(model, tmp_path / "m.replearn", include_key=True)
        assert not [item for item in caught if item.category is WeakKeyWarning]
        save(model, tmp_path / "m.replearn")
    said = [item for item in caught if item.category is WeakKeyWarning]
    assert len(said) == weak
    if weak:
        assert "SharedKey.generate()" in str(said[0].message)
        assert said[0].filename == __file__
