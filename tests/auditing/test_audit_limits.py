"""The limits cover the truth at the stated rate; limits that ignore what is shared do not.

False-alarm rate of each test at most 1e-8 (exact binomial tail).
"""

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.base import BaseEstimator, ClassifierMixin

from replearn.auditing.audits import audit
from replearn.auditing.limits import mean_limits, quantile_limits, row_limits
from replearn.bounds.numeric import binomial_limits
from tests.populations import MajorityLearner

ALARM = 1e-8
DELTA = 0.05


class MeanCut(ClassifierMixin, BaseEstimator):
    """Prediction 1 above the mean of the sample: the cut is normal with variance 1 / n."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.cut_ = X[:, 0].mean()
        return self

    def predict(self, X):
        return (X[:, 0] > self.cut_).astype(int)


def true_flip(x, n):
    above = stats.norm.cdf(x * np.sqrt(n))
    return 2 * above * (1 - above)


def true_rate(n):
    reach = 8 / np.sqrt(n)
    return integrate.quad(lambda x: true_flip(x, n) * stats.norm.pdf(x), -reach, reach)[0]


def covers(estimate, truth):
    return estimate.lower <= truth <= estimate.upper


def too_rarely(hits, trials, rate):
    return stats.binom.cdf(hits, trials, rate) < ALARM


def simulated_flips(rng, n, pairs=20, rows=300):
    """Flips of MeanCut, from the law of its cut: rows share both cuts of a pair."""
    x = rng.standard_normal(rows)
    cuts = rng.standard_normal((pairs, 2, 1)) / np.sqrt(n)
    return x, (x > cuts[:, 0]).astype(float) != (x > cuts[:, 1]), cuts


def test_mean_limits_cover_and_limits_over_all_entries_do_not():
    rng, n = np.random.default_rng(1), 40
    truth = true_rate(n)
    two_way, naive, widths = 0, 0, []
    for _ in range(300):
        flips = simulated_flips(rng, n)[1].astype(float)
        found = mean_limits(flips, DELTA)
        widths.append(found.upper - found.lower)
        two_way += covers(found, truth)
        low, high = binomial_limits(flips.sum(), flips.size, DELTA)
        naive += low <= truth <= high
    # Student's limits are approximate: two points are granted.
    assert not too_rarely(two_way, 300, 0.93)
    assert too_rarely(naive, 300, 0.93)
    assert np.mean(widths) < truth


def test_row_limits_cover_each_row():
    rng, n = np.random.default_rng(2), 40
    hits = 0
    for _ in range(600):
        x, flips, _ = simulated_flips(rng, n, rows=1)
        _, lower, upper = row_limits(flips.astype(float), DELTA)
        hits += lower[0] <= true_flip(x[0], n) <= upper[0]
    assert not too_rarely(hits, 600, 1 - DELTA)


def test_row_limits_cover_flips_that_are_probabilities():
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(300):
        flips = rng.beta(0.3, 2.7, (20, 1))
        _, lower, upper = row_limits(flips, DELTA)
        hits += lower[0] <= 0.1 <= upper[0]
    assert not too_rarely(hits, 300, 1 - DELTA)


@pytest.mark.parametrize("q", [0.9, 0.99, 1.0])
def test_quantile_limits_cover_although_the_observed_quantile_is_too_large(q):
    rng, n = np.random.default_rng(4), 40
    hits, overstated = 0, 0
    for _ in range(200):
        x, flips, _ = simulated_flips(rng, n)
        truth = np.quantile(true_flip(x, n), q, method="inverted_cdf")
        found = quantile_limits(flips.astype(float), q, DELTA)
        hits += covers(found, truth)
        overstated += found.value > truth
    assert not too_rarely(hits, 200, 1 - DELTA)
    if q == 1.0:
        assert overstated > 150


def test_clusters_widen_the_limits():
    rng = np.random.default_rng(6)
    by_group = rng.random((20, 50)) < 0.1
    flips = np.repeat(by_group, 10, axis=1).astype(float)
    alone = mean_limits(flips, DELTA)
    together = mean_limits(flips, DELTA, np.repeat(np.arange(50), 10))
    assert together.upper - together.lower > alone.upper - alone.lower


def test_no_flips_at_all_still_have_an_upper_limit():
    found = mean_limits(np.zeros((20, 1000)), DELTA)
    assert found.value == found.lower == 0
    assert 0.003 < found.upper < 0.004


# -- through the door ----------------------------------------------------------------------------


def audited(seed, learner, n_rows, y=None, *, n_pairs=20, **sizes):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 1))
    y = rng.integers(0, 2, n_rows) if y is None else y(rng)
    options = {"n_pairs": n_pairs, **sizes, "subgroups": None}
    return X, y, audit({"m": learner}, X, y, shared_key=seed, **options)


def test_independent_pairs_give_limits_for_the_population():
    """Per row (exact) and for the mean (Student's): known flip probabilities are covered."""
    n, trials = 25, 30
    row_hits, mean_hits = 0, 0
    for seed in range(trials):
        X, _, result = audited(seed, MeanCut(), 1100, n_pairs=20, train_size=n, test_size=100)
        assert result.design.independent_pairs
        rows = result.row_flips("m")
        truth = true_flip(X[rows["row"], 0], n)
        worst = np.argmax(truth)  # chosen by its place, not by its flips
        row_hits += rows["lower"][worst] <= truth[worst] <= rows["upper"][worst]
        mean_hits += covers(result.flip_rate("m"), true_rate(n))
    assert not too_rarely(row_hits, trials, 1 - DELTA)
    assert not too_rarely(mean_hits, trials, 0.93)


@pytest.mark.statistical
def test_halves_of_one_file_give_limits_for_that_file_only():
    """A majority estimator: given the file, the votes in one half are hypergeometric."""
    n_rows, trials = 250, 100
    file_hits = 0
    for seed in range(trials):
        _, y, result = audited(
            seed, MajorityLearner(), n_rows, n_pairs=20, test_size=48, train_size=101
        )
        pool = np.setdiff1d(np.arange(n_rows), result.test)
        ones = int(y[pool].sum())
        # 202 rows in two odd halves: no ties
        half = stats.hypergeom(len(pool), ones, 101)
        counts = np.arange(102)
        flip = half.pmf(counts)[((counts > 50) != (ones - counts > 50)) & (half.pmf(counts) > 0)]
        rows = result.row_flips("m")
        file_hits += rows["lower"][0] <= flip.sum() <= rows["upper"][0]
    assert not too_rarely(file_hits, trials, 1 - DELTA)


@pytest.mark.statistical
def test_rows_of_one_file_do_not_tell_the_flips_of_fresh_samples():
    """What the report says of shared rows is true: limits from halves miss the population."""
    trials, hits = 300, 0
    for seed in range(trials):
        X, _, result = audited(seed, MeanCut(), 300, n_pairs=40, test_size=100)
        rows = result.row_flips("m")
        nearest = np.argmin(np.abs(X[rows["row"], 0]))
        truth = true_flip(X[rows["row"][nearest], 0], result.design.train_size)
        hits += rows["lower"][nearest] <= truth <= rows["upper"][nearest]
    assert too_rarely(hits, trials, 0.9)


@pytest.mark.statistical
def test_coverage_over_many_audits():
    n, trials = 25, 300
    row_hits, mean_hits, p90_hits = 0, 0, 0
    for seed in range(1000, 1000 + trials):
        X, _, result = audited(seed, MeanCut(), 1100, n_pairs=20, train_size=n, test_size=100)
        rows = result.row_flips("m")
        truth = true_flip(X[rows["row"], 0], n)
        worst = np.argmax(truth)
        row_hits += rows["lower"][worst] <= truth[worst] <= rows["upper"][worst]
        mean_hits += covers(result.flip_rate("m"), true_rate(n))
        p90 = np.quantile(truth, 0.9, method="inverted_cdf")
        p90_hits += covers(quantile_limits(result["m"].flips, 0.9, DELTA), p90)
    assert not too_rarely(row_hits, trials, 1 - DELTA)
    assert not too_rarely(mean_hits, trials, 0.93)
    assert not too_rarely(p90_hits, trials, 1 - DELTA)
