"""Plug-ins that give the bits of the plain loop faster, registered here and nowhere else.

Which models a plug-in may look at is said by exact types; the first that takes a model has it.
Each can be switched off by its name: see `replearn.execution.plugins`.
"""

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline

from replearn.execution.constant import ConstantVote
from replearn.execution.plugins import Plugin, register
from replearn.fastpaths.bayes import GaussianVoter
from replearn.fastpaths.boosting import BoostingVoter
from replearn.fastpaths.linear import LINEAR, LinearVoter, fit_plain_logistic
from replearn.fastpaths.pipelines import EncodedVoter, FoldedVoter, PipelineVoter
from replearn.fastpaths.rowwise import ROWWISE_CLASSIFIERS, ConstantVoter, RowwiseVoter
from replearn.fastpaths.trees import FORESTS, TREES, TreeVoter

__all__ = ["PLUGINS"]

_BOOSTING = frozenset({HistGradientBoostingClassifier})
_PIPELINE = frozenset({Pipeline})
_LOGISTIC = frozenset({LogisticRegression})

PLUGINS = (
    Plugin("logistic fit", _LOGISTIC | _PIPELINE, _LOGISTIC, fit=fit_plain_logistic),
    Plugin("constants", frozenset({ConstantVote}), voter=ConstantVoter),
    Plugin("linear", LINEAR, voter=LinearVoter),
    Plugin("trees", TREES | FORESTS, voter=TreeVoter),
    Plugin("naive Bayes", frozenset({GaussianNB}), voter=GaussianVoter),
    Plugin("boosting", _BOOSTING, voter=BoostingVoter),
    Plugin("row by row", ROWWISE_CLASSIFIERS, voter=RowwiseVoter),
    Plugin("folded pipelines", _PIPELINE, LINEAR, voter=FoldedVoter),
    Plugin("encoded trees", _PIPELINE, TREES | FORESTS | ROWWISE_CLASSIFIERS, voter=EncodedVoter),
    Plugin("pipelines", _PIPELINE, voter=PipelineVoter),
)
"""In this order, which is also the order in which soft votes are added up."""

register(*PLUGINS)
