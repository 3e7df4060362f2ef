"""Every estimator passes the public conformance checks, and the checks can fail."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from replearn import PointwiseReplicableClassifier
from replearn.learners.vote import FittedVote
from replearn.testing import replicability_checks
from replearn.testing.conformance import (
    check_batches_do_not_matter,
    check_row_order_does_not_matter,
)

LEARNERS = [
    PointwiseReplicableClassifier(LogisticRegression(), max_fits=176),
    PointwiseReplicableClassifier(DecisionTreeClassifier(), max_fits=88),
    PointwiseReplicableClassifier(
        LogisticRegression(), vote="soft", rho=0.5, n_blocks=20, max_fits=20
    ),
]


@pytest.fixture(scope="module")
def sample():
    return make_classification(1200, 5, random_state=0)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("check", list(replicability_checks()), ids=lambda check: check.__name__)
def test_learner_conforms(learner, check, sample):
    check(learner, sample)


class StreamVote(FittedVote):
    def noise(self, X, ids=None):
        return np.random.default_rng(0).random(len(X))


class ByPosition(PointwiseReplicableClassifier):
    """Thresholds by position in a stream: what must never be."""

    def _vote(self):
        return StreamVote(*vars(super()._vote()).values())


def test_randomness_by_position_is_caught(sample):
    with pytest.raises(AssertionError):
        check_batches_do_not_matter(ByPosition(LogisticRegression(), max_fits=88, rho=0.2), sample)


def test_blocks_by_position_are_caught(sample, monkeypatch):
    from replearn.learners import training

    def by_position(key, points, y, n_blocks, block_size, **kwargs):
        return list(np.arange(n_blocks * block_size).reshape(n_blocks, block_size))

    monkeypatch.setattr(training, "make_blocks", by_position)
    with pytest.raises(AssertionError):
        check_row_order_does_not_matter(LEARNERS[1], sample)
