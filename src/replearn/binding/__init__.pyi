from .estimator import prefitted
from .probe import encode_probe

__all__ = [
    "encode_probe",
    "prefitted",
]
