"""Runs of coin testers: pairs that share a key, and how often they differ or err."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from replearn_lab.experiment import Bench, Numbers
from replearn_lab.measuring import share
from replearn_lab.reductions import Coin, CoinDecision, PlantedCoinTester

Bias = Callable[[np.random.Generator], float]


def paired_predictions(
    bench: Bench, tester: PlantedCoinTester, bias: float | Bias, pairs: int, *name: str | int
) -> list[tuple[CoinDecision, CoinDecision]]:
    """Run a tester in pairs: one key and one coin for both runs, throws and rows of their own."""
    found = []
    for pair in range(pairs):
        bench.say(f"{' '.join(str(word) for word in name)}: pair {pair} of {pairs}")
        key = bench.key.child(*name, pair)
        p = bias(np.random.default_rng(key.seed_for("bias"))) if callable(bias) else bias
        runs = []
        for run in (0, 1):
            rng = bench.rng(*name, pair, run)
            runs.append(tester(Coin(p, rng), key, rng))
        found.append((runs[0], runs[1]))
    return found


def differences(pairs: list[tuple[CoinDecision, CoinDecision]]) -> list[float]:
    """Return the share of pairs that answer differently, with limits."""
    return share(sum(one.answer != two.answer for one, two in pairs), len(pairs))


def errors(pairs: list[tuple[CoinDecision, CoinDecision]], truth: int) -> list[float]:
    """Return the share of wrong answers, of first runs only: they are independent."""
    return share(sum(one.answer != truth for one, _ in pairs), len(pairs))


def mean_throws(pairs: list[tuple[CoinDecision, CoinDecision]]) -> float:
    """Return the mean number of throws of one run."""
    return float(np.mean([answer.throws for pair in pairs for answer in pair]))


def sweep(
    bench: Bench, testers: dict[str, Any], rows: list[int], ends: tuple[float, float], pairs: int
) -> list[Numbers]:
    """Measure flips at the fair coin and errors at both ends, for each number of rows.

    ``testers`` maps a name to a function of the number of rows that returns a tester.
    """
    found = []
    for name, make in testers.items():
        for m in rows:
            tester = make(m)
            fair = paired_predictions(bench, tester, 0.0, pairs, name, m, "fair")
            wrong = [
                errors(
                    paired_predictions(bench, tester, p, pairs, name, m, side), 1 if p > 0 else -1
                )
                for side, p in zip(("low", "high"), ends, strict=True)
            ]
            found.append(
                {
                    "learner": name,
                    "rows": m,
                    "expected_throws": tester.expected_throws,
                    "throws": mean_throws(fair),
                    "limit": tester.limit,
                    "limit_chance": tester.limit_chance,
                    "flips": differences(fair),
                    "error": max(wrong),
                }
            )
    return found
