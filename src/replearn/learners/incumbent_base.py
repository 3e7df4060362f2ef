"""What estimators with a chain have in common: files, copies, clones."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone

from replearn.learners.incumbent_chain import Chain, check_chain
from replearn.learners.inputs import FittedState
from replearn.randomness import SharedKey

MAX_HISTORY = 120
"""Retrainings that ``history_`` lists."""


class KeepsChain(FittedState, MetaEstimatorMixin, BaseEstimator):
    """Base of estimators with the parameter ``incumbent`` and the fitted attribute ``chain_``.

    A fitted estimator does not need its incumbent, whose models are in the chain: copies by pickle
    and model files leave it out, so that they do not grow with the number of retrainings.
    """

    _always_certified: ClassVar[bool] = False
    _derived_state: ClassVar[tuple[str, ...]] = ("estimator_",)

    estimator: Any
    incumbent: Any
    chain_: Chain

    @property
    def shared_key(self) -> Any:
        """The key of the models, where one has a key; model files need it."""
        models = [self.estimator]
        if "chain_" in vars(self):
            models = [one.model for one in (*reversed(self.chain_.recent), self.chain_.start)]
        keyed = [model for model in models if hasattr(model, "shared_key")]
        if not keyed:
            raise AttributeError(f"no estimator of this {type(self).__name__} has a shared_key")
        return keyed[0].shared_key

    def _record(self, entry: dict[str, Any]) -> None:
        """Add this retraining to the history of the incumbent."""
        before = getattr(self.incumbent, "history_", [])
        self.history_ = [*before, entry][-MAX_HISTORY:]
        self.n_retrainings_ = 0
        if self.incumbent is not None:
            self.n_retrainings_ = 1 + getattr(self.incumbent, "n_retrainings_", 0)

    def _file_state(self) -> dict[str, Any]:
        return {**super()._file_state(), "incumbent": None}

    def _restore(self, key: SharedKey) -> None:
        super()._restore(key)
        if "chain_" in vars(self):
            check_chain(self.chain_)
            self.estimator_ = self.chain_.newest.model

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {**state, "incumbent": None} if "chain_" in state else state

    def __sklearn_clone__(self) -> Any:
        params = self.get_params(deep=False)
        copies = {name: clone(value, safe=False) for name, value in params.items()}
        return type(self)(**{**copies, "incumbent": self.incumbent})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "chain_")
