"""From numbers and findings to plain JSON values: what every report shows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn._version import __version__
from replearn.auditing._checks import Finding
from replearn.auditing._measurement import ContenderResult, Measurement
from replearn.auditing._statistics import (
    MIN_GROUP_ROWS,
    Estimate,
    quantile_limits,
    reliability,
    row_limits,
    strict_limits,
    tail_mean,
)
from replearn.auditing._usefulness import majority
from replearn.auditing._verdict import verdict
from replearn.auditing.instability import Retrainings

FORMAT = "replearn-audit"
VERSION = 1
QUANTILES = {"p90": 0.9, "p99": 0.99, "max": 1.0}
MIN_STABLE_SHARE = 0.01
RELIABILITY_EDGES = (0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5)
NEAR_THRESHOLD = 0.2
"""Under one key, rows that flip in at least this share of pairs are listed."""

HISTOGRAM_EDGES = tuple(round(0.05 * i, 2) for i in range(21))
VOTE_ITEMS = ("n", "unit", "n_blocks", "block_size", "n_partitions")
Levels = tuple[list[str], NDArray[np.intp]]


def summarize(result: Measurement, findings: Iterable[Finding]) -> dict[str, Any]:
    """Turn an audit into JSON values, as the page on the schema says; seconds in ``timings``."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "replearn": __version__,
        "about": {"model": result.contenders[0].kind, **result.about},
        "verdict": verdict(result),
        "cut_short": list(result.cut_short),
        "design": _design(result),
        "classes": [_json_label(label) for label in result.classes],
        "majority": majority(result.contenders[0].truth, result.classes),
        "contenders": [_contender(result, contender) for contender in result.contenders],
        "instability": [
            {"contender": c.name, **Retrainings.from_result(result, c.name).to_dict()}
            for c in result.contenders
            if c.probabilities is not None
        ],
        "least_stable_rows": _rows(result),
        "columns": list(result.columns),
        "findings": [finding.to_dict() for finding in findings],
        "timings": {
            "finished": result.finished,
            "wall_seconds": result.wall_seconds,
            "seconds_per_run": {c.name: float(c.seconds.mean()) for c in result.contenders},
        },
    }


def contender_lines(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one flat line of numbers per contender, for tables."""
    seconds = summary.get("timings", {}).get("seconds_per_run", {})
    return [
        {
            "contender": c["name"],
            "flip_rate": c["flip_rate"]["estimate"],
            "flip_rate_lower": c["flip_rate"]["lower"],
            "flip_rate_upper": c["flip_rate"]["upper"],
            "p99": c["row_flips"]["p99"]["estimate"],
            "max": c["row_flips"]["max"]["estimate"],
            "accuracy": c["accuracy"]["estimate"],
            "accuracy_sd": c["accuracy"]["sd"],
            **_useful_items(c["usefulness"]),
            "promised": None if c["certificate"] is None else c["certificate"]["rho"],
            "seconds": seconds.get(c["name"]),
        }
        for c in summary["contenders"]
    ]


def rare_class(useful: dict[str, Any]) -> dict[str, Any]:
    """Return what is told of the class that is most easily missed: of two classes the rarer one.

    Of several classes the one with the lowest recall.
    """
    name = "rarest_class" if len(useful["classes"]) <= 2 else "worst_class"
    return next(c for c in useful["classes"] if c["label"] == useful[name])


def _useful_items(useful: dict[str, Any]) -> dict[str, Any]:
    """Estimates only, for a line of a table."""
    rare = rare_class(useful)
    items = {name: useful[name] for name in ("balanced_accuracy", "auc", "brier", "log_loss")}
    items |= {name: rare[name] for name in ("recall", "precision")}
    told = {name: None if e is None else e["estimate"] for name, e in items.items()}
    return {**told, "recall_of": rare["label"]}


def _design(result: Measurement) -> dict[str, Any]:
    design = result.design
    return {
        "n_rows": design.n_rows,
        "n_test": design.n_test,
        "n_pairs": design.n_pairs,
        "pairs_wanted": result.pairs_wanted,
        "train_size": design.train_size,
        "sample": design.sample,
        "unit": design.unit,
        "independent_pairs": design.independent_pairs,
        "limits_hold_for": design.limits_hold_for,
        "delta": result.delta,
        "rho": result.rho,
        "key_fingerprint": design.key_fingerprint,
    }


def _rows(result: Measurement) -> list[dict[str, Any]]:
    limits = {c.name: row_limits(c.flips, result.delta) for c in result.contenders}
    return [
        {
            "row": int(result.test[i]),
            "label": str(result.classes[result.contenders[0].truth[i]]),
            "flips": {name: _of_row(limit, i) for name, limit in limits.items()},
            "cells": list(result.cells[index]),
        }
        for index, i in enumerate(result.shown_rows)
    ]


def _of_row(limits: tuple[NDArray[np.float64], ...], row: int) -> dict[str, float]:
    return Estimate(*(float(values[row]) for values in limits)).to_dict()


def _json_label(label: Any) -> Any:
    try:
        json.dumps(label)
    except TypeError:
        return str(label)
    return label


def _contender(result: Measurement, c: ContenderResult) -> dict[str, Any]:
    first = result.contenders[0]
    classes = [str(label) for label in result.classes], first.truth
    return {
        "name": c.name,
        "description": c.description,
        "remark": c.remark,
        "measured_as": c.measured_as,
        "flip_rate": {
            **result.mean(c.flips).to_dict(),
            "strict": strict_limits(c.flips, result.delta).to_dict(),
        },
        "flip_rate_difference": None if c is first else _gain(result, c.flips - first.flips),
        "row_flips": _row_flips(result, c),
        "by_class": _by(result, c.flips, classes),
        "by_subgroup": [
            {"subgroup": name, **line}
            for name, levels in result.subgroups.items()
            for line in _by(result, c.flips, levels)
        ],
        "accuracy": _accuracy(result, c),
        "accuracy_difference": None
        if c is first
        else _gain(result, (c.right - first.right).mean(axis=1)),
        "usefulness": result.usefulness(c.name).to_dict(),
        "flips_against_truth": _against_truth(c),
        "instability_index": float(c.key_flips.mean()),
        "mape": _mape(c),
        "fixed_key": _fixed_key(result, c),
        "reliability": _reliability(c),
        "certificate": _certificate(result, c),
        "other_promises": list(c.promises),
        "promised_as": c.promised_as,
        "notes": [{"text": text, "pairs": count} for text, count in c.notes],
    }


def _gain(result: Measurement, differences: NDArray[np.float64]) -> dict[str, float]:
    return result.mean(differences, within=(-1.0, 1.0)).to_dict()


def _row_flips(result: Measurement, c: ContenderResult) -> dict[str, Any]:
    quantiles = {name: quantile_limits(c.flips, q, result.delta) for name, q in QUANTILES.items()}
    return {
        **{name: estimate.to_dict() for name, estimate in quantiles.items()},
        "least_stable_share": MIN_STABLE_SHARE,
        "least_stable_mean": tail_mean(c.flips, MIN_STABLE_SHARE).to_dict(),
        "histogram": _histogram(c.frequency),
    }


def _histogram(frequency: NDArray[np.float64]) -> dict[str, Any]:
    """Rows that never flip, and the others by flip frequency."""
    edges = np.array(HISTOGRAM_EDGES)
    edges[0] = 1e-12
    counts, _ = np.histogram(frequency, bins=edges)
    return {
        "never": int((frequency < edges[0]).sum()),
        "edges": list(HISTOGRAM_EDGES),
        "counts": counts.tolist(),
    }


def _by(result: Measurement, flips: NDArray[np.float64], levels: Levels) -> list[dict[str, Any]]:
    """Mean with limits of each level that has enough test rows."""
    rows = [(name, levels[1] == index) for index, name in enumerate(levels[0])]
    return [
        {"level": name, "rows": int(here.sum()), **result.mean(flips, rows=here).to_dict()}
        for name, here in rows
        if here.sum() >= MIN_GROUP_ROWS
    ]


def _accuracy(result: Measurement, c: ContenderResult) -> dict[str, float]:
    by_run = c.right.mean(axis=2)
    return {
        **result.mean(c.right.mean(axis=1)).to_dict(),
        "sd": float(by_run.std(ddof=1)),
        "lowest": float(by_run.min()),
        "highest": float(by_run.max()),
    }


def _against_truth(c: ContenderResult) -> dict[str, float]:
    """Flips from the first run to the second, as if it were the model that replaces it."""
    became_wrong = float((c.right[:, 0] - c.both_right).mean())
    became_right = float((c.right[:, 1] - c.both_right).mean())
    return {
        "right_to_wrong": became_wrong,
        "wrong_to_right": became_right,
        "wrong_to_wrong": max(0.0, float(c.flips.mean()) - became_wrong - became_right),
    }


def _mape(c: ContenderResult) -> dict[str, float] | None:
    """Mean absolute difference of the probability of the last class, and its worst row."""
    if c.probabilities is None:
        return None
    gaps = np.abs(c.probabilities[:, 0, :, -1] - c.probabilities[:, 1, :, -1]).mean(axis=0)
    return {"mean": float(gaps.mean()), "p99": float(np.quantile(gaps, 0.99))}


def _fixed_key(result: Measurement, c: ContenderResult) -> dict[str, Any] | None:
    if c.thresholds is None or c.law is None:
        return None
    frequency, lower, upper = row_limits(c.key_flips, result.delta)
    near = np.flatnonzero(frequency >= NEAR_THRESHOLD)
    near = near[np.argsort(-frequency[near], kind="stable")]
    return {
        "flip_rate": result.mean(c.key_flips).to_dict(),
        "flips_at_least": NEAR_THRESHOLD,
        "rows_near_threshold": len(near),
        "share_near_threshold": len(near) / len(frequency),
        "rows": [
            {
                "row": int(result.test[i]),
                "frequency": float(frequency[i]),
                "lower": float(lower[i]),
                "upper": float(upper[i]),
                "law_value": float(c.law[:, :, i].mean()),
                "threshold": float(c.thresholds[0, i]),
            }
            for i in near[:20]
        ],
    }


def _reliability(c: ContenderResult) -> list[dict[str, Any]] | None:
    if c.predicted_flips is None:
        return None
    observed = np.repeat(c.key_flips[:, np.newaxis], 2, axis=1)
    return reliability(c.predicted_flips, observed, RELIABILITY_EDGES)


def _certificate(result: Measurement, c: ContenderResult) -> dict[str, Any] | None:
    if c.certificate is None:
        return None
    certificate = c.certificate
    vote = c.certificate.design
    assert vote is not None, "only certificates of votes are kept"
    in_front = [f"{name} in front of the replicable estimator" for name in c.in_front]
    return {
        "certified": certificate.certified,
        "reason": certificate.reason,
        "promise": certificate.promises[0],
        "notion": certificate.task,
        "rho": certificate.rho,
        "gamma": certificate.gamma,
        **{name: getattr(vote, name) for name in VOTE_ITEMS},
        "key_fingerprint": certificate.key_fingerprint,
        "digest": certificate.digest,
        "assumptions": [item.text for item in certificate.assumptions],
        "limit_for_these_pairs": c.promise(result.design),
        "void_because": [*c.incomparable, *in_front],
    }
