"""How alike partitions vote is learned in fit: of the key and the sample, never of the question."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from tests.factories import voting


@pytest.fixture(scope="module")
def data():
    return make_classification(1200, 5, flip_y=0.2, random_state=3)


def fitted(data, **settings):
    given = {"estimator": GaussianNB(), "n_blocks": 20, "n_partitions": 4, "rho": 0.3}
    return voting(**{**given, **settings}).fit(*data)


def test_it_depends_on_the_sample_and_nothing_else(data):
    X, y = data
    model = fitted(data)
    assert 0.25 < model.joint_variance_ < 1.0
    order = np.random.default_rng(0).permutation(len(y))
    assert fitted((X[order], y[order])).joint_variance_ == model.joint_variance_
    assert fitted(data, n_jobs=2).joint_variance_ == model.joint_variance_


def test_the_flips_of_a_point_do_not_depend_on_other_points(data):
    X, _ = data
    model = fitted(data)
    together = model.flip_probability(X[:40])
    assert len(np.unique(together)) > 5
    alone = np.concatenate([model.flip_probability(X[i : i + 1]) for i in range(40)])
    np.testing.assert_array_equal(together, alone)


def test_trees_vote_less_alike_than_naive_bayes(data):
    trees = fitted(data, estimator=DecisionTreeClassifier(random_state=0))
    assert trees.joint_variance_ < fitted(data).joint_variance_


@pytest.mark.parametrize("settings", [{"n_partitions": 1}, {"n_blocks": 1, "n_partitions": 1}])
def test_one_partition_has_nothing_to_compare(data, settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fitted(data, **settings).joint_variance_ == 1.0


def test_soft_votes_have_it_too(data):
    assert 0.25 <= fitted(data, vote="soft", law="uniform").joint_variance_ < 1.0


class Shy(GaussianNB):
    """Predictions nobody, and warns."""

    def predict(self, X):
        warnings.warn("asked", UserWarning, stacklevel=1)
        raise RuntimeError("no prediction")


def test_a_learner_that_cannot_be_asked_is_fitted_all_the_same(data):
    model = fitted(data, estimator=Shy())
    assert model.joint_variance_ == 1.0
    with (
        pytest.warns(UserWarning, match="asked"),
        pytest.raises(RuntimeError, match="no prediction"),
    ):
        model.predict(data[0])
