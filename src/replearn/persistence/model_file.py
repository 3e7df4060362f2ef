"""Save a fitted estimator, and load it elsewhere, without pickle and without the key."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.utils.validation import check_is_fitted

from replearn._version import __version__
from replearn.exceptions import ModelFileError
from replearn.guarantees.certificate import Certificate
from replearn.persistence._container import pack, unpack
from replearn.persistence._parts import read_document
from replearn.persistence._state import estimator_class, put_together, take_apart
from replearn.persistence._trust import dump, load_trusted, untrusted_types
from replearn.randomness.key import SharedKey, key_or_default, warn_if_weak
from replearn.randomness.kinds import ENCODING_VERSION
from replearn.records.json import FAULTS, write_bytes_atomically

_N_PROBES = 4


@dataclass(frozen=True)
class ModelDescription:
    """Metadata of a model file, read without building any model.

    Parameters
    ----------
    estimator : str
        Name of the estimator's class.
    certificate : Certificate or None
        What is guaranteed; its numbers were computed again. None for an estimator that promises
        nothing and has no key: an incumbent around a plain classifier.
    key_fingerprint : str
        Identifies the shared key of the model.
    includes_key : bool
        Whether the file contains the key itself.
    library_version, sklearn_version, numpy_version : str
        Versions of the packages that wrote the file.
    notes : dict
        The ``notes`` that were passed to `save`.
    untrusted_types : tuple of str
        Types that must be named to load the file: ``load(path, trusted_types=...)``.
    """

    estimator: str
    certificate: Certificate | None
    key_fingerprint: str
    includes_key: bool
    library_version: str
    sklearn_version: str
    numpy_version: str
    notes: dict[str, Any]
    untrusted_types: tuple[str, ...]


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    include_key: bool = False,
    sketch: bool = True,
    notes: dict[str, Any] | None = None,
) -> None:
    """Save a fitted estimator to a file, without pickle.

    The file is first loaded again in memory as a check. An existing file is replaced as a whole; if
    saving fails, it stays as it was.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library.
    path : path
        Usually ends in ``.replearn``.
    include_key : bool, default=False
        Whether to store the shared key. By default only its fingerprint is stored, and `load`
        needs the key; `WeakKeyWarning` warns if it can be guessed from the fingerprint.
    sketch : bool, default=True
        Whether to store the sketch of the training rows that an incumbent has (``row_sketch_``):
        keyed hashes of at most 512 rows, by which somebody who has a row can tell whether it was
        used.
    notes : dict, default=None
        JSON values to store with the model; `describe` returns them.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import make_classification
    >>> from replearn import PointwiseReplicableClassifier, load, save
    >>> X, y = make_classification(900, random_state=0)
    >>> model = PointwiseReplicableClassifier(n_blocks=18, shared_key="trial-2026").fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, pathlib.Path(folder, "model.replearn"))
    ...     again = load(pathlib.Path(folder, "model.replearn"), shared_key="trial-2026")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    if type(model) is not estimator_class(type(model).__name__):
        raise ModelFileError(f"cannot save a {type(model)!r}: only estimators of this library.")
    check_is_fitted(model)
    if type(model)._always_certified and not hasattr(model, "certificate_"):
        raise ModelFileError(
            f"cannot save this {type(model).__name__}: it has no certificate. Save the estimator "
            "that it is a part of, PointwiseReplicableClassifier(...)."
        )
    documents, rest = take_apart(model, without=() if sketch else ("row_sketch_",))
    shared_key = getattr(model, "shared_key", None)
    key = key_or_default(shared_key)
    is_keyless = "certificate_" not in documents and shared_key is None
    manifest = {
        "learner": type(model).__name__,
        "library_version": __version__,
        "sklearn_version": sklearn.__version__,
        "numpy_version": np.__version__,
        "encoding": ENCODING_VERSION,
        "key_fingerprint": key.fingerprint,
        "key": key.export() if include_key or is_keyless else None,
        "notes": notes or {},
        "documents": documents,
    }
    content = pack(manifest, dump(rest))
    _check_loads(content, model, key)
    if not (include_key or is_keyless):
        warn_if_weak(shared_key)
    write_bytes_atomically(path, content)


def load(
    path: str | os.PathLike[str],
    shared_key: str | bytes | int | SharedKey | None = None,
    *,
    trusted_types: Sequence[str] = (),
    any_version: bool = False,
    max_bytes: int | None = None,
) -> Any:
    """Load an estimator from a file written by `save`.

    Parameters
    ----------
    path : path
        The model file.
    shared_key : str, bytes, int or SharedKey, default=None
        The key of the run. Not needed if the file was saved with it.
    trusted_types : sequence of str, default=()
        Full names of types that are trusted, with all that they do. Linear models, trees, forests,
        boosting, and pipelines and encoders around them need none; the error for other files names
        what is needed.
    any_version : bool, default=False
        Whether to load a file written by another version of scikit-learn, whose models may predict
        differently, or fail.
    max_bytes : int, default=None
        Upper limit of the memory, in bytes, that the models may take while they are read. The
        default is 512 MiB and 64 times the size of the file; a file that would take more is an
        error.

    Returns
    -------
    estimator
        The estimator, which predicts exactly as the one that was saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, changed, of another version or key, contains untrusted types, or
        would take more than ``max_bytes`` of memory.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import make_classification
    >>> from replearn import PointwiseReplicableClassifier, load, save
    >>> X, y = make_classification(900, random_state=0)
    >>> model = PointwiseReplicableClassifier(n_blocks=18, shared_key="trial-2026").fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, pathlib.Path(folder, "model.replearn"))
    ...     load(pathlib.Path(folder, "model.replearn"), shared_key="another key")
    Traceback (most recent call last):
    replearn.exceptions.ModelFileError: ... belongs to the key with fingerprint ...
    """
    name = os.fspath(path)
    content = Path(path).read_bytes()
    return _read(
        content, name, shared_key, trusted_types, any_version=any_version, max_bytes=max_bytes
    )


def _read(
    content: bytes,
    name: str,
    shared_key: str | bytes | int | SharedKey | None,
    trusted_types: Sequence[str],
    *,
    any_version: bool = False,
    max_bytes: int | None = None,
) -> Any:
    manifest, models = unpack(content, name)
    _check_versions(manifest, name, any_version)
    key = _check_key(manifest, shared_key, name)
    values = _read_documents(manifest, name)
    state = load_trusted(models, trusted_types, name, max_bytes)
    if set(state) & set(values):
        raise ModelFileError(f"{name} has two values for its plan or certificate.")
    try:
        return put_together(manifest["learner"], {**values, **state}, key)
    except ModelFileError as error:
        raise ModelFileError(f"{name} cannot be loaded: {error}") from None
    except FAULTS as error:
        # Parts that do not fit together: what they raise says little without this.
        raise ModelFileError(f"{name} cannot be put together: {error!r}") from error


def _check_loads(content: bytes, model: Any, key: SharedKey) -> None:
    """Raise if what was written cannot be loaded, or predicts otherwise."""
    _, models = unpack(content, "the file")
    try:
        # Whoever loads it decides which types to trust, and how much memory to take.
        trusted_types = sorted(untrusted_types(models, "the file"))
        again = _read(content, "the file", key, trusted_types, max_bytes=sys.maxsize)
    except ModelFileError as error:
        raise ModelFileError(
            f"cannot save this {type(model).__name__}, which could not be loaded: {error}"
        ) from error
    rows = np.random.default_rng(0).normal(size=(_N_PROBES, getattr(model, "n_features_in_", 1)))
    if not _same_predictions(model, again, rows):
        raise ModelFileError(
            f"cannot save this {type(model).__name__}: it would predict otherwise once loaded."
        )


def _same_predictions(one: Any, two: Any, rows: Any) -> bool:
    """Compare predictions of a model on rows of numbers; True where it predicts other rows only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = one.predict(rows)
        except Exception:  # a table of texts, names of columns
            return True
        return np.array_equal(expected, two.predict(rows))


def describe(path: str | os.PathLike[str]) -> ModelDescription:
    """Read the metadata and the certificate of a model file, without building its models.

    Parameters
    ----------
    path : path
        The model file.

    Returns
    -------
    ModelDescription
        The numbers of its certificate were computed again.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import make_classification
    >>> from replearn import PointwiseReplicableClassifier, save
    >>> from replearn.persistence.model_file import describe
    >>> model = PointwiseReplicableClassifier(n_blocks=18, shared_key="trial-2026")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.replearn")
    ...     save(model.fit(*make_classification(900, random_state=0)), path, notes={"by": "Ada"})
    ...     about = describe(path)
    >>> about.estimator, about.includes_key, about.notes
    ('PointwiseReplicableClassifier', False, {'by': 'Ada'})
    """
    name = os.fspath(path)
    manifest, models = unpack(Path(path).read_bytes(), name)
    derived = {
        "estimator": manifest["learner"],
        "certificate": _read_documents(manifest, name).get("certificate_"),
        "includes_key": manifest["key"] is not None,
        "untrusted_types": tuple(sorted(untrusted_types(models, name))),
    }
    names = [field.name for field in fields(ModelDescription)]
    return ModelDescription(**{item: {**manifest, **derived}[item] for item in names})


def _check_versions(manifest: dict[str, Any], name: str, any_version: bool) -> None:
    if manifest["encoding"] != ENCODING_VERSION:
        raise ModelFileError(
            f"{name} keys its thresholds by encoding {manifest['encoding']!r}, this library by "
            f"{ENCODING_VERSION!r}: its predictions would not be those of the other runs. Use "
            f"replearn {manifest['library_version']}, or train again."
        )
    written = manifest["sklearn_version"]
    installed = sklearn.__version__
    if written.split(".")[:2] != installed.split(".")[:2] and not any_version:
        raise ModelFileError(
            f"{name} was written with scikit-learn {written}, this is {installed}, whose models "
            f"may predict differently. Install scikit-learn {written}, train again, or take the "
            "risk: load(path, any_version=True) in Python, --any-version on the command line."
        )


def _check_key(manifest: dict[str, Any], shared_key: Any, name: str) -> SharedKey:
    fingerprint = manifest["key_fingerprint"]
    is_keyless = "certificate_" not in manifest["documents"] and manifest["key"] is not None
    value = manifest["key"] if shared_key is None or is_keyless else shared_key
    if value is None:
        raise ModelFileError(
            f"{name} requires its shared key (fingerprint {fingerprint}): "
            "load(path, shared_key=...)."
        )
    key = SharedKey(value)
    if key.fingerprint != fingerprint:
        raise ModelFileError(
            f"{name} belongs to the key with fingerprint {fingerprint}; shared_key has "
            f"{key.fingerprint}."
        )
    return key


def _read_documents(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    try:
        values = {item: read_document(content) for item, content in manifest["documents"].items()}
    except FAULTS as error:
        raise ModelFileError(f"{name} cannot be loaded: {error}") from error
    certificate = values.get("certificate_")
    is_needed = estimator_class(manifest["learner"])._always_certified
    if not isinstance(certificate, Certificate) and (is_needed or certificate is not None):
        raise ModelFileError(f"{name} has no certificate.")
    return values
