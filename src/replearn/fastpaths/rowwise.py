"""Which models and transformers treat each row on its own, whatever stands beside it.

They look values up, compare, or compute element by element; none multiplies matrices, sums over a
batch or lets a linear algebra library choose an order of summation by shape. Their results need no
padding. Types are matched exactly: a subclass may do anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
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

from replearn.execution.plugins import Predictor
from replearn.execution.voting import LoopPredictor
from replearn.tables.encoder import TableEncoder
from replearn.tables.rows import n_rows

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
    """Tell whether a fitted transformer treats each row on its own."""
    if step is None or isinstance(step, str) or type(step) in ROWWISE_TRANSFORMERS:
        return True
    if type(step) is FunctionTransformer:
        return step.func is None
    parts = _parts(step)
    return bool(parts) and all(map(is_rowwise_transformer, parts))


def _parts(step: Any) -> list[Any]:
    """List the transformers inside a composite one; nothing for any other."""
    if type(step) is ColumnTransformer:
        return [transformer for _, transformer, _ in getattr(step, "transformers_", [])]
    named = {FeatureUnion: "transformer_list", Pipeline: "steps"}.get(type(step))
    return [transformer for _, transformer in getattr(step, named)] if named else []


class RowwisePredictor(LoopPredictor):
    """Models that treat each row on its own: they predict one by one, all rows at once."""

    def chunks(self, X: Any) -> Iterator[tuple[slice, Any]]:
        """Yield the whole table."""
        yield slice(None), X


class ConstantPredictor(Predictor):
    """Models that saw one class only: a table is not looked at, except for its length."""

    stops_early = False

    def prepare(self, X: Any) -> Any:
        """Keep the length of the table only."""
        return np.empty((n_rows(X), 0))

    def add_votes(self, X: Any, counts: NDArray[Any]) -> None:
        """Add one vote per model to every row."""
        for block_model in self.block_models:
            counts[:, block_model.partition, block_model.codes[0]] += 1

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add probability one per model to every row."""
        self.add_votes(X, totals)
