"""Forged models that would make compiled code leave its arrays are refused; honest ones are not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder

from replearn import PointwiseReplicableClassifier, load, save
from replearn.exceptions import ModelFileError
from replearn.persistence._trust import dump, load_trusted, why_not_packed
from replearn.persistence._validators import check_models, check_trees

RNG = np.random.default_rng(0)
N = 90
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
CODES = np.column_stack([RNG.integers(0, 5, N), RNG.integers(0, 9, N), X[:, 0]])
LEVELS = pd.DataFrame(
    {
        "text": RNG.choice(list("abcdef"), N),
        "number": RNG.integers(0, 7, N),
        "odd": [None, "x"] * 45,
    }
)


def check(model):
    check_trees([model], "m")
    check_models([model], "m")


# -- honest models ---------------------------------------------------------------------------------
PLAIN = [
    GradientBoostingRegressor(n_estimators=2),
    *(GradientBoostingClassifier(n_estimators=2, init=init) for init in (None, "zero")),
    GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()),
    make_pipeline(KBinsDiscretizer(3, strategy="uniform"), LogisticRegression()),
]


@pytest.mark.parametrize("labels", [Y, THREE], ids=["two", "three"])
@pytest.mark.parametrize("model", PLAIN, ids=repr)
def test_honest_models_are_sound(model, labels):
    check(clone(model).fit(X, labels))
    check(clone(model))


ENCODERS = [
    {},
    {"drop": "first"},
    {"drop": "if_binary"},
    {"min_frequency": 10},
    {"min_frequency": 10, "drop": "first"},
    {"max_categories": 3, "handle_unknown": "infrequent_if_exist"},
    {"handle_unknown": "ignore", "sparse_output": False},
]


@pytest.mark.parametrize("settings", ENCODERS, ids=repr)
def test_honest_encoders_are_sound(settings):
    numbers = LEVELS[["number"]]
    tables = [LEVELS, numbers, numbers.to_numpy(), numbers.astype(object), numbers > 3]
    tables += [numbers.astype(float).replace(3, np.nan), numbers.astype("M8[ns]")]
    for table in tables:
        check(OneHotEncoder(**settings).fit(table))
    check(OneHotEncoder(categories=[list("fedcba")], **settings).fit(LEVELS[["text"]]))


# -- forged models ---------------------------------------------------------------------------------
def encoder():
    return OneHotEncoder(sparse_output=False).fit(CODES[:, :2])


def boosting():
    return GradientBoostingClassifier(n_estimators=2).fit(X, Y)


def staged():
    return GradientBoostingClassifier(n_estimators=2).fit(X, THREE)


def by_category():
    model = HistGradientBoostingClassifier(categorical_features=[0, 1], min_samples_leaf=5)
    model.set_params(max_iter=2).fit(CODES, CODES[:, 0] % 2 == 0)
    assert any(tree.nodes["is_categorical"].any() for [tree] in model._predictors)
    return model


def wide_encoder(model):
    model.categories_ = [np.arange(-5000, 5000.0)] * 2
    model._n_features_outs = [1] * 2


def narrow_mapper(model):
    model._bin_mapper.is_categorical_ = model._bin_mapper.is_categorical_[:1]
    model._bin_mapper.bin_thresholds_ = model._bin_mapper.bin_thresholds_[:1]


def other_transformer(model):
    columns = [("all", "passthrough", [0, 1])]
    model._preprocessor = ColumnTransformer(columns).fit(CODES)


def changed(**attributes):
    return lambda model: vars(model).update(attributes)


def changed_by(name, change):
    return lambda model: setattr(model, name, change(getattr(model, name)))


FORGERIES = {
    "encoder: more categories than columns": (encoder, wide_encoder),
    "encoder: columns missing": (encoder, changed(_n_features_outs=[5])),
    "encoder: width": (encoder, changed(n_features_in_=9)),
    "encoder: order": (encoder, changed_by("categories_", lambda c: [c[0][::-1], c[1]])),
    "encoder: order of objects": (
        encoder,
        changed_by("categories_", lambda c: [c[0][::-1].astype(object), c[1]]),
    ),
    "encoder: dropped": (
        encoder,
        changed(
            _drop_idx_after_grouping=np.array([10**6, None], dtype=object), _n_features_outs=[4, 9]
        ),
    ),
    "encoder: groups": (
        encoder,
        changed(
            _infrequent_enabled=True,
            _default_to_infrequent_mappings=[np.array([0, 1, 2, 3, 999]), None],
        ),
    ),
    "boosting: trees": (boosting, changed_by("estimators_", lambda e: np.repeat(e, 3000, axis=1))),
    "boosting: trees and their number": (
        boosting,
        lambda model: vars(model).update(
            estimators_=np.repeat(model.estimators_, 9, axis=1), n_trees_per_iteration_=9
        ),
    ),
    "boosting: first predictions": (staged, lambda model: setattr(model, "init_", boosting())),
    "categories: one flag": (by_category, narrow_mapper),
    "categories: transformer": (by_category, other_transformer),
    "categories: width": (by_category, changed(n_features_in_=2**30)),
    "categories: trees": (by_category, changed(_n_features=2**30)),
    "categories: rows as they are": (by_category, changed(_in_fit=True)),
    "categories: width of the transformer": (
        by_category,
        lambda model: setattr(model._preprocessor, "n_features_in_", 2**30),
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_models_are_refused(name):
    make, forge = FORGERIES[name]
    model = make()
    check(model)
    forge(model)
    with pytest.raises((ModelFileError, ValueError), match=r"fit together|lead outside|unpack"):
        check(model)


@pytest.mark.parametrize("name", ["encoder: dropped", "boosting: trees"])
def test_they_are_refused_when_they_are_loaded(name):
    make, forge = FORGERIES[name]
    model = make()
    forge(model)
    with pytest.raises(ModelFileError, match="do not fit together"):
        load_trusted(dump({"m": [model]}), (), "m")


# -- histogram boosting with categories ------------------------------------------------------------
@pytest.mark.parametrize("frame", [False, True], ids=["codes", "frame"])
def test_boosting_with_categories_is_saved_and_loaded(tmp_path, frame):
    base = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3)
    base.set_params(categorical_features=[0, 1])
    table = pd.concat([LEVELS[["text", "number"]], pd.DataFrame(X)], axis=1) if frame else CODES
    if frame:
        table.columns = table.columns.astype(str)
    labels = np.where(CODES[:, 0] % 2 == 0, "even", "odd")
    model = PointwiseReplicableClassifier(base, n_blocks=3, rho=0.9, shared_key="k", max_fits=3)
    model.fit(table, labels)
    assert why_not_packed(model.estimators_) is None
    save(model, tmp_path / "m.replearn")
    again = load(tmp_path / "m.replearn", "k")
    assert (again.predict_proba(table) == model.predict_proba(table)).all()


def test_other_functions_are_not_packed():
    for function in (np.log1p, None):
        assert "FunctionTransformer" in why_not_packed(FunctionTransformer(function))
