"""``replearn key``: generate a key for several labs, or show the fingerprint of a key file."""

from __future__ import annotations

import os
from dataclasses import dataclass

from replearn.cli import DONE, Action, CommandOptions, argument, flag, option, put, put_json, say
from replearn.cli._inputs import read_key
from replearn.randomness.key import SharedKey


@dataclass(frozen=True, kw_only=True)
class NewKeyOptions(CommandOptions):
    """Options of ``key new``."""

    COMMON = ("out", "json")
    EXAMPLES = ("replearn key new --out key.txt",)

    out: str | None = option("write it to a file that only its owner can read", "FILE")
    json: bool = flag("print JSON")


@dataclass(frozen=True, kw_only=True)
class ShowKeyOptions(CommandOptions):
    """Options of ``key show``."""

    COMMON = ("json",)
    EXAMPLES = ("replearn key show key.txt",)

    file: str = argument("key file")
    json: bool = flag("print JSON")


def show(options: ShowKeyOptions) -> int:
    """Show the fingerprint of a key."""
    key = read_key(options.file)
    assert key is not None
    put_json({"fingerprint": key.fingerprint}) if options.json else put(key.fingerprint)
    return DONE


def new(options: NewKeyOptions) -> int:
    """Generate a key."""
    key = SharedKey.generate()
    if options.out:
        _write_private(options.out, key.export() + "\n")
        say(f"key with fingerprint {key.fingerprint} written to {options.out}")
        if options.json:
            put_json({"fingerprint": key.fingerprint, "file": options.out})
    elif options.json:
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


COMMAND = {
    "new": Action(NewKeyOptions, new, "generate a secret key"),
    "show": Action(ShowKeyOptions, show, "show the fingerprint of a key file"),
}
