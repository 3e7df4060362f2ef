"""One contender of an audit as plain JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._contender_result import ContenderResult
from replearn.auditing._result import AuditResult
from replearn.auditing._statistics import (
    Estimate,
    mean_limits,
    quantile_limits,
    reliability,
    row_limits,
    strict_limits,
    tail_mean,
)

QUANTILES = {"p90": 0.9, "p99": 0.99, "max": 1.0}
LEAST_STABLE_SHARE = 0.01
RELIABILITY_EDGES = (0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5)
NEAR_THRESHOLD = 0.2
"""Under one key, rows that flip in at least this share of pairs are told."""

LEAST_GROUP_ROWS = 10
"""Subgroups with fewer test rows are left out."""

HISTOGRAM_EDGES = tuple(round(0.05 * i, 2) for i in range(21))


def summarize_contender(result: AuditResult, c: ContenderResult) -> dict[str, Any]:
    """Turn the pairs of one contender into JSON values.

    Parameters
    ----------
    result : AuditResult
        The audit.
    c : ContenderResult
        One of its contenders.

    Returns
    -------
    dict
        Documented on the page of the schema.
    """
    first = result.contenders[0]
    flips = c.flips
    return {
        "name": c.name,
        "description": c.description,
        "remark": c.remark,
        "flip_rate": {
            **_mean(result, flips),
            "strict": strict_limits(flips, result.delta).to_dict(),
        },
        "flip_rate_difference": None if c is first else _gain(result, flips - first.flips),
        "row_flips": {
            **{
                name: quantile_limits(flips, q, result.delta).to_dict()
                for name, q in QUANTILES.items()
            },
            "least_stable_share": LEAST_STABLE_SHARE,
            "least_stable_mean": tail_mean(flips, LEAST_STABLE_SHARE).to_dict(),
            "histogram": _histogram(c.frequency),
        },
        "by_class": _by(result, flips, _class_levels(result)),
        "by_subgroup": [
            {"subgroup": name, **line}
            for name, found in result.subgroups.items()
            for line in _by(result, flips, found)
        ],
        "accuracy": _accuracy(result, c),
        "accuracy_difference": None
        if c is first
        else _gain(result, (c.right - first.right).mean(axis=1)),
        "flips_against_truth": _against_truth(c),
        "instability_index": float(c.key_flips.mean()),
        "mape": _mape(c),
        "fixed_key": _fixed_key(result, c),
        "reliability": _reliability(c),
        "certificate": _certificate(result, c),
        "other_promises": list(c.promises),
        "notes": [{"text": text, "pairs": count} for text, count in c.notes],
    }


def _mean(result: AuditResult, values: NDArray[np.float64]) -> dict[str, float]:
    return mean_limits(values, result.delta, result.clusters).to_dict()


def _gain(result: AuditResult, differences: NDArray[np.float64]) -> dict[str, float]:
    return mean_limits(differences, result.delta, result.clusters, signed=True).to_dict()


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


Levels = tuple[list[str], NDArray[np.intp]]


def _class_levels(result: AuditResult) -> Levels:
    return [str(label) for label in result.classes], result.contenders[0].truth


def _by(result: AuditResult, flips: NDArray[np.float64], found: Levels) -> list[dict[str, Any]]:
    return [
        {"level": name, "rows": int(here.sum()), **estimate.to_dict()}
        for name, here, estimate in level_estimates(result, flips, found)
    ]


def level_estimates(
    result: AuditResult, values: NDArray[np.float64], found: Levels
) -> Iterator[tuple[str, NDArray[np.bool_], Estimate]]:
    """Yield name, test rows and mean with limits of each level that has enough rows."""
    names, places = found
    for place, name in enumerate(names):
        here = places == place
        if here.sum() >= LEAST_GROUP_ROWS:
            clusters = None if result.clusters is None else result.clusters[here]
            yield name, here, mean_limits(values[:, here], result.delta, clusters)


def _accuracy(result: AuditResult, c: ContenderResult) -> dict[str, float]:
    by_run = c.right.mean(axis=2)
    return {
        **_mean(result, c.right.mean(axis=1)),
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


def _fixed_key(result: AuditResult, c: ContenderResult) -> dict[str, Any] | None:
    if c.thresholds is None or c.law is None:
        return None
    frequency, lower, upper = row_limits(c.key_flips, result.delta)
    near = np.flatnonzero(frequency >= NEAR_THRESHOLD)
    near = near[np.argsort(-frequency[near], kind="stable")]
    return {
        "flip_rate": _mean(result, c.key_flips),
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


def _certificate(result: AuditResult, c: ContenderResult) -> dict[str, Any] | None:
    found = c.certificate
    if found is None:
        return None
    design = found.design
    return {
        "certified": found.certified,
        "reason": found.reason,
        "promise": found.promises[0],
        "notion": found.task,
        "rho": found.rho,
        "gamma": found.gamma,
        "limit_for_these_pairs": c.promise(result.design),
        "n": found.n,
        "unit": design.unit,
        "n_blocks": design.n_blocks,
        "block_size": design.block_size,
        "n_partitions": design.n_partitions,
        "key_fingerprint": found.key_fingerprint,
        "digest": found.digest,
        "assumptions": [item.text for item in found.assumptions],
        "void_because": list(c.incomparable)
        + [f"{name} in front of the replicable learner" for name in c.in_front],
    }
