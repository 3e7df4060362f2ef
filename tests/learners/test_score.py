"""Few large blocks with thresholds in standard errors: conventions, thresholds, weights."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from replearn import ScoreReplicableClassifier, plan
from replearn.exceptions import ConstantBlocksWarning, NotCertifiedWarning
from replearn.guarantees.score import MAX_FITS
from replearn.learners.score_rule import crossing
from replearn.testing import check_replicable_classifier

EXEMPT = {
    "check_classifiers_train": "each point has its own threshold, as in TunedThresholdClassifierCV",
    "check_sample_weight_equivalence_on_dense_data": (
        "blocks are cut by number of rows: a row of weight 2 is one row"
    ),
    "check_sample_weight_equivalence_on_sparse_data": "the same",
    "check_classifiers_one_label_sample_weights": "blocks of two rows, some of weight 0 only",
}


@parametrize_with_checks(
    [ScoreReplicableClassifier(GaussianNB())],  # every row is in some block
    expected_failed_checks=lambda estimator: EXEMPT,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_classification(4000, 6, flip_y=0.3, random_state=0)


@pytest.fixture(scope="module")
def labs(data):
    X, y = data
    make = lambda: ScoreReplicableClassifier(GaussianNB(), shared_key="k")  # noqa: E731
    return make().fit(X[:2000], y[:2000]), make().fit(X[2000:], y[2000:])


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 3))
    return X, np.digitize(X[:, 0] + 0.7 * rng.normal(size=3000), [-0.5, 0.6])


def test_conformance(data):
    check_replicable_classifier(
        ScoreReplicableClassifier(GaussianNB()), (data[0][:400], data[1][:400])
    )


def test_conformance_of_three_classes(three):
    check_replicable_classifier(
        ScoreReplicableClassifier(GaussianNB()), (three[0][:400], three[1][:400])
    )


def test_the_verdict_is_estimated_and_nobody_is_warned(labs):
    certificate = labs[0].certificate_
    assert certificate.verdict == "estimated"
    assert not certificate.certified
    assert "estimated from the data" in certificate.reason
    assert certificate.rho == pytest.approx(0.1)
    assert "standard-error" in certificate.assumptions
    assert "estimate, not a certificate" in certificate.explain()
    assert str(certificate).splitlines()[1].startswith("verdict")
    assert 0.1 < certificate.value("worst_score_flip_bound") <= 1.0
    certificate.check()


def test_labs_are_comparable_and_their_errors_differ_in_a_remark(labs):
    here, there = (lab.certificate_ for lab in labs)
    comparison = here.comparable(there)
    assert comparison
    assert any(remark.startswith("standard_error") for remark in comparison.remarks)
    assert labs[0].standard_error_ == pytest.approx(labs[1].standard_error_, rel=0.3)


def test_failed_conditions_leave_no_estimate(data):
    X, y = data
    numbered = np.column_stack([np.arange(1000.0), X[:1000]])
    with pytest.warns(match="numbers the rows"):
        model = ScoreReplicableClassifier(GaussianNB()).fit(numbered, y[:1000])
    assert model.certificate_.verdict == "not certified"


def test_at_most_24_fits(labs):
    assert len(labs[0].estimators_) == MAX_FITS == 24
    assert labs[0].certificate_.inputs["n_blocks"] == 24


def test_blocks_are_as_large_as_the_learner_needs(data):
    X, y = data
    modest, greedy = (
        DecisionTreeClassifier(max_depth=3),
        DecisionTreeClassifier(min_samples_leaf=80),
    )
    cuts = [ScoreReplicableClassifier(base).fit(X, y).certificate_ for base in (modest, greedy)]
    assert [cut.inputs["n_blocks"] for cut in cuts] == [24, 12]
    assert min(cut.inputs["block_size"] for cut in cuts) >= 80
    assert cuts[1].inputs["block_size"] >= 4 * 80


def test_blocks_that_stay_too_small_are_told(data):
    X, y = data
    with pytest.warns(ConstantBlocksWarning, match="block estimators are constant"):
        ScoreReplicableClassifier(DecisionTreeClassifier(min_samples_leaf=2000)).fit(X, y)


def test_flips_are_about_what_is_estimated(labs, data):
    X = data[0]
    flips = np.mean(labs[0].predict(X) != labs[1].predict(X))
    expected = labs[0].flip_probability(X).mean()
    assert 0.4 * expected < flips < 1.6 * expected


def test_probabilities_are_the_mean_of_the_models(labs, data):
    X = data[0][:50]
    mean = np.mean([model.predict_proba(X) for model in labs[0].estimators_], axis=0)
    assert labs[0].predict_proba(X) == pytest.approx(mean)
    assert labs[0].predict_proba(X)[:, 1] == pytest.approx(mean[:, 1])


def test_answers_follow_scores_and_thresholds(labs, data):
    lab, X = labs[0], data[0][:300]
    told = lab.explain(X)
    assert (lab.predict(X) == (told.margin > 0)).all()
    assert lab.margin(X) == pytest.approx(told.margin)
    score = lab.predict_proba(X)[:, 1]
    clear = np.abs(score - 0.5) > 6 * told.standard_error
    assert ((score > 0.5) == lab.predict(X))[clear].all()
    overruled = (score > 0.5) != (told.margin > 0)
    assert overruled.any()
    text = list(told.sentences())[int(np.flatnonzero(overruled)[0])]
    assert "drawn by the point's shared random numbers" in text
    assert set(told.frame().columns) >= {"prediction", "score", "keyed_threshold"}


@pytest.mark.filterwarnings("ignore:requested rho=0.1")
def test_rows_with_twice_the_standard_error_are_said_to_flip_more(labs, data):
    lab, X = labs[0], data[0][:500]
    made = plan("score", n=2000, standard_error=0.5)
    steady = ScoreReplicableClassifier(GaussianNB(), shared_key="k", plan=made)
    steady.fit(data[0][:2000], data[1][:2000])
    curve = lab._vote().curve
    told = lab.explain(X)
    score = lab.predict_proba(X)[:, 1]
    assert (told.standard_error >= curve.errors(score) - 1e-12).all()
    assert (told.standard_error > 1.5 * curve.errors(score)).any()
    assert steady.explain(X).standard_error == pytest.approx(
        steady._vote().curve.errors(steady.predict_proba(X)[:, 1])
    )


def test_ids_key_the_thresholds(labs, data):
    X, lab = data[0][:200], labs[0]
    ids = np.arange(200)
    assert (
        lab.explain(X, ids=ids).keyed_threshold == lab.explain(-X, ids=ids).keyed_threshold
    ).all()
    assert (lab.explain(X, ids=ids).keyed_threshold != lab.explain(X).keyed_threshold).any()
    assert len(lab.predict(X, ids=ids)) == 200


def test_limits_are_not_offered(labs):
    assert not hasattr(labs[0], "flip_limits")
    assert not hasattr(labs[0], "flip_rate")


# -- thresholds ------------------------------------------------------------------------------------
def fit_small(data, **params):
    base = params.pop("base", GaussianNB())
    return ScoreReplicableClassifier(base, **params).fit(data[0][:800], data[1][:800])


def test_costs_and_numbers_are_the_same_threshold(data):
    by_cost, by_number = fit_small(data, threshold=(1, 4)), fit_small(data, threshold=0.2)
    assert by_cost.threshold_ == by_number.threshold_ == 0.2
    assert (by_cost.predict(data[0]) == by_number.predict(data[0])).all()
    assert by_cost.certificate_.comparable(by_number.certificate_)
    assert by_number.predict(data[0]).mean() > fit_small(data).predict(data[0]).mean()


@pytest.mark.filterwarnings("ignore:requested rho=0.1")
def test_prevalence_widens_by_its_own_standard_error(data):
    X, y = data
    rare = np.concatenate([np.flatnonzero(y == 0)[:900], np.flatnonzero(y == 1)[:60]])
    sample = X[rare], y[rare]
    model = ScoreReplicableClassifier(GaussianNB(), threshold="prevalence")
    model.fit(*sample)
    share = 60 / 960
    assert model.threshold_ == pytest.approx(share)
    fixed = ScoreReplicableClassifier(GaussianNB(), threshold=share).fit(*sample)
    more = model.standard_error_ - fixed.standard_error_
    assert more == pytest.approx(np.sqrt(share * (1 - share) / 960))
    answers = model.predict(X)
    assert 0.1 < answers.mean() < 0.9  # not the constant that 0.5 would give
    assert model.certificate_.inputs["threshold"] == "prevalence"


@pytest.mark.parametrize("threshold", [(1, 0), (1,), (1, 2, 3), ("a", 1)])
def test_costs_that_make_no_sense_are_refused(data, threshold):
    with pytest.raises(ValueError, match=r"threshold=.* must be a number in \(0, 1\)"):
        fit_small(data, threshold=threshold)


def test_a_curve_of_another_run_is_followed(data, labs):
    made = plan("score", n=400, standard_error=labs[0].standard_error_)
    model = fit_small(data, plan=made)
    assert model.standard_error_ == labs[0].standard_error_
    assert model.certificate_.inputs["fixed_error"] == labs[0].standard_error_
    assert model.certificate_.verdict == "estimated"


# -- several classes -------------------------------------------------------------------------------


def test_thresholds_are_for_two_classes(three):
    with pytest.raises(ValueError, match="requires two classes, but there are 3"):
        ScoreReplicableClassifier(GaussianNB(), threshold=0.2).fit(*three)


# -- weights, groups, sizes ------------------------------------------------------------------------
def test_weights_reach_the_base_learner(data):
    X, y = data[0][:800], data[1][:800]
    plain = ScoreReplicableClassifier(LogisticRegression())
    weights = np.where(y == 1, 5.0, 1.0)
    weighted = ScoreReplicableClassifier(LogisticRegression())
    weighted.fit(X, y, sample_weight=weights)
    balanced = ScoreReplicableClassifier(LogisticRegression(class_weight={0: 1, 1: 5})).fit(X, y)
    mean = plain.fit(X, y).predict_proba(X)[:, 1].mean()
    assert weighted.predict_proba(X)[:, 1].mean() > mean + 0.1
    assert balanced.predict_proba(X)[:, 1].mean() > mean + 0.1
    assert weighted.certificate_.inputs["fit_params"] == ["sample_weight"]
    assert not weighted.certificate_.comparable(plain.certificate_)


def test_weights_are_routed_through_a_pipeline(data):
    X, y = data[0][:600], data[1][:600]
    weights = np.where(y == 1, 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        step = LogisticRegression().set_fit_request(sample_weight=True)
        base = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), step)
        routed = ScoreReplicableClassifier(base)
        routed.fit(X, y, sample_weight=weights)
    plain = ScoreReplicableClassifier(make_pipeline(StandardScaler(), LogisticRegression()))
    assert (
        routed.predict_proba(X)[:, 1].mean() > plain.fit(X, y).predict_proba(X)[:, 1].mean() + 0.1
    )
    with pytest.raises(TypeError, match="enable_metadata_routing"):
        plain.fit(X, y, sample_weight=weights)


@pytest.mark.filterwarnings("ignore:rows are not independent draws")
def test_the_order_of_weighted_rows_does_not_matter(data):
    X, y = np.repeat(data[0][:200], 2, axis=0), np.repeat(data[1][:200], 2)
    weights = np.tile([1.0, 7.0], 200)
    order = np.random.default_rng(1).permutation(400)
    model = ScoreReplicableClassifier(GaussianNB())
    one = model.fit(X, y, sample_weight=weights).predict_proba(data[0])
    two = model.fit(X[order], y[order], sample_weight=weights[order]).predict_proba(data[0])
    assert (one == two).all()


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"sample_weight": np.ones(3)}, ValueError, r"sample_weight has shape \(3,\)"),
        ({"surprise": 1}, TypeError, "unexpected keyword argument 'surprise'"),
    ],
)
def test_other_arguments_of_fit_are_refused(data, params, error, words):
    with pytest.raises(error, match=words):
        ScoreReplicableClassifier(GaussianNB()).fit(data[0][:100], data[1][:100], **params)


def test_groups_stay_together_and_sizes_are_shared(data):
    X, y, groups = data[0][:900], data[1][:900], np.arange(900) // 3
    made = plan("score", n=240, n_partitions=1)
    model = ScoreReplicableClassifier(GaussianNB(), plan=made, decimals=3)
    model.fit(X, y, groups=groups)
    assert model.certificate_.inputs["n"] == 240
    assert model.certificate_.inputs["unit"] == "groups"
    shared = plan("score", n=500, n_partitions=1)
    larger = ScoreReplicableClassifier(GaussianNB(), plan=shared)
    smaller = ScoreReplicableClassifier(GaussianNB(), plan=shared)
    here = larger.fit(X, y).certificate_
    assert here.comparable(smaller.fit(X[:500], y[:500]).certificate_)
    with pytest.raises(ValueError, match="plan needs n=500 rows, but the sample has 400"):
        smaller.fit(X[:400], y[:400])


def test_a_learner_without_probabilities_is_refused(data):
    with pytest.raises(ValueError, match=r"^mean scores need predict_proba, .* have: wrap it"):
        fit_small(data, base=RidgeClassifier())


def test_too_few_rows_are_told(data):
    with pytest.raises(ValueError, match="n_blocks=9 blocks need as many rows"):
        ScoreReplicableClassifier(GaussianNB(), n_blocks=9).fit(data[0][:8], [0, 1] * 4)


@pytest.mark.filterwarnings("ignore:requested rho=0.1")
def test_another_key_after_fit_is_refused(labs, data):
    lab = ScoreReplicableClassifier(GaussianNB()).fit(data[0][:99], data[1][:99])
    lab.shared_key = "other"
    with pytest.raises(ValueError, match="shared_key was changed after fit"):
        lab.predict(data[0][:3])


def test_trees_whose_scores_jump(data):
    model = fit_small(data, base=DecisionTreeClassifier(max_depth=3))
    assert model.standard_error_ > 0.01


def test_a_rho_that_is_not_delivered_is_warned_about():
    X, y = make_classification(6000, 5, flip_y=0.3, random_state=0)
    model = ScoreReplicableClassifier(DecisionTreeClassifier(), rho=0.1, shared_key="k")
    with pytest.warns(NotCertifiedWarning, match=r"requested rho=0\.1, but .* more rows"):
        model.fit(X[:300], y[:300])
    assert model.certificate_.rho > 0.15
    assert model.certificate_.verdict == "estimated"
    easy = ScoreReplicableClassifier(GaussianNB(), rho=0.1, shared_key="k").fit(X, y)  # no warning
    assert easy.certificate_.rho <= 0.1 * (1 + 1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_few_blocks_do_not_know_that_a_flip_is_very_unlikely(n_classes):
    """Normal blocks of unknown spread: the estimate for K of them is Student's law."""
    X, y = make_classification(
        3000, 5, n_informative=5, n_redundant=0, n_classes=n_classes, random_state=0
    )
    few, many = (
        ScoreReplicableClassifier(
            GaussianNB(),
            plan=plan("score", n=2000, n_classes=n_classes, n_blocks=blocks, standard_error=0.02),
            shared_key="k",
        ).fit(X[:2000], y[:2000])
        for blocks in (4, 24)
    )
    told = few.flip_probability(X[2000:])
    assert told.min() > 1e-5  # no score is further than 1 / (0.02 sqrt 2) standard errors away
    assert many.flip_probability(X[2000:]).min() < 1e-9


def test_a_fresh_mean_of_few_normal_blocks_crosses_as_often_as_told():
    """Estimates of at most 2 % for four blocks: crossed by at most as many fresh means."""
    rng = np.random.default_rng(0)
    blocks = rng.normal(size=(200_000, 4))
    fresh = rng.normal(size=(200_000, 4)).mean(axis=1)
    error = blocks.std(axis=1, ddof=1) / 2.0
    limit = 3.0
    told = crossing((limit - blocks.mean(axis=1)) / (np.sqrt(2.0) * error), 4)
    rare = told < 0.02
    crossed = int((fresh[rare] > limit).sum())
    assert rare.sum() > 10_000
    assert crossed <= binom.isf(1e-9, int(rare.sum()), float(told[rare].mean()))
    # the law of the pivot itself, at the 1 % point
    pivot = (fresh - blocks.mean(axis=1)) / (np.sqrt(2.0) * error)
    beyond = int((crossing(pivot, 4) < 0.01).sum())
    assert binom.ppf(1e-9, 200_000, 0.01) <= beyond <= binom.isf(1e-9, 200_000, 0.01)
