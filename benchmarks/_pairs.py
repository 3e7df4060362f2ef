"""Pairs of labs, measured one by one and kept in a file, so that a run can go on where it ended."""

import json
import math
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

VERDICTS = ("certified", "estimated", "warned", "not certified", "refused")
"""Verdicts of a pair, the most trusting first; "warned": `fit` says that rho is not reached."""

RESULTS = ("yes", "yes, if", "unknown", "no", "-")
"""Results of a comparison, the most trusting first."""


LISTED = {
    "labels exchanged": "labels mean the same in both samples",
    "E2 five jittered copies": "rows are independent draws",
    "E2 one to nine jittered copies": "rows are independent draws",
    "E2 panel with a number": "rows are independent draws",
    "E2 panel, numbers as index": "rows are independent draws",
    "E2 panel without a number": "rows are independent draws",
}
"""Rows that break a condition which every comparison lists, and which no probe tells."""


@dataclass(frozen=True)
class Outcome:
    """One pair: what was promised, what was measured, what the certificates say."""

    claimed: float
    rate: float
    verdict: str
    result: str
    probed: str | None = None

    @property
    def trusted(self) -> float:
        """Flips that certificates vouch for: certified or estimated, and "yes" to the end."""
        last = self.probed or self.result
        return self.rate * (self.verdict in VERDICTS[:2] and last.startswith("yes"))


def outcome_of(claimed: float, rate: float, runs: Any, probes: Any = None) -> Outcome:
    """Put the measurement and both certificates of a pair together."""
    one, two = runs
    probed = _result(one.comparable(two, probes=probes)) if probes else None
    verdict = max((run.verdict for run in runs), key=VERDICTS.index)
    return Outcome(claimed, rate, verdict, _result(one.comparable(two)), probed)


def _result(comparison: Any) -> str:
    if comparison.comparable == "yes" and comparison.unverified_conditions:
        return "yes, if"
    return comparison.comparable


@dataclass(frozen=True)
class Row:
    """One way to differ, over all pairs: the most trusting words of any pair are shown.

    ``trusted`` counts flips of those pairs only that are vouched for, as a share of all pairs.
    """

    name: str
    pairs: tuple[Outcome, ...]

    @property
    def claimed(self) -> float:
        """Mean promise of the pairs."""
        return float(np.mean([pair.claimed for pair in self.pairs]))

    @property
    def flips(self) -> float:
        """Mean rate of the pairs; not a number if they were refused."""
        return float(np.mean([pair.rate for pair in self.pairs]))

    @property
    def trusted(self) -> float:
        """Mean rate that certificates vouch for."""
        return 0.0 if self.verdict == "refused" else float(np.mean(self._trusted))

    @property
    def silent(self) -> bool:
        """Whether more flips are vouched for than promised, by more than three standard errors."""
        if len(self.pairs) < 2 or self.name in LISTED:
            return False
        error = float(np.std(self._trusted, ddof=1) / math.sqrt(len(self.pairs)))
        return self.trusted - 3 * error > self.claimed

    @property
    def verdict(self) -> str:
        """The most trusting verdict."""
        return _first(VERDICTS, (pair.verdict for pair in self.pairs))

    @property
    def result(self) -> str:
        """The most trusting result without a probe."""
        return _first(RESULTS, (pair.result for pair in self.pairs))

    @property
    def probed(self) -> str:
        """The most trusting result with a probe, where there is one."""
        return _first(RESULTS, (pair.probed or "-" for pair in self.pairs))

    @property
    def _trusted(self) -> list[float]:
        return [pair.trusted for pair in self.pairs]

    def __str__(self) -> str:
        numbers = f"{len(self.pairs):5d} {self.claimed:6.3f} {self.flips:6.3f} {self.trusted:7.3f}"
        words = f"{self.verdict:14} {self.result:8} {self.probed:8}"
        return f"{self.name:48} {numbers}  {words}{'  SILENT' * self.silent}"

    def markdown(self) -> str:
        """Return the row as it stands in docs/honesty.md."""
        if self.verdict == "refused":
            return f"| {self.name} | {self.claimed:.3f} |  |  | refused |  |  |"
        words = (self.verdict, self.result, self.probed)
        cells = " | ".join("" if word == "-" else word for word in words)
        numbers = f"{self.claimed:.3f} | {self.flips:.3f} | {self.trusted:.3f}"
        return f"| {self.name} | {numbers} | {cells} |{' SILENT' * self.silent}"


HEADER = (
    f"{'way to differ':48} {'pairs':>5} {'claim':>6} {'flips':>6} {'trusted':>7}  {'verdict':14} "
    f"{'result':8} {'probe':8}"
)


def _first(order: Sequence[str], words: Iterable[str]) -> str:
    known = set(words)
    return next(word for word in order if word in known)


def add_arguments(parser: ArgumentParser, pairs: int) -> None:
    """Add the options of a run over pairs."""
    parser.add_argument("--pairs", type=int, default=pairs, help="pairs of labs for each row")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--store", type=Path, help="file that keeps each pair, to go on later")
    parser.add_argument(
        "--seconds", type=float, default=math.inf, help="start no pair after so many seconds"
    )
    parser.add_argument("--markdown", action="store_true", help="print rows for docs/honesty.md")


def run(rows: Mapping[str, Callable[[int], Outcome]], options: Namespace) -> int:
    """Measure the pairs that are missing and print the table; 1 if a row is broken and silent."""
    start = time.monotonic()
    kept = _read(options.store)
    silent = 0
    if not options.markdown:
        print(HEADER)
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
            if kept[name, pair].verdict == "refused":
                break
        known = [kept[name, pair] for pair in range(options.pairs) if (name, pair) in kept]
        if known:
            row = Row(name, tuple(known))
            print(row.markdown() if options.markdown else row, flush=True)
            silent += row.silent
    return int(silent > 0)


def _read(path: Path | None) -> dict[tuple[str, int], Outcome]:
    if path is None or not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {(line.pop("row"), line.pop("pair")): Outcome(**line) for line in lines}
