"""All cases by name, and how one is run."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

from replearn.exceptions import WeakKeyWarning

from . import (
    cases_audit,
    cases_bases,
    cases_choice,
    cases_plans,
    cases_primitives,
    cases_randomness,
    cases_rules,
    cases_score,
    cases_votes,
)
from .calls import WARNINGS, Facts
from .fingerprint import fingerprint

_HELPERS = {"pair_of_columns"}


def _cases_of(module: Any) -> dict[str, Callable[[], Facts]]:
    """Every public function that is written in the module is a case."""
    room = module.__name__.rpartition(".cases_")[2]
    return {
        f"{room}: {name.replace('_', ' ')}": function
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and not name.startswith("_")
        and name not in _HELPERS
    }


CASES: dict[str, Callable[[], Facts]] = {
    name: function
    for module in (
        cases_votes,
        cases_score,
        cases_bases,
        cases_choice,
        cases_primitives,
        cases_rules,
        cases_randomness,
        cases_plans,
        cases_audit,
    )
    for name, function in _cases_of(module).items()
}


def run(name: str) -> dict[str, Any]:
    """Run one case and return the fingerprints of its items, the warnings among them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", WeakKeyWarning)  # the keys of the corpus are public
        warnings.filterwarnings("ignore", ".* abstains: ")  # a fact of its own
        for category in WARNINGS:
            warnings.simplefilter("always", category)
        facts = CASES[name]()
    said = {WARNINGS[warning.category] for warning in caught}
    found = {item: fingerprint(value) for item, value in facts.items()}
    return {**found, "warnings": ", ".join(sorted(said))}
