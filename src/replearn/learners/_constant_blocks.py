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
"""Training rows that models are asked about."""

ASKED = 16
"""Models that are asked, the first ones of the first partition; half of them can clear all."""

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
    """Warn if most models do not tell any two of some training rows apart.

    A model counts as constant if its scores are, not only its answers: where one label prevails,
    a learner may answer it to everybody for good reason and still have learned something.

    Parameters
    ----------
    models : sequence of fitted classifiers
        All of them; a few are asked, because all have as many rows.
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
    probes, asked = take_rows(X, rows[:PROBES]), models[: min(ASKED, made.n_blocks)]
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")  # whoever predicts hears them
        n_constant = _count_constant(asked, probes)
        # Equal rows nobody can tell apart.
        if n_constant == 0 or len(np.unique(SharedKey(0).hashes(probes))) == 1:
            return
    found = f"{n_constant} of the {len(asked)} models"
    warn_user(_message(base, made, others, found, len(rows[:PROBES])), ConstantBlocksWarning)


def _is_dummy(base: Any) -> bool:
    """Whether a learner says of itself that it is no good, as DummyClassifier does."""
    tags = get_tags(base).classifier_tags if hasattr(base, "__sklearn_tags__") else None
    return tags is not None and tags.poor_score


def _count_constant(models: Sequence[Any], probes: Any) -> int:
    """Count the models that are constant; 0 as soon as it is clear that they are not the most."""
    n_constant = 0
    for place, model in enumerate(models):
        n_constant += not _tells_apart(model, probes)
        if 2 * (place + 1 - n_constant) >= len(models):
            return 0
    return n_constant


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


def _message(base: Any, made: Plan, others: float, found: str, n_probes: int) -> str:
    unit = made.unit if made.block_size > 1 else made.unit.removesuffix("s")
    learner = " ".join(repr(base).split())
    return (
        f"most blocks cannot tell rows apart: {found} of {learner} that were asked, each trained "
        f"on {made.block_size} {unit}, give one and the same score to all {n_probes} training rows "
        f"they were asked about, although {others:.0%} of the labels differ from the most frequent "
        f"one. Either {made.block_size} {unit} per block are too few for this learner as it is "
        "set, or the features say nothing about the labels. What is promised holds, but of a "
        "model that hardly looks at the features. Try a learner that splits small blocks "
        "(boosting: min_samples_leaf=5), a simpler or less regularised one, fewer blocks "
        f"(n_blocks below {made.n_blocks}), or more {made.unit}."
    )
