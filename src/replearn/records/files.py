"""Files that are whole or not there, and folders that say what they hold."""

import contextlib
import os
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from replearn.records.json import pretty_json, read_object

_DIGEST_BYTES = 32


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file so that a reader sees the old file or the new one, never half of it."""
    # A plan is there to be shared: the mode that open() would use.
    write_bytes_atomically(path, text.encode("utf-8"), mode=_default_mode())


def write_bytes_atomically(
    path: str | os.PathLike[str], data: bytes, *, mode: int | None = None
) -> None:
    """Write a file whole or not at all; without a mode, for its owner only.

    Models may hold training rows or a key: private is the right default.
    """
    target, temporary = Path(path), None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
        if isinstance(error, OSError) and error.errno is not None:
            # A full disk does not say which file it was, a closed folder names the temporary one.
            raise type(error)(error.errno, error.strerror, str(target)) from error
        raise


def seal(content: bytes) -> bytes:
    """Put its digest in front of some bytes.

    >>> unseal(seal(b"a block")), unseal(seal(b"a block")[:-1])
    (b'a block', None)
    """
    return sha256(content).digest() + content


def unseal(sealed: bytes) -> bytes | None:
    """Return what was sealed; None if it is not whole."""
    content = sealed[_DIGEST_BYTES:]
    return content if sha256(content).digest() == sealed[:_DIGEST_BYTES] else None


def _default_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def claim_folder(
    folder: str | os.PathLike[str], name: str, manifest: Mapping[str, Any], what: str
) -> None:
    """Write down in a file of this name what a folder holds; refuse one that holds something else.

    The manifest identifies the work: equal manifests, equal results.
    """
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    path = home / name
    if not path.exists():
        write_atomically(path, pretty_json(dict(manifest)) + "\n")
        return
    different = differences(read_manifest(path), manifest)
    if different:
        raise ValueError(other_work(home, what, different))


def read_manifest(path: Path) -> dict[str, Any]:
    """Read what a folder says of itself."""
    return read_object(path.read_text(encoding="utf-8"), f"{path}")


def differences(known: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return the items in which two manifests are not the same.

    >>> differences({"data": 1, "key": 2}, {"data": 1, "key": 3, "learner": 4})
    ['key', 'learner']
    """
    return [item for item in {**asked, **known} if known.get(item) != asked.get(item)]


def other_work(folder: Path | str, what: str, different: list[str]) -> str:
    """Say that a folder holds other work, and what to do.

    >>> print(other_work(Path("kept"), "fit", ["data", "key"]).split(". ")[0])
    folder 'kept' holds another fit: not the same data, key
    """
    return (
        f"folder {str(folder)!r} holds another {what}: not the same {', '.join(different)}. Give "
        "the same data and arguments, or another folder."
    )
