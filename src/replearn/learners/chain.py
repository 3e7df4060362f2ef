"""The chain of an incumbent: its models, the rule that is replayed from them, and four tests.

A chain is a tuple of steps: its start, and its latest retrainings, oldest first. The prediction of
the start is the first remembered one. When there are more than `MAX_RETRAININGS`, the oldest after
the start is dropped: the chain is then replayed as if that retraining had not happened (theory page
incumbent-band, section "A chain of bounded length").

How long to remember is decided on new rows that no model of the chain has seen, with cross-fitted
scores of the new estimator: what is remembered stays unless a test shows that it is worse than the
new estimator alone (`remember_or_forget`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, hypergeom, norm, t as student
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import estimator_html_repr

from replearn.exceptions import RetrainingWarning, warn_user
from replearn.learners.inputs import FittedState
from replearn.learners.row_sketch import rows_in_sketch
from replearn.randomness.key import SharedKey
from replearn.tables.rows import copy_rows, is_sparse, take_rows

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

UNKNOWN = -1
"""Code of a remembered label that is not one of the classes: it is not kept."""

MAX_RETRAININGS = 16
"""Retrainings that a chain keeps beside its start."""

MAX_MEMORY = 0.8
"""Longest memory: what is older than `MAX_RETRAININGS` weighs at most 0.8^16 < 3 % of the score."""

MAX_HISTORY = 120
"""Retrainings that ``history_`` lists."""


# -- the rule on arrays ----------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Step:
    """One model of a chain, and how its retraining treats what is remembered.

    ``threshold`` is None for a start that predicts by itself.
    """

    model: Any
    memory: float
    band: float
    threshold: float | None


class Replay(NamedTuple):
    """The chain after its last retraining, at some points."""

    score: Any  # mixed: (n,), or (n, n_classes) for more than two classes; None if unknown
    before: Any  # predictions before the last retraining
    prediction: Any  # predictions after it
    age: Codes  # retrainings since the prediction last changed


def mix(remembered: Floats | None, new: Floats, memory: float) -> Floats:
    """Return the score after a retraining; without a remembered score it is the new one.

    >>> mix(np.array([0.2]), np.array([0.6]), 0.5).tolist()
    [0.4]
    """
    if remembered is None or memory == 0.0:
        return new
    # theorem: incumbent-band (section 4: the remembered score)
    return memory * remembered + (1.0 - memory) * new


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


def keep(evidence: Floats, remembered: Codes, band: float) -> Codes:
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
    clear = evidence[every, best] - evidence[every, index] > 2.0 * band
    return np.where(known & ~clear, index, best)


def keep_label(score: Floats, before: Codes, step: Step) -> Codes:
    """Return the codes that are predicted after a step."""
    assert step.threshold is not None
    return keep(evidence_of(score, step.threshold), before, step.band)


def keep_number(score: Floats, before: Floats, step: Step) -> Floats:
    """Return the numbers that are predicted after a step: the old ones within the band."""
    # theorem: incumbent-band (section 9: a change travels further than the band)
    return np.where(np.abs(score - before) > step.band, score, before)


def replay(
    steps: Sequence[Step],
    scores: Sequence[Floats | None],
    start: Any,
    decide: Callable[[Any, Any, Step], Any] = keep_label,
) -> Replay:
    """Repeat the retrainings of a chain at some points, from the oldest to the newest.

    Parameters
    ----------
    steps : sequence of Step
        The chain.
    scores : sequence of ndarray
        Scores of its models; that of the start is None if it has none in their unit.
    start : ndarray
        Predictions of the start.
    decide : callable, default=keep_label
        What is predicted after a step: `keep_label` or `keep_number`.
    """
    score = scores[0]
    before = prediction = start
    age = np.zeros(len(start), dtype=np.intp)
    for step, new in zip(steps[1:], scores[1:], strict=True):
        assert new is not None
        score = mix(score, new, step.memory)
        before = prediction
        prediction = decide(score, before, step)
        age = np.where(prediction == before, age + 1, 0)
    return Replay(score, before, prediction, age)


def margins(evidence: Floats, remembered: Codes) -> Floats:
    """Return the evidence for the best class beyond the remembered one, or the second best."""
    every = np.arange(len(evidence))
    best = evidence.argmax(axis=1)
    second = np.argsort(evidence, axis=1, kind="stable")[:, -2]
    differs = (remembered != UNKNOWN) & (remembered != best)
    rival = np.where(differs, remembered, np.where(second == best, 0, second))
    result: Floats = (evidence[every, best] - evidence[every, rival]) / 2.0
    return result


def band_for(strength: Floats, max_changes: float, n_rows: int, band: float) -> float:
    """Return the smallest band with which no more than a share of some rows changes.

    ``strength`` is the evidence of the rows that would change. The next one is at the band and
    stays; so do ties with it.

    >>> band_for(np.array([0.3, 0.2, 0.15]), 0.02, 100, 0.1)
    0.15
    """
    allowed = whole_rows(max_changes, n_rows)
    if len(strength) <= allowed:
        return band
    return max(band, float(np.sort(strength)[::-1][allowed]))


def whole_rows(share: float, n_rows: int) -> int:
    """Return how many rows a share is at most; 0.07 of 100 is 7.000000000000001.

    >>> whole_rows(0.07, 100), whole_rows(0.29, 100)
    (7, 29)
    """
    return int(np.floor(share * n_rows * (1 + 1e-12)))


# -- models and their scores -----------------------------------------------------------------------
MARGIN = "margin"
PROBABILITY = "predict_proba"
DECISION = "decision_function"
LABEL = "predict"


def score_kind(model: Any) -> str:
    """Return the method that gives a classifier's scores; an incumbent has those of its models.

    >>> from sklearn.linear_model import LogisticRegression
    >>> score_kind(LogisticRegression())
    'predict_proba'
    """
    inner = model.chain_[-1].model if hasattr(model, "chain_") else model
    return next((kind for kind in (MARGIN, PROBABILITY, DECISION) if hasattr(inner, kind)), LABEL)


def score_of(model: Any, X: Any, ids: Any) -> Floats:
    """Return the scores of a model: one column for numbers and two classes, else one per class."""
    kind = score_kind(model)
    points = copy_rows(X)
    if kind == LABEL:
        return np.asarray(predict_with(model, points, ids), dtype=np.float64)
    found = model.margin(points, ids=ids) if kind == MARGIN else getattr(model, kind)(points)
    scores = np.asarray(found, dtype=np.float64)
    return scores[:, 1] if kind == PROBABILITY and scores.shape[1] == 2 else scores


def replay_labels(
    chain: Sequence[Step], X: Any, ids: Any, classes: NDArray[Any], kind: str
) -> Replay:
    """Replay a chain of classifiers at some points; scores of other kinds are in other units."""
    start = chain[0]
    is_known = np.array_equal(getattr(start.model, "classes_", ()), classes)
    first = None
    if is_known and score_kind(start.model) == kind:
        first = score_of(start.model, X, ids)
    if start.threshold is None or first is None:
        codes = predict_codes(start.model, X, ids, classes)
    else:
        codes = evidence_of(first, start.threshold).argmax(axis=1)
    later = [score_of(step.model, X, ids) for step in chain[1:]]
    return replay(chain, [first, *later], codes)


def replay_numbers(chain: Sequence[Step], X: Any, ids: Any) -> Replay:
    """Replay a chain of regressors at some points."""
    scores = [score_of(step.model, X, ids) for step in chain]
    return replay(chain, scores, scores[0], keep_number)


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


# -- the chain of models ---------------------------------------------------------------------------
def chain_of(incumbent: Any, kind: str | None = None) -> tuple[Step, ...] | None:
    """Return the chain that an incumbent continues; any other model is the start of one.

    Scores of another kind are in other units: such a chain is the start of a new one as a whole.
    """
    if incumbent is None:
        return None
    chain: tuple[Step, ...] | None = getattr(incumbent, "chain_", None)
    if chain is not None and kind in (None, score_kind(chain[-1].model)):
        return chain
    return (Step(incumbent, 0.0, 0.0, None),)


def extended(chain: tuple[Step, ...], step: Step) -> tuple[Step, ...]:
    """Return the start and the latest retrainings; without memory and band a chain starts again."""
    if step.memory == 0.0 and step.band == 0.0:
        return (step,)
    return (chain[0], *(*chain[1:], step)[-MAX_RETRAININGS:])


def check_chain(chain: Any) -> None:
    """Raise ValueError if what a file holds is not a chain."""
    is_chain = type(chain) is tuple and all(isinstance(step, Step) for step in chain)
    if not is_chain or not 1 <= len(chain) <= 1 + MAX_RETRAININGS:
        raise ValueError("chain_ is not a chain of retrainings.")
    for step in chain:
        numbers = (step.memory, step.band)
        if not all(isinstance(number, float) and number >= 0.0 for number in numbers):
            raise ValueError("chain_ has a retraining without memory and band.")
        if step.memory > MAX_MEMORY or not isinstance(step.threshold, float | None):
            raise ValueError("chain_ has a retraining whose memory or threshold is out of range.")


def check_columns(incumbent: Any, X: Any, names: Any) -> None:
    """Raise if the incumbent was trained on other columns."""
    known = getattr(incumbent, "feature_names_in_", None)
    if known is not None and names is not None:
        missing = [name for name in known.tolist() if name not in set(names.tolist())]
        if missing:
            raise ValueError(
                f"X lacks the columns {missing[:5]}, on which incumbent was trained: give both "
                "the same columns."
            )
    n_features = getattr(X, "shape", (0, 1))[1] if getattr(X, "ndim", 2) == 2 else 1
    expected = getattr(incumbent, "n_features_in_", n_features)
    if expected != n_features:
        raise ValueError(
            f"incumbent was trained on {expected} features, X has {n_features}: give both the "
            "same columns."
        )


class KeepsChain(FittedState, MetaEstimatorMixin, BaseEstimator):
    """Base of estimators with the parameter ``incumbent`` and the fitted attribute ``chain_``.

    A fitted estimator does not need its incumbent, whose models are in the chain: copies by pickle
    and model files leave it out, so that they do not grow with the number of retrainings.
    """

    _always_certified: ClassVar[bool] = False
    _derived_state: ClassVar[tuple[str, ...]] = ("estimator_",)

    estimator: Any
    incumbent: Any
    chain_: tuple[Step, ...]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the estimator with its incumbent, without the incumbents before that one."""
        if getattr(self.incumbent, "incumbent", None) is None:
            return str(super().__repr__(N_CHAR_MAX))
        return repr(self._without_older())

    def _html_repr(self) -> str:
        """Return the same for notebooks."""
        return str(estimator_html_repr(self._without_older()))

    def _without_older(self) -> Any:
        """Return a copy whose incumbent has no incumbent."""
        shown = copy(self)
        if getattr(self.incumbent, "incumbent", None) is not None:
            shown.incumbent = copy(self.incumbent)
            shown.incumbent.incumbent = None
        return shown

    @property
    def shared_key(self) -> Any:
        """The key of the models, where one has a key; model files need it."""
        models = [self.estimator]
        if "chain_" in vars(self):
            models = [step.model for step in (*reversed(self.chain_[1:]), self.chain_[0])]
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

    def _cross_fitted(
        self,
        base: Any,
        X: Any,
        y: NDArray[Any],
        rows: NDArray[np.intp],
        groups: Any,
        fit_params: dict[str, Any],
    ) -> tuple[Floats | None, str | None]:
        """Return cross-fitted scores of the sample, or why its new rows cannot test anything."""
        share = rows_in_sketch(self.incumbent, take_rows(X, rows))
        if share is not None and share > 0.5:
            return None, "same_rows"
        folds = folds_of(y, groups, is_stratified=is_classifier(self))
        if len(rows) < MIN_ROWS or folds is None:
            return None, "few_rows"
        return cross_fitted(base, X, y, folds, fit_params), None

    def _record(self, entry: dict[str, Any]) -> None:
        """Add this retraining to the history of the incumbent."""
        today = datetime.now(UTC).date().isoformat()
        before = getattr(self.incumbent, "history_", [])
        self.history_ = [*before, {"date": today, **entry}][-MAX_HISTORY:]
        if entry.get("alarm") is not None or entry.get("untested") is not None:
            classes = getattr(self, "classes_", (None, None))
            warn_user("; ".join(sentences_of(entry, classes[1])), RetrainingWarning)

    def _file_state(self) -> dict[str, Any]:
        return {**super()._file_state(), "incumbent": None}

    def _restore(self, key: SharedKey) -> None:
        super()._restore(key)
        if "chain_" in vars(self):
            check_chain(self.chain_)
            self.estimator_ = self.chain_[-1].model

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
N_FOLDS = 5
"""Folds of the cross-fitted scores."""

MIN_ROWS = 100
"""New rows that the tests need: five segments of at least twenty."""

MEMORIES = (0.7, 0.5)
"""Memories in the order in which they are tried. If both are worse, nothing is remembered."""

FIXED_MEMORY = 0.5
"""Memory where a sample cannot show which one is good."""

LEVEL = 0.009
"""Level of the tests of decisions and of losses."""

RARE_LEVEL = 0.002
"""Level of the tests of mean scores, in all rows and in segments: 2 % with the two others."""

WINDOW_LEVEL = 0.001
"""Level of the comparison of new rows with the other rows of a window."""

MAX_SEGMENTS = 5
MIN_SEGMENT_ROWS = 20
N_TENTHS = 10

REASONS = {
    "decisions": "its decisions would be worse than those of the new model alone",
    "log_loss": "its probabilities would be worse than those of the new model alone (log loss)",
    "squared_error": "its numbers would be worse than those of the new model alone (squared error)",
    "mean": "its mean would be wrong, and that of the new model is not",
    "segment": "its mean would be wrong in a segment, and that of the new model is not",
    "window": "new rows are predicted worse than the rest of the window",
    "waiting": "the window still has rows from before a change",
    "few_rows": f"tests need at least {MIN_ROWS} new rows and {N_FOLDS} of each class",
    "same_rows": "most of the rows are in the incumbent's sample; mark the rows that no model of "
    "the chain was trained on: fit(X, y, new_rows=...)",
}
"""Sentences for the codes in ``history_``: why less is remembered, or why it was not tested."""

UNTESTED = ("few_rows", "same_rows")
"""Codes that are no alarm: the sample cannot show whether what is remembered still holds."""


def folds_of(y: Any, groups: Any, *, is_stratified: bool) -> list[tuple[Codes, Codes]] | None:
    """Return folds that keep groups together; None if a class or the groups are too few."""
    n_classes, rarest = 1, len(y)
    if is_stratified:
        counts = np.unique(y, return_counts=True)[1]
        n_classes, rarest = len(counts), int(counts.min())
    n_units = len(y) if groups is None else len(np.unique(groups))
    if min(rarest, n_units) < N_FOLDS:
        return None
    splitter: Any
    if is_stratified:
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        splitter = kind(N_FOLDS, shuffle=True, random_state=0)
    elif groups is None:
        splitter = KFold(N_FOLDS, shuffle=True, random_state=0)
    else:
        splitter = GroupKFold(N_FOLDS)
    folds = list(splitter.split(np.zeros(len(y)), y, groups))
    is_whole = not is_stratified or all(len(np.unique(y[one])) == n_classes for one, _ in folds)
    return folds if is_whole else None


def cross_fitted(
    base: Any, X: Any, y: NDArray[Any], folds: Any, fit_params: dict[str, Any]
) -> Floats:
    """Return scores (or numbers) at all rows, each of a model that has not seen the row."""
    found: Any = None
    for train, test in folds:
        params = {name: rows_of(value, train, len(y)) for name, value in fit_params.items()}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the fit on the whole sample warns
                model = clone(base).fit(take_rows(X, train), y[train], **params)
        except ValueError as error:
            raise ValueError(
                f"{type(base).__name__} cannot be fitted on four fifths of the rows, from which "
                f"memory or band are decided: {error} Give memory=0.5 and no max_changes."
            ) from error
        scores = score_of(model, take_rows(X, test), None)
        if found is None:
            found = np.empty((len(y), *scores.shape[1:]))
        found[test] = scores
    result: Floats = found
    return result


def rows_of(value: Any, rows: NDArray[np.intp], n: int) -> Any:
    """Return the rows of an argument of ``fit`` that has one value per row."""
    is_per_row = hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n
    return take_rows(np.asarray(value), rows) if is_per_row else value


def held_out_rows(new_rows: Any, n: int) -> NDArray[np.intp]:
    """Return the rows on which memory and band are decided: all, or those that are new."""
    if new_rows is None:
        return np.arange(n)
    mask = np.asarray(new_rows)
    if mask.shape != (n,) or mask.dtype != bool:
        raise ValueError(
            f"new_rows must hold one bool for each of the {n} rows of X, got an array of shape "
            f"{mask.shape} and type {mask.dtype}."
        )
    if not mask.any():
        raise ValueError("new_rows selects no row: leave it out, or mark the rows that are new.")
    return np.flatnonzero(mask)


class NewRows(NamedTuple):
    """Rows that no model of the chain has seen, with scores of models that have not seen them."""

    score: Floats
    y: NDArray[Any]  # codes of labels, or numbers
    weights: Floats
    groups: NDArray[np.intp] | None = None  # rows with one code belong together
    columns: Floats | None = None  # the features as numbers

    def sums(self, values: Floats) -> Floats:
        """Return weighted sums over groups; without groups each row is its own."""
        weighted = self.weights * values
        return weighted if self.groups is None else np.bincount(self.groups, weighted).astype(float)

    def take(self, inside: NDArray[np.bool_]) -> NewRows:
        """Return some of the rows."""
        taken: Any = (None if item is None else item[inside] for item in self)
        return NewRows(*taken)

    def off(self, score: Floats, *, is_probability: bool) -> float:
        """Return by how many standard deviations the sums of y and of scores differ.

        Probabilities of 0 and 1 (of trees) have no variance, and rare labels hardly any residuals:
        the larger one of both counts.
        """
        residuals = self.sums(self.y - score)
        squares = float((residuals**2).sum())
        if is_probability:
            squares = max(squares, float((self.weights**2 * score * (1.0 - score)).sum()))
        return abs(float(residuals.sum())) / float(np.sqrt(max(squares, 1e-12)))


def new_rows_of(
    X: Any,
    y: NDArray[Any],
    score: Floats,
    rows: NDArray[np.intp],
    groups: Any,
    fit_params: dict[str, Any],
) -> NewRows:
    """Return the new rows of a sample; ``score`` is about these."""
    weights = row_weights(fit_params, len(y))[rows]
    codes = None
    if groups is not None:
        codes = np.unique(np.asarray(groups)[rows], return_inverse=True)[1].ravel()
    return NewRows(score, y[rows], weights, codes, ranked_columns(take_rows(X, rows)))


def row_weights(fit_params: dict[str, Any], n: int) -> Floats:
    """Return the weights of the rows, 1 if there are none; a pipeline's carry the name of a step.

    >>> row_weights({"ridge__sample_weight": [1, 2]}, 2).tolist()
    [1.0, 2.0]
    """
    for name, value in fit_params.items():
        if name.split("__")[-1] == "sample_weight" and np.ndim(value) == 1:
            return np.asarray(value, dtype=np.float64)
    return np.ones(n)


def ranked_columns(X: Any) -> Floats | None:
    """Return the ranks of the values in each column, which is all that a tree sees, or None.

    >>> ranked_columns([[0.5, "b"], [2.5, "a"]]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if hasattr(X, "columns"):
        columns = [np.asarray(X[name]) for name in X.columns]
    elif is_sparse(X) or np.ndim(X) != 2:
        return None
    else:
        columns = list((X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)).T)
    plain = (one if one.dtype.kind in "biufmM" else _texts(one) for one in columns)
    return np.column_stack([np.unique(one, return_inverse=True)[1] for one in plain]).astype(float)


def _texts(cells: NDArray[Any]) -> NDArray[np.str_]:
    """Return cells as texts; missing ones, of which each library has its own, are empty."""
    texts = cells.astype(str)
    return np.where(np.isin(texts, ["nan", "None", "<NA>", "NaT"]), "", texts)


def remember_or_forget(
    found: Replay,
    rows: NewRows,
    band: float,
    why_worse: Callable[[Replay, NewRows, float, float], str | None],
    memories: Sequence[float] = MEMORIES,
) -> tuple[float, float, str | None]:
    """Return memory and band, and which test has shown the longest memory to be worse.

    Parameters
    ----------
    found : Replay
        The chain at the new rows.
    rows : NewRows
        Cross-fitted scores of the new estimator, labels, weights and groups.
    band : float
        The band, if something is remembered.
    why_worse : callable
        Which test shows that a memory with a band is worse than the new scores alone, if one does.
    memories : sequence of float
        The memories to try, the longest first.
    """
    alarm = None
    for memory in memories:
        reason = why_worse(found, rows, memory, band)
        if reason is None:
            return memory, band, alarm
        alarm = alarm or reason
        if reason == "segment":
            break  # half of the memory would leave more than half of what is wrong there
    return 0.0, 0.0, alarm


def why_labels_worse(
    found: Replay,
    rows: NewRows,
    memory: float,
    band: float,
    *,
    threshold: float,
    equal_costs: float,
    kind: str,
) -> str | None:
    """Return which of four tests shows that a memory is worse than the new scores alone.

    The tests are of decisions, of the log loss, and of mean scores in all rows and in segments. All
    but the first are about probabilities.

    Parameters
    ----------
    found, rows, memory, band
        As in `remember_or_forget`.
    threshold : float
        Decision threshold on the score.
    equal_costs : float
        Probability of ``classes[1]`` at which both errors cost the same.
    kind : str
        The method that the scores come from.
    """
    mixed = mix(found.score, rows.score, memory)
    plain = evidence_of(rows.score, threshold).argmax(axis=1)
    kept = keep(evidence_of(mixed, threshold), found.prediction, band)
    if decisions_are_worse(plain, kept, rows, equal_costs):
        return "decisions"
    if found.score is None or kind != PROBABILITY:
        return None
    is_binary = rows.score.ndim == 1
    bias = rows.off(rows.score, is_probability=True) if is_binary else 0.0
    is_usual = bias < norm.isf(RARE_LEVEL / 2)  # or else any shift of the mean would be a loss
    if is_usual and is_positive(rows.sums(log_loss(mixed, rows.y) - log_loss(rows.score, rows.y))):
        return "log_loss"
    if is_binary:
        segments = segments_of(rows, found.score)
        return why_off(rows, mixed, segments, RARE_LEVEL, is_probability=True)
    n_classes = rows.score.shape[1]
    for label in range(n_classes):  # one against the rest
        y = (rows.y == label).astype(np.float64)
        own = rows._replace(score=rows.score[:, label], y=y)
        segments = segments_of(own, found.score[:, label])
        level = RARE_LEVEL / n_classes
        reason = why_off(own, mixed[:, label], segments, level, is_probability=True)
        if reason is not None:
            return reason
    return None


def why_numbers_worse(found: Replay, rows: NewRows, memory: float, band: float) -> str | None:
    """Return which test shows that a memory is worse for numbers: squared errors, or the mean.

    The old number stays within the band, whatever the tests say.
    """
    del band
    mixed = mix(found.score, rows.score, memory)
    if is_positive(rows.sums((rows.y - mixed) ** 2 - (rows.y - rows.score) ** 2)):
        return "squared_error"
    whole = np.zeros(len(rows.y), dtype=np.intp)
    return why_off(rows, mixed, whole, RARE_LEVEL, is_probability=False)


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


def decisions_are_worse(plain: Codes, kept: Codes, rows: NewRows, threshold: float) -> bool:
    """Tell whether kept predictions cost more: by a t test, and by the law of right predictions.

    ``threshold`` is the probability of ``classes[1]`` at which both errors cost the same.
    """
    n_classes = 2 if rows.score.ndim == 1 else rows.score.shape[1]
    costs = error_costs(n_classes, threshold)[rows.y]
    gain = costs * ((plain == rows.y).astype(np.float64) - (kept == rows.y))
    chance = chance_of_decisions(plain, kept, rows.y, threshold if n_classes == 2 else 0.5)
    return chance < LEVEL and is_positive(rows.sums(gain))


def chance_of_decisions(plain: Codes, kept: Codes, codes: Codes, threshold: float) -> float:
    """Return how likely plain retraining is right so often where only one of both is.

    Where both errors cost the same a label is 1 with the probability ``threshold``: a plain
    prediction of 1 is right that often, and one of 0 in all other cases.

    >>> codes = np.array([1] * 9 + [0])
    >>> round(chance_of_decisions(np.ones(10, int), np.zeros(10, int), codes, 0.5), 4)
    0.0107
    """
    right = plain == codes
    counted = right != (kept == codes)
    n_ones = int((plain[counted] == 1).sum())
    n_others = int(counted.sum()) - n_ones
    # theorem: incumbent-band (section 8: the law of right predictions)
    law = np.convolve(
        binom.pmf(np.arange(n_ones + 1), n_ones, threshold),
        binom.pmf(np.arange(n_others + 1), n_others, 1.0 - threshold),
    )
    return float(law[int(right[counted].sum()) :].sum())


def is_positive(sums: Floats) -> bool:
    """Tell whether the mean of some differences is above 0, by a one-sided t test.

    >>> is_positive(np.array([0.0, 1.0] * 8)), is_positive(np.array([-1.0, 1.0] * 8))
    (True, False)
    """
    error = sums.std(ddof=1) / np.sqrt(len(sums))
    return bool(error > 0 and sums.mean() / error > student.isf(LEVEL, len(sums) - 1))


def log_loss(score: Floats, codes: Codes) -> Floats:
    """Return the log loss of each row."""
    if score.ndim == 1:
        score = np.column_stack([1.0 - score, score])
    return -np.log(np.clip(score[np.arange(len(codes)), codes], 1e-6, 1.0))


def segments_of(rows: NewRows, old: Floats) -> Codes:
    """Return a segment for each row, such that new and old scores differ between segments.

    Segments are leaves of a small tree that predicts the difference from the features: that of one
    row is mostly noise of both models. Where features are no columns, tenths of the difference.
    """
    difference = rows.score - old
    if rows.columns is None:
        edges = np.quantile(difference, np.linspace(0, 1, N_TENTHS + 1)[1:-1])
        return np.searchsorted(np.unique(edges), difference)
    smallest = max(MIN_SEGMENT_ROWS, len(difference) // 20)
    tree = DecisionTreeRegressor(
        max_leaf_nodes=MAX_SEGMENTS, min_samples_leaf=smallest, random_state=0
    )
    return np.asarray(tree.fit(rows.columns, difference).apply(rows.columns))


def why_off(
    rows: NewRows, mixed: Floats, segments: Codes, level: float, *, is_probability: bool
) -> str | None:
    """Return where the mean score is clearly further off than the new one.

    In all rows ("mean") or in one of the segments ("segment").

    An estimator that is off by itself (weights of classes) is not blamed on what is remembered.
    """
    every = np.unique(segments)
    n_tests = 1 if len(every) == 1 else 1 + len(every)
    # theorem: incumbent-band (section 8: one level for all rows and all segments)
    limit = norm.isf(level / 2 / n_tests)

    def is_off(inside: NDArray[np.bool_]) -> bool:
        part = rows.take(inside)
        new = part.off(part.score, is_probability=is_probability)
        return part.off(mixed[inside], is_probability=is_probability) - new > limit

    if is_off(np.ones(len(segments), dtype=bool)):
        return "mean"
    return "segment" if n_tests > 1 and any(is_off(segments == one) for one in every) else None


def new_rows_are_worse(wrong: NDArray[np.bool_], is_new: NDArray[np.bool_]) -> bool:
    """Tell whether new rows of a window are predicted worse, all by models that have not seen them.

    Where nothing has changed, the number of wrong ones among the new rows is hypergeometric.

    >>> wrong = np.arange(1000) % 10 == 0
    >>> new_rows_are_worse(wrong, np.arange(1000) >= 900), new_rows_are_worse(wrong, wrong)
    (False, True)
    """
    # theorem: incumbent-band (section 8: new rows of a window)
    n_wrong, n_new = int(wrong.sum()), int(is_new.sum())
    chance = hypergeom.sf(int(wrong[is_new].sum()) - 1, len(wrong), n_wrong, n_new)
    return bool(chance < WINDOW_LEVEL)


def retrainings_since_change(history: Sequence[dict[str, Any]]) -> int | None:
    """Return how many retrainings ago new rows of a window did not fit; None if they always did.

    >>> retrainings_since_change([{"alarm": "window"}, {"alarm": None}])
    2
    """
    for step, entry in enumerate(reversed(history), start=1):
        if entry.get("alarm") == "window":
            return step
    return None


# -- what a retraining reports ---------------------------------------------------------------------
CONFIDENCE = 0.95
"""Confidence of the upper limit of the share of changes."""


def calibration_report(rows: NewRows, old: Floats, served: Floats) -> dict[str, float]:
    """Return means of labels and scores, in all rows and where old and new scores differ most."""
    segments = segments_of(rows, old)
    gaps = {one: abs((rows.score - old)[segments == one].mean()) for one in np.unique(segments)}
    inside = segments == max(gaps, key=gaps.__getitem__)
    return {
        "observed": _mean(rows.y, rows.weights),
        "in_use": _mean(old, rows.weights),
        "served": _mean(served, rows.weights),
        "segment_share": float(inside.mean()),
        "segment_observed": _mean(rows.y[inside], rows.weights[inside]),
        "segment_in_use": _mean(old[inside], rows.weights[inside]),
        "segment_served": _mean(served[inside], rows.weights[inside]),
    }


def _mean(values: Floats, weights: Floats) -> float:
    return float(np.average(values, weights=weights)) if weights.sum() > 0 else float(values.mean())


def sentences_of(entry: dict[str, Any], label: Any = None) -> list[str]:
    """Return what an entry of ``history_`` says: an alarm first, changes, calibration.

    ``label`` is that of the probabilities, ``classes_[1]``; None for numbers.

    >>> entry = {"memory": 0.0, "alarm": "mean", "changed": 0.25, "changed_limit": 0.3}
    >>> for sentence in sentences_of(entry):
    ...     print(sentence)
    alarm: nothing is remembered, because its mean would be wrong, and that of the new model is not
    predictions that change: 25.0 % (at most 30.0 %)
    """
    found = []
    if entry.get("alarm") is not None:
        kept = f"memory is {entry['memory']:g}" if entry["memory"] else "nothing is remembered"
        found.append(f"alarm: {kept}, because {REASONS[entry['alarm']]}")
    if entry.get("untested") is not None:
        found.append(f"memory is {entry['memory']:g}, not tested: {REASONS[entry['untested']]}")
    if entry.get("changed") is not None:
        limit = entry.get("changed_limit")
        known = "" if limit is None else f" (at most {limit:.1%})"
        found.append(f"predictions that change: {entry['changed']:.1%}{known}".replace("%", " %"))
    if entry.get("observed") is not None:
        what = "mean" if label is None else f"share of {str(label)!r}"
        for where, prefix in (
            ("in all new rows", ""),
            (f"where the models differ most ({entry['segment_share']:.0%} of them)", "segment_"),
        ):
            observed, in_use, served = (
                entry[f"{prefix}{name}"] for name in ("observed", "in_use", "served")
            )
            found.append(
                f"{what} {where}: {observed:.3g}, by the model in use {in_use:.3g}, by this one "
                f"{served:.3g}".replace("%", " %")
            )
    return found
