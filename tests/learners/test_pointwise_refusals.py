"""What PointwiseReplicableClassifier refuses, before it trains anything, and in which words."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest, StackingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from replearn import PointwiseReplicableClassifier, plan
from replearn.bounds.laws import arcsine_law
from replearn.exceptions import NotCertifiedWarning
from replearn.paper.finite_randomness import FiniteRandomnessClassifier
from replearn.paper.thresholds import ReplicableThresholdClassifier
from tests.factories import voting


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(1, 2, (900, 3))
    return X, (X[:, 0] + rng.normal(size=900) > 1).astype(int)


class Untrainable(GaussianNB):
    def fit(self, X, y):
        raise AssertionError("nothing should be trained")


def small(estimator=None, **params):
    params = {"n_blocks": 18, "n_partitions": 1, "shared_key": "tests"} | params
    return voting(GaussianNB() if estimator is None else estimator, **params)


# -- base learners -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "kind"),
    [
        (LinearRegression(), "regressor"),
        (make_pipeline(StandardScaler(), LinearRegression()), "regressor"),
        (KMeans(), "clusterer"),
        (IsolationForest(), "outlier_detector"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_classifiers_vote(data, base, kind):
    with pytest.raises(ValueError, match=rf"(?s)^estimator=.* is a {kind}: give a classifier"):
        small(base).fit(*data)


@pytest.mark.parametrize("base", [LinearSVC(), make_pipeline(StandardScaler(), LinearSVC())])
def test_soft_votes_need_probabilities(data, base):
    small(base).fit(*data)
    with pytest.raises(ValueError, match=r'(?s)^vote="soft" needs predict_proba, .*LinearSVC'):
        small(base, vote="soft", rho=0.5).fit(*data)


@pytest.mark.parametrize("vote", ["hard", "soft"])
def test_stacking_shows_its_methods_only_when_fitted(data, vote):
    base = StackingClassifier([("bayes", GaussianNB()), ("lines", LogisticRegression())], cv=2)
    assert not hasattr(base, "predict")
    assert small(base, vote=vote, rho=0.5, n_blocks=4).fit(*data).score(*data) > 0.7


# -- parameters that contradict each other -----------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"law": arcsine_law(18, 0.9), "width": 0.5},
            r"width=0\.5 cannot be set: the given law has its own width",
        ),
        ({"max_fits": 10}, r"max_fits=10 is not enough for 18 blocks in 1 partitions"),
        ({"max_fits": 50, "n_partitions": 3}, r"max_fits=50 .* 18 blocks in 3 .*\(54 fits\)"),
        ({"n_blocks": None, "max_fits": 2, "n_partitions": 3}, r"max_fits=2 .* \(3 fits\)"),
        ({"decimals": -1}, "decimals=-1 must be at least 0"),
        ({"verbose": "loud"}, r"'verbose' .* Got 'loud'"),
    ],
)
def test_contradictions_are_refused_before_anything_is_trained(data, params, message):
    with pytest.raises(ValueError, match=message):
        small(Untrainable(), **params).fit(*data)


def test_the_budget_counts_the_fits_of_all_partitions(data):
    with pytest.warns(NotCertifiedWarning):
        model = small(n_blocks=None, n_partitions=5, max_fits=30).fit(*data)
    assert len(model.estimators_) == 30


# -- options of the planner --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"alpha": 1.5}, ValueError, "alpha"),
        ({"n_partitions": 1024}, ValueError, "n_partitions=1024 is too large"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_designs_that_are_refused(data, params, error, message):
    with pytest.raises(error, match=message):
        voting(Untrainable(), **params).fit(*data)


def test_weights_are_refused_and_not_taken_for_groups(data):
    weights = np.ones(900)
    message = r"groups by name, groups=\.\.\.; sample_weight is not supported; .*class_weight"
    with pytest.raises(TypeError, match="'sample_weight'.*" + message):
        small(Untrainable()).fit(*data, sample_weight=weights)
    with pytest.raises(TypeError, match="too many positional arguments.*" + message):
        small(Untrainable()).fit(*data, weights)
    with pytest.raises(TypeError, match="too many positional arguments.*" + message):
        ReplicableThresholdClassifier().fit(*data, weights)
    with pytest.raises(TypeError, match="no groups; sample_weight is not supported"):
        FiniteRandomnessClassifier().fit(*data, weights)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        small(Untrainable()).fit(*data, colour="red")


# -- plans -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            plan("selection", n_hypotheses=3, n=900),
            "plan is for select_hypothesis, not for",
        ),
        (plan(n=900, rho=0.3, n_classes=3), "plan is for 3 classes, but y has 2: .*Name them"),
        (plan(n=300, rho=0.3, unit="groups"), "plan counts groups: pass groups to fit"),
    ],
    ids=["notion", "classes", "groups"],
)
def test_plans_of_another_kind_are_refused(data, made, message):
    with pytest.raises(ValueError, match=message):
        PointwiseReplicableClassifier(Untrainable(), plan=made).fit(*data)


def test_more_classes_than_planned_are_refused(data):
    X, _ = data
    made = plan(n=900, rho=0.3)
    with pytest.raises(ValueError, match="plan is for 2 classes, but y has 3"):
        PointwiseReplicableClassifier(Untrainable(), plan=made).fit(X, np.arange(900) % 3)


def test_what_a_plan_fixes_cannot_be_set_beside_it(data):
    made = plan(n=900, rho=0.3)
    for shared in (made, plan("approximate", n=900, rho=0.3, gamma=0.3)):
        model = PointwiseReplicableClassifier(GaussianNB(), plan=shared, rho=0.2, vote="soft")
        with pytest.raises(
            ValueError, match="rho, vote are set by `plan`; remove them or create a new plan"
        ):
            model.fit(*data)
    with pytest.raises(
        ValueError, match="classes is set by `plan`; remove it or create a new plan"
    ):
        PointwiseReplicableClassifier(Untrainable(), plan=made, classes=[0, 1]).fit(*data)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        PointwiseReplicableClassifier(plan=made, colour="red")


def test_a_plan_for_groups_is_followed(data):
    made = plan(n=300, rho=0.3, unit="groups")
    learner = PointwiseReplicableClassifier(GaussianNB(), plan=made)
    learner.fit(*data, groups=np.arange(900) // 3)
    assert learner.certificate_.design.unit == "groups"


def test_a_plan_may_list_its_classes_in_any_order(data):
    X, y = data
    labels = np.array(["no", "yes"])[y]
    made = plan(n=900, rho=0.3, n_partitions=1, classes=["yes", "no"])
    assert made == plan(n=900, rho=0.3, n_partitions=1, classes=["no", "yes"])
    learner = PointwiseReplicableClassifier(GaussianNB(), plan=made).fit(X, labels)
    assert learner.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ({0, 1}, r"classes=\{0, 1\} must be a list of labels"),
        ([[0, 1]], r"classes=\[\[0, 1\]\] must be a list of labels"),
        ([], r"classes=\[\] must be a list of labels"),
        ([0, 1, None], "classes contains a missing value in row 2"),
    ],
    ids=["set", "nested", "empty", "missing"],
)
def test_lists_of_classes_are_checked(data, classes, message):
    with pytest.raises(ValueError, match=message):
        small(Untrainable(), classes=classes).fit(*data)


def test_a_key_that_is_changed_after_fit_is_noticed(data):
    X, _ = data
    model = small().fit(*data)
    model.set_params(shared_key="other")
    for ask in (model.predict, model.margin, model.flip_probability, model.explain):
        with pytest.raises(ValueError, match="shared_key was changed after fit"):
            ask(X)
    model.set_params(shared_key="tests").predict(X)


# -- labels, groups, ids -----------------------------------------------------------------------


def test_numbers_in_an_object_column_are_labels(data):
    X, y = data
    model = small().fit(X, y.astype(object))
    assert model.classes_.dtype.kind == "i"
    np.testing.assert_array_equal(model.predict(X), small().fit(X, y).predict(X))


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("one", "Input y mixes values of the types int and str: use one type"),
        (None, "Input y contains a missing value in row 7: leave out the row"),
        (pd.NA, "Input y contains a missing value in row 7: leave out the row"),
        (np.nan, "Input y contains a missing value in row 7: leave out the row"),
    ],
    ids=["mixed", "None", "NA", "nan"],
)
def test_labels_that_cannot_be_sorted_are_named(data, cell, message):
    X, y = data
    y = y.astype(object)
    y[7] = cell
    with pytest.raises(ValueError, match=message):
        small(Untrainable()).fit(X, y)


def test_missing_numbers_among_labels_are_named(data):
    X, y = data
    with pytest.raises(ValueError, match="Input y contains NaN in row 3"):
        small(Untrainable()).fit(X, np.where(np.arange(900) == 3, np.nan, y))


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (7, "groups mixes values of the types int and str"),
        (None, "groups contains a missing value in row 2: give a row without a group an id"),
    ],
    ids=["mixed", "missing"],
)
def test_groups_that_cannot_be_sorted_are_named(data, cell, message):
    groups = np.array([f"patient {row // 3}" for row in range(900)], dtype=object)
    groups[2] = cell
    with pytest.raises(ValueError, match=message):
        small(Untrainable()).fit(*data, groups=groups)


def test_messages_count_groups_where_groups_count(data):
    groups = np.arange(900) // 45
    with pytest.warns(NotCertifiedWarning, match=r"1 block of 20 groups.* n=450 groups"):
        model = small(n_blocks=None).fit(*data, groups=groups)
    assert model.plan_.design.unit == "groups"
    with pytest.raises(ValueError, match=r"n_blocks=21 is larger than n=20: .* needs a group"):
        small(Untrainable(), n_blocks=21).fit(*data, groups=groups)


@pytest.mark.parametrize("method", ["predict", "margin", "flip_probability"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_id_for_many_rows_is_not_spread_over_them(data, method, n_classes):
    X, y = data
    if n_classes == 3 and method == "margin":
        pytest.skip("two classes only")
    model = small(rho=0.5).fit(X, y if n_classes == 2 else np.arange(900) % 3)
    for ids, message in (
        ([7], "ids has 1 entries, but X has 900 rows"),
        ([*range(899), None], "ids contains a missing value in row 899"),
        (np.where(np.arange(900) > 3, np.nan, 1.0), "ids contains a missing value in row 4"),
        (np.arange(899), "ids has 899 entries, but X has 900 rows"),
        (7, "ids=7 must hold one id for each of the 900 rows"),
        ("seven", "ids='seven' must hold one id"),
    ):
        with pytest.raises(ValueError, match=message):
            getattr(model, method)(X, ids=ids)


DATES = pd.Series(pd.date_range("2026-01-01", periods=900, freq="D"))


@pytest.mark.parametrize(
    "ids",
    [
        DATES,
        pd.DatetimeIndex(DATES),
        DATES.dt.tz_localize("UTC"),
        DATES - DATES[0],
        DATES.to_numpy(),
        DATES.astype(object),
    ],
    ids=["series", "index", "zone", "duration", "numpy", "object"],
)
def test_a_date_that_is_none_is_no_id_and_no_group(data, ids):
    X, y = data
    model = small(rho=0.5).fit(X, y)
    assert len(model.predict(X, ids=ids)) == 900
    missing = pd.Series(ids).copy()
    missing[[5, 7]] = pd.NaT
    if isinstance(ids, np.ndarray):
        missing = missing.to_numpy()
    with pytest.raises(ValueError, match="ids contains a missing value in row 5"):
        model.predict(X, ids=missing)
    with pytest.raises(ValueError, match=r"groups contains (NaT|a missing value) in row 5"):
        small(rho=0.5).fit(X, y, groups=missing)


@pytest.mark.parametrize("value", ["often", None, float("nan"), -0.1, 1.1])
def test_probabilities_are_named(data, value):
    X, _ = data
    model = small().fit(*data)
    with pytest.raises(
        (TypeError, ValueError), match=r"delta.* must (be a number|lie in \(0, 1\))"
    ):
        model.flip_rate(X, delta=value)


def test_nothing_of_an_earlier_fit_is_left_after_an_error(data):
    fresh = set(vars(small()))
    model = small().fit(*data)
    with pytest.raises(AssertionError):
        model.set_params(estimator=Untrainable()).fit(*data)
    assert set(vars(model)) == fresh
