"""Replicable regression: means of blocks, rounded to a grid that is keyed by the point."""

import math
from typing import Any

from replearn.bounds import rounding_flip_bound, smallest_blocks_rounding
from replearn.guarantees.guarantee import (
    BLOCK_ASSUMPTIONS,
    SAME_POINT,
    Conclusion,
    Guarantee,
    Ledger,
    Needed,
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
    **shared: Any,
) -> Conclusion:
    near = (
        f"A prediction is within {resolution / 2:g} of the mean of {n_blocks} block predictions.",
    )
    if y_range is None:
        return Conclusion(near, reasons=(_NO_RANGE,), assumptions=BLOCK_ASSUMPTIONS)
    span = y_range[1] - y_range[0]
    flip = ledger.add(rounding_flip_bound, n_blocks=n_blocks, y_span=span, resolution=resolution)
    same = (
        f"Two runs on fresh samples of {n} rows predict different values for one fixed point with "
        f"probability at most {rounded_up(flip)}."
    )
    reasons = above_budget("rho", flip, rho)
    return Conclusion((same, *near), rho=flip, reasons=reasons, assumptions=BLOCK_ASSUMPTIONS)


def _needed(rho: float, y_span: float, resolution: float, block_size: int) -> Needed:
    n_blocks = smallest_blocks_rounding(rho, y_span, resolution)
    details = {"blocks": n_blocks, "rows of a block": block_size}
    settings = {"resolution": resolution, "n_blocks": n_blocks}
    rate = block_size * (y_span / (rho * resolution)) ** 2
    return Needed(n_blocks * block_size, details, settings, math.ceil(rate))


GUARANTEES = (
    Guarantee(
        "regression",
        _derive,
        learners=("PointwiseReplicableRegressor",),
        theorem="rounded-regression",
        needed=_needed,
        required=("y_span", "resolution"),
        optional={"rho": 0.1, "block_size": 100},
        promise=SAME_POINT,
    ),
)
