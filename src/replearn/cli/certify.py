"""``replearn certify``: compute certificates again, and say whether they are one promise."""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path
from typing import Any

from replearn.certificates import Certificate
from replearn.certificates._text import rounded_up
from replearn.cli._console import DONE, GATE_FAILED, put, put_json
from replearn.exceptions import CertificateError
from replearn.persistence import describe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("files", nargs="+", help="certificates (JSON) or model files")
    parser.add_argument("--explain", action="store_true", help="the first certificate in words")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Check every certificate, compare all with the first, and tell."""
    found = {path: read_certificate(path) for path in args.files}
    first, *others = found
    compared = {path: found[first].comparable(found[path]) for path in others}
    if args.json:
        put_json(_as_json(found, compared))
    else:
        for path, certificate in found.items():
            put(f"{path}: {_in_words(certificate)}")
        for path, comparison in compared.items():
            put(f"{first} and {path}: {comparison}")
        if args.explain:
            put(f"\n{found[first].explain()}")
    return DONE if all(compared.values()) else GATE_FAILED


def read_certificate(path: str) -> Certificate:
    """Read a certificate, or that of a model file, and compute it again."""
    if zipfile.is_zipfile(path):
        return describe(path).certificate
    try:
        return Certificate.load(Path(path))
    except (CertificateError, UnicodeDecodeError) as error:
        raise CertificateError(f"{path} is refused: {error}") from None


def _in_words(certificate: Certificate) -> str:
    verdict = "certified" if certificate.certified else f"NOT certified ({certificate.reason})"
    return (
        f"rho = {rounded_up(certificate.claim.rho)}, {verdict}, n = {certificate.n}, key "
        f"{certificate.key_fingerprint}; every number was computed again"
    )


def _as_json(found: dict[str, Certificate], compared: dict[str, Any]) -> dict[str, Any]:
    return {
        "one_promise": all(compared.values()),
        "certificates": [
            {
                "file": path,
                "rho": certificate.claim.rho,
                "certified": certificate.certified,
                "n": certificate.n,
                "key_fingerprint": certificate.key_fingerprint,
                "digest": certificate.digest,
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
