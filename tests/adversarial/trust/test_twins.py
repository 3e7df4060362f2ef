"""Where an attack runs all pairs at once, it does what the library does for one of them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from replearn.bounds.laws import uniform_law
from replearn.execution.fitting import make_blocks
from replearn.learners.regressor import PointwiseReplicableRegressor
from replearn.paper.correlated_sampling import sample_correlated
from replearn.paper.heavy_hitters import SetLaw
from replearn.paper.hypotheses import Thresholds
from replearn.paper.quantiles import cuts_of_sample, draw_level
from replearn.paper.realizable import RealizableReplicableClassifier
from replearn.primitives.selection import choose_by_errors
from replearn.randomness.hashing import gumbel_from_hashes
from replearn.randomness.key import SharedKey

from .choices import Line, ProperThreshold, names_of
from .library import keyed_places, threshold_rule


def test_blocks_of_all_pairs_at_once():
    key, rng = SharedKey("k"), np.random.default_rng(0)
    kinds = rng.integers(0, 3, (40, 6))
    places = keyed_places(key.child("partition", 2), kinds)
    for pair in range(40):
        X = np.column_stack([np.full(6, pair), kinds[pair]])
        blocks = make_blocks(key, X, kinds[pair] % 2, 3, 2, partition=2)
        assert np.array_equal(np.concatenate(blocks), places[pair])


def test_choices_of_all_pairs_at_once():
    key, rng = SharedKey("k"), np.random.default_rng(0)
    errors = rng.random((30, 4))
    hashes = key.child("selection").hashes(names_of(30, 4))
    noise = gumbel_from_hashes(hashes).reshape(30, 4)
    for pair in range(30):
        names = np.column_stack([np.full(4, pair), np.arange(4)])
        place, _ = choose_by_errors(errors[pair], names, sharpness=3.0, key=key)
        assert place == np.argmax(noise[pair] - 3.0 * errors[pair])


def test_draws_of_all_pairs_at_once():
    key, logs = SharedKey("k"), np.log([0.1, 0.2, 0.3, 0.4])
    noise = key.child("correlated sampling").gumbels(names_of(30, 4), ["draw"]).reshape(30, 4)
    for pair in range(30):
        names = np.column_stack([np.full(4, pair), np.arange(4)])
        assert sample_correlated(names, logs, key=key).index == np.argmax(noise[pair] + logs)


def test_levels_are_drawn_like_cells():
    """The process of levels against a draw among cells: the same distribution of cuts."""
    sample = np.repeat([0.0, 1.0, 2.0], [200, 80, 120])
    known = cuts_of_sample(sample, np.zeros(400))
    weights = np.diff([0.0, *known.switches, 1.0]) * np.exp(-3.0 * known.errors)
    drawn = [draw_level(known, sharpness=3.0, key=number)[1] for number in range(700)]
    found = np.bincount(drawn, minlength=4) / 700
    assert np.abs(found - weights / weights.sum()).max() < 0.13  # Hoeffding: 1e-9


def test_cells_of_two_runs():
    line = Line(400, 3.0, 0.1, np.array([0.5, 0.2, 0.3]), np.array([0.3, 0.0, 1.0]))
    lengths, cuts, errors = ProperThreshold().cells(line, np.random.default_rng(3), 1)
    assert lengths.sum() == pytest.approx(1.0)
    counts = np.random.default_rng(3).multinomial(400, [0.35, 0.2, 0, 0.15, 0, 0.3], (2, 1))[:, 0]
    middles = lengths[0].cumsum() - lengths[0] / 2
    for run in range(2):
        zeros, ones = counts[run, :3], counts[run, 3:]
        known = cuts_of_sample([0.0, 1.0, 2.0], ones, zeros + ones)
        places = known.nearest(middles)
        assert np.array_equal(places, cuts[run, 0])
        assert np.allclose(known.errors[places], errors[run, 0])


def test_one_threshold_for_all_points():
    law, n = SetLaw.standard(0.2), 60
    for u in np.random.default_rng(0).random(300):
        inside = u < law.exact_values(np.arange(n + 1) / n)
        assert law.least_count(float(u), n) == np.argmax(inside)


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
@pytest.mark.filterwarnings("ignore:RealizableReplicableClassifier abstains")
def test_the_limit_of_the_best_error():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (60, 1)).astype(float)
    y = (X[:, 0] > 1) ^ (rng.random(60) < 0.1)
    for number in range(15):
        model = RealizableReplicableClassifier(
            Thresholds(">"), max_error_limit=0.3, gamma=0.9, shared_key=number
        ).fit(X, y)
        best = min(np.mean((X[:, 0] > cut) != y) for cut in (-1, 0, 1, 2, 3))
        limit = 0.3 * SharedKey(number).child("limit").uniforms([0])[0]
        assert model.released_ == (best <= limit)
        assert model.released_ or model.predict(X).all()


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
def test_rounded_means():
    rng = np.random.default_rng(0)
    X, y = rng.random((80, 2)), rng.random(80)
    asked = {"y_range": (0.0, 1.0), "resolution": 0.2, "n_blocks": 4, "shared_key": "k"}
    model = PointwiseReplicableRegressor(**asked).fit(X, y)
    means = np.mean([np.clip(m.predict(X), 0, 1) for m in model.estimators_], axis=0)
    offsets = SharedKey("k").child("grid").uniforms(X)
    cells = np.floor(means / 0.2 - offsets)
    assert np.allclose(model.predict(X), np.clip((cells + offsets + 0.5) * 0.2, 0, 1))


class Wild(RegressorMixin, BaseEstimator):
    """Predict far outside of any range."""

    def fit(self, X, y):
        self.sign_ = 1.0 if y.mean() > 0.5 else -1.0
        return self

    def predict(self, X):
        return np.full(len(X), 1e6 * self.sign_)


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
def test_predictions_beyond_the_range_count_as_its_ends():
    rng = np.random.default_rng(1)
    X, y = rng.random((80, 2)), rng.random(80)
    asked = {"y_range": (0.0, 1.0), "resolution": 0.2, "n_blocks": 5, "shared_key": "k"}
    model = PointwiseReplicableRegressor(Wild(), **asked).fit(X, y)
    ends = np.mean([block.sign_ > 0 for block in model.estimators_])
    assert 0 < ends < 1
    offsets = SharedKey("k").child("grid").uniforms(X)
    cells = np.floor(ends / 0.2 - offsets)
    assert np.allclose(model.predict(X), np.clip((cells + offsets + 0.5) * 0.2, 0, 1))


def test_several_partitions_are_averaged_after_the_law():
    law, rng = uniform_law(8, 0.5), np.random.default_rng(0)
    votes, u = rng.integers(0, 9, (500, 3)), SharedKey("k").uniforms(np.arange(500))
    rule = threshold_rule(law, n_partitions=3)
    assert np.array_equal(rule.predictions(votes, u), u < law.probabilities[votes].mean(axis=1))
