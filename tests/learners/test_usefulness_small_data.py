"""What fit says of a small sample before it trains, and what a single fit shows after it."""

import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from replearn import (
    PointwiseReplicableClassifier,
    ScoreReplicableClassifier,
    plan,
)
from replearn.exceptions import SmallSampleWarning
from replearn.guarantees.small_data import MIN_EVENTS, about_rare_classes, needed_for_events
from replearn.learners import usefulness

ESTIMATORS = [
    PointwiseReplicableClassifier,
    ScoreReplicableClassifier,
]


def rare(n=833, share=0.12, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) < share * n
    X = rng.normal(size=(n, 3))
    X[:, 0] += 1.5 * y
    return X, np.where(y, "denied", "approved")


def said_before_training(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [str(one.message) for one in caught if one.category is SmallSampleWarning]


def test_votes_say_what_n_can_do_and_what_it_takes():
    model = PointwiseReplicableClassifier(GaussianNB(), max_fits=40, shared_key="k")
    (message,) = said_before_training(model, *rare())
    for words in (
        "833 rows are few: 33 blocks of 25 rows have 3.0 rows of the rarest class ('denied', 12.0%",
        "n_blocks=18, the fewest for rho=0.1, gives 5.6 in each",
        "ScoreReplicableClassifier",
        "larger rho",
    ):
        assert words in message
    remedy = PointwiseReplicableClassifier(GaussianNB(), n_blocks=18, shared_key="k")
    assert said_before_training(remedy, *rare()) == []
    assert remedy.certificate_.certified
    (message,) = said_before_training(model, *rare(share=0.06))
    assert "With n_blocks=18, the fewest for rho=0.1, 1512 rows are enough" in message


def test_scores_say_so_too():
    model = ScoreReplicableClassifier(GaussianNB(), shared_key="k")
    (message,) = said_before_training(model, *rare())
    n_blocks = model.certificate_.inputs["n_blocks"]
    assert f"{n_blocks} blocks have {100 / n_blocks:.1f} rows of the rarest class" in message
    assert f"About {n_blocks * 167} rows are enough for n_blocks={n_blocks}" in message
    assert "rho=0.2" in message
    assert said_before_training(model, *rare(n=8000)) == []


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_nothing_is_decided(kind, monkeypatch):
    X, y = rare()
    said = kind(GaussianNB(), n_blocks=20, shared_key="k")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said.fit(X, y)
        monkeypatch.setattr(usefulness, "MIN_EVENTS", 0)
        monkeypatch.setattr(usefulness, "MIN_SCORE_EVENTS", 0)
        silent = kind(GaussianNB(), n_blocks=20, shared_key="k").fit(X, y)
    assert said.certificate_ == silent.certificate_
    np.testing.assert_array_equal(said.predict(X), silent.predict(X))


def test_enough_rows_and_a_dummy_are_silent():
    usual = PointwiseReplicableClassifier(GaussianNB(), max_fits=88, shared_key="k")
    assert said_before_training(usual, *rare(share=0.4)) == []
    dummy = PointwiseReplicableClassifier(DummyClassifier(), max_fits=88, shared_key="k")
    assert said_before_training(dummy, *rare()) == []


def test_a_class_of_the_plan_that_no_row_has_is_not_the_rarest():
    X, y = rare(share=0.4)
    model = PointwiseReplicableClassifier(
        GaussianNB(), classes=["approved", "blocked", "denied"], max_fits=40, shared_key="k"
    )
    assert said_before_training(model, X, y) == []


def test_plans_say_which_n_a_rare_class_takes():
    assert about_rare_classes(plan(n=20_000, rho=0.1)) is None
    assert about_rare_classes(plan("selection", n_hypotheses=3, rho=0.2, alpha=0.2)) is None
    words = about_rare_classes(plan(n=833, rho=0.1))
    assert words.startswith("a class with 10 % of the rows has 2.5 rows in a block of 25")
    for made in (plan(n=833, rho=0.1), plan("approximate", n=20_000, rho=0.3, gamma=0.3)):
        needed = needed_for_events(made, 0.1)
        assert needed.certified
        assert needed.design.block_size * 0.1 >= MIN_EVENTS
        assert needed.design.rho == made.design.rho
