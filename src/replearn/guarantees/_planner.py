"""The function ``plan``: give all but one of the numbers, and the missing one is solved."""

import dataclasses
from typing import Any

from replearn.guarantees._design import HeavyStage
from replearn.guarantees._heavy import heavy_rows_needed
from replearn.guarantees._plan import Plan
from replearn.guarantees._policy import MIN_BLOCK
from replearn.guarantees._promises import Promise
from replearn.guarantees._solve import design_for, needed_sample, solve
from replearn.guarantees._wish import Wish, make_request, make_wish


def plan(  # noqa: PLR0913
    notion: str = "pointwise",
    *,
    n: int | None = None,
    rho: float | None = None,
    gamma: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    d: int | None = None,
    realizable: bool = False,
    runs: int = 2,
    n_blocks: int | None = None,
    block_size: int | None = None,
    law: Any = None,
    width: float | None = None,
    vote: str = "hard",
    n_partitions: int | None = None,
    max_fits: int | None = None,
    n_classes: int | None = None,
    classes: Any = None,
    unit: str = "rows",
    decimals: int | None = None,
    max_point_mass: float = 0.0,
    shared_rows: bool | None = None,
    heavy: HeavyStage | None = None,
    min_block: int = MIN_BLOCK,
) -> Plan:
    """Plan a promise: give all but one of the numbers, and the missing one is solved.

    A plan depends on these arguments only, never on data, so that all labs get the same one.

    Parameters
    ----------
    notion : {"pointwise", "approximate"}
        Same answer at each fixed point, or on all but a small mass of points.
    n : int or None
        Rows (or groups) of each sample; None: the smallest number that meets the targets.
    rho : float or None
        Probability that two runs differ; None: the smallest that n allows.
    gamma : float or None
        Mass on which two models may differ (approximate notion); None: the smallest.
    alpha, beta : float or None
        Excess error of the block models, and the probability that it is larger.
    d : int or None
        VC dimension of the base learner's class; needed for alpha and beta.
    realizable : bool
        Whether some hypothesis of the class makes no error.
    runs : int
        How many runs shall agree.
    n_blocks : int or None
        Number of blocks; None: chosen from n, rho and max_fits.
    block_size : int or None
        Rows each block must have at least; None: ``min_block``, or what alpha needs.
    law : {"arcsine", "uniform", "optimal"}, ThresholdLaw or None
        Law of the shared threshold (two classes); None: "arcsine" for the pointwise notion,
        "uniform" for the approximate one and, of width 1, when accuracy is asked for.
    width : float or None
        Half-width of the law; None: the smallest that meets the target.
    vote : {"hard", "soft"}
        Whether block models vote with labels or with scores.
    n_partitions : int or None
        In how many ways the rows are cut into blocks; None: as many as ``max_fits`` allows.
    max_fits : int or None
        Compute budget: at most this many base learners.
    n_classes : int or None
        Number of classes; None: that of ``classes``, else 2.
    classes : sequence or None
        The classes, which are put in order; part of what the labs agree on.
    unit : {"rows", "groups"}
        What n counts.
    decimals : int or None
        Rounding of numbers in the canonical encoding of a point.
    max_point_mass : float
        Bound on the sum of squared probabilities of single points (0 for continuous data).
    shared_rows : bool or None
        Whether a row may occur in both samples; None: only if max_point_mass is above 0.
    heavy : HeavyStage or None
        Separate treatment of points that occur many times.
    min_block : int
        Rows per block below which fewer blocks are used.

    Returns
    -------
    Plan
        With ``certified`` False when the targets are out of reach; it then says what this n can
        promise and which n the targets need.

    Examples
    --------
    >>> plan(rho=0.1, block_size=100).n
    1800
    >>> made = plan(n=300, rho=0.1)
    >>> made.certified, made.needed_n
    (False, 450)
    """
    targets = {"rho": rho, "gamma": gamma, "alpha": alpha, "beta": beta}
    request = make_request(notion, targets, d, realizable, runs)
    wish = make_wish(
        request,
        n=n,
        n_blocks=n_blocks,
        block_size=block_size,
        law=law,
        width=width,
        vote=vote,
        n_partitions=n_partitions,
        max_fits=max_fits,
        n_classes=n_classes,
        classes=classes,
        unit=unit,
        decimals=decimals,
        max_point_mass=max_point_mass,
        shared_rows=shared_rows,
        heavy=heavy,
        min_block=min_block,
    )
    solution = solve(wish)
    made = Plan(solution.design, solution.solved)
    return made if made.certified else _with_way_out(made, wish)


def _with_way_out(made: Plan, wish: Wish) -> Plan:
    """Add what this n can promise, and which blocks and rows the request needs."""
    if wish.heavy is not None and wish.heavy.alpha is not None and wish.request.rho is not None:
        return _with_heavy_way_out(made, wish, wish.heavy, wish.request.rho)
    free = dataclasses.replace(wish, n_blocks=None, max_fits=None)
    reachable = Plan(design_for(free, made.n)).claim
    return dataclasses.replace(
        made,
        reachable_rho=reachable.rho,
        reachable_gamma=reachable.gamma,
        needed_n=needed_sample(free),
        needed_blocks=Promise(free, made.n).smallest_blocks(),
    )


def _with_heavy_way_out(made: Plan, wish: Wish, stage: HeavyStage, rho: float) -> Plan:
    """Add the rows at which a heavy stage made for them would keep its accuracy."""
    assert stage.alpha is not None
    assert stage.beta is not None
    needed = heavy_rows_needed(
        rho=rho,
        alpha=stage.alpha,
        beta=stage.beta,
        realizable=stage.clear == 1.0,
        paper=stage.kind == "uniform",
        gamma=wish.request.gamma,
        n_classes=wish.n_classes,
    )
    return dataclasses.replace(
        made,
        reachable_rho=made.claim.rho,
        reachable_gamma=made.claim.gamma,
        needed_n=needed,
    )
