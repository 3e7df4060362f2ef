"""The chain of an incumbent: its models, and the rule that is replayed from them at each point.

The rule mixes scores and keeps the remembered class within a band: pure functions of arrays, which
`replearn.learners.incumbent` gets from models and a benchmark from a file.

A chain has a start, whose prediction is the first remembered one, and its latest retrainings. When
there are more than `MAX_RETRAININGS`, the oldest after the start is dropped: the chain is then
replayed as if that retraining had not happened. What this changes is bounded on the theory page
incumbent-band, section "A chain of bounded length", and counted by `replearn.learners.incumbent`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone

from replearn.learners.inputs import FittedState
from replearn.randomness import SharedKey
from replearn.tables import copy_rows

# -- the rule on arrays ----------------------------------------------------------------------------
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

    Two classes: ``classes[1]`` if the score exceeds the threshold. A decision threshold from which
    on ``classes[1]`` is predicted is given as the number just below it.

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


# -- the chain of models ---------------------------------------------------------------------------
MAX_RETRAININGS = 16
"""Retrainings that a chain keeps beside its start."""

MAX_MEMORY = 0.8
"""Longest memory: what is older than `MAX_RETRAININGS` weighs at most 0.8^16 < 3 % of the score."""

MARGIN = "margin"
PROBABILITY = "predict_proba"
DECISION = "decision_function"
LABEL = "predict"


@dataclass(frozen=True, eq=False)
class Retraining:
    """One model of a chain, and how it treats what is remembered.

    ``threshold`` is None for a model of another system: it predicts by itself.
    """

    model: Any
    memory: float
    band: float
    threshold: float | None

    @property
    def setting(self) -> Setting:
        """Return memory, band and threshold."""
        threshold = 0.0 if self.threshold is None else self.threshold
        return Setting(self.memory, self.band, threshold)


@dataclass(frozen=True, eq=False)
class Chain:
    """A start and the latest retrainings, oldest first."""

    start: Retraining
    recent: tuple[Retraining, ...] = ()

    @property
    def newest(self) -> Retraining:
        """Return the last retraining."""
        return self.recent[-1] if self.recent else self.start

    def extended(self, retraining: Retraining) -> Chain:
        """Return the chain after one more retraining, before anything is dropped.

        Nothing is remembered where memory and band are 0: the chain starts again.
        """
        if retraining.memory == 0.0 and retraining.band == 0.0:
            return Chain(retraining)
        return Chain(self.start, (*self.recent, retraining))

    def bounded(self) -> Chain:
        """Return the chain with its start and its latest retrainings only."""
        return Chain(self.start, self.recent[-MAX_RETRAININGS:])

    def dropped_weight(self) -> float:
        """Return the weight of dropped retrainings in the score: at most this much may it move."""
        weight = 1.0
        total = 0.0
        for position, retraining in enumerate(reversed(self.recent)):
            if position >= MAX_RETRAININGS:
                total += weight * (1.0 - retraining.memory)
            weight *= retraining.memory
        return total


def check_chain(chain: Any) -> None:
    """Raise ValueError if what a file holds is not a chain."""
    is_chain = isinstance(chain, Chain) and type(chain.recent) is tuple
    if not is_chain or len(chain.recent) > MAX_RETRAININGS:
        raise ValueError("chain_ is not a chain of retrainings.")
    for one in (chain.start, *chain.recent):
        numbers = (one.memory, one.band) if isinstance(one, Retraining) else ("",)
        if not all(isinstance(number, float) and number >= 0.0 for number in numbers):
            raise ValueError("chain_ has a retraining without memory and band.")
        if one.memory > MAX_MEMORY or not isinstance(one.threshold, float | None):
            raise ValueError("chain_ has a retraining whose memory or threshold is out of range.")


class ModelScore(NamedTuple):
    """What one model gives at some points."""

    kind: str  # the method that the score comes from
    score: Floats | None
    scale: Floats | float = 1.0  # one unit of the band


def score_kind(model: Any, *, labels: bool = False) -> str:
    """Return the method that gives a model's scores.

    >>> from sklearn.linear_model import LogisticRegression
    >>> score_kind(LogisticRegression())
    'predict_proba'
    """
    kinds = (MARGIN, PROBABILITY, DECISION)
    return next((kind for kind in kinds if hasattr(model, kind)), LABEL if labels else DECISION)


def model_score(model: Any, X: Any, ids: Any, n_classes: int, band_unit: str) -> ModelScore:
    """Return the scores of a model: one column for two classes, one per class for more."""
    kind = score_kind(model, labels=True)
    if kind == LABEL:
        return ModelScore(kind, None)
    if n_classes == 1:
        return ModelScore(kind, np.zeros((len(model.predict(X)), 1)))
    if kind == MARGIN and band_unit == "standard_error" and hasattr(model, "standard_error"):
        explained = model.explain(X, ids=ids)
        return ModelScore(kind, explained.margin, np.maximum(explained.standard_error, 1e-300))
    if kind == MARGIN:
        return ModelScore(kind, model.margin(X, ids=ids))
    scores = np.asarray(getattr(model, kind)(X), dtype=np.float64)
    if kind == PROBABILITY and n_classes == 2:
        return ModelScore(kind, scores[:, 1])
    return ModelScore(kind, scores)


def predict_codes(model: Any, X: Any, ids: Any, classes: NDArray[Any]) -> Codes:
    """Return the codes of a model's predictions; `UNKNOWN` for other labels."""
    labels = predict_with(model, X, ids)
    known = np.isin(labels, classes)
    codes = np.searchsorted(classes, np.where(known, labels, classes[0]))
    return np.where(known, codes, UNKNOWN)


def predict_with(model: Any, X: Any, ids: Any) -> NDArray[Any]:
    """Predict with a model; ids go to models of this library only."""
    if ids is None or not (hasattr(model, "certificate_") or hasattr(model, "chain_")):
        values = np.asarray(model.predict(copy_rows(X)))
    else:
        values = np.asarray(model.predict(X, ids=ids))
    if values.shape[1:] == (1,):  # a column, as some libraries predict
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"{type(model).__name__} predicts an array of shape {values.shape}: a model of a chain "
            "must predict one value per row."
        )
    return values


class ChainScores(NamedTuple):
    """The scores of all models of a chain at some points: what `replay_scores` needs."""

    start_codes: Codes
    scores: tuple[ModelScore, ...]  # of the start, then of the retrainings


def chain_scores(
    chain: Chain, X: Any, ids: Any, classes: NDArray[Any], band_unit: str
) -> ChainScores:
    """Let every model of a chain score the points once."""
    retrainings = (chain.start, *chain.recent)
    scores = tuple(
        _score_in_classes(one.model, copy_rows(X), ids, classes, band_unit) for one in retrainings
    )
    first = scores[0].score
    if chain.start.threshold is None or first is None:
        return ChainScores(predict_codes(chain.start.model, X, ids, classes), scores)
    codes = evidence_of(first, chain.start.threshold).argmax(axis=1)
    return ChainScores(codes, scores)


def _score_in_classes(
    model: Any, X: Any, ids: Any, classes: NDArray[Any], band_unit: str
) -> ModelScore:
    """Return the scores of a model; none if its classes are not these, in this order."""
    if not np.array_equal(getattr(model, "classes_", ()), classes):
        return ModelScore(LABEL, None)
    return model_score(model, X, ids, len(classes), band_unit)


def replay_scores(
    chain: Chain, found: ChainScores, new: Sequence[tuple[Retraining, ModelScore]] = ()
) -> Replay:
    """Replay a chain, and retrainings that are not in it yet, from scores of its models."""
    retrainings = [chain.start, *chain.recent, *(one for one, _ in new)]
    scores = [*found.scores, *(score for _, score in new)]
    if len(retrainings) == 1:
        return _start_only(chain.start, scores[0].score, found.start_codes)
    settings = [
        # Scores of another kind are in other units: they are not mixed.
        one.setting if now.kind == before.kind else one.setting._replace(memory=0.0)
        for one, now, before in zip(retrainings[1:], scores[1:], scores, strict=False)
    ]
    values = [score.score for score in scores[1:]]
    scales = [score.scale for score in scores[1:]]
    return replay(scores[0].score, found.start_codes, values, settings, scales)  # type: ignore[arg-type]


def _start_only(start: Retraining, score: Floats | None, codes: Codes) -> Replay:
    """Return a chain that has its start only; a model that gives labels has no score."""
    age = np.zeros(len(codes), dtype=np.intp)
    evidence = np.zeros((len(codes), 2))
    if score is not None:
        evidence = evidence_of(score, start.setting.threshold)
    return Replay(score, evidence, codes, codes, age)


def mixed_probabilities(chain: Chain, X: Any, classes: NDArray[Any]) -> Floats:
    """Return the mean of the models' probabilities, by their weights in the score."""
    mixed: Floats | None = None
    for one in (chain.start, *chain.recent):
        is_usable = hasattr(one.model, PROBABILITY) and np.array_equal(one.model.classes_, classes)
        found = np.asarray(one.model.predict_proba(copy_rows(X))) if is_usable else None
        mixed = found if found is None else mix(mixed, found, one.memory)
    assert mixed is not None
    return mixed


MAX_HISTORY = 120
"""Retrainings that ``history_`` lists."""


class KeepsChain(FittedState, MetaEstimatorMixin, BaseEstimator):
    """Base of estimators with the parameter ``incumbent`` and the fitted attribute ``chain_``.

    A fitted estimator does not need its incumbent, whose models are in the chain: copies by pickle
    and model files leave it out, so that they do not grow with the number of retrainings.
    """

    _always_certified: ClassVar[bool] = False
    _derived_state: ClassVar[tuple[str, ...]] = ("estimator_",)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the estimator with its incumbent, without the incumbents before that one."""
        params = self.get_params(deep=False)
        last = params["incumbent"]
        if getattr(last, "incumbent", None) is None:
            return str(super().__repr__(N_CHAR_MAX))
        params["incumbent"] = type(last)(**{**last.get_params(deep=False), "incumbent": None})
        return repr(type(self)(**params))

    estimator: Any
    incumbent: Any
    chain_: Chain

    @property
    def shared_key(self) -> Any:
        """The key of the models, where one has a key; model files need it."""
        models = [self.estimator]
        if "chain_" in vars(self):
            models = [one.model for one in (*reversed(self.chain_.recent), self.chain_.start)]
        keyed = [model for model in models if hasattr(model, "shared_key")]
        if not keyed:
            raise AttributeError(f"no estimator of this {type(self).__name__} has a shared_key")
        return keyed[0].shared_key

    def _refuse_itself(self) -> None:
        """Refuse an estimator that is its own incumbent: fit would forget what it remembers."""
        if self.incumbent is self:
            raise ValueError(
                "incumbent is this estimator itself, which fit trains anew: fit another one, "
                f"{type(self).__name__}(incumbent=model)."
            )

    def _record(self, entry: dict[str, Any]) -> None:
        """Add this retraining to the history of the incumbent."""
        before = getattr(self.incumbent, "history_", [])
        self.history_ = [*before, entry][-MAX_HISTORY:]
        self.n_retrainings_ = 0
        if self.incumbent is not None:
            self.n_retrainings_ = 1 + getattr(self.incumbent, "n_retrainings_", 0)

    def _file_state(self) -> dict[str, Any]:
        return {**super()._file_state(), "incumbent": None}

    def _restore(self, key: SharedKey) -> None:
        super()._restore(key)
        if "chain_" in vars(self):
            check_chain(self.chain_)
            self.estimator_ = self.chain_.newest.model

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {**state, "incumbent": None} if "chain_" in state else state

    def __sklearn_clone__(self) -> Any:
        params = self.get_params(deep=False)
        copies = {name: clone(value, safe=False) for name, value in params.items()}
        return type(self)(**{**copies, "incumbent": self.incumbent})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "chain_")
