"""Warnings and errors of the library."""

import sys
import warnings
from types import FrameType

__all__ = [
    "CertificateError",
    "ConstantBlocksWarning",
    "ModelFileError",
    "NotCertifiedWarning",
    "PreprocessingWarning",
    "PublicKeyWarning",
    "RetrainingWarning",
    "SecretKeyWarning",
    "UnsupportedValueError",
    "UsefulnessWarning",
    "WeakKeyWarning",
]


class NotCertifiedWarning(UserWarning):
    """The sample is too small for the promise that was requested, or refutes what it assumes.

    The model is usable; its certificate says what it can promise and why it is not certified.
    """


class CertificateError(ValueError):
    """A certificate or a plan does not follow from its own inputs, or was changed."""


class ModelFileError(ValueError):
    """A model file is damaged, changed, not usable here, or cannot be written."""


class UnsupportedValueError(ValueError, TypeError):
    """A cell has no canonical encoding: infinite, or of a type without a canonical value.

    It is also a TypeError, which is what numpy raises for cells that are neither text nor numbers.
    """


class PreprocessingWarning(UserWarning):
    """X appears to have been transformed by an estimator that was fitted on it."""


class SecretKeyWarning(UserWarning):
    """A secret key is being pickled: anybody who gets the file can read it."""


class PublicKeyWarning(UserWarning):
    """An estimator was fitted without ``shared_key``: the default key is used, which is public."""


class WeakKeyWarning(UserWarning):
    """A model file names a key that can be guessed from its fingerprint: its text is too short."""


class ConstantBlocksWarning(UserWarning):
    """Most block estimators predict a constant.

    Usually the blocks have too few rows for the parameters of the base estimator; rarely, the
    features are unrelated to the labels. The promise holds, but for a model that hardly uses the
    features. A search by many trainings warns if this is so for every configuration.
    """


class UsefulnessWarning(UserWarning):
    """The fitted model predicts a single class, or hardly ever one that its blocks do predict.

    What its certificate says holds, but for a model that is of little use.
    """


class RetrainingWarning(UserWarning):
    """A retraining has raised an alarm, or its rows cannot show whether the incumbent still holds.

    ``history_`` of the new model has the numbers. A comparison warns if its rows were used before.
    """


LIBRARIES = frozenset({"joblib", "replearn", "sklearn"})


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with file and line of the nearest caller outside the libraries."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and _package(frame) in LIBRARIES:
        level = level + 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
