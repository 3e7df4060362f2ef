"""The heavy stage of a plan: from accuracy targets to a membership law and a number of labels.

A function of n and of the targets only. Every split that is tried is valid; the first one that
meets all targets is taken.
"""

import math
from functools import lru_cache

from replearn.bounds import MembershipLaw, some_missed_point_bound
from replearn.bounds._numeric import check_fraction, smallest_integer
from replearn.bounds.heavy_accuracy import light_mass
from replearn.bounds.membership import quick_membership_bound
from replearn.bounds.signs import sign_error_bound, sign_flip_bound, sign_width
from replearn.certificates import HeavyStage
from replearn.certificates._computations import labels_guaranteed

# Share of rho that membership may take at most; the rest is for labels and votes, which share it.
_MEMBERSHIP_SHARE = 0.6
# Half of beta is for light points, a quarter each for missed points and wrong labels.
_HIGHS = (0.99, 0.97, 0.93, 0.85, 0.7, 0.5)
_LOWS = (16.0, 8.0, 4.0, 2.5, 1.8, 1.4, 1.2)
# Of alpha, what heavy labels may cost: makes labels times light mass cheapest.
_CLEAR_SHARE = 0.75
_MOST_LABELS = 1_000_000
_PAPER_RATIO = 4.0


def heavy_stage(
    *,
    n: int,
    rho: float,
    alpha: float,
    beta: float,
    realizable: bool = False,
    paper: bool = False,
) -> HeavyStage:
    """Choose how heavy points are treated, for samples of n rows.

    Parameters
    ----------
    n : int
        Rows of each sample.
    rho : float
        Probability that two runs differ, for the whole learner.
    alpha, beta : float
        The error exceeds the mean error of the block models (times the factor of the law) by more
        than alpha with probability at most beta.
    realizable : bool, default=False
        Whether every point has one label only.
    paper : bool, default=False
        Use the paper's law of membership: uniform on [nu/2, 2 nu].

    Returns
    -------
    HeavyStage
        The first that meets all targets; else one that keeps rho, if there is one. The plan says
        what is reached.

    Examples
    --------
    >>> stage = heavy_stage(n=100_000, rho=0.1, alpha=0.1, beta=0.05, realizable=True)
    >>> stage.n_labels < 100_000 * stage.low + 1, round(stage.mass, 4)
    (True, 0.0054)
    """
    for name, value in (("rho", rho), ("alpha", alpha), ("beta", beta)):
        check_fraction(name, value, one=name == "rho")
    return _heavy_stage(n, float(rho), float(alpha), float(beta), realizable, paper)[0]


@lru_cache(maxsize=512)
def _heavy_stage(
    n: int, rho: float, alpha: float, beta: float, realizable: bool, paper: bool
) -> tuple[HeavyStage, bool]:
    clear = 1.0 if realizable else _CLEAR_SHARE * alpha
    mass = light_mass(alpha, clear, beta / 2.0)
    goal = (alpha, beta, clear, mass)
    spare: HeavyStage | None = None
    for law in _laws(n, mass, beta / 4.0, paper):
        stage = _stage_within(n, law, rho, goal)
        if stage is not None and _wrong_labels(stage) <= beta / 4.0:
            return stage, True
        spare = spare or stage
    return spare or _fallback(n, mass, rho, paper, goal), False


def _stage_within(
    n: int, law: MembershipLaw, rho: float, goal: tuple[float, float, float, float]
) -> HeavyStage | None:
    """Return the stage under a law, if membership and labels keep the flip budget."""
    flip = quick_membership_bound(n, law)
    if flip > _MEMBERSHIP_SHARE * rho:
        return None
    stage = _stage(n, law, rho - flip, goal)
    kept = sign_flip_bound(stage.n_labels, 1, stage.band) <= rho - flip
    return stage if kept else None


def _fallback(
    n: int, mass: float, rho: float, paper: bool, goal: tuple[float, float, float, float]
) -> HeavyStage:
    """Keep rho, if accuracy cannot be had: call only heavier points heavy."""
    high = mass
    while True:
        high = min(1.0, high * 1.5)
        laws = _laws_up_to(high, paper)
        stages = (_stage_within(n, law, rho, goal) for law in laws)
        found = next((stage for stage in stages if stage is not None), None)
        if found is not None or high == 1.0:
            return found or _stage(n, laws[0], rho / 2.0, goal)


def _laws(n: int, mass: float, beta: float, paper: bool) -> list[MembershipLaw]:
    """Laws under which no point of this mass is missed; those with small ``low`` first."""
    kind = "uniform" if paper else "sqrt"
    for part in _HIGHS:
        high = mass * part
        if some_missed_point_bound(n, MembershipLaw(kind, high / 2.0, high), mass) <= beta:
            return _laws_up_to(high, paper)
    return []


def _laws_up_to(high: float, paper: bool) -> list[MembershipLaw]:
    kind, ratios = ("uniform", (_PAPER_RATIO,)) if paper else ("sqrt", _LOWS)
    return [MembershipLaw(kind, high / ratio, high) for ratio in ratios]


def _stage(
    n: int, law: MembershipLaw, rho: float, goal: tuple[float, float, float, float]
) -> HeavyStage:
    """Use all labels that members surely have, and the narrowest threshold that rho allows."""
    alpha, beta, clear, mass = goal
    k = min(_MOST_LABELS, max(1, labels_guaranteed(n, law.low)))
    band = sign_width(k, 1, rho, joint=False) or 1.0
    return HeavyStage(law.low, law.high, k, band, law.kind, alpha, beta, clear, mass)


def _wrong_labels(stage: HeavyStage) -> float:
    assert stage.clear is not None
    most = int((1.0 + 1e-12) / stage.low)
    return sign_error_bound(stage.n_labels, most, stage.clear, stage.band, joint=False)


def heavy_rows_needed(
    *, rho: float, alpha: float, beta: float, realizable: bool = False, paper: bool = False
) -> int | None:
    """Return how many rows the heavy stage needs, votes left aside.

    Parameters
    ----------
    rho, alpha, beta, realizable, paper
        As for `heavy_stage`.

    Returns
    -------
    int or None
        A number of rows that is enough; None beyond 6 * 10^10.

    Examples
    --------
    >>> heavy_rows_needed(rho=0.1, alpha=0.1, beta=0.05, realizable=True) < 200_000
    True
    """

    def enough(n: int) -> bool:
        return _heavy_stage(n, float(rho), float(alpha), float(beta), realizable, paper)[1]

    # To two per cent is enough: the search visits few sample sizes.
    found = smallest_integer(lambda step: enough(_size(step)), limit=1024)
    return None if found is None else _size(found)


def _size(step: int) -> int:
    return math.ceil(100 * 1.02**step)
