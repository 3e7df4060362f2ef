"""Scored numbers that are rounded are other points than those that were trained on."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from replearn import (
    PointwiseReplicableClassifier,
    PreprocessingWarning,
    ScoreReplicableClassifier,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 3))
Y = (X[:, 0] + RNG.normal(size=3000) > 0).astype(int)
NEW = RNG.normal(size=(100, 3))


def warned(model, rows, **params):
    """Whether predictions of these rows are warned about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict(rows, **params)
    return any(one.category is PreprocessingWarning for one in caught)


@pytest.fixture(scope="module")
def votes():
    return PointwiseReplicableClassifier(GaussianNB(), rho=0.3, max_fits=40).fit(X, Y)


@pytest.mark.parametrize("decimals", [3, 6, 8])
def test_rounded_rows_are_warned_about(votes, decimals):
    with pytest.warns(PreprocessingWarning, match="at most 8 decimals"):
        votes.predict(NEW.round(decimals))


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.parametrize("names", [list("abc"), [5, 6, 7]])
def test_a_frame_instead_of_an_array_is_no_error(votes, names):
    frame = pd.DataFrame(NEW, columns=names)
    np.testing.assert_array_equal(votes.predict(frame), votes.predict(NEW))
    model = ScoreReplicableClassifier(GaussianNB()).fit(pd.DataFrame(X, columns=names), Y)
    np.testing.assert_array_equal(model.predict(NEW), model.predict(frame))


def test_other_learners_and_frames_warn_as_well():
    frame = pd.DataFrame(X, columns=list("abc"))
    model = ScoreReplicableClassifier(GaussianNB()).fit(frame, Y)
    with pytest.warns(PreprocessingWarning, match=r"\('a', 'b', 'c', \.\.\.\)"):
        model.explain(pd.DataFrame(NEW.round(6), columns=list("abc")))
    assert not warned(model, pd.DataFrame(NEW, columns=list("abc")))


def test_rows_as_they_are_made_up_rows_and_ids_are_not(votes):
    assert warned(votes, NEW.round(2))
    assert not warned(votes, NEW)
    assert not warned(votes, NEW[:10].round(2))
    assert not warned(votes, NEW.round(2), ids=np.arange(100))
    grid = np.stack(np.meshgrid(*3 * [np.arange(-2, 2, 0.1)]), axis=-1).reshape(-1, 3)
    assert not warned(votes, grid)
    mixed = NEW.round(2)
    mixed[:, 1] = NEW[:, 1]
    assert not warned(votes, mixed)


@pytest.mark.parametrize("rows", [X.round(3), np.column_stack([X.round(3)[:, :2], X[:, 2]])])
def test_rounded_training_rows_allow_rounded_ones(rows):
    model = PointwiseReplicableClassifier(GaussianNB(), rho=0.3, max_fits=40).fit(rows, Y)
    assert not warned(model, NEW.round(3))


def test_a_rounding_rule_of_all_runs_needs_no_warning():
    model = PointwiseReplicableClassifier(GaussianNB(), rho=0.3, max_fits=40, decimals=4).fit(X, Y)
    assert not warned(model, NEW.round(6))
