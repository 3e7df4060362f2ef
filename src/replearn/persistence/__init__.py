"""Model files without pickle, and folders for fits that may be interrupted."""

from replearn.persistence._container import ModelFileError
from replearn.persistence._parts import check_savable
from replearn.persistence._trust import why_not_packed
from replearn.persistence.block_folder import (
    TrainingFolder,
    block_file,
    library_versions,
    resumable,
    save_block,
)
from replearn.persistence.model_file import ModelDescription, describe, load, save

__all__ = [
    "ModelDescription",
    "ModelFileError",
    "check_savable",
    "describe",
    "load",
    "resumable",
    "save",
    "why_not_packed",
]
