"""Promises on data with few values: what the certificate says against what happens."""

import numpy as np
import pytest
from scipy.stats import binom

from replearn import PointwiseReplicableClassifier
from replearn.bounds.approximate import disagreement_tail
from replearn.bounds.collisions import point_mass_limits
from replearn.bounds.laws import arcsine_law, uniform_law
from replearn.guarantees.planner import plan
from replearn_lab.learning import OnePointLearner, TableLearner
from tests.factories import law_with_atoms, limit, whole_models
from tests.populations import CoinLearner, SeededRowLearner

pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning"),
    pytest.mark.filterwarnings("ignore::replearn.exceptions.ConstantBlocksWarning"),
]


def four_values(n_pairs, rho, gamma, n=3300, **design):
    """Return the masses on which two models differ, and the certificate of each last run."""
    rng, masses, certificates = np.random.default_rng(0), [], []
    for key in range(n_pairs):
        answers = []
        for _ in range(2):
            model = whole_models(
                TableLearner(),
                rho=rho,
                gamma=gamma,
                classes=[0, 1],
                shared_key=key,
                n_partitions=1,
                **design,
            ).fit(rng.integers(0, 4, (n, 1)).astype(float), rng.integers(0, 2, n))
            answers.append(model.predict(np.arange(4.0)[:, None]))
        masses.append(np.mean(answers[0] != answers[1]))
        certificates.append(model.certificate_)
    return np.array(masses), certificates


@pytest.mark.statistical
def test_what_was_asked_fails_on_four_values_and_is_not_certified():
    masses, certificates = four_values(200, rho=0.05, gamma=0.2)
    assert (masses > 0.2).sum() > binom.isf(1e-3, 200, 0.05)  # with q = 0 it would be promised
    assert not any(certificate.certified for certificate in certificates)
    stated = certificates[0].gamma
    assert (masses > stated).sum() <= limit(200, 0.05)


@pytest.mark.statistical
@pytest.mark.parametrize("design", [{"route": "pointwise"}, {"max_point_mass": 0.3}])
def test_what_is_certified_on_four_values_holds(design):
    masses, certificates = four_values(120, rho=0.4, gamma=0.6, **design)
    assert all(certificate.certified for certificate in certificates)
    assert (masses > certificates[0].gamma).sum() <= limit(120, 0.4)


@pytest.mark.statistical
def test_accuracy_of_the_papers_counterexample_is_not_certified():
    """Two points, label 1, hypotheses that are wrong on one of them: the vote may be on both."""
    made = plan(rho=0.3, alpha=0.2, beta=0.05, d=1, n_partitions=1, classes=[0, 1])
    rng, bad, n_runs = np.random.default_rng(0), 0, 200
    for key in range(n_runs):
        X = rng.integers(0, 2, (made.n, 1)).astype(float)
        y = (rng.random(made.n) < 0.98).astype(int)  # blocks of one label are not trained
        model = PointwiseReplicableClassifier(OnePointLearner(), plan=made, shared_key=key)
        answers = model.fit(X, y).predict(np.array([[0.0], [1.0]]))
        # an answer 0 costs 0.98 of a point, 1 costs 0.02, OPT is 0.5
        bad += np.mean(np.where(answers == 0, 0.98, 0.02)) > 0.5 + made.alpha
        assert not model.certificate_.certified
        assert model.certificate_.alpha is None
    assert bad > binom.isf(1e-3, n_runs, made.beta)


@pytest.mark.statistical
@pytest.mark.parametrize("base", [CoinLearner(), SeededRowLearner()], ids=["coin", "row"])
@pytest.mark.parametrize(
    "law",
    [arcsine_law(40, 0.7), uniform_law(40, 0.6), law_with_atoms(40)],
    ids=["arcsine", "uniform", "atoms"],
)
def test_seeded_learners_under_any_law(base, law):
    """All points share every vote, and seeds decide it: Z is as wide as one vote share."""
    points = np.random.default_rng(9).standard_normal((1500, 2))
    rng, n_pairs, differing = np.random.default_rng(0), 100, []
    for key in range(n_pairs):
        answers = []
        for _ in range(2):
            model = whole_models(base, rho=0.5, gamma=0.5, shared_key=key, law=law, n_partitions=1)
            X, y = rng.standard_normal((400, 2)), rng.integers(0, 2, 400)
            answers.append(model.fit(X, y).predict(points))
        differing.append(np.mean(answers[0] != answers[1]))
    for gamma in (0.15, 0.2, 0.25, 0.3, 0.4):
        bad = sum(share > gamma + 0.02 for share in differing)
        assert bad <= limit(n_pairs, disagreement_tail(law, gamma))
    # seeds of the two runs are not the same: a coin gives models that differ
    assert max(differing) > 0.0


@pytest.mark.statistical
@pytest.mark.parametrize("shape", ["equal", "falling", "one heavy", "continuous"])
def test_limits_of_point_masses(shape):
    """Simulated counts of many shapes: the limits miss no more often than they say."""
    rng, delta, runs, n = np.random.default_rng(0), 0.1, 4000, 500
    weights = {
        "equal": np.ones(300),
        "falling": 1 / np.arange(1, 400),
        "one heavy": np.r_[60.0, np.ones(200)],
        "continuous": np.ones(20_000),
    }[shape]
    masses = weights / weights.sum()
    q, missed = float(masses @ masses), np.zeros(2)
    cumulated = np.cumsum(masses)
    for _ in range(runs):
        counts = np.bincount(np.searchsorted(cumulated, rng.random(n)))
        lower, upper = point_mass_limits(n, int((counts * (counts - 1) // 2).sum()), delta)
        missed += [lower > q, upper < q]
    assert (missed <= limit(runs, delta)).all()
