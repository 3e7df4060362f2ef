"""Why a prediction of an incumbent was kept, or changed: one row and one sentence per point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.learners.explanation import InWords
from replearn.learners.incumbent_chain import Floats


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
    is_alone : bool, default=False
        Whether the chain has one model, so that no earlier prediction is remembered.
    """

    prediction: NDArray[Any]
    incumbent_prediction: NDArray[Any]
    new_prediction: NDArray[Any]
    margin: Floats
    band: Floats
    unchanged_for: NDArray[np.intp]
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

    def sentences(self) -> Iterator[str]:
        """Explain each point in a few sentences."""
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
