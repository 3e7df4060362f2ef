"""From the scores of a few block estimators to predictions, with thresholds in standard errors.

The standard error of a score is estimated row by row and pooled into one number: a row's own
estimate from a few blocks is too noisy for two labs, because scales that differ by a
fifth add up to 0.08 to a flip probability (`mismatch_flip_bound`). Pooled over many rows the scales
of two labs differ by a few percent.

Two classes: 1 is predicted iff a point's mean score, standardised by the shared curve, exceeds its
own keyed threshold, uniform within c standard errors (`ScoreRule`). More classes: each class gets
an offset, the height of a corner of a simplex seen from the point's own keyed direction, and the
largest sum of score and offset wins (`SphereRule`); the difference of two offsets is uniform as
well, up to four classes.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from replearn.execution.voting import BlockEnsemble
from replearn.learners.explanation import Explanation
from replearn.learners.inputs import keyed_points
from replearn.learners.training import Blocks
from replearn.learners.usefulness import (
    Usefulness,
    usefulness,
    without_own_block,
)
from replearn.learners.vote import between_two
from replearn.randomness.key import SharedKey
from replearn.randomness.points import Points

# -- standard errors of scores ---------------------------------------------------------------------
Floats = NDArray[np.float64]

REACH = 5.64
"""Rows within this many standard errors of the threshold are pooled: the reach of rho = 0.1."""

MIN_PRODUCT = 1e-3
"""s (1 - s) below which the curve is flat: scores next to 0 or 1 are never in question."""

MIN_ERROR = 1e-9
"""Scores that do not vary at all have thresholds that do not either."""

_GRID = np.linspace(0.0, 1.0, 4097)
_STEPS = 60


@dataclass(frozen=True)
class ErrorCurve:
    """Standard error of a score s: ``level * (s (1 - s) / (t (1 - t))) ** |t - 1/2|``.

    Flat at t = 1/2; the nearer t is to 0 or 1, the more the curve is that of a share. At 1/2 a
    curve that follows the scores moves thresholds to both ends, which only costs accuracy.

    >>> curve = ErrorCurve(0.03, 0.5)
    >>> curve.standardised(np.array([0.44, 0.5])).round(6).tolist()
    [-2.0, 0.0]
    >>> curve.scores(np.array([-2.0, 0.0])).round(6).tolist()
    [0.44, 0.5]
    """

    level: float  # standard error at the threshold
    threshold: float  # the decision threshold t

    def errors(self, scores: Floats) -> Floats:
        """Return the standard errors of scores."""
        return np.asarray(np.maximum(self.level * self.shape(scores), MIN_ERROR))

    def shape(self, scores: Floats) -> Floats:
        """Return the standard errors of scores relative to that at the threshold."""
        t = self.threshold
        product = np.maximum(scores * (1.0 - scores), MIN_PRODUCT)
        relative = product / max(t * (1.0 - t), MIN_PRODUCT)
        return np.asarray(relative ** abs(t - 0.5))

    @cached_property
    def _standardised_grid(self) -> Floats:
        rates = 1.0 / self.errors(_GRID)
        heights = np.cumsum((rates[1:] + rates[:-1]) / 2.0) * _GRID[1]
        heights = np.concatenate([[0.0], heights])
        return np.asarray(heights - np.interp(self.threshold, _GRID, heights))

    def standardised(self, scores: Floats) -> Floats:
        """Distance of scores from the threshold, in standard errors along the way."""
        return np.interp(scores, _GRID, self._standardised_grid)

    def scores(self, standardised: Floats) -> Floats:
        """Return the scores at some distances, within [0, 1]."""
        return np.interp(standardised, self._standardised_grid, _GRID)

    @property
    def reach(self) -> float:
        """Standard errors from the threshold to the nearer end of the scores."""
        return float(min(-self._standardised_grid[0], self._standardised_grid[-1]))

    def least_error(self, half_width: float) -> float:
        """Smallest standard error at which thresholds are drawn."""
        ends = self.scores(np.array([-half_width, half_width]))
        return float(self.errors(np.append(ends, self.threshold)).min())


class RowErrors(NamedTuple):
    """What is known of rows: mean score, its variance (unbiased, may be below 0), one block's."""

    scores: Floats
    variances: Floats
    singles: Floats
    degrees: float


def fit_curve(rows: RowErrors, threshold: float) -> ErrorCurve:
    """Pool the standard errors of rows into a curve: the mean among rows within its own reach.

    A flip probability is proportional to the standard error, so that the mean over rows makes the
    mean flip probability right. The mean square comes from the unbiased variances; how far the mean
    is below the root mean square, from the variances of single blocks, which are positive.

    >>> s, exact = np.linspace(0.05, 0.95, 91), np.full(91, 0.03**2)
    >>> round(fit_curve(RowErrors(s, exact, exact, np.inf), 0.5).level, 4)
    0.03
    """
    level = 0.1
    for _ in range(_STEPS):
        curve = ErrorCurve(level, threshold)
        weights = _in_reach(curve, rows.scores)
        shape = curve.shape(rows.scores) ** 2
        square = float((weights * rows.variances / shape).sum())
        even = _evenness(rows.singles / shape, rows.degrees, weights)
        level = (level + max(square * even, MIN_ERROR**2) ** 0.5) / 2.0
    return ErrorCurve(level, threshold)


def _in_reach(curve: ErrorCurve, scores: Floats) -> Floats:
    """Return weights of rows that thresholds can reach, with a soft edge."""
    weights = 1.0 / (1.0 + (np.abs(curve.standardised(scores)) / REACH) ** 8) + 1e-12
    return np.asarray(weights / weights.sum())


def _evenness(variances: Floats, degrees: float, weights: Floats) -> float:
    """Square of the mean standard deviation, as a part of the mean variance.

    >>> round(_evenness(np.array([1.0, 9.0]), np.inf, np.array([0.5, 0.5])), 3)
    0.8
    """
    mean_square = float((weights * variances).sum())
    if mean_square <= 0.0:
        return 1.0
    mean = float((weights * np.sqrt(variances)).sum())
    return min(1.0, mean**2 / mean_square * _root_bias(degrees))


def _root_bias(degrees: float) -> float:
    """Return by how much the square of a mean sample deviation is too small."""
    return 1.0 if not np.isfinite(degrees) else 1.0 / (1.0 - 1.0 / (4.0 * degrees)) ** 2


def block_variances(scores: Floats, own: NDArray[np.intp], n_partitions: int) -> RowErrors:
    """Return mean and estimated variance of the score of rows, by the blocks that do not know them.

    ``scores`` are (rows, partitions * blocks); ``own`` is, for each row and partition, the block
    that was trained on the row (-1: none). Within a partition blocks are independent, so that
    their spread is an unbiased estimate of the variance of one; what partitions have in common
    follows from how little their means vary.

    >>> s = np.array([[0.1, 0.3, 0.5, 0.5, 0.3, 0.1]])
    >>> rows = block_variances(s, np.array([[-1, -1]]), 2)
    >>> rows.scores.round(2).tolist(), rows.variances.round(5).tolist()
    ([0.3], [0.01333])
    """
    blocks = scores.reshape(len(scores), n_partitions, -1)
    n_blocks = blocks.shape[2]
    counts = np.arange(n_blocks) != own[:, :, np.newaxis]
    number = counts.sum(axis=2)
    means = np.where(counts, blocks, 0.0).sum(axis=2) / number
    squares = np.where(counts, (blocks - means[:, :, np.newaxis]) ** 2, 0.0).sum(axis=2)
    single = (squares / (number - 1)).mean(axis=1)
    mean = means.mean(axis=1)
    # Partitions share rows: about half of their degrees of freedom count.
    degrees = float((number - 1).mean()) * (1 + n_partitions) / 2
    if n_partitions == 1:
        return RowErrors(mean, single / n_blocks, single, degrees)
    between = ((means - mean[:, np.newaxis]) ** 2).sum(axis=1) / (n_partitions - 1)
    # Var(mean) = [Var(one) + (J - 1) Cov] / J, and between = Var(mean of `number`) - Cov.
    # theorem: score-thresholds, section "Several partitions"
    common = single * (1.0 / number).mean(axis=1) - between
    total = single / (n_blocks * n_partitions) + (1.0 - 1.0 / n_partitions) * common
    return RowErrors(mean, total, single, degrees)


def own_blocks(
    blocks: list[NDArray[np.intp]], rows: NDArray[np.intp], n_partitions: int, n_rows: int
) -> NDArray[np.intp]:
    """Return the block that contains each row, for each partition; -1: none."""
    n_blocks = len(blocks) // n_partitions
    own = np.full((len(rows), n_partitions), -1, dtype=np.intp)
    for partition in range(n_partitions):
        of_row = np.full(n_rows, -1, dtype=np.intp)
        for block in range(n_blocks):
            of_row[blocks[partition * n_blocks + block]] = block
        own[:, partition] = of_row[rows]
    return own


def leading_pairs(scores: Floats, own: NDArray[np.intp], n_partitions: int) -> RowErrors:
    """Return `block_variances` of the difference of the two leading classes, moved into [0, 1].

    ``scores`` are (rows, models, classes); which classes lead is said by models that do not know
    the row.
    """
    n_blocks = scores.shape[1] // n_partitions
    strange = (np.arange(n_blocks) != own[:, :, np.newaxis]).reshape(len(scores), -1)
    leaders = np.argsort((scores * strange[:, :, np.newaxis]).sum(axis=1), axis=1)[:, -2:]
    every = np.arange(len(scores))
    difference = scores[every, :, leaders[:, 1]] - scores[every, :, leaders[:, 0]]
    return block_variances((1.0 + difference) / 2.0, own, n_partitions)


# -- from scores to predictions --------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class FittedScore:
    """The models of one fit with curve, width and key: from points to scores and shared noise."""

    ensemble: BlockEnsemble
    n_partitions: int
    curve: ErrorCurve
    half_width: float
    key: SharedKey
    n_classes: int
    decimals: int | None
    n_jobs: int | None

    @property
    def rule(self) -> ScoreRule | SphereRule:
        """The rule for this number of classes."""
        kind = ScoreRule if self.n_classes <= 2 else SphereRule
        return kind(self.curve, self.half_width, self.n_partitions, self.n_classes)

    def votes(self, X: Any) -> Floats:
        """Score of each model, (n, models) or (n, models, classes)."""
        return self.ensemble.soft_scores(X, n_jobs=self.n_jobs)

    def votes_and_noise(self, X: Any, ids: Any = None) -> tuple[Floats, Floats]:
        """Return the scores, and the points' shared random numbers."""
        points = keyed_points(X, ids, self.decimals)
        return self.votes(X), self.rule.noise(self.key, points)


def measure_scores(
    fitted: FittedScore, blocks: Blocks, classes: NDArray[Any], n_tried: int
) -> Usefulness | None:
    """Return how useful the scores are for rows of the first blocks, each without its own block.

    None if there is nothing to compare.
    """
    n_blocks = blocks.design.n_blocks
    if n_blocks < 2 or len(classes) < 2:
        return None
    X, codes, owners = blocks.first_rows(n_tried)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # predictions will show them
        scores, noise = fitted.votes_and_noise(X)
    first = scores[:, :n_blocks]
    own = first[np.arange(len(codes)), owners]
    mean = np.minimum(without_own_block(first.sum(axis=1), own, n_blocks) / n_blocks, 1.0)
    # instead of each model's score the mean of those that have not seen the row
    predicted = fitted.rule.predictions(mean[:, np.newaxis], noise)
    shares = np.column_stack([1.0 - mean, mean]) if mean.ndim == 1 else mean
    return usefulness(predicted, shares, codes, classes)


def mean_score(scores: Floats) -> Floats:
    """Mean over the models, added one by one: a row's sum must not depend on the batch.

    >>> mean_score(np.array([[0.25, 0.75], [1.0, 0.5]])).tolist()
    [0.5, 0.75]
    """
    total = np.zeros_like(scores[:, 0])
    for model in range(scores.shape[1]):
        total += scores[:, model]
    return np.asarray(total / scores.shape[1])


def spread(scores: Floats, n_partitions: int) -> Floats:
    """Standard error of each mean score by the row's own blocks; noisy, 0 where it is unknown."""
    outside = np.full((len(scores), n_partitions), -1)
    rows = block_variances(scores, outside, n_partitions)
    return np.sqrt(np.maximum(rows.variances, 0.0))


def crossing(distance: Floats, n_blocks: int) -> Floats:
    """Probability that a fresh mean of this many blocks is beyond a distance in standard errors.

    >>> crossing(np.array([0.0, 3.0]), 4).round(3).tolist(), crossing(np.array([3.0]), 24).round(3)
    ([0.5, 0.029], array([0.003]))
    """
    # theorem: score-thresholds, section "What a few blocks can know"
    return np.asarray(stdtr(n_blocks - 1, -distance))


@dataclass(frozen=True, eq=False)
class ScoreRule:
    """Two classes: predict 1 iff the standardised score exceeds the point's threshold."""

    curve: ErrorCurve
    half_width: float
    n_partitions: int
    n_classes: int

    def noise(self, key: SharedKey, points: Points) -> Floats:
        """Return each point's threshold in standard errors, uniform within the half-width."""
        return self.half_width * (2.0 * key.uniforms(points) - 1.0)

    def predictions(self, scores: Floats, noise: Floats) -> NDArray[np.intp]:
        """Return the code of each prediction."""
        # theorem: score-thresholds
        return (self.curve.standardised(mean_score(scores)) > noise).astype(np.intp)

    def chance(self, scores: Floats) -> Floats:
        """Probability over thresholds that 1 is predicted."""
        return self._chance_of_mean(mean_score(scores))

    def _chance_of_mean(self, score: Floats) -> Floats:
        distance = self.curve.standardised(score) / self.half_width
        return np.clip((1.0 + distance) / 2.0, 0.0, 1.0)

    def proba(self, scores: Floats) -> Floats:
        """Mean predicted probability of each class."""
        score = mean_score(scores)
        return np.column_stack([1.0 - score, score])

    def share(self, scores: Floats) -> Floats:
        """Mean predicted probability of class 1."""
        return mean_score(scores)

    def standard_errors(self, scores: Floats) -> Floats:
        """Return the standard error of each mean score: the curve's, or the row's own if larger."""
        score = mean_score(scores)
        return np.maximum(self.curve.errors(score), spread(scores, self.n_partitions))

    def explain(self, scores: Floats, noise: Floats) -> Explanation:
        """Return codes of the predictions with scores, standard errors and thresholds."""
        score = mean_score(scores)
        keyed = self.curve.scores(noise)
        return between_two(
            self.predictions(scores, noise),
            score,
            margin=score - keyed,  # the keyed threshold is one on the score, not on the response
            flip_probability=self.flips(scores, noise),
            keyed_threshold=keyed,
            response=self._chance_of_mean(score),
            standard_error=self.standard_errors(scores),
        )

    def flips(self, scores: Floats, noise: Floats) -> Floats:
        """Estimate how likely a fresh sample predicts differently, under this key.

        The difference of two scores has twice the variance of one, and a row's own standard error
        counts where it is above the curve. Few blocks cannot know that a flip is very unlikely.
        """
        errors = self.standard_errors(scores)
        score = mean_score(scores)
        distance = self.curve.standardised(score) - noise
        scale = np.sqrt(2.0) * errors / self.curve.errors(score)
        return crossing(np.abs(distance) / scale, scores.shape[1] // self.n_partitions)


@dataclass(frozen=True, eq=False)
class SphereRule:
    """More classes: the largest score plus the point's shared offset of the class."""

    curve: ErrorCurve
    half_width: float
    n_partitions: int
    n_classes: int

    @property
    def dimension(self) -> int:
        """Dimension of the sphere's space: four corners fit into three."""
        return max(3, self.n_classes - 1)

    @property
    def reach(self) -> float:
        """How far behind a class can be and still win: the largest difference of offsets."""
        # The curve is that of (1 + difference) / 2. theorem: score-thresholds
        error = 2.0 * self.curve.level
        return 2.0 * _sphere_peak(self.dimension) * self.half_width * error

    def noise(self, key: SharedKey, points: Points) -> Floats:
        """Return each point's offsets, one for each class."""
        axes = [key.child("axis", axis).uniforms(points) for axis in range(self.dimension)]
        # 0 has no quantile.
        direction = ndtri(np.maximum(np.column_stack(axes), 2.0**-54))
        direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
        corners = simplex(self.n_classes, self.dimension)
        offsets = np.zeros((len(direction), self.n_classes))
        for axis in range(self.dimension):  # sums that do not depend on the batch
            offsets += direction[:, axis, np.newaxis] * corners[:, axis]
        return self.reach * offsets

    def predictions(self, scores: Floats, noise: Floats) -> NDArray[np.intp]:
        """Return the code of each prediction."""
        # theorem: score-thresholds, section "Several classes"
        return np.argmax(mean_score(scores) + noise, axis=1)

    def proba(self, scores: Floats) -> Floats:
        """Mean predicted probability of each class."""
        return mean_score(scores)

    def explain(self, scores: Floats, noise: Floats) -> Explanation:
        """Return codes of the predictions with scores and runners-up."""
        score = mean_score(scores)
        prediction = self.predictions(scores, noise)
        every = np.arange(len(score))
        heights = score + noise
        others = heights.copy()
        others[every, prediction] = -np.inf
        runner_up = np.argmax(others, axis=1)
        return Explanation(
            prediction=prediction,
            score=score[every, prediction],
            runner_up=runner_up,
            runner_up_score=score[every, runner_up],
            margin=heights[every, prediction] - heights[every, runner_up],
            flip_probability=self.flips(scores, noise),
        )

    def flips(self, scores: Floats, noise: Floats) -> Floats:
        """Estimate how likely a fresh sample predicts differently, under this key."""
        heights = mean_score(scores) + noise
        every = np.arange(len(heights))
        winner = np.argmax(heights, axis=1)
        stays = np.ones(len(heights))
        for rival in range(self.n_classes):
            lead = heights[every, winner] - heights[:, rival]
            difference = scores[every, :, winner] - scores[:, :, rival]
            errors = np.maximum(2.0 * self.curve.level, spread(difference, self.n_partitions))
            n_blocks = scores.shape[1] // self.n_partitions
            overtaken = crossing(lead / (np.sqrt(2.0) * errors), n_blocks)
            stays *= np.where(winner == rival, 1.0, 1.0 - overtaken)
        return 1.0 - stays


def simplex(n_corners: int, dimension: int) -> Floats:
    """Corners of a regular simplex with edges of length 1, (corners, dimension).

    >>> corners = simplex(4, 3)
    >>> np.linalg.norm(corners[0] - corners[1:], axis=1).round(12).tolist()
    [1.0, 1.0, 1.0]
    """
    corners = np.zeros((n_corners, dimension))
    for corner in range(1, n_corners):
        # The next corner stands above the middle of those before it.
        corners[corner] = corners[:corner].mean(axis=0)
        radius = ((corners[0] - corners[corner]) ** 2).sum()
        corners[corner, corner - 1] = np.sqrt(1.0 - radius)
    return corners


def _sphere_peak(dimension: int) -> float:
    """Largest density of one coordinate of a uniform point on the unit sphere.

    >>> round(_sphere_peak(3), 4), round(_sphere_peak(4), 4)
    (0.5, 0.6366)
    """
    half = dimension / 2.0
    return math.exp(math.lgamma(half) - math.lgamma(half - 0.5)) / math.sqrt(math.pi)
