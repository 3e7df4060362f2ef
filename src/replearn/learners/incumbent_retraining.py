"""One retraining of a chain: its memory and band, and its entry of ``history_``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from replearn.learners.incumbent_budget import Budget, Moves, budget_band, share_limit
from replearn.learners.incumbent_chain import (
    Chain,
    ModelScore,
    Retraining,
    chain_scores,
    model_score,
    replay_scores,
)
from replearn.learners.incumbent_fit import (
    FEW_ROWS,
    count_dropped,
    cross_fitted,
    may_be_left_out,
    memory_of,
    row_weights,
    spread_rows,
    take_score,
    take_scores,
    today,
)
from replearn.learners.incumbent_memory import (
    DRIFTED,
    HELD_BACK,
    RESET,
    WAITING,
    Errors,
    Metric,
    choose_setting,
    decide,
    got_worse,
    settings_to_try,
)
from replearn.learners.incumbent_rule import (
    Codes,
    Floats,
    Replay,
    Setting,
    evidence_of,
    margins,
    mix,
)
from replearn.tables import take_rows


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
