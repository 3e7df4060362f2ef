"""Partition the rows into blocks, run the blocks, vote."""

from replearn.execution.constant import ConstantVote
from replearn.execution.fitting import fit_blocks
from replearn.execution.partition import make_blocks
from replearn.execution.progress import Progress
from replearn.execution.seeds import keyed_seeds, random_state_names, set_seeds
from replearn.execution.voting import Panel, soft_scores, vote_counts

__all__ = [
    "ConstantVote",
    "Panel",
    "Progress",
    "fit_blocks",
    "keyed_seeds",
    "make_blocks",
    "random_state_names",
    "set_seeds",
    "soft_scores",
    "vote_counts",
]
