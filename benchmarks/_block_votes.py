"""Train the blocks of pairs of disjoint samples, and turn their votes into answers."""

from __future__ import annotations

import numpy as np
from _base_learners import base_estimator
from _data import disjoint_samples

from replearn import PointwiseReplicableClassifier, plan
from replearn.execution.voting import BlockEnsemble


def votes_of_pair(table, model, size, n_blocks, n_partitions, pair, with_soft=False):
    """Train the blocks of two disjoint samples; return hard and soft votes on the test rows."""
    found = {"votes": [], "soft": []}
    for rows in disjoint_samples(table, 2, pair, size):
        learner = PointwiseReplicableClassifier(
            base_estimator(model, table, seed=pair, rows=size // n_blocks),
            n_blocks=n_blocks,
            n_partitions=n_partitions,
            law="uniform",
            width=1,
            rho=1.0,  # the votes are judged later, by other laws
            shared_key=f"frontier {pair}",
            verbose=-1,
        ).fit(table.X[rows], table.y[rows])
        panel, X = BlockEnsemble(learner.estimators_, [0, 1], n_partitions), table.X[table.test]
        found["votes"].append(panel.vote_counts(X).tolist())
        if with_soft:
            found["soft"].append(np.round(panel.soft_scores(X), 5).tolist())
    return found


def single_of_pair(table, model, size, pair):
    return [
        base_estimator(model, table, seed=pair, rows=size)
        .fit(table.X[rows], table.y[rows])
        .predict(table.X[table.test])
        .tolist()
        for rows in disjoint_samples(table, 2, pair, size)
    ]


def law_for(kind, vote, n_blocks, rho):
    """The narrowest law that certifies rho, or None if there is none."""
    made = plan(rho=rho, n_blocks=n_blocks, law=kind, vote=vote, block_size=1)
    return made.design.law if made.certified else None


def majority_scores(votes, n_blocks):
    """1 where most blocks say 1, over all partitions (the last axis)."""
    return (votes.mean(axis=-1) > n_blocks / 2).astype(float)


def hard_scores(votes, law):
    """The probability of answer 1 over thresholds, the mean over partitions (the last axis)."""
    return law.probabilities[votes].mean(axis=-1)
