"""Plans: what n rows promise, and how many rows a promise needs."""

from __future__ import annotations

from . import calls
from .calls import Facts

POINTWISE = {
    "n and rho": {"n": 20_000, "rho": 0.1},
    "small n": {"n": 300, "rho": 0.1},
    "n only": {"n": 5000},
    "rho and rows of a block": {"rho": 0.1, "block_size": 100},
    "n and blocks": {"n": 3000, "n_blocks": 32},
    "n, blocks and width": {"n": 3000, "n_blocks": 32, "width": 0.9},
    "few trainings": {"n": 20_000, "rho": 0.1, "max_fits": 40},
    "small rho": {"n": 60_000, "rho": 0.04},
    "large rho": {"n": 400, "rho": 0.4},
    "uniform": {"n": 4000, "rho": 0.1, "law": "uniform", "width": 1.0, "n_partitions": 1},
    "soft": {"n": 4000, "rho": 0.1, "vote": "soft"},
    "four runs": {"n": 8000, "rho": 0.3, "runs": 4},
    "three classes": {"n": 10_000, "rho": 0.1, "classes": ["c", "a", "b"]},
    "seven classes": {"n": 10_000, "rho": 0.3, "n_classes": 7},
    "groups": {"n": 900, "rho": 0.2, "unit": "groups", "decimals": 3},
    "larger blocks": {"n": 2000, "rho": 0.2, "min_block": 100},
    "accurate": {"rho": 0.1, "alpha": 0.1, "beta": 0.05, "d": 10},
    "accurate, realizable": {"rho": 0.2, "alpha": 0.1, "beta": 0.1, "d": 3, "label_noise": False},
    "alpha solved": {"n": 10**6, "rho": 0.1, "beta": 0.05, "d": 10},
    "beta solved": {"n": 10**6, "rho": 0.1, "alpha": 0.3, "d": 10},
}
APPROXIMATE = {
    "rho and gamma": {"rho": 0.2, "gamma": 0.3},
    "n and rho": {"n": 9000, "rho": 0.1},
    "n and gamma": {"n": 9000, "gamma": 0.25},
    "too few rows": {"n": 300, "rho": 0.1, "gamma": 0.1},
    "atoms": {"n": 9000, "rho": 0.2, "max_point_mass": 0.001},
    "soft": {"n": 9000, "rho": 0.2, "vote": "soft"},
    "three classes": {"n": 9000, "rho": 0.2, "n_classes": 3},
}
CHOICES = {
    "one of five models": ("selector", {"n_hypotheses": 5}),
    "one of five models, few rows": ("selector", {"n_hypotheses": 5, "n": 10_000}),
    "one of 1000": ("select", {"n_hypotheses": 1000, "rho": 0.2, "alpha": 0.2}),
    "threshold": ("threshold", {"rho": 0.2, "gamma": 0.2, "alpha": 0.2, "beta": 0.1}),
    "threshold, one direction": ("threshold", {"rho": 0.3, "gamma": 0.3, "direction": ">"}),
    "realizable": ("realizable", {"d": 3}),
    "semi": ("semi", {"d": 2}),
    "semi, pool given": ("semi", {"d": 1, "n_shared": 5000, "alpha": 0.3, "rho": 0.3}),
    "regression": ("regression", {"y_range": (0, 12), "resolution": 3.0, "block_size": 50}),
    "semi-private": ("semi-private", {"d": 1, "epsilon": 4.0, "alpha": 0.4}),
    "few bits": ("finite randomness", {"n_candidates": 2, "rho": 0.5, "gamma": 0.5}),
    "few bits for each point": ("finite randomness", {"gamma": None, "n_candidates": 3}),
}


def _named(found: dict[str, Facts]) -> Facts:
    return {
        f"{name}: {item}": value for name, facts in found.items() for item, value in facts.items()
    }


def pointwise() -> Facts:
    return _named(
        {name: calls.solved_facts(calls.plan(**wishes)) for name, wishes in POINTWISE.items()}
    )


def approximate() -> Facts:
    return _named(
        {
            name: calls.solved_facts(calls.plan("approximate", **wishes))
            for name, wishes in APPROXIMATE.items()
        }
    )


def choices() -> Facts:
    return _named(
        {
            name: calls.choice_plan_facts(calls.plan_choice(what, **wishes))
            for name, (what, wishes) in CHOICES.items()
        }
    )
