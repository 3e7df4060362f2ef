"""Pipelines whose last step is fitted faster; the other steps are scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from sklearn import get_config
from sklearn.pipeline import Pipeline


def transformers_of(pipeline: Pipeline) -> list[Any]:
    """List the steps of a pipeline that change the table."""
    steps = [step for _, step in pipeline.steps[:-1]]
    return [step for step in steps if step is not None and step != "passthrough"]


def fits_step_by_step(pipeline: Pipeline) -> bool:
    """Tell whether fitting a pipeline is nothing but fitting its steps in turn."""
    return (
        pipeline.memory is None
        and pipeline.transform_input is None
        and not pipeline.verbose
        and not get_config()["enable_metadata_routing"]
        and all(hasattr(step, "fit_transform") for step in transformers_of(pipeline))
    )


def fit_steps(
    pipeline: Pipeline,
    X: Any,
    y: NDArray[Any],
    fit_last: Callable[[Any, Any, NDArray[Any]], bool],
) -> None:
    """Fit the steps in turn, the last by ``fit_last`` if it takes it."""
    for step in transformers_of(pipeline):
        X = step.fit_transform(X, y)
    last = pipeline.steps[-1][1]
    if not fit_last(last, X, y):
        last.fit(X, y)
