"""Pipelines vote by what reaches their last steps, computed for all at once where possible.

Three ways, one shape. *Folded*: the transformers before a linear model are folded into its
weights (scaling, filling in and one-hot encoding give weighted sums of terms),
and one product gives the scores of all pipelines (rounded as those of any linear model
here: see `linear`). *Encoded*: what reaches trees behind encoders is computed for all pipelines
from one table of terms; codes, levels, filled-in and plain numbers are sums of terms without any
rounding, so the features have the bits of the pipeline's own transformers. *Plain*: transformers
that treat each row on its own transform one by one, ten milliseconds each, and the last steps
vote by their kind.

A *term* is the number in a column (zero where it is missing), or one if the cell is missing, or
one if it is a certain level. What a scaler, an imputer and a one-hot encoder make of a row is a
weighted sum of terms; only the weights differ from block to block. Types and parameters of
transformers are matched exactly; whatever is not surely a sum of terms is not folded.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from replearn.execution.plugins import BlockModel, Predictor, transformers_of
from replearn.execution.voting import groups_of_models
from replearn.fastpaths.linear import Form, LinearPredictor
from replearn.fastpaths.rowwise import ROWWISE_CLASSIFIERS, is_rowwise_transformer
from replearn.fastpaths.trees import TreesPredictor
from replearn.randomness.encoding import pandas_columns, pandas_names
from replearn.tables.encoder import (
    WORD_BUCKETS,
    TableEncoder,
    clip_for_trees,
    count_words,
    numbers_of,
    parts_of_dates,
    texts_of,
)
from replearn.tables.rows import (
    copy_rows,
    is_frame,
    is_nan,
    is_sparse,
    n_rows,
    row_chunks,
    slice_rows,
)


# -- a table as a matrix of terms ------------------------------------------------------------------
class Of(Enum):
    """What a term says of a cell, if it is not about a level."""

    NUMBER = "number"
    MISSING = "missing"


What = Of | float | str | None
"""What a term says of a cell: a level stands for itself (None is one, as in scikit-learn)."""


class Channel(NamedTuple):
    """A column and the way it is read; dates and words give several channels."""

    column: Hashable  # name or position
    reader: str
    part: int = 0


class Term(NamedTuple):
    """A function of one column: its number, whether it is missing, or whether it is a level."""

    channel: Channel
    what: What


@dataclass(frozen=True)
class Sum:
    """A constant plus weighted terms; ``open`` names a channel whose missing cells stay missing."""

    terms: dict[Term, float]
    constant: float = 0.0
    open: Channel | None = None


def _numbers(column: Any) -> list[NDArray[np.float64]]:
    if isinstance(column, np.ndarray):
        return [column.astype(np.float64)]
    return [numbers_of(column)]


def _cells(column: Any) -> list[list[Any]]:
    return [column.tolist() if hasattr(column, "tolist") else column.to_list()]


READERS: dict[str, Callable[[Any], list[Any]]] = {
    "numbers": _numbers,
    "cells": _cells,
    "clipped": lambda column: [clip_for_trees(numbers_of(column))],
    "texts": lambda column: [[np.nan if text is None else text for text in texts_of(column)]],
    "dates": parts_of_dates,
    "words": lambda column: list(count_words(texts_of(column)).T),
}
"""How the cells of a column are read: arrays of float64 (NaN: missing), or lists of cells."""

CELL_READERS = frozenset({"cells", "texts"})
"""Those that return lists."""


Indices = dict[Any, int]
"""Where the terms of one channel stand in the matrix, by what they say (see `What`)."""


class Basis:
    """The terms that some models share, each once; ``names`` are for tables without names.

    >>> age = Channel(0, "numbers")
    >>> basis = Basis([Term(age, Of.NUMBER), Term(age, Of.MISSING)])
    >>> basis.matrix(np.array([[30.0], [np.nan]]))
    array([[30.,  0.],
           [ 0.,  1.]])
    """

    def __init__(self, terms: Iterable[Term], names: Iterable[str] = ()) -> None:
        self.indices = {term: index for index, term in enumerate(dict.fromkeys(terms))}
        self._positions = {name: position for position, name in enumerate(names)}
        channels: dict[Channel, Indices] = {}
        for term, index in self.indices.items():
            channels.setdefault(term.channel, {})[term.what] = index
        # A slot holds one term of a channel in each row: its number, whether it is
        # missing, its level. Sums go through the slots in this order.
        self._cells: list[tuple[Channel, Indices, int]] = []
        self._levels: list[tuple[int, NDArray[np.float64], NDArray[np.intp], int]] = []
        self._numeric: list[Channel] = []
        number: list[tuple[int, int, int]] = []
        missing: list[tuple[int, int, int]] = []
        self._n_slots = 0
        for channel, indices in channels.items():
            if channel.reader in CELL_READERS:
                self._cells.append((channel, indices, self._n_slots))
                self._n_slots += 2
                continue
            column = len(self._numeric)
            slot = self._n_slots
            self._numeric.append(channel)
            if Of.NUMBER in indices:
                number.append((column, slot, indices[Of.NUMBER]))
            if Of.MISSING in indices:
                missing.append((column, slot + 1, indices[Of.MISSING]))
            listed = sorted(what for what in indices if not isinstance(what, Of))
            if listed:
                at = np.array([indices[what] for what in listed])
                self._levels.append((column, np.array(listed, dtype=np.float64), at, slot + 2))
            self._n_slots += 3
        self._number = _triples(number)
        self._missing = _triples(missing)
        self._never_missing = np.setdiff1d(self._number[0], self._missing[0])
        self._has_levels = any(not isinstance(term.what, Of) for term in self.indices)

    def matrix(self, X: Any) -> Any:
        """Evaluate all terms; a row of the result depends on that row of the table alone."""
        if is_sparse(X) and all(
            term.channel.reader == "numbers" and term.what is Of.NUMBER for term in self.indices
        ):
            chosen: Any = [term.channel.column for term in self.indices]
            return _finite(sparse.csr_array(X, dtype=np.float64)[:, chosen])
        read = self._reader(X)
        numbers = self._numbers(X, read)
        gone = np.isnan(numbers)
        if gone[:, self._never_missing].any():
            raise ValueError("a missing number in a column where the blocks expect none")
        of_number, number_slots, number_indices = self._number
        of_missing, missing_slots, missing_indices = self._missing
        known = _finite(np.where(gone, 0.0, numbers)[:, of_number])
        if not self._has_levels:
            dense = np.zeros((n_rows(X), len(self.indices)))
            dense[:, number_indices] = known
            dense[:, missing_indices] = gone[:, of_missing]
            return dense
        indices = np.full((n_rows(X), self._n_slots), -1, dtype=np.intp)
        values = np.ones(indices.shape)
        indices[:, number_slots] = number_indices
        values[:, number_slots] = known
        indices[:, missing_slots] = np.where(gone[:, of_missing], missing_indices, -1)
        for column, levels, at, slot in self._levels:
            nearest = np.minimum(np.searchsorted(levels, numbers[:, column]), len(levels) - 1)
            indices[:, slot] = np.where(levels[nearest] == numbers[:, column], at[nearest], -1)
        for channel, indices_of, slot in self._cells:
            _index_cells(read(channel), indices_of, indices[:, slot : slot + 2])
        return _sparse_rows(indices, values, len(self.indices))

    def _reader(self, X: Any) -> Callable[[Channel], Any]:
        """Return what reads a channel; each column of the table is read once in each way."""
        known: dict[tuple[Hashable, str], list[Any]] = {}
        columns = _named_columns(X)

        def read(channel: Channel) -> Any:
            key = channel.column, channel.reader
            if key not in known:
                named = channel.column in columns
                column = columns[channel.column] if named else self._column(X, channel.column)
                known[key] = READERS[channel.reader](column)
            return known[key][channel.part]

        return read

    def _numbers(self, X: Any, read: Callable[[Channel], Any]) -> NDArray[np.float64]:
        """Read the channels of numbers, one column for each."""
        if type(X) is np.ndarray and all(one.reader == "numbers" for one in self._numeric):
            columns = [self._position(channel.column) for channel in self._numeric]
            return X[:, columns].astype(np.float64)
        numbers = np.empty((n_rows(X), len(self._numeric)))
        for index, channel in enumerate(self._numeric):
            numbers[:, index] = read(channel)
        return numbers

    def _position(self, column: Any) -> int:
        return column if isinstance(column, int) else self._positions[column]

    def _column(self, X: Any, column: Any) -> Any:
        if is_frame(X):
            return X[X.columns[column]] if isinstance(column, int) else X[column]
        position = self._position(column)
        return X[:, [position]].toarray()[:, 0] if is_sparse(X) else np.asarray(X)[:, position]


def _named_columns(X: Any) -> dict[Hashable, Any]:
    """Return the columns of a pandas frame: one by one they cost more than their cells."""
    if not hasattr(X, "iloc"):
        return {}
    names = pandas_names(X)
    if len(set(names)) < len(names):
        return {}
    named = zip(names, pandas_columns(X), strict=True)
    return {name: column for name, column in named if isinstance(name, str)}


def _triples(entries: list[tuple[int, int, int]]) -> NDArray[np.intp]:
    """Return columns, slots and indices as three arrays."""
    return np.array(entries, dtype=np.intp).reshape(-1, 3).T


def _index_cells(cells: list[Any], indices_of: Indices, indices: NDArray[np.intp]) -> None:
    """Write the indices of a column of cells into its slots: missing, and levels."""
    if Of.MISSING in indices_of:
        missing = np.fromiter(map(_is_missing, cells), dtype=bool, count=len(cells))
        indices[missing, 0] = indices_of[Of.MISSING]
    at = map(indices_of.get, cells, repeat(-1))
    indices[:, 1] = np.fromiter(at, dtype=np.intp, count=len(cells))


def _is_missing(cell: Any) -> bool:
    """Tell whether imputers and encoders call a cell missing; where they disagree, refuse it."""
    if is_nan(cell):
        return True
    if type(cell) is not str and cell != cell:  # NaT: imputers fill it in, to encoders it is new
        raise ValueError(f"{cell!r} among the cells of a column with missing values")
    return False


def _finite(values: Any) -> Any:
    if not np.isfinite(values.data if is_sparse(values) else values).all():
        raise ValueError("a number is infinite or missing")
    return values


def _sparse_rows(
    indices: NDArray[np.intp], values: NDArray[np.float64], n_terms: int
) -> sparse.csr_array:
    """Put the terms of each row one after another; zeros add nothing and are left out."""
    there = (indices >= 0) & (values != 0.0)
    ends = np.concatenate([[0], there.sum(axis=1).cumsum()])
    return sparse.csr_array((values[there], indices[there], ends), shape=(len(indices), n_terms))


# -- transformers as sums of terms -----------------------------------------------------------------
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
    OneHotEncoder: _one_hot,
    OrdinalEncoder: _ordinal,
    Pipeline: lambda step, features: through([part for _, part in step.steps], features),
    SimpleImputer: _filled,
    StandardScaler: lambda step, features: _centred(
        features, step.mean_ if step.with_mean else None, step.scale_
    ),
    TableEncoder: _table,
}


# -- pipelines that vote together ------------------------------------------------------------------
@dataclass(frozen=True)
class Features:
    """What reaches the last step of a pipeline, and the names of the table's columns."""

    names: Sequence[str]
    sums: list[Sum]
    n_columns = 1  # weights are sparse: one pipeline counts as one column of terms

    @cached_property
    def terms(self) -> list[Term]:
        """All terms, in the order of their first use, and those of missing cells."""
        terms: dict[Term, None] = {}
        for one in self.sums:
            terms.update(dict.fromkeys(one.terms))
            if one.open is not None:
                terms[Term(one.open, Of.MISSING)] = None
        return list(terms)


@dataclass(frozen=True)
class Folded:
    """The scores of a pipeline: weights of terms, one column per score, and intercepts."""

    terms: list[Term]
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    names: Sequence[str]

    @property
    def n_columns(self) -> int:
        """Number of scores."""
        return len(self.intercepts)


def fold(pipeline: Pipeline) -> Folded | None:
    """Fold a fitted pipeline that ends with a linear model."""
    features = encoded_features(pipeline)
    if features is None or any(map(_keeps_missing_codes, features.sums)):
        return None
    sums = features.sums
    model = pipeline.steps[-1][1]
    coefficients = np.atleast_2d(model.coef_).astype(np.float64)
    if not sums or coefficients.shape[1] != len(sums):
        return None
    entries = [
        (term, column, weight)
        for column, feature in enumerate(sums)
        for term, weight in feature.terms.items()
    ]
    terms, columns, factors = zip(*entries, strict=True)
    indices = {term: index for index, term in enumerate(dict.fromkeys(terms))}
    weights = np.zeros((len(indices), len(coefficients)))
    products = np.array(factors)[:, np.newaxis] * coefficients.T[list(columns)]
    np.add.at(weights, [indices[term] for term in terms], products)
    constants = np.array([feature.constant for feature in sums])
    intercepts = (coefficients * constants).sum(axis=1) + model.intercept_
    return Folded(list(indices), weights, intercepts, features.names)


def encoded_features(pipeline: Pipeline) -> Features | None:
    """Return what reaches the last step of a pipeline as sums of terms."""
    steps = [step for _, step in pipeline.steps[:-1]]
    try:
        names, features = columns_of(steps)
        return Features(names, [as_sum(feature) for feature in through(steps, features)])
    except CannotFold:
        return None


def _keeps_missing_codes(feature: Sum) -> bool:
    """Whether a missing cell, which is no number, reaches the model as such."""
    return feature.open is not None and Term(feature.open, Of.NUMBER) not in feature.terms


ROWS_PER_CHUNK = 6144
"""Rows transformed at a time: what the transformers make of them must fit into memory."""

MAX_WEIGHTS = 2**24
"""Weights of all pipelines together, 128 MB: names of people as levels would make billions."""

CELLS_PER_CHUNK = 2**19
"""More rows where what reaches a last step has few columns: boosting pays once for each chunk."""

CELLS_AT_ONCE = 2**18
"""Cells that one product computes: for few rows, the features of many pipelines."""


class PipelinePredictor(Predictor):
    """Pipelines whose transformers treat each row on its own; the last step votes by its kind."""

    _rows_per_chunk = ROWS_PER_CHUNK

    def __init__(self, block_models: list[BlockModel], supported: list[Any], soft: bool) -> None:
        super().__init__(block_models)
        self._predictors = [_last_step_predictor(block_model, soft) for block_model in block_models]

    @classmethod
    def group(
        cls, block_models: list[BlockModel], supported: list[Any], soft: bool
    ) -> Predictor | None:
        """Make the group of these models."""
        return cls(block_models, supported, soft)

    @staticmethod
    def supports(model: Any, soft: bool) -> Any:
        """Tell whether all transformers of a pipeline treat each row on its own."""
        return all(is_rowwise_transformer(step) for _, step in model.steps[:-1])

    def part(self, start: int, stop: int) -> PipelinePredictor:
        """Return some of the models as a group that takes the tables of this one."""
        part = copy.copy(self)
        part.block_models = self.block_models[start:stop]
        part._predictors = self._predictors[start:stop]
        return part

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows."""
        for rows, predictor, table in self._tables(X):
            predictor.add_votes(table, counts[rows])

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the class probabilities of some rows, model by model in a fixed order."""
        for rows, predictor, table in self._tables(X):
            predictor.add_probabilities(table, totals[rows])

    def _tables(self, X: Any) -> Iterator[tuple[slice, Predictor, Any]]:
        """Yield what reaches the predictors of the last steps, some rows at a time."""
        for start, stop in row_chunks(n_rows(X), self._rows_per_chunk):
            features = self._features(slice_rows(X, start, stop))
            for predictor, table in zip(self._predictors, features, strict=True):
                yield slice(start, stop), predictor, predictor.prepare(table)

    def _features(self, rows: Any) -> Iterable[Any]:
        """Yield the features of each pipeline."""
        for block_model in self.block_models:
            table = copy_rows(rows)  # a scaler with copy=False writes into it
            for step in transformers_of(block_model.model):
                table = step.transform(table)
            yield table


class TermsPredictor(PipelinePredictor):
    """Pipelines that share one table of terms; see `replearn.fastpaths.pipelines`."""

    def __init__(self, block_models: list[BlockModel], supported: list[Any], soft: bool) -> None:
        Predictor.__init__(self, block_models)
        terms = (term for one in supported for term in one.terms)
        self._basis = Basis(terms, supported[0].names)

    @classmethod
    def group(
        cls, block_models: list[BlockModel], supported: list[Any], soft: bool
    ) -> Predictor | None:
        """Make the group, unless there would be too many weights."""
        n_terms = len({term for one in supported for term in one.terms})
        if n_terms * sum(one.n_columns for one in supported) > MAX_WEIGHTS:
            return None
        return cls(block_models, supported, soft)

    def prepare(self, X: Any) -> Any:
        """Turn the table into terms; what does not fit, a pipeline refuses in its own words."""
        try:
            return self._basis.matrix(X)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            self.block_models[0].model.predict(X)
            raise ValueError(
                f"X has other kinds of columns than the training table ({error}); "
                "give numbers where it had numbers, and texts where it had texts."
            ) from error


class FoldedPredictor(TermsPredictor):
    """Pipelines folded into linear models of terms."""

    stops_early = False

    def __init__(self, block_models: list[BlockModel], supported: list[Folded], soft: bool) -> None:
        super().__init__(block_models, supported, soft)
        self._linear = LinearPredictor(block_models, [self._spread(folded) for folded in supported])

    @staticmethod
    def supports(model: Any, soft: bool) -> Folded | None:
        """Fold a pipeline if its last step votes as a linear model."""
        return fold(model) if LinearPredictor.supports(model.steps[-1][1], soft) else None

    def _spread(self, folded: Folded) -> Form:
        """Put the weights of one pipeline at the indices of its terms among all."""
        weights = np.zeros((len(self._basis.indices), folded.weights.shape[1]))
        weights[[self._basis.indices[term] for term in folded.terms]] = folded.weights
        return weights, folded.intercepts

    def _tables(self, X: Any) -> Iterator[tuple[slice, Predictor, Any]]:
        yield slice(None), self._linear, X


class EncodedPredictor(TermsPredictor):
    """Pipelines of exact encoders and trees."""

    def __init__(
        self, block_models: list[BlockModel], supported: list[Features], soft: bool
    ) -> None:
        super().__init__(block_models, supported, soft)
        self._predictors = [_last_step_predictor(block_model, soft) for block_model in block_models]
        self._ends = np.cumsum([0, *(len(features.sums) for features in supported)])
        self._widest = max(1, int(np.diff(self._ends).max()))
        self._rows_per_chunk = max(ROWS_PER_CHUNK, CELLS_PER_CHUNK // self._widest)
        sums = [one for features in supported for one in features.sums]
        self._weights = self._stacked(sums)
        self._constants = np.array([[one.constant] for one in sums])
        opens = dict.fromkeys(one.open for one in sums if one.open is not None)
        self._opens = [self._basis.indices[Term(channel, Of.MISSING)] for channel in opens]
        row_of = {channel: row for row, channel in enumerate([None, *opens])}
        self._gaps = np.array([row_of[one.open] for one in sums])

    def part(self, start: int, stop: int) -> EncodedPredictor:
        """Return some of the models as a group that takes the tables of this one."""
        part = cast(EncodedPredictor, super().part(start, stop))
        own = slice(self._ends[start], self._ends[stop])
        part._ends = self._ends[start : stop + 1] - own.start
        part._weights = self._weights[own]
        part._constants = self._constants[own]
        part._gaps = self._gaps[own]
        return part

    @staticmethod
    def _missing(is_missing: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return NaN where a channel is missing, zero elsewhere; the first row is never missing."""
        gaps = np.zeros((1 + is_missing.shape[1], len(is_missing)))
        gaps[1:][is_missing.T == 1.0] = np.nan
        return gaps

    @staticmethod
    def supports(model: Any, soft: bool) -> Features | None:
        """Return what reaches the trees of a pipeline, unless it might be rounded on the way."""
        last = model.steps[-1][1]
        is_tree = type(last) in ROWWISE_CLASSIFIERS or TreesPredictor.supports(last, soft)
        if not is_tree or hasattr(last, "feature_names_in_"):  # fitted on a frame, and wants one
            return None
        features = encoded_features(model)
        if features is None or not all(map(_is_exact, features.sums)):
            return None
        width = len(features.sums)  # columns of one name are several features
        return features if getattr(last, "n_features_in_", width) == width else None

    def _stacked(self, sums: list[Sum]) -> Any:
        """Put the weights of all features of all pipelines below one another."""
        indices = [self._basis.indices[term] for one in sums for term in one.terms]
        values = np.array([weight for one in sums for weight in one.terms.values()], dtype=float)
        ends = np.cumsum([0, *(len(one.terms) for one in sums)])
        return sparse.csr_array(
            (values, indices, ends), shape=(len(sums), len(self._basis.indices))
        )

    def _features(self, rows: Any) -> Iterator[NDArray[np.float64]]:
        terms = sparse.csr_array(rows)
        length = n_rows(terms)
        gaps = self._missing(terms[:, self._opens].toarray())
        terms = terms.T.tocsr()
        for first, last in row_chunks(
            len(self._predictors), 1 + CELLS_AT_ONCE // (length * self._widest)
        ):
            part = slice(self._ends[first], self._ends[last])
            features = (self._weights[part] @ terms).toarray() + self._constants[part]
            features += gaps[self._gaps[part]]
            for table in np.split(features, self._ends[first + 1 : last] - self._ends[first]):
                yield table.T


def _last_step_predictor(block_model: BlockModel, soft: bool) -> Predictor:
    last = BlockModel(block_model.model.steps[-1][1], block_model.partition, block_model.codes)
    return groups_of_models([last], soft=soft)[0]


def _is_exact(feature: Sum) -> bool:
    """Whether no sum can be rounded: one plain number, or whole numbers."""
    numbers = [weight for term, weight in feature.terms.items() if term.what is Of.NUMBER]
    if numbers:
        return numbers == [1.0] and feature.constant == 0.0
    return all(float(part).is_integer() for part in (*feature.terms.values(), feature.constant))
