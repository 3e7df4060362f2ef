"""Frames, arrays and files in one shape."""

from replearn.tables.rows import (
    copy_rows,
    data_digest,
    is_frame,
    is_sparse,
    n_rows,
    pad_rows,
    row_chunks,
    slice_rows,
    take_rows,
)

__all__ = [
    "copy_rows",
    "data_digest",
    "is_frame",
    "is_sparse",
    "n_rows",
    "pad_rows",
    "row_chunks",
    "slice_rows",
    "take_rows",
]
