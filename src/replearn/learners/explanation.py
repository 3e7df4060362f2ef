"""Why a point got its prediction: one table, and a sentence for each row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.tables.rows import import_pandas

Floats = NDArray[np.float64]


class InWords:
    """A dataclass with one row per point in its columns, and a sentence for each row."""

    prediction: NDArray[Any]

    def sentences(self) -> Iterator[str]:
        """Explain each point in one sentence."""
        raise NotImplementedError

    def columns(self: Any) -> dict[str, NDArray[Any]]:
        """Return the columns by name; what holds for some rules only is left out for others."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def frame(self) -> Any:
        """Return a pandas DataFrame."""
        return import_pandas().DataFrame(self.columns())

    def __len__(self) -> int:
        return len(self.prediction)

    def __str__(self) -> str:
        return "\n".join(self.sentences())


@dataclass(frozen=True, eq=False)
class Explanation(InWords):
    """Why each point got its prediction; one row per point.

    Parameters
    ----------
    prediction : ndarray
        Predicted label.
    score : ndarray
        Share of the votes, or mean predicted probability: of ``classes[1]`` if there are two
        classes, else of the prediction.
    runner_up : ndarray
        The label that comes next.
    runner_up_score : ndarray or None
        Its score; None for two classes.
    margin : ndarray
        Two classes: response (or score) of ``classes[1]`` minus the point's keyed threshold;
        ``classes[1]`` is predicted iff it is positive. More classes: distance of the prediction
        from the runner-up, with the point's shared random numbers. Near 0 a fresh sample may
        predict differently.
    flip_probability : ndarray
        Estimated probability that a fresh training sample predicts differently.
    keyed_threshold : ndarray or None
        The point's own keyed threshold: for votes on the response, for scores on the score; None
        for more than two classes.
    response : ndarray or None
        Two classes: probability, over all keys, that this score predicts ``classes[1]``.
    standard_error : ndarray or None
        Of a mean predicted probability; None for votes.
    """

    prediction: NDArray[Any]
    score: Floats
    runner_up: NDArray[Any]
    margin: Floats
    flip_probability: Floats
    runner_up_score: Floats | None = None
    keyed_threshold: Floats | None = None
    response: Floats | None = None
    standard_error: Floats | None = None

    def sentences(self) -> Iterator[str]:
        """Explain each point in one sentence."""
        for row, label in enumerate(self.prediction.tolist()):
            other = self.runner_up[row]
            score = self.score[row]
            if self.keyed_threshold is not None:
                is_second = self.margin[row] > 0
                is_behind = (score < 0.5) == is_second
                why = (
                    f"{score:.1%} for {label if is_second else other}, this point's threshold "
                    f"{self.keyed_threshold[row]:.3f}"
                )
            elif self.runner_up_score is not None:
                is_behind = score < self.runner_up_score[row]
                why = f"{score:.1%} for it, {self.runner_up_score[row]:.1%} for {other}"
            error = "" if self.standard_error is None else f" (+- {self.standard_error[row]:.1%})"
            drawn = ", drawn by the point's shared random numbers" if is_behind else ""
            flips = self.flip_probability[row]
            # Below that an estimate from a few dozen blocks says no more than: very unlikely.
            chance = "below 0.001" if flips < 0.001 else f"about {flips:.2g}"
            yield (
                f"Prediction {label}{drawn}: {why}{error}, margin {self.margin[row]:+.3f}; a fresh "
                f"training sample would predict differently with probability {chance}."
            )
