"""Finished pairs on disk, so that an interrupted audit continues where it stopped.

Every file is written whole or not at all. A manifest says which audit the folder belongs to; a
folder of another audit is refused.
"""

from __future__ import annotations

import io
import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._runs import ARRAYS, PairOutcome
from replearn.randomness import SharedKey, as_points
from replearn.records.files import claim_folder, write_bytes_atomically
from replearn.records.json import digest_of

MANIFEST = "audit.json"
FORMAT = "replearn-audit-folder"


class Store:
    """A folder with one file per finished pair; without a folder, memory.

    Parameters
    ----------
    folder : path or None
        Where finished pairs are kept.
    manifest : dict
        What identifies the audit: two audits with equal manifests give equal results.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, manifest: dict[str, Any]) -> None:
        self._folder = None if folder is None else Path(folder)
        self._tag = digest_of(manifest)[:12]
        self._memory: dict[tuple[int, int], PairOutcome] = {}
        if self._folder is not None:
            claim_folder(self._folder, MANIFEST, {"format": FORMAT, **manifest}, "audit")

    def get(self, contender: int, pair: int) -> PairOutcome | None:
        """Return a finished pair, or None."""
        key = (contender, pair)
        if key not in self._memory and self._folder is not None:
            path = self._path(contender, pair)
            if path.exists():
                self._memory[key] = read_outcome(path.read_bytes())
        return self._memory.get(key)

    def put(self, contender: int, pair: int, outcome: PairOutcome) -> None:
        """Keep a finished pair."""
        self._memory[contender, pair] = outcome
        if self._folder is not None:
            write_bytes_atomically(self._path(contender, pair), outcome_bytes(outcome))

    def _path(self, contender: int, pair: int) -> Path:
        assert self._folder is not None
        return self._folder / f"{self._tag}-{contender:02d}-{pair:04d}.npz"


def outcome_bytes(outcome: PairOutcome) -> bytes:
    """Write a pair as the bytes of an npz file."""
    arrays = {name: getattr(outcome, name) for name in ARRAYS}
    words = {
        "seconds": outcome.seconds,
        "certificates": outcome.certificates,
        "promises": outcome.promises,
        "notes": outcome.notes,
    }
    buffer = io.BytesIO()
    present = {name: array for name, array in arrays.items() if array is not None}
    np.savez_compressed(buffer, words=np.array(json.dumps(words)), **present)
    return buffer.getvalue()


def read_outcome(content: bytes) -> PairOutcome:
    """Read what :func:`outcome_bytes` wrote.

    Examples
    --------
    >>> outcome = PairOutcome(np.zeros((2, 3), dtype=np.int32), seconds=(0.5, 0.25))
    >>> read_outcome(outcome_bytes(outcome)).seconds
    (0.5, 0.25)
    """
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        words = json.loads(str(file["words"]))
        arrays: dict[str, NDArray[Any] | None] = {name: file.get(name) for name in ARRAYS}
    certificates = words["certificates"]
    return PairOutcome(
        **arrays,  # type: ignore[arg-type]
        seconds=tuple(words["seconds"]),
        certificates=None if certificates is None else tuple(certificates),
        promises=tuple(words["promises"]),
        notes=tuple(words["notes"]),
    )


def data_digest(X: Any, codes: NDArray[np.intp], groups: NDArray[Any] | None) -> str:
    """Digest of the rows in file order: features, labels and groups.

    Examples
    --------
    >>> X = np.zeros((2, 1))
    >>> data_digest(X, np.array([0, 1]), None) == data_digest(X, np.array([1, 0]), None)
    False
    """
    digest = sha256(SharedKey("audit data").hashes(as_points(X)).tobytes())
    digest.update(np.asarray(codes, dtype=np.int64).tobytes())
    if groups is not None:
        digest.update(SharedKey("audit groups").hashes(as_points(groups)).tobytes())
    return digest.hexdigest()[:32]
