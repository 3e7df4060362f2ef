"""Semi-private learning: replicable runs on disjoint parts, private selection of a hypothesis."""

import math
from functools import lru_cache
from typing import Any, NamedTuple

from replearn.bounds import (
    cover_distance,
    fewest_parts,
    release_threshold,
    run_failure,
    selection_error_tail_sampled,
    selection_flip_bound_sampled,
    semi_private_miss,
    semi_private_wrong,
    single_release,
    smallest_sample_selection,
)
from replearn.guarantees.guarantee import (
    Conclusion,
    Guarantee,
    Ledger,
    Needed,
    Number,
    above_budget,
    rounded_up,
)
from replearn.guarantees.semi import listed_candidates, pool_and_rest

ASSUMPTIONS = ("one-row-apart", "secret-noise", "no-drift", "random-function")

# What the planner tries: keys, and how often two runs under one key may differ.
_KEYS = (1, 2, 3, 4, 6, 8, 12)
_RHOS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
# Share of alpha that the public rows may take: they are cheaper than private ones.
_POOL_SHARE = 0.2


class PrivateDesign(NamedTuple):
    """How many keys, runs under each key and rows in each run."""

    n_keys: int
    n_parts: int
    part_size: int

    @property
    def rows(self) -> int:
        """Private rows altogether."""
        return self.n_keys * self.n_parts * self.part_size


@lru_cache(maxsize=64)
def private_design(
    epsilon: float, delta: float, rest: float, beta: float, n_hypotheses: int
) -> PrivateDesign:
    """Return the design with the fewest private rows for a choice among this many candidates.

    ``rest`` and ``beta`` are what the public pool leaves of the accuracy.

    >>> private_design(1.0, 1e-6, 0.2, 0.025, 20).n_keys
    6
    """
    level = release_threshold(epsilon, delta)
    designs = []
    for n_keys in _KEYS:
        for rho in _RHOS:
            try:
                n_parts = fewest_parts(n_keys, rho, level, epsilon, 0.7 * beta)
            except ValueError:
                continue
            run_beta = run_failure(beta, n_keys * n_parts, level)
            m, _ = smallest_sample_selection(rho, rest, run_beta, n_hypotheses)
            designs.append(PrivateDesign(n_keys, n_parts, m))
    return min(designs, key=lambda design: design.rows)


def _derive(
    ledger: Ledger,
    n: int,
    n_keys: int,
    n_parts: int,
    epsilon: float,
    delta: float,
    alpha: float,
    beta: float,
    public_classes: bool,
    **cover: Any,
) -> Conclusion:
    level = ledger.add(release_threshold, epsilon=epsilon, delta=delta)
    loss = ledger.add(single_release, epsilon=epsilon, threshold=level)
    private = (
        f"({epsilon:g}, {rounded_up(loss)})-differentially private in the {n} private rows, by "
        f"discrete Laplace noise on the results of {n_keys * n_parts} disjoint parts and a "
        f"release threshold of {level}."
    )
    leaks = () if public_classes else ("the list of classes was read from the private labels",)
    if not cover:
        unknown = ("nothing is known about the accuracy of this estimator",)
        return Conclusion((private,), reasons=leaks + unknown, assumptions=ASSUMPTIONS)
    n_shared = cover.pop("n_shared")
    d = cover.pop("d")
    items = {**cover, "m": max(n // (n_keys * n_parts), 1)}
    shared = {"threshold": level, "epsilon": epsilon}
    distance = ledger.add(cover_distance, n_shared=n_shared, d=d, beta=beta / 2)
    if distance >= alpha or n == 0:
        small = (f"too few rows for alpha = {alpha:g} (public: {n_shared}, private: {n})",)
        return Conclusion((private,), reasons=leaks + small, assumptions=ASSUMPTIONS)
    rho = ledger.add(selection_flip_bound_sampled, **items)
    run_beta = ledger.add(selection_error_tail_sampled, alpha=alpha - distance, **items)
    missed = ledger.add(semi_private_miss, n_keys=n_keys, n_parts=n_parts, rho=rho, **shared)
    wrong = ledger.add(semi_private_wrong, n_runs=n_keys * n_parts, run_beta=run_beta, **shared)
    failure = min(1.0, beta / 2 + missed + wrong)
    accurate = (
        f"With a public pool of {n_shared} rows the error exceeds the best of the class's by more "
        f"than {alpha:g}, or nothing is released, with probability at most {rounded_up(failure)}."
    )
    return Conclusion(
        (private, accurate),
        alpha=alpha,
        beta=failure,
        reasons=leaks + above_budget("beta", failure, beta),
        assumptions=ASSUMPTIONS,
    )


def _needed(
    epsilon: float, delta: float, alpha: float, beta: float, d: int, n_shared: int | None
) -> Needed:
    pool, rest = pool_and_rest(alpha, beta, d, n_shared, share=_POOL_SHARE)
    n_candidates = listed_candidates(d, alpha, pool)
    design = private_design(epsilon, delta, rest, beta / 2, n_candidates)
    details: dict[str, Number | str] = {
        "rows of the public pool": pool,
        "candidates at most": n_candidates,
        "keys": design.n_keys,
        "parts for each key": design.n_parts,
        "rows of a part": design.part_size,
        "release threshold": release_threshold(epsilon, delta),
    }
    logs = math.log(1 / delta) / epsilon + math.log(1 / beta)
    rate = (d / alpha) ** 2 * logs * math.log(1 / beta)
    settings: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "n_keys": design.n_keys,
        "n_parts": design.n_parts,
    }
    return Needed(design.rows, details, settings, rate)


GUARANTEES = (
    Guarantee(
        "semi-private",
        _derive,
        learners=("SemiPrivateClassifier",),
        theorem="semi-private",
        needed=_needed,
        required=("d",),
        optional={"epsilon": 1.0, "delta": 1e-6, "alpha": 0.1, "beta": 0.05, "n_shared": None},
        promise="({epsilon:g}, {delta:g})-differentially private in the private rows. The rule is "
        "worse than the best of the class by more than {alpha:g}, or there is none, with "
        "probability at most {beta:g}.",
    ),
)
