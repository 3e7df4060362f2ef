"""The one door from the attacks to the parts of the library that are not exported by their room."""

import numpy as np

from replearn.guarantees.design import VoteDesign
from replearn.learners.score_rule import ErrorCurve, ScoreRule
from replearn.learners.vote import GumbelRule, ThresholdRule
from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points

__all__ = ["ErrorCurve", "ScoreRule"]


def threshold_rule(law, *, vote="hard", n_partitions=1):
    """Return the rule by which a fitted learner answers, two classes."""
    design = VoteDesign(
        n=law.n_blocks, n_blocks=law.n_blocks, law=law, vote=vote, n_partitions=n_partitions
    )
    return ThresholdRule(design, law, 1.0)


def gumbel_rule(n_blocks, n_classes, sharpness, n_partitions=1):
    """Return the rule by which a fitted learner answers, several classes."""
    design = VoteDesign(
        n=n_blocks,
        n_blocks=n_blocks,
        n_classes=n_classes,
        n_partitions=n_partitions,
        sharpness=sharpness,
    )
    return GumbelRule(design, sharpness, np.arange(n_classes))


def fresh_key(rng):
    """Return a key that depends on the generator."""
    return SharedKey(int(rng.integers(2**62)))


def points_of_pairs(pairs):
    """One point for each pair of runs: under one key it is as if every pair had its own."""
    return as_points(np.arange(pairs, dtype=np.int64)[:, None])


def keyed_places(key, items, *columns):
    """Return the rows of each pair in the keyed order of their content.

    ``items`` has shape (pairs, rows): what each row says. The number of the pair is one more
    column, so that one key orders all pairs independently of each other.
    """
    pairs, n = items.shape
    parts = [np.repeat(np.arange(pairs), n), items.ravel(), *(c.ravel() for c in columns)]
    order = key.order(np.column_stack(parts).astype(np.int64), items.ravel() % 2)
    rank = np.empty(pairs * n, dtype=np.int64)
    rank[order] = np.arange(pairs * n)
    return np.argsort(rank.reshape(pairs, n), axis=1)
