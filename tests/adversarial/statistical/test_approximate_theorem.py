"""P(two models differ on more than gamma) <= rho, on populations made to break it."""

import numpy as np
import pytest
from sklearn.base import clone

from replearn.bounds.approximate import disagreement_tail
from replearn.bounds.laws import uniform_law
from tests.factories import limit, voting, whole_models
from tests.populations import (
    FirstRowLearner,
    MedianCut,
    NearestRowLearner,
    biased_labels,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning"),
    pytest.mark.filterwarnings(
        "ignore::replearn.exceptions.ConstantBlocksWarning"
    ),  # blocks of a few rows
]


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
LEARNERS = [FirstRowLearner(), MedianCut(), NearestRowLearner()]


@pytest.mark.statistical
@pytest.mark.parametrize("base", LEARNERS, ids=lambda b: type(b).__name__)
@pytest.mark.parametrize(("gamma", "n_blocks"), [(0.2, 60), (0.12, 100)])
def test_models_differ_on_little_mass(base, gamma, n_blocks):
    """The tail of the direct route at several gammas, not only at the planned one."""
    learner = whole_models(
        base,
        n_blocks=n_blocks,
        classes=[0, 1],
        law="uniform",
        width=1.0,
        n_partitions=1,
    )
    draw = continuous if not isinstance(base, FirstRowLearner) else biased_labels(0.5)
    points, n_pairs = np.random.default_rng(9).standard_normal((1500, 2)), 60
    rho = disagreement_tail(uniform_law(n_blocks), gamma)
    bad = count_failures(learner, draw, points, gamma + 0.02, n_pairs, 4 * n_blocks)
    assert bad <= limit(n_pairs, rho)


@pytest.mark.statistical
def test_a_key_of_its_own_breaks_the_promise():
    learner = whole_models(FirstRowLearner(), rho=0.3, gamma=0.3, classes=[0, 1], n_partitions=1)
    points = np.random.default_rng(9).standard_normal((500, 2))
    failures = [
        count_failures(learner, biased_labels(0.5), points, 0.32, 20, 800, shared=shared)
        for shared in (True, False)
    ]
    assert failures[0] <= limit(20, 0.3)
    assert failures[1] == 20


@pytest.mark.statistical
def test_one_atom_of_mass_one_needs_the_atoms():
    """All rows equal: models agree everywhere or nowhere; Markov's bound is what is left."""
    learner = whole_models(
        FirstRowLearner(),
        rho=0.4,
        gamma=0.4,
        classes=[0, 1],
        max_point_mass=1.0,
        n_partitions=1,
    )
    n_pairs = 300

    def draw(rng, n):
        return np.ones((n, 2)), rng.integers(0, 2, n)

    bad = count_failures(learner, draw, np.ones((1, 2)), 0.4, n_pairs, 1500)
    assert learner.fit(*draw(np.random.default_rng(0), 1500)).certificate_.certified
    assert bad <= limit(n_pairs, 0.4)


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
        model = voting(
            FirstRowLearner(),
            rho=0.3,
            max_fits=20,
            shared_key=key,
            alpha=alpha,
            beta=beta,
        ).fit(x[:, None].astype(float), y)
        assert model.certificate_.certified
        blocks = np.mean([error(block.predict(points)) for block in model.estimators_])
        factor = next(s.value for s in model.certificate_.steps if s.name == "error_factor")
        bad += error(model.predict(points)) > factor * blocks + alpha
    assert bad <= limit(n_runs, beta)
