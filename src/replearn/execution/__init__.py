"""Cut the rows into blocks, fit the blocks, let them vote: the plain loop.

Faster ways to the same result plug in from `replearn.fastpaths`; nothing here needs them.
"""

from replearn.execution.constant import ConstantVote
from replearn.execution.context import (
    BlockCache,
    BlockStore,
    DeadlinePassed,
    RunContext,
    accepts_context,
    fit_in_context,
    now,
)
from replearn.execution.fitting import fit_blocks
from replearn.execution.partition import keyed_seeds, make_blocks, random_state_names, set_seeds
from replearn.execution.plugins import plain_loop, use_fastpaths
from replearn.execution.runtime import Progress, side_by_side
from replearn.execution.voting import (
    MIN_ROWS_PER_TASK,
    BlockEnsemble,
    model_predictions,
    one_thread,
)
from replearn.execution.workers import in_workers, same_import_path

__all__ = [
    "MIN_ROWS_PER_TASK",
    "BlockCache",
    "BlockEnsemble",
    "BlockStore",
    "ConstantVote",
    "DeadlinePassed",
    "Progress",
    "RunContext",
    "accepts_context",
    "fit_blocks",
    "fit_in_context",
    "in_workers",
    "keyed_seeds",
    "make_blocks",
    "model_predictions",
    "now",
    "one_thread",
    "plain_loop",
    "random_state_names",
    "same_import_path",
    "set_seeds",
    "side_by_side",
    "use_fastpaths",
]
