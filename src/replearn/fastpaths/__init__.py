"""Plug-ins that give the bits of the plain loop faster, registered here and nowhere else.

Which models a plug-in may look at is said by exact types; the first that takes a model has it.
"""

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from replearn.execution.constant import ConstantVote
from replearn.execution.plugins import Plugin, register
from replearn.fastpaths.boosting import BoostingPredictor
from replearn.fastpaths.boosting_fit import fit_plain_boosting
from replearn.fastpaths.linear import LINEAR, LinearPredictor, fit_plain_logistic
from replearn.fastpaths.pipelines import EncodedPredictor, FoldedPredictor, PipelinePredictor
from replearn.fastpaths.rowwise import ROWWISE_CLASSIFIERS, ConstantPredictor, RowwisePredictor
from replearn.fastpaths.trees import FORESTS, TREES, TreesPredictor

__all__ = ["PLUGINS"]

_BOOSTING = frozenset({HistGradientBoostingClassifier})
_PIPELINE = frozenset({Pipeline})
_LOGISTIC = frozenset({LogisticRegression})

PLUGINS = (
    Plugin(_LOGISTIC | _PIPELINE, _LOGISTIC, fit=fit_plain_logistic),
    Plugin(_BOOSTING | _PIPELINE, _BOOSTING, fit=fit_plain_boosting),
    Plugin(frozenset({ConstantVote}), predictor=ConstantPredictor),
    Plugin(LINEAR, predictor=LinearPredictor),
    Plugin(TREES | FORESTS, predictor=TreesPredictor),
    Plugin(_BOOSTING, predictor=BoostingPredictor),
    Plugin(ROWWISE_CLASSIFIERS, predictor=RowwisePredictor),
    Plugin(_PIPELINE, LINEAR, predictor=FoldedPredictor),
    Plugin(
        _PIPELINE,
        TREES | FORESTS | ROWWISE_CLASSIFIERS,
        predictor=EncodedPredictor,
    ),
    Plugin(_PIPELINE, predictor=PipelinePredictor),
)
"""In this order, which is also the order in which soft votes are added up."""

register(*PLUGINS)
