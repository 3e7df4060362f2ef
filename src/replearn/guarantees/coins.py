"""Coins: called above or below a gap, their signs all at once, and a draw with shared Gumbels."""

import math

from replearn.bounds import (
    CoinLaw,
    coin_error_bound,
    coin_flip_bound,
    joint_sign_flip_bound,
    selection_flip_bound,
    sign_error_bound,
    sign_flip_bound,
    smallest_throws,
)
from replearn.bounds.theorem import theorem
from replearn.guarantees.guarantee import Conclusion, Guarantee, Ledger, Needed, reached, rounded_up


def _coins(
    ledger: Ledger,
    n: int,
    p0: float,
    q0: float,
    rho: float,
    beta: float | None,
    low: float,
    high: float,
) -> Conclusion:
    law = CoinLaw("arcsine", low, high)
    flip = ledger.add(coin_flip_bound, n=n, law=law)
    error = ledger.add(coin_error_bound, n=n, law=law, p0=p0, q0=q0)
    promises = (
        f"Two runs call a coin differently with probability at most {rounded_up(flip)}, whatever "
        "its bias.",
        f"A coin with mean above {q0:g} or below {p0:g} is called wrongly with probability at most "
        f"{rounded_up(error)}.",
    )
    return reached(promises, rho=(flip, rho), beta=(error, beta))


def _coins_needed(rho: float, beta: float, p0: float, q0: float) -> Needed:
    n = smallest_throws(rho, beta, p0, q0)
    # the rate of the paper's coin lemma, with constant 1
    rate = math.log(1 / beta) / (rho * (q0 - p0)) ** 2
    return Needed(n, rate=rate)


def _signs(
    ledger: Ledger,
    n: int,
    n_coins: int,
    alpha: float,
    rho: float,
    beta: float | None,
    width: float,
    joint: bool,
) -> Conclusion:
    flip_bound = joint_sign_flip_bound if joint else sign_flip_bound
    flip = ledger.add(flip_bound, n=n, n_coins=n_coins, a=width)
    error = ledger.add(sign_error_bound, n=n, n_coins=n_coins, alpha=alpha, a=width, joint=joint)
    promises = (
        f"Two runs differ in any of the {n_coins} signs with probability at most "
        f"{rounded_up(flip)}.",
        f"Any coin with a mean at least {alpha:g} from 0 has the wrong sign with probability at "
        f"most {rounded_up(error)}.",
    )
    return reached(promises, rho=(flip, rho), alpha=alpha, beta=(error, beta))


@theorem("correlated-sampling")
def draw_flip(deviation: float) -> float:
    """Probability that two draws differ when no log weight moves by more than ``deviation``."""
    return selection_flip_bound(1.0, deviation)


def _draw(ledger: Ledger, deviation: float | None) -> Conclusion:
    in_general = (
        "A candidate is drawn with probability proportional to its weight; two runs with weights "
        "p and q differ with probability at most 2 TV(p, q)/(1 + TV(p, q))."
    )
    if deviation is None:
        return Conclusion((in_general,))
    flip = ledger.add(draw_flip, deviation=deviation)
    here = (
        f"If no log weight moves by more than {deviation:g}, two runs differ with probability "
        f"at most {rounded_up(flip)}."
    )
    return Conclusion((in_general, here), rho=flip)


GUARANTEES = (
    Guarantee(
        "coins",
        _coins,
        learners=("decide_coins", "decide_coin"),
        theorem="coin-testing",
        needed=_coins_needed,
        required=("p0", "q0"),
        optional={"rho": 0.1, "beta": 0.05},
        promise="Two runs call a coin differently with probability at most {rho:g}. A coin with "
        "mean above {q0:g} or below {p0:g} is called wrongly with probability at most {beta:g}.",
    ),
    Guarantee("signs", _signs, learners=("estimate_signs",), theorem="coins-at-once"),
    Guarantee(
        "correlated sampling",
        _draw,
        learners=("sample_correlated",),
        theorem="correlated-sampling",
    ),
)
