"""Explanations for the person who gets the answer: how firm it is, what retraining would do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.learners.results import AnalystExplanation, InWords

FIRMNESS = ((0.001, "very firm"), (0.01, "firm"), (0.05, "fairly firm"), (0.2, "close"))
"""Up to which probability of another answer a word is used; beyond the last: very close."""


@dataclass(frozen=True, eq=False)
class PlainExplanation(InWords):
    """One row per point: the answer, and how likely a model trained on new data repeats it.

    ``model_share`` is the share of the trained models' votes, or their mean predicted probability,
    for the answer; ``overruled`` says where they lean to another one.
    """

    answer: NDArray[Any]
    firmness: NDArray[Any]
    same_answer: NDArray[np.float64]
    model_share: NDArray[np.float64]
    overruled: NDArray[np.bool_]

    def sentences(self) -> Iterator[str]:
        """Explain each point in a few plain sentences."""
        columns = (self.answer, self.firmness, self.same_answer, self.model_share, self.overruled)
        for answer, firmness, same, share, overruled in zip(*columns, strict=True):
            tie = _tie(share) if overruled else ""
            yield f"The answer is {answer!s}. {_about_retraining(firmness, same)}{tie}"


def in_plain_words(explained: AnalystExplanation) -> PlainExplanation:
    """Leave out of an explanation what only those who run the model need.

    >>> import numpy as np
    >>> from replearn.learners.results import Explanation
    >>> told = Explanation(
    ...     answer=np.array(["yes"]), stage=np.array(["vote"]), vote_share=np.array([0.94]),
    ...     law_value=np.array([0.99]), threshold=np.array([0.2]), margin=np.array([0.79]),
    ...     flip_probability=np.array([0.02]), classes=("no", "yes"),
    ... )
    >>> print(in_plain_words(told))
    The answer is yes. It is fairly firm: of 100 models trained on new data, about 98 would give the same answer.
    """  # noqa: E501
    same = 1.0 - explained.flip_probability
    words = np.array([_word(value) for value in same], dtype=object)
    return PlainExplanation(
        explained.answer, words, same, explained.answer_share, explained.overruled
    )


def _word(same: float) -> str:
    if math.isnan(same):
        return "of unknown firmness"
    return next((word for limit, word in FIRMNESS if 1.0 - same <= limit), "very close")


def _about_retraining(firmness: str, same: float) -> str:
    if math.isnan(same):
        return "How firm it is cannot be said from a single training."
    if same >= 1.0 - FIRMNESS[0][0]:
        models = "of 1,000 models trained on new data, all or nearly all"
    else:
        models = f"of 100 models trained on new data, about {min(99, max(1, round(100 * same)))}"
    return f"It is {firmness}: {models} would give the same answer."


def _tie(share: float) -> str:
    """Tell why the answer is not the one that the models lean to."""
    return (
        f" The models trained here lean to another answer ({share:.0%} for this one), but not "
        "clearly: in such a case a random number that belongs to the case decides. It was fixed "
        "beforehand and is used again at every training, so that the answer does not change by "
        "chance."
    )
