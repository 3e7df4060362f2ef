"""From the scores of a few block estimators to predictions, with thresholds in standard errors.

Two classes: 1 is predicted iff a point's mean score, standardised by the shared curve, exceeds its
own keyed threshold, uniform within c standard errors (`ScoreRule`). More classes: each class gets
an offset, the height of a corner of a simplex seen from the point's own keyed direction, and the
largest sum of score and offset wins (`SphereRule`); the difference of two offsets is uniform as
well, up to four classes.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from replearn.bounds import sphere_peak
from replearn.execution import BlockEnsemble
from replearn.learners.inputs import Precision, keyed_points
from replearn.learners.rule import Decision, decide_between_two
from replearn.learners.score_curve import ErrorCurve, block_variances
from replearn.learners.training import TrainedBlocks
from replearn.learners.usefulness import (
    Usefulness,
    usefulness,
    without_own_block,
)
from replearn.randomness import Points, SharedKey

Floats = NDArray[np.float64]


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
    precision: Precision
    n_jobs: int | None

    @property
    def rule(self) -> ScoreRule | SphereRule:
        """The rule for this number of classes."""
        kind = ScoreRule if self.n_classes <= 2 else SphereRule
        return kind(self.curve, self.half_width, self.n_partitions, self.n_classes)

    def rule_for(self, X: Any) -> ScoreRule | SphereRule:
        """Return the rule for these points, which is the same for all."""
        return self.rule

    def votes(self, X: Any) -> Floats:
        """Score of each model, (n, models) or (n, models, classes)."""
        return self.ensemble.soft_scores(X, n_jobs=self.n_jobs)

    def votes_and_noise(self, X: Any, ids: Any = None) -> tuple[Floats, Floats]:
        """Return the scores, and the points' shared random numbers."""
        points = keyed_points(X, ids, self.decimals, self.precision)
        return self.votes(X), self.rule.noise(self.key, points)


def measure_scores(
    fitted: FittedScore, blocks: TrainedBlocks, classes: NDArray[Any], n_tried: int
) -> Usefulness | None:
    """Return how useful the scores are for rows of the first blocks, each without its own block.

    None if there is nothing to compare.
    """
    n_blocks = blocks.design.n_blocks
    if n_blocks < 2 or len(classes) < 2:
        return None
    X, codes, owners = blocks.cut.first_rows(n_tried)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # predictions will show them
        scores, noise = fitted.votes_and_noise(X)
    first = scores[:, :n_blocks]
    own = first[np.arange(len(codes)), owners]
    mean = np.minimum(without_own_block(first.sum(axis=1), own, n_blocks) / n_blocks, 1.0)
    # instead of each model's score the mean of those that have not seen the row
    predicted = fitted.rule.predictions(mean[:, np.newaxis], noise)
    shares = np.column_stack([1.0 - mean, mean]) if mean.ndim == 1 else mean
    return usefulness(predicted, shares, codes, classes, hard=False)


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

    def decide(self, scores: Floats, noise: Floats) -> Decision:
        """Return the predictions with scores, standard errors and thresholds."""
        score = mean_score(scores)
        keyed = self.curve.scores(noise)
        prediction = self.predictions(scores, noise)
        decision = decide_between_two(score, self._chance_of_mean(score), keyed, prediction)
        return replace(
            decision,
            margin=score - keyed,  # the keyed threshold is one on the score, not on the response
            standard_error=self.standard_errors(scores),
            threshold=self.curve.threshold,
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
        return 2.0 * sphere_peak(self.dimension) * self.half_width * error

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

    def decide(self, scores: Floats, noise: Floats) -> Decision:
        """Return the predictions with scores, runners-up and what the offsets add."""
        score = mean_score(scores)
        prediction = self.predictions(scores, noise)
        every = np.arange(len(score))
        heights = score + noise
        others = heights.copy()
        others[every, prediction] = -np.inf
        runner_up = np.argmax(others, axis=1)
        return Decision(
            prediction=prediction,
            score=score,
            margin=heights[every, prediction] - heights[every, runner_up],
            runner_up=runner_up,
            lead=noise[every, prediction] - noise[every, runner_up],
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
