"""A folder with one file per finished block: an interrupted fit continues where it stopped.

The folder is a `replearn.records.work_folder.WorkFolder`; files hold no pickle and not the key. A
fit may train blocks more than once, as a search with folds does: each training has a folder of its
own inside, named by what it trains on and not by its turn.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

from replearn._version import __version__
from replearn.checks.fingerprint import fingerprint
from replearn.execution.context import RunContext
from replearn.persistence._container import PACKED, SKOPS
from replearn.persistence._parts import check_savable
from replearn.persistence._skops import refuse_untrusted
from replearn.persistence._trust import dump, load_trusted, untrusted_types
from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points
from replearn.records.json import differences, digest_of
from replearn.records.work_folder import MANIFEST, WorkFolder, other_work

_MODEL = "model"
_DATA_KEY = SharedKey("replearn fit folder")


def resumable(folder: str | os.PathLike[str], *, trusted_types: Sequence[str] = ()) -> RunContext:
    """Return a context in which ``fit`` saves every trained block, and can continue from there.

    A search with folds trains blocks for every configuration and fold: all of them are saved,
    except those trained in worker processes of the search (``n_jobs``) and those of
    ``train_size``.

    Parameters
    ----------
    folder : path
        Belongs to one fit: the same data, estimator, plan and key. The folder of another fit is
        an error. It can be removed when the fit is done.
    trusted_types : sequence of str, default=()
        Full names of types outside scikit-learn and this library that may be read back, as for
        `load`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from replearn import PointwiseReplicableClassifier
    >>> from replearn.persistence.block_folder import resumable
    >>> X, y = make_classification(600, random_state=0)
    >>> model = PointwiseReplicableClassifier(GaussianNB(), n_blocks=20, max_fits=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = model.fit(X, y, context=resumable(folder))
    ...     [training] = Path(folder).glob("training-*")
    ...     len(list(training.glob("block-*")))
    20
    """
    return RunContext(store=BlockFolder(folder, trusted_types))


class BlockFolder:
    """A store of finished blocks; parameters as for `resumable`."""

    def __init__(self, folder: str | os.PathLike[str], trusted_types: Sequence[str] = ()) -> None:
        self._folder = WorkFolder(folder)
        self._trusted_types = tuple(trusted_types)
        self._is_claimed = False

    def open(
        self,
        estimator: Any,
        X: Any,
        y: NDArray[Any],
        blocks: Sequence[NDArray[np.intp]],
        keys: Sequence[SharedKey],
    ) -> TrainingFolder:
        """Return the folder of this training; raise if the others are of another fit."""
        check_savable(estimator, "the base estimator")
        self._folder.claim("fit", library_versions())
        rows = _DATA_KEY.hashes(as_points(X))
        training = {
            "data": _digest([rows.tobytes(), y.astype(np.int64).tobytes()]),
            "blocks": _digest([np.array([len(rows), *rows]).tobytes() for rows in blocks]),
            "key": _digest([key.fingerprint.encode() for key in keys]),
            "learner": fingerprint(estimator).digest,
        }
        home = self._folder.child(f"training-{digest_of(training)[:16]}")
        if not self._is_claimed:
            self._check_others(home, training)
            self._is_claimed = True
        home.claim("training", training)
        return TrainingFolder(home, len(blocks), self._trusted_types)

    def _check_others(self, home: WorkFolder, training: dict[str, str]) -> None:
        """Raise unless the folder is empty or has this training: then others may follow."""
        others = sorted(Path(self._folder.address).glob(f"*/{MANIFEST}"))
        if not others or MANIFEST in home:
            return
        known = [WorkFolder(path.parent).manifest() or {} for path in others]
        named = [{name: other.get(name) for name in training} for other in known]
        nearest = min((differences(other, training) for other in named), key=len)
        raise ValueError(
            f"{other_work(self._folder.address, 'fit', nearest)} n_jobs of a search is such an "
            "argument: what its worker processes train is not saved."
        )


class TrainingFolder:
    """The finished blocks of one training, in a folder of its own."""

    def __init__(self, folder: WorkFolder, n_blocks: int, trusted_types: Sequence[str]) -> None:
        self._folder = folder
        self._n_blocks = n_blocks
        self._trusted_types = trusted_types

    def done(self) -> dict[int, Any]:
        """Return the blocks that were saved, by number."""
        models = {number: self._read(number) for number in range(self._n_blocks)}
        return {number: model for number, model in models.items() if model is not None}

    def saver(self, number: int) -> Callable[[Any], None]:
        """Return a function that saves a block; it can be sent to worker processes."""
        return partial(save_block, self._folder, block_file(number), self._trusted_types)

    def _read(self, number: int) -> Any:
        name = block_file(number)
        written = self._folder.get(name)
        if written is None:  # absent or damaged: it is fitted
            return None
        part, _, models = written.partition(b"\n")
        where = f"{self._folder.address}/{name}"
        return load_trusted({part.decode(): models}, self._trusted_types, where)[_MODEL]


def block_file(number: int) -> str:
    """Return the name of the file of a block."""
    return f"block-{number:06d}.model"


def save_block(folder: WorkFolder, name: str, trusted_types: Sequence[str], model: Any) -> None:
    """Write a fitted block to its file; raise if it could not be read back."""
    parts = dump({_MODEL: model})
    part = SKOPS if SKOPS in parts else PACKED
    name_of_block = "a block of this estimator, which is to be saved,"
    refuse_untrusted(untrusted_types(parts, name_of_block) - set(trusted_types), name_of_block)
    folder.put(name, part.encode() + b"\n" + parts[part])


def library_versions() -> dict[str, str]:
    """Say who trains: another version may train other models."""
    return {
        "replearn": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }


def _digest(parts: Sequence[bytes]) -> str:
    return sha256(b"".join(parts)).hexdigest()[:32]
