"""``replearn probe``: the same raw rows for two labs, and digests of what they make of them."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from replearn.cli import (
    DONE,
    ENCODING_HELP,
    Action,
    CommandOptions,
    argument,
    flag,
    number,
    option,
    put,
    put_json,
    repeated,
    say,
)
from replearn.exceptions import CertificateError
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.probe import Probe
from replearn.tables.files import read_table
from replearn.tables.probe import ROWS, make_probe
from replearn.tables.rows import to_pandas


@dataclass(frozen=True, kw_only=True)
class MakeProbeOptions(CommandOptions):
    """Options of ``probe make``."""

    COMMON = ("out", "rows", "drop", "encoding", "json")
    EXAMPLES = ("replearn probe make raw.csv --drop name --out probe.csv",)

    raw: str = argument("file: csv, tsv, txt (also .gz), parquet, feather")
    out: str = option("file for the probe rows", "FILE", required=True)
    rows: int = number("how many", default=ROWS)
    drop: tuple[str, ...] = repeated("column that is left out", "COLUMN")
    encoding: str | None = option(ENCODING_HELP, "NAME")
    json: bool = flag("print JSON")


@dataclass(frozen=True, kw_only=True)
class DigestProbeOptions(CommandOptions):
    """Options of ``probe digest``."""

    COMMON = ("out", "json")
    EXAMPLES = ("replearn probe digest encoded.csv m.replearn --out mine.json",)

    encoded: str = argument("what the lab's pipeline makes of the probe rows (or .npy)")
    of: str = argument("the lab's certificate (JSON) or model file", metavar="RUN")
    out: str | None = option("write the digest to this file, for the other lab", "FILE")
    json: bool = flag("print JSON")


def make(options: MakeProbeOptions) -> int:
    """Write probe rows."""
    if options.rows < 3:
        raise ValueError(f"--rows {options.rows} is too small: give at least 3.")
    rows = options.rows
    drop = options.drop
    say(*make_probe(options.raw, options.out, n_rows=rows, drop=drop, encoding=options.encoding))
    say(f"{options.rows} rows in {options.out}: every lab encodes them with its whole pipeline")
    if options.json:
        put_json({"file": options.out, "rows": options.rows})
    return DONE


def digest(options: DigestProbeOptions) -> int:
    """Make the digest of encoded rows."""
    certificate, notes = read_run(options.of)
    probe = read_probe(options.encoded, certificate, notes.get("columns"))
    if probe.mark:
        say(f"note: {probe.mark}: encode the rows with what was fitted on the training rows")
    if options.out:
        probe.save(options.out)
    put(probe.to_json()) if options.json else put(f"{probe.digest}  {probe.rows} rows")
    return DONE


def read_run(path: str) -> tuple[Certificate, Mapping[str, Any]]:
    """Read a certificate and compute it again; of a model file also its notes about the table."""
    if zipfile.is_zipfile(path):
        from replearn.persistence.model_file import describe

        about = describe(path)
        if about.certificate is None:
            raise CertificateError(f"{path} has no certificate: its estimator promises nothing.")
        return about.certificate, about.notes
    return Certificate.load(path), {}


def read_probe(path: str, certificate: Certificate, kinds: Any = None) -> Probe:
    """Read a digest, or encoded probe rows, of which a digest is made."""
    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        return Probe.load(path)
    from replearn.checks.points import encode_probe

    if suffix == ".npy":
        return encode_probe(certificate, np.load(path, allow_pickle=False))
    return encode_probe(certificate, to_pandas(read_table(path, kinds).frame))


COMMAND = {
    "make": Action(MakeProbeOptions, make, "write probe rows of a raw table, for all labs"),
    "digest": Action(
        DigestProbeOptions, digest, "digest of the probe rows as this lab encodes them"
    ),
}
