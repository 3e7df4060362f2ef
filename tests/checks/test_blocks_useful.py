import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn import PointwiseReplicableClassifier
from replearn.checks.blocks import rows_needed
from replearn.exceptions import NotCertifiedWarning
from tests.factories import voting

BOOSTING = HistGradientBoostingClassifier(max_iter=1)


@pytest.mark.parametrize(
    ("base", "least", "useful"),
    [
        (BOOSTING, 40, 80),
        (make_pipeline(StandardScaler(), BOOSTING), 40, 80),
        (HistGradientBoostingClassifier(early_stopping=True), 45, 89),
        (DecisionTreeClassifier(), 2, 4),
        (DecisionTreeClassifier(min_samples_split=90), 90, 90),
        (RandomForestClassifier(min_samples_leaf=7), 14, 28),
        (CalibratedClassifierCV(BOOSTING), 50, 100),
        (CalibratedClassifierCV(BOOSTING, cv=2), 80, 160),
        (BaggingClassifier(BOOSTING, max_samples=0.5), 80, 160),
        (KNeighborsClassifier(39), 40, 79),
    ],
)
def test_what_parameters_say(base, least, useful):
    need = rows_needed(base)
    assert (need.least, need.useful) == (least, useful)


@pytest.mark.parametrize(
    "base", [LogisticRegression(), DecisionTreeClassifier(min_samples_leaf=0.1)]
)
def test_nothing_is_known_of_others(base):
    assert rows_needed(base) is None


@pytest.mark.parametrize("rows", [39, 40])
def test_the_least_number_is_where_boosting_begins_to_split(rows):
    X = np.arange(rows, dtype=float)[:, None]
    model = HistGradientBoostingClassifier(max_iter=1).fit(X, np.arange(rows) >= rows // 2)
    assert (len(np.unique(model.predict_proba(X)[:, 1])) > 1) == (rows >= rows_needed(model).least)


COARSE = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=19)


def design_of(base, n, **params):
    X, y = make_classification(n, random_state=0)
    params = {"max_fits": 30, "shared_key": "k", **params}
    model = PointwiseReplicableClassifier(base, **params)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return model.certificate_.design, {one.category for one in caught}


def test_blocks_are_as_large_as_the_learner_needs():
    useful, said = design_of(COARSE, 2000)
    assert useful.block_size == 76
    assert not said
    just, said = design_of(COARSE, 900)  # 11 blocks of 76 do not reach 0.1, 23 of 38 do
    assert just.block_size == 39
    assert not said
    small, said = design_of(COARSE, 500)  # 13 blocks of 38: said, with the rho they reach
    assert small.block_size >= 38
    assert said == {NotCertifiedWarning}
    assert design_of(DecisionTreeClassifier(), 2000, max_fits=88)[0].block_size == 25


def test_what_the_caller_fixes_stands():
    X, y = make_classification(1200, random_state=0)
    model = voting(BOOSTING, n_blocks=40, max_fits=40, small_blocks="keep")
    with pytest.warns(UserWarning, match="predicts a single class if it is"):
        model.fit(X, y)
    assert model.certificate_.design.block_size == 30
