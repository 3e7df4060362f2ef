"""``replearn certify``: compute certificates again, and say whether runs are comparable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from replearn.cli import (
    DONE,
    GATE_FAILED,
    UNKNOWN,
    Action,
    CommandOptions,
    argument,
    flag,
    option,
    put,
    put_json,
)
from replearn.cli.probe import read_probe, read_run
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.comparison import Comparison, differing
from replearn.guarantees.promise import rounded_up

_ITEMS = ("task", "certified", "verdict", "n", "key_fingerprint", "digest")
"""What JSON says of each certificate."""


@dataclass(frozen=True, kw_only=True)
class CertifyOptions(CommandOptions):
    """Options of the command."""

    COMMON = ("probe", "explain", "json")
    EXAMPLES = (
        "replearn certify m.replearn --explain",
        "replearn certify a.json b.json --probe probe-a.csv probe-b.csv",
    )

    files: tuple[str, ...] = argument(
        "certificates (JSON) or model files", nargs="+", metavar="FILE"
    )
    probe: tuple[str, ...] | None = option(
        "for each of the files: the probe rows as that lab encodes them, or their digest",
        "FILE",
        nargs="+",
        action="extend",
    )
    explain: bool = flag("print the first certificate in words")
    json: bool = flag("print JSON")


def run(options: CertifyOptions) -> int:
    """Check every certificate, compare all with the first, and tell."""
    _check_files(options)
    runs = {path: read_run(path) for path in options.files}
    first, *others = runs
    probes = {
        path: read_probe(file, runs[path][0], runs[path][1].get("columns"))
        for path, file in _one_for_each("--probe", options.probe, runs).items()
    }
    comparisons = {
        path: _compare(
            runs[first],
            runs[path],
            probes=(probes[first], probes[path]) if probes else None,
        )
        for path in others
    }
    certificates = {path: certificate for path, (certificate, _) in runs.items()}
    if options.json:
        put_json(_as_json(certificates, comparisons))
    else:
        if comparisons:
            put(_verdict(comparisons))
        for path, certificate in certificates.items():
            put(f"{path}: {_in_words(certificate)}")
        for path, comparison in comparisons.items():
            put(f"{first} and {path}: {comparison}")
        if options.explain:
            put(f"\n{certificates[first].explain()}")
    return _CODES[_together(comparisons)]


def _check_files(options: CertifyOptions) -> None:
    """Refuse files that nothing can be compared with."""
    twice = [path for path, count in Counter(options.files).items() if count > 1]
    if twice:
        raise ValueError(f"{twice[0]} is named twice: a run is compared with another one.")
    if options.probe is not None and len(options.files) < 2:
        raise ValueError("--probe compares runs: name the files of two or more.")


_CODES = {"yes": DONE, "no": GATE_FAILED, "unknown": UNKNOWN}


def _together(comparisons: dict[str, Comparison]) -> str:
    """Return "yes", "no" or "unknown" for all runs together."""
    found = {comparison.comparable for comparison in comparisons.values()}
    return next((result for result in ("no", "unknown") if result in found), "yes")


def _verdict(comparisons: dict[str, Comparison]) -> str:
    """Say whether all runs are comparable, and why they are not."""
    result = _together(comparisons)
    if result == "yes":
        conditions = dict.fromkeys(
            text for c in comparisons.values() for text in c.unverified_conditions
        )
        condition = f", provided {'; '.join(conditions)}" if conditions else ""
        return f"yes: the runs are comparable{condition}"
    reasons = [text for c in comparisons.values() if c.comparable == result for text in c.reasons]
    items = "; ".join(dict.fromkeys(reasons))
    if result == "no":
        return f"no: not comparable, the runs differ in: {items}"
    return f"unknown: whether the runs are comparable depends on: {items}"


def _one_for_each(option: str, files: Sequence[str] | None, runs: dict[str, Any]) -> dict[str, str]:
    """Return the file of each run; none without the option."""
    if files is None:
        return {}
    if len(files) != len(runs):
        raise ValueError(
            f"{option} has {len(files)} files for {len(runs)} runs: give one for each, in the same "
            "order."
        )
    return dict(zip(runs, files, strict=True))


def _compare(
    one: tuple[Certificate, Mapping[str, Any]],
    two: tuple[Certificate, Mapping[str, Any]],
    **evidence: Any,
) -> Comparison:
    """Compare also how two model files read a table, which their certificates do not say."""
    comparison = one[0].comparable(two[0], **evidence)
    mine = one[1]
    yours = two[1]
    if "columns" not in mine or "columns" not in yours:
        return comparison
    differences = list(comparison.differences)
    unknowns = list(comparison.unknowns)
    if mine["columns"] != yours["columns"]:
        kinds = differing(mine["columns"], yours["columns"])
        differences.append(f"kinds of the columns: {', '.join(kinds)}")
    for name, words in (("id", "thresholds are derived from (--id)"), ("target", "target")):
        here = mine.get(name)
        there = yours.get(name)
        if here != there:
            # Two names may be one thing; thresholds of ids and of features are not.
            found = unknowns if here and there else differences
            found.append(f"{words}: {_named(here)} here, {_named(there)} there")
    return replace(comparison, differences=tuple(differences), unknowns=tuple(unknowns))


def _named(column: str | None) -> str:
    return "the features" if column is None else f"column {column!r}"


def _in_words(certificate: Certificate) -> str:
    named = certificate.verdict.replace("not", "NOT")
    verdict = named if certificate.certified else f"{named} ({certificate.reason})"
    promised = _promised_rho(certificate)
    rho = "no rho" if promised is None else f"rho = {rounded_up(promised)}"
    return (
        f"{certificate.task}, {rho}, {verdict}, n = {certificate.n}, key "
        f"{certificate.key_fingerprint}; every number was computed again"
    )


def _promised_rho(certificate: Certificate) -> float | None:
    """Return rho; None where the data refute a condition, so that nothing is promised."""
    return None if certificate.failed_conditions else certificate.rho


def _as_json(
    certificates: dict[str, Certificate], comparisons: dict[str, Comparison]
) -> dict[str, Any]:
    return {
        "comparable": all(comparisons.values()),
        "certificates": [
            {
                "file": path,
                "rho": _promised_rho(certificate),
                **{name: getattr(certificate, name) for name in _ITEMS},
            }
            for path, certificate in certificates.items()
        ],
        "comparisons": [
            {
                "file": path,
                "comparable": comparison.comparable,
                "reasons": list(comparison.reasons),
                "remarks": list(comparison.remarks),
                "unverified_conditions": list(comparison.unverified_conditions),
            }
            for path, comparison in comparisons.items()
        ],
    }


COMMAND = Action(CertifyOptions, run, "verify certificates; check whether runs are comparable")
