import numpy as np
import pytest

from replearn.paper.domain_reduction import (
    LazyDomain,
    collision_bound,
    reduced_disagreement,
    reduced_failure,
)
from replearn_lab.learning import fit_quietly
from tests.factories import limit, whole_models
from tests.populations import MedianCut


def continuous(rng, n):
    X = rng.standard_normal((n, 1))
    return X, (X[:, 0] + rng.standard_normal(n) > 0).astype(int)


def learner(key):
    return whole_models(
        MedianCut(), rho=0.3, gamma=0.3, n_partitions=1, classes=[0, 1], shared_key=key
    )


def test_rows_are_drawn_once_and_only_when_asked_for():
    domain = LazyDomain(continuous, 10**15, np.random.default_rng(0))
    assert domain.n_drawn == 0
    X, y = domain.rows(np.array([7, 3, 7, 10**15 - 1]))
    assert domain.n_drawn == 3
    assert X[0] == X[2]
    again, labels = domain.rows(np.array([10**15 - 1, 3]))
    assert domain.n_drawn == 3
    assert (again == X[[3, 1]]).all()
    assert (labels == y[[3, 1]]).all()


def test_collision_free_indices_never_repeat():
    domain = LazyDomain(continuous, 300, np.random.default_rng(0))
    rng, seen = np.random.default_rng(1), []
    for _ in range(5):
        indices = domain.sample_indices(rng, 50, collision_free=True)
        domain.rows(indices)
        seen += indices.tolist()
    assert len(set(seen)) == 250
    assert domain.n_drawn == 250
    with pytest.raises(ValueError, match="indices are not left"):
        domain.sample_indices(rng, 51, collision_free=True)


def test_a_lazy_run_is_a_run_on_the_whole_sample():
    """Materialise the imagined sample: the same indices give the same model."""
    size, key = 3000, 5
    domain = LazyDomain(continuous, size, np.random.default_rng(2))
    indices = domain.sample_indices(np.random.default_rng(3), 1500)
    # A small domain repeats points: these are independent draws, but rows look like copies.
    lazy = fit_quietly(learner(key), *domain.rows(indices))
    X, y = domain.rows(np.arange(size))
    whole = fit_quietly(learner(key), X[indices], y[indices])
    points = np.linspace(-2, 2, 200)[:, None]
    assert (lazy.predict(points) == whole.predict(points)).all()


@pytest.mark.statistical
def test_two_lazy_runs_agree_on_continuous_data():
    """The whole promise: disagreement on the real domain, pairs of lazy runs, one key each."""
    n, n_pairs, slack, size = 1500, 60, 0.02, 449_850_001  # adds 0.01 to rho
    gamma = reduced_disagreement(0.3, size, n, slack)
    rho = reduced_failure(0.3, size, n, slack)
    assert gamma < 0.33
    assert rho <= 0.31
    rng, bad = np.random.default_rng(4), 0
    points, _ = continuous(rng, 4000)
    for pair in range(n_pairs):
        models = []
        for _ in range(2):
            domain = LazyDomain(continuous, size, rng)
            indices = domain.sample_indices(rng, n, collision_free=True)
            models.append(learner(pair).fit(*domain.rows(indices)))
        bad += models[0].disagreement(models[1], points) > gamma
    assert bad <= limit(n_pairs, rho)


def test_collisions_are_as_rare_as_stated():
    """The birthday problem: 23 indices among 365 collide in half of all cases."""
    rng, draws, size = np.random.default_rng(5), 10, 2000
    collisions = sum(len(np.unique(rng.integers(0, size, draws))) < draws for _ in range(3000))
    assert collisions <= limit(3000, collision_bound(size, draws))
    assert LazyDomain(continuous, size, rng).collision_bound(5) == collision_bound(size, draws)


def test_numbers_of_the_reduction():
    assert reduced_failure(0.1, 199_900_001, 1000, 0.05) <= 0.11
    assert reduced_failure(0.1, 199_900_000, 1000, 0.05) > 0.11
    assert reduced_failure(0.1, 2000, 1000, 0.05) == 1.0
    with pytest.raises(ValueError, match="size"):
        reduced_disagreement(0.1, 2000, 1000, 0.05)
    with pytest.raises(ValueError, match="size"):
        LazyDomain(continuous, 0, np.random.default_rng(0))
    with pytest.raises(ValueError, match="indices"):
        LazyDomain(continuous, 5, np.random.default_rng(0)).rows(np.array([5]))
