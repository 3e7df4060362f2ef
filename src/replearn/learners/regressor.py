"""Pointwise replicable regression: the mean of block predictions, rounded to a shared grid."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from replearn.bounds.regression import cell_escape, mean_rounding_flips, smallest_blocks_rounding
from replearn.checks.choices import certify_choice
from replearn.checks.fingerprint import bind_estimator
from replearn.compat import HasMethods, Interval
from replearn.execution.context import RunContext
from replearn.execution.voting import model_predictions
from replearn.learners.inputs import (
    all_or_nothing,
    check_features,
    check_n_models,
    checked_fit,
    fitted_key,
    keyed_points,
    refuse_classifier,
    with_base_tags,
)
from replearn.learners.training import (
    COUNT,
    FRACTION,
    Cut,
    FollowsPlan,
    Sample,
    warn_if_not_certified,
)
from replearn.randomness.key import SharedKey

# Rows that a block has at least, where the number of blocks is left to the estimator, and how many
# blocks it takes where no range of y says how many are needed.
_MIN_ROWS = 20
_BLOCKS = 64


class PointwiseReplicableRegressor(FollowsPlan, RegressorMixin, BaseEstimator):
    """Make any regressor predict the same value when it is retrained on a fresh sample.

    The predictions of models trained on disjoint blocks are averaged, and the mean is rounded to a
    grid of spacing ``resolution`` whose offset is a shared random number of the point. Two runs
    predict the identical value unless a line of that grid falls between their means.

    Parameters
    ----------
    estimator : regressor, default=None
        The base estimator, trained once per block; ``Ridge()`` if None. Everything learned from
        data belongs inside it, as a pipeline.
    rho : float, default=0.1
        Probability that two runs predict different values for one point.
    resolution : float, default=1.0
        Spacing of the grid, in units of y, at most the width of ``y_range``. A prediction differs
        from the mean of the blocks by at most half of it; with a coarser grid predictions change
        less often.
    y_range : (float, float), default=None
        Smallest and largest prediction; predictions and those of the blocks are clipped to it.
        With a range the promise holds for every population (`certificate_`), without one flips are
        only estimated. It must be fixed before the data are seen.
    n_blocks : int, default=None
        Number of blocks. If None, as many as ``rho`` needs in ``y_range``, or 64 without a range,
        as long as each has 20 rows.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of all randomness. It must be the same in both runs, and fixed before the data
        are seen.
    plan : Plan, default=None
        A plan shared between labs. It sets ``rho``, ``resolution`` and ``n_blocks``, which must
        then keep their defaults here, and the number of rows: a surplus is left out by key.
    n_jobs : int, default=None
        Number of joblib workers for fitting. Predictions do not depend on it.
    verbose : int, default=0
        Progress: 0 reports progress only for long fits, 1 always, negative never.

    Attributes
    ----------
    certificate_ : Certificate
        What is promised.
    estimators_ : list of regressor
        The fitted base estimators.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if ``X`` had names.

    Notes
    -----
    The median of the blocks is not offered: if half of the block models predict low and half
    high, it jumps between them however many blocks there are, and no bound can hold.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn import PointwiseReplicableRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 3))
    >>> y = 10 * X[:, 0] + rng.normal(size=len(X))
    >>> settings = {"resolution": 3.0, "y_range": (-5.0, 15.0), "shared_key": "k"}
    >>> lab_a = PointwiseReplicableRegressor(rho=0.25, **settings).fit(X[::2], y[::2])
    >>> lab_b = PointwiseReplicableRegressor(rho=0.25, **settings).fit(X[1::2], y[1::2])
    >>> lab_a.certificate_.certified
    True
    >>> float((lab_a.predict(X[:500]) != lab_b.predict(X[:500])).mean()) < 0.05
    True
    """

    _set_by_plan: ClassVar[tuple[str, ...]] = ("rho", "resolution", "n_blocks", "y_range")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"]), None],
        "rho": [FRACTION],
        "resolution": [Interval(Real, 0, None, closed="neither")],
        "y_range": [Sequence, np.ndarray, None],
        "n_blocks": [COUNT, None],
        **{k: FollowsPlan._parameter_constraints[k] for k in ("shared_key", "plan")},
        "n_jobs": [Integral, None],
        "verbose": [Integral, "boolean"],
    }

    def __init__(
        self,
        estimator=None,
        *,
        rho=0.1,
        resolution=1.0,
        y_range=None,
        n_blocks=None,
        shared_key=None,
        plan=None,
        n_jobs=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.rho = rho
        self.resolution = resolution
        self.y_range = y_range
        self.n_blocks = n_blocks
        self.shared_key = shared_key
        self.plan = plan
        self.n_jobs = n_jobs
        self.verbose = verbose

    @checked_fit
    def fit(self, X: Any, y: ArrayLike, *, context: RunContext | None = None):
        """Fit the base estimator on every block.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The sample.
        y : array-like of shape (n,)
            Numbers.
        context : RunContext, default=None
            How to run: a store of finished blocks, a time limit. It does not change the result.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            X = check_features(self, X, reset=True)
            base = self._base()
            refuse_classifier(base)
            key = self._key_for_fit()
            values = check_numbers(X, y)
            fingerprint = bind_estimator(base)
            ends = self._ends()

            # Plan: from the parameters and the number of rows, never from the data.
            params = self._in_force()
            given = X, y
            X, values, _ = self._planned_rows(X, values)
            n_blocks = _number_of_blocks(params, len(values), ends)
            cut = Cut(len(values), n_blocks)

            # Train: disjoint blocks of equal size, one base estimator on each.
            run = {"n_jobs": self.n_jobs, "verbose": self.verbose, "context": context}
            sample = Sample(X, values)
            blocks = sample.cut(cut, key)
            blocks.train(base, **run)
            self.estimators_ = blocks.estimators

            # Certify: the rule rounds the mean of the blocks to each point's own grid.
            self.certificate_ = certify_choice(
                "regression",
                key,
                X,
                np.zeros(len(values)),
                fingerprints={"learner": fingerprint},
                sample=given,
                n=n_blocks * cut.block_size,
                n_blocks=n_blocks,
                resolution=float(params.resolution),
                rho=float(params.rho),
                y_range=None if ends is None else list(ends),
            )
        warn_if_not_certified(self.certificate_)
        return self

    def predict(self, X: Any, *, ids: Any = None) -> NDArray[np.float64]:
        """Predict numbers: the centres of cells of each point's own grid, cut off to ``y_range``.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The points.
        ids : array-like of shape (n,), default=None
            Ids that key the grids instead of the features.

        Returns
        -------
        ndarray of shape (n,)
            Predictions.
        """
        X = self._checked(X)
        means, _ = self._moments(X)
        cells, offsets = self._cells(X, ids, means)
        # theorem: rounded-regression (cut off: no two cells that means can reach become one)
        return np.clip((cells + offsets + 0.5) * self._resolution, *self._limits)

    def block_mean(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the block predictions, before it is rounded.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n,)
            Means. Those of two runs differ slightly at every point.
        """
        return self._moments(self._checked(X))[0]

    def flip_probability(self, X: Any, *, ids: Any = None) -> NDArray[np.float64]:
        """Estimate for each point the probability that a fresh sample changes its prediction.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The points.
        ids : array-like of shape (n,), default=None
            Ids that key the grids, as in `predict`.

        Returns
        -------
        ndarray of shape (n,)
            Probabilities under the grids of the points, from the spread of the block predictions;
            NaN with a single block.
        """
        X = self._checked(X)
        means, variances = self._moments(X)
        if len(self.estimators_) < 2:
            return np.full(len(means), np.nan)
        cells, offsets = self._cells(X, ids, means)
        low = (cells + offsets) * self._resolution
        ends = (low, low + self._resolution)
        return cell_escape(means, variances, len(self.estimators_), ends)

    def flip_rate(self, X: Any) -> float:
        """Estimate how often two runs predict differently, over these points and all keys.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The points.

        Returns
        -------
        float
            Mean over the points; NaN with a single block.
        """
        _, variances = self._moments(self._checked(X))
        if len(self.estimators_) < 2:
            return float("nan")
        n_blocks = len(self.estimators_)
        return float(mean_rounding_flips(variances, n_blocks, self._resolution).mean())

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_features(self, X, reset=False)

    def _base(self) -> Any:
        return Ridge() if self.estimator is None else self.estimator

    def _ends(self) -> tuple[float, float] | None:
        params = self._in_force()
        y_range = params.y_range
        if y_range is None:
            return None
        try:
            ends = [float(end) for end in y_range]
        except (TypeError, ValueError):
            ends = []
        if len(ends) != 2 or not ends[0] < ends[1] or not np.isfinite(ends).all():
            raise ValueError(f"y_range={y_range!r} must be two finite numbers, the lower first.")
        width = ends[1] - ends[0]
        resolution = params.resolution
        if resolution > width:
            raise ValueError(
                f"resolution={resolution:g} must not exceed the width of y_range="
                f"{y_range!r}, which is {width:g}: the middle of the range would always be "
                "nearer to the mean of the blocks. Use a smaller resolution."
            )
        return ends[0], ends[1]

    @property
    def _resolution(self) -> float:
        """Spacing of the grid that was fitted."""
        return float(self.certificate_.inputs["resolution"])

    @property
    def _limits(self) -> tuple[float, float]:
        """Smallest and largest prediction."""
        low, high = self.certificate_.inputs["y_range"] or (-np.inf, np.inf)
        return low, high

    def _derive(self, key: SharedKey) -> None:
        check_n_models(self.estimators_, self.certificate_.inputs["n_blocks"], 1)

    def _moments(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean and variance of the block predictions, cut off at the ends of the range."""
        low, high = self._limits
        predictions = model_predictions(self.estimators_, X)
        first = np.clip(next(predictions), low, high)
        total = np.zeros_like(first)
        squares = np.zeros_like(first)
        for others in predictions:
            # Relative to the first block: squares of large values would lose the spread.
            moved = np.clip(others, low, high) - first
            total += moved
            squares += moved**2
        count = len(self.estimators_)
        shift = total / count
        return first + shift, np.maximum(squares - count * shift**2, 0.0) / max(count - 1, 1)

    def _cells(
        self, X: Any, ids: Any, means: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the cell of each mean in the grid of its point, and the offset of the grid."""
        key = fitted_key(self)
        points = keyed_points(X, ids, None)
        offsets = key.child("grid").uniforms(points)
        return np.floor(means / self._resolution - offsets), offsets

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self):
        tags = with_base_tags(super().__sklearn_tags__(), self._base())
        tags.regressor_tags.poor_score = True
        return tags


def check_numbers(X: Any, y: Any) -> NDArray[np.float64]:
    """Return y as finite numbers, one for each row.

    >>> check_numbers(np.zeros((2, 1)), [1, 2]).tolist()
    [1.0, 2.0]
    """
    if y is None:
        raise ValueError("y is missing: requires y to be passed, but the target y is None.")
    values = column_or_1d(np.asarray(y), warn=True)
    check_consistent_length(X, values)
    if values.dtype.kind in "mM":
        raise ValueError(f"y must be numbers, got {values.dtype}: give a number of days, or years.")
    try:
        numbers: NDArray[np.float64] = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers, got {values.dtype}: {error}") from error
    if not np.isfinite(numbers).all():
        raise ValueError("Input y contains NaN or infinity: leave out those rows.")
    return numbers


def _number_of_blocks(params: Any, n: int, ends: tuple[float, float] | None) -> int:
    """Return the number of blocks, which depends on no value of the sample."""
    if params.n_blocks is not None:
        if params.n_blocks > n:
            raise ValueError(f"n_blocks={params.n_blocks} blocks cannot be cut from {n} rows.")
        return int(params.n_blocks)
    most = max(1, n // _MIN_ROWS)
    if ends is None:
        return min(_BLOCKS, most)
    try:
        wanted = smallest_blocks_rounding(params.rho, ends[1] - ends[0], params.resolution)
    except ValueError:  # too fine for any number of blocks: the certificate says so
        return most
    return min(wanted, most)
