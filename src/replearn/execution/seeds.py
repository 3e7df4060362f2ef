"""Every random state of a base learner, however deeply nested, gets a seed from the key."""

from __future__ import annotations

from typing import Any

from replearn.randomness import SharedKey

_NAME = "random_state"


def random_state_names(estimator: Any) -> list[str]:
    """List the places of a base learner, however deeply nested, that take a seed.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn estimator.

    Returns
    -------
    list of str
        Parameter names; ``"cv.random_state"`` stands for the attribute of the splitter ``cv``,
        which is no estimator and has no parameters of its own.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from replearn.execution import random_state_names
    >>> random_state_names(BaggingClassifier(DecisionTreeClassifier()))
    ['estimator__random_state', 'random_state']
    """
    parameters = estimator.get_params(deep=True)
    names = [name for name in parameters if name == _NAME or name.endswith("__" + _NAME)]
    names += [f"{name}.{_NAME}" for name, value in parameters.items() if _is_splitter(value)]
    return sorted(names)


def keyed_seeds(names: list[str], key: SharedKey) -> dict[str, int]:
    """Give each named place its own seed."""
    return {name: key.seed_for(name) for name in names}


def set_seeds(estimator: Any, seeds: dict[str, int]) -> None:
    """Write the seeds into an estimator; its splitters must be its own (as after ``clone``)."""
    if list(seeds) == [_NAME]:
        estimator.random_state = seeds[_NAME]  # what set_params does, ten times as fast
        return
    parameters = {name: seed for name, seed in seeds.items() if "." not in name}
    if parameters:
        estimator.set_params(**parameters)
    for name, seed in seeds.items():
        if "." in name:
            splitter = estimator.get_params(deep=True)[name.removesuffix("." + _NAME)]
            splitter.random_state = seed


def _is_splitter(value: Any) -> bool:
    return (
        hasattr(value, _NAME)
        and hasattr(value, "split")
        and not hasattr(value, "get_params")
        and getattr(value, "shuffle", True)
    )
