"""Why a prediction of an incumbent was kept, or changed: one row and one sentence per point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.learners.incumbent_chain import Floats
from replearn.learners.predictions import InWords
from replearn.learners.reasons import Reasons


@dataclass(frozen=True, eq=False)
class KeptExplanation(InWords):
    """One row per point: the incumbent's prediction, the evidence, and whether it was clear.

    Parameters
    ----------
    prediction : ndarray
        Predicted label.
    incumbent_prediction : ndarray
        The prediction before the last retraining.
    new_prediction : ndarray
        What the score predicts without the band. With ``memory=0`` it is the prediction of the new
        estimator alone.
    margin : ndarray
        Evidence for ``new_prediction`` beyond the decision threshold; the incumbent's prediction
        stays where that is another one and at most ``band``.
    band : ndarray
        Half-width of the band, in the unit of the margin.
    unchanged_for : ndarray of int
        Retrainings since the prediction last changed, as far as the chain goes back.
    plain : bool, default=False
        Whether sentences are for the person who gets the prediction.
    reasons : Reasons or None, default=None
        Contributions of the features, where reference rows were given.
    is_alone : bool, default=False
        Whether the chain has one model, so that no earlier prediction is remembered.
    """

    prediction: NDArray[Any]
    incumbent_prediction: NDArray[Any]
    new_prediction: NDArray[Any]
    margin: Floats
    band: Floats
    unchanged_for: NDArray[np.intp]
    plain: bool = False
    reasons: Reasons | None = field(default=None, repr=False)
    is_alone: bool = False

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Whether the last retraining has changed the prediction."""
        return np.asarray(self.prediction != self.incumbent_prediction)

    @property
    def kept_because(self) -> NDArray[np.str_]:
        """Why a prediction is as before: "agreement", "band", or empty if it has changed."""
        agrees = self.new_prediction == self.incumbent_prediction
        return np.where(self.changed, "", np.where(agrees, "agreement", "band"))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, with the reasons as texts where they are known."""
        reasons = {} if self.reasons is None else self.reasons.columns()
        return super().columns() | reasons

    def sentences(self) -> Iterator[str]:
        """Explain each point in a few sentences."""
        return self._plain_sentences() if self.plain else self._analyst_sentences()

    def _plain_sentences(self) -> Iterator[str]:
        for row in range(len(self)):
            why = [] if self.reasons is None else self.reasons.sentences(row)
            parts = [f"The prediction is {self.prediction[row]!s}.", *why, self._firmness(row)]
            yield " ".join(parts)

    def _firmness(self, row: int) -> str:
        """Say how near the decision is to another one, and what the last training did."""
        if self.is_alone:
            return "It comes from one model; how firm it is was not measured."
        if self.changed[row]:
            return (
                f"Before the last training it was {self.incumbent_prediction[row]!s}: the new data "
                "speak clearly for the change."
            )
        if self.kept_because[row] == "band":
            return (
                f"It is close: the latest data lean to {self.new_prediction[row]!s}, but not "
                "clearly, and a prediction changes only for clear evidence."
            )
        if self.margin[row] <= self.band[row]:
            return "It is close, and would change only if new data spoke clearly for another one."
        return "It is firm: earlier and latest data speak clearly for it."

    def _analyst_sentences(self) -> Iterator[str]:
        reasons = self.kept_because
        for row in range(len(self)):
            old = self.incumbent_prediction[row]
            new = self.new_prediction[row]
            evidence = f"margin {self.margin[row]:.3f}, band {self.band[row]:g}"
            if self.is_alone:
                yield f"Prediction {new!s}: there is no earlier prediction to keep ({evidence})."
            elif reasons[row] == "agreement":
                yield f"Prediction {new!s}: the model in use and the new one agree ({evidence})."
            elif reasons[row] == "band":
                yield (
                    f"Prediction {old!s}, as before: the new model leans to {new!s}, but not "
                    f"clearly enough to change the prediction ({evidence})."
                )
            else:
                yield (
                    f"Prediction {self.prediction[row]!s} instead of {old!s}: the new evidence is "
                    f"clear ({evidence})."
                )
