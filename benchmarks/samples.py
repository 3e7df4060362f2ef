"""What each stage needs, beside the paper's proofs read literally: honest numbers.

    python benchmarks/samples.py [nu] [rho] [alpha] [beta]

Defaults: nu = 0.01, rho = 0.1, alpha = 0.1, beta = 0.05. The paper leaves "a sufficiently large
constant C" nearly everywhere. Its column is, marked "proof", what an inequality of a proof asks for
- votes: Var <= rho^2/200, so T = 200/rho^2;
- heavy points: relative deviations of 0.01 rho down to mass 0.1 nu, by Chernoff's bound
  2 exp(-eps^2 m p / 3) <= delta/m_1, delta = min(beta, rho): 3 ln(2 m_1/delta)/(1e-5 rho^2 nu);
and, marked "rate", the stated rate with constant 1 and its logarithms: a flattering reading. Whole
models are at gamma = rho, by Markov's inequality and by the direct bounds. "out of reach" means
more than 6e10 rows, or more than 4e6 labels of a single point.
"""

import math
import sys

from replearn.bounds import MembershipLaw, disagreement_tail, smallest_blocks, uniform_law
from replearn.bounds.approximate_heavy import membership_disagreement_tail
from replearn.bounds.coins import smallest_throws
from replearn.bounds.heavy_sets import SetLaw, smallest_sample_set
from replearn.bounds.membership import (
    quick_membership_bound,
    smallest_sample_membership as rows_membership,
)
from replearn.bounds.signs import sign_error_bound, sign_width
from replearn.guarantees import heavy_rows_needed
from replearn.records.search import smallest_integer


def signs_needed(d, rho, alpha, beta, joint):
    def passes(n):
        width = sign_width(n, d, rho, joint=joint)
        return width is not None and sign_error_bound(n, d, alpha, width, joint=joint) <= beta

    return smallest_integer(passes, limit=10**13)


def paper_heavy(nu, rho, beta):
    m_1 = math.log(1 / (min(beta, rho) * nu)) / nu
    return 3 * math.log(2 * m_1 / min(beta, rho)) / (1e-4 * rho**2 * 0.1 * nu)


def rate_coin(gap, rho, beta):
    return 1 / (gap * rho) ** 2 + math.log(1 / beta) / gap**2


def rows(nu, rho, alpha, beta):
    """Yield name, our number, the paper's, and how the latter is read."""
    law, members = MembershipLaw.standard(nu), int(16 / nu)
    k = signs_needed(1, rho, alpha, beta / members, joint=False)
    few = signs_needed(1, rho, 1.0, beta / members, joint=False)
    targets = {"rho": rho, "alpha": alpha, "beta": beta}
    heavy, coin = paper_heavy(nu, rho, beta), rate_coin(alpha, rho, beta / members)
    paper_nu, d = alpha**2 / math.log(1 / beta), 20
    stage = max(paper_heavy(0.1 * paper_nu, rho, beta), coin / (0.01 * paper_nu))
    simple = rate_coin(1.0, rho, beta / members)
    arcsine = smallest_blocks(rho, law="arcsine", width=None)
    uniform = smallest_blocks(rho, law="uniform", width=1.0)
    yield "votes: blocks T", arcsine, 200 / rho**2, "proof"
    yield "  the same, uniform law", uniform, 200 / rho**2, "proof"
    yield (
        "coin, -alpha against alpha: throws",
        smallest_throws(rho, beta, -alpha, alpha),
        rate_coin(2 * alpha, rho, beta),
        "rate",
    )
    yield (
        "coin, -1 against 1: throws",
        smallest_throws(rho, beta, -1.0, 1.0),
        rate_coin(2.0, rho, beta),
        "rate",
    )
    yield "heavy points, each: rows", rows_membership(rho, law), heavy, "proof"
    literal = rows_membership(rho, MembershipLaw.paper(nu))
    yield "  the same, the paper's law", literal, heavy, "proof"
    whole = math.log(1 / beta) / (rho**2 * nu**3)
    yield (
        "heavy points, the whole set: rows",
        smallest_sample_set(rho, SetLaw.standard(nu)),
        whole,
        "rate",
    )
    yield "labels of a heavy point", k, coin, "rate"
    yield "  rows for that at mass nu/16", math.ceil(k * 16 / nu), coin / nu, "rate"
    yield "  the same, realizable", math.ceil(few * 16 / nu), simple / nu, "rate"
    signs = d * math.log(1 / beta) ** 3 / (rho * alpha) ** 2
    for joint, manner in ((False, "one by one"), (True, "at once")):
        needed = signs_needed(d, rho, alpha, beta, joint)
        yield f"signs of {d} coins, {manner}: throws", needed, signs, "rate"
    yield "heavy stage of the learner: rows", heavy_rows_needed(**targets), stage, "proof"
    paper_stage = heavy_rows_needed(paper=True, **targets)
    yield "  the same, the paper's law", paper_stage, stage, "proof"
    easy = max(paper_heavy(0.1 * paper_nu, rho, beta), simple / (0.01 * paper_nu))
    few_rows = heavy_rows_needed(realizable=True, **targets)
    yield "  the same, realizable", few_rows, easy, "proof"
    yield "  the same, three classes", heavy_rows_needed(n_classes=3, **targets), None, ""
    yield from whole_models(nu, rho, alpha, beta)


def whole_models(nu, rho, alpha, beta):
    """Yield what the approximate notion needs at gamma = rho: Markov beside the direct bounds."""
    gamma, law = rho, MembershipLaw.standard(nu)
    rate = math.log(1 / beta) / (nu * gamma**2)
    name = f"whole models (gamma = {gamma:g})"
    yield f"{name}: blocks, Markov", smallest_blocks(rho * gamma), 200 / (rho * gamma) ** 2, "proof"

    def enough_blocks(n):
        return disagreement_tail(uniform_law(n), gamma) <= rho

    blocks = smallest_integer(enough_blocks, limit=10**7)
    yield f"{name}: blocks, direct", blocks, 1 / gamma**2, "rate"

    def direct(n):
        flip = quick_membership_bound(n, law)
        return flip < 1 and membership_disagreement_tail(n, law, flip, gamma) <= rho

    yield "heavy sets up to gamma: rows, Markov", rows_membership(rho * gamma, law), rate, "rate"
    yield (
        "heavy sets up to gamma: rows, direct",
        smallest_integer(direct, limit=10**10),
        rate,
        "rate",
    )
    targets = {"alpha": alpha, "beta": beta}
    for realizable in (False, True):
        case = ", realizable" if realizable else ""
        markov = heavy_rows_needed(rho=rho * gamma, realizable=realizable, **targets)
        best = heavy_rows_needed(rho=rho, gamma=gamma, realizable=realizable, **targets)
        yield f"heavy stage{case}: rows, Markov", markov, None, ""
        yield f"heavy stage{case}: rows, direct", best, None, ""


def main(nu, rho, alpha, beta):
    print(f"nu = {nu:g}, rho = {rho:g}, alpha = {alpha:g}, beta = {beta:g}\n")
    print(f"{'stage':44s} {'here':>14s} {'paper':>10s}")
    for name, ours, paper, reading in rows(nu, rho, alpha, beta):
        here = "out of reach" if ours is None else f"{ours:,.0f}"
        print(f"{name:44s} {here:>14s} {'-' if paper is None else f'{paper:.3g}':>10s} {reading}")


if __name__ == "__main__":
    given = [float(value) for value in sys.argv[1:]]
    main(*(given + [0.01, 0.1, 0.1, 0.05][len(given) :]))
