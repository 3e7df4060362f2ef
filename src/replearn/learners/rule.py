"""The contract of a rule: from the votes or scores of the blocks to a decision about each point.

Five rules keep it: `ThresholdRule` and `GumbelRule` (votes), `ScoreRule` and `SphereRule` (scores),
and `HeavyRule`, which puts a stage for frequent points in front of a rule of votes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from replearn.randomness import Points, SharedKey

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Decision:
    """What a rule decides about some points, one row each.

    Parameters
    ----------
    prediction : ndarray of int
        Code of the predicted class.
    score : ndarray of shape (n, n_classes)
        Share of the votes, or mean predicted probability, of each class.
    margin : ndarray of shape (n,)
        Two classes: response (or score) of ``classes[1]`` minus the point's threshold, positive iff
        ``classes[1]`` is predicted. More classes: distance from the runner-up, nonnegative.
    runner_up : ndarray of int
        Code of the class that comes next.
    key_chance : ndarray of shape (n, n_classes) or None
        Probability over all keys that these votes or scores predict each class; for two classes
        the second column is the response of the law. None where it is not known.
    keyed_threshold : ndarray of shape (n,) or None
        The point's own keyed threshold; two classes only.
    standard_error : ndarray of shape (n,) or None
        Of the score; rules of scores only.
    lead : ndarray of shape (n,) or None
        What the point's shared offsets add to the prediction against the runner-up.
    heavy : ndarray of bool or None
        Whether the point was labelled by its own labels.
    threshold : float
        Two classes: the score at which both classes are equally likely over all keys.
    """

    prediction: NDArray[np.intp]
    score: Floats
    margin: Floats
    runner_up: NDArray[np.intp]
    key_chance: Floats | None = None
    keyed_threshold: Floats | None = None
    standard_error: Floats | None = None
    lead: Floats | None = None
    heavy: NDArray[np.bool_] | None = None
    threshold: float = 0.5

    def merged(
        self, other: Decision, put_in: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
    ) -> Decision:
        """Return this decision with each column put together with the other's."""
        merged: dict[str, Any] = {}
        for field in fields(self):
            column = getattr(self, field.name)
            if isinstance(column, np.ndarray):
                merged[field.name] = put_in(column, getattr(other, field.name))
        return replace(self, **merged)


class Rule(Protocol):
    """How votes (or scores) of the blocks and shared random numbers become predictions."""

    def noise(self, key: SharedKey, points: Points) -> Floats:
        """Return each point's shared random numbers."""

    def predictions(self, votes: NDArray[Any], noise: Floats) -> NDArray[np.intp]:
        """Return the code of each prediction."""

    def decide(self, votes: NDArray[Any], noise: Floats) -> Decision:
        """Return the predictions with what they follow from."""

    def proba(self, votes: NDArray[Any]) -> Floats:
        """Return the share or mean probability of each class, (n, n_classes)."""

    def flips(self, votes: NDArray[Any], noise: Floats) -> Floats:
        """Estimate how likely a fresh sample predicts differently, under this key."""


def decide_between_two(
    score: Floats, response: Floats, keyed_threshold: Floats, prediction: NDArray[np.intp]
) -> Decision:
    """Return a decision between two classes: the second one iff the response is larger."""
    return Decision(
        prediction=prediction,
        score=np.column_stack([1.0 - score, score]),
        margin=response - keyed_threshold,
        runner_up=1 - prediction,
        key_chance=np.column_stack([1.0 - response, response]),
        keyed_threshold=keyed_threshold,
    )


def decide_among_many(
    score: Floats, log_weights: Floats, key_chance: Floats, prediction: NDArray[np.intp]
) -> Decision:
    """Return a decision among several classes: the one with the largest weight.

    ``log_weights`` contain the shared Gumbels. Among classes that no key can predict, the one with
    more votes comes next.
    """
    every = np.arange(len(score))
    runner_up = np.lexsort((-score, -log_weights), axis=1)[:, 1]
    lead = log_weights[every, prediction] - log_weights[every, runner_up]
    return Decision(
        prediction=prediction,
        score=score,
        # log weights amplify rounding near weight 0; their share of both weights does not
        margin=np.tanh(lead / 2.0),
        runner_up=runner_up,
        key_chance=key_chance,
    )
