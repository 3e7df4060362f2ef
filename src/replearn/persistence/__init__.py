"""Model files without pickle, and folders for fits that may be interrupted."""

from replearn.persistence._native_types import NATIVE_TYPES
from replearn.persistence._parts import check_savable
from replearn.persistence._skops import trust_options
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
    "NATIVE_TYPES",
    "ModelDescription",
    "check_savable",
    "describe",
    "load",
    "resumable",
    "save",
    "trust_options",
    "why_not_packed",
]
