"""The law that a linear programme finds: the sharpest threshold under a flip budget.

H(q) is linear in the steps of the law, so the best law under H <= rho is a linear programme. Its
solution is rounded, made symmetric and certified anew: only then is it a law. It is made when a
plan is made, never when a model is fitted, and travels as a table.
"""

import math
from functools import lru_cache

import numpy as np

from replearn.bounds.flips import central_binomial, flip_curve, flip_supremum, level_matrix
from replearn.bounds.laws import MAX_BLOCKS, ROUNDING, ThresholdLaw, rounded_table
from replearn.bounds.numeric import Floats
from replearn.records import check_count, check_fraction

MAX_BLOCKS_OF_OPTIMAL_LAW = 2_000
POINTS_PER_DEVIATION = 6
ROUNDS = 12

# Smaller coefficients only trouble the solver; the law is certified without them anyway.
SMALLEST_COEFFICIENT = 1e-9


@lru_cache(maxsize=64)
def optimal_law(n_blocks: int, rho: float) -> ThresholdLaw:
    """Return the law nearest to a plain majority whose flips stay within a budget.

    Among all symmetric laws with H(q) <= rho it minimises the mean distance of the threshold from
    one half. It has atoms, and is for hard votes only.

    Parameters
    ----------
    n_blocks : int
        Number of blocks T, at most 2,000.
    rho : float
        Budget for the flips of two runs, in (0, 1].

    Returns
    -------
    ThresholdLaw
        Its certified supremum is at most ``rho``.

    Examples
    --------
    >>> from replearn.bounds import flip_supremum
    >>> flip_supremum(optimal_law(16, 0.1)) <= 0.1
    True
    """
    rho = check_fraction("rho", rho)
    _checked_size(n_blocks)
    q = _starting_points(n_blocks)
    budget = rho - 2.0 * ROUNDING
    for attempt in range(ROUNDS):
        steps = _solve(n_blocks, q, budget)
        if steps is None:
            break
        law = _law_of(steps)
        certified = flip_supremum(law)
        if certified <= rho:
            return law
        q = np.union1d(q, _peaks(law))
        if attempt >= 2:  # the missed peaks are in by now; what is left is the last digits
            budget -= 1.01 * (certified - rho)
    reachable = flip_supremum(tightest_law(n_blocks))
    if reachable <= rho:
        return tightest_law(n_blocks)
    raise ValueError(
        f"no law on {n_blocks} blocks keeps flips within rho={rho:g}; the smallest rho for this "
        f"many blocks is {reachable:.4g}: use more blocks"
    )


@lru_cache(maxsize=64)
def tightest_law(n_blocks: int) -> ThresholdLaw:
    """Return the law with (nearly) the smallest possible worst case for this many hard votes.

    >>> from replearn.bounds import flip_supremum
    >>> round(flip_supremum(tightest_law(16)), 3), round(flip_supremum(tightest_law(15)), 3)
    (0.099, 0.102)
    """
    _checked_size(n_blocks)
    q = _starting_points(n_blocks)
    laws: list[ThresholdLaw] = []
    for _ in range(3):
        steps = _solve(n_blocks, q, None)
        if steps is None:
            raise RuntimeError("the linear programme without a budget was not solved")
        laws.append(_law_of(steps))
        q = np.union1d(q, _peaks(laws[-1]))
    return min(laws, key=flip_supremum)


def _checked_size(n_blocks: int) -> None:
    """Raise if the linear programme would be too large to solve."""
    if check_count("n_blocks", n_blocks, most=MAX_BLOCKS) > MAX_BLOCKS_OF_OPTIMAL_LAW:
        raise ValueError(
            f"an optimal law takes at most {MAX_BLOCKS_OF_OPTIMAL_LAW} blocks, got {n_blocks}: "
            "use the arcsine law"
        )


def _starting_points(n_blocks: int) -> Floats:
    """Chances q evenly spread in the arcsine scale, a few per standard deviation of the votes."""
    count = 32 + math.ceil(POINTS_PER_DEVIATION * math.pi / 2.0 * math.sqrt(n_blocks))
    return np.asarray(np.sin(np.linspace(0.0, math.pi / 4.0, count)[1:]) ** 2)


def _peaks(law: ThresholdLaw) -> Floats:
    """Return local maxima of H on a grid eight times as fine as the linear programme's."""
    count = 8 * len(_starting_points(law.n_blocks)) + 1
    q = np.sin(np.linspace(0.0, math.pi / 4.0, count)) ** 2
    height = np.pad(flip_curve(law, q), 1, constant_values=-1.0)
    is_peak = (height[1:-1] >= height[:-2]) & (height[1:-1] >= height[2:])
    return np.asarray(q[is_peak & (height[1:-1] >= 0.9 * height.max())])


def _solve(n_blocks: int, q: Floats, budget: float | None) -> Floats | None:
    """Solve for the steps of the sharpest law within a budget, or of the law with least flips.

    Steps k and T - 1 - k are one variable; without a budget the last variable is the worst case.
    """
    half = (n_blocks + 1) // 2
    k = np.arange(half)
    twice = np.where(k == n_blocks - 1 - k, 1.0, 2.0)
    levels = level_matrix(n_blocks, q) / central_binomial(n_blocks)  # of order one, for the solver
    levels = (levels[:, k] + levels[:, n_blocks - 1 - k]) * (twice / 2.0)
    levels[levels < SMALLEST_COEFFICIENT] = 0.0
    if budget is None:
        cost = np.append(np.zeros(half), 1.0)
        rows = np.column_stack([levels, -np.ones(len(q))])
        total = np.append(twice, 0.0)
        limit = 0.0
    else:
        cost = twice * np.abs((2.0 * k + 1.0) / n_blocks - 1.0)
        rows = levels
        total = twice
        limit = budget / central_binomial(n_blocks)
    solution = _first_solution(cost, rows, np.full(len(q), limit), total)
    if solution is None:
        return None
    steps: Floats = np.empty(n_blocks)
    steps[k] = steps[n_blocks - 1 - k] = np.maximum(solution[:half], 0.0)
    steps /= steps.sum()
    return steps


def _first_solution(cost: Floats, rows: Floats, limits: Floats, total: Floats) -> Floats | None:
    """Minimise cost under rows x <= limits and total x = 1; None if there is no solution."""
    from scipy import optimize  # slow to import: only where it is used

    for method in ("highs", "highs-ds", "highs-ipm"):  # one may stop short of its tolerance
        solved = optimize.linprog(
            cost, A_ub=rows, b_ub=limits, A_eq=total[np.newaxis], b_eq=[1.0], method=method
        )
        if solved.status in (0, 2):  # solved, or infeasible
            return np.asarray(solved.x, dtype=np.float64) if solved.status == 0 else None
    return None


def _law_of(steps: Floats) -> ThresholdLaw:
    """Freeze steps into a table."""
    values = np.clip(np.concatenate([[0.0], np.cumsum(steps)]), 0.0, 1.0)
    values[-1] = 1.0
    return ThresholdLaw("optimal", len(steps), None, rounded_table(values))
