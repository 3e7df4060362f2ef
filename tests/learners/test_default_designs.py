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
from replearn.binding import family_of
from replearn.guarantees import planner
from replearn.guarantees.design import FAMILIES
from replearn.guarantees.planner import DEFAULT_PARTITIONS, plan_votes
from replearn.learners import usual_plan
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
    assert (made.n_blocks, made.n_partitions) == (88, DEFAULT_PARTITIONS[family])
    assert made == plan(n=60_000, rho=0.1, family=family)


def test_every_family_has_a_number_of_partitions():
    assert tuple(DEFAULT_PARTITIONS) == FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("options", [{}, {"n_classes": 4}, {"rho": 0.03}, {"n": 500}], ids=str)
def test_a_family_changes_neither_blocks_nor_law_nor_promise(family, options):
    arguments = {"n": 40_000, "rho": 0.1, **options}
    made = plan(**arguments, family=family)
    usual = plan(**arguments)
    assert (made.rho, made.n_blocks, made.law) == (usual.rho, usual.n_blocks, usual.law)
    assert 1 <= made.n_partitions <= usual.n_partitions


def test_fit_follows_the_family_and_other_labs_the_plan():
    shared = {"shared_key": "k", "verbose": -1}
    first = voting(BOOSTING, rho=0.4, **shared).fit(ROWS, LABELS)
    expected = plan(n=2400, rho=0.4, family="boosting")
    assert first.plan_ == expected
    read = Plan.from_json(expected.to_json())
    second = voting(BOOSTING, plan=read, **shared).fit(ROWS, LABELS)
    assert second.certificate_.comparable(first.certificate_)
    assert len(second.estimators_) == len(first.estimators_)


def test_what_is_requested_stands():
    base = PointwiseReplicableClassifier(BOOSTING, n_blocks=30, max_fits=60)
    made = usual_plan(base, 60_000, 2)
    assert (made.n_blocks, made.n_partitions) == (30, 2)
    made = usual_plan(PointwiseReplicableClassifier(BOOSTING, max_fits=704), 60_000, 2)
    assert made.n_blocks * made.n_partitions <= 704
    assert made.n_partitions > DEFAULT_PARTITIONS["boosting"]


def test_the_family_is_no_part_of_the_design():
    sizes = {"n_blocks": 44, "n_partitions": 3}
    made = plan(n=9_000, rho=0.1, family="boosting", **sizes)
    assert made == plan(n=9_000, rho=0.1, **sizes)
    assert "family" not in made.to_json()


def test_large_tables_are_cut_in_fewer_ways(monkeypatch):
    assert plan(n=10**6, rho=0.1, n_columns=40).n_partitions == 8
    assert plan(n=10**6, rho=0.1, n_columns=41).n_partitions == 7
    assert plan(n=10**7, rho=0.1, n_columns=400).n_partitions == 1
    assert plan(n=10**7, rho=0.1, n_columns=400, max_fits=704).n_partitions == 8
    assert plan(n=10**7, rho=0.1, n_columns=400, n_partitions=5).n_partitions == 5
    monkeypatch.setattr(planner, "MAX_CELLS", 2 * ROWS.size)
    model = PointwiseReplicableClassifier(LogisticRegression(), rho=0.4, verbose=-1)
    assert model.fit(ROWS, LABELS).plan_.n_partitions == 2


def test_the_number_of_columns_of_texts_and_sparse_rows_is_not_counted(monkeypatch):
    from scipy import sparse

    monkeypatch.setattr(planner, "MAX_CELLS", 1)
    model = PointwiseReplicableClassifier(LogisticRegression(), rho=0.4, n_blocks=5, max_fits=None)
    fitted = model.fit(sparse.csr_array(ROWS), LABELS)
    assert fitted.plan_ == plan_votes(planner.PlanRequest(n=2400, rho=0.4, n_blocks=5))


def test_an_unknown_family_is_named():
    with pytest.raises(ValueError, match="family='forests' must be one of"):
        plan(n=1000, rho=0.1, family="forests")
