"""Model files without pickle."""

from replearn.persistence._container import ModelFileError
from replearn.persistence.model_file import ModelDescription, describe, load, save

__all__ = ["ModelDescription", "ModelFileError", "describe", "load", "save"]
