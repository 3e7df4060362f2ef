"""``replearn probe``: the same raw rows for two labs, and digests of what they make of them."""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from replearn.cli import DONE, add_options, put, put_json, say
from replearn.exceptions import CertificateError
from replearn.guarantees import Certificate, Probe
from replearn.tables import ROWS, make_probe, read_table, to_pandas


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    make = actions.add_parser("make", help="write probe rows of a raw table, for all labs")
    make.add_argument("raw", help="file: csv, tsv, txt (also .gz), parquet, feather")
    make.add_argument("--out", required=True, metavar="FILE", help="file for the probe rows")
    make.add_argument("--rows", type=int, default=ROWS, metavar="N", help="how many")
    make.add_argument(
        "--drop", action="append", default=[], metavar="COLUMN", help="leave out (may be repeated)"
    )
    add_options(make, "NAME", encoding="of text files, such as latin-1 (default: utf-8)")
    digest = actions.add_parser("digest", help="digest of the probe rows as this lab encodes them")
    digest.add_argument("encoded", help="what the lab's pipeline makes of the probe rows (or .npy)")
    digest.add_argument("of", metavar="run", help="the lab's certificate (JSON) or model file")
    add_options(digest, "FILE", out="write the digest to this file, for the other lab")
    for action in (make, digest):
        add_options(action, bool, json="print JSON")


def run(args: argparse.Namespace) -> int:
    """Write probe rows, or make the digest of encoded ones."""
    if args.action == "make":
        if args.rows < 3:
            raise ValueError(f"--rows {args.rows} is too small: give at least 3.")
        options = {"n_rows": args.rows, "drop": args.drop, "encoding": args.encoding}
        say(*make_probe(args.raw, args.out, **options))
        say(f"{args.rows} rows in {args.out}: every lab encodes them with its whole pipeline")
        if args.json:
            put_json({"file": args.out, "rows": args.rows})
        return DONE
    probe = read_probe(args.encoded, *read_run(args.of))
    if probe.mark:
        say(f"note: {probe.mark}: encode the rows with what was fitted on the training rows")
    if args.out:
        probe.save(args.out)
    put(probe.to_json()) if args.json else put(f"{probe.digest}  {probe.rows} rows")
    return DONE


def read_run(path: str) -> tuple[Certificate, Any]:
    """Read a certificate and compute it again; of a model file also the kinds of its columns."""
    if zipfile.is_zipfile(path):
        from replearn.persistence import describe  # certificates alone are read without estimators

        about = describe(path)
        if about.certificate is None:
            raise CertificateError(f"{path} has no certificate: its estimator promises nothing.")
        return about.certificate, about.notes.get("columns")
    try:
        return Certificate.load(path), None
    except (CertificateError, UnicodeDecodeError) as error:
        raise CertificateError(f"{path} is refused: {error}") from None


def read_probe(path: str, certificate: Certificate, kinds: Any = None) -> Probe:
    """Read a digest, or encoded probe rows, of which a digest is made."""
    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        return Probe.load(path)
    from replearn.binding import encode_probe

    if suffix == ".npy":
        return encode_probe(certificate, np.load(path, allow_pickle=False))
    return encode_probe(certificate, to_pandas(read_table(path, kinds).frame))
