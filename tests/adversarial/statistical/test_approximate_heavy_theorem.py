"""P(two models with a heavy stage differ on more than gamma) <= rho, on populations with atoms.

Every trial is a pair of models on fresh samples under a key of its own. The masses are known, so
the disagreeing mass is exact. Promises are refuted beyond limits that chance exceeds with
probability 1e-8.
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from replearn.bounds import MembershipLaw, membership_flip_bound, uniform_law
from replearn.bounds.approximate import vote_mean_and_spread
from replearn.bounds.approximate_heavy import heavy_disagreement_tail, membership_disagreement_tail
from replearn.bounds.signs import label_flip_bound
from replearn.guarantees import HeavyStage, plan
from replearn.learners import ApproximatelyReplicableClassifier
from replearn.testing.populations import ConstantLearner, FirstRowLearner
from tests.factories import limit

pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.NotCertifiedWarning"),
    pytest.mark.filterwarnings("ignore::replearn.ConstantBlocksWarning"),  # blocks of a few rows
]


class Population:
    """Atoms with given masses and mean labels; what is left is continuous with fair labels."""

    def __init__(self, masses, biases, n_classes=2):
        self.masses, self.biases = np.asarray(masses, float), np.asarray(biases, float)
        self.n_classes = n_classes

    def draw(self, rng, n):
        rest = max(0.0, 1.0 - self.masses.sum())
        x = rng.choice(len(self.masses) + 1, n, p=[*self.masses, rest])
        values = np.where(x == len(self.masses), 1e6 + rng.random(n), x)
        biases = np.append(self.biases, 0.0)[x]
        y = (rng.random(n) < (1 + biases) / 2).astype(int)
        if self.n_classes > 2:
            y = np.where(rng.random(n) < 0.4, rng.integers(0, self.n_classes, n), y)
        return values[:, None].astype(float), y

    def distance(self, first, second, rng):
        """Disagreeing mass: atoms exactly, the rest by 400 points."""
        atoms = np.arange(len(self.masses), dtype=float)[:, None]
        mass = float(self.masses @ (first.predict(atoms) != second.predict(atoms)))
        rest = max(0.0, 1.0 - self.masses.sum())
        if rest < 1e-9:
            return mass
        points = 1e6 + rng.random((400, 1))
        return mass + rest * float((first.predict(points) != second.predict(points)).mean())


POPULATIONS = {
    # masses at the peak of the membership curve, votes against fair labels
    "peak": Population([0.022] * 45, [0.0] * 45),
    "at the threshold": Population([0.03] * 33, [0.0] * 33),
    "one atom": Population([1.0], [0.0]),
    "two heavy, many light": Population([0.35, 0.2, *[0.02] * 20], [0.1, -0.1, *[0.0] * 20]),
}


def pairs(made, base, population, n_pairs, seed=0):
    rng = np.random.default_rng(seed)
    learner = ApproximatelyReplicableClassifier(base, plan=made)
    for pair in range(n_pairs):
        yield (
            *(
                clone(learner).set_params(shared_key=pair).fit(*population.draw(rng, made.n))
                for _ in range(2)
            ),
            rng,
        )


@pytest.mark.statistical
@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize("gamma", [0.4, 0.75])
def test_models_with_a_heavy_stage_differ_on_little_mass(name, gamma):
    """The certificate solves rho for this gamma: by the better of both routes."""
    stage = HeavyStage(low=0.012, high=0.03, n_labels=40, band=1.0)
    made = plan(
        "approximate", n=3400, gamma=gamma, heavy=stage, n_blocks=80, n_partitions=1, classes=[0, 1]
    )
    assert made.rho < 0.7
    n_pairs, population = 60, POPULATIONS[name]
    found = [
        population.distance(first, second, rng)
        for first, second, rng in pairs(made, FirstRowLearner(), population, n_pairs)
    ]
    # 400 points know the continuous rest to 0.1 with certainty enough
    slack = 0.1 if population.masses.sum() < 0.999 else 0.0
    assert sum(mass > gamma + slack for mass in found) <= limit(n_pairs, made.rho)


# -- the direct bound in its own regime: many rows, light points -----------------------------------
N, LAW, N_LABELS, N_BLOCKS = 400_000, MembershipLaw("sqrt", 0.002, 0.004), 800, 2000


def simulate(rng, masses, n_pairs):
    """Disagreeing mass of pairs: membership, fair labels, and votes that all points share."""
    labels, votes = uniform_law(N_LABELS, 1.0).probabilities, uniform_law(N_BLOCKS).probabilities
    chances = np.append(masses, max(0.0, 1 - masses.sum()))
    size, found = len(masses), np.empty(n_pairs)
    for pair in range(n_pairs):
        counts = rng.multinomial(N, chances, 2)[:, :-1]
        u_member, u_label, u_vote = rng.random((3, size))
        member = u_member < LAW.probabilities(counts, N)
        label = u_label < labels[rng.binomial(N_LABELS, 0.5, (2, size))]
        vote = u_vote < votes[rng.binomial(N_BLOCKS, 0.5, (2, 1))]
        answers = np.where(member, label, vote)
        found[pair] = masses[answers[0] != answers[1]].sum()
    return found


MASSES = {
    "peak": np.full(340, 0.0029),
    "at the threshold": np.full(250, 0.004),
    "light": np.full(900, 0.0011),
    "one heavy": np.array([0.3, *[0.003] * 230]),
}


@pytest.mark.parametrize(
    "masses",
    [
        pytest.param(masses, id=name, marks=() if name == "peak" else pytest.mark.statistical)
        for name, masses in MASSES.items()
    ],
)
def test_direct_bound_holds_where_it_says_something(masses):
    rng, n_pairs = np.random.default_rng(0), 800
    found = simulate(rng, masses, n_pairs)
    votes = vote_mean_and_spread(uniform_law(N_BLOCKS))
    flips = {
        "membership_flip": membership_flip_bound(N, LAW),
        "label_flip": label_flip_bound(N_LABELS, 1.0),
    }
    for gamma in (0.25, 0.35, 0.5):
        rho = heavy_disagreement_tail(votes, gamma, n=N, law=LAW, **flips)
        assert rho < 0.5
        assert (found > gamma).sum() <= limit(n_pairs, rho)
    # membership by itself: the same sample, and a bound that is nearly reached
    tail = membership_disagreement_tail(N, LAW, flips["membership_flip"], 0.12)
    assert (found - 0.3 * (found > 0.3) > 0.12).sum() <= limit(n_pairs, tail + 0.02)


def test_fixed_thresholds_and_places_in_a_stream_break_it():
    """Labels and membership compared with 1/2, or with random numbers in order of appearance."""
    rng, masses, n_pairs = np.random.default_rng(1), np.full(340, 0.0029), 60
    labels = uniform_law(N_LABELS, 1.0).probabilities
    gamma, bad = 0.25, {"fixed": 0, "stream": 0}
    for _ in range(n_pairs):
        counts = rng.multinomial(N, np.append(masses, 1 - masses.sum()), 2)[:, :-1]
        ones = rng.binomial(N_LABELS, 0.5, (2, 340))
        fixed = np.where(LAW.probabilities(counts, N) > 0.5, ones > N_LABELS / 2, True)
        bad["fixed"] += masses[fixed[0] != fixed[1]].sum() > gamma
        u = rng.random(340)
        streams = [rng.permutation(u) for _ in range(2)]
        answers = [s < labels[o] for s, o in zip(streams, ones, strict=True)]
        bad["stream"] += masses[answers[0] != answers[1]].sum() > gamma
    votes = vote_mean_and_spread(uniform_law(N_BLOCKS))
    flips = {
        "membership_flip": membership_flip_bound(N, LAW),
        "label_flip": label_flip_bound(N_LABELS, 1.0),
    }
    rho = heavy_disagreement_tail(votes, gamma, n=N, law=LAW, **flips)
    assert min(bad.values()) > limit(n_pairs, rho)


@pytest.mark.statistical
def test_three_classes_with_a_heavy_stage():
    stage = HeavyStage(low=0.05, high=0.12, n_labels=60, band=0.2)
    made = plan(
        "approximate",
        n=1200,
        gamma=0.9,
        heavy=stage,
        n_blocks=100,
        n_partitions=1,
        classes=[0, 1, 2],
    )
    assert made.rho < 1.0
    population = Population([0.4, 0.3, 0.08, 0.08, 0.08], [0.0] * 5, n_classes=3)
    n_pairs = 60
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    bad = sum(
        population.distance(first, second, rng) > 0.9
        for first, second, rng in pairs(made, tree, population, n_pairs)
    )
    assert bad <= limit(n_pairs, made.rho)


@pytest.mark.statistical
def test_a_key_of_its_own_breaks_the_heavy_stage():
    """Fair labels at two heavy points, constant votes: only the shared thresholds make it agree."""
    stage = HeavyStage(low=0.1, high=0.2, n_labels=600, band=1.0)
    made = plan(
        "approximate", n=6000, gamma=0.4, heavy=stage, n_blocks=60, n_partitions=1, classes=[0, 1]
    )
    population, n_pairs = Population([0.5, 0.5], [0.0, 0.0]), 60
    learner = ApproximatelyReplicableClassifier(ConstantLearner(), plan=made)
    bad = {True: 0, False: 0}
    for shared in bad:
        rng = np.random.default_rng(1)
        for pair in range(n_pairs):
            keys = (pair, pair) if shared else (2 * pair, 2 * pair + 1)
            first, second = (
                clone(learner).set_params(shared_key=key).fit(*population.draw(rng, 6000))
                for key in keys
            )
            bad[shared] += population.distance(first, second, rng) > 0.4
    assert bad[True] <= limit(n_pairs, made.rho)
    assert bad[False] > limit(n_pairs, made.rho)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("route", "alpha", "gamma", "n"), [("direct", 0.8, 0.8, 9500), ("pointwise", 0.6, 0.6, 4000)]
)
def test_accuracy_with_high_probability(route, alpha, gamma, n):
    """Error at most factor x mean block error + alpha, except with probability beta."""
    masses, biases = np.array([0.3, 0.3, 0.2, 0.2]), np.array([0.9, -0.9, 0.7, -0.7])
    population, points = Population(masses, biases), np.arange(4.0)[:, None]
    beta, n_runs, rng, bad = 0.2, 40, np.random.default_rng(2), 0

    def error(answers):
        return float(masses @ np.where(answers == 1, (1 - biases) / 2, (1 + biases) / 2))

    for key in range(n_runs):
        model = ApproximatelyReplicableClassifier(
            FirstRowLearner(),
            rho=0.5,
            gamma=gamma,
            alpha=alpha,
            beta=beta,
            route=route,
            n_partitions=1,
            n_blocks=40,
            classes=[0, 1],
            shared_key=key,
        ).fit(*population.draw(rng, n))
        assert model.certificate_.alpha == alpha, model.certificate_.reason
        blocks = np.mean([error(block.predict(points)) for block in model.estimators_])
        factor = next(s.value for s in model.certificate_.steps if s.name == "error_factor")
        bad += error(model.predict(points)) > factor * blocks + alpha
    assert bad <= limit(n_runs, beta)
