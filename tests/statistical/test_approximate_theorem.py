"""P(two models differ on more than gamma) <= rho, on populations made to break it."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from replearn import PointwiseReplicableClassifier
from replearn.bounds import disagreement_tail, membership_flip_bound, uniform_law
from replearn.certificates import HeavyStage
from replearn.learners import ApproximatelyReplicableClassifier
from replearn.planning import plan
from replearn.primitives import find_heavy_hitters
from replearn.randomness import SharedKey
from replearn.testing.populations import (
    FirstRowLearner,
    NearestRowLearner,
    StumpLearner,
    biased_labels,
)

FALSE_ALARM = 1e-8
pytestmark = pytest.mark.filterwarnings("ignore::replearn.NotCertifiedWarning")


def limit(n_trials, chance):
    return binom.isf(FALSE_ALARM, n_trials, min(chance, 1.0))


def count_failures(base, draw, points, gamma, n_pairs, n, *, shared=True, seed=0):
    rng, bad = np.random.default_rng(seed), 0
    for pair in range(n_pairs):
        models = []
        for run in range(2):
            key = pair if shared else 2 * pair + run
            models.append(clone(base).set_params(shared_key=key).fit(*draw(rng, n)))
        bad += models[0].disagreement(models[1], points) > gamma
    return bad


def continuous(rng, n):
    X = rng.standard_normal((n, 2))
    return X, (rng.random(n) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)


# The first learner votes alike at every point, so that no averaging over points helps.
LEARNERS = [FirstRowLearner(), StumpLearner(), NearestRowLearner()]


@pytest.mark.statistical
@pytest.mark.parametrize("base", LEARNERS, ids=lambda b: type(b).__name__)
@pytest.mark.parametrize(("gamma", "n_blocks"), [(0.2, 60), (0.12, 100)])
def test_models_differ_on_little_mass(base, gamma, n_blocks):
    """The tail of the direct route at several gammas, not only at the planned one."""
    learner = ApproximatelyReplicableClassifier(
        base, n_blocks=n_blocks, law="uniform", width=1.0, n_partitions=1, classes=[0, 1]
    )
    draw = continuous if not isinstance(base, FirstRowLearner) else biased_labels(0.5)
    points, n_pairs = np.random.default_rng(9).standard_normal((1500, 2)), 60
    rho = disagreement_tail(uniform_law(n_blocks), gamma)
    bad = count_failures(learner, draw, points, gamma + 0.02, n_pairs, 4 * n_blocks)
    assert bad <= limit(n_pairs, rho)


def test_a_key_of_its_own_breaks_the_promise():
    learner = ApproximatelyReplicableClassifier(
        FirstRowLearner(), rho=0.3, gamma=0.3, n_partitions=1, classes=[0, 1]
    )
    points = np.random.default_rng(9).standard_normal((500, 2))
    failures = [
        count_failures(learner, biased_labels(0.5), points, 0.32, 30, 800, shared=shared)
        for shared in (True, False)
    ]
    assert failures[0] <= limit(30, 0.3)
    assert failures[1] == 30


@pytest.mark.statistical
def test_one_atom_of_mass_one_needs_the_atoms():
    """All rows equal: models agree everywhere or nowhere; Markov's bound is what is left."""
    learner = ApproximatelyReplicableClassifier(
        FirstRowLearner(), rho=0.4, gamma=0.4, atoms=1.0, n_partitions=1, classes=[0, 1]
    )
    n_pairs = 300

    def draw(rng, n):
        return np.ones((n, 2)), rng.integers(0, 2, n)

    bad = count_failures(learner, draw, np.ones((1, 2)), 0.4, n_pairs, 1500)
    assert learner.fit(*draw(np.random.default_rng(0), 1500)).certificate_.certified
    assert bad <= limit(n_pairs, 0.4)


# -- real data with repeated rows ------------------------------------------------------------------


def real(name):
    folder = os.environ.get("REPLEARN_DATA")
    path = None if folder is None else Path(folder) / f"{name}.csv.gz"
    if path is None or not path.is_file():
        pytest.skip(f"{name}.csv.gz is not in the folder REPLEARN_DATA")
    pd = pytest.importorskip("pandas")
    table = pd.read_csv(path)
    codes = OrdinalEncoder().fit_transform(table.drop(columns="target").astype(str))
    return codes, table["target"].to_numpy()


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["titanic2201", "compas_coarse", "fertility1980"])
def test_heavy_points_of_real_data(name):
    """The file is the population: samples are drawn from it with replacement."""
    X, _ = real(name)
    nu, n, n_pairs = 0.01, 8000, 60
    points, counts = np.unique(X, axis=0, return_counts=True)
    heaviest = points[np.argsort(-counts)[:40]]
    rng, flips = np.random.default_rng(0), np.zeros(len(heaviest), dtype=int)
    for pair in range(n_pairs):
        member = [
            find_heavy_hitters(X[rng.integers(0, len(X), n)], nu, key=SharedKey(pair)).contains(
                heaviest
            )
            for _ in range(2)
        ]
        flips += member[0] != member[1]
    found = find_heavy_hitters(X[:n], nu, key=SharedKey(0))
    bound = membership_flip_bound(n, found.law)
    assert flips.max() <= binom.isf(FALSE_ALARM / len(heaviest), n_pairs, bound)
    surely = counts.max() / len(X) >= found.certificate.value("found_from")
    assert not surely or found.contains(heaviest[:1])[0]


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["titanic2201", "compas_coarse"])
def test_learner_with_heavy_stage_on_real_data(name):
    X, y = real(name)
    points, counts = np.unique(X, axis=0, return_counts=True)
    heaviest = points[np.argsort(-counts)[:10]]
    n, n_pairs, rng = 3000, 40, np.random.default_rng(1)
    stage = HeavyStage(low=0.01, high=0.05, n_labels=30, band=1.0)
    made = plan(n=n, rho=0.3, heavy=stage, max_fits=20, n_partitions=1, classes=[0, 1])
    assert made.certified
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    base = PointwiseReplicableClassifier.from_plan(made, tree)
    flips = np.zeros(len(heaviest), dtype=int)
    for pair in range(n_pairs):
        answers = []
        for _ in range(2):
            rows = rng.integers(0, len(X), n)
            model = clone(base).set_params(shared_key=pair).fit(X[rows], y[rows])
            answers.append(model.predict(heaviest))
        flips += answers[0] != answers[1]
    assert len(model.heavy_) > 0
    bound = model.certificate_.claim.rho
    assert flips.max() <= binom.isf(FALSE_ALARM / len(heaviest), n_pairs, bound)


@pytest.mark.statistical
def test_accuracy_with_high_probability_on_a_heavy_population():
    """Error at most factor x mean block error + alpha, except with probability beta: 60 runs."""
    masses, biases = np.array([0.3, 0.3, 0.2, 0.2]), np.array([0.9, -0.9, 0.7, -0.7])
    alpha, beta, n, n_runs, rng, bad = 0.5, 0.2, 3000, 60, np.random.default_rng(2), 0
    points = np.arange(4.0)[:, None]

    def error(answers):
        return float(masses @ np.where(answers == 1, (1 - biases) / 2, (1 + biases) / 2))

    for key in range(n_runs):
        x = rng.choice(4, n, p=masses)
        y = (rng.random(n) < (1 + biases[x]) / 2).astype(int)
        model = PointwiseReplicableClassifier(
            FirstRowLearner(), rho=0.3, alpha=alpha, beta=beta, max_fits=20, shared_key=key
        ).fit(x[:, None].astype(float), y)
        assert model.certificate_.certified
        blocks = np.mean([error(block.predict(points)) for block in model.estimators_])
        factor = next(s.value for s in model.certificate_.steps if s.name == "error_factor")
        bad += error(model.predict(points)) > factor * blocks + alpha
    assert bad <= limit(n_runs, beta)
