"""Notice block models that cannot tell rows apart.

Histogram boosting that wants 20 rows in each leaf cannot split a block of 39: it answers a constant
and fits without a word. Some training rows show it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from replearn.exceptions import ConstantBlocksWarning
from replearn.execution import ConstantVote
from replearn.execution.threads import one_thread
from replearn.learners._warn import warn_user
from replearn.planning import Plan
from replearn.randomness import SharedKey
from replearn.tables import take_rows

PROBES = 256
"""Training rows that the models are asked about."""

NOTABLE = 0.05
"""Where all other labels together are rarer, the most frequent one is a plausible answer to all."""


def warn_if_constant(
    models: Sequence[Any],
    base: Any,
    X: Any,
    codes: NDArray[np.intp],
    rows: NDArray[np.intp],
    made: Plan,
) -> None:
    """Warn if no model of the first partition tells any two of some training rows apart.

    A model counts as constant if its scores are, not only its answers: where one label prevails,
    a learner may answer it to everybody for good reason and still have learned something. Most
    fits are cleared by the first model.

    Parameters
    ----------
    models : sequence of fitted classifiers
        Of the first partition; those of the others have as many rows.
    base : classifier
        The base learner.
    X : container of rows
        The sample.
    codes : ndarray of intp
        Its labels.
    rows : ndarray of intp
        Rows of the sample in keyed order, so that the file's order does not matter.
    made : Plan
        The plan in force.
    """
    others = 1.0 - np.bincount(codes).max() / len(codes)
    if others < NOTABLE or _is_dummy(base):
        return
    probes = take_rows(X, rows[:PROBES])
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")  # whoever predicts hears them
        if any(_tells_apart(model, probes) for model in models):
            return
        # Equal rows nobody can tell apart.
        if len(np.unique(SharedKey(0).hashes(probes))) == 1:
            return
    warn_user(_message(base, made, others, len(rows[:PROBES])), ConstantBlocksWarning)


def _is_dummy(base: Any) -> bool:
    """Whether a learner says of itself that it is no good, as DummyClassifier does."""
    tags = get_tags(base).classifier_tags if hasattr(base, "__sklearn_tags__") else None
    return tags is not None and tags.poor_score


def _tells_apart(model: Any, probes: Any) -> bool:
    if isinstance(model, ConstantVote):
        return False
    names = ("decision_function", "predict_proba", "predict")
    try:
        ask = next(getattr(model, name) for name in names if hasattr(model, name))
        answers = np.asarray(ask(probes))
    except Exception:
        return True  # nothing is known; a fit does not fail over a question nobody asked
    return bool((answers != answers[:1]).any())


def _message(base: Any, made: Plan, others: float, n_probes: int) -> str:
    unit = made.unit if made.block_size > 1 else made.unit.removesuffix("s")
    learner = " ".join(repr(base).split())
    return (
        f"the blocks cannot tell rows apart: each of {made.n_blocks} models of {learner}, trained "
        f"on {made.block_size} {unit} per block, gives one and the same score to all {n_probes} "
        f"training rows it was asked about, although {others:.0%} of the labels differ from the "
        f"most frequent one. Either {made.block_size} {unit} are too few for this learner as it is "
        "set, or the features say nothing about the labels. What is promised holds, but of a "
        "model that ignores the features. Try a learner that splits small blocks (boosting: "
        "min_samples_leaf=5), a simpler or less regularised one, fewer blocks "
        f"(n_blocks below {made.n_blocks}), or more {made.unit}."
    )
