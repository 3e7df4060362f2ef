"""The vote: block estimators, key and design of one fit, and the rule that decides by votes.

Two classes: a point is predicted 1 iff its own keyed threshold lies below the law's value of its
vote share (`ThresholdRule`). More classes: a draw with shared Gumbels between the classes whose
shares are close (`GumbelRule`).
Rules of scores (`ScoreRule`, `SphereRule`) have the same methods.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from replearn.bounds.class_flips import class_flip_estimate, class_predictions
from replearn.bounds.foreseen import average_flip_estimate, flip_estimate, joint_variance
from replearn.bounds.fresh import block_disagreement, flip_rate_limit
from replearn.bounds.laws import LAW_BITS, ThresholdLaw
from replearn.bounds.multiclass import class_weights
from replearn.execution.context import side_by_side
from replearn.execution.voting import MIN_ROWS_PER_TASK, BlockEnsemble
from replearn.guarantees.design import VoteDesign
from replearn.learners.explanation import Explanation
from replearn.learners.inputs import keyed_points
from replearn.learners.training import Blocks
from replearn.learners.usefulness import (
    Usefulness,
    usefulness,
    without_own_block,
)
from replearn.randomness.encoding import read_once
from replearn.randomness.key import SharedKey
from replearn.randomness.points import Points
from replearn.tables.rows import n_rows, take_rows

Floats = NDArray[np.float64]


_UNIFORM_BITS = 53


@dataclass(frozen=True, eq=False)
class FittedVote:
    """The blocks of one fit with their design and key: from points to votes and shared noise."""

    ensemble: BlockEnsemble
    design: VoteDesign
    key: SharedKey
    classes: NDArray[Any]
    joint_variance: float
    n_jobs: int | None

    @property
    def rule(self) -> ThresholdRule | GumbelRule:
        """The rule of the votes alone."""
        if len(self.classes) <= 2:
            assert self.design.law is not None
            return ThresholdRule(self.design, self.design.law, self.joint_variance)
        assert self.design.sharpness is not None
        return GumbelRule(self.design, self.design.sharpness, self.classes)

    def votes(self, X: Any) -> NDArray[Any]:
        """Let the blocks vote on the points."""
        return self.rule.votes(self.ensemble, X, self.n_jobs)

    def noise(self, X: Any, ids: Any = None) -> Floats:
        """Return the points' shared random numbers: thresholds, or Gumbels."""
        return self.rule.noise(self.key, self._points(X, ids))

    def votes_and_noise(self, X: Any, ids: Any = None) -> tuple[NDArray[Any], Floats]:
        """Let the blocks vote while the noise is hashed, which takes about as long."""
        if n_rows(X) < MIN_ROWS_PER_TASK or effective_n_jobs(self.n_jobs) == 1:
            with read_once(X):
                return self.votes(X), self.noise(X, ids)
        points = self._points(X, ids)
        return side_by_side(lambda: self.votes(X), lambda: self.rule.noise(self.key, points))

    def predictions(self, X: Any, ids: Any = None) -> NDArray[np.intp]:
        """Return the code of each prediction; blocks that cannot change it need not vote.

        With more classes all blocks vote: votes for a third one move the leader against its rival.
        """
        rule = self.rule
        if isinstance(rule, ThresholdRule) and rule.counts_votes and self.ensemble.stops_early(X):
            noise = self.noise(X, ids)
            votes: NDArray[Any] = rule.votes_until_decided(self.ensemble, X, noise, self.n_jobs)
        else:
            votes, noise = self.votes_and_noise(X, ids)
        return rule.predictions(votes, noise)

    def _points(self, X: Any, ids: Any) -> Points:
        return keyed_points(X, ids, self.design.decimals)


@dataclass(frozen=True, eq=False)
class OpenVotes:
    """Tells which missing votes can change a prediction; ``thresholds`` are those of all points."""

    law_table: NDArray[np.int64]
    thresholds: Floats

    def __call__(
        self, votes: NDArray[np.int32], rows: NDArray[np.intp], n_missing: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Tell for each row and partition, from votes and missing votes of the same shape."""
        least = self.law_table[votes]
        most = self.law_table[votes + n_missing]
        thresholds = self.thresholds[rows]
        n_partitions = votes.shape[1]
        without = below_law(thresholds, least.sum(axis=1), n_partitions)
        with_all = below_law(thresholds, most.sum(axis=1), n_partitions)
        return (least < most) & (without != with_all)[:, np.newaxis]


@dataclass(frozen=True, eq=False)
class ThresholdRule:
    """Two classes: predict 1 iff the point's threshold is below the law's value of its votes.

    With hard votes every number is an integer, so that the prediction has the same bits everywhere.
    """

    design: VoteDesign
    law: ThresholdLaw
    joint_variance: float

    def votes(self, ensemble: BlockEnsemble, X: Any, n_jobs: int | None) -> NDArray[Any]:
        """Votes for class 1 in each partition, (n, partitions); mean scores when soft."""
        return _voting_method(ensemble, self.design)(X, n_jobs=n_jobs)

    @property
    def counts_votes(self) -> bool:
        """Whether votes are whole numbers, so that it is known which sums are still possible."""
        return self.design.vote == "hard"

    def votes_until_decided(
        self, ensemble: BlockEnsemble, X: Any, noise: Floats, n_jobs: int | None
    ) -> NDArray[np.int32]:
        """Return votes that give the predictions of all votes, from as few blocks as needed.

        Each missing vote adds 0 or 1 to the votes of its partition, and the law rises: the mean of
        G in the end lies between its value without any of them and its value with all of them. If
        the point's threshold is on the same side of both, the prediction is decided.
        """
        is_open = OpenVotes(self.law.table, noise)
        return ensemble.votes_until_decided(X, is_open, n_jobs=n_jobs)

    def noise(self, key: SharedKey, points: Points) -> Floats:
        """Return each point's threshold, uniform in [0, 1)."""
        return key.uniforms(points)

    def predictions(self, votes: NDArray[Any], noise: Floats) -> NDArray[np.intp]:
        """Return the code of each prediction: 1 iff ``threshold < mean of G(share)``."""
        if self.design.vote == "soft":
            return (noise < self._responses(votes)).astype(np.intp)
        # theorem: pointwise-threshold, several-partitions
        return below_law(noise, self._response_sums(votes), self.design.n_partitions).astype(
            np.intp
        )

    def votes_of_shares(self, shares: Floats) -> NDArray[Any]:
        """Return votes of one partition with these shares of the classes, (n,)."""
        if self.design.vote == "soft":
            return shares[:, 1]
        return np.rint(shares[:, 1] * self.design.n_blocks).astype(np.int32)

    def share(self, votes: NDArray[Any]) -> Floats:
        """Mean share of the votes for class 1."""
        shares = votes if self.design.vote == "soft" else votes / self.design.n_blocks
        return np.asarray(shares.mean(axis=1))

    def proba(self, votes: NDArray[Any]) -> Floats:
        """Mean share of each class."""
        share = self.share(votes)
        return np.column_stack([1 - share, share])

    def explain(self, votes: NDArray[Any], noise: Floats) -> Explanation:
        """Return codes of the predictions with vote share, response of the law and threshold."""
        response = self._responses(votes)
        return between_two(
            self.predictions(votes, noise),
            self.share(votes),
            margin=response - noise,
            flip_probability=self.flips(votes, noise),
            keyed_threshold=noise,
            response=response,
        )

    def flips(self, votes: NDArray[Any], noise: Floats) -> Floats:
        """Estimate how likely a fresh sample predicts differently, under this key."""
        whole = whole_votes(votes, self.design)
        return flip_estimate(self.law, whole, noise, joint=self.joint_variance)

    def average_flips(self, votes: NDArray[Any]) -> Floats:
        """Estimate the flip probability of each point, averaged over keys."""
        return average_flip_estimate(self.law, votes, joint=self.joint_variance)

    def rate_limit(self, votes: NDArray[Any], delta: float) -> float:
        """Upper limit of the flip rate over the points."""
        if self.design.vote == "soft":
            raise ValueError('flip_rate needs vote="hard"; this estimator was fitted with "soft".')
        disagreement = block_disagreement(votes, self.law.n_blocks)
        return flip_rate_limit(self.law, disagreement, delta=delta)

    def _response_sums(self, votes: NDArray[np.integer]) -> NDArray[np.int64]:
        """Sum over partitions of G(vote share), in units of 2**-30."""
        return self.law.table[votes].sum(axis=1, dtype=np.int64)

    def _responses(self, votes: NDArray[Any]) -> Floats:
        """Mean over partitions of G(vote share), in [0, 1]."""
        if self.design.vote == "soft":
            # theorem: soft-votes
            return np.asarray(self.law.at(votes).mean(axis=1))
        return self._response_sums(votes) / (self.design.n_partitions * 2.0**LAW_BITS)


@dataclass(frozen=True, eq=False)
class GumbelRule:
    """More classes: the largest log chance plus shared Gumbel; far ahead, the most voted class."""

    design: VoteDesign
    sharpness: float
    classes: NDArray[Any]

    def votes(self, ensemble: BlockEnsemble, X: Any, n_jobs: int | None) -> Floats:
        """Vote shares in each partition, (n, partitions, classes)."""
        weights = _voting_method(ensemble, self.design)(X, n_jobs=n_jobs).astype(np.float64)
        return weights / weights.sum(axis=2, keepdims=True)

    def votes_of_shares(self, shares: Floats) -> Floats:
        """Return votes of one partition with these shares of the classes, (n, classes)."""
        return shares

    def noise(self, key: SharedKey, points: Points) -> Floats:
        """Return each point's Gumbels, one for each class."""
        return key.gumbels(points, self.classes.tolist())

    def predictions(self, votes: Floats, noise: Floats) -> NDArray[np.intp]:
        """Return the code of each prediction."""
        # theorem: multiclass-vote
        return class_predictions(self.key_chances(votes), noise)

    def key_chances(self, votes: Floats) -> Floats:
        """Chance over all keys that these votes predict each class."""
        return class_weights(self.proba(votes), self.sharpness)

    def proba(self, votes: Floats) -> Floats:
        """Mean share of each class."""
        weights = votes.sum(axis=1)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def explain(self, votes: Floats, noise: Floats) -> Explanation:
        """Return codes of the predictions with vote shares and runners-up.

        Among classes that no key can predict, the one with more votes comes next.
        """
        score = self.proba(votes)
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.key_chances(votes)) + noise
        prediction = self.predictions(votes, noise)
        every = np.arange(len(score))
        runner_up = np.lexsort((-score, -log_weights), axis=1)[:, 1]
        lead = log_weights[every, prediction] - log_weights[every, runner_up]
        return Explanation(
            prediction=prediction,
            score=score[every, prediction],
            runner_up=runner_up,
            runner_up_score=score[every, runner_up],
            # log weights amplify rounding near weight 0; their share of both weights does not
            margin=np.tanh(lead / 2.0),
            flip_probability=self.flips(votes, noise),
        )

    def flips(self, votes: Floats, noise: Floats) -> Floats:
        """Estimate how likely a fresh sample predicts differently, under this key."""
        return class_flip_estimate(votes, self.design.n_blocks, noise, self.sharpness)


def between_two(prediction: NDArray[np.intp], score: Floats, **columns: Any) -> Explanation:
    """Return an explanation of two classes from the score of the second one."""
    return Explanation(prediction, score, 1 - prediction, **columns)


def below_law(
    thresholds: Floats, law_sums: NDArray[np.int64], n_partitions: int
) -> NDArray[np.bool_]:
    """Whether ``u < mean G``, decided in integers.

    >>> below_law(np.array([0.49, 0.0]), np.array([2**30, 0]), 2)
    array([ True, False])
    """
    # u * 2^53 < (sum / (J 2^30)) 2^53  <=>  (u 2^53) J < sum 2^23; below 2^63 for J <= 1023.
    scaled = (thresholds * 2.0**_UNIFORM_BITS).astype(np.int64)
    return scaled * n_partitions < law_sums << (_UNIFORM_BITS - LAW_BITS)


def whole_votes(votes: NDArray[Any], design: VoteDesign) -> NDArray[Any]:
    """Read mean scores of soft votes as if they were shares of hard ones.

    A score is steadier than the coin of the same mean: flips are overstated.
    """
    return np.rint(votes * design.n_blocks).astype(np.intp) if design.vote == "soft" else votes


def partition_variance(
    ensemble: BlockEnsemble, rows: Any, design: VoteDesign, n_jobs: int | None
) -> float:
    """Estimate the variance of the mean vote share as a part of one partition's, on training rows.

    Their own blocks know them, one in each partition: that shifts shares by 1 / n_blocks at most,
    alike in all. 1 (flips are overstated rather than understated) if unknown or not needed.
    """
    if design.n_partitions == 1 or ensemble.n_classes > 2:
        return 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # predictions will show them
        try:
            votes = _voting_method(ensemble, design)(rows, n_jobs=n_jobs)
        except Exception:
            return 1.0  # nothing is known, and a fit does not fail because of an estimate
    return joint_variance(whole_votes(votes, design), design.n_blocks)


def measure_votes(vote: FittedVote, blocks: Blocks, n_tried: int) -> Usefulness | None:
    """Return how useful the votes are for rows of the first blocks, each without its own block.

    None if there is nothing to compare.
    """
    design = vote.design
    if design.n_blocks < 2 or len(vote.classes) < 2:
        return None
    X, codes, owners = blocks.first_rows(n_tried)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # predictions will show them
        try:
            totals = _class_totals(vote, 0, design.n_blocks, X)
            own = np.empty_like(totals)
            for block in range(owners[-1] + 1):
                of_block = np.flatnonzero(owners == block)
                own[of_block] = _class_totals(vote, block, block + 1, take_rows(X, of_block))
            noise = vote.noise(X)
        except Exception:
            return None  # nothing is known, and a fit does not fail because of an estimate
    others = without_own_block(totals, own, design.n_blocks)
    shares = np.minimum(others / others.sum(axis=1, keepdims=True), 1.0)
    votes = np.repeat(vote.rule.votes_of_shares(shares)[:, np.newaxis], design.n_partitions, axis=1)
    predicted = vote.rule.predictions(votes, noise)
    return usefulness(predicted, shares, codes, vote.classes)


def _class_totals(vote: FittedVote, start: int, stop: int, X: Any) -> Floats:
    """Sum of the votes of some blocks of the first partition for each class, (n, classes)."""
    n_models = stop - start
    ensemble = vote.ensemble.part(start, stop)
    totals = _voting_method(ensemble, vote.design)(X, n_jobs=vote.n_jobs)[:, 0].astype(np.float64)
    if vote.design.vote == "soft":
        totals *= n_models
    return np.column_stack([n_models - totals, totals]) if totals.ndim == 1 else totals


def _voting_method(ensemble: BlockEnsemble, design: VoteDesign) -> Any:
    return ensemble.soft_scores if design.vote == "soft" else ensemble.vote_counts
