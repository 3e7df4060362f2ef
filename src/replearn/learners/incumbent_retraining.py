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
    count_dropped,
    cross_fitted,
    memory_of,
    spread_rows,
    take_score,
    take_scores,
    today,
)
from replearn.learners.incumbent_memory import (
    N_POOLED,
    RESET,
    Loss,
    Metric,
    choose_setting,
    decide,
    ladder,
)
from replearn.learners.incumbent_rule import Codes, Replay, Setting, evidence_of, margins, mix
from replearn.tables import take_rows


class NewSample(NamedTuple):
    """The sample of a retraining."""

    X: Any
    codes: Codes
    classes: NDArray[Any]
    rows: NDArray[np.intp]  # on which memory and band are decided
    fit_params: dict[str, Any]


class Options(NamedTuple):
    """The parameters that decide how a retraining treats what is remembered."""

    memory: float | str
    band: float
    threshold: float
    band_unit: str
    budget: Budget
    max_loss: float
    metric: Metric | None
    earlier: tuple[Loss, ...] = ()  # of the longest memory at the last retrainings

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
    rows = sample.rows
    if not options.from_data:
        rows = rows[spread_rows(rows)]
    points = take_rows(sample.X, rows)
    found = chain_scores(previous, points, None, sample.classes, options.band_unit)
    remembered = replay_scores(previous, found)
    n_classes = len(sample.classes)
    if options.from_data:
        labels = sample.classes[sample.codes]
        new = cross_fitted(
            base, sample.X, labels, rows, n_classes, options.band_unit, sample.fit_params
        )
    else:
        new = model_score(model, points, None, n_classes, options.band_unit)
    if found.scores[-1].kind != new.kind:
        remembered = remembered._replace(score=None)
    setting, entry = _setting(previous, remembered, new, sample.codes[rows], sample, options)
    assert new.score is not None
    prediction = decide(remembered, new.score, setting, new.scale)
    extended = previous.extended(Retraining(model, *setting))
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


def _setting(
    previous: Chain,
    remembered: Replay,
    new: ModelScore,
    codes: Codes,
    sample: NewSample,
    options: Options,
) -> tuple[Setting, dict[str, Any]]:
    """Return memory, band and threshold: as given, or decided on these rows."""
    assert new.score is not None
    entry: dict[str, Any] = {}
    if options.memory == "auto":
        weights = sample.fit_params.get("sample_weight")
        choice = choose_setting(
            remembered,
            new.score,
            codes,
            ladder(options.band, options.threshold),
            max_loss=options.max_loss,
            metric=options.metric,
            weights=None if weights is None else np.asarray(weights, dtype=float)[sample.rows],
            scale=new.scale,
            earlier=options.earlier,
        )
        setting = choice.setting
        entry |= {
            "loss": choice.loss.value,
            "loss_limit": choice.loss.upper,
            "longest_memory": choice.longest._asdict(),
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
    return setting._replace(band=band), entry


def earlier_losses(history: Sequence[dict[str, Any]]) -> tuple[Loss, ...]:
    """Return the losses of the longest memory since the chain has started."""
    losses: list[Loss] = []
    for entry in history:
        if entry.get("alarm") == RESET:
            losses = []
        elif "longest_memory" in entry:
            losses.append(Loss(**entry["longest_memory"]))
    return tuple(losses[-N_POOLED:])


def _alarm(choice: Any) -> str | None:
    """Say that what is remembered does worse than retraining, if it does."""
    if choice.is_reset:
        return RESET
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
