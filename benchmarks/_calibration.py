"""Flips predicted by one fit beside those of fresh samples under the same key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from replearn import SharedKey
from replearn.bounds import ThresholdLaw, binomial_limits, flip_estimate, flip_limits

EDGES = (0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 1.0)
MIN_STABLE = 0.03
DELTA = 0.05


@dataclass(frozen=True)
class Comparison:
    """One predicting fit and one draw of the thresholds: a prediction and its fate per row."""

    fit: tuple[int, int]
    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    lower: NDArray[np.float64] | None = None
    upper: NDArray[np.float64] | None = None


def compare(
    cell: dict[str, Any],
    draw: int,
    n_thresholds: int,
    *,
    one_partition: bool = False,
    limits: bool = True,
) -> Iterator[Comparison]:
    """Predict from each sample, observe on the others, for several draws of the thresholds.

    A partition of a fit is a fit with one partition: with ``one_partition`` each draw of the
    thresholds takes the next one.
    """
    law, votes = ThresholdLaw.from_dict(cell["law"]), np.array(cell["votes"])
    for turn in range(n_thresholds):
        key = SharedKey(f"reliability {draw}").child("thresholds", turn)
        u = key.uniforms(np.arange(votes.shape[1]))
        taken = turn % votes.shape[2]
        counts = votes[:, :, taken : taken + 1] if one_partition else votes
        answers = u < law.probabilities[counts].mean(axis=2)
        for seen in range(len(counts)):
            fresh = [other for other in range(len(counts)) if other != seen]
            yield Comparison(
                (draw, seen),
                flip_estimate(law, counts[seen], u, joint=cell["joint"][seen]),
                (answers[fresh] != answers[seen]).mean(axis=0),
                *(flip_limits(law, counts[seen], u, delta=DELTA) if limits else ()),
            )


def by_fit(comparisons: Sequence[Comparison]) -> list[list[Comparison]]:
    """Group the draws of the thresholds of each predicting fit."""
    groups: dict[tuple[int, int], list[Comparison]] = {}
    for c in comparisons:
        groups.setdefault(c.fit, []).append(c)
    return list(groups.values())


def bins_of(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Bin by predicted probability; the spread of the error is that between predicting fits."""
    bins = []
    below = -1.0
    for edge in EDGES:
        sums = np.array([_sums(fit, below, edge) for fit in by_fit(comparisons)])
        sums = sums[sums[:, 0] > 0]
        if len(sums):
            rows = int(sums[:, 0].sum())
            predicted, observed, low, high = sums.sum(axis=0)[1:] / rows
            errors = (sums[:, 1] - sums[:, 2]) / sums[:, 0]
            # A whole flip more or less is chance: 0 of 10,000 is not below 1e-9.
            within = low - 1 / rows <= observed <= high + 1 / rows
            bins.append(
                {
                    "above": max(below, 0),
                    "up_to": edge,
                    "rows": rows,
                    "predicted": predicted,
                    "observed": observed,
                    "difference": predicted - observed,
                    "difference_sd": np.std(errors, ddof=1) if len(errors) > 1 else None,
                    "lower": low,
                    "upper": high,
                    "within": "yes" if within else "NO",
                }
            )
        below = edge
    return bins


def _sums(fit: Sequence[Comparison], below: float, edge: float) -> NDArray[np.float64]:
    """Sum rows, predictions, flips and limits over one fit's rows of a bin."""
    sums = np.zeros(5)
    for c in fit:
        inside = (c.predicted > below) & (c.predicted <= edge)
        columns = (c.predicted, c.observed, c.lower, c.upper)
        sums += [inside.sum(), *(column[inside].sum() for column in columns)]
    return sums


def share_of_flips(comparisons: Sequence[Comparison]) -> tuple[float, float]:
    """Share of the observed flips held by the rows that looked least stable, and its spread."""
    shares = []
    for fit in by_fit(comparisons):
        held = all_flips = 0.0
        for c in fit:
            size = max(1, round(MIN_STABLE * len(c.predicted)))
            least = np.argsort(-c.predicted, kind="stable")[:size]
            held, all_flips = held + c.observed[least].sum(), all_flips + c.observed.sum()
        if all_flips:
            shares.append(held / all_flips)
    spread = np.std(shares, ddof=1) if len(shares) > 1 else float("nan")
    return float(np.mean(shares)), float(spread)


def missed_limits(cell: dict[str, Any]) -> tuple[float, float]:
    """How often the limits of a row's vote share miss the share among the other samples.

    Each partition of each sample sets the limits once. Returns the share of rows missed, and the
    share expected if all blocks of all samples are exchangeable: given a row's votes in all
    samples, those in one are then hypergeometric, whatever the row's true share. With one
    partition the limits of the flip probability hold exactly when those of the share do. Rows on
    which all blocks agree are left out: their limits cannot miss.
    """
    votes = np.array(cell["votes"])
    n_blocks = ThresholdLaw.from_dict(cell["law"]).n_blocks
    n_all = len(votes) * n_blocks
    own, totals = np.arange(n_blocks + 1), np.arange(n_all + 1)[:, None]
    low, high = binomial_limits(own, n_blocks, DELTA)
    others = (totals - own) / (n_all - n_blocks)
    outside = (others < low) | (others > high)
    expected = (outside * hypergeom.pmf(own, n_all, totals, n_blocks)).sum(axis=1)
    total = votes.sum(axis=0)
    split = (total > 0) & (total < n_all)
    missed = np.mean([outside[total[split], mine[split]].mean() for mine in votes])
    return float(missed), float(expected[total[split]].mean())
