"""One pair of runs of one contender: fit on two samples, ask the test rows."""

from __future__ import annotations

import inspect
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._contenders import Contender, prepare
from replearn.exceptions import NotCertifiedWarning
from replearn.execution import one_thread
from replearn.guarantees import Certificate
from replearn.randomness import SharedKey
from replearn.tables import take_rows


@dataclass(frozen=True, eq=False)
class Question:
    """What is learned from and what is asked, the same for all runs.

    Parameters
    ----------
    X : container of rows
        The whole file.
    codes : ndarray of int
        Labels as places in ``classes``.
    classes : ndarray
        All labels of the file.
    groups : ndarray or None
        Group of each row.
    test : ndarray of int
        Positions of the test rows.
    """

    X: Any
    codes: NDArray[np.intp]
    classes: NDArray[Any]
    groups: NDArray[Any] | None
    test: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PairOutcome:
    """What two runs said of the test rows; the first axis of the arrays is the run.

    Parameters
    ----------
    answers : ndarray of int, shape (2, rows)
        Places in the list of classes.
    law : ndarray or None, shape (2, rows)
        Replicable learner, two classes: probability over thresholds of the second class.
    votes : ndarray or None, shape (2, rows, classes)
        Replicable learner, more classes: vote shares.
    probabilities : ndarray or None, shape (2, rows, classes)
        Predicted probabilities (vote shares for a replicable learner).
    thresholds : ndarray or None, shape (rows,)
        The rows' own thresholds under the contender's key.
    predicted_flips : ndarray or None, shape (2, rows)
        What each run, alone, estimated of the other.
    seconds : tuple of float
        Processor seconds of fit and prediction.
    certificates : tuple of str or None
        JSON of both certificates, where there are any.
    promises : tuple of str
        What a certificate of another kind promises, in sentences.
    notes : tuple of str
        Warnings that the runs raised, each once.
    """

    answers: NDArray[np.int32]
    law: NDArray[np.float64] | None = None
    votes: NDArray[np.float64] | None = None
    probabilities: NDArray[np.float64] | None = None
    thresholds: NDArray[np.float64] | None = None
    predicted_flips: NDArray[np.float64] | None = None
    seconds: tuple[float, ...] = ()
    certificates: tuple[str, ...] | None = None
    promises: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


ARRAYS = ("answers", "law", "votes", "probabilities", "thresholds", "predicted_flips")


def run_pair(
    contender: Contender,
    question: Question,
    samples: tuple[NDArray[np.intp], NDArray[np.intp]],
    key: SharedKey,
    pair: int,
) -> PairOutcome:
    """Let one contender learn from both samples of a pair.

    Parameters
    ----------
    contender : Contender
        Who learns.
    question : Question
        The file and the test rows.
    samples : tuple of two ndarrays
        Training rows.
    key : SharedKey
        The audit's key.
    pair : int
        Number of the pair.

    Returns
    -------
    PairOutcome
        Answers of both runs, with what else they have to say.
    """
    asked = take_rows(question.X, question.test)
    with one_thread(), warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("default")
        # Said by the certificate and by a finding.
        warnings.simplefilter("ignore", NotCertifiedWarning)
        runs = [_run(contender, prepare(contender, key, pair), question, s, asked) for s in samples]
    notes = {f"{w.category.__name__}: {' '.join(str(w.message).split())}"[:300] for w in raised}
    arrays = {name: _both(runs, name) for name in ARRAYS if name != "thresholds"}
    return PairOutcome(
        **arrays,
        thresholds=runs[0].get("thresholds"),
        seconds=tuple(run["seconds"] for run in runs),
        certificates=_both_texts(runs),
        promises=runs[0]["promises"],
        notes=tuple(sorted(notes)),
    )


def _both(runs: list[dict[str, Any]], name: str) -> Any:
    parts: list[Any] = [run.get(name) for run in runs]
    return None if any(part is None for part in parts) else np.stack(parts)


def _both_texts(runs: list[dict[str, Any]]) -> tuple[str, ...] | None:
    texts = tuple(run["certificate"] for run in runs)
    return None if None in texts else texts


def _run(
    contender: Contender, model: Any, question: Question, rows: NDArray[np.intp], asked: Any
) -> dict[str, Any]:
    start = time.process_time()
    codes = question.codes[rows]
    if (codes == codes[0]).all() and contender.replicable_part is None:
        return {**_constant_run(codes[0], question), "seconds": 0.0, **_promised(None)}
    extra = {}
    if question.groups is not None and "groups" in inspect.signature(model.fit).parameters:
        extra["groups"] = question.groups[rows]
    model.fit(take_rows(question.X, rows), question.classes[codes], **extra)
    said = (_ask_replicable if contender.is_replicable else _ask)(model, question, asked)
    return {
        **said,
        "seconds": time.process_time() - start,
        **_promised(model),
    }


def _constant_run(code: int, question: Question) -> dict[str, Any]:
    """A sample without a second class: most classifiers refuse it; the answer is plain."""
    return {"answers": np.full(len(question.test), code, dtype=np.int32)}


def _ask(model: Any, question: Question, asked: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"answers": _codes(model.predict(asked), question.classes)}
    if hasattr(model, "predict_proba"):
        said["probabilities"] = _aligned(model.predict_proba(asked), model, question.classes)
    return said


def _ask_replicable(model: Any, question: Question, asked: Any) -> dict[str, Any]:
    if len(model.classes_) > 2 or len(question.classes) > 2:
        said = _ask(model, question, asked)
        # Fewer classes in this sample than in the file: another rule, compared by its answers.
        if len(model.classes_) == len(question.classes):
            said["votes"] = said["probabilities"]
            said["predicted_flips"] = model.flip_probability(asked)
        return said
    told = model.explain(asked)
    if len(model.classes_) == 1:
        law = np.full(len(question.test), float(model.classes_[0] == question.classes[-1]))
        share, flips = law, np.zeros_like(law)
    else:
        law, share, flips = told.law_value, told.vote_share, told.flip_probability
    return {
        "answers": _codes(told.answer, question.classes),
        "law": law,
        "probabilities": np.column_stack([1 - share, share]),
        "thresholds": told.threshold,
        "predicted_flips": flips,
    }


def _codes(labels: Any, classes: NDArray[Any]) -> NDArray[np.int32]:
    return np.searchsorted(classes, np.asarray(labels)).astype(np.int32)


def _aligned(values: Any, model: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    full = np.zeros((len(values), len(classes)))
    full[:, np.searchsorted(classes, model.classes_)] = values
    return full


def _promised(model: Any) -> dict[str, Any]:
    """The certificate of a vote as JSON; of any other certificate its sentences."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    found = getattr(last, "certificate_", None)
    if isinstance(found, Certificate):
        return {"certificate": found.to_json(), "promises": ()}
    return {"certificate": None, "promises": tuple(map(str, getattr(found, "promises", ())))}
