"""``replearn certify``: compute certificates again, and say whether they are one promise."""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path
from typing import Any

from replearn.cli._console import DONE, GATE_FAILED, put, put_json
from replearn.exceptions import CertificateError
from replearn.guarantees import Certificate
from replearn.guarantees._comparison import Comparison
from replearn.guarantees._primitive_certificate import PrimitiveCertificate
from replearn.persistence import describe
from replearn.records.json import digest_of, read_object
from replearn.records.text import rounded_up

AnyCertificate = Certificate | PrimitiveCertificate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("files", nargs="+", help="certificates (JSON) or model files")
    parser.add_argument("--explain", action="store_true", help="the first certificate in words")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Check every certificate, compare all with the first, and tell."""
    found = {path: read_certificate(path) for path in args.files}
    first, *others = found
    compared = {
        path: _with_columns(compare(found[first], found[path]), first, path) for path in others
    }
    if args.json:
        put_json(_as_json(found, compared))
    else:
        for path, certificate in found.items():
            put(f"{path}: {_in_words(certificate)}")
        for path, comparison in compared.items():
            put(f"{first} and {path}: {comparison}")
        if args.explain:
            put(f"\n{_explained(found[first])}")
    return DONE if all(compared.values()) else GATE_FAILED


def read_certificate(path: str) -> AnyCertificate:
    """Read a certificate, or that of a model file, and compute it again."""
    if zipfile.is_zipfile(path):
        return describe(path).certificate
    try:
        text = Path(path).read_text(encoding="utf-8")
        is_primitive = "task" in read_object(text, "certificate")
        kind: Any = PrimitiveCertificate if is_primitive else Certificate
        certificate: AnyCertificate = kind.from_json(text)
        certificate.check()
    except (CertificateError, UnicodeDecodeError) as error:
        raise CertificateError(f"{path} is refused: {error}") from None
    return certificate


def compare(here: AnyCertificate, there: AnyCertificate) -> Comparison:
    """Say whether two certificates are one promise; those of other learners item by item."""
    if isinstance(here, Certificate) and isinstance(there, Certificate):
        return here.comparable(there)
    mine, yours = _items(here), _items(there)
    return Comparison(
        tuple(
            f"{name}: {mine.get(name)!r} here, {yours.get(name)!r} there"
            for name in {**mine, **yours}
            if mine.get(name) != yours.get(name)
        )
    )


def _with_columns(found: Comparison, first: str, other: str) -> Comparison:
    """Compare also how two model files read a table: a pipeline of one's own does not tell."""
    mine, yours = _columns(first), _columns(other)
    if mine is None or yours is None or mine == yours:
        return found
    names = [name for name in {**mine, **yours} if mine.get(name) != yours.get(name)]
    told = ", ".join(f"{name} is {mine.get(name)} here, {yours.get(name)} there" for name in names)
    return Comparison((*found.differences, f"kinds of the columns: {told}"), found.remarks)


def _columns(path: str) -> dict[str, Any] | None:
    columns = describe(path).notes.get("columns") if zipfile.is_zipfile(path) else None
    return columns if isinstance(columns, dict) else None


def _items(certificate: AnyCertificate) -> dict[str, Any]:
    if isinstance(certificate, Certificate):
        return {"task": "blocks that vote", "key": certificate.key_fingerprint}
    inputs = dict(certificate.inputs)
    return {"task": certificate.task, **inputs, "key": certificate.key_fingerprint}


def _in_words(certificate: AnyCertificate) -> str:
    verdict = "certified" if certificate.certified else f"NOT certified ({certificate.reason})"
    about = f"rho = {rounded_up(_rho(certificate))}"
    if isinstance(certificate, PrimitiveCertificate):
        about = f"{certificate.task}, asked for {about}"
    return (
        f"{about}, {verdict}, n = {_n(certificate)}, key {certificate.key_fingerprint}; every "
        "number was computed again"
    )


def _explained(certificate: AnyCertificate) -> str:
    explain = getattr(certificate, "explain", certificate.__str__)
    return str(explain())


def _rho(certificate: AnyCertificate) -> float:
    if isinstance(certificate, Certificate):
        return certificate.claim.rho
    return float(dict(certificate.inputs).get("rho") or 1.0)


def _n(certificate: AnyCertificate) -> Any:
    return (
        certificate.n if isinstance(certificate, Certificate) else dict(certificate.inputs).get("n")
    )


def _as_json(found: dict[str, AnyCertificate], compared: dict[str, Any]) -> dict[str, Any]:
    return {
        "one_promise": all(compared.values()),
        "certificates": [
            {
                "file": path,
                "rho": _rho(certificate),
                "certified": certificate.certified,
                "n": _n(certificate),
                "key_fingerprint": certificate.key_fingerprint,
                "digest": getattr(certificate, "digest", None) or digest_of(certificate.to_dict()),
            }
            for path, certificate in found.items()
        ],
        "comparisons": [
            {
                "file": path,
                "one_promise": bool(comparison),
                "differences": list(comparison.differences),
                "remarks": list(comparison.remarks),
            }
            for path, comparison in compared.items()
        ],
    }
