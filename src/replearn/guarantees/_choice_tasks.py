"""How many rows each replicable choice needs: one small function for each learner.

Every function returns the rows, what else the runs share, and the paper's rate with constant 1.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from replearn.bounds import (
    cover_distance,
    finite_randomness_flip_bound,
    log_growth,
    selection_flip_bound_sampled,
    selection_scale,
    smallest_sample_amplified,
    smallest_sample_order,
    smallest_sample_realizable,
    smallest_sample_search,
    smallest_sample_selection,
    smallest_sample_threshold,
)
from replearn.bounds._numeric import smallest_integer

Number = int | float

_MOST_BLOCKS = 10_000_000
_MOST_ROWS = 10**15


@dataclass(frozen=True)
class Needed:
    """What a promise needs.

    Parameters
    ----------
    n : int or None
        Rows of each run; None: no number is enough.
    details : mapping
        Numbers to read: scale, pool, trainings, the rows of other methods.
    settings : mapping
        Parameters of the learner beside the targets.
    rate : float
        The paper's rate with constant 1.
    theorem : str or None
        Its theorem, where that depends on the targets.
    promise : str or None
        The promise, where its words depend on the targets.
    """

    n: int | None
    details: Mapping[str, Number | str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    rate: float = math.nan
    theorem: str | None = None
    promise: str | None = None


@dataclass(frozen=True)
class Task:
    """One learner that can be planned.

    Parameters
    ----------
    learner : str
        Name of the learner or function.
    theorem : str
        Key of its theorem.
    needed : callable
        From the targets to what they need.
    required : tuple of str
        Targets without a default.
    optional : dict
        Other targets with their defaults.
    promise : str
        The promise, with the targets in braces.
    nullable : tuple of str
        Targets for which None is a wish of its own and not "the default".
    """

    learner: str
    theorem: str
    needed: Callable[..., Needed]
    required: tuple[str, ...]
    optional: dict[str, Number | None]
    promise: str
    nullable: tuple[str, ...] = ()


_SAME = "Two runs choose different candidates with probability at most {rho:g}."
_BEST = (
    " The choice is worse than the best by more than {alpha:g} with probability at most {beta:g}."
)
_POINT = "Two models answer one fixed point differently with probability at most {rho:g}."
_MASS = "Two rules differ on a mass above {gamma:g} with probability at most {rho:g}."


def _select(rho: float, alpha: float, beta: float, n_hypotheses: int) -> Needed:
    n, t = smallest_sample_selection(rho, alpha, beta, n_hypotheses)
    rate = math.log(n_hypotheses / beta) ** 4 / (rho * alpha) ** 2
    return Needed(n, {"scale t": t}, rate=rate)


def _finite_class(rho: float, alpha: float, beta: float, n_hypotheses: int) -> Needed:
    amplified = smallest_sample_amplified(rho, alpha, beta, n_hypotheses)
    rows = {
        "select_hypothesis": smallest_sample_selection(rho, alpha, beta, n_hypotheses)[0],
        "learn_finite_class": smallest_sample_order(rho, alpha, beta, n_hypotheses)[0],
        "learn_finite_class(amplify=True)": amplified.n,
    }
    cheapest = min(rows, key=rows.__getitem__)
    logs = math.log(n_hypotheses) ** 2 + math.log(1 / (rho * beta))
    rate = logs / (rho * alpha) ** 2 * math.log(1 / rho) ** 3
    details: dict[str, Number | str] = {"cheapest": cheapest}
    details.update({f"rows of {name}": n for name, n in rows.items()})
    return Needed(rows[cheapest], details, rate=rate)


def _threshold(rho: float, gamma: float, alpha: float, beta: float, n_directions: int) -> Needed:
    n, t = smallest_sample_threshold(rho, gamma, alpha, beta, n_directions)
    logs = math.log(1 / (alpha * beta)) ** 3 / (rho * alpha) ** 2
    rate = math.log(1 / beta) / gamma**2 + logs
    settings = {"direction": "both" if n_directions == 2 else ">"}
    return Needed(n, {"scale t": t}, settings, rate)


def _realizable(rho: float, gamma: float, alpha: float, beta: float, d: int) -> Needed:
    n, ceiling = smallest_sample_realizable(rho, gamma, alpha, beta, d)
    rate = (d + math.log(1 / min(rho, beta))) / (rho**2 * min(alpha, gamma))
    return Needed(n, {"ceiling of the shared limit": ceiling}, {"max_error_limit": ceiling}, rate)


def _semi(rho: float, alpha: float, beta: float, d: int, n_shared: int | None) -> Needed:
    if n_shared is None:  # the pool has more than d rows, so there are 2^d candidates or more
        _refuse_too_many(d, alpha, d * math.log(2))
    pool = _pool(alpha / 2, d, beta / 2) if n_shared is None else n_shared
    rest = alpha - cover_distance(pool, d, beta / 2)
    if rest <= 0:
        raise ValueError(
            f"n_shared={n_shared} is too small for alpha={alpha:g}, d={d}: leave it out, and the "
            "plan says how many rows to share."
        )
    # theorem: semi-replicable (Sauer's bound: the true number of candidates is known from the pool)
    logarithm = log_growth(d, pool)
    _refuse_too_many(d, alpha, logarithm)
    n_candidates = math.ceil(math.exp(logarithm))
    n, t = smallest_sample_selection(rho, rest, beta / 2, n_candidates)
    logs = math.log(max(d * math.log(1 / beta) / (rho * beta * alpha), math.e)) ** 2
    rate = (d / (rho * alpha)) ** 2 * logs * math.log(1 / rho) ** 3
    details: dict[str, Number | str] = {
        "rows of the shared pool": pool,
        "candidates at most": n_candidates,
        "scale t": t,
    }
    return Needed(n, details, rate=rate)


def _refuse_too_many(d: int, alpha: float, logarithm: float) -> None:
    if logarithm > 700.0:  # cut off here, the plan would promise with too few rows
        raise ValueError(
            f"d={d}, alpha={alpha:g} would choose among e^{logarithm:.0f} candidates or more, "
            "which nobody can list: take a smaller class or a larger alpha."
        )


def _pool(distance: float, d: int, beta: float) -> int:
    found = smallest_integer(lambda u: cover_distance(u, d, beta) <= distance, limit=_MOST_ROWS)
    if found is None:
        raise ValueError(f"alpha={2 * distance:g} needs a pool of more than {_MOST_ROWS} rows.")
    return found


def _search(
    rho: float,
    alpha: float,
    beta: float,
    n_hypotheses: int,
    train_size: int | None,
    drift: float | None,
    cv: int,
) -> Needed:
    if (train_size is None) == (drift is None):
        raise ValueError(
            f"train_size={train_size!r}, drift={drift!r}: give one of them. train_size (rows of "
            "each training) promises without assumptions, drift is an assumption about folds."
        )
    rate = _select(rho, alpha, beta, n_hypotheses).rate
    if train_size is not None:
        n, t = smallest_sample_search(rho, alpha, beta, n_hypotheses, train_size)
        found = {"trainings": n // (train_size + 1), "scale t": t}
        return Needed(n, found, {"train_size": train_size}, rate)
    assert drift is not None
    fold = _fold(rho, alpha, beta, n_hypotheses, drift)
    assumed = f"no true error moves by more than {drift:g} between trainings"
    details = {"rows per fold": str(fold or "none is enough"), "assumed": assumed}
    rows = None if fold is None else cv * fold
    return Needed(rows, details, {"drift": drift, "cv": cv}, rate, "search-blocks")


def _fold(rho: float, alpha: float, beta: float, n_hypotheses: int, drift: float) -> int | None:
    pairs = n_hypotheses * (n_hypotheses - 1)

    def passes(m: int) -> bool:
        # theorem: search-blocks
        t = selection_scale(pairs + 1, alpha, beta, m)
        if t is None:
            return False
        return selection_flip_bound_sampled(t, n_hypotheses, m, drift=drift) <= rho

    return smallest_integer(passes, limit=_MOST_ROWS)


def _finite_randomness(
    rho: float, gamma: float | None, alpha: float, beta: float, n_candidates: int, block_size: int
) -> Needed:
    t = math.log(n_candidates / beta) / alpha

    def flip(n_blocks: int, m: int) -> float:
        return finite_randomness_flip_bound(n_blocks, n_candidates, t, m, gamma)

    blocks = smallest_integer(
        lambda count: flip(count, _MOST_ROWS) <= 0.9 * rho, limit=_MOST_BLOCKS
    )
    tests = blocks and smallest_integer(lambda m: flip(blocks, m) <= rho, limit=_MOST_ROWS)
    log = math.log(1 / beta)
    mass = 1.0 if gamma is None else gamma
    calls = log**3 / (rho**2 * mass**2 * alpha**3) + log**4 / (rho**4 * alpha**5)
    rate, words = block_size * calls, _POINT if gamma is None else None
    if not blocks or not tests:
        few = {"blocks": f"more than {_MOST_BLOCKS}"}
        return Needed(None, few, {"n_candidates": n_candidates}, rate, promise=words)
    n = blocks * block_size + tests
    settings = {"n_blocks": blocks, "n_candidates": n_candidates, "test_share": tests / n}
    details = {"blocks": blocks, "rows held out": tests, "scale t": t}
    return Needed(n, details, settings, rate, promise=words)


_THREE: dict[str, Number | None] = {"rho": 0.1, "alpha": 0.1, "beta": 0.05}
_FOUR: dict[str, Number | None] = {"rho": 0.1, "gamma": 0.1, "alpha": 0.1, "beta": 0.05}

TASKS: dict[str, Task] = {
    "select": Task(
        "select_hypothesis", "hypothesis-selection", _select, ("n_hypotheses",), _THREE,
        _SAME + _BEST,
    ),
    "selector": Task(
        "ReplicableSelector", "hypothesis-selection", _select, ("n_hypotheses",), _THREE,
        _SAME + _BEST,
    ),
    "finite class": Task(
        "learn_finite_class", "finite-class", _finite_class, ("n_hypotheses",), _THREE,
        _SAME + _BEST,
    ),
    "threshold": Task(
        "ReplicableThresholdClassifier", "thresholds-proper", _threshold, (),
        {**_FOUR, "n_directions": 2}, _MASS + _BEST,
    ),
    "realizable": Task(
        "RealizableReplicableClassifier", "realizable", _realizable, ("d",),
        {**_FOUR, "gamma": 0.2},
        _MASS + " If some rule makes no error, the error exceeds {alpha:g} with probability at "
        "most {beta:g}.",
    ),
    "finite randomness": Task(
        "FiniteRandomnessClassifier", "finite-randomness", _finite_randomness, (),
        {**_FOUR, "n_candidates": 8, "block_size": 100},
        _MASS, ("gamma",),
    ),
    "semi": Task(
        "SemiReplicableClassifier", "semi-replicable", _semi, ("d",),
        {**_THREE, "n_shared": None},
        "Two runs with one shared pool return different rules with probability at most {rho:g}. "
        "The rule is worse than the best of the class by more than {alpha:g} with probability at "
        "most {beta:g}.",
    ),
    "search": Task(
        "ReplicableSearchCV", "search-trainings", _search, ("n_hypotheses",),
        {**_THREE, "train_size": None, "drift": None, "cv": 5}, _SAME + _BEST,
    ),
}  # fmt: skip
"""What can be planned, by the name that ``plan_choice`` takes."""
