"""Models with attributes changed at random: refused, an error, or predictions; never a crash."""

import os
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from replearn.execution.voting import one_thread
from tests.adversarial.fuzz.forgeries import FORBIDDEN, forged, outcome

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children with limits")
N = 150
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4))
CODES = np.column_stack([RNG.integers(0, 5, N), RNG.integers(0, 9, N), X[:, :2]])
TWO = (X[:, 0] > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])


def by_column(encoder):
    columns = ColumnTransformer([("codes", encoder, [0, 1])], remainder="passthrough")
    return make_pipeline(columns, LogisticRegression())


GROUPED = OneHotEncoder(
    drop="first", min_frequency=20, handle_unknown="infrequent_if_exist", sparse_output=False
)
BINS = KBinsDiscretizer(4, strategy="uniform")
BOOSTING = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=4)
FAMILIES = {
    "tree": (DecisionTreeClassifier(), X, THREE),
    "forest": (RandomForestClassifier(3), X, THREE),
    "extra trees": (ExtraTreesClassifier(3), X, TWO),
    "bagging": (BaggingClassifier(DecisionTreeClassifier(max_depth=3), 3), X, THREE),
    "boosting, two classes": (GradientBoostingClassifier(n_estimators=3), X, TWO),
    "boosting, three classes": (GradientBoostingClassifier(n_estimators=3), X, THREE),
    "histograms, two classes": (BOOSTING, X, TWO),
    "histograms, three classes": (BOOSTING, X, THREE),
    "histograms, categories": (clone(BOOSTING).set_params(categorical_features=[0, 1]), CODES, TWO),
    "one-hot": (by_column(OneHotEncoder(handle_unknown="ignore")), CODES, THREE),
    "one-hot, groups": (by_column(GROUPED), CODES, THREE),
    "bins": (make_pipeline(BINS, LogisticRegression()), X, THREE),
    "quantiles": (
        make_pipeline(QuantileTransformer(n_quantiles=20), PowerTransformer(), RidgeClassifier()),
        X,
        THREE,
    ),
    "polynomials": (
        make_pipeline(PolynomialFeatures(2), StandardScaler(), LogisticRegression()),
        X,
        THREE,
    ),
    "imputer": (
        make_pipeline(SimpleImputer(add_indicator=True), MinMaxScaler(), RidgeClassifier()),
        X,
        TWO,
    ),
    "ordinal": (make_pipeline(OrdinalEncoder(), GaussianNB()), np.round(CODES), THREE),
    "lda": (LinearDiscriminantAnalysis(), X, THREE),
    "qda": (QuadraticDiscriminantAnalysis(), X, THREE),
    "bernoulli": (BernoulliNB(), X, THREE),
    "numbers, many": (make_pipeline(PCA(2), HistGradientBoostingRegressor(max_iter=3)), X, TWO),
    "forest of numbers": (RandomForestRegressor(3), X, TWO),
}


def outcomes(name, count, seed):
    """Forge a model some times, and count how predicting with it ends."""
    base, table, labels = FAMILIES[name]
    many = np.tile(table, (20, 1))

    def predict(model):
        model.predict(many)
        getattr(model, "predict_proba", model.predict)(table[:7])

    found = Counter()
    with one_thread():
        model = clone(base).fit(table, labels)
        for number in range(count):
            made = forged(model, np.random.default_rng([seed, number]))
            found[outcome(made, predict)] += 1
    return found


@pytest.mark.parametrize("name", FAMILIES)
def test_some_forged_models_crash_nothing(name):
    found = outcomes(name, 4, 1)
    assert not set(found) & set(FORBIDDEN), found


@pytest.mark.long
@pytest.mark.parametrize("name", FAMILIES)
def test_forged_models_crash_nothing(name, record_property):
    found = outcomes(name, 450, 2)
    record_property("forged models", sum(found.values()))
    assert not set(found) & set(FORBIDDEN), found
    refused = found["refused"] + found["raised"] + found["not written"]
    assert refused > 45  # not all changes are harmless
