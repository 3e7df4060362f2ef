"""Which models and transformers treat each row on its own, whatever stands beside it.

They look values up, compare, or compute element by element; none multiplies matrices, sums over a
batch or lets a linear algebra library choose an order of summation by shape. Their results need no
padding. Types are matched exactly: a subclass may do anything.
"""

from __future__ import annotations

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from replearn.tables.encoder import TableEncoder

ROWWISE_CLASSIFIERS = frozenset({DummyClassifier, HistGradientBoostingClassifier})

ROWWISE_TRANSFORMERS = frozenset(
    {
        Binarizer,
        CountVectorizer,
        DictVectorizer,
        HashingVectorizer,
        KBinsDiscretizer,
        MaxAbsScaler,
        MinMaxScaler,
        MissingIndicator,
        OneHotEncoder,
        OrdinalEncoder,
        RobustScaler,
        SelectKBest,
        SelectPercentile,
        SimpleImputer,
        StandardScaler,
        TableEncoder,
        TfidfTransformer,
        TfidfVectorizer,
        VarianceThreshold,
    }
)


def is_rowwise_transformer(step: Any) -> bool:
    """Tell whether a fitted transformer treats each row on its own.

    Parameters
    ----------
    step : transformer or str or None
        A step of a pipeline; "passthrough" and "drop" count as transformers.

    Returns
    -------
    bool
        False when in doubt.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.preprocessing import StandardScaler
    >>> from replearn.fastpaths.rowwise import is_rowwise_transformer
    >>> is_rowwise_transformer(StandardScaler()), is_rowwise_transformer(PCA())
    (True, False)
    """
    if step is None or isinstance(step, str):
        return True
    if type(step) in ROWWISE_TRANSFORMERS:
        return True
    if type(step) is FunctionTransformer:
        return step.func is None
    return all(is_rowwise_transformer(part) for part in _parts(step)) and bool(_parts(step))


def _parts(step: Any) -> list[Any]:
    """List the transformers inside a composite one; nothing for any other."""
    if type(step) is ColumnTransformer:
        return [transformer for _, transformer, _ in getattr(step, "transformers_", [])]
    if type(step) is FeatureUnion:
        return [transformer for _, transformer in step.transformer_list]
    if type(step) is Pipeline:
        return [transformer for _, transformer in step.steps]
    return []
