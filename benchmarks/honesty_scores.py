"""Estimated promises: a rho that is not reached, and flip probabilities from few rows."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from _pairs import Outcome, outcome_of
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from replearn import ScoreReplicableClassifier
from replearn.exceptions import NotCertifiedWarning

RHO, ROWS, POINTS = 0.1, 300, 600
SMALL = 0.01
"""Flip probabilities below this are compared with what happens."""


def draw(rng: np.random.Generator, n: int, tails: float) -> tuple[Any, Any]:
    """Return four columns of Student's law, and labels at random."""
    return rng.standard_t(tails, size=(n, 4)), rng.integers(0, 2, n)


def two_labs(pair: int, base: Any, tails: float) -> tuple[list[Any], Any, bool]:
    """Fit both labs; return them, fresh points, and whether `fit` warned about rho."""
    rng = np.random.default_rng([pair, 53])
    models = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            model = ScoreReplicableClassifier(base, rho=RHO, shared_key=pair)
            models.append(model.fit(*draw(rng, ROWS, tails)))
    warned = any(one.category is NotCertifiedWarning for one in caught)
    return models, draw(rng, POINTS, tails)[0], warned


def requested(pair: int, *, tails: float) -> Outcome:
    """300 rows: is a rho that is not reached warned about? "claim" is the requested rho."""
    models, fresh, warned = two_labs(pair, GaussianNB(), tails)
    flips = models[0].predict(fresh) != models[1].predict(fresh)
    found = outcome_of(RHO, float(flips.mean()), [model.certificate_ for model in models])
    return replace(found, verdict="warned") if warned else found


def small_probabilities(pair: int, *, base: Any, tails: float) -> Outcome:
    """Points whose flip probability is below 0.01: how many flip? "claim" is their mean."""
    models, fresh, _ = two_labs(pair, base, tails)
    probability = models[0].flip_probability(fresh)
    small = probability < SMALL
    flips = (models[0].predict(fresh) != models[1].predict(fresh)) & small
    n_small = max(small.sum(), 1)
    claimed = float(probability[small].sum() / n_small)
    return outcome_of(claimed, float(flips.sum() / n_small), [m.certificate_ for m in models])


SCORE_ROWS: dict[str, Callable[[int], Outcome]] = {
    "E8 rho reached": partial(requested, tails=30),
    "E8 rho not reached, heavy tails": partial(requested, tails=1),
    "E9 flip probability < .01, naive Bayes": partial(
        small_probabilities, base=GaussianNB(), tails=2
    ),
    "E9 flip probability < .01, logistic": partial(
        small_probabilities, base=LogisticRegression(), tails=1
    ),
}
"""Rows of docs/honesty.md about estimated promises."""
