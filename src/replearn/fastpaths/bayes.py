"""Gaussian naive Bayes models vote together.

The log likelihoods of all models and classes are summed element by element in the order of the
features, so a row's votes depend on the row alone, and not on the machine's linear algebra. The
order of summation is not scikit-learn's: the votes agree with ``predict`` except where two
likelihoods are equal up to rounding.

The difference of two log likelihoods is a quadratic function of the row, so for models of two
classes one matrix product tells nearly all votes. Its rounding depends on the batch, but not beyond
a bound: only rows with a model whose difference lies within the bound are summed as above.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.execution import BlockModel, Predictor
from replearn.fastpaths.linear import Tally, add_wide_votes, checked_table
from replearn.tables import n_rows, row_chunks

CELLS_PER_CHUNK = 2**14
"""Likelihoods summed at a time: they and their work space stay in the cache."""

EPSILON = float(np.finfo(float).eps)


class GaussianPredictor(Predictor):
    """Gaussian naive Bayes models that vote together."""

    stops_early = False

    def __init__(self, block_models: list[BlockModel]) -> None:
        # First classes of all binary models, then their second classes, then everybody else's.
        self.binary = [block_model for block_model in block_models if len(block_model.codes) == 2]
        self.wide = [block_model for block_model in block_models if len(block_model.codes) > 2]
        self._first = block_models[0].model
        columns = [(block_model.model, index) for index in (0, 1) for block_model in self.binary]
        columns += [(m.model, index) for m in self.wide for index in range(len(m.codes))]
        self._means = np.stack([model.theta_[index] for model, index in columns], axis=1)
        variances = np.stack([model.var_[index] for model, index in columns], axis=1)
        self._precisions = 1.0 / variances
        priors = np.array([model.class_prior_[index] for model, index in columns])
        with np.errstate(divide="ignore"):  # a prior of zero: never that class
            self._offsets = np.log(priors) - 0.5 * np.log(2.0 * np.pi * variances).sum(axis=0)
        self._quadratic = _Quadratic(self._means, self._precisions, self._offsets, len(self.binary))

    @staticmethod
    def supports(model: Any, soft: bool) -> bool:
        """Tell whether the models vote hard."""
        return not soft

    def prepare(self, X: Any) -> Any:
        """Validate the table once, as any of the models would."""
        return checked_table(self._first, X)

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows: the first of the most likely classes."""
        tally = Tally(self.binary, counts.shape[1:])
        size = max(1, CELLS_PER_CHUNK // len(self._offsets))
        for start, stop in row_chunks(n_rows(X), size):
            rows = X[start:stop]
            part = counts[start:stop]
            predictions, unsure = self._quadratic.compare(rows)
            if unsure.any():
                predictions[unsure] = self._second_is_likelier(self._log_likelihoods(rows[unsure]))
            tally.add(predictions, part)
            if self.wide:
                wide_scores = self._log_likelihoods(rows)[:, 2 * len(self.binary) :]
                add_wide_votes(self.wide, wide_scores, part)

    def _second_is_likelier(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        n_binary = len(self.binary)
        return np.greater(scores[:, n_binary : 2 * n_binary], scores[:, :n_binary])

    def _log_likelihoods(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.zeros((len(rows), len(self._offsets)))
        term = np.empty_like(total)
        for values, mean, precision in zip(
            rows.T[:, :, np.newaxis], self._means, self._precisions, strict=True
        ):
            np.subtract(values, mean, out=term)
            np.square(term, out=term)
            term *= precision
            total += term
        total *= -0.5
        total += self._offsets
        return total


class _Quadratic:
    """Differences of the two log likelihoods of many models by one product, with an error bound.

    Rows are first centred and scaled by numbers that all models share, so that the coefficients of
    the square and the linear term stay moderate.
    """

    @np.errstate(all="ignore")  # what is not finite makes the rows unsure
    def __init__(
        self,
        means: NDArray[np.float64],
        precisions: NDArray[np.float64],
        offsets: NDArray[np.float64],
        n_binary: int,
    ) -> None:
        first = slice(0, n_binary)
        second = slice(n_binary, 2 * n_binary)
        self._centre = means.mean(axis=1)
        self._scale = 1.0 / np.sqrt((1.0 / precisions).mean(axis=1) + means.var(axis=1))
        shifted = (means - self._centre[:, np.newaxis]) * self._scale[:, np.newaxis]
        weights = precisions / np.square(self._scale)[:, np.newaxis]
        squares = -0.5 * weights
        products = weights * shifted
        constants = offsets + 0.5 * np.negative(products * shifted).sum(axis=0)
        terms = np.concatenate([squares, products])
        self._constant = constants[second] - constants[first]
        self._terms = np.ascontiguousarray(terms[:, second] - terms[:, first])
        sizes = np.abs(terms[:, second]) + np.abs(terms[:, first])
        self._sizes = sizes.max(axis=1, initial=0.0)
        bulk = np.abs(products * shifted).sum(axis=0) + np.abs(offsets)
        self._constant_size = (bulk[second] + bulk[first]).max(initial=0.0)

    def compare(self, rows: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which models prefer the second class, and the rows where that is not certain."""
        with np.errstate(all="ignore"):
            scaled = (rows - self._centre) * self._scale
            features = np.concatenate([np.square(scaled), scaled], axis=1)
            differences = features @ self._terms
            differences += self._constant
            # A sum of p terms is computed with an error below p roundings of the sum of their
            # sizes (Higham, section 3.1); the features carry five more roundings, the coefficients
            # a dozen. The same holds for the sums feature by feature that define the votes: twice
            # that, rounded up.
            roundings = 4 * (features.shape[1] + 32) * EPSILON
            bound = roundings * (np.abs(features) @ self._sizes + self._constant_size)
        sure = np.abs(differences).min(axis=1, initial=np.inf) > bound  # nan is not sure
        return differences > 0, ~sure
