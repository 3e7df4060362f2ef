"""PointwiseReplicableClassifier as a scikit-learn estimator: inputs, labels, errors, bits."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_classifiers_train, parametrize_with_checks

from replearn import PointwiseReplicableClassifier, SharedKey, plan
from replearn.exceptions import NotCertifiedWarning, PreprocessingWarning, UnsupportedValueError
from replearn.execution.voting import MIN_ROWS_PER_TASK
from tests.factories import voting
from tests.populations import FirstRowLearner

NOT_ARGMAX = {
    "check_classifiers_train": (
        "each point has its own threshold, so predict is not the argmax of predict_proba; "
        "scikit-learn exempts its own TunedThresholdClassifierCV from this check"
    ),
}


@parametrize_with_checks(
    [PointwiseReplicableClassifier(max_fits=88)],
    expected_failed_checks=lambda estimator: NOT_ARGMAX,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.long
@parametrize_with_checks(
    [PointwiseReplicableClassifier(vote="soft", max_fits=176)],
    expected_failed_checks=lambda estimator: NOT_ARGMAX,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions_of_soft_votes(estimator, check):
    check(estimator)


class WithoutProbabilities(PointwiseReplicableClassifier):
    @property
    def predict_proba(self):
        raise AttributeError("hidden")


@pytest.mark.filterwarnings("ignore")
def test_the_argmax_is_all_that_is_exempt():
    name = "PointwiseReplicableClassifier"
    check_classifiers_train(name, WithoutProbabilities(max_fits=88))


@pytest.fixture(scope="module")
def data():
    return make_classification(3000, 6, random_state=0)


def small(estimator=None, **params):
    params = {"n_blocks": 20, "n_partitions": 2, "shared_key": "tests"} | params
    return voting(GaussianNB() if estimator is None else estimator, **params)


def fitted(data, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        return small(**params).fit(*data)


# -- the answer --------------------------------------------------------------------------------


def test_the_rule_is_the_one_that_is_certified(data):
    X, _ = data
    model = fitted(data)
    law = model.plan_.design.law
    votes = np.stack(
        [sum(e.predict(X) for e in model.estimators_[start : start + 20]) for start in (0, 20)],
        axis=1,
    )
    thresholds = SharedKey("tests").child("vote").uniforms(X)
    expected = thresholds < law.probabilities[votes].mean(axis=1)
    np.testing.assert_array_equal(model.predict(X), expected.astype(int))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], votes.mean(axis=1) / 20)
    np.testing.assert_array_equal(model.margin(X) > 0, expected)


def test_scikit_learn_ranks_by_votes_and_not_by_thresholds(data):
    X, y = data
    model = fitted(data, n_blocks=10)
    assert not hasattr(model, "decision_function")  # scorers would prefer it to predict_proba
    area = get_scorer("roc_auc")(model, X, y)
    assert area == roc_auc_score(y, model.predict_proba(X)[:, 1])
    assert area > roc_auc_score(y, model.margin(X))


def test_unanimous_votes_are_never_overruled(data):
    X, _ = data
    model = fitted(data)
    share = model.predict_proba(X)[:, 1]
    answers = model.predict(X)
    assert (share == 1).any()
    assert (share == 0).any()
    assert (answers[share == 1] == 1).all()
    assert (answers[share == 0] == 0).all()


def test_the_literal_setting_of_the_paper_is_one_call_away(data):
    model = small(n_blocks=32, law="uniform", width=1, n_partitions=1).fit(*data)
    np.testing.assert_allclose(model.plan_.design.law.probabilities, np.arange(33) / 32)
    assert model.certificate_.certified
    assert 0.0993 <= model.certificate_.rho <= 0.0994


def test_another_key_gives_other_thresholds_and_blocks(data):
    X, _ = data
    one, two = fitted(data), fitted(data, shared_key="other")
    assert not np.array_equal(one.predict_proba(X)[:, 1], two.predict_proba(X)[:, 1])
    assert one.certificate_.key_fingerprint != two.certificate_.key_fingerprint
    assert not one.certificate_.comparable(two.certificate_)


def test_ids_key_the_thresholds_instead_of_features(data):
    X, _ = data
    model = fitted(data)
    ids = np.arange(len(X))
    by_id = model.margin(X, ids=ids)
    moved = X + 1e-9
    np.testing.assert_array_equal(model.predict_proba(moved)[:, 1], model.predict_proba(X)[:, 1])
    np.testing.assert_array_equal(model.margin(moved, ids=ids), by_id)
    assert not np.array_equal(model.margin(moved), model.margin(X))


def test_decimals_forgive_a_float32_copy(data):
    X, y = data
    model = fitted((X, y), decimals=4)
    copy = X.astype(np.float32)
    thresholds = model.explain(X).keyed_threshold
    assert np.mean(model.explain(copy).keyed_threshold == thresholds) > 0.99
    strict = fitted((X, y))
    thresholds_of_copy = strict.explain(copy).keyed_threshold
    assert np.mean(thresholds_of_copy == strict.explain(X).keyed_threshold) < 0.01


def test_each_partition_cuts_all_rows_in_a_way_of_its_own(data):
    class Spy(FirstRowLearner):
        def fit(self, X, y):
            self.rows_ = frozenset(np.asarray(X)[:, 0])
            return super().fit(X, y)

    X, _ = data
    model = fitted(data, estimator=Spy(), n_partitions=3)
    blocks = [estimator.rows_ for estimator in model.estimators_]
    assert len(set(blocks)) == 3 * 20
    for start in (0, 20, 40):
        assert frozenset().union(*blocks[start : start + 20]) == frozenset(X[:, 0])


def test_each_block_has_a_seed_of_its_own(data):
    model = fitted(data, estimator=DecisionTreeClassifier(max_features=1))
    seeds = [estimator.random_state for estimator in model.estimators_]
    assert len(set(seeds)) == len(seeds) == 40
    other = fitted(data, estimator=DecisionTreeClassifier(max_features=1), shared_key="other")
    assert not set(seeds) & {estimator.random_state for estimator in other.estimators_}


# -- bits --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "base",
    [LogisticRegression(), DecisionTreeClassifier(), GaussianNB()],
    ids=lambda b: type(b).__name__,
)
def test_row_order_batches_and_jobs_do_not_matter(data, base):
    X, y = data
    model = small(base).fit(X, y)
    order = np.random.default_rng(1).permutation(len(X))
    other = small(base, n_jobs=2).fit(X[order], y[order])
    expected = model.margin(X)
    np.testing.assert_array_equal(other.margin(X), expected)
    np.testing.assert_array_equal(other.margin(X[order]), expected[order])
    pieces = [other.margin(X[i : i + 7]) for i in range(0, 210, 7)]
    np.testing.assert_array_equal(np.concatenate(pieces), expected[:210])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).margin(X), expected)
    np.testing.assert_array_equal(clone(model).fit(X, y).margin(X), expected)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_votes_and_thresholds_side_by_side(data, n_jobs):
    """Tables so long that two jobs vote and hash at the same time."""
    X, y = data
    model = small(n_jobs=n_jobs).fit(X, y)
    times = -(-MIN_ROWS_PER_TASK // len(X))
    long = np.tile(X, (times, 1))
    np.testing.assert_array_equal(model.margin(long), np.tile(model.margin(X), times))
    np.testing.assert_array_equal(model.predict(long), np.tile(model.predict(X), times))
    ids = list(range(len(long)))
    ids[5] = float("inf")
    with pytest.raises(UnsupportedValueError, match="row 5"):
        model.predict(long, ids=ids)


@pytest.mark.parametrize("what", ["decimals", "groups", "groups of texts"])
def test_row_order_does_not_matter_where_rows_only_look_alike(data, what):
    X, y = data
    order = np.random.default_rng(1).permutation(len(X))
    groups, params = None, {}
    if what == "decimals":
        params["decimals"] = 0
    else:
        X = np.round(X[:, :2])  # many equal rows, in different groups
        groups = np.random.default_rng(2).integers(0, 600, len(X))
        groups = groups.astype(str).astype(object) if "texts" in what else groups
    base = DecisionTreeClassifier() if groups is None else FirstRowLearner()
    model = small(base, **params).fit(X, y, groups=groups)
    shuffled = None if groups is None else groups[order]
    other = small(base, **params).fit(X[order], y[order], groups=shuffled)
    np.testing.assert_array_equal(other.margin(X), model.margin(X))


# -- inputs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (-1, 1), (2.0, 7.0)])
def test_labels_of_any_kind(data, labels):
    X, y = data
    model = fitted((X, np.array(labels)[y]))
    assert set(model.predict(X).tolist()) == set(labels)
    assert model.classes_.tolist() == sorted(labels)


def test_frames_arrays_and_sparse_rows_give_one_answer(data):
    X, y = data
    names = [f"x{i}" for i in range(X.shape[1])]
    expected = fitted((X, y)).margin(X)
    for table in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        np.testing.assert_array_equal(fitted((table, y)).margin(table), expected)
    base = LogisticRegression(max_iter=1000)
    dense = fitted((X, y), estimator=base)
    rows = sparse.csr_array(X)
    np.testing.assert_array_equal(
        fitted((rows, y), estimator=base).explain(rows).keyed_threshold,
        dense.explain(X).keyed_threshold,
    )


# scikit-learn 1.6 warns whoever reads the columns of "remainder".
@pytest.mark.filterwarnings(r"ignore:\s*The format of the columns of:FutureWarning")
def test_mixed_frame_with_everything_learned_inside_the_blocks():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 2000),
            "town": rng.choice(["Ulm", "Bonn", "Jena", None], 2000),
            "income": np.where(rng.random(2000) < 0.1, np.nan, rng.normal(size=2000)),
        }
    )
    y = np.where(X["age"] > 40, "yes", "no")
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["town"]), remainder="passthrough"
    )
    from sklearn.ensemble import HistGradientBoostingClassifier

    encode.set_params(sparse_threshold=0)
    base = make_pipeline(encode, HistGradientBoostingClassifier(max_iter=5))
    model = fitted((X, y), estimator=base, n_partitions=1)
    assert np.mean(model.predict(X) == y) > 0.9
    assert model.feature_names_in_.tolist() == ["age", "town", "income"]


def test_text_with_a_vectoriser_inside():
    rng = np.random.default_rng(0)
    words = np.array(["good", "fine", "bad", "poor"])
    picks = rng.integers(0, 4, (800, 3))
    texts = [" ".join(words[row]) for row in picks]
    y = (picks < 2).sum(axis=1) >= 2
    base = make_pipeline(CountVectorizer(), LogisticRegression())
    model = fitted((texts, y), estimator=base, n_partitions=1)
    assert np.mean(model.predict(texts) == y) > 0.9
    pd = pytest.importorskip("pandas")
    column = pd.Series(texts, index=np.arange(800)[::-1], name="text")
    again = fitted((column, y), estimator=base, n_partitions=1)
    assert (again.predict(column) == model.predict(texts)).all()


def test_a_rare_class_is_missing_in_most_blocks(data):
    X, y = data
    y = y.copy()
    y[:] = 0
    y[:5] = 1
    model = fitted((X, y))
    assert model.classes_.tolist() == [0, 1]
    assert np.mean(model.predict(X) == 0) > 0.99


def test_one_class_only_is_refused(data):
    X, _ = data
    y = np.full(len(X), "only")
    with pytest.raises(ValueError, match=r"one class only \('only'\): there is nothing to learn"):
        PointwiseReplicableClassifier().fit(X, y)
    with pytest.raises(ValueError, match="one class only"):
        PointwiseReplicableClassifier(classes=["only"]).fit(X, y)
    model = fitted((X, y), classes=["only", "other"])  # another lab may have the other class
    assert set(model.predict(X)) == {"only"}
    assert (model.predict_proba(X) == [1, 0]).all()


def test_the_caller_may_fix_the_classes(data):
    X, y = data
    model = fitted((X, y), classes=[0, 1])
    assert model.certificate_.classes == (0, 1)
    with pytest.raises(ValueError, match=r"not in classes=\[0, 7\]: \[1\]"):
        small(classes=[0, 7]).fit(X, y)


def test_three_classes_vote_by_shared_gumbels():
    X, y = make_classification(6000, 6, n_informative=4, n_classes=3, random_state=0)
    one = fitted((X[:3000], y[:3000]))
    two = fitted((X[3000:], y[3000:]))
    assert np.mean(one.predict(X) != two.predict(X)) < 0.2
    assert one.score(X, y) > 0.6
    np.testing.assert_allclose(one.predict_proba(X).sum(axis=1), 1)
    with pytest.raises(ValueError, match="two classes"):
        one.margin(X)


def test_groups_stay_in_one_block(data):
    X, y = data
    groups = np.repeat(np.arange(600), 5)

    class Spy(FirstRowLearner):
        def fit(self, X, y):
            self.rows_ = np.asarray(X)[:, 0]
            return super().fit(X, y)

    model = small(Spy(), n_partitions=1).fit(X, y, groups=groups)
    where = dict(zip(X[:, 0], groups, strict=True))
    seen = [{where[v] for v in e.rows_} for e in model.estimators_ if hasattr(e, "rows_")]
    assert len(seen) == 20
    assert all(len(s) == 30 for s in seen)
    assert sum(len(s) for s in seen) == len(set().union(*seen))
    assert model.certificate_.design.unit == "groups"
    assert model.certificate_.n == 600


def test_inside_the_tools_of_scikit_learn(data):
    X, y = data
    small_sample = X[:900], y[:900]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        search = GridSearchCV(small(), {"estimator__var_smoothing": [1e-9, 1e-3]}, cv=2).fit(
            *small_sample
        )
        assert search.best_score_ > 0.7
        calibrated = CalibratedClassifierCV(small(n_partitions=1), cv=2).fit(*small_sample)
        assert calibrated.score(X, y) > 0.7
        stack = StackingClassifier([("r", small(n_partitions=1))], cv=2).fit(*small_sample)
        assert stack.score(X, y) > 0.7
        assert (
            make_pipeline("passthrough", small(n_partitions=1)).fit(*small_sample).score(X, y) > 0.7
        )


# -- what n can promise ------------------------------------------------------------------------


def test_too_few_rows_are_said_plainly(data):
    X, y = data[0][:200], data[1][:200]
    message = r"n=200 can certify rho=0\.1557; the request needs.* n=450"
    with pytest.warns(NotCertifiedWarning, match=message):
        model = small(n_blocks=None).fit(X, y)
    assert not model.certificate_.certified
    assert model.plan_.design.n_blocks * 25 <= 200
    with pytest.raises(ValueError, match="n_blocks=201 is larger than n=200"):
        small(n_blocks=201).fit(X, y)


def test_given_blocks_state_the_rho_they_reach(data):
    with pytest.warns(NotCertifiedWarning):
        model = small(n_blocks=4).fit(*data)
    assert model.certificate_.rho > 0.1
    model.certificate_.check()


def test_a_plan_is_followed_and_the_surplus_is_left_out_by_key(data):
    X, y = data
    shared = plan(n=2500, rho=0.1, classes=[0, 1], n_partitions=1)
    one = PointwiseReplicableClassifier(GaussianNB(), plan=shared, shared_key="k")
    two = PointwiseReplicableClassifier(GaussianNB(), plan=shared, shared_key="k")
    one.fit(X, y)
    two.fit(X[:2500], y[:2500])
    assert one.certificate_.comparable(two.certificate_)
    assert one.plan_ == shared
    with pytest.raises(ValueError, match="plan needs n=2500 rows, but the sample has 2499"):
        two.fit(X[:2499], y[:2499])


def test_which_rows_are_left_out_does_not_depend_on_the_file(data):
    X, y = data
    shared = plan(n=2000, rho=0.1, n_partitions=1)
    order = np.random.default_rng(1).permutation(len(X))
    for groups in (None, np.arange(len(X))):
        one, two = (
            PointwiseReplicableClassifier(GaussianNB(), plan=shared, shared_key="k").fit(
                X[rows], y[rows], groups=None if groups is None else groups[rows]
            )
            for rows in (np.arange(len(X)), order)
        )
        np.testing.assert_array_equal(one.margin(X), two.margin(X))


def test_only_n_and_parameters_decide_the_plan(data):
    X, y = data
    noise = np.random.default_rng(0).normal(size=X.shape)
    one = small(n_blocks=None, n_partitions=1).fit(X, y)
    two = small(n_blocks=None, n_partitions=1).fit(noise, 1 - y)
    assert one.plan_ == two.plan_


# -- flips from one fit ------------------------------------------------------------------------


def test_explanations_speak(data):
    X, _ = data
    told = fitted(data).explain(X[:3])
    assert len(told) == 3
    assert str(told).count("a fresh training sample would predict differently") == 3
    frame = told.frame()
    np.testing.assert_array_equal(frame["margin"], frame["response"] - frame["keyed_threshold"])


# -- the trap ----------------------------------------------------------------------------------


def test_a_scaler_in_front_is_noticed(data):
    X, y = data
    with pytest.warns(PreprocessingWarning, match="StandardScaler"):
        make_pipeline(StandardScaler(), small(n_partitions=1)).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(make_pipeline(StandardScaler(), GaussianNB()), n_partitions=1).fit(X, y)


def test_a_scaler_in_front_breaks_the_promise_and_inside_it_does_not():
    """Pure noise, T = 32: about half of the points flip with the scaler in front."""
    rng = np.random.default_rng(0)
    labs = [(rng.normal(3, 2, (3200, 2)), rng.integers(0, 2, 3200)) for _ in range(2)]
    new = rng.normal(3, 2, (4000, 2))
    params = {"n_blocks": 32, "law": "uniform", "width": 1, "n_partitions": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PreprocessingWarning)
        front = [make_pipeline(StandardScaler(), small(FirstRowLearner(), **params)) for _ in labs]
        one, two = (f.fit(*lab).predict(new) for f, lab in zip(front, labs, strict=True))
    assert np.mean(one != two) > 0.4
    inside = make_pipeline(StandardScaler(), FirstRowLearner())
    one, two = (small(inside, **params).fit(*lab).predict(new) for lab in labs)
    assert np.mean(one != two) < 0.3


# -- errors ------------------------------------------------------------------------------------


class Breaks(FirstRowLearner):
    def fit(self, X, y):
        raise RuntimeError("no convergence")


class Interrupts(FirstRowLearner):
    def fit(self, X, y):
        raise KeyboardInterrupt


def test_a_learner_that_raises_is_named_with_its_block(data):
    with pytest.raises(RuntimeError, match="no convergence") as caught:
        small(Breaks()).fit(*data)
    assert "block 0 of partition 0" in str(caught.value)


def test_ctrl_c_leaves_no_half_fitted_model(data):
    X, y = data
    model = small().fit(X, y)
    model.set_params(estimator=Interrupts())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rho": 0}, "rho"),
        ({"rho": 1.5}, "rho"),
        ({"n_blocks": 0}, "n_blocks"),
        ({"law": "cauchy"}, "law"),
        ({"width": 2}, "width"),
        ({"vote": "loud"}, "vote"),
        ({"shared_key": 1.5}, "shared_key"),
        ({"plan": "plan.json"}, "plan"),
        ({"estimator": 3}, "estimator"),
    ],
)
def test_bad_parameters_are_named(data, params, message):
    with pytest.raises((ValueError, TypeError), match=message):
        small(**params).fit(*data)


def test_infinite_values_are_named_with_column_and_row(data):
    X, y = data
    X = X.copy()
    X[7, 2] = np.inf
    with pytest.raises(ValueError, match=r"column 2.*row 7|row 7.*column 2"):
        small().fit(X, y)
