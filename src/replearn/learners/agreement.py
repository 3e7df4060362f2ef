"""How often a search chooses the same configuration: measured on halves of the user's own rows."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from replearn.bounds import binomial_limits, selection_agreement
from replearn.exceptions import NotCertifiedWarning, warn_user
from replearn.execution import Progress
from replearn.records import check_count
from replearn.tables import n_rows, take_rows

DELTA = 0.05
"""Limits fail with this probability."""


@dataclass(frozen=True)
class Agreement:
    """Half splits of one file in which a search chose the same configuration twice.

    Parameters
    ----------
    n_agreeing : int
        Splits whose halves chose the same configuration.
    n_splits : int
        All splits.
    lower, upper : float
        95 % limits of the probability that a random half split of this file, under a random key,
        chooses the same configuration twice.
    over_keys : float
        The same probability, estimated with the shared random numbers integrated out.
    n_best_agreeing : int
        Splits whose halves have the same configuration with the best score, which is what
        ``GridSearchCV`` would choose.

    Examples
    --------
    >>> print(Agreement(8, 10, 0.444, 0.975, 0.81, 2))
    8 of 10 half splits chose the same configuration (44% to 98%, 95%; 81% over all keys); the \
best score alone: 2 of 10
    """

    n_agreeing: int
    n_splits: int
    lower: float
    upper: float
    over_keys: float
    n_best_agreeing: int

    def __str__(self) -> str:
        return (
            f"{self.n_agreeing} of {self.n_splits} half splits chose the same configuration "
            f"({self.lower:.0%} to {self.upper:.0%}, 95%; {self.over_keys:.0%} over all keys); "
            f"the best score alone: {self.n_best_agreeing} of {self.n_splits}"
        )


def measure_agreement(search: Any, X: Any, y: ArrayLike, n_splits: int = 10) -> Agreement:
    """Search both halves of the rows, several times, and count equal choices.

    Every split has its own key. Halves have half the rows: a search on all of them chooses alike
    at least as often, as a rule.
    """
    check_count("n_splits", n_splits)
    key = search._key().child("half splits")
    labels = np.asarray(y)
    half = n_rows(X) // 2
    planned = {} if search.plan is None else search.plan.settings  # but not its number of rows
    n_agreeing = 0
    n_best_agreeing = 0
    shares = []
    progress = Progress(2 * n_splits, "halves")
    for split in range(n_splits):
        own = key.child(split)
        order = np.argsort(own.child("cut").uniforms(np.arange(n_rows(X))), kind="stable")
        runs = []
        for rows in (order[:half], order[half : 2 * half]):
            run = clone(search).set_params(**planned, plan=None, refit=False, shared_key=own)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotCertifiedWarning)
                runs.append(run.fit(take_rows(X, rows), labels[rows]))
            progress.advance()
        scores = [np.asarray(run.cv_results_["mean_test_score"]) for run in runs]
        n_agreeing += runs[0].best_index_ == runs[1].best_index_
        n_best_agreeing += np.argmax(scores[0]) == np.argmax(scores[1])
        # theorem: hypothesis-selection (exact for given errors)
        shares.append(selection_agreement(runs[0].sharpness_, 1 - scores[0], 1 - scores[1]))
    progress.close()
    lower, upper = binomial_limits(n_agreeing, n_splits, DELTA)
    return Agreement(
        int(n_agreeing),
        n_splits,
        float(lower),
        float(upper),
        float(np.mean(shares)),
        int(n_best_agreeing),
    )


def warn_if_alpha_is_too_small(param_grid: Any, n: int, alpha: float, beta: float) -> None:
    """Say before the trainings that random numbers of this size cannot make two samples agree.

    To first order, equally good configurations are chosen differently with probability x/(1 + x),
    x = t/sqrt(2 pi n), t the scale that alpha needs: from x = 1 on the noise of the errors
    decides (theorem hypothesis-selection, 3').
    """
    count = len(ParameterGrid(param_grid))
    if count < 2:
        return
    enough = math.log(count * (count - 1) / beta) / math.sqrt(2.0 * math.pi * n)
    if alpha < enough:
        remedy = f"from alpha={enough:.2g} on they can" if enough < 1 else "use more rows"
        warn_user(
            f"alpha={alpha:g} is too small for {n} rows: the shared random numbers are smaller "
            "than the noise of the errors, and two samples will agree hardly more often than "
            f"their best scores do; {remedy}. search.agreement(X, y) measures it",
            NotCertifiedWarning,
        )
