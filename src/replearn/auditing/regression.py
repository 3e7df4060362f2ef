"""Audit of regression: how often retraining changes a rounded prediction, and by how much.

Pairs of samples are drawn as in `audit`. A test row flips if the two runs give it different rounded
values; the spread is the distance of their values before rounding, in units of y.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.utils.parallel import Parallel, delayed

from replearn.auditing._contenders import fill_open_seeds
from replearn.auditing._design import draw_pair, draw_rows, make_design
from replearn.auditing._regression_result import Floats, RegressionAudit, RegressorResult
from replearn.exceptions import NotCertifiedWarning
from replearn.execution import Progress, in_workers, one_thread
from replearn.guarantees import Certificate
from replearn.learners import PointwiseReplicableRegressor
from replearn.learners.regressor import check_numbers
from replearn.randomness import SharedKey
from replearn.records.checks import check_positive
from replearn.tables import n_rows, take_rows

BASELINE = "single fit"
OURS = "replicable"


Grid = tuple[float, tuple[float, float] | None]
"""Where predictions without a grid of their own are rounded: spacing and range."""


@dataclass(frozen=True, eq=False)
class Run:
    """What one run predicted for the test rows."""

    value: Floats
    rounded: Floats
    resolution: float | None = None  # of a shared grid with an offset for each point
    estimated: float | None = None
    certificate: Certificate | None = None


def audit_regression(  # noqa: PLR0913
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    resolution: float | None = None,
    y_range: tuple[float, float] | None = None,
    n_pairs: int = 10,
    test_size: int | float | None = None,
    train_size: int | None = None,
    sample: str = "disjoint",
    max_rows: int | None = None,
    shared_key: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> RegressionAudit:
    """Measure how often retraining changes a rounded prediction, and by how much.

    Parameters
    ----------
    estimator : regressor or dict of str to regressor
        A `PointwiseReplicableRegressor` stands beside the single fit of its base estimator; any
        other regressor beside its replicable version. A dict is taken as it is; its first entry is
        the baseline.
    X : array-like, frame or sparse matrix of shape (n, n_features)
        All rows.
    y : array-like of shape (n,)
        Numbers.
    resolution : float, default=None
        Spacing of the grid, in units of y; None: that of the `PointwiseReplicableRegressor`.
    y_range : (float, float), default=None
        Range of predictions; None: that of the `PointwiseReplicableRegressor`, if it has one.
    n_pairs : int, default=10
        Pairs of runs.
    test_size, train_size, sample, max_rows
        As in `audit`.
    shared_key : str, bytes, int or SharedKey, default=0
        Draws the rows, fills seeds that were left open, and is the key of the replicable version
        that is made here.
    n_jobs : int, default=None
        Number of joblib workers. The result does not depend on it.
    verbose : int, default=0
        0 reports progress only for long audits, 1 always, a negative number never.

    Returns
    -------
    RegressionAudit
        ``print``, ``frame``, ``save("report.html")``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from replearn.auditing import audit_regression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((3000, 3))
    >>> y = 10 * X[:, 0] + rng.normal(size=3000)
    >>> tree = DecisionTreeRegressor(max_depth=5, random_state=0)
    >>> found = audit_regression(tree, X, y, resolution=2.0, n_pairs=3)
    >>> found.headline.split(":")[0], found.spread("replicable").value < 0.5
    ('Fewer flips', True)
    """
    values = check_numbers(X, y)
    key = SharedKey(shared_key).child("audit")
    regressors, grid = _regressors(estimator, resolution, y_range, shared_key)
    rows = draw_rows(n_rows(X), test_size, None, key, max_rows=max_rows)
    sizes = make_design(
        n_rows(X), rows, n_pairs=n_pairs, key=key, sample=sample, train_size=train_size
    )
    points = take_rows(X, rows.test)
    truth = values[rows.test]
    progress = Progress(len(regressors) * n_pairs, "pairs", verbose=verbose)

    def sample_of(pair: int) -> list[tuple[Any, Floats]]:
        return [(take_rows(X, r), values[r]) for r in draw_pair(sizes, rows, key, pair)]

    jobs = (
        delayed(_run_pair)(name, model, sample_of(pair), points, key.child("seed", pair), grid)
        for name, model in regressors.items()
        for pair in range(n_pairs)
    )
    found: dict[str, list[list[Run]]] = {name: [] for name in regressors}
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    for name, outcome in in_workers(parallel, jobs):
        found[name].append(outcome)
        progress.advance()
    results = tuple(_together(name, pairs, truth) for name, pairs in found.items())
    return RegressionAudit(sizes, grid[0], results, rows.test)


def _regressors(
    estimator: Any, resolution: float | None, y_range: Any, shared_key: Any
) -> tuple[dict[str, Any], Grid]:
    """Return what is measured, and the grid on which plain predictions are rounded."""
    given = dict(estimator) if isinstance(estimator, Mapping) else {OURS: estimator}
    if not given:
        raise ValueError("estimator={} is empty: give at least one regressor.")
    grids = {
        (float(one.resolution), None if one.y_range is None else tuple(map(float, one.y_range)))
        for one in given.values()
        if isinstance(one, PointwiseReplicableRegressor)
    }
    if resolution is None:
        if len(grids) != 1:
            raise ValueError(
                "resolution=None: say how far apart rounded values are, in units of y, or give "
                "one PointwiseReplicableRegressor, which has it."
            )
        resolution = next(iter(grids))[0]
    if y_range is None and len(grids) == 1:
        y_range = next(iter(grids))[1]
    grid = check_positive("resolution", resolution), y_range
    if isinstance(estimator, Mapping):
        return given, grid
    if grids:
        base = Ridge() if estimator.estimator is None else estimator.estimator
        return {BASELINE: base, OURS: estimator}, grid
    settings = {"resolution": resolution, "y_range": y_range, "shared_key": shared_key}
    ours = PointwiseReplicableRegressor(estimator, **settings)
    return {BASELINE: estimator, OURS: ours}, grid


def _run_pair(
    name: str, model: Any, samples: Any, points: Any, key: SharedKey, grid: Grid
) -> tuple[str, list[Run]]:
    """Fit one regressor on both samples and predict the test rows."""
    with one_thread(), warnings.catch_warnings():
        # Told by the certificate, which the report shows.
        warnings.simplefilter("ignore", NotCertifiedWarning)
        return name, [_run(clone(model), X, y, points, key, grid) for X, y in samples]


def _run(model: Any, X: Any, y: Floats, points: Any, key: SharedKey, grid: Grid) -> Run:
    if isinstance(model, PointwiseReplicableRegressor):
        fitted = model.set_params(n_jobs=1, verbose=-1).fit(X, y)
        return Run(
            fitted.block_mean(points),
            fitted.predict(points),
            float(fitted.resolution),
            fitted.flip_rate(points),
            fitted.certificate_,
        )
    fill_open_seeds(model, key)
    values = np.asarray(model.fit(X, y).predict(points), dtype=np.float64)
    resolution, y_range = grid
    values = values if y_range is None else np.clip(values, *y_range)
    return Run(values, np.round(values / resolution) * resolution)


def _together(name: str, pairs: list[list[Run]], truth: Floats) -> RegressorResult:
    """Put the pairs of one regressor together."""
    means = np.array([[run.value for run in pair] for pair in pairs])
    rounded = np.array([[run.rounded for run in pair] for pair in pairs])
    apart = np.abs(means[:, 0] - means[:, 1])
    first = pairs[0][0]
    flips = (rounded[:, 0] != rounded[:, 1]).astype(np.float64)
    if first.resolution is not None:
        # theorem: rounded-regression (a line of the shared grid falls between the means)
        flips = np.minimum(1.0, apart / first.resolution)
    estimates = [run.estimated for pair in pairs for run in pair if run.estimated is not None]
    certificate = first.certificate
    return RegressorResult(
        name=name,
        flips=flips,
        apart=apart,
        squared_errors=(rounded - truth) ** 2,
        estimated=float(np.mean(estimates)) if estimates else None,
        certified=None if certificate is None else certificate.rho,
        verdict="" if certificate is None else certificate.verdict,
    )
