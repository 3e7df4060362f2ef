"""``replearn certify``: compute certificates again, and say whether runs are comparable."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from replearn.cli import DONE, GATE_FAILED, UNKNOWN, add_options, put, put_json
from replearn.cli.probe import read_probe, read_run
from replearn.guarantees import Certificate, Comparison, Probe, differing
from replearn.guarantees.steps import rounded_up

_ITEMS = ("task", "rho", "certified", "n", "key_fingerprint", "digest")
"""What JSON says of each certificate."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("files", nargs="+", help="certificates (JSON) or model files")
    parser.add_argument(
        "--probe",
        nargs="+",
        metavar="FILE",
        help="for each of the files: the probe rows as that lab encodes them, or their digest",
    )
    add_options(parser, bool, explain="the first certificate in words", json="print JSON")


def run(args: argparse.Namespace) -> int:
    """Check every certificate, compare all with the first, and tell."""
    runs = {path: read_run(path) for path in args.files}
    first, *others = runs
    probes = _probes(args.probe, runs)
    comparisons = {
        path: _compare(runs[first], runs[path], probes and (probes[first], probes[path]))
        for path in others
    }
    certificates = {path: certificate for path, (certificate, _) in runs.items()}
    if args.json:
        put_json(_as_json(certificates, comparisons))
    else:
        if comparisons:
            put(_verdict(comparisons))
        for path, certificate in certificates.items():
            put(f"{path}: {_in_words(certificate)}")
        for path, comparison in comparisons.items():
            put(f"{first} and {path}: {comparison}")
        if args.explain:
            put(f"\n{certificates[first].explain()}")
    return _CODES[_answer(comparisons)]


_CODES = {"yes": DONE, "no": GATE_FAILED, "unknown": UNKNOWN}


def _answer(comparisons: dict[str, Comparison]) -> str:
    predictions = [comparison.answer for comparison in comparisons.values()]
    return next(
        (prediction for prediction in ("no", "unknown") if prediction in predictions), "yes"
    )


def _verdict(comparisons: dict[str, Comparison]) -> str:
    """Return the prediction for all runs together, and what would make it yes."""
    prediction = _answer(comparisons)
    if prediction == "yes":
        asked = dict.fromkeys(text for c in comparisons.values() for text in c.asked)
        return f"yes: the runs are comparable{', if ' if asked else ''}{'; '.join(asked)}"
    reasons = [text for c in comparisons.values() if c.answer == prediction for text in c.reasons]
    items = "; ".join(dict.fromkeys(reasons))
    if prediction == "no":
        return f"no: it would be yes if the runs agreed on: {items}"
    return f"unknown: it would be yes if this were the same or known: {items}"


def _probes(files: list[str] | None, runs: dict[str, Any]) -> dict[str, Probe] | None:
    """Read the probe of each run."""
    if files is None:
        return None
    if len(files) != len(runs):
        raise ValueError(
            f"--probe has {len(files)} files for {len(runs)} runs: give one for each, in the same "
            "order."
        )
    pairs = zip(runs.items(), files, strict=True)
    return {path: read_probe(probe, *run) for (path, run), probe in pairs}


def _compare(
    one: tuple[Certificate, Any], two: tuple[Certificate, Any], probes: Any = None
) -> Comparison:
    """Compare also how two model files read a table: a pipeline of one's own does not tell."""
    comparison = one[0].comparable(two[0], probes=probes)
    mine = one[1]
    yours = two[1]
    if not (isinstance(mine, dict) and isinstance(yours, dict)) or mine == yours:
        return comparison
    kinds = f"kinds of the columns: {', '.join(differing(mine, yours))}"
    return replace(comparison, differences=(*comparison.differences, kinds))


def _in_words(certificate: Certificate) -> str:
    named = certificate.verdict.replace("not", "NOT")
    verdict = named if certificate.certified else f"{named} ({certificate.reason})"
    rho = "no rho" if certificate.rho is None else f"rho = {rounded_up(certificate.rho)}"
    return (
        f"{certificate.task}, {rho}, {verdict}, n = {certificate.n}, key "
        f"{certificate.key_fingerprint}; every number was computed again"
    )


def _as_json(
    certificates: dict[str, Certificate], comparisons: dict[str, Comparison]
) -> dict[str, Any]:
    return {
        "comparable": all(comparisons.values()),
        "certificates": [
            {"file": path, **{name: getattr(certificate, name) for name in _ITEMS}}
            for path, certificate in certificates.items()
        ],
        "comparisons": [
            {
                "file": path,
                "answer": comparison.answer,
                "reasons": list(comparison.reasons),
                "remarks": list(comparison.remarks),
                "asked": list(comparison.asked),
            }
            for path, comparison in comparisons.items()
        ],
    }
