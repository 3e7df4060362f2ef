"""What each transformer makes of the columns of a table, as weighted sums of terms.

Types and parameters are matched exactly; whatever is not surely a sum of terms is not folded.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from replearn.fastpaths.basis import Channel, Of, Sum, Term
from replearn.tables import WORD_BUCKETS, TableEncoder

_LARGEST_EXACT = 2**53


class CannotFold(Exception):
    """A step is not surely a weighted sum of terms."""


@dataclass(frozen=True)
class Cell:
    """A column as it is; missing cells are filled in with a value, or stay missing (None)."""

    column: Hashable
    fill: float | str | None = None


Feature = Cell | Sum


def columns_of(steps: list[Any]) -> tuple[Sequence[str], list[Feature]]:
    """List the columns of the table that the first real step was fitted on."""
    first = next((step for step in steps if not _is_identity(step)), None)
    if first is None or not hasattr(first, "n_features_in_"):  # texts have no columns
        raise CannotFold
    if type(first) is TableEncoder:
        return [], _own_columns(first)
    names = list(getattr(first, "feature_names_in_", []))
    columns: Sequence[Hashable] = names or range(first.n_features_in_)
    return names, [Cell(column) for column in columns]


def _is_identity(step: Any) -> bool:
    if type(step) is FunctionTransformer:
        return step.func is None
    return step is None or (isinstance(step, str) and step == "passthrough")


def through(steps: list[Any], features: list[Feature]) -> list[Feature]:
    """Send columns through fitted transformers, one after another."""
    for step in steps:
        if not _is_identity(step):
            if type(step) not in _RULES:
                raise CannotFold
            features = _RULES[type(step)](step, features)
    return features


def as_sum(feature: Feature) -> Sum:
    """Read a column as a number; where it is not filled in, missing ones stay missing."""
    if isinstance(feature, Sum):
        return feature
    channel = Channel(feature.column, "numbers")
    terms = {Term(channel, Of.NUMBER): 1.0}
    if feature.fill is None:
        return Sum(terms, open=channel)
    if isinstance(feature.fill, str):
        raise CannotFold
    return Sum({**terms, Term(channel, Of.MISSING): feature.fill})


def _affine(features: list[Feature], slopes: Any, shifts: Any) -> list[Feature]:
    """Return slope * feature + shift for each."""
    scaled: list[Feature] = []
    slopes = np.broadcast_to(slopes, len(features))
    shifts = np.broadcast_to(shifts, len(features))
    for feature, slope, shift in zip(features, slopes.tolist(), shifts.tolist(), strict=True):
        before = as_sum(feature)
        terms = {term: slope * weight for term, weight in before.terms.items()}
        scaled.append(Sum(terms, slope * before.constant + shift, before.open))
    return scaled


def _centred(features: list[Feature], centre: Any, scale: Any) -> list[Feature]:
    scale = np.float64(1.0) if scale is None else np.asarray(scale, dtype=np.float64)
    shift = 0.0 if centre is None else -np.asarray(centre, dtype=np.float64) / scale
    return _affine(features, 1.0 / scale, shift)


def _unclipped(step: MinMaxScaler | MaxAbsScaler, features: list[Feature]) -> list[Feature]:
    if getattr(step, "clip", False):
        raise CannotFold
    if isinstance(step, MaxAbsScaler):
        return _centred(features, None, step.scale_)
    return _affine(features, step.scale_, step.min_)


def _filled(step: SimpleImputer, features: list[Feature]) -> list[Feature]:
    marker = step.missing_values
    if step.add_indicator or not (isinstance(marker, float) and np.isnan(marker)):
        raise CannotFold
    filled: list[Feature] = []
    for feature, value in zip(features, step.statistics_.tolist(), strict=True):
        if isinstance(value, float) and np.isnan(value):
            if step.keep_empty_features:
                raise CannotFold
            continue  # the block has no value of this column, and leaves it out
        filled.append(_fill(feature, value))
    return filled


def _fill(feature: Feature, value: Any) -> Feature:
    if isinstance(feature, Cell):
        if feature.fill is not None:
            return feature
        if not isinstance(value, str | float | int) or isinstance(value, bool):
            raise CannotFold
        return Cell(feature.column, value if isinstance(value, str) else float(value))
    if feature.open is None:
        return feature
    if isinstance(value, str):
        raise CannotFold
    # A missing cell's number counts as zero: the constant is there already.
    missing = {Term(feature.open, Of.MISSING): value - feature.constant}
    return Sum({**feature.terms, **missing}, feature.constant)


def _joins_rare_levels(step: OneHotEncoder | OrdinalEncoder) -> bool:
    return step.min_frequency is not None or step.max_categories is not None


def _one_hot(step: OneHotEncoder, features: list[Feature]) -> list[Feature]:
    if _joins_rare_levels(step) or step.handle_unknown not in ("ignore", "infrequent_if_exist"):
        raise CannotFold
    dropped = [None] * len(features) if step.drop_idx_ is None else step.drop_idx_
    encoded: list[Feature] = []
    for feature, categories, drop in zip(features, step.categories_, dropped, strict=True):
        levels = _levels(feature, np.asarray(categories))
        encoded += [level for index, level in enumerate(levels) if index != drop]
    return encoded


def _levels(feature: Feature, categories: NDArray[Any]) -> list[Feature]:
    if not isinstance(feature, Cell):
        raise CannotFold
    numeric = categories.dtype.kind in "biuf"
    if numeric and np.abs(categories.astype(float)).max(initial=0.0) >= _LARGEST_EXACT:
        raise CannotFold
    values = categories.astype(float).tolist() if numeric else categories.tolist()
    channel = Channel(feature.column, "numbers" if numeric else "cells")
    return [_level(feature, channel, value) for value in values]


def _level(feature: Cell, channel: Channel, value: Any) -> Feature:
    if isinstance(value, float) and np.isnan(value):
        if feature.fill is not None:
            raise CannotFold
        return Sum({Term(channel, Of.MISSING): 1.0})
    if type(value) not in (str, int, float, type(None)):
        raise CannotFold
    terms: dict[Term, float] = {Term(channel, value): 1.0}
    if feature.fill is not None and feature.fill == value:
        terms[Term(channel, Of.MISSING)] = 1.0
    return Sum(terms)


def _ordinal(step: OrdinalEncoder, features: list[Feature]) -> list[Feature]:
    missing = step.encoded_missing_value
    if _joins_rare_levels(step) or step.handle_unknown != "use_encoded_value":
        raise CannotFold
    if not (_is_small(step.unknown_value) and (_is_small(missing) or np.isnan(missing))):
        raise CannotFold
    return [
        _codes(feature, np.asarray(categories), float(step.unknown_value), float(missing))
        for feature, categories in zip(features, step.categories_, strict=True)
    ]


def _codes(feature: Feature, categories: NDArray[Any], unknown: float, missing: float) -> Feature:
    """Return the code of each level, counted from that of unknown ones."""
    terms: dict[Term, float] = {}
    stays_missing = None
    for code, level in enumerate(_levels(feature, categories)):
        assert isinstance(level, Sum)
        for term in level.terms:
            is_category = term.what is Of.MISSING and len(level.terms) == 1
            if is_category and np.isnan(missing):
                stays_missing = term.channel
            else:
                terms[term] = (missing if is_category else code) - unknown
    return Sum(terms, unknown, stays_missing)


def _is_small(value: Any) -> bool:
    return float(value).is_integer() and abs(value) < 2**20


def _selected(step: Any, features: list[Feature]) -> list[Feature]:
    return [features[index] for index in np.flatnonzero(step.get_support())]


def _by_columns(step: ColumnTransformer, features: list[Feature]) -> list[Feature]:
    names = list(getattr(step, "feature_names_in_", []))
    result: list[Feature] = []
    for _, transformer, columns in step.transformers_:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        chosen = [features[index] for index in _positions(columns, names, len(features))]
        if chosen:
            result += through([transformer], chosen)
    return result


def _positions(columns: Any, names: list[str], n_columns: int) -> list[int]:
    """Translate a selection of columns, as `ColumnTransformer` takes it, to positions."""
    columns = [columns] if isinstance(columns, str | int) else columns
    if isinstance(columns, slice):
        if any(isinstance(end, str) for end in (columns.start, columns.stop)):
            raise CannotFold
        return list(range(n_columns))[columns]
    listed = np.asarray(columns)
    if listed.dtype == bool:
        return np.flatnonzero(listed).tolist()
    if all(isinstance(column, str) for column in columns):
        return [names.index(column) for column in columns]
    return [int(index) % n_columns for index in listed]


def _table(step: TableEncoder, features: list[Feature]) -> list[Feature]:
    if features != _own_columns(step):
        raise CannotFold
    read = _for_trees if step.for_trees else _for_linear_models
    return [
        feature
        for fitted in step.fitted_columns_
        for feature in (_words(fitted) if "words" in fitted else read(fitted))
    ]


def _own_columns(step: TableEncoder) -> list[Feature]:
    """List the columns that the encoder reads; it knows them by name, and a number is none."""
    names = [fitted["name"] for fitted in step.fitted_columns_]
    if not all(isinstance(name, str) for name in names):
        raise CannotFold
    return [Cell(name) for name in names]


def _words(fitted: dict[str, Any]) -> list[Sum]:
    channels = [Channel(fitted["name"], "words", part) for part in range(WORD_BUCKETS + 1)]
    return [Sum({Term(channel, Of.NUMBER): 1.0}) for channel in channels]


def _for_trees(fitted: dict[str, Any]) -> list[Sum]:
    if "levels" in fitted:
        channel = Channel(fitted["name"], "texts")
        # codes are counted from that of unknown levels
        codes = {Term(channel, level): code + 1.0 for code, level in enumerate(fitted["levels"])}
        return [Sum(codes, -1.0, open=channel)]
    reader = "dates" if "date" in fitted else "clipped"  # no part of a date is too large
    channels = [Channel(fitted["name"], reader, part) for part in range(len(fitted["scales"]))]
    return [Sum({Term(channel, Of.NUMBER): 1.0}, open=channel) for channel in channels]


def _for_linear_models(fitted: dict[str, Any]) -> list[Sum]:
    name = fitted["name"]
    if "levels" in fitted:
        channel = Channel(name, "texts")
        return [Sum({Term(channel, level): 1.0}) for level in fitted["levels"]]
    reader = "dates" if "date" in fitted else "numbers"
    result: list[Sum] = []
    for part, (mean, spread, with_missing) in enumerate(fitted["scales"]):
        channel = Channel(name, reader, part)
        number = Term(channel, Of.NUMBER)
        missing = Term(channel, Of.MISSING)
        # a missing number is put at the mean, which is zero after centring
        result.append(Sum({number: 1.0 / spread, missing: mean / spread}, -mean / spread))
        if with_missing:
            result.append(Sum({missing: 1.0}))
    return result


_RULES: dict[type, Callable[[Any, list[Feature]], list[Feature]]] = {
    ColumnTransformer: _by_columns,
    MaxAbsScaler: _unclipped,
    MinMaxScaler: _unclipped,
    OneHotEncoder: _one_hot,
    OrdinalEncoder: _ordinal,
    Pipeline: lambda step, features: through([part for _, part in step.steps], features),
    RobustScaler: lambda step, features: _centred(features, step.center_, step.scale_),
    SelectKBest: _selected,
    SelectPercentile: _selected,
    SimpleImputer: _filled,
    StandardScaler: lambda step, features: _centred(
        features, step.mean_ if step.with_mean else None, step.scale_
    ),
    TableEncoder: _table,
    VarianceThreshold: _selected,
}
