"""Thresholds chosen in blocks keep the promise; one chosen from the whole sample breaks it.

Labels are coin tosses, and every model gives every point the probability 1/2: the prevalence, as a
threshold, decides alone. Pairs of runs are independent, so flips of one point are binomial; limits
are exceeded by chance with probability 1e-8.
"""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from replearn.bounds.flips import flip_supremum
from replearn.bounds.laws import arcsine_law
from tests.factories import limit, voting

N_BLOCKS = 18
LAW = arcsine_law(N_BLOCKS, 0.9999)
RHO = flip_supremum(LAW)
POINT = np.zeros((1, 1))

pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning"),
    pytest.mark.filterwarnings("ignore::replearn.exceptions.ConstantBlocksWarning"),
    pytest.mark.filterwarnings("ignore::replearn.exceptions.UsefulnessWarning"),
]


class Half(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)

    def predict(self, X):
        return self.classes_[np.zeros(len(X), dtype=int)]


def count_flips(n_pairs, choose, vote="hard", seed=0):
    rng = np.random.default_rng(seed)
    flips = 0
    for pair in range(n_pairs):
        predictions = []
        for _ in range(2):
            X = rng.normal(size=(5 * N_BLOCKS, 1))
            y = rng.integers(0, 2, len(X))
            model = voting(
                Half(),
                law=LAW,
                n_partitions=1,
                classes=[0, 1],
                threshold=choose(y),
                vote=vote,
                shared_key=pair,
            )
            predictions.append(model.fit(X, y).predict(POINT)[0])
        flips += predictions[0] != predictions[1]
    return flips


def in_each_block(y):
    return "prevalence"


def from_the_whole_sample(y):
    return float(np.mean(y)) + 1e-9  # an even number of rows: no ties


def test_thresholds_of_blocks_keep_the_bound():
    n_pairs = 100
    flips = count_flips(n_pairs, in_each_block)
    assert 0 < flips <= limit(n_pairs, RHO)


def test_one_threshold_of_the_whole_sample_breaks_it():
    n_pairs = 100
    flips = count_flips(n_pairs, from_the_whole_sample)
    assert flips > limit(n_pairs, RHO)


@pytest.mark.statistical
@pytest.mark.parametrize("vote", ["hard", "soft"])
def test_thresholds_of_blocks_keep_the_bound_in_many_pairs(vote):
    n_pairs = 2000
    flips = count_flips(n_pairs, in_each_block, vote, seed=1)
    assert 0 < flips <= limit(n_pairs, RHO)
