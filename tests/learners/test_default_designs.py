"""Default numbers of partitions: by the base estimator and the size of the table."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replearn import Plan, PointwiseReplicableClassifier, plan
from replearn.checks.blocks import family_of
from replearn.learners import training
from replearn.learners.training import PARTITIONS, usual_partitions, usual_plan
from tests.factories import voting

BOOSTING = HistGradientBoostingClassifier(max_iter=2)
ROWS = np.random.default_rng(0).normal(size=(2400, 3))
LABELS = (ROWS[:, 0] > 0).astype(int)


class Named(HistGradientBoostingClassifier):
    """A subclass of an estimator is of its family."""


class LGBMClassifier(LogisticRegression):
    """Boosting of other packages is known by its name."""


@pytest.mark.parametrize(
    ("base", "family"),
    [
        (BOOSTING, "boosting"),
        (Named(), "boosting"),
        (GradientBoostingClassifier(), "boosting"),
        (LGBMClassifier(), "boosting"),
        (make_pipeline(StandardScaler(), BOOSTING), "boosting"),
        (CalibratedClassifierCV(make_pipeline(StandardScaler(), BOOSTING)), "boosting"),
        (RandomForestClassifier(), "forest"),
        (make_pipeline(StandardScaler(), ExtraTreesClassifier()), "forest"),
        (LogisticRegression(), "any"),
    ],
    ids=str,
)
def test_the_class_of_the_innermost_estimator_is_its_family(base, family):
    assert family_of(base) == family
    made = usual_plan(PointwiseReplicableClassifier(base), 60_000, 2)
    assert (made.design.n_blocks, made.design.n_partitions) == (88, PARTITIONS[family])
    assert made.design == plan(n=60_000, rho=0.1, n_partitions=PARTITIONS[family]).design


def test_fit_follows_the_family_and_other_labs_the_plan():
    shared = {"shared_key": "k", "verbose": -1}
    first = voting(BOOSTING, rho=0.4, **shared).fit(ROWS, LABELS)
    expected = plan(n=2400, rho=0.4, n_partitions=PARTITIONS["boosting"])
    assert first.plan_.design == expected.design
    read = Plan.from_json(expected.to_json())
    second = voting(BOOSTING, plan=read, **shared).fit(ROWS, LABELS)
    assert second.certificate_.comparable(first.certificate_)
    assert len(second.estimators_) == len(first.estimators_)


def test_what_is_requested_stands():
    base = PointwiseReplicableClassifier(BOOSTING, n_blocks=30, max_fits=60)
    made = usual_plan(base, 60_000, 2)
    assert (made.design.n_blocks, made.design.n_partitions) == (30, 2)
    made = usual_plan(PointwiseReplicableClassifier(BOOSTING, max_fits=704), 60_000, 2)
    assert made.design.n_blocks * made.design.n_partitions <= 704
    assert made.design.n_partitions > PARTITIONS["boosting"]


def test_large_tables_are_cut_in_fewer_ways(monkeypatch):
    base = LogisticRegression()
    million, tens = (plan(n=10**k, rho=0.1).design for k in (6, 7))
    assert [usual_partitions(base, million, columns) for columns in (None, 40, 41)] == [8, 8, 7]
    assert usual_partitions(base, tens, 400) == 1
    monkeypatch.setattr(training, "MAX_CELLS", 2 * ROWS.size)
    model = PointwiseReplicableClassifier(base, rho=0.4, verbose=-1)
    assert model.fit(ROWS, LABELS).plan_.design.n_partitions == 2


def test_the_number_of_columns_of_texts_and_sparse_rows_is_not_counted(monkeypatch):
    from scipy import sparse

    monkeypatch.setattr(training, "MAX_CELLS", 1)
    model = PointwiseReplicableClassifier(LogisticRegression(), rho=0.4, n_blocks=5, max_fits=None)
    fitted = model.fit(sparse.csr_array(ROWS), LABELS)
    assert fitted.plan_.design == plan(n=2400, rho=0.4, n_blocks=5).design
