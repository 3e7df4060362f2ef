"""Several classes: votes, shared Gumbels and the planned sharpness against the certified rho."""

import numpy as np
import pytest
from scipy.stats import binom

from replearn import plan
from replearn.bounds.class_flips import class_predictions
from replearn.bounds.multiclass import class_weights

pytestmark = pytest.mark.statistical

FALSE_ALARM, PAIRS = 1e-9, 60_000
CHANCES = {
    "three alike": np.full(3, 1 / 3),
    "one ahead": np.array([0.42, 0.29, 0.29]),
    "two alike": np.array([0.5, 0.5, 0.0]),
    "a majority": np.array([0.6, 0.25, 0.15]),
    "five alike": np.full(5, 0.2),
    "ten, two of them alike": np.array([0.4, 0.4, *[0.025] * 8]),
}


def flips(chances, n_blocks, sharpness, *, shared):
    rng = np.random.default_rng(17)
    votes = rng.multinomial(n_blocks, chances, (2, PAIRS)) / n_blocks
    gumbels = rng.gumbel(size=(2, PAIRS, len(chances)))
    second = gumbels[0] if shared else gumbels[1]
    one = class_predictions(class_weights(votes[0], sharpness), gumbels[0])
    two = class_predictions(class_weights(votes[1], sharpness), second)
    return int((one != two).sum())


@pytest.mark.parametrize("name", CHANCES)
@pytest.mark.parametrize("n_blocks", [400, 700])
def test_planned_votes_keep_their_promise(name, n_blocks):
    chances = CHANCES[name]
    made = plan(n=40 * n_blocks, rho=0.1, n_classes=len(chances), n_blocks=n_blocks)
    assert made.certified
    sharpness = made.design.sharpness
    assert flips(chances, n_blocks, sharpness, shared=True) <= binom.isf(
        FALSE_ALARM, PAIRS, made.rho
    )


@pytest.mark.parametrize("name", ["three alike", "two alike"])
def test_random_numbers_that_are_not_shared_break_it(name):
    made = plan(n=16_000, rho=0.1, n_classes=3, n_blocks=400)
    found = flips(CHANCES[name], 400, made.design.sharpness, shared=False)
    assert found > binom.isf(FALSE_ALARM, PAIRS, made.rho)


def test_the_promise_is_nearly_used_up():
    made = plan(n=16_000, rho=0.1, n_classes=3, n_blocks=400)
    found = flips(CHANCES["three alike"], 400, made.design.sharpness, shared=True)
    assert found > 0.85 * made.rho * PAIRS
