"""The heavy stage of a plan: from accuracy targets to a membership law and a number of labels.

A function of n and of the targets only. Every split that is tried is valid; the first one that
meets all targets is taken.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from replearn.bounds import (
    MembershipLaw,
    light_mass,
    quick_membership_bound,
    selection_flip_bound_sampled,
    sign_width,
    some_missed_point_bound,
)
from replearn.guarantees.design import HeavyStage, PlanRequest
from replearn.guarantees.guarantee import Ledger
from replearn.guarantees.heavy_stage import label_flip, labels_guaranteed, wrong_labels
from replearn.records import bisect, check_fraction, if_given, smallest_integer

# Share of rho that membership may take at most; the rest is for labels and votes, which share it.
_MEMBERSHIP_SHARE = 0.6
# Of the disagreeing mass gamma of whole models: what membership may take on average, what labels
# may take, and the share of rho at which they may exceed it. Votes need the rest.
_GAMMA_MEMBERSHIP = 0.07
_GAMMA_LABELS = 0.4
_RHO_LABELS = 0.7
# Points heavier than this part of gamma / ln(1/rho) do not average out.
_GAMMA_MASS = 0.1
# Half of beta is for light points, a quarter each for missed points and wrong labels.
_HIGHS = (0.99, 0.97, 0.93, 0.85, 0.7, 0.5)
_LOWS = (16.0, 8.0, 4.0, 2.5, 1.8, 1.4, 1.2)
# Of alpha, what heavy labels may cost: makes labels times light mass cheapest.
_CLEAR_SHARE = 0.75
_MAX_LABELS = 4_000_000
_PAPER_RATIO = 4.0


@dataclass(frozen=True)
class HeavyGoal:
    """What a heavy stage must reach, and how often it may flip.

    Parameters
    ----------
    rho : float
        Probability that two runs differ, for the whole estimator.
    alpha, beta : float
        The error exceeds the mean error of the block models (times the factor of the law) by more
        than alpha with probability at most beta.
    realizable : bool, default=False
        Whether every point has only one label.
    paper : bool, default=False
        Whether to use the paper's law of membership: uniform on [nu/2, 2 nu].
    gamma : float or None, default=None
        Mass on which whole models may differ; None for the pointwise notion.
    n_classes : int, default=2
        Number of classes.
    """

    rho: float
    alpha: float
    beta: float
    realizable: bool = False
    paper: bool = False
    gamma: float | None = None
    n_classes: int = 2

    def __post_init__(self) -> None:
        check_fraction("rho", self.rho)
        check_fraction("alpha", self.alpha, one=False)
        check_fraction("beta", self.beta, one=False)
        if_given(check_fraction, "gamma", self.gamma)

    @property
    def clear(self) -> float:
        """How much a heavy label may cost; 1 in the realizable case."""
        return 1.0 if self.realizable else _CLEAR_SHARE * self.alpha

    @property
    def mass(self) -> float:
        """Mass from which points must be heavy."""
        mass = light_mass(self.alpha, self.clear, self.beta / 2.0)
        if self.gamma is None:
            return mass
        # theorem: approximate-heavy (points outside must average out)
        return min(mass, _GAMMA_MASS * self.gamma / math.log(2.0 / self.rho))

    def label_budget(self, membership: float) -> float | None:
        """How often labels may flip in addition to membership; None if nothing is left for them."""
        if self.gamma is not None:
            labels = _RHO_LABELS * self.rho * _GAMMA_LABELS * self.gamma
            return labels if membership <= _GAMMA_MEMBERSHIP * self.gamma else None
        return self.rho - membership if membership <= _MEMBERSHIP_SHARE * self.rho else None


def heavy_stage(n: int, **goal: Any) -> HeavyStage:
    """Choose how heavy points are treated, for samples of n rows.

    Parameters
    ----------
    n : int
        Rows of each sample.
    **goal
        The items of a `HeavyGoal`.

    Returns
    -------
    HeavyStage
        The first stage that meets all targets, or else one that keeps rho, if there is one. The
        plan says what is reached.

    Examples
    --------
    >>> stage = heavy_stage(n=100_000, rho=0.1, alpha=0.1, beta=0.05, realizable=True)
    >>> stage.n_labels < 100_000 * stage.low + 1, round(stage.mass, 4)
    (True, 0.0054)
    """
    return _heavy_stage(n, HeavyGoal(**goal))[0]


@lru_cache(maxsize=512)
def _heavy_stage(n: int, goal: HeavyGoal) -> tuple[HeavyStage, bool]:
    spare: HeavyStage | None = None
    for law in _laws(n, goal):
        stage = _stage_within(n, law, goal)
        if stage is not None:
            wrong = wrong_labels(Ledger(), stage, goal.n_classes)
            if wrong <= goal.beta / 4.0:
                return stage, True
        spare = spare or stage
    return spare or _fallback(n, goal), False


def _stage_within(n: int, law: MembershipLaw, goal: HeavyGoal) -> HeavyStage | None:
    """Return the stage under a law, if membership and labels keep the flip budget."""
    budget = goal.label_budget(quick_membership_bound(n, law))
    if budget is None:
        return None
    stage = _stage(n, law, budget, goal)
    return stage if label_flip(Ledger(), stage, goal.n_classes) <= budget else None


def _fallback(n: int, goal: HeavyGoal) -> HeavyStage:
    """Keep rho, if accuracy cannot be had: call only heavier points heavy."""
    high = goal.mass
    while True:
        high = min(1.0, high * 1.5)
        laws = _laws_up_to(high, goal.paper)
        stages = (_stage_within(n, law, goal) for law in laws)
        stage = next((stage for stage in stages if stage is not None), None)
        if stage is not None or high == 1.0:
            return stage or _stage(n, laws[0], goal.rho / 2.0, goal)


def _laws(n: int, goal: HeavyGoal) -> list[MembershipLaw]:
    """Laws under which no point of this mass is missed; those with small ``low`` first."""
    kind = "uniform" if goal.paper else "sqrt"
    for part in _HIGHS:
        high = goal.mass * part
        law = MembershipLaw(kind, high / 2.0, high)
        if some_missed_point_bound(n, law, goal.mass) <= goal.beta / 4.0:
            return _laws_up_to(high, goal.paper)
    return []


def _laws_up_to(high: float, paper: bool) -> list[MembershipLaw]:
    if paper:
        return [MembershipLaw("uniform", high / _PAPER_RATIO, high)]
    return [MembershipLaw("sqrt", high / ratio, high) for ratio in _LOWS]


def _stage(n: int, law: MembershipLaw, budget: float, goal: HeavyGoal) -> HeavyStage:
    """Use all labels that members surely have, and the least noise that the budget allows."""
    k = min(_MAX_LABELS, max(1, labels_guaranteed(n, law.low)))
    if goal.n_classes == 2:
        band = sign_width(k, 1, budget, joint=False) or 1.0
    else:
        band = _least_noise(k, goal.n_classes, budget, goal.clear)
    accuracy = (goal.alpha, goal.beta, goal.clear, goal.mass)
    return HeavyStage(law.low, law.high, k, band, law.kind, *accuracy)


def _least_noise(k: int, n_classes: int, budget: float, clear: float) -> float:
    """Scale of the Gumbels on label shares that keeps the flip budget; the less, the better."""

    def keeps_budget(t: float) -> bool:
        return selection_flip_bound_sampled(t, n_classes, k) <= budget

    largest = clear * k  # beyond t = clear k the error bound no longer falls
    scale = largest if keeps_budget(largest) else bisect(keeps_budget, 0.0, largest, tolerance=1e-4)
    return math.ceil(1e9 / max(scale, 1e-3)) / 1e9


def heavy_rows_needed(**items: Any) -> int | None:
    """Return how many rows a heavy stage needs, without the votes; None beyond 6 * 10^10.

    Parameters
    ----------
    **items
        The items of a `HeavyGoal`.

    Returns
    -------
    int or None
        A number of rows that is enough.

    Examples
    --------
    >>> heavy_rows_needed(rho=0.1, alpha=0.1, beta=0.05, realizable=True) < 200_000
    True
    """
    goal = HeavyGoal(**items)

    def enough(n: int) -> bool:
        return _heavy_stage(n, goal)[1]

    # To two per cent is enough: the search visits few sample sizes.
    step = smallest_integer(lambda step: enough(_size(step)), limit=1024)
    return None if step is None else _size(step)


def _size(step: int) -> int:
    return math.ceil(100 * 1.02**step)


def plan_stage(request: PlanRequest) -> tuple[PlanRequest, int]:
    """Plan the heavy stage of a request for its alpha and beta, relative to the block models.

    Returns
    -------
    PlanRequest
        With the stage itself, which then states alpha, beta and the noise of labels.
    int
        The rows that the stage was planned for; 0: it is given itself.
    """
    if not isinstance(request.heavy, str):
        return replace(request, label_noise=True), 0
    goal: dict[str, Any] = {
        "rho": request.rho,
        "alpha": request.alpha,
        "beta": 0.05 if request.beta is None else request.beta,
        "realizable": request.realizable,
        "paper": request.heavy == "paper",
        "gamma": request.gamma,
        "n_classes": request.n_classes,
    }
    n_rows = heavy_rows_needed(**goal) if request.n is None else request.n
    if n_rows is None:
        targets = ", ".join(f"{name}={goal[name]}" for name in ("rho", "alpha", "beta"))
        raise ValueError(f'no number of rows is enough for {targets} with heavy="{request.heavy}"')
    stage = heavy_stage(n=n_rows, **goal)
    return replace(request, heavy=stage, alpha=None, beta=None, label_noise=True), n_rows


def stage_rows_needed(request: PlanRequest, stage: HeavyStage) -> int | None:
    """Return the rows at which a stage planned for them would keep the accuracy of this one."""
    return heavy_rows_needed(
        rho=request.rho,
        alpha=stage.alpha,
        beta=stage.beta,
        realizable=stage.clear == 1.0,
        paper=stage.kind == "uniform",
        gamma=request.gamma,
        n_classes=request.n_classes,
    )
