"""Scored numbers that are rounded are other points than those that were trained on."""

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


@pytest.fixture(scope="module")
def votes():
    return PointwiseReplicableClassifier(GaussianNB(), rho=0.3, max_fits=40).fit(X, Y)


@pytest.mark.parametrize("decimals", [3, 6, 8])
def test_rounded_rows_are_warned_about(votes, decimals):
    with pytest.warns(PreprocessingWarning, match="at most 8 decimals"):
        votes.predict(NEW.round(decimals))


def test_other_learners_and_frames_warn_as_well():
    frame = pd.DataFrame(X, columns=list("abc"))
    model = ScoreReplicableClassifier(GaussianNB()).fit(frame, Y)
    with pytest.warns(PreprocessingWarning, match=r"\('a', 'b', 'c', \.\.\.\)"):
        model.explain(pd.DataFrame(NEW.round(6), columns=list("abc")))
    model.predict(pd.DataFrame(NEW, columns=list("abc")))


def test_rows_as_they_are_made_up_rows_and_ids_are_not(votes):
    votes.predict(NEW)
    votes.predict(NEW[:10].round(2))
    votes.predict(NEW.round(2), ids=np.arange(100))
    votes.predict(np.stack(np.meshgrid(*3 * [np.arange(-2, 2, 0.1)]), axis=-1).reshape(-1, 3))
    mixed = NEW.round(2)
    mixed[:, 1] = NEW[:, 1]
    votes.predict(mixed)


@pytest.mark.parametrize("rows", [X.round(3), np.column_stack([X.round(3)[:, :2], X[:, 2]])])
def test_rounded_training_rows_allow_rounded_ones(rows):
    model = PointwiseReplicableClassifier(GaussianNB(), rho=0.3, max_fits=40).fit(rows, Y)
    model.predict(NEW.round(3))


def test_a_rounding_rule_of_all_runs_needs_no_warning():
    model = PointwiseReplicableClassifier(GaussianNB(), rho=0.3, max_fits=40, decimals=4).fit(X, Y)
    model.predict(NEW.round(6))
