"""Warnings about models that are useless.

Block models with too few rows may answer a constant: histogram boosting that wants 20 rows in each
leaf cannot split a block of 39, and fits without a word.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from replearn.exceptions import ConstantBlocksWarning
from replearn.execution import ConstantVote, one_thread
from replearn.randomness import SharedKey
from replearn.tables import take_rows

LIBRARIES = frozenset({"joblib", "replearn", "sklearn"})
"""Frames of these packages are not where the user can change anything."""

PROBES = 256
"""Training rows that models are asked about."""

ASKED = 16
"""Models that are asked, the first ones of the first partition; half of them can clear all."""

NOTABLE = 0.05
"""Where all other labels together are rarer, the most frequent one is a plausible answer to all."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with the place of the nearest caller outside the libraries."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _package(frame) in LIBRARIES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


# -- models that cannot tell rows apart ------------------------------------------------------------
class Constant(NamedTuple):
    """How many of the models that were asked are constant, and what they were asked."""

    n_constant: int
    n_asked: int
    n_probes: int
    others: float

    @property
    def asked_about(self) -> str:
        """What the models were asked, and why a constant is no good answer."""
        return (
            f"to all {self.n_probes} training rows they were asked about, although "
            f"{self.others:.0%} of the labels differ from the most frequent one"
        )


def find_constant(
    models: Sequence[Any], base: Any, X: Any, codes: NDArray[np.intp], rows: NDArray[np.intp]
) -> Constant | None:
    """Return what is known if most models do not tell any two of some training rows apart.

    A model counts as constant if its scores are, not only its answers: where one label prevails,
    a learner may answer it to everybody for good reason. ``rows`` are in keyed order, so that the
    file's order does not matter.
    """
    others = 1.0 - np.bincount(codes).max() / len(codes)
    if others < NOTABLE or _is_dummy(base):
        return None
    probes, asked = take_rows(X, rows[:PROBES]), models[:ASKED]
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")  # whoever predicts hears them
        n_constant = _count_constant(asked, probes)
        # Equal rows nobody can tell apart.
        if n_constant == 0 or len(np.unique(SharedKey(0).hashes(probes))) == 1:
            return None
    return Constant(n_constant, len(asked), len(rows[:PROBES]), float(others))


def warn_if_constant(
    models: Sequence[Any], base: Any, sample: Any, blocks: Any, block_size: int, unit: str = "rows"
) -> None:
    """Warn if most block models are constant; ``blocks`` are those of the first partition."""
    rows = np.concatenate(blocks)
    constant = find_constant(models[: len(blocks)], base, sample.X, sample.codes, rows)
    if constant is None:
        return
    size = f"{block_size} {unit if block_size > 1 else unit.removesuffix('s')}"
    warn_user(
        f"most blocks cannot tell rows apart: {constant.n_constant} of the {constant.n_asked} "
        f"models of {_one_line(base)} that were asked, each trained on {size}, give one and the "
        f"same score {constant.asked_about}. Either {size} per block are too few for this learner "
        "as it is set, or the features say nothing about the labels. What is promised holds, but "
        "of a model that hardly looks at the features. Try a learner that splits small blocks "
        "(boosting: min_samples_leaf=5), a simpler or less regularised one, fewer blocks (n_blocks "
        f"below {len(blocks)}), or more {unit}.",
        ConstantBlocksWarning,
    )


def warn_if_all_constant(searched: Sequence[Constant | None], base: Any, train_size: int) -> None:
    """Warn if no configuration of a search tells rows apart."""
    constant = searched[0] if searched else None
    if constant is None or None in searched:
        return
    warn_user(
        f"no configuration of {_one_line(base)} can tell rows apart: of each, most of the first "
        f"{constant.n_asked} models give one and the same score {constant.asked_about}. Either "
        f"train_size={train_size} is too small for this learner as it is configured, or the "
        "features say nothing about the labels. What is promised holds, but the choice hardly "
        "depends on the sample. Try a larger train_size, or configurations for few rows (boosting: "
        "min_samples_leaf=5).",
        ConstantBlocksWarning,
    )


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


def _one_line(base: Any) -> str:
    return " ".join(repr(base).split())
