"""``replearn key``: generate a key for several labs, or show the fingerprint of a key file."""

from __future__ import annotations

import argparse
import os

from replearn.cli import DONE, add_options, put, put_json, say
from replearn.cli._inputs import read_key
from replearn.randomness import SharedKey


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    new = actions.add_parser("new", help="generate a secret key")
    add_options(new, "FILE", out="write it to a file that only its owner can read")
    show = actions.add_parser("show", help="show the fingerprint of a key file")
    show.add_argument("file")
    for action in (new, show):
        add_options(action, bool, json="print JSON")


def run(args: argparse.Namespace) -> int:
    """Generate or show a key."""
    if args.action == "show":
        key = read_key(args.file)
        assert key is not None
        put_json({"fingerprint": key.fingerprint}) if args.json else put(key.fingerprint)
        return DONE
    key = SharedKey.generate()
    if args.out:
        _write_private(args.out, key.export() + "\n")
        say(f"key with fingerprint {key.fingerprint} written to {args.out}")
        if args.json:
            put_json({"fingerprint": key.fingerprint, "file": args.out})
    elif args.json:
        put_json({"fingerprint": key.fingerprint, "key": key.export()})
    else:
        put(key.export())
        say(f"fingerprint {key.fingerprint}; give the key to the other lab, and to nobody else")
    return DONE


def _write_private(path: str, text: str) -> None:
    """Write a new file for its owner only; a key that exists is never overwritten."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise ValueError(f"{path} exists; a key is not overwritten.") from None
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
