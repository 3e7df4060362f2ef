"""The chain of an incumbent: its models, and the rule that is replayed from them at each point.

The rule mixes scores and keeps the remembered class within a band: pure functions of arrays, which
`replearn.learners.incumbent` gets from models and a benchmark from a file.

A chain has a start, whose prediction is the first remembered one, and its latest retrainings. When
there are more than `MAX_RETRAININGS`, the oldest after the start is dropped: the chain is then
replayed as if that retraining had not happened. What this changes is bounded on the theory page
incumbent-band, section "A chain of bounded length", and counted by `replearn.learners.incumbent`.

How long to remember is decided by ``memory="auto"`` on rows that no model has seen. Decisions are
compared after the band: a mixture that is half overruled by new evidence may have a good log loss
and still keep wrong predictions. Losses are counted, and they are expected from the scores
(`expected_losses`), which shows smaller ones. After a change it is memory that must not lose;
before, it is the loss that must be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import hypergeom
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


# -- how long to remember --------------------------------------------------------------------------
CONFIDENCE_IN_HISTORY = 0.95
"""Confidence of each limit of a loss in ``history_``."""

CONFIDENCE_TO_FORGET = 0.99
"""Confidence with which a loss must be shown for the longest memory to be given up."""

CONFIDENCE_OF_FEW_ROWS = 0.999
"""The same for a loss that is counted on few rows, whose limits are rough: it keeps windows with a
few hundred new rows from being forgotten by chance."""

MIN_DIFFERENT_ROWS = 100
"""Rows on which memory and plain retraining differ from which on they are not few."""

ALARM_RATE = 0.001
"""How often more errors than before raise an alarm although nothing has changed."""

SETTINGS_TRIED = ((0.7, 1.0), (0.5, 1.0), (0.5, 0.5), (0.3, 0.5), (0.0, 0.5))
"""Memories, and shares of the band, in the order in which they are tried: the most stable first.
If all lose, nothing is remembered."""

N_PARTS = 20
"""Parts of the rows that are left out in turn to estimate the standard error of a metric."""

RESET = "reset: every memory loses against plain retraining"
HELD_BACK = "every memory loses against plain retraining, but the budget limits what changes"
DRIFTED = "reset: new rows are predicted worse than the other rows of the sample"
WAITING = "reset: the sample still has rows from before the change"

Metric = Callable[..., float]


class Loss(NamedTuple):
    """What a setting loses against plain retraining, with its standard error."""

    value: float
    error: float
    n_parts: int = N_PARTS  # that were left out in turn

    def limit(self, confidence: float) -> float:
        """Return the lower confidence limit."""
        return self.value - float(stdtrit(max(1, self.n_parts - 1), confidence)) * self.error

    @property
    def lower(self) -> float:
        """Return the lower limit for ``history_``."""
        return self.limit(CONFIDENCE_IN_HISTORY)

    @property
    def upper(self) -> float:
        """Return the upper limit for ``history_``."""
        return 2.0 * self.value - self.lower


class Evidence(NamedTuple):
    """What one setting loses on the rows of one retraining."""

    counted: Loss
    expected: Loss | None = None  # None: another metric than accuracy, or no remembered score

    @property
    def value(self) -> float:
        """Return the best estimate of the loss."""
        return self.counted.value if self.expected is None else self.expected.value


class Choice(NamedTuple):
    """The setting of one retraining, and what was measured when it was chosen."""

    setting: Setting
    loss: Loss  # metric of plain retraining minus that of the setting
    rejected: int  # settings that were more stable and lost too much
    longest: Evidence  # of the first setting
    reason: str | None = None  # why nothing is remembered, if not because all settings lose

    @property
    def is_reset(self) -> bool:
        """Tell whether nothing is remembered."""
        return self.setting.memory == 0.0 and self.setting.band == 0.0

    def forgotten(self, reason: str) -> Choice:
        """Return the choice to remember nothing, for a reason that is none of the losses."""
        nothing = self.setting._replace(memory=0.0, band=0.0)
        return Choice(nothing, Loss(0.0, 0.0), max(self.rejected, 1), self.longest, reason)


def decide(remembered: Replay, new: Floats, setting: Setting, scale: Floats | float = 1.0) -> Codes:
    """Return the predictions after one more retraining with this setting."""
    score = mix(remembered.score, new, setting.memory)
    evidence = evidence_of(score, setting.threshold)
    return keep(evidence, remembered.prediction, setting.band * scale)


def choose_setting(  # noqa: PLR0913
    remembered: Replay,
    new: Floats,
    codes: Codes,
    settings: Sequence[Setting],
    *,
    max_loss: float,
    metric: Metric | None = None,
    weights: Floats | None = None,
    costs: Floats | None = None,
    scale: Floats | float = 1.0,
    groups: NDArray[np.intp] | None = None,
    cautious: bool = False,
) -> Choice:
    """Return the first setting that does not lose against plain retraining.

    The first setting is given up where a lower confidence limit of its loss exceeds ``max_loss``.
    Then something has changed, and the others must not lose more than ``max_loss`` at all; at the
    next retraining the first one neither. A loss that this many rows cannot show is possible; its
    upper limit bounds it.

    Parameters
    ----------
    remembered : Replay
        The chain at rows of the new sample, which none of its models has seen.
    new : ndarray
        Scores of the new estimator at the same rows, cross-fitted.
    codes : ndarray of int
        Codes of the labels.
    settings : sequence of Setting
        In the order in which they are tried.
    max_loss : float
        Loss that is accepted.
    metric : callable, default=None
        ``metric(y_true, y_pred, sample_weight=...)`` on codes, of which larger values are better.
        If None, accuracy, weighted by ``costs``.
    weights : ndarray, default=None
        One weight per row.
    costs : ndarray of shape (n_classes,), default=None
        Cost of an error at a row of each class (`error_costs`). If None, 1.
    scale : ndarray or float, default=1.0
        What one unit of the band is.
    groups : ndarray of int, default=None
        Rows with the same code belong together: a limit counts them as one. If None, each row is
        its own group.
    cautious : bool, default=False
        Whether the last retraining has given up the first setting, or the incumbent is wrong more
        often than it was.
    """
    threshold = settings[0].threshold
    alone = evidence_of(new, threshold)
    plain = alone.argmax(axis=1)
    kept = [decide(remembered, new, setting, scale) for setting in settings]
    costs = np.ones(alone.shape[1]) if costs is None else costs
    measured = metric or partial(accuracy, costs=costs)
    groups = np.arange(len(codes)) if groups is None else groups
    counted = [loss_against(codes, plain, one, measured, weights, groups) for one in kept]
    evidence = [Evidence(loss) for loss in counted]
    if metric is None and remembered.score is not None:
        values, left_out = expected_losses(
            remembered.score,
            new,
            codes,
            plain,
            kept,
            threshold=threshold,
            band=settings[0].band * scale,
            weights=weights,
            costs=costs,
            part_of_row=parts_of(groups),
        )
        expected = map(_jackknife, values, left_out.T)
        evidence = [Evidence(*both) for both in zip(counted, expected, strict=True)]
    longest = evidence[0]
    # theorem: incumbent-band (section 8: each limit holds by itself)
    n_different = len(np.unique(groups[kept[0] != plain]))
    is_given_up = shows_loss(longest, max_loss, n_different)
    if not is_given_up and not (cautious and longest.value > max_loss):
        return Choice(settings[0], longest.counted, 0, longest)
    for rejected, found in enumerate(evidence[1:], start=1):
        if found.value <= max_loss:
            return Choice(settings[rejected], found.counted, rejected, longest)
    nothing = Setting(0.0, 0.0, threshold)
    return Choice(nothing, Loss(0.0, 0.0), len(settings), longest)


def shows_loss(found: Evidence, max_loss: float, n_different: int) -> bool:
    """Return whether a loss is shown, by counting it on rows or groups, or by expectation."""
    is_few = n_different < MIN_DIFFERENT_ROWS
    confidence = CONFIDENCE_OF_FEW_ROWS if is_few else CONFIDENCE_TO_FORGET
    limits = [found.counted.limit(confidence)]
    if found.expected is not None:
        limits.append(found.expected.limit(CONFIDENCE_TO_FORGET))
    return max(limits) > max_loss


class Errors(NamedTuple):
    """How many rows were predicted wrongly, of how many."""

    n_wrong: int
    n_rows: int

    @classmethod
    def of(cls, wrong: NDArray[np.bool_]) -> Errors:
        """Count them."""
        return cls(int(wrong.sum()), len(wrong))

    def grew_to(self, now: Errors) -> bool:
        """Tell whether other rows are predicted worse, all by models that have not seen them.

        Where nothing has changed, the number of wrong ones among them is hypergeometric.

        >>> before = Errors(200, 1000)
        >>> before.grew_to(Errors(210, 1000)), before.grew_to(Errors(450, 1000))
        (False, True)
        """
        n_rows = self.n_rows + now.n_rows
        n_wrong = self.n_wrong + now.n_wrong
        # theorem: incumbent-band (section 8: new rows of a window)
        chance = hypergeom.sf(now.n_wrong - 1, n_rows, n_wrong, now.n_rows)
        return bool(chance < ALARM_RATE)


def got_worse(wrong: NDArray[np.bool_], is_new: NDArray[np.bool_]) -> bool:
    """Tell whether new rows of a window are predicted worse than the others.

    >>> wrong = np.arange(1000) % 10 == 0
    >>> got_worse(wrong, np.arange(1000) >= 900), got_worse(wrong, wrong)
    (False, True)
    """
    return Errors.of(wrong[~is_new]).grew_to(Errors.of(wrong[is_new]))


def error_costs(n_classes: int, threshold: float) -> Floats:
    """Return what an error costs at a row of each class, if the decision threshold is right.

    At the threshold both errors cost the same: whoever decides at 0.1 finds a missed positive nine
    times as bad as a false one. At 0.5 all cost 1, and their mean is one minus the accuracy.

    >>> error_costs(2, 0.1).tolist(), error_costs(3, 0.5).tolist()
    ([0.2, 1.8], [1.0, 1.0, 1.0])
    """
    if n_classes != 2:
        return np.ones(n_classes)
    return np.array([2.0 * threshold, 2.0 * (1.0 - threshold)])


def accuracy(
    codes: Codes,
    predicted: Codes,
    sample_weight: Floats | None = None,
    costs: Floats | None = None,
) -> float:
    """Return the share of right predictions, weighted; each counts as much as its error costs."""
    right = (codes == predicted).astype(np.float64)
    worth = right if costs is None else right * costs[codes]
    return float(np.average(worth, weights=sample_weight))


def parts_of(groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the part of each row, of `N_PARTS` at most; rows of one group are in one part.

    >>> parts_of(np.array([7, 7, 3, 9])).tolist()
    [1, 1, 0, 2]
    """
    codes = np.unique(groups, return_inverse=True)[1].ravel()
    return np.asarray(codes % N_PARTS)


def loss_against(
    codes: Codes,
    plain: Codes,
    kept: Codes,
    metric: Metric,
    weights: Floats | None,
    groups: NDArray[np.intp] | None = None,
) -> Loss:
    """Return how much a metric loses against plain retraining.

    The standard error is that of the jackknife over parts of the rows; rows are paired.

    >>> codes = np.arange(400) % 2
    >>> loss_against(codes, codes, codes, accuracy, None)
    Loss(value=0.0, error=0.0, n_parts=20)
    """
    part = parts_of(np.arange(len(codes)) if groups is None else groups)
    left_out: list[float] = []
    for number in range(int(part.max()) + 1):
        rest = part != number
        some = None if weights is None else weights[rest]
        left_out.append(_loss(codes[rest], plain[rest], kept[rest], metric, some))
    return _jackknife(_loss(codes, plain, kept, metric, weights), left_out)


def _jackknife(value: Any, left_out: Any) -> Loss:
    """Return an estimate with the standard error that its values without each part give."""
    n_parts = len(left_out)
    spread = float(np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
    return Loss(float(value), float(np.sqrt((n_parts - 1) / n_parts * spread)), n_parts)


def _loss(codes: Any, plain: Any, kept: Any, metric: Metric, weights: Any) -> float:
    params: dict[str, NDArray[Any]] = {} if weights is None else {"sample_weight": weights}
    return float(metric(codes, plain, **params) - metric(codes, kept, **params))


def settings_to_try(band: float, threshold: float) -> tuple[Setting, ...]:
    """Return the settings to try for a widest band.

    >>> settings_to_try(0.1, 0.5)[0]
    Setting(memory=0.7, band=0.1, threshold=0.5)
    """
    return tuple(Setting(memory, share * band, threshold) for memory, share in SETTINGS_TRIED)


# -- expected losses -------------------------------------------------------------------------------
REACH = 3.0
"""Rows whose remembered or new score is within this many bands of the threshold are near it."""

MIN_ROWS = 100
"""With fewer rows near the threshold, or on which rules differ, all rows are used."""


def expected_losses(
    remembered: Floats,
    new: Floats,
    codes: Codes,
    plain: Codes,
    kept: Sequence[Codes],
    *,
    threshold: float,
    band: Floats | float,
    weights: Floats | None,
    costs: Floats,
    part_of_row: NDArray[np.intp],
) -> tuple[Floats, Floats]:
    """Return the expected loss of each setting, and its value without each part of the rows.

    Rows on which an incumbent and plain retraining differ lie near the decision threshold, where
    labels are close to coin flips: counting them shows large losses only. The probability of a
    label is estimated from all rows near the threshold and those that differ, by a linear
    combination of the remembered score and the new one, and the loss is its mean over the rows that
    differ. A drift of the share of labels moves the constant of that combination, a change of the
    concept the weight of the new score.

    Parameters
    ----------
    remembered, new : ndarray of shape (n,) or (n, n_classes)
        Scores.
    codes : ndarray of int
        Codes of the labels.
    plain : ndarray of int
        Predictions of plain retraining.
    kept : sequence of ndarray of int
        Predictions with each setting.
    threshold : float
        Decision threshold on the score, for two classes.
    band : ndarray or float
        The widest band, in units of the score.
    weights : ndarray or None
        One weight per row.
    costs : ndarray of shape (n_classes,)
        What an error costs at a row of each class.
    part_of_row : ndarray of int
        Part of each row, from 0, for the jackknife.

    Returns
    -------
    tuple of ndarray
        Shapes (n_settings,) and (n_parts, n_settings).
    """
    share = np.ones(len(codes)) if weights is None else weights
    columns = _columns(remembered, new, codes)
    near = share
    if remembered.ndim == 1:
        distance = np.minimum(np.abs(remembered - threshold), np.abs(new - threshold))
        differs = np.any([one != plain for one in kept], axis=0)  # a tree's are far from it
        inside = differs | (distance <= REACH * np.asarray(band))
        near = share * inside if inside.sum() >= MIN_ROWS else share
    whole = np.ones(len(codes), dtype=bool)
    n_parts = int(part_of_row.max()) + 1
    used = [whole, *(part_of_row != number for number in range(n_parts))]
    found = np.array([_losses(columns, near, share, costs, rows, plain, kept) for rows in used])
    return found[0], found[1:]


def _columns(remembered: Floats, new: Floats, codes: Codes) -> list[tuple[Floats, Floats]]:
    """Return for each class what its probability is a linear function of, and whether it came."""
    if remembered.ndim == 1:
        features = np.column_stack([np.ones(len(codes)), remembered, new])
        return [(features, (codes == 1).astype(np.float64))]
    return [
        (
            np.column_stack([np.ones(len(codes)), remembered[:, label], new[:, label]]),
            (codes == label).astype(np.float64),
        )
        for label in range(remembered.shape[1])
    ]


def _losses(
    columns: Any,
    near: Floats,
    share: Floats,
    costs: Floats,
    rows: Any,
    plain: Codes,
    kept: Any,
) -> list[float]:
    """Return the expected loss of each setting on some rows, estimated from the same rows."""
    fitted = []
    for features, came in columns:
        used = features[rows]
        moments = used.T * near[rows]
        weights = np.linalg.lstsq(moments @ used, moments @ came[rows], rcond=1e-10)[0]
        fitted.append(np.clip(used @ weights, 0.0, 1.0))
    if len(fitted) == 1:
        fitted = [1.0 - fitted[0], fitted[0]]
    worth = np.column_stack(fitted) * costs  # what a prediction of each class saves
    every = np.arange(len(worth))
    now = worth[every, plain[rows]]
    total = float(share[rows].sum())
    return [float((share[rows] * (now - worth[every, one[rows]])).sum() / total) for one in kept]
