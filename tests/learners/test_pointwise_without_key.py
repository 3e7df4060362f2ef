"""What an outsider learns who may ask for predictions but has no key: what SECURITY.md says."""

import math

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from tests.factories import voting

N_BLOCKS = 31
RNG = np.random.default_rng(0)
X = RNG.normal(size=(930, 2))
Y = (X[:, 0] + RNG.normal(size=930) > 0).astype(int)


@pytest.fixture(scope="module")
def model():
    base = DecisionTreeClassifier(max_depth=2)
    learner = voting(
        base, n_blocks=N_BLOCKS, rho=0.5, n_partitions=1, width=0.8, shared_key="a secret"
    )
    return learner.fit(X, Y)


def bisect(model, rows, customer):
    """Search for the row at which the prediction changes; return it and how many were made."""
    low, high, questions = -1, len(rows), 0  # rows of rising vote shares
    while high - low > 1:
        middle, questions = (low + high) // 2, questions + 1
        answer = model.predict(rows[[middle]], ids=[customer])[0]
        low, high = (low, middle) if answer else (middle, high)
    return high, questions


def test_with_an_id_a_threshold_is_found_by_bisection_and_tells_nothing_about_others(model):
    shares = model.predict_proba(X)[:, 1]
    _, first = np.unique(shares, return_index=True)
    rows = X[first]  # one row for each vote share
    most = math.ceil(math.log2(N_BLOCKS + 2))
    places = []
    for customer in range(100):
        place, questions = bisect(model, rows, customer)
        assert questions <= most
        answers = model.predict(rows, ids=[customer] * len(rows))
        assert (answers == (np.arange(len(rows)) >= place)).all()  # all is known now
        places.append(place)
    # the threshold of one customer does not tell that of the next one
    assert len(set(places)) > 5
    assert abs(np.corrcoef(places[::2], places[1::2])[0, 1]) < 0.4


def test_asking_again_about_the_same_point_tells_nothing_new(model):
    assert (model.predict(X[:50]) == model.predict(X[:50])).all()


def test_irrelevant_digits_draw_new_thresholds_until_the_answer_is_yes(model):
    """The number of tries is geometric: 1 / g on average, where g is the law's value."""
    told = model.explain(X)
    near = np.flatnonzero((told.response > 0.25) & (told.response < 0.75))[:40]
    assert len(near) == 40
    tries = []
    for row in near:
        digits = X[row] + np.arange(60)[:, np.newaxis] * 1e-9
        answers = model.predict(digits)
        assert answers.any()
        tries.append(int(np.argmax(answers)) + 1)
    expected = (1 / told.response[near]).mean()
    assert 0.6 * expected < np.mean(tries) < 1.6 * expected


def test_an_id_or_rounding_ends_that(model):
    rows = X[:1] + np.arange(60)[:, np.newaxis] * 1e-9
    assert len(set(model.predict(rows, ids=["customer 7"] * 60))) == 1
