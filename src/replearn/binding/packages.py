"""Whether a package is the code that its version names: compared with what was installed.

An installer leaves a list of files with hashes (RECORD). A package without one of its own (an
editable install, a vendored copy) or with other files is bound by a digest of its sources.
"""

from __future__ import annotations

import base64
import sys
from functools import lru_cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

DISTRIBUTIONS = {"sklearn": "scikit-learn", "imblearn": "imbalanced-learn"}
"""Packages with another name than the distribution they come from; others are looked up."""

_SITES = ("site-packages", "dist-packages")
_SAME_TIME = 2.0  # seconds: file systems round


class _Listed(NamedTuple):
    """A file of an installed distribution."""

    hash: str
    size: str


@lru_cache(maxsize=512)
def edited_sources(package: str) -> str:
    """Return a digest of the sources of a package that is not as it was installed; else "".

    Files of the size that is listed, no newer than the list, count as they are: the hash of every
    file of a large package would take longer than a fit.

    >>> edited_sources("sklearn"), edited_sources("replearn_no_such_package")
    ('', '')
    """
    folder = _folder(package)
    if folder is None:
        return ""
    root = folder.parent
    listed, written = _record(package, root)
    if not any(name.startswith(f"{package}/") or name == f"{package}.py" for name in listed):
        if root.name in _SITES:
            return ""  # a distributor's own installer: it keeps no hashes
        return _digest({path: _hash(path) for path in _sources(folder)}, root)
    changed = {}
    for name, item in listed.items():
        path = root / name
        if name.endswith(".py") and name.startswith((f"{package}/", f"{package}.py")):
            found = _changed(path, item, written)
            if found is not None:
                changed[path] = found
    return _digest(changed, root) if changed else ""


def _folder(package: str) -> Path | None:
    """Return where a package lies: its folder, or its only file."""
    module = sys.modules.get(package)
    paths = list(getattr(module, "__path__", ()))
    if paths:
        return Path(paths[0])
    file = getattr(module, "__file__", None)
    return Path(file) if file and file.endswith(".py") else None


def _record(package: str, root: Path) -> tuple[dict[str, _Listed], float]:
    """Return the list of files of a package's distribution in this folder, and when it was made."""
    for name in _distributions(package):
        try:
            found = metadata.distribution(name)
        except (metadata.PackageNotFoundError, ValueError):
            continue
        record = Path(str(found.locate_file(""))) / str(getattr(found, "_path", "")) / "RECORD"
        if Path(str(found.locate_file(""))).resolve() != root.resolve() or not record.is_file():
            continue
        lines = (line.rsplit(",", 2) for line in record.read_text("utf-8").splitlines())
        items = {parts[0]: _Listed(*parts[1:]) for parts in lines if len(parts) == 3}
        return items, record.stat().st_mtime
    return {}, 0.0


def _distributions(package: str) -> list[str]:
    name = DISTRIBUTIONS.get(package, package)
    try:
        metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return metadata.packages_distributions().get(package, [])  # slow: reads every list
    return [name]


def _changed(path: Path, listed: _Listed, written: float) -> str | None:
    """Return the hash of a file that is not what was installed; None if it is."""
    try:
        found = path.stat()
    except OSError:
        return "missing"
    size_fits = not listed.size or int(listed.size) == found.st_size
    if size_fits and found.st_mtime <= written + _SAME_TIME:
        return None
    here = _hash(path)
    return None if f"sha256={here}" == listed.hash else here


def _hash(path: Path) -> str:
    digest = sha256(path.read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _sources(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder]
    return sorted(folder.rglob("*.py"))


def _digest(hashes: dict[Path, str], root: Path) -> str:
    lines = sorted(f"{path.relative_to(root).as_posix()} {text}" for path, text in hashes.items())
    return sha256("\n".join(lines).encode()).hexdigest()[:12]
