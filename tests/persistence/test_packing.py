"""Packed models: the same bits, few arrays, and nothing built that is not on the list."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from replearn import PointwiseReplicableClassifier, compat, load, save
from replearn.exceptions import ModelFileError
from replearn.execution.constant import ConstantVote
from replearn.persistence._packed_types import kind_named, name_of
from replearn.persistence._packing import NotPackedError, pack_values, unpack_values
from replearn.persistence._trust import dump, load_trusted, untrusted_types, why_not_packed
from replearn.tables.encoder import TableEncoder

RNG = np.random.default_rng(8)
N = 240
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
THREE = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=N), [-0.5, 0.5])
FRAME = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "u", "v")})

MODELS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "extra tree": ExtraTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(4, random_state=0),
    "extra trees": ExtraTreesClassifier(4, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=4),
    "old boosting": GradientBoostingClassifier(n_estimators=4),
    "bagging": BaggingClassifier(
        DecisionTreeClassifier(), 3, random_state=np.random.RandomState(1)
    ),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "bayes": GaussianNB(),
    "bernoulli": BernoulliNB(),
    "lda": LinearDiscriminantAnalysis(),
    "dummy": DummyClassifier(),
}
BY_COLUMN = ColumnTransformer(
    [("n", make_pipeline(SimpleImputer(), StandardScaler()), ["a"]), ("c", OneHotEncoder(), ["b"])]
)
MIXED = {
    "columns": make_pipeline(BY_COLUMN, LogisticRegression()),
    "encoder": make_pipeline(TableEncoder(), LogisticRegression()),
    "codes": make_pipeline(
        TableEncoder(for_trees=True), HistGradientBoostingClassifier(max_iter=3)
    ),
}


def again(value):
    [back] = unpack_values(pack_values([value]))
    return back


@pytest.mark.parametrize("labels", [Y, THREE], ids=["two", "three"])
@pytest.mark.parametrize("name", MODELS)
def test_scikit_learn_models_come_back_with_their_bits(name, labels):
    model = clone(MODELS[name]).fit(X, labels)
    back = again(model)
    assert type(back) is type(model)
    assert (back.predict_proba(X) == model.predict_proba(X)).all()
    assert set(vars(back)) == set(vars(model))


@pytest.mark.parametrize("name", MIXED)
def test_mixed_tables_too(name):
    model = clone(MIXED[name]).fit(FRAME, Y)
    assert (again(model).predict_proba(FRAME) == model.predict_proba(FRAME)).all()


def test_models_of_different_kinds_in_one_list():
    models = [
        HistGradientBoostingClassifier(max_iter=2).fit(X, Y),
        ConstantVote(1),
        HistGradientBoostingClassifier(max_iter=3).fit(X, THREE),
        RidgeClassifier().fit(X, Y),
    ]
    for model, back in zip(models, unpack_values(pack_values(models)), strict=True):
        assert type(back) is type(model)
        assert (back.predict(X) == model.predict(X)).all()


VALUES = [
    {"a": [1, 2.5, None, True, "x", (1,), []], "b": {}, "": {"c": float("nan")}},
    {1: "one", (2, "x"): float("inf"), None: -0.0},
    [np.float32(0.1), np.int64(-3), np.str_("é"), np.bool_(True), np.datetime64("2020-01-01")],
    [np.zeros((0, 3)), np.arange(6).reshape(2, 3), np.array(["a", None, 1.5], dtype=object)],
    [np.array([[1, 2], None, [3]], dtype=object)],
    [slice(1, None, 2), np.float64, float, np.dtype("float32"), 2**100, -1],
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_plain_values_come_back(value):
    back = again(value)
    assert repr(back) == repr(value)  # types, signs of zero, NaN, order of keys


def test_the_order_in_memory_survives():
    array = np.asfortranarray(RNG.normal(size=(3, 4)))
    back = again([array, array.T.copy(order="C"), array[:, ::2]])
    assert back[0].flags.f_contiguous
    assert not back[0].flags.c_contiguous
    assert back[1].flags.c_contiguous
    assert (back[2] == array[:, ::2]).all()
    assert all(part.flags.owndata or part.base.flags.owndata for part in back)


def test_sources_of_random_numbers_go_on_where_they_were():
    for source in (np.random.default_rng(3), np.random.RandomState(4)):
        source.normal(size=5)
        back = again(source)
        assert (source.normal(size=9) == back.normal(size=9)).all()


class Own(DecisionTreeClassifier):
    """An estimator of somebody else."""


def test_what_is_not_on_the_list_is_not_packed():
    loop = []
    loop.append(loop)
    for value in (Own(), SVC(), {1, 2}, print, loop, {"x": np.ma.masked_array([1], [True])}):
        with pytest.raises(NotPackedError):
            pack_values([value])
    assert "Own is not packed" in why_not_packed([Own()])
    assert why_not_packed([DecisionTreeClassifier()]) is None


def test_the_rest_goes_through_skops_and_comes_back():
    parts = dump({"known": GaussianNB().fit(X, Y), "other": SVC().fit(X, Y)})
    assert sorted(parts) == ["models.packed", "models.skops"]
    svc = ["sklearn.svm._classes.SVC"]
    state = load_trusted(parts, svc, "m")
    assert (state["other"].predict(X) == SVC().fit(X, Y).predict(X)).all()
    assert (state["known"].predict(X) == GaussianNB().fit(X, Y).predict(X)).all()
    parts["models.skops"] = dump({"known": 1, "other": SVC()})["models.skops"]
    parts["models.packed"] = pack_values([{"other": 3}])
    with pytest.raises(ModelFileError, match="two values for one item"):
        load_trusted(parts, svc, "m")


def test_private_parts_that_moved_leave_it_to_skops(monkeypatch, request):
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, Y)
    monkeypatch.setattr(compat, "packed_internals", dict)
    name_of.cache_clear()
    request.addfinalizer(name_of.cache_clear)
    parts = dump({"m": model})
    assert "models.skops" in parts
    types = untrusted_types(parts, "m")
    assert any(name.endswith("HistGradientBoostingClassifier") for name in types)
    assert (load_trusted(parts, types, "m")["m"].predict(X) == model.predict(X)).all()


def forged(values, change):
    """Change the structure of a packed archive."""
    packed = pack_values(values)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    structure = json.loads(parts["structure.json"])
    change(structure, parts)
    parts["structure.json"] = json.dumps(structure).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return {"models.packed": buffer.getvalue()}


def in_attribute(*names, **change):
    def apply(structure, _):
        column = structure["column"]
        for name in names:
            column = column["columns"][name]
        column.update(change)

    return apply


TREE = {"m": DecisionTreeClassifier(max_depth=2).fit(X, Y)}
FORGERIES = {
    "'os.system' is not a known part": in_attribute("m", type="os.system"),
    "'NoSuch' is not a known part": in_attribute("m", type="NoSuch"),
    "tree's arrays do not have the sizes": in_attribute("m", "tree_", "node_count", same=10**9),
    "tree's arrays do not have": in_attribute("m", "tree_", "n_outputs", same=2),
    "holds other values": in_attribute("m", "max_depth", same="two"),
    "instead of 3": lambda structure, _: structure.update(length=3),
    "cannot be rebuilt": lambda _, parts: parts.pop("0"),
    "cannot be rebuilt here: 'eval'": in_attribute("m", "tree_", "max_depth", kind="eval"),
}


@pytest.mark.parametrize(("message", "change"), FORGERIES.items(), ids=FORGERIES)
def test_forged_structures_are_refused(message, change):
    with pytest.raises(ModelFileError, match=message):
        load_trusted(forged([TREE], change), (), "m")


def test_packed_trees_whose_indices_lead_outside_are_refused():
    tree = clone(TREE["m"]).fit(X, Y)
    state = tree.tree_.__getstate__()
    nodes = state["nodes"].copy()
    nodes["feature"][0] = 3
    tree.tree_.__setstate__({**state, "nodes": nodes})
    with pytest.raises(ModelFileError, match="indices lead outside"):
        load_trusted(dump({"m": [tree]}), (), "m")
    boosted = HistGradientBoostingClassifier(max_iter=2).fit(X, Y)
    boosted._predictors[1][0].nodes["left"][0] = 10**6
    with pytest.raises(ModelFileError, match="indices lead outside"):
        load_trusted(dump({"m": [boosted]}), (), "m")


def test_no_type_that_runs_code_is_on_the_list():
    for name in ("FunctionTransformer", "eval", "Tree.__new__", "os", "builtins.exec"):
        with pytest.raises(ModelFileError):
            kind_named(name)


def test_hundreds_of_boosted_models_are_packed(tmp_path):
    model = PointwiseReplicableClassifier(
        HistGradientBoostingClassifier(), n_blocks=5, rho=0.5, max_fits=5
    ).fit(np.tile(X, (5, 1)) + RNG.normal(0, 0.1, (5 * N, 3)), np.tile(Y, 5))
    many = [fitted for fitted in model.estimators_ for _ in range(20)]
    parts = dump({"estimators_": many})
    back = load_trusted(parts, (), "m")["estimators_"]
    assert sum(map(len, parts.values())) < 100e6 * len(many) / 704
    assert (back[-1].predict_proba(X) == many[-1].predict_proba(X)).all()
    save(model, tmp_path / "m.replearn")
    assert (load(tmp_path / "m.replearn", 0).predict(X) == model.predict(X)).all()
    data = bytearray((tmp_path / "m.replearn").read_bytes())
    for place in RNG.integers(0, len(data), 10).tolist():
        changed = data.copy()
        changed[place] ^= 1 << int(RNG.integers(8))
        (tmp_path / "c.replearn").write_bytes(changed)
        try:
            other = load(tmp_path / "c.replearn", 0)
        except ModelFileError:
            continue
        # A byte that no reader of zip archives looks at, such as the date of an entry.
        assert (other.predict(X) == model.predict(X)).all()
