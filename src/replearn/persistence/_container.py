"""The container: a zip archive of a manifest that people can read and the models' state.

The state has up to two parts: what is packed into columns, and what skops writes.

The manifest says what the file is, which versions wrote it, which key it belongs to and what it
promises; its digest covers itself and the models' state.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import Any

from replearn.exceptions import ModelFileError
from replearn.persistence._archive import write_entry
from replearn.records.json import digest_of, pretty_json, read_object

FORMAT = "replearn-model"
FORMAT_VERSION = 3
PACKED = "models.packed"
SKOPS = "models.skops"
_MANIFEST = "manifest.json"
_ENTRIES = {_MANIFEST, PACKED, SKOPS}
_TEXTS = (
    *("learner", "library_version", "sklearn_version", "numpy_version"),
    *("encoding", "key_fingerprint"),
)
Parts = dict[str, bytes]
_OBJECTS = ("notes", "documents")
"""What every manifest has, besides texts; ``key`` is a text or null."""


def pack(manifest: dict[str, Any], models: Parts) -> bytes:
    """Put manifest and models into one archive."""
    content = {"format": FORMAT, "version": FORMAT_VERSION, **manifest}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        write_entry(archive, _MANIFEST, pretty_json(_signed(content, models)))
        for part, content_of_part in models.items():
            write_entry(archive, part, content_of_part)  # compressed already
    return buffer.getvalue()


def _signed(manifest: dict[str, Any], models: Parts) -> dict[str, Any]:
    content = {item: value for item, value in manifest.items() if item != "digest"}
    digest = hashlib.sha256()
    for part in sorted(models):
        digest.update(models[part])
    content["models_sha256"] = digest.hexdigest()
    return {**content, "digest": digest_of(content)}


def unpack(data: bytes, name: str) -> tuple[dict[str, Any], Parts]:
    """Take an archive apart; raise if it is not as `pack` wrote it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if len(set(names)) < len(names) or not {_MANIFEST} < set(names) <= _ENTRIES:
                raise ModelFileError(f"{name} is not a replearn model file.")
            # As `pack` writes them: nothing here can become larger than the file.
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise ModelFileError(f"{name} is compressed; a model file is not.")
            text = archive.read(_MANIFEST)
            models = {part: archive.read(part) for part in names if part != _MANIFEST}
        manifest = read_object(text, f"{name}: manifest", ModelFileError)
    except ModelFileError:
        raise
    except Exception as error:
        # A damaged archive may raise anything, and all of it means the same.
        raise ModelFileError(f"{name} is not a replearn model file, or damaged: {error}") from None
    _check_format(manifest, name)
    if manifest != _signed(manifest, models):
        raise ModelFileError(f"{name} was changed after it was written (digest).")
    return manifest, models


def _check_format(manifest: dict[str, Any], name: str) -> None:
    if manifest.get("format") != FORMAT:
        raise ModelFileError(f"{name} is not a replearn model file.")
    version = manifest.get("version")
    if version != FORMAT_VERSION:
        raise ModelFileError(
            f"{name} is a model file of version {version!r}; this library reads version "
            f"{FORMAT_VERSION}. It was written by replearn {manifest.get('library_version')!r}."
        )
    wrong = [item for item in _TEXTS if not isinstance(manifest.get(item), str)]
    wrong += [item for item in _OBJECTS if not isinstance(manifest.get(item), dict)]
    if wrong or not isinstance(manifest.get("key", 0), str | None):
        raise ModelFileError(f"{name} is damaged: {', '.join(wrong) or 'key'} of its manifest.")
