"""The base learners that can be named on the command line."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier

from replearn.learners import PointwiseReplicableClassifier
from replearn.tables.encoder import TableEncoder

NAMED = {
    "logreg": (lambda: LogisticRegression(max_iter=1000), False),
    "hgb": (HistGradientBoostingClassifier, True),
    "forest": (RandomForestClassifier, True),
    "tree": (lambda: DecisionTreeClassifier(min_samples_leaf=5), True),
}
"""Name to a maker, and whether it is made of trees."""

HELP = (
    "logreg, hgb, forest, tree, or module:object for your own: a Pipeline gets the columns of the "
    "file as they are, any other classifier gets them encoded (default: logreg)"
)


def base_model(name: str, columns: Mapping[str, str]) -> Any:
    """Return the base learner, with everything that learns from data inside.

    Parameters
    ----------
    name : str
        One of ``NAMED``, or ``module:object``.
    columns : mapping of str to str
        Kinds of the feature columns.

    Returns
    -------
    classifier
        Takes a frame with these columns.

    Examples
    --------
    >>> [type(step).__name__ for _, step in base_model("tree", {"age": "number"}).steps]
    ['TableEncoder', 'DecisionTreeClassifier']
    """
    if name in NAMED:
        maker, for_trees = NAMED[name]
        return make_pipeline(TableEncoder(dict(columns), for_trees=for_trees), maker())
    model = _imported(name)
    if isinstance(model, Pipeline | PointwiseReplicableClassifier):
        return model
    return make_pipeline(TableEncoder(dict(columns)), model)


def takes_columns_itself(model: Any) -> bool:
    """Tell whether a base learner is somebody's own pipeline, which may expect pandas."""
    steps = getattr(model, "steps", None)
    return steps is None or not isinstance(steps[0][1], TableEncoder)


def _imported(name: str) -> Any:
    module_name, colon, path = name.partition(":")
    if not colon or not module_name or not path:
        raise ValueError(f"model {name!r} is not one of {', '.join(NAMED)}, nor module:object.")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"model {name!r} cannot be imported: {error}") from None
    finally:
        sys.path.remove(here)
    if isinstance(found, type) or (callable(found) and not hasattr(found, "fit")):
        found = found()
    if not (hasattr(found, "fit") and hasattr(found, "predict")):
        raise ValueError(f"model {name!r} is {found!r:.80}, which has no fit and predict.")
    return found
