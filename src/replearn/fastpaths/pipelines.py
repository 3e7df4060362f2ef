"""Pipelines vote by what reaches their last steps, computed for all at once where possible.

Three ways, one shape. *Folded*: the transformers before a linear model are folded into its
weights (scaling, filling in and one-hot encoding give weighted sums of terms: see `basis`),
and one product gives the scores of all pipelines (rounded as those of any linear model
here: see `linear`). *Encoded*: what reaches trees behind encoders is computed for all pipelines
from one table of terms; codes, levels, filled-in and plain numbers are sums of terms without any
rounding, so the features have the bits of the pipeline's own transformers. *Plain*: transformers
that treat each row on its own transform one by one, ten milliseconds each, and the last steps
vote by their kind.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline

from replearn.execution import BlockModel, Predictor, groups_of_models, transformers_of
from replearn.fastpaths.basis import Basis, CannotFold, Of, Sum, Term, as_sum, columns_of, through
from replearn.fastpaths.boosting import BoostingPredictor, PackedBoostingVotes, pack_boostings
from replearn.fastpaths.linear import Form, LinearPredictor
from replearn.fastpaths.packed_trees import FEW_ROWS
from replearn.fastpaths.rowwise import ROWWISE_CLASSIFIERS, is_rowwise_transformer
from replearn.fastpaths.trees import PackedTreeVotes, TreesPredictor, pack_trees
from replearn.tables import copy_rows, is_sparse, n_rows, row_chunks, slice_rows


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
    """Pipelines that share one table of terms; see `replearn.fastpaths.basis`."""

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
        self._takes_missing = False

    def part(self, start: int, stop: int) -> EncodedPredictor:
        """Return some of the models as a group that takes the tables of this one."""
        part = cast(EncodedPredictor, super().part(start, stop))
        part.__dict__.pop("_packed", None)
        own = slice(self._ends[start], self._ends[stop])
        part._ends = self._ends[start : stop + 1] - own.start
        part._weights = self._weights[own]
        part._constants = self._constants[own]
        part._gaps = self._gaps[own]
        return part

    @cached_property
    def _packed(self) -> PackedTreeVotes | PackedBoostingVotes | None:
        """All last steps as one table of trees, each with its own features, for a few rows."""
        kinds = {type(predictor) for predictor in self._predictors}
        pack = {TreesPredictor: pack_trees, BoostingPredictor: pack_boostings}.get(kinds.pop())
        if pack is None or kinds:
            return None
        last = [predictor.block_models[0] for predictor in self._predictors]
        return pack(last, self._ends[:-1].tolist())

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows."""
        if n_rows(X) <= FEW_ROWS and self._packed is not None:
            features = self._few_features(X)
            if features is not None:
                self._packed.add_votes(features, counts)
                return
        super().add_votes(X, counts)

    def _few_features(self, rows: Any) -> NDArray[Any] | None:
        """Return the features of all pipelines, one below the other, as their trees read them.

        None if a tree might refuse them: it shall do so in its own words.
        """
        terms = rows.toarray() if is_sparse(rows) else rows
        features = self._weights @ np.ascontiguousarray(terms.T) + self._constants
        if self._opens:
            features += self._missing(terms[:, self._opens])[self._gaps]
        if not isinstance(self._packed, PackedTreeVotes):
            return np.asarray(features)
        with np.errstate(over="ignore"):
            features = features.astype(np.float32)
        if np.isinf(features).any():
            return None
        if not self._takes_missing and np.isnan(features).any():
            # what each tree has taken once, it takes again
            gaps = np.add.reduceat(np.isnan(features).any(axis=1), self._ends[:-1])
            self._takes_missing = bool(gaps.all())
            return None
        return features

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
