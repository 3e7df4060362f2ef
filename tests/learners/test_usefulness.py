"""How useful a fit is: a record with numbers, and a warning where stability means nothing."""

import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neighbors import KNeighborsClassifier

from replearn import PointwiseReplicableClassifier, ScoreReplicableClassifier, load, save
from replearn.exceptions import NotCertifiedWarning, UsefulnessWarning
from replearn.learners.training import Blocks, Cut, Sample

LEARNERS = [
    PointwiseReplicableClassifier,
    ScoreReplicableClassifier,
]


def rare(n=3000, seed=0, intercept=-3.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    chance = 1.0 / (1.0 + np.exp(-(X[:, 0] + intercept)))
    return X, np.where(rng.random(n) < chance, "yes", "no")


def fitted(kind, base, X, y, **params):
    if kind is not ScoreReplicableClassifier:
        params.setdefault("max_fits", 24)
    model = kind(base, shared_key="useful", **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        return model.fit(X, y)


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_constant_prediction_is_warned_about(kind):
    X, y = rare(intercept=-5.0)
    y[:150] = "yes"  # labels that the features do not explain
    with pytest.warns(UsefulnessWarning, match=r"predicts 'no' for all 1,000 .*AUC") as caught:
        model = fitted(kind, LogisticRegression(C=0.01), X, y)
    assert len([one for one in caught if one.category is UsefulnessWarning]) == 1
    assert model.usefulness_.predicts_single_class
    assert model.usefulness_.recall[1] == 0.0


@pytest.mark.filterwarnings("error::replearn.exceptions.UsefulnessWarning")
@pytest.mark.parametrize("kind", LEARNERS)
def test_a_useful_model_and_a_dummy_are_not(kind):
    X, y = rare(intercept=0.0)
    model = fitted(kind, LogisticRegression(), X, y)
    assert 0.6 < model.usefulness_.auc < 0.9
    assert model.usefulness_.accuracy > model.usefulness_.majority_accuracy
    assert "AUC" in str(model.usefulness_)
    fitted(kind, DummyClassifier(), *rare())


def test_blocks_vote_against_the_threshold_of_the_base_estimator():
    X, y = rare()
    base = FixedThresholdClassifier(LogisticRegression(), threshold=0.06)
    model = fitted(PointwiseReplicableClassifier, base, X, y)
    blocks = [block for block in model.estimators_ if hasattr(block, "estimator_")][:5]
    for block in blocks:  # the others have seen one class only
        positive = block.estimator_.predict_proba(X)[:, 1] >= 0.06
        np.testing.assert_array_equal(block.predict(X) == 1, positive)
    assert model.usefulness_.recall[1] > 0.2


def test_the_numbers_are_those_of_fresh_rows():
    """Each row is predicted without its own block: memorising must not look useful."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = rng.integers(0, 2, 4000)  # nothing to learn
    model = fitted(
        PointwiseReplicableClassifier, KNeighborsClassifier(1), X, y, n_blocks=4, max_fits=4
    )
    # four standard errors of an AUC from 1,000 rows
    assert abs(model.usefulness_.auc - 0.5) < 4 * np.sqrt(1 / 12 * (1 / 500 + 1 / 500))
    own = roc_auc_score(y, model.predict_proba(X)[:, 1])
    assert own > 0.6  # with its own block a row would be found again


def test_several_classes_and_soft_votes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = X.argmax(axis=1)
    for kind, params in ((PointwiseReplicableClassifier, {"vote": "soft"}), (LEARNERS[1], {})):
        found = fitted(kind, LogisticRegression(), X, y, **params).usefulness_
        assert found.auc > 0.9
        assert min(found.recall) > 0.5


def test_rows_come_from_the_first_blocks():
    rows = [np.arange(7) + 7 * block for block in range(5)]
    sample = Sample(np.arange(35.0)[:, np.newaxis], np.arange(35) % 2)
    X, codes, blocks = Blocks(sample, Cut(35, 5), None, rows).first_rows(10)
    assert X.ravel().tolist() == list(range(10))
    assert codes.tolist() == [0, 1] * 5
    assert blocks.tolist() == [0] * 7 + [1] * 3


def test_the_record_is_part_of_the_model_file(tmp_path):
    model = fitted(PointwiseReplicableClassifier, LogisticRegression(), *rare(intercept=0.0))
    save(model, tmp_path / "m.replearn")
    assert load(tmp_path / "m.replearn", shared_key="useful").usefulness_ == model.usefulness_
