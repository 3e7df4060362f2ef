"""How many rows blocks need to know a rare class: from the plan alone."""

import math

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

    >>> from replearn import plan
    >>> needed = needed_for_events(plan(n=833, rho=0.1), 0.12)
    >>> needed.n, needed.design.n_blocks, needed.design.block_size
    (756, 18, 42)
    """
    design = plan.design
    rho = plan.rho if design is None or design.rho is None else design.rho
    if design is None or rho is None:
        return None
    needed = plan_votes(
        plan.task,
        rho=rho,
        gamma=design.gamma,
        vote=design.vote,
        n_classes=design.n_classes,
        runs=design.runs,
        unit=design.unit,
        block_size=math.ceil(MIN_EVENTS / share - 1e-9),
    )
    return needed if needed.certified else None


def about_rare_classes(plan: Plan, share: float = SHOWN_SHARE) -> str | None:
    """Say what blocks know of a class with this share, and which n it takes; None if they know enough.

    >>> from replearn import plan
    >>> print(about_rare_classes(plan(n=833, rho=0.1)))
    a class with 10 % of the rows has 2.5 rows in a block of 25; 5 are recommended: n_blocks=18 with n=900 or more
    >>> about_rare_classes(plan(n=20_000, rho=0.1)) is None
    True
    """  # noqa: E501
    design = plan.design
    if design is None or design.block_size * share >= MIN_EVENTS:
        return None
    needed = needed_for_events(plan, share)
    takes = ""
    if needed is not None and needed.design is not None:
        takes = f": n_blocks={needed.design.n_blocks} with n={needed.n} or more"
    return (
        f"a class with {share:.0%} of the rows has {design.block_size * share:.1f} rows in a block "
        f"of {design.block_size}; {MIN_EVENTS} are recommended{takes}"
    ).replace("%", " %")
