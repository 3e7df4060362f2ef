"""Arguments of ``fit`` that go to the base estimator, one value per row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

from replearn.learners.inputs import base_estimator


class PassesFitParams:
    """Hand ``sample_weight`` and routed metadata to the base estimator."""

    estimator: Any

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how scikit-learn routes metadata: arguments of ``fit`` to the base estimator.

        Returns
        -------
        MetadataRouter
            The routing of this estimator and its base estimator.
        """
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                estimator=base_estimator(self.estimator),
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )

    def _params_of_rows(self, params: dict[str, Any], n_rows: int) -> dict[str, NDArray[Any]]:
        """Return what the base estimator gets beside rows and labels."""
        given = {name: value for name, value in params.items() if value is not None}
        if get_config()["enable_metadata_routing"]:
            given = dict(process_routing(self, "fit", **given).estimator.fit)
        else:
            self._refuse_unknown(given)
        rows = {name: np.asarray(value) for name, value in given.items()}
        for name, value in rows.items():
            if value.shape != (n_rows,):
                raise ValueError(
                    f"{name} has shape {value.shape}, but there are {n_rows} rows: give one value "
                    "per row."
                )
        return rows

    def _refuse_unknown(self, given: dict[str, Any]) -> None:
        base = base_estimator(self.estimator)
        for name in given:
            if name != "sample_weight":
                raise TypeError(f"fit got an unexpected keyword argument {name!r}")
            if not has_fit_parameter(base, name):
                raise TypeError(
                    f"fit of {type(base).__name__} does not accept {name}. For a pipeline, enable "
                    "metadata routing, sklearn.set_config(enable_metadata_routing=True), and let "
                    f"the step request it: set_fit_request({name}=True)."
                )
