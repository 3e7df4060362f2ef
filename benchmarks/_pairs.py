"""Pairs of labs, measured one by one and kept in a file, so that a run can go on where it ended."""

import json
import math
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """One pair: what was claimed, what was measured, what the certificates say."""

    claimed: float
    rate: float
    certified: bool
    answer: str
    probed: str | None = None
    refused: bool = False

    @property
    def trusted(self) -> float:
        """Flips that certificates vouch for: certified, and answered "yes" to the end."""
        return self.rate * (self.certified and (self.probed or self.answer).startswith("yes"))


def outcome_of(claimed: float, rate: float, runs: Any, probes: Any = None) -> Outcome:
    """Put the measurement and both certificates of a pair together."""
    one, two = runs
    probed = _answer(one.comparable(two, probes=probes)) if probes else None
    certified = one.certified and two.certified
    return Outcome(claimed, rate, certified, _answer(one.comparable(two)), probed)


def _answer(comparison: Any) -> str:
    if comparison.comparable == "yes" and comparison.unverified_conditions:
        return "yes, if"
    return comparison.comparable


@dataclass(frozen=True)
class Row:
    """One way to differ, over all pairs: the most trusting words of any pair are shown.

    ``trusted`` counts flips of those pairs only that are certified and answered "yes" to the end,
    as a share of all pairs: that is what the certificates vouch for.
    """

    name: str
    pairs: tuple[Outcome, ...]

    @property
    def silent(self) -> bool:
        """Whether more flips are vouched for than promised, by more than three standard errors."""
        trusted = [pair.trusted for pair in self.pairs]
        error = float(np.std(trusted) / math.sqrt(len(trusted)))
        return float(np.mean(trusted)) - 3 * error > self.pairs[0].claimed

    @property
    def flips(self) -> float:
        """Mean rate of the pairs; not a number if they were refused."""
        return float(np.mean([pair.rate for pair in self.pairs]))

    @property
    def answer(self) -> str:
        """The most trusting answer without a probe."""
        return _most_trusting(pair.answer for pair in self.pairs)

    @property
    def probed(self) -> str:
        """The most trusting answer with a probe, where there is one."""
        told = [pair.probed for pair in self.pairs if pair.probed]
        return _most_trusting(told) if told else "-"

    def __str__(self) -> str:
        refused = any(pair.refused for pair in self.pairs)
        certified = any(pair.certified for pair in self.pairs)
        verdict = "refused" if refused else "certified" if certified else "not certified"
        trusted = 0.0 if refused else float(np.mean([pair.trusted for pair in self.pairs]))
        numbers = f"{len(self.pairs):5d} {self.pairs[0].claimed:6.3f} {self.flips:6.3f}"
        words = f"{trusted:7.3f}  {verdict:14} {self.answer:8} {self.probed:8}"
        return f"{self.name:48} {numbers} {words}{'  SILENT' * (not refused and self.silent)}"


HEADER = (
    f"{'way to differ':48} {'pairs':>5} {'claim':>6} {'flips':>6} {'trusted':>7}  {'verdict':14} "
    f"{'answer':8} with probe"
)


def _most_trusting(answers: Iterable[str]) -> str:
    known = set(answers)
    return next(word for word in ("yes", "yes, if", "unknown", "no", "-") if word in known)


def add_arguments(parser: ArgumentParser, pairs: int) -> None:
    """Add the options of a run over pairs."""
    parser.add_argument("--pairs", type=int, default=pairs, help="pairs of labs for each row")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--store", type=Path, help="file that keeps each pair, to go on later")
    parser.add_argument(
        "--seconds", type=float, default=math.inf, help="start no pair after so many seconds"
    )


def run(rows: Mapping[str, Callable[[int], Outcome]], options: Namespace) -> int:
    """Measure the pairs that are missing and print the table; 1 if a row is broken and silent."""
    start, kept = time.monotonic(), _read(options.store)
    print(HEADER)
    silent = 0
    for name, pair_of in rows.items():
        if options.only not in name:
            continue
        for pair in range(options.pairs):
            late = time.monotonic() - start > options.seconds
            if (name, pair) in kept or late:
                continue
            kept[name, pair] = pair_of(pair)
            if options.store is not None:
                line = {"row": name, "pair": pair, **asdict(kept[name, pair])}
                with options.store.open("a") as file:
                    file.write(json.dumps(line) + "\n")
            if kept[name, pair].refused:
                break
        known = [kept[name, pair] for pair in range(options.pairs) if (name, pair) in kept]
        if known:
            row = Row(name, tuple(known))
            print(row, flush=True)
            silent += not known[0].refused and row.silent
    return int(silent > 0)


def _read(path: Path | None) -> dict[tuple[str, int], Outcome]:
    if path is None or not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {(line.pop("row"), line.pop("pair")): Outcome(**line) for line in lines}
