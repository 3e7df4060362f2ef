"""Replicable regression: means of blocks, rounded to a grid that is keyed by the point."""

from typing import Any

from replearn.bounds.regression import rounding_flip_bound, smallest_blocks_rounding
from replearn.guarantees.promise import (
    BLOCK_ASSUMPTIONS,
    Ledger,
    Promise,
    Task,
    above_budget,
    rounded_up,
)

_NO_RANGE = (
    "y_range is not given, and without a range of y nothing holds for every population: "
    "flip_probability estimates from the spread of the blocks"
)


def _derive(
    ledger: Ledger,
    n: int,
    n_blocks: int,
    resolution: float,
    rho: float,
    y_range: list[float] | None,
) -> Promise:
    near = (
        f"A prediction is within {resolution / 2:g} of the mean of {n_blocks} block predictions.",
    )
    if y_range is None:
        return Promise(promises=near, reasons=(_NO_RANGE,), assumptions=BLOCK_ASSUMPTIONS)
    span = y_range[1] - y_range[0]
    flip = ledger.add(rounding_flip_bound, n_blocks=n_blocks, y_span=span, resolution=resolution)
    same = (
        f"Two runs on fresh samples of {n} rows predict different values for one fixed point "
        f"with probability at most {rounded_up(flip)}."
    )
    return Promise(
        promises=(same, *near),
        rho=flip,
        reasons=above_budget("rho", flip, rho),
        assumptions=BLOCK_ASSUMPTIONS,
    )


def _solve(
    y_range: tuple[float, float],
    resolution: float,
    n: int | None = None,
    rho: float = 0.1,
    n_blocks: int | None = None,
    block_size: int = 100,
) -> dict[str, Any]:
    low, high = map(float, y_range)
    if n_blocks is None:
        n_blocks = smallest_blocks_rounding(rho, high - low, resolution)
    return {
        "n": n_blocks * block_size if n is None else n,
        "n_blocks": n_blocks,
        "resolution": resolution,
        "rho": rho,
        "y_range": [low, high],
    }


TASKS = (
    Task(
        "regression",
        _derive,
        _solve,
        learners=("PointwiseReplicableRegressor",),
        theorem="rounded-regression",
    ),
)
