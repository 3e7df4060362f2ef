from .counting import DistinctValues as DistinctValues
from .fit import fit_files
from .folders import Folder as Folder
from .predict import predict_files
from .sampling import draw_rows as draw_rows, sample_files
from .sources import open_rows as open_rows

__all__ = [
    "fit_files",
    "predict_files",
    "sample_files",
]
