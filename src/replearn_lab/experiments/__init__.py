"""All experiments, in the order in which the list shows them."""

from __future__ import annotations

from importlib import import_module

from replearn_lab.experiment import Experiment

# One module each: measure, draw, read, and its LABELS, SUMMARY and SIZES.
MODULES = (
    "coin_limit",
    "coin_gap",
    "one_coin",
    "two_coins",
    "learner_to_coins",
    "keys",
    "pointwise_to_coin",
    "realizable_to_coin",
    "approximate_to_coin",
    "marginals",
    "conjunctions",
    "public_data",
    "mistakes",
    "domain_size",
    "impossible",
    "promise",
    "frontier",
    "scaling",
)


def all_experiments() -> dict[str, Experiment]:
    """Return every experiment by its name: that of its module, with hyphens."""
    return {name: _experiment(name) for name in (module.replace("_", "-") for module in MODULES)}


def _experiment(name: str) -> Experiment:
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    functions = module.measure, module.draw, module.read
    return Experiment(name, module.LABELS, module.SUMMARY, *functions, module.SIZES)


def find_experiment(name: str) -> Experiment:
    """Return the experiment of this name, or raise with the names that there are."""
    known = all_experiments()
    if name not in known:
        raise ValueError(f"no experiment is called {name!r}; there are: {', '.join(known)}.")
    return known[name]
