"""From a result to a fingerprint: short, readable in a diff, independent of how it was called.

Plain values are compared exactly: labels, counts, texts, certified numbers (to 12 significant
digits). Values marked with `close` (probabilities, scores) come out of BLAS or of elementary
functions, which each CPU rounds in its own way: they may differ by 1e-9, relatively. What a
numerical optimiser returns is known only to the tolerance that it was given: `within` states how
far the results may be apart.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

SHOWN = 4
IN_CLEAR = 60
RELATIVE = 1e-9


@dataclass(frozen=True)
class Close:
    """Numbers that another machine may round differently."""

    value: Any
    tolerance: float = RELATIVE


def close(value: Any) -> Close:
    return Close(value)


def within(tolerance: float, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the same facts; those marked with `close` may differ by ``tolerance``."""
    return {
        name: Close(fact.value, tolerance) if isinstance(fact, Close) else fact
        for name, fact in facts.items()
    }


def fingerprint(value: Any) -> Any:
    """Return JSON values that stand for a result."""
    if isinstance(value, Close):
        array = np.asarray(value.value, dtype=np.float64)
        found = _close(array) if array.ndim else {"close": _plain(array.item())}
        return found if value.tolerance == RELATIVE else {**found, "within": value.tolerance}
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return _lines([" | ".join(map(_text, row)) for row in value])
    array = np.asarray(value)
    if array.ndim == 0:
        return _plain(array.item() if isinstance(value, np.generic | np.ndarray) else value)
    cells = [_plain(cell) for cell in array.ravel().tolist()]
    return {
        _type(array): list(array.shape),
        "first": cells[:SHOWN],
        "sha256": _digest(json.dumps(cells)),
    }


def differences(recorded: Any, found: Any) -> list[str]:
    """Say what differs between two fingerprints of one result; empty if nothing does."""
    if recorded == found:
        return []
    if isinstance(recorded, dict) and isinstance(found, dict):
        if "close" in recorded and recorded.keys() - {"within"} == found.keys() - {"within"}:
            return _far(recorded, found) if "sums" in recorded else _apart(recorded, found)
        return [
            f"{name}: {recorded.get(name)} was recorded, {found.get(name)} came out"
            for name in dict.fromkeys([*recorded, *found])
            if recorded.get(name) != found.get(name)
        ]
    if isinstance(recorded, list) and isinstance(found, list):
        missing = [f"missing: {line}" for line in recorded if line not in found]
        added = [f"new: {line}" for line in found if line not in recorded]
        return missing + added or ["the order of the lines is another"]
    return [f"{recorded!r} was recorded, {found!r} came out"]


def _close(array: np.ndarray) -> dict[str, Any]:
    flat = array.ravel()
    finite = np.where(np.isfinite(flat), flat, 0.0)
    weights = np.arange(1, len(flat) + 1) / max(len(flat), 1)
    sums = (finite, finite * weights, np.abs(finite))
    odd = {"not finite": "".join(map(_odd, flat[~np.isfinite(flat)]))}
    return {
        "close": list(array.shape),
        "first": [_plain(cell) for cell in flat[:SHOWN].tolist()],
        # all values alike, later ones more, all sizes: the last says what rounding may change
        "sums": [_plain(math.fsum(terms)) for terms in sums],
        **(odd if odd["not finite"] else {}),
        "sha256": _digest("\n".join(map(_text, flat.tolist()))),
    }


def _far(recorded: dict[str, Any], found: dict[str, Any]) -> list[str]:
    if recorded["sha256"] == found["sha256"]:
        return []
    told = [
        f"{name}: {recorded.get(name)} was recorded, {found.get(name)} came out"
        for name in ("close", "not finite")
        if recorded.get(name) != found.get(name)
    ]
    if told:
        return told
    tolerance = _tolerance(recorded, found)
    size = max(recorded["sums"][2], found["sums"][2])
    scale = 1e-3 if tolerance == RELATIVE else 1.0
    pairs = [(f"sum {index}", index, "sums", size) for index in range(3)]
    pairs += [(f"value {index}", index, "first", scale) for index in range(len(found["first"]))]
    return [
        f"{name}: {recorded[part][index]!r} was recorded, {found[part][index]!r} came out"
        for name, index, part, least in pairs
        if not _near(recorded[part][index], found[part][index], least, tolerance)
    ]


def _apart(recorded: dict[str, Any], found: dict[str, Any]) -> list[str]:
    old = recorded["close"]
    new = found["close"]
    near = _near(old, new, 1e-3, _tolerance(recorded, found))
    return [] if near else [f"{old!r} was recorded, {new!r} came out"]


def _tolerance(recorded: dict[str, Any], found: dict[str, Any]) -> float:
    """The smaller of both tolerances: a case cannot be loosened without being recorded anew."""
    return float(min(recorded.get("within", RELATIVE), found.get("within", RELATIVE)))


def _near(old: Any, new: Any, least: float, tolerance: float) -> bool:
    if isinstance(old, str) or isinstance(new, str):
        return bool(old == new)
    return math.isclose(old, new, rel_tol=tolerance, abs_tol=tolerance * least)


def _plain(value: Any) -> Any:
    """One cell as a JSON value; numbers with 12 significant digits."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(f"{value + 0.0:.12g}") if math.isfinite(value) else _odd(value)
    raise TypeError(f"{value!r} ({type(value).__name__}) has no fingerprint")


def _odd(value: float) -> str:
    return "nan" if math.isnan(value) else "+inf" if value > 0 else "-inf"


def _text(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    return f"{value + 0.0:.12g}" if isinstance(value, float) else str(value)


def _lines(lines: list[str]) -> Any:
    if len(lines) <= IN_CLEAR:
        return lines
    return {"lines": len(lines), "first": lines[:SHOWN], "sha256": _digest("\n".join(lines))}


def _type(array: np.ndarray) -> str:
    kinds = {"b": "truth", "i": "whole", "u": "whole", "f": "number"}
    return kinds.get(array.dtype.kind, "text")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
