"""The rule of an incumbent on arrays: mix scores, keep the remembered class within a band.

Pure functions of arrays: `replearn.learners.incumbent` gets the arrays from models, a benchmark
from a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

UNKNOWN = -1
"""Code of a remembered label that is not one of the classes: it is not kept."""


class Setting(NamedTuple):
    """How one retraining treats what is remembered."""

    memory: float
    band: float
    threshold: float


class Replay(NamedTuple):
    """The chain after its last retraining."""

    score: Floats | None  # mixed: (n,) for two classes, (n, n_classes) for more
    evidence: Floats  # (n, n_classes); half the difference of two columns is the margin
    remembered: Codes  # predictions before the last retraining
    prediction: Codes  # predictions after it
    age: Codes  # retrainings since the prediction last changed


def evidence_of(score: Floats, threshold: float) -> Floats:
    """Return one column per class; half the difference of two columns is the margin between them.

    Two classes: ``classes[1]`` if the score exceeds the threshold, as everywhere in this library.

    >>> evidence_of(np.array([0.7, 0.5]), 0.5).argmax(axis=1).tolist()
    [1, 0]
    """
    if score.ndim == 2:
        return score
    margin = score - threshold
    return np.column_stack([-margin, np.where(margin == 0.0, -1e-300, margin)])


def keep(evidence: Floats, remembered: Codes, band: Floats | float) -> Codes:
    """Return the remembered class unless the evidence for another exceeds it by twice the band.

    >>> scores = np.array([0.55, 0.65, 0.35])
    >>> keep(evidence_of(scores, 0.5), np.array([0, 0, 0]), 0.1).tolist()
    [0, 1, 0]
    """
    every = np.arange(len(evidence))
    best = evidence.argmax(axis=1)
    known = remembered != UNKNOWN
    index = np.where(known, remembered, 0)
    # theorem: incumbent-band (a label that the new model does not know is not kept)
    clear = evidence[every, best] - evidence[every, index] > 2.0 * np.asarray(band)
    return np.where(known & ~clear, index, best)


def mix(remembered: Floats | None, new: Floats, memory: float) -> Floats:
    """Return the score after a retraining; without a remembered score it is the new one.

    >>> mix(np.array([0.2]), np.array([0.6]), 0.5).tolist()
    [0.4]
    """
    if remembered is None or memory == 0.0:
        return new
    # theorem: incumbent-band (section 4: the remembered score)
    return memory * remembered + (1.0 - memory) * new


def replay(
    start: Floats | None,
    start_codes: Codes,
    scores: Sequence[Floats],
    settings: Sequence[Setting],
    scales: Sequence[Floats | float] | None = None,
) -> Replay:
    """Repeat the retrainings of a chain at some points, from the oldest to the newest.

    Parameters
    ----------
    start : ndarray or None
        Score of the model with which the chain starts; None if it has none in this unit.
    start_codes : ndarray of int
        Its predictions.
    scores : sequence of ndarray
        Scores of the models of the later retrainings.
    settings : sequence of Setting
        Memory, band and threshold of each.
    scales : sequence, default=None
        Size of one unit of the band at each retraining. If None, 1.
    """
    score = start
    prediction = start_codes
    remembered = start_codes
    age = np.zeros(len(start_codes), dtype=np.intp)
    evidence: Floats | None = None
    for step, (new, setting) in enumerate(zip(scores, settings, strict=True)):
        score = mix(score, new, setting.memory)
        evidence = evidence_of(score, setting.threshold)
        scale = 1.0 if scales is None else scales[step]
        remembered = prediction
        prediction = keep(evidence, remembered, setting.band * scale)
        age = np.where(prediction == remembered, age + 1, 0)
    if score is None or evidence is None:
        raise ValueError("a chain without retrainings has no score to replay.")
    return Replay(score, evidence, remembered, prediction, age)


def margins(evidence: Floats, remembered: Codes) -> Floats:
    """Return the evidence for the best class beyond the remembered one, or the second best."""
    every = np.arange(len(evidence))
    best = evidence.argmax(axis=1)
    if evidence.shape[1] == 1:
        return np.zeros(len(evidence))
    second = np.argsort(evidence, axis=1, kind="stable")[:, -2]
    differs = (remembered != UNKNOWN) & (remembered != best)
    rival = np.where(differs, remembered, np.where(second == best, 0, second))
    result: Any = (evidence[every, best] - evidence[every, rival]) / 2.0
    return np.asarray(result)
