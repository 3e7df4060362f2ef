"""A folder with one file per finished block: an interrupted fit continues where it stopped.

Files hold no pickle and not the key. Each is written whole or not at all and carries its digest; a
file that is damaged counts as absent. A manifest says which fit the folder belongs to.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

from replearn._version import __version__
from replearn.audit._store import data_digest
from replearn.certificates._json import claim_folder, write_bytes_atomically
from replearn.execution.checkpoints import block_store
from replearn.learners._inputs import describe_learner
from replearn.persistence._parts import check_foreign
from replearn.persistence._trust import check_types, dump, load_trusted
from replearn.randomness import SharedKey

MANIFEST = "fit.json"
FORMAT = "replearn-fit-folder"
_DIGEST_BYTES = 32


@contextmanager
def resumable(folder: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> Iterator[None]:
    """Keep every finished block of the fit inside; the next time, continue from them.

    Parameters
    ----------
    folder : path
        For one fit: the same data, learner, plan and key. Another's folder is refused. It can be
        removed when the fit is done.
    trusted : sequence of str, default=()
        Full names of types outside scikit-learn and this library that may be read back, as for
        `load`.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from replearn import PointwiseReplicableClassifier
    >>> from replearn.persistence import resumable
    >>> X, y = make_classification(600, random_state=0)
    >>> model = PointwiseReplicableClassifier(GaussianNB(), n_blocks=20, n_partitions=1)
    >>> with tempfile.TemporaryDirectory() as folder, resumable(folder):
    ...     _ = model.fit(X, y)
    ...     len(os.listdir(folder))
    21
    """
    with block_store(BlockFolder(folder, trusted)):
        yield


class BlockFolder:
    """A store of finished blocks.

    Parameters
    ----------
    folder : path
        Where they are kept.
    trusted : sequence of str, default=()
        See `resumable`.
    """

    def __init__(self, folder: str | os.PathLike[str], trusted: Sequence[str] = ()) -> None:
        self._folder = Path(folder)
        self._trusted = tuple(trusted)

    def open(
        self,
        estimator: Any,
        X: Any,
        y: NDArray[Any],
        blocks: Sequence[NDArray[np.intp]],
        keys: Sequence[SharedKey],
    ) -> dict[int, Any]:
        """Return the blocks that are there; refuse a folder of another fit."""
        check_foreign(estimator, "the base learner")
        manifest = {
            "format": FORMAT,
            "data": data_digest(X, y, None),
            "blocks": _digest([np.array([len(rows), *rows]).tobytes() for rows in blocks]),
            "key": _digest([key.fingerprint.encode() for key in keys]),
            "learner": describe_learner(estimator)[1],
            "replearn": __version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        }
        claim_folder(self._folder, MANIFEST, manifest, "fit")
        found = ((number, self._read(_path(self._folder, number))) for number in range(len(blocks)))
        return {number: model for number, model in found if model is not None}

    def keeper(self, number: int) -> Callable[[Any], None]:
        """Return what keeps a block; workers can be sent it."""
        return partial(keep_block, _path(self._folder, number), self._trusted)

    def _read(self, path: Path) -> Any:
        if not path.exists():
            return None
        content = path.read_bytes()
        digest, models = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if sha256(models).digest() != digest:
            return None  # fitted again, and written anew
        return load_trusted(models, self._trusted, str(path))


def keep_block(path: Path, trusted: Sequence[str], model: Any) -> None:
    """Write a fitted block to its file; a learner that could not be read back is refused at once.

    Parameters
    ----------
    path : Path
        Where to.
    trusted : sequence of str
        Types that may be read back.
    model : classifier
        Fitted.
    """
    models = dump(model)
    check_types(models, trusted, "a block of this learner, which shall be kept,")
    write_bytes_atomically(path, sha256(models).digest() + models)


def _path(folder: Path, number: int) -> Path:
    return folder / f"block-{number:06d}.skops"


def _digest(parts: Sequence[bytes]) -> str:
    return sha256(b"".join(parts)).hexdigest()[:32]
