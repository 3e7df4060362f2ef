"""Replicable learning: retrain on a fresh sample, keep the answers.

Names are loaded when they are first used, so that a command or a plan does not wait for learners.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from replearn._version import __version__

if TYPE_CHECKING:
    from replearn.auditing import audit, compare
    from replearn.exceptions import (
        CertificateError,
        ConstantBlocksWarning,
        NotCertifiedWarning,
        PreprocessingWarning,
        UnsupportedValueError,
        UsefulnessWarning,
    )
    from replearn.guarantees import Certificate, Plan, plan
    from replearn.learners import (
        ApproximatelyReplicableClassifier,
        IncumbentClassifier,
        PointwiseReplicableClassifier,
        PointwiseReplicableRegressor,
        RealizableReplicableClassifier,
        ReplicableSearchCV,
        ReplicableSelector,
        ReplicableThresholdClassifier,
        ScoreReplicableClassifier,
        SemiPrivateClassifier,
        SemiReplicableClassifier,
    )
    from replearn.persistence import ModelFileError, load, save
    from replearn.randomness import SharedKey

__all__ = [
    "ApproximatelyReplicableClassifier",
    "Certificate",
    "CertificateError",
    "ConstantBlocksWarning",
    "IncumbentClassifier",
    "ModelFileError",
    "NotCertifiedWarning",
    "Plan",
    "PointwiseReplicableClassifier",
    "PointwiseReplicableRegressor",
    "PreprocessingWarning",
    "RealizableReplicableClassifier",
    "ReplicableSearchCV",
    "ReplicableSelector",
    "ReplicableThresholdClassifier",
    "ScoreReplicableClassifier",
    "SemiPrivateClassifier",
    "SemiReplicableClassifier",
    "SharedKey",
    "UnsupportedValueError",
    "UsefulnessWarning",
    "__version__",
    "audit",
    "compare",
    "load",
    "plan",
    "save",
]

_ROOMS = {
    "auditing": ("audit", "compare"),
    "exceptions": (
        "CertificateError",
        "ConstantBlocksWarning",
        "NotCertifiedWarning",
        "PreprocessingWarning",
        "UnsupportedValueError",
        "UsefulnessWarning",
    ),
    "guarantees": ("Certificate", "Plan", "plan"),
    "persistence": ("ModelFileError", "load", "save"),
    "randomness": ("SharedKey",),
}
"""Where a public name lives; what is not listed is a learner."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    room = next((room for room, names in _ROOMS.items() if name in names), "learners")
    value = getattr(import_module(f"{__name__}.{room}"), name)
    globals()[name] = value  # the next time it is simply there
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
