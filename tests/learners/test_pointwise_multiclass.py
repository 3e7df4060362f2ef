import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin

from replearn import PointwiseReplicableClassifier
from replearn.bounds.class_flips import class_flip_estimate, class_predictions
from replearn.bounds.multiclass import (
    class_weights,
    least_sharpness,
    multiclass_flip_bound,
    smallest_blocks_multiclass,
)
from replearn.exceptions import NotCertifiedWarning
from replearn.guarantees.planner import plan
from tests.factories import limit, voting

pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning"),
    pytest.mark.filterwarnings("ignore::replearn.exceptions.ConstantBlocksWarning"),
]


class FirstLabel(ClassifierMixin, BaseEstimator):
    """Vote by the first row's label, for any number of classes."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.answer_ = y[0]
        return self

    def predict(self, X):
        return np.full(len(X), self.answer_)


def fitted(T=30, p=(0.5, 0.3, 0.2), key=0, rng=None, **params):
    rng = np.random.default_rng(0) if rng is None else rng
    n = 3 * T
    X, y = rng.standard_normal((n, 2)), rng.choice(len(p), n, p=p)
    defaults = {"n_blocks": T, "n_partitions": 1, "classes": range(len(p)), "shared_key": key}
    return voting(FirstLabel(), **(defaults | params)).fit(X, y)


def test_plan_says_how_many_blocks_three_classes_need():
    made = plan(n=10_000, rho=0.1, n_classes=3, n_partitions=1)
    assert made.certified
    assert made.design.n_blocks == 352
    just = plan(n=2200, rho=0.1, n_classes=3)
    assert just.certified
    assert just.design.n_blocks == 88
    few = plan(n=1000, rho=0.1, n_classes=3)
    assert not few.certified
    assert smallest_blocks_multiclass(0.1, 3) == 87
    assert "needs 87 blocks" in few.reason


def test_plan_makes_the_rule_as_sharp_as_the_blocks_allow():
    made = [plan(n=40 * T, rho=0.1, n_classes=3, n_blocks=T) for T in (100, 200, 400)]
    assert [one.design.sharpness for one in made] == sorted(one.design.sharpness for one in made)
    assert all(0.0999 < one.rho <= 0.1 for one in made)
    short = plan(n=800, rho=0.1, n_classes=3, n_blocks=20)
    assert not short.certified
    assert short.design.sharpness == least_sharpness(3)
    anything = plan(n=800, rho=1.0, n_classes=3, n_blocks=20).design.sharpness
    assert class_weights([9 / 20, 8 / 20, 3 / 20], anything)[0] > 0.6


def test_explanations_say_why_fewer_votes_can_win():
    model = fitted(T=40, p=(0.6, 0.4, 0.0))
    points = np.random.default_rng(8).standard_normal((200, 2))
    told = model.explain(points)
    outvoted = told.score < told.runner_up_score
    assert outvoted.any()
    for sentence, few in zip(told.sentences(), outvoted, strict=True):
        assert ("drawn by the point's shared random numbers" in sentence) == few
    clear = fitted(T=40, p=(1.0, 0.0, 0.0)).explain(points[:1])
    assert clear.margin[0] == 1.0  # no key could predict another label


@pytest.mark.parametrize("p", [(1 / 3, 1 / 3, 1 / 3), (0.5, 0.25, 0.125, 0.125)])
def test_flips_stay_below_the_certificate(p):
    T, n_pairs, rng = 30, 25, np.random.default_rng(1)
    flips = 0
    for pair in range(n_pairs):
        a, b = (fitted(T, p, key=pair, rng=rng).predict(np.zeros((1, 2))) for _ in range(2))
        flips += int(a[0] != b[0])
    bound = multiclass_flip_bound(T, len(p), least_sharpness(len(p)))
    assert flips <= limit(n_pairs, bound)
    assert flips > 0


def test_a_key_of_its_own_breaks_it():
    T, n_points, rng, p = 120, 300, np.random.default_rng(2), (1 / 3, 1 / 3, 1 / 3)
    points = rng.standard_normal((n_points, 2))  # given the models, keys decide point by point
    most = limit(n_points, multiclass_flip_bound(T, 3, 3.0))
    a, same, other = (fitted(T, p, key=key, rng=rng).predict(points) for key in (0, 0, 1))
    assert (a != same).sum() <= most < (a != other).sum()


def test_classes_come_from_the_caller():
    model = fitted(p=(0.6, 0.4, 0.0))
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.certificate_.design.n_classes == 3
    assert model.predict_proba(np.zeros((2, 2))).shape == (2, 3)
    assert model.predict_proba(np.zeros((1, 2)))[0, 2] == 0.0


def test_answers_are_drawn_with_the_chances_of_the_votes():
    """Over many points, each with Gumbels of its own."""
    model = fitted(T=20)
    points = np.random.default_rng(3).standard_normal((3000, 2))
    sharpness = model.certificate_.design.sharpness
    answers = model.predict(points)
    for label, share in enumerate(class_weights(model.predict_proba(points[:1])[0], sharpness)):
        count = int((answers == label).sum())
        assert binom.ppf(1e-9, 3000, share) <= count <= binom.isf(1e-9, 3000, share)


@pytest.mark.parametrize("method", ["margin", "flip_rate"])
def test_what_is_for_two_classes_says_so(method):
    with pytest.raises(ValueError, match="two classes"):
        getattr(fitted(), method)(np.zeros((1, 2)))


def test_not_certified_is_said():
    rng = np.random.default_rng(0)
    with pytest.warns(NotCertifiedWarning, match="87 blocks"):
        PointwiseReplicableClassifier(FirstLabel()).fit(
            rng.standard_normal((600, 2)), rng.integers(0, 3, 600)
        )


def test_several_partitions_count_for_what_they_are_worth():
    """Partitions that agree are worth one, partitions that scatter are worth more votes."""
    gumbels = np.zeros((1, 3))
    mean = np.array([0.45, 0.4, 0.15])
    alike = np.repeat(mean[None, None], 6, axis=1)
    rng = np.random.default_rng(0)
    apart = rng.multinomial(64, mean, (1, 6)) / 64
    apart += mean - apart.mean(axis=1, keepdims=True)
    apart = np.maximum(apart, 0)
    one, few, many = (
        float(class_flip_estimate(parts, 64, gumbels, 4.0)[0])
        for parts in (mean[None], alike, apart)
    )
    assert one == few > many
    with pytest.raises(ValueError, match="shape"):
        class_flip_estimate(np.zeros((2, 0, 3)), 64, gumbels, 4.0)


@pytest.mark.statistical
def test_flip_estimates_of_several_partitions_are_right_on_average():
    """Six partitions of the same rows: every row votes for its own label.

    With blocks of one row each the partitions are the same; with blocks of three rows (majority,
    ties by the first row) they differ. The estimate is compared with what fresh samples do.
    """
    rng, n_blocks, n_partitions, n_keys = np.random.default_rng(3), 40, 6, 150
    chances = np.array([0.4, 0.36, 0.24])

    def shares():
        rows = rng.choice(3, 3 * n_blocks, p=chances)
        parts = []
        for _ in range(n_partitions):
            blocks = rng.permutation(rows).reshape(n_blocks, 3)
            tallies = (blocks[:, :, None] == np.arange(3)).sum(axis=1)
            first = blocks[:, 0]
            votes = np.where(tallies.max(axis=1) > 1, tallies.argmax(axis=1), first)
            parts.append(np.bincount(votes, minlength=3) / n_blocks)
        return np.array(parts)[None]

    def answer_of(parts, gumbels):
        return class_predictions(class_weights(parts.mean(axis=1), 3.0), gumbels)[0]

    estimates, single, flips = [], [], []
    for _ in range(n_keys):
        gumbels = rng.gumbel(size=(1, 3))
        seen = shares()
        now = answer_of(seen, gumbels)
        fresh = [answer_of(shares(), gumbels) for _ in range(20)]
        flips.append(np.mean(np.array(fresh) != now))
        estimates.append(class_flip_estimate(seen, n_blocks, gumbels, 3.0)[0])
        single.append(class_flip_estimate(seen.mean(axis=1), n_blocks, gumbels, 3.0)[0])
    assert np.mean(estimates) < np.mean(single)
    # on the safe side, and within a third
    assert np.mean(flips) * 0.85 < np.mean(estimates) < np.mean(flips) * 1.35
