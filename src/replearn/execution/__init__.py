"""Cut the rows into blocks, fit the blocks, let them vote: the plain loop.

Faster ways to the same result plug in from `replearn.fastpaths`; nothing here needs them.
"""

from replearn.execution.constant import ConstantVote
from replearn.execution.context import (
    BlockCache,
    BlockStore,
    DeadlinePassed,
    Progress,
    RunContext,
    accepts_context,
    fit_in_context,
    no_autologging,
    now,
    side_by_side,
)
from replearn.execution.fitting import (
    Block,
    fit_blocks,
    fit_one_block,
    keyed_seeds,
    make_blocks,
    random_state_names,
    set_seeds,
)
from replearn.execution.plugins import (
    BlockModel,
    Plugin,
    Predictor,
    fit_functions,
    fit_steps,
    fits_step_by_step,
    plain_loop,
    predict_labels,
    predict_probabilities,
    register,
    transformers_of,
)
from replearn.execution.voting import (
    MIN_ROWS_PER_TASK,
    BlockEnsemble,
    LoopPredictor,
    add_codes,
    groups_of_models,
    model_predictions,
    one_thread,
)

__all__ = [
    "MIN_ROWS_PER_TASK",
    "Block",
    "BlockCache",
    "BlockEnsemble",
    "BlockModel",
    "BlockStore",
    "ConstantVote",
    "DeadlinePassed",
    "LoopPredictor",
    "Plugin",
    "Predictor",
    "Progress",
    "RunContext",
    "accepts_context",
    "add_codes",
    "fit_blocks",
    "fit_functions",
    "fit_in_context",
    "fit_one_block",
    "fit_steps",
    "fits_step_by_step",
    "groups_of_models",
    "keyed_seeds",
    "make_blocks",
    "model_predictions",
    "no_autologging",
    "now",
    "one_thread",
    "plain_loop",
    "predict_labels",
    "predict_probabilities",
    "random_state_names",
    "register",
    "set_seeds",
    "side_by_side",
    "transformers_of",
]
