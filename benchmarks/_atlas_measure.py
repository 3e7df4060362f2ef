"""What the flip atlas measures for one table and one model: retrainings, and remedies.

Both are audits (`replearn.audit`) with the same key, so that both have the same test rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from _atlas_tables import AtlasTable
from _base_learners import MODELS, base_estimator
from numpy.typing import NDArray

from replearn import audit
from replearn.auditing.audits import AuditResult
from replearn.auditing.limits import Estimate
from replearn.auditing.runs import ContenderResult
from replearn.bounds.numeric import binomial_limits

SHARES = (0.01, 0.1, 1.0)
"""Shares of the training rows that are new."""

VARY = ("new rows", "10 % new rows", "1 % new rows")
"""The same as the audit names them, the largest first."""

COIN_TOSS = 0.4
"""From this share of retrainings on, the audit calls a row close to a coin toss."""

REMEDIES = ("baseline", "bagging", "incumbent", "score")
CERTIFIED = "replicable"
MIN_CERTIFIED_ROWS = 1000
"""`PointwiseReplicableClassifier` is measured where each training has so many rows."""

DELTA = 0.05
TEST_SHARE = 0.3
DIGITS = 5


@dataclass(frozen=True)
class Effort:
    """How much is computed."""

    n_retrainings: int = 20
    n_remedy_pairs: int = 5
    max_train: int = 2000
    max_test: int = 1000
    n_random: int = 50
    n_unstable: int = 50
    certified_models: tuple[str, ...] = MODELS


def retrainings(table: AtlasTable, model: str, effort: Effort) -> dict[str, Any]:
    """Retrain one model on 1 %, 10 % and 100 % new rows: changed predictions, and persons."""
    result = _audit(table, model, effort, ["baseline"], effort.n_retrainings, VARY)
    baseline = result.contenders[0]
    counts = baseline.flips.sum(axis=0).astype(np.intp)
    coins = int((counts >= COIN_TOSS * effort.n_retrainings).sum())
    return {
        "pairs": result.design.n_pairs,
        "design": _design(result, table),
        "changed": [estimate(result.flip_rate(baseline.name, v)) for v in (*VARY[:0:-1], "")],
        "coin": _share_of_rows(coins, len(counts)),
        "counts": np.bincount(counts, minlength=effort.n_retrainings + 1).tolist(),
        "persons": _persons(result, table, counts, effort),
        **_usefulness(result, baseline),
    }


def remedies(table: AtlasTable, model: str, effort: Effort) -> dict[str, Any]:
    """Measure each remedy beside the model itself, on pairs of samples that share no row."""
    kinds = [*REMEDIES]
    if model in effort.certified_models and _train_size(table, effort) >= MIN_CERTIFIED_ROWS:
        kinds.append(CERTIFIED)
    result = _audit(table, model, effort, kinds, effort.n_remedy_pairs, "new rows")
    # The audit returns the contenders in an order of its own: each is found by its name.
    found = {_kind(contender): contender for contender in result.contenders}
    return {
        "pairs": result.design.n_pairs,
        "remedies": {name: _remedy(result, one) for name, one in found.items()},
    }


def _kind(contender: ContenderResult) -> str:
    """Return the name of a remedy in the data file, from the name that reports show."""
    starts = {"score thresholds": "score", "bagging": "bagging", "incumbent": "incumbent"}
    return next(
        (k for name, k in starts.items() if contender.name.startswith(name)), contender.name
    )


def _remedy(result: AuditResult, contender: ContenderResult) -> dict[str, Any]:
    certificate = contender.certificate
    return {
        "changed": estimate(result.flip_rate(contender.name)),
        "less": estimate(_difference(result, "flips", contender)),
        "gained": estimate(_difference(result, "accuracy", contender)),
        "seconds": round(float(contender.seconds.mean()), 3),
        "verdict": contender.promised_as if certificate is None else certificate.verdict,
        **_usefulness(result, contender),
    }


def _audit(
    table: AtlasTable, model: str, effort: Effort, kinds: list[str], n_pairs: int, vary: Any
) -> AuditResult:
    with warnings.catch_warnings():
        # Small blocks and rho that is not reached: the verdict is kept.
        warnings.simplefilter("ignore")
        return audit(
            base_estimator(model, table, None),
            table.X,
            table.y,
            contenders=kinds,
            n_pairs=n_pairs,
            vary=vary,
            test_size=_n_test(table, effort),
            train_size=_train_size(table, effort),
            subgroups=None,
            shared_key="flip-atlas",
            verbose=-1,
        )


def _n_test(table: AtlasTable, effort: Effort) -> int:
    return min(int(TEST_SHARE * len(table.y)), effort.max_test)


def _train_size(table: AtlasTable, effort: Effort) -> int:
    return min((len(table.y) - _n_test(table, effort)) // 2, effort.max_train)


def _design(result: AuditResult, table: AtlasTable) -> dict[str, Any]:
    truth = result.contenders[0].truth
    return {
        "rows": len(table.y),
        "columns": table.X.shape[1],
        "positives": round(float(table.y.mean()), DIGITS),
        "test": len(truth),
        "train": result.design.train_size,
        "majority": round(float(max(truth.mean(), 1 - truth.mean())), DIGITS),
    }


def _difference(result: AuditResult, what: str, contender: ContenderResult) -> Estimate:
    """Return a number minus that of the baseline, which differs from itself by nothing."""
    found = result.table.get(f"difference of {what}", contender.name)
    return Estimate(0.0, 0.0, 0.0) if found is None else found


def _usefulness(result: AuditResult, contender: ContenderResult) -> dict[str, Any]:
    names = {"accuracy": "accuracy", "balanced": "balanced accuracy", "auc": "AUC"}
    found = {name: result.table.get(what, contender.name) for name, what in names.items()}
    return {
        **{name: estimate(value) for name, value in found.items() if value is not None},
        "one_class": contender.predictions.constant is not None,
    }


def _share_of_rows(count: int, n_rows: int) -> list[float]:
    """Return a share of the test rows with exact limits over rows."""
    lower, upper = binomial_limits(np.array([count]), n_rows, DELTA)
    return estimate(Estimate(count / n_rows, float(lower[0]), float(upper[0])))


def estimate(value: Estimate) -> list[float]:
    """Return the value and its limits, rounded."""
    return [round(float(number), DIGITS) for number in (value.value, value.lower, value.upper)]


# -- persons ---------------------------------------------------------------------------------------
def _persons(
    result: AuditResult, table: AtlasTable, counts: NDArray[np.intp], effort: Effort
) -> list[dict[str, Any]]:
    """Some test rows drawn at random, then those that change most often among the others."""
    baseline = result.contenders[0]
    order = np.random.default_rng(2026).permutation(len(counts))
    drawn = order[: effort.n_random]
    others = order[effort.n_random :]
    unstable = others[np.argsort(-counts[others], kind="stable")][: effort.n_unstable]
    percents = percent_codes(baseline.predictions.codes, baseline.predictions.probabilities[..., 1])
    return [
        {
            "row": int(result.test[index]),
            "truth": int(baseline.truth[index]),
            "random": position < len(drawn),
            "history": history_text(percents[:, :, index]),
            "cells": cell_texts(table.shown.iloc[int(result.test[index])]),
        }
        for position, index in enumerate([*drawn, *unstable])
    ]


def percent_codes(predictions: NDArray[np.int32], chances: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return probabilities as 0 to 99, such that 50 and more means that yes is predicted.

    >>> percent_codes(np.array([1, 0, 1]), np.array([0.499, 0.5, 1.0])).tolist()
    [50, 49, 99]
    """
    percents = np.clip(np.floor(100 * chances), 0, 99).astype(np.intp)
    return np.where(predictions == 1, np.maximum(percents, 50), np.minimum(percents, 49))


def history_text(percents: NDArray[np.intp]) -> str:
    """Write one person's percents, shape (retrainings, 2), as two digits each.

    >>> history_text(np.array([[5, 99], [50, 49]]))
    '05995049'
    """
    return "".join(f"{percent:02d}" for percent in percents.ravel())


def cell_texts(row: Any) -> list[str]:
    """Write the shown columns of one row, numbers with few digits."""
    return [_cell_text(cell) for cell in row]


def _cell_text(cell: Any) -> str:
    if cell is None or cell != cell:  # the latter is not a number
        return "missing"
    return f"{cell:.5g}" if isinstance(cell, int | float | np.number) else str(cell)
