from .fit import fit_files as fit_files
from .predict import predict_files as predict_files
from .sampling import sample_files as sample_files

__all__ = ["fit_files", "predict_files", "sample_files"]
