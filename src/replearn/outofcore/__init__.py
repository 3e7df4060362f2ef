"""Files larger than memory: fit, predict and draw rows in pieces, on one machine or on many."""

from replearn.outofcore.fit import fit_files
from replearn.outofcore.predict import predict_files
from replearn.outofcore.sampling import sample_files

__all__ = ["fit_files", "predict_files", "sample_files"]
