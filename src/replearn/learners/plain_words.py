"""Explanations for the person who gets the prediction: how firm it is, what retraining would do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.learners.reasons import Reasons
from replearn.learners.results import ClassExplanation, Explanation, InWords

FIRMNESS = ((0.001, "very firm"), (0.01, "firm"), (0.05, "fairly firm"), (0.2, "close"))
"""Up to which flip probability a word is used; beyond the last: very close."""


@dataclass(frozen=True, eq=False)
class PlainExplanation(InWords):
    """One row per point: the prediction, and how likely a model trained on new data repeats it.

    ``model_share`` is the share of the trained models' votes, or their mean predicted probability,
    for the prediction; ``overruled`` says where they lean to another one. ``reasons`` has the
    contribution of each feature where reference rows were given.
    """

    prediction: NDArray[Any]
    firmness: NDArray[Any]
    same_prediction: NDArray[np.float64]
    model_share: NDArray[np.float64]
    overruled: NDArray[np.bool_] = field(repr=False)
    stage: NDArray[Any] = field(repr=False)
    reasons: Reasons | None = field(default=None, repr=False)

    def sentences(self) -> Iterator[str]:
        """Explain each point in a few plain sentences."""
        for row in range(len(self)):
            parts = [
                f"The prediction is {self.prediction[row]!s}.",
                *self._reasons(row),
                _about_retraining(self.firmness[row], self.same_prediction[row]),
                *([_tie(self.model_share[row])] if self.overruled[row] else []),
            ]
            yield " ".join(parts)

    def _reasons(self, row: int) -> list[str]:
        """Name the features that speak for the prediction, and those that speak against it."""
        if self.reasons is None:
            return []
        if self.stage[row] == "heavy":
            return ["Earlier cases that are equal to this one had this outcome most often."]
        return self.reasons.sentences(row)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, with the reasons as texts where they are known."""
        reasons = {} if self.reasons is None else self.reasons.columns()
        return super().columns() | reasons


def in_plain_words(
    explained: Explanation | ClassExplanation, why: Reasons | None = None
) -> PlainExplanation:
    """Leave out of an explanation what only those who run the model need.

    >>> import numpy as np
    >>> from replearn.learners.results import Explanation
    >>> explained = Explanation(
    ...     prediction=np.array(["yes"]), stage=np.array(["vote"]), score=np.array([0.94]),
    ...     response=np.array([0.99]), keyed_threshold=np.array([0.2]), margin=np.array([0.79]),
    ...     flip_probability=np.array([0.02]), classes=("no", "yes"),
    ... )
    >>> print(in_plain_words(explained))
    The prediction is yes. It is fairly firm: of 100 models trained on new data, about 98 would predict the same.
    """  # noqa: E501
    same = 1.0 - explained.flip_probability
    words = np.array([_word(value) for value in same], dtype=object)
    return PlainExplanation(
        prediction=explained.prediction,
        firmness=words,
        same_prediction=same,
        model_share=explained.predicted_share,
        overruled=explained.overruled,
        stage=explained.stage,
        reasons=why,
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
    return f"It is {firmness}: {models} would predict the same."


def _tie(share: float) -> str:
    """Say why the prediction is not the one that the models lean to."""
    return (
        f"The models trained here lean to another one ({share:.0%} for this one), but the case is "
        "close, and close cases are decided by lot. The lot was drawn beforehand, belongs to the "
        "case and is used again at every training, so that the prediction does not change by "
        "chance."
    )
