"""What is assumed about single points is tested on the sample, and blocks of two runs are apart."""

import re

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.naive_bayes import GaussianNB

from replearn import PointwiseReplicableClassifier, SharedKey
from replearn.checks.point_masses import count_equal_pairs, refuted_point_mass
from replearn.exceptions import NotCertifiedWarning
from replearn.execution.fitting import make_blocks
from replearn.guarantees.planner import plan
from replearn.learners.training import Sample, key_of_blocks
from replearn.paper.finite_randomness import held_out
from replearn.randomness.points import as_points
from tests.factories import voting, whole_models
from tests.populations import CoinLearner, FirstRowLearner

quiet = pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")


def few_values(n=3300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (n, 1)).astype(float), rng.integers(0, 2, n)


def many_values(n=3300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 1)), rng.integers(0, 2, n)


def approximate(rho=0.05, gamma=0.2, **design):
    return whole_models(
        FirstRowLearner(),
        rho=rho,
        gamma=gamma,
        classes=[0, 1],
        n_partitions=1,
        shared_key=0,
        **design,
    )


# -- the assumption is tested ----------------------------------------------------------------------
def test_discrete_data_are_not_certified_and_told_why():
    with pytest.warns(NotCertifiedWarning, match=r"max_point_mass = 0 is refuted: \d+ pairs"):
        model = approximate().fit(*few_values())
    assert model.plan_.certified  # a plan does not look at data
    certificate = model.certificate_
    assert not certificate.certified
    assert "any mass" in certificate.reason
    assert "pairs of the 3300 rows are equal" in certificate.failed_conditions[-1]
    assert certificate.failed_conditions[-1] in certificate.reason
    assert certificate.gamma == pytest.approx(min(1.0, certificate.value("markov_gamma")))
    assert "point-masses" not in set(certificate.assumptions)
    certificate.check()


def test_continuous_data_are_certified():
    model = approximate().fit(*many_values())
    assert model.certificate_.certified
    assert "point-masses" in set(model.certificate_.assumptions)


def test_some_equal_rows_do_not_matter():
    X, y = many_values()
    X[:300] = X[300:600]
    assert approximate().fit(X, y).certificate_.certified


def test_markov_is_quoted_where_it_is_enough():
    """The assumed 0 is refuted, but Markov's number meets the request."""
    model = approximate(rho=0.5, gamma=0.6, n_blocks=12, width=1.0).fit(*few_values(4000))
    certificate = model.certificate_
    assert certificate.certified
    assert certificate.inputs["max_point_mass"] == 1.0
    assert certificate.gamma <= 0.6


def test_a_stated_mass_that_holds_is_kept():
    X, y = few_values(20_000)
    model = approximate(rho=0.5, gamma=0.9, max_point_mass=0.3, n_blocks=100).fit(X, y)
    assert model.certificate_.certified
    assert model.certificate_.inputs["max_point_mass"] == 0.3
    with pytest.warns(NotCertifiedWarning, match=r"max_point_mass = 0.1 is refuted"):
        approximate(rho=0.05, gamma=0.6, max_point_mass=0.1, n_blocks=100).fit(X, y)


def test_the_number_in_the_warning_is_one_to_plan_with():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 1000, (16_000, 1)).astype(float), rng.integers(0, 2, 16_000)
    with pytest.warns(NotCertifiedWarning, match="refuted") as caught:
        approximate(rho=0.1).fit(X, y)
    number = float(re.search(r"at most ([\d.e-]+) \(", str(caught[0].message))[1])
    assert 0.001 <= number < 0.002
    assert approximate(rho=0.1, max_point_mass=number).fit(X, y).certificate_.certified


def test_solved_numbers_are_those_without_the_assumption():
    made = plan("approximate", n=3300, gamma=0.3, n_partitions=1, classes=[0, 1])
    model = PointwiseReplicableClassifier(FirstRowLearner(), plan=made)
    with pytest.warns(NotCertifiedWarning, match="refuted"):
        model.fit(*few_values())
    assert model.certificate_.rho > made.rho
    assert model.certificate_.rho == model.certificate_.value("markov_rho")


@quiet
def test_two_labs_with_discrete_data_differ_in_nothing_but_are_not_certified():
    one, two = (approximate().fit(*few_values(seed=seed)).certificate_ for seed in (1, 2))
    comparison = one.comparable(two)
    assert comparison.comparable == "unknown"
    assert "max_point_mass = 0 is refuted" in str(comparison)
    other = approximate().fit(*many_values()).certificate_
    assert one.comparable(other).comparable == "no"


def test_accuracy_is_tested_as_well():
    made = plan(rho=0.3, alpha=0.2, beta=0.05, d=1, n_partitions=1, classes=[0, 1])
    assert made.certified
    model = PointwiseReplicableClassifier(FirstRowLearner(), plan=made)
    with pytest.warns(NotCertifiedWarning, match="max_point_mass = 0 is refuted"):
        model.fit(*few_values(made.n))
    certificate = model.certificate_
    assert (certificate.certified, certificate.alpha, certificate.rho) == (False, None, made.rho)
    assert "this much mass" in certificate.reason
    assert model.fit(*many_values(made.n)).certificate_.certified


def test_a_pointwise_promise_without_accuracy_assumes_nothing():
    model = voting(FirstRowLearner(), n_partitions=1)
    assert model.fit(*few_values()).certificate_.certified


def test_rounded_points_are_what_counts():
    X, y = many_values()
    X = np.abs(X) % 1
    assert approximate().fit(X, y).certificate_.certified
    with pytest.warns(NotCertifiedWarning, match="refuted"):
        approximate(decimals=0).fit(X, y)


def test_rows_of_one_group_are_no_evidence():
    """Every person is ten equal rows: equal rows of different persons count."""
    persons = np.random.default_rng(0).standard_normal((2000, 1))
    groups = np.repeat(np.arange(2000), 10)
    points = as_points(np.repeat(persons, 10, axis=0))
    assert refuted_point_mass(points, 0.0) is not None
    assert refuted_point_mass(points, 0.0, groups) is None


def test_equal_pairs_are_counted():
    assert count_equal_pairs(as_points(np.array([[0.0], [-0.0], [1.0]]))) == 1
    assert count_equal_pairs(as_points(np.zeros((100_000, 1)))) == 100_000 * 99_999 // 2
    assert refuted_point_mass(as_points(np.zeros((1, 1))), 0.0) is None


# -- blocks of two runs are independent ------------------------------------------------------------
def votes_of_coins(classifier, n_pairs=6):
    """Votes of base estimators that toss the coin of their seed, in pairs of runs under one key."""
    votes = np.empty((2, n_pairs, 20), dtype=int)
    for pair in range(n_pairs):
        for run in range(2):
            X, y = many_values(300, seed=2 * pair + run)
            model = classifier.set_params(shared_key=pair).fit(X, y)
            votes[run, pair] = [block.label_ for block in model.estimators_]
    return votes


@quiet
def test_seeds_of_two_whole_models_are_independent():
    """The theorem counts on 2T independent models; one seed for block t of both runs ties them."""
    design = {"n_blocks": 20, "classes": [0, 1], "n_partitions": 1}
    apart = votes_of_coins(whole_models(CoinLearner(), **design))
    alike = (apart[0] == apart[1]).sum()
    assert binom.ppf(1e-8, 120, 0.5) <= alike <= binom.isf(1e-8, 120, 0.5)
    tied = votes_of_coins(voting(CoinLearner(), **design))
    assert (tied[0] == tied[1]).all()


def equal_first_rows(of_blocks, n_pairs=100):
    """Count pairs of samples of forty rows, of four kinds, whose first rows are equal."""
    equal = 0
    for pair in range(n_pairs):
        first = []
        for run in range(2):
            X, y = few_values(40, seed=2 * pair + run)[0], np.zeros(40, dtype=int)
            key = of_blocks(SharedKey(pair), Sample(X, y))
            first.append(X[make_blocks(key, as_points(X), y, 40, 1)[0][0], 0])
        equal += first[0] == first[1]
    return equal


def test_equal_rows_do_not_go_to_equal_blocks():
    made = plan("approximate", n=40, rho=0.5, n_blocks=2, n_partitions=1)
    limit = binom.isf(1e-8, 100, 0.27)  # 1/4, and the few samples that are the same
    assert equal_first_rows(lambda key, sample: key_of_blocks(key, sample, made)) <= limit
    assert equal_first_rows(lambda key, sample: key) > limit


def test_equal_samples_give_equal_models_in_any_order():
    X, y = many_values(400)
    one = approximate(rho=0.5, gamma=0.6).set_params(estimator=GaussianNB()).fit(X, y)
    two = approximate(rho=0.5, gamma=0.6).set_params(estimator=GaussianNB()).fit(X[::-1], y[::-1])
    points = many_values(500, seed=9)[0]
    np.testing.assert_array_equal(one.predict(points), two.predict(points))


def test_keys_of_blocks():
    made = {
        name: plan(name, n=400, rho=0.3, n_partitions=1) for name in ("pointwise", "approximate")
    }
    X, y = many_values(400)
    key, sample = SharedKey(0), Sample(X, y)
    assert key_of_blocks(key, sample, made["pointwise"]) == key
    own = key_of_blocks(key, sample, made["approximate"])
    assert own == key_of_blocks(key, Sample(X[::-1], y[::-1]), made["approximate"]) != key
    assert own != key_of_blocks(key, Sample(X, 1 - y), made["approximate"])
    grouped = [Sample(X, y, np.arange(400) // size) for size in (2, 4)]
    assert len({key_of_blocks(key, one, made["approximate"]).fingerprint for one in grouped}) == 2


# -- rows held out ---------------------------------------------------------------------------------
def covariance_of_held_out(hold_out, n_keys=400):
    """Return the covariance of how many ones two runs hold out, as a part of the variance."""
    rng, shares = np.random.default_rng(0), np.empty((2, n_keys))
    for key in range(n_keys):
        for run in range(2):
            X = rng.integers(0, 2, (40, 1)).astype(float)
            rows = hold_out(SharedKey(key), X, np.zeros(40, dtype=int))
            shares[run, key] = X[rows].mean() - X.mean()
    return np.corrcoef(shares)[0, 1]


def test_rows_held_out_by_two_runs_are_independent():
    """Rows keyed one by one: equal rows would be held out in both runs, and be fresh in neither."""
    assert abs(covariance_of_held_out(lambda *sample: held_out(*sample, 0.5)[1])) < 0.29
    single = covariance_of_held_out(lambda key, X, y: key.order(as_points(X), y)[:20])
    assert single > 0.29
