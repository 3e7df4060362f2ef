"""One retraining of a chain: checks, cross-fitted scores, memory and band, budgets, history.

A band follows from a budget of change on held-out rows; for one batch the changes that fit into the
budget are chosen.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.model_selection import GroupKFold
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from replearn.bounds import binomial_limits
from replearn.learners.incumbent_chain import (
    DRIFTED,
    HELD_BACK,
    MAX_MEMORY,
    RESET,
    WAITING,
    Chain,
    ChainScores,
    Codes,
    Errors,
    Floats,
    Metric,
    ModelScore,
    Replay,
    Retraining,
    Setting,
    chain_scores,
    choose_setting,
    decide,
    evidence_of,
    got_worse,
    margins,
    mix,
    model_score,
    predict_with,
    replay_scores,
    settings_to_try,
)
from replearn.tables import n_rows, take_rows


# -- one retraining --------------------------------------------------------------------------------
class NewSample(NamedTuple):
    """The sample of a retraining."""

    X: Any
    codes: Codes
    classes: NDArray[Any]
    rows: NDArray[np.intp]  # on which memory and band are decided
    fit_params: dict[str, Any]
    groups: Any = None  # rows that belong together


class Options(NamedTuple):
    """The parameters that decide how a retraining treats what is remembered."""

    memory: float | str
    band: float
    threshold: float
    band_unit: str
    budget: Budget
    max_loss: float
    metric: Metric | None
    costs: Floats | None = None  # of an error at a row of each class
    cautious: bool = False  # the last retraining has given up the longest memory
    since_drift: int | None = None  # retrainings since new rows of a window did not fit
    errors: Errors | None = None  # of the incumbent, when it was trained

    @property
    def from_data(self) -> bool:
        """Tell whether memory or band are decided from the sample."""
        return self.memory == "auto" or not self.budget.is_empty

    @property
    def shown_threshold(self) -> float:
        """Return the threshold as people write it."""
        return round(self.threshold, 12)


def first_entry(n_rows: int, threshold: float) -> dict[str, Any]:
    """Return the entry of ``history_`` for the first model of a chain."""
    return {"date": today(), "rows": n_rows, "memory": 0.0, "band": 0.0, "threshold": threshold}


def retrain(
    previous: Chain, model: Any, base: Any, sample: NewSample, options: Options
) -> tuple[Chain, dict[str, Any]]:
    """Return the chain after a retraining, and its entry of ``history_``."""
    usable = np.ones(len(sample.codes), dtype=bool)
    if options.from_data:
        usable = may_be_left_out(sample.codes, sample.groups)
        sample = sample._replace(rows=sample.rows[usable[sample.rows]])
        if not len(sample.rows):
            raise ValueError(f"new_rows are the only rows of their classes: {FEW_ROWS}")
    rows = sample.rows
    if not options.from_data:
        rows = rows[spread_rows(rows)]
    points = take_rows(sample.X, rows)
    found = chain_scores(previous, points, None, sample.classes, options.band_unit)
    remembered = replay_scores(previous, found)
    reason = None
    if options.from_data:
        new, reason = _cross_fitted(base, sample, usable, options)
    else:
        new = model_score(model, points, None, len(sample.classes), options.band_unit)
    if found.scores[-1].kind != new.kind:
        remembered = remembered._replace(score=None)
    setting, entry = _setting(previous, remembered, new, sample, options, reason)
    assert new.score is not None
    prediction = decide(remembered, new.score, setting, new.scale)
    extended = previous.extended(Retraining(model, *setting))
    if options.memory == "auto":
        errors = Errors.of(prediction != sample.codes[rows])
        entry |= {"n_wrong": errors.n_wrong, "n_judged": errors.n_rows}
    some = spread_rows(rows)
    dropped = count_dropped(extended, take_scores(found, some), take_score(new, some))
    return extended.bounded(), {
        "date": today(),
        "rows": len(sample.codes),
        **setting._asdict(),
        "threshold": options.shown_threshold,
        "changed": float((prediction != remembered.prediction).mean()),
        "counted_on": "cross-fitted rows" if options.from_data else "training rows",
        "dropped_weight": extended.dropped_weight(),
        "dropped_changes": dropped / max(1, len(some)),
        **entry,
    }


def _cross_fitted(
    base: Any, sample: NewSample, usable: NDArray[np.bool_], options: Options
) -> tuple[ModelScore, str | None]:
    """Return scores of models that have not seen the rows, and why nothing is to be remembered."""
    is_auto = options.memory == "auto"
    every = np.flatnonzero(usable) if is_auto else sample.rows
    found = cross_fitted(
        base,
        sample.X,
        sample.classes[sample.codes],
        every,
        len(sample.classes),
        options.band_unit,
        sample.fit_params,
        sample.groups,
    )
    reason = None
    if is_auto:
        n_samples = len(sample.codes) / len(sample.rows)  # months that a window has
        is_waiting = options.since_drift is not None and options.since_drift + 1 < n_samples
        reason = WAITING if is_waiting else _drift(found, sample, every, options)
    return take_score(found, np.searchsorted(every, sample.rows)), reason


def _setting(
    previous: Chain,
    remembered: Replay,
    new: ModelScore,
    sample: NewSample,
    options: Options,
    reason: str | None,
) -> tuple[Setting, dict[str, Any]]:
    """Return memory, band and threshold: as given, or decided on the rows of the sample."""
    assert new.score is not None
    entry: dict[str, Any] = {}
    codes = sample.codes[sample.rows]
    if options.memory == "auto":
        weights = row_weights(sample.fit_params)
        groups = None if sample.groups is None else np.asarray(sample.groups)[sample.rows]
        fell = groups is None and _fell(options.errors, remembered.prediction != codes)
        choice = choose_setting(
            remembered,
            new.score,
            codes,
            settings_to_try(options.band, options.threshold),
            max_loss=options.max_loss,
            metric=options.metric,
            weights=None if weights is None else weights[sample.rows],
            costs=options.costs,
            scale=new.scale,
            groups=groups,
            cautious=options.cautious or fell,
        )
        choice = choice if reason is None else choice.forgotten(reason)
        setting = choice.setting
        entry |= {
            "loss": choice.loss.value,
            "loss_limit": choice.loss.upper,
            "alarm": _alarm(choice),
        }
    else:
        memory = memory_of(options.memory, previous)
        setting = Setting(memory, options.band, options.threshold)
    if options.budget.is_empty:
        return setting, entry
    moves = moves_of(remembered, new, setting, codes)
    band, n_changes = budget_band(moves, options.budget, len(codes), setting.band)
    spent = {name: value for name, value in options.budget._asdict().items() if value is not None}
    entry |= {"budget": spent, "changes_limit": share_limit(n_changes, len(codes))}
    if entry.get("alarm") in (RESET, DRIFTED, WAITING) and band > 0.0:
        entry["alarm"] = HELD_BACK
    return setting._replace(band=band), entry


def _drift(
    new: ModelScore, sample: NewSample, every: NDArray[np.intp], options: Options
) -> str | None:
    """Say that new rows are predicted worse than the others; groups are not independent."""
    is_new = np.isin(every, sample.rows)
    if is_new.all() or sample.groups is not None:
        return None
    assert new.score is not None
    plain = evidence_of(new.score, options.threshold).argmax(axis=1)
    return DRIFTED if got_worse(plain != sample.codes[every], is_new) else None


def _fell(before: Errors | None, wrong: NDArray[np.bool_]) -> bool:
    """Tell whether the incumbent is wrong more often than when it was trained."""
    return before is not None and before.grew_to(Errors.of(wrong))


def errors_of(history: Sequence[dict[str, Any]]) -> Errors | None:
    """Return how often the last model of a chain was wrong on rows that it had not seen."""
    if not history or "n_wrong" not in history[-1]:
        return None
    return Errors(history[-1]["n_wrong"], history[-1]["n_judged"])


def was_alarmed(history: Sequence[dict[str, Any]]) -> bool:
    """Tell whether the last retraining has given up the longest memory."""
    return bool(history) and history[-1].get("alarm") is not None


def since_drift(history: Sequence[dict[str, Any]]) -> int | None:
    """Return how many retrainings ago new rows of a window did not fit; None if they always did.

    >>> since_drift([{"alarm": DRIFTED}, {"alarm": None}]), since_drift([{}])
    (2, None)
    """
    found = [step for step, entry in enumerate(reversed(history), start=1) if _is_drift(entry)]
    return found[0] if found else None


def _is_drift(entry: dict[str, Any]) -> bool:
    return entry.get("alarm") == DRIFTED


def _alarm(choice: Any) -> str | None:
    """Say that what is remembered does worse than retraining, if it does."""
    if choice.is_reset:
        return choice.reason or RESET
    return "memory shortened" if choice.rejected else None


def moves_of(remembered: Replay, new: ModelScore, setting: Setting, codes: Codes) -> Moves:
    """Return the rows of a labelled sample whose prediction would change."""
    assert new.score is not None
    evidence = evidence_of(mix(remembered.score, new.score, setting.memory), setting.threshold)
    after = decide(remembered, new.score, setting, new.scale)
    strength = margins(evidence, remembered.prediction) / new.scale
    worse = (remembered.prediction == codes) & (after != codes)
    return changes_between(remembered.prediction, after, strength, worse.astype(np.float64))


def changes_between(before: Codes, after: Codes, strength: Any, cost: Any) -> Moves:
    """Return the rows whose prediction changes, with what a budget counts."""
    rows = np.flatnonzero(before != after)
    direction = (after[rows] == 1).astype(np.intp) - (before[rows] == 1)
    return Moves(rows, strength[rows], direction, cost[rows])


# -- what is checked before a retraining, and cross-fitted scores ----------------------------------
N_FOLDS = 5
"""Folds of the cross-fitted scores from which memory and band are decided."""

N_LABEL_ROWS = 256
"""Training rows that show which labels an incumbent without ``classes_`` predicts."""

N_HISTORY_ROWS = 2000
"""Rows of the new sample on which changes are counted for ``history_``."""


FEW_ROWS = (
    'memory="auto" and budgets decide on rows that are left out of the training in turn; give '
    "memory and band as numbers (memory=0.5), and no budget."
)
"""What to do where a sample is too small to leave rows out."""


def check_incumbent(incumbent: Any, X: Any, classes: NDArray[Any], names: Any) -> None:
    """Raise if the incumbent is not fitted, or has other columns or labels than the new sample."""
    if hasattr(incumbent, "__sklearn_tags__"):  # others only need to predict
        check_is_fitted(incumbent)
        if is_regressor(incumbent):
            raise ValueError(f"incumbent={incumbent!r} is a regressor: give a classifier.")
    check_columns(incumbent, X, names)
    labels = getattr(incumbent, "classes_", None)
    is_complete = labels is not None
    if labels is None:
        some = take_rows(X, np.arange(min(n_rows(X), N_LABEL_ROWS)))
        labels = predict_with(incumbent, some, None)
    known = set(np.asarray(labels).tolist())
    present = set(classes.tolist())
    only_incumbent = sorted(known - present, key=str)
    only_sample = sorted(present - known, key=str) if is_complete else []
    if only_incumbent or only_sample:
        raise ValueError(
            "labels of incumbent and y must match: "
            f"incumbent has {sorted(known, key=str)[:5]}, y has {sorted(present, key=str)[:5]}; "
            f"not in y: {only_incumbent[:5]}, unknown to incumbent: {only_sample[:5]}. Use one "
            "coding of the labels in both; if a class has no rows or is new, start a new chain "
            "(incumbent=None)."
        )


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


def chain_of(incumbent: Any) -> Chain | None:
    """Return the chain that an incumbent continues; any other model is the start of one."""
    if incumbent is None:
        return None
    chain = getattr(incumbent, "chain_", None)
    if isinstance(chain, Chain):
        return chain
    return Chain(Retraining(incumbent, 0.0, 0.0, None))


def memory_of(memory: float | str, chain: Chain) -> float:
    """Return the weight of the remembered score; "all": the mean of all models, up to a limit."""
    if memory == "all":
        n_models = 1 + len(chain.recent)
        return min(n_models / (n_models + 1.0), MAX_MEMORY)
    return float(memory)


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


def cross_fitted(
    base: Any,
    X: Any,
    y: NDArray[Any],
    rows: NDArray[np.intp],
    n_classes: int,
    band_unit: str,
    fit_params: dict[str, Any],
    groups: Any = None,
) -> ModelScore:
    """Return scores of the new estimator at some rows, each by a model that has not seen it."""
    n = len(y)
    values: Any = None
    scale: Any = None
    kind = ""
    for train, test in _folds(y, groups):
        wanted = test[np.isin(test, rows)]
        if not len(wanted):
            continue
        params = {name: _rows_of(value, train, n) for name, value in fit_params.items()}
        model = _fit_fold(base, take_rows(X, train), y[train], params, n_classes)
        found = model_score(model, take_rows(X, wanted), None, n_classes, band_unit)
        kind = found.kind
        assert found.score is not None
        if values is None:
            values = np.zeros((n, *found.score.shape[1:]))
            scale = np.ones(n)
        values[wanted] = found.score
        scale[wanted] = found.scale
    return ModelScore(kind, values[rows], scale[rows])


def _fit_fold(base: Any, X: Any, y: NDArray[Any], params: dict[str, Any], n_classes: int) -> Any:
    """Fit the estimator on all folds but one; errors say that the sample is too small for it."""
    if len(np.unique(y)) < n_classes:
        raise ValueError(
            "all rows of one class of y belong to a few groups that are left out together, so that "
            f"a fold has none: {FEW_ROWS}"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit on the whole sample warns
            return clone(base).fit(X, y, **params)
    except ValueError as error:
        raise ValueError(
            f"{type(base).__name__} cannot be fitted on a part of the sample ({len(y)} rows): "
            f"{error} If the rows are too few: {FEW_ROWS}"
        ) from error


def takes_groups(base: Any) -> bool:
    """Tell whether ``fit`` of an estimator, or of the one inside it, has the argument groups."""
    inner = getattr(base, "estimator", None)
    return any(has_fit_parameter(one, "groups") for one in (base, inner) if hasattr(one, "fit"))


def _folds(y: NDArray[Any], groups: Any) -> Any:
    if groups is not None:
        n_groups = len(np.unique(groups))
        if n_groups < 2:
            raise ValueError(f"all rows are of one group: {FEW_ROWS}")
        return GroupKFold(min(N_FOLDS, n_groups)).split(np.zeros(len(y)), y, groups)
    counts = np.unique(y, return_counts=True)[1]
    n_folds = min(N_FOLDS, int(counts[counts > 1].min()))
    fold = np.where(may_be_left_out(y, None), interleaved_folds(y, n_folds), -1)
    return [(np.flatnonzero(fold != n), np.flatnonzero(fold == n)) for n in range(n_folds)]


def may_be_left_out(y: NDArray[Any], groups: Any) -> NDArray[np.bool_]:
    """Tell which rows a fold may leave out: the only row of a class is always trained on.

    >>> may_be_left_out(np.array(["a", "a", "b"]), None).tolist()
    [True, True, False]
    """
    if groups is not None:
        return np.ones(len(y), dtype=bool)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    is_possible: NDArray[np.bool_] = counts[codes] > 1
    if not is_possible.any():
        raise ValueError(f"every class of y has a single row: {FEW_ROWS}")
    return is_possible


def interleaved_folds(y: NDArray[Any], n_folds: int) -> NDArray[np.intp]:
    """Return the fold of each row: rows of a class are dealt out in turn, as they come.

    Folds of neighbouring rows would leave out the newest months of a rolling window all at once.

    >>> interleaved_folds(np.array([0, 0, 1, 0, 1, 1]), 2).tolist()
    [0, 1, 0, 0, 1, 0]
    """
    fold = np.zeros(len(y), dtype=np.intp)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        fold[rows] = np.arange(len(rows)) % n_folds
    return fold


def _rows_of(value: Any, rows: NDArray[np.intp], n: int) -> Any:
    """Return the rows of an argument of ``fit`` that has one value per row."""
    is_per_row = hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n
    return take_rows(np.asarray(value), rows) if is_per_row else value


def row_weights(fit_params: dict[str, Any]) -> NDArray[np.float64] | None:
    """Return the weights of the rows; those of a pipeline carry the name of a step.

    >>> row_weights({"ridge__sample_weight": [1, 2]}).tolist()
    [1.0, 2.0]
    """
    names = [name for name in fit_params if name.split("__")[-1] == "sample_weight"]
    given = [fit_params[name] for name in names if np.ndim(fit_params[name]) == 1]
    return np.asarray(given[0], dtype=np.float64) if given else None


def spread_rows(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return at most `N_HISTORY_ROWS` of these rows, evenly spaced: their indices among them."""
    count = min(len(rows), N_HISTORY_ROWS)
    return np.linspace(0, len(rows) - 1, count).astype(np.intp)


def take_score(score: ModelScore, rows: NDArray[np.intp]) -> ModelScore:
    """Return the scores of some of the points."""
    values = None if score.score is None else score.score[rows]
    scale = score.scale if np.ndim(score.scale) == 0 else np.asarray(score.scale)[rows]
    return ModelScore(score.kind, values, scale)


def take_scores(found: ChainScores, rows: NDArray[np.intp]) -> ChainScores:
    """Return the scores of a chain at some of the points."""
    return ChainScores(found.start_codes[rows], tuple(take_score(s, rows) for s in found.scores))


def count_dropped(extended: Chain, found: ChainScores, new: ModelScore) -> int:
    """Count the rows whose prediction changes because old retrainings are dropped."""
    bounded = extended.bounded()
    n_dropped = len(extended.recent) - len(bounded.recent)
    if n_dropped == 0:
        return 0
    scores = (*found.scores, new)
    kept = ChainScores(found.start_codes, (scores[0], *scores[1 + n_dropped :]))
    full = replay_scores(extended, ChainScores(found.start_codes, scores))
    return int((replay_scores(bounded, kept).prediction != full.prediction).sum())


def today() -> str:
    """Return the date of a retraining, for ``history_``."""
    return datetime.now(UTC).date().isoformat()


# -- budgets of change -----------------------------------------------------------------------------
CONFIDENCE = 0.95
"""Confidence of the upper limit of the share of changes that comes with a band."""


class Budget(NamedTuple):
    """What may change between two models, as shares of the rows; None if anything may.

    Parameters
    ----------
    max_changes : float or None
        Predictions that may change.
    max_negative_flips : float or None
        Predictions that may change from right to wrong.
    keep_rate : float or None
        By how much the share of ``classes[1]`` among the predictions may move; two classes.
    """

    max_changes: float | None = None
    max_negative_flips: float | None = None
    keep_rate: float | None = None

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing is limited."""
        return all(value is None for value in self)

    def limits(self, n_rows: int) -> tuple[float, float, float]:
        """Return the budgets as numbers of rows.

        >>> Budget(max_changes=0.02).limits(300)
        (6.0, inf, inf)
        """
        # A share of whole rows must come out whole: 0.07 * 100 is 7.000000000000001.
        counts = [
            float("inf") if share is None else float(np.floor(share * n_rows * (1 + 1e-12)))
            for share in self
        ]
        if self.max_negative_flips is not None:
            counts[1] = self.max_negative_flips * n_rows  # expected flips need not be whole
        return counts[0], counts[1], counts[2]


class Moves(NamedTuple):
    """Rows whose prediction would change: evidence, direction, and how likely it is for the worse.

    Parameters
    ----------
    row : ndarray of int
        Which rows.
    strength : ndarray
        Evidence beyond the threshold, in units of the band.
    direction : ndarray of int
        1 towards ``classes[1]``, -1 away from it, 0 between other classes.
    cost : ndarray
        1 for a negative flip, 0 for none, or its probability.
    """

    row: Codes
    strength: Floats
    direction: Codes
    cost: Floats


def budget_band(moves: Moves, budget: Budget, n_rows: int, band: float) -> tuple[float, int]:
    """Return the smallest band that keeps a budget on held-out rows, and the changes left.

    >>> moves = Moves(np.arange(3), np.array([0.3, 0.2, 0.15]), np.ones(3, int), np.zeros(3))
    >>> budget_band(moves, Budget(max_changes=0.02), 100, 0.1)
    (0.15, 2)
    """
    order = np.argsort(-moves.strength, kind="stable")
    strength = moves.strength[order]
    changes, flips, rate = budget.limits(n_rows)
    count = np.arange(1, len(order) + 1)
    fits = (
        (count <= changes)
        & (np.cumsum(moves.cost[order]) <= flips)
        & (np.abs(np.cumsum(moves.direction[order])) <= rate)
    )
    # The next row is at the band and stays; so do ties with it.
    fits &= np.append(strength[:-1] > strength[1:], True) if len(order) else fits
    n_kept = int(np.flatnonzero(fits)[-1]) + 1 if fits.any() else 0
    if n_kept == len(order):
        return band, n_kept
    return float(max(band, strength[n_kept])), n_kept


def choose_changes(moves: Moves, budget: Budget, n_rows: int) -> NDArray[np.bool_]:
    """Tell which moves of one batch are made: the strongest first, none beyond the budget.

    A move that would push the share of ``classes[1]`` too far waits for one in the other
    direction.

    >>> moves = Moves(np.arange(3), np.array([0.3, 0.2, 0.1]), np.array([1, 1, -1]), np.zeros(3))
    >>> choose_changes(moves, Budget(keep_rate=0.0), 100).tolist()
    [True, False, True]
    """
    changes, flips, rate = budget.limits(n_rows)
    made = np.zeros(len(moves.row), dtype=bool)
    if rate < np.inf:  # pairs of opposite moves stand for each other
        return _balanced(moves, changes, flips, rate)
    n_made = 0
    spent = 0.0
    for index in np.argsort(-moves.strength, kind="stable"):
        if n_made + 1 > changes:
            break
        if spent + moves.cost[index] <= flips:
            made[index] = True
            n_made += 1
            spent += float(moves.cost[index])
    return made


def _balanced(moves: Moves, changes: float, flips: float, rate: float) -> NDArray[np.bool_]:
    """Make moves so that the rate is kept at every step: one by one, or in opposite pairs."""
    made = np.zeros(len(moves.row), dtype=bool)
    waiting: dict[int, deque[int]] = {1: deque(), -1: deque()}
    order = deque(np.argsort(-moves.strength, kind="stable").tolist())
    n_made = 0
    net = 0
    spent = 0.0
    while order:
        index = order.popleft()
        direction = int(moves.direction[index])
        group = [index]
        if abs(net + direction) > rate:
            if not waiting[-direction]:
                waiting[direction].append(index)
                continue
            group.append(waiting[-direction].popleft())
        cost = float(moves.cost[group].sum())
        if n_made + len(group) > changes or spent + cost > flips:
            continue
        made[group] = True
        n_made += len(group)
        spent += cost
        net += int(moves.direction[group].sum())
        if len(group) == 1 and waiting[-direction]:  # one that waits fits now
            order.appendleft(waiting[-direction].popleft())
    return made


def share_limit(n_changes: int, n_rows: int) -> float:
    """Return the upper confidence limit of the share of changes (Clopper and Pearson).

    >>> round(share_limit(20, 1000), 3)
    0.029
    """
    return float(binomial_limits(n_changes, n_rows, 2.0 * (1.0 - CONFIDENCE))[1])
