"""How many rows blocks need to know a rare class: from the plan alone."""

import math
from dataclasses import replace
from typing import Any

from replearn.guarantees.design import Design
from replearn.guarantees.plan import Plan
from replearn.guarantees.planner import plan_votes

MIN_EVENTS = 5
"""Rows of the rarest class that a block should have on average, for votes to be worth counting.

At the prevalence as threshold and with 3 to 4 such rows in a block, votes of logistic regressions
lose 3 to 11 points of balanced accuracy on credit and census data, with 12 of them 0.4 to 2
(benchmarks/small_data.py; docs/first-hour.md)."""

SHOWN_SHARE = 0.1
"""Share of a rare class that plans are shown for; the data do not matter to them."""


def needed_for_events(plan: Plan, share: float) -> Plan | None:
    """Return the smallest plan of the same promise whose blocks know a class with this share.

    None if no number of rows is known to be enough.

    >>> from replearn.guarantees import plan
    >>> needed = needed_for_events(plan(n=833, rho=0.1), 0.12)
    >>> needed.n, needed.n_blocks, needed.block_size
    (756, 18, 42)
    """
    request = plan.vote_design.request
    rho = plan.rho if request.rho is None else request.rho
    if rho is None:
        return None
    sized = replace(request, rho=rho, block_size=math.ceil(MIN_EVENTS / share - 1e-9))
    needed = plan_votes(sized)
    return needed if needed.certified else None


def about_rare_classes(plan: Plan, share: float = SHOWN_SHARE) -> str | None:
    """Say what blocks know of a class with this share, and which n it takes; None if they know enough.

    >>> from replearn.guarantees import plan
    >>> print(about_rare_classes(plan(n=833, rho=0.1)))
    a class with 10 % of the rows has 2.5 rows in a block of 25; 5 are recommended: n_blocks=18 with n=900 or more
    >>> about_rare_classes(plan(n=20_000, rho=0.1)) is None
    True
    """  # noqa: E501
    design: Any = plan.design
    if not isinstance(design, Design) or design.block_size * share >= MIN_EVENTS:
        return None
    needed = needed_for_events(plan, share)
    takes = "" if needed is None else f": n_blocks={needed.n_blocks} with n={needed.n} or more"
    return (
        f"a class with {share:.0%} of the rows has {design.block_size * share:.1f} rows in a block "
        f"of {design.block_size}; {MIN_EVENTS} are recommended{takes}"
    ).replace("%", " %")
