"""Estimators of scikit-learn that a file may contain without being trusted by name.

skops trusts every class of scikit-learn: none of them runs code of the file's choosing. But the
compiled code of many follows indices and sizes of the fitted state without looking. Those listed
here have a validator (`replearn.persistence._validators`, trees: `replearn.persistence._trust`), or
predict by functions of numpy and scipy that check shapes. The others must be named.
"""

from __future__ import annotations

import importlib
import io
import json
import zipfile
from typing import Any

from sklearn.base import BaseEstimator

from replearn.persistence._packed_types import PACKED_ESTIMATORS
from replearn.persistence._skops_archive import SCHEMA, nodes_of

_BY_NUMPY = {
    "sklearn.calibration": "CalibratedClassifierCV",
    "sklearn.cross_decomposition": "PLSRegression",
    "sklearn.decomposition": "IncrementalPCA PCA TruncatedSVD",
    "sklearn.dummy": "DummyRegressor",
    "sklearn.ensemble": "AdaBoostClassifier AdaBoostRegressor BaggingRegressor StackingClassifier "
    "StackingRegressor VotingClassifier VotingRegressor",
    "sklearn.feature_extraction": "TfidfTransformer",
    "sklearn.feature_selection": "GenericUnivariateSelect SelectFromModel SelectKBest "
    "SelectPercentile VarianceThreshold",
    "sklearn.impute": "IterativeImputer",
    "sklearn.isotonic": "IsotonicRegression",
    "sklearn.kernel_approximation": "RBFSampler",
    "sklearn.linear_model": "ARDRegression BayesianRidge ElasticNet ElasticNetCV GammaRegressor "
    "HuberRegressor Lars LarsCV Lasso LassoCV LassoLars LassoLarsCV LassoLarsIC LinearRegression "
    "OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV PassiveAggressiveClassifier "
    "PassiveAggressiveRegressor Perceptron PoissonRegressor QuantileRegressor RANSACRegressor "
    "Ridge RidgeClassifierCV RidgeCV SGDClassifier SGDRegressor TheilSenRegressor TweedieRegressor",
    "sklearn.model_selection": "FixedThresholdClassifier GridSearchCV HalvingGridSearchCV "
    "HalvingRandomSearchCV RandomizedSearchCV TunedThresholdClassifierCV",
    "sklearn.multiclass": "OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier",
    "sklearn.multioutput": "ClassifierChain MultiOutputClassifier MultiOutputRegressor "
    "RegressorChain",
    "sklearn.neighbors": "NearestCentroid",
    "sklearn.neural_network": "MLPClassifier MLPRegressor",
    "sklearn.compose": "TransformedTargetRegressor",
    "sklearn.preprocessing": "Binarizer FunctionTransformer MultiLabelBinarizer TargetEncoder",
    "sklearn.svm": "LinearSVC LinearSVR",
}
"""Predict by numpy and scipy alone, by the module that exports them."""

_VALIDATED = {
    "sklearn.ensemble": "ExtraTreesRegressor GradientBoostingRegressor "
    "HistGradientBoostingRegressor IsolationForest RandomForestRegressor RandomTreesEmbedding "
    "_BinMapper",
    "sklearn.feature_extraction": "CountVectorizer TfidfVectorizer",
    "sklearn.neighbors": "KNeighborsClassifier KNeighborsRegressor NearestNeighbors "
    "RadiusNeighborsClassifier RadiusNeighborsRegressor",
    "sklearn.svm": "NuSVC NuSVR OneClassSVM SVC SVR",
}
"""Have a validator, besides those that can be packed."""


def unvalidated_types(models: bytes) -> set[str]:
    """Return the names of scikit-learn's estimators in an archive that must be trusted by name."""
    with zipfile.ZipFile(io.BytesIO(models)) as archive:
        schema = json.loads(archive.read(SCHEMA))
    named = {(node.get("__module__"), node.get("__class__")) for node in nodes_of(schema)}
    return {
        f"{module}.{name}"
        for module, name in named
        if isinstance(module, str) and isinstance(name, str)
        if module.split(".")[0] == "sklearn" and not _is_known(module, name)
        if _is_estimator(module, name)
    }


def _is_known(module: str, name: str) -> bool:
    """Tell by the class's name, and by the package that it is in."""
    package = ".".join(module.split(".")[:2])
    lists = (_BY_NUMPY, _VALIDATED, PACKED_ESTIMATORS)
    return any(name in each.get(package, "").split() for each in lists)


def _is_estimator(module: str, name: str) -> bool:
    try:
        kind: Any = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return True
    return isinstance(kind, type) and issubclass(kind, BaseEstimator)
