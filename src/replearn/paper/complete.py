"""The complete pointwise learner: OPT + alpha on every countable domain.

The paper's first theorem (``thm:predict``, ``thm:predict-formal``, ``alg:chernoff-pred``): on every
domain, two runs predict a fixed point differently with probability at most rho, and the error is at
most OPT + alpha except with probability beta. With ``gamma``, two whole models differ on a mass of
at most gamma except with probability rho (``thm:apx-repl-chernoff``). Points that occur often get a
label of their own in tiers, the others are decided by votes of blocks. Theory page: complete-
learner.
"""

from __future__ import annotations

import math
from functools import lru_cache
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from replearn.bounds.approximate import markov_rho
from replearn.bounds.flips import flip_supremum, uniform_flip_bound
from replearn.bounds.laws import MAX_BLOCKS, ROUNDING, error_factor, uniform_law
from replearn.bounds.numeric import Floats, binomial_cdf, round_up, upper_probability
from replearn.bounds.pairs import central_binomial
from replearn.bounds.theorem import theorem
from replearn.bounds.vc import mean_excess, realizable_tail
from replearn.checks.fingerprint import Fingerprint, bind_estimator, fingerprint
from replearn.compat import HasMethods, validate_data
from replearn.execution.voting import BlockEnsemble
from replearn.guarantees.promise import (
    BLOCK_ASSUMPTIONS,
    Ledger,
    Promise,
    Task,
    above_budget,
    rounded_up,
)
from replearn.learners.inputs import all_or_nothing, check_n_models, checked_fit, fitted_key
from replearn.learners.training import (
    COUNT,
    FRACTION,
    Cut,
    Sample,
    warn_if_not_certified,
)
from replearn.paper.heavy_hitters import (
    MembershipLaw,
    PointIndex,
    below_levels,
    count_points,
    reuse_flip_bound,
    root_difference_bound,
    some_missed_point_bound,
)
from replearn.paper.heavy_labels import (
    count_labels,
    first_labels,
    label_points,
    labels_guaranteed,
)
from replearn.paper.hypotheses import Hypothesis, HypothesisClass, Stumps
from replearn.paper.signs import label_flip_bound
from replearn.paper.single_rule import PaperClassifier
from replearn.randomness.key import SharedKey
from replearn.randomness.points import Points, as_points
from replearn.records.checks import check_count, check_fraction, check_fractions, check_positive
from replearn.records.search import bisect, geometric_mean, smallest_integer


class Tier(NamedTuple):
    """Heavy points of one size, and how they are labelled.

    Points of ``mass`` or more belong to it, or to a higher one, except with a small probability.
    """

    mass: float
    low: float  # frequency below which a point is never a member
    high: float  # frequency from which on it always is
    n_labels: int  # labels of each member that are used, k
    band: float  # half-width of the threshold on their mean

    @property
    def law(self) -> MembershipLaw:
        """Law of the threshold on the frequency."""
        return MembershipLaw("sqrt", self.low, self.high)


# -- bounds ----------------------------------------------------------------------------------------
_CELLS = 1000


@theorem("complete-learner")
def tier_flip_bound(n: int, lows: tuple[float, ...], highs: tuple[float, ...]) -> float:
    """Probability that a point is in different tiers in two runs, whatever its mass.

    For each tier, the mean difference of two roots of counts of at least its lower end, over the
    narrowest law so far on the scale of roots; the largest of these.

    >>> round(tier_flip_bound(100_000, (0.001, 0.02), (0.004, 0.03)), 4)
    0.0567
    """
    check_count("n", n)
    ends = [end for pair in zip(lows, highs, strict=True) for end in pair]
    if ends != sorted(ends):
        raise ValueError(f"tiers must follow each other: {ends}")
    narrowest = math.inf
    worst = 0.0
    for low, high in zip(lows, highs, strict=True):
        # Only what occurs more than n low times in both runs together is near this tier.
        narrowest = min(narrowest, math.sqrt(high) - math.sqrt(low))
        first = max(1, math.floor(n * low * (1.0 - 1e-12)))
        worst = max(worst, root_difference_bound(first) / (math.sqrt(n) * narrowest))
    return upper_probability(worst + len(lows) * ROUNDING)


def wrong_label_bound(n_labels: int, band: float, mean: Floats) -> Floats:
    """Probability that a heavy point whose mean label is ``mean >= 0`` gets the other label.

    ``E[1 - G(B)]`` in closed form: G is linear between the ends of the band.

    >>> wrong_label_bound(1000, 0.2, np.array([0.0, 0.1, 0.3])).round(4).tolist()
    [0.5, 0.25, 0.0]
    """
    k = float(n_labels)
    heads = (1.0 + mean) / 2.0
    slack = max(1e-10, 1e-15 * k)

    def mean_below(count: float) -> tuple[Floats, Floats]:
        """E(count - B)+, and what rounding may add to it."""
        whole = math.floor(count)
        first = count * binomial_cdf(whole, k, heads)
        second = k * heads * binomial_cdf(whole - 1, k - 1.0, heads)
        return first - second, slack * (first + second)

    upper = k * (1.0 + band) / 2.0
    above, error_above = mean_below(upper)
    below, error_below = mean_below(k * (1.0 - band) / 2.0)
    value = (above - below + error_above + error_below) / (k * band)
    rounded = ROUNDING * binomial_cdf(math.floor(upper), k, heads)
    bound: Floats = np.clip(value + rounded, 0.0, 1.0)
    return bound


def label_cost(wrong: Floats, tilt: float, mass: float) -> float:
    """Return the largest ``ln(1 + pi(y) (exp(tilt mass y) - 1)) / mass`` over mean labels y.

    ``wrong`` holds pi at the left ends of equal cells of [0, 1]; pi falls.
    """
    exponents = tilt * mass * np.arange(1, len(wrong) + 1) / len(wrong)
    small = np.log1p(wrong * np.expm1(np.minimum(exponents, 30.0)))
    large = np.logaddexp(0.0, np.log(np.maximum(wrong, 1e-300)) + exponents)
    costs = np.where(exponents <= 30.0, small, large)
    return round_up(float(costs.max()) / mass * (1.0 + 1e-9))


@lru_cache(maxsize=4096)
def _wrong_labels(n_labels: int, band: float) -> Floats:
    return wrong_label_bound(n_labels, band, np.arange(_CELLS) / _CELLS)


@theorem("complete-learner")
def cost_rate(
    tilt: float,
    masses: tuple[float, ...],
    n_labels: tuple[int, ...],
    bands: tuple[float, ...],
) -> float:
    """Return K: ``ln E exp(tilt (cost of labels and thresholds)) <= K`` if no point is missed.

    >>> round(cost_rate(60.0, (0.008, 0.04), (105, 1570), (0.38, 0.1)), 2)
    3.6
    """
    check_positive("tilt", tilt)
    lightest = masses[0] if masses else 1.0
    rates = [tilt * tilt * lightest / 8.0 * (1.0 + 1e-12)]
    for k, band, mass in zip(n_labels, bands, (*masses, 1.0)[1:], strict=True):
        rates.append(label_cost(_wrong_labels(k, band), tilt, mass))
    return max(rates)


@theorem("complete-learner")
def complete_excess(
    mean_error: float, rate: float, tilt: float, beta: float, beta_blocks: float, missed: float
) -> float:
    """Excess error of the complete learner, except with probability ``beta``.

    ``mean_error + (rate + ln(1 / (beta - beta_blocks - missed))) / tilt``, at most 1.

    >>> round(complete_excess(0.1, 4.6, 80.0, 0.1, 0.01, 0.004), 4)
    0.1882
    """
    check_fractions(beta=beta, beta_blocks=beta_blocks)
    check_positive("tilt", tilt)
    rest = beta - beta_blocks - missed
    if rest <= 0.0:
        return 1.0
    # The law of the votes is rounded: a light point's threshold is off by 2**-31.
    return min(1.0, round_up(mean_error + (rate - math.log(rest)) / tilt + ROUNDING))


_TILTS = np.geomspace(1.0, 1e6, 300)
_ERRORS = np.concatenate([[0.0], np.geomspace(1e-5, 1.0, 400)])


@lru_cache(maxsize=512)
def _error_tails(m: int, d: int) -> Floats:
    """P(error of a consistent hypothesis > a) at the left ends of the cells of `_ERRORS`."""
    return np.array([1.0, *(realizable_tail(m, d, float(a)) for a in _ERRORS[1:-1])])


@theorem("complete-learner")
def consistent_error(
    m: int, n_blocks: int, d: int, lightest: float, factor: float, beta: float, missed: float
) -> float:
    """Error of the complete learner where labels are those of the class, but for probability beta.

    >>> round(consistent_error(500, 12, 2, 0.02, 1.0, 0.1, 0.01), 4)
    0.112
    """
    check_fraction("beta", beta)
    rest = beta - missed
    if rest <= 0.0:
        return 1.0
    tilts = _TILTS[_TILTS * lightest <= 50.0]
    slopes = factor * np.expm1(tilts * lightest) / lightest / n_blocks
    tilts = tilts[slopes <= 600.0]
    growth = np.exp(np.minimum(slopes, 600.0)[: len(tilts), np.newaxis] * _ERRORS)
    # An upper step sum: the tail falls.
    moments = 1.0 + np.diff(growth, axis=1) @ _error_tails(m, d)
    errors = (n_blocks * np.log(moments) - math.log(rest)) / tilts * (1.0 + 1e-9)
    return min(1.0, round_up(float(errors.min())))


# -- rows needed: the cheapest split of rho, alpha and beta on a grid; every split is valid --------
MAX_TIERS = 3
_MEMBERSHIP_SHARES = (0.12, 0.16, 0.2, 0.24, 0.28, 0.32, 0.36, 0.42)
_TILT_SHARES = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
_BLOCKS_SHARE = 0.1
_MISSED_SHARE = 0.05
_MAX_ROWS = 10**12
_LEVELS = np.arange(1, 65) / 64.0
_MARGIN = 1.0 - 1e-6


@lru_cache(maxsize=256)
def _blocks_for(flips: float) -> int | None:
    """Return the smallest number of blocks whose votes differ with this probability."""
    return smallest_integer(lambda t: uniform_flip_bound(t, 1.0) <= flips, limit=MAX_BLOCKS)


@lru_cache(maxsize=256)
def _labels_for(flips: float) -> int | None:
    """Return the smallest number of labels that decide by one threshold on [-1, 1]."""
    return smallest_integer(lambda k: label_flip_bound(k, 1.0) <= flips, limit=MAX_BLOCKS)


def _ends(n: int, mass: float, missed: float, flips: float) -> tuple[float, float] | None:
    """Return the highest law that finds points of this mass and differs seldom enough."""
    scale = 1.0 / (math.sqrt(n) * flips)

    def ends(high: float) -> tuple[float, float] | None:
        # The difference of roots falls with the number of occurrences: from above, low settles.
        first = n
        while first >= 1:
            low = max(0.0, math.sqrt(high) - root_difference_bound(first) * scale) ** 2
            occurrences = math.floor(n * low * (1.0 - 1e-12))
            if occurrences >= first:
                return low, high
            first = occurrences
        return None

    def found(high: float) -> bool:
        pair = ends(high)
        if pair is None:
            return False
        levels = MembershipLaw("sqrt", *pair).frequency(_LEVELS)
        tails = binomial_cdf(np.floor(n * levels * (1.0 + 1e-12)), n, mass)
        return float(tails.mean()) * math.floor(1.0 / mass + 1e-9) <= missed * _MARGIN

    # Too low a law has members with too few labels, too high a one misses points.
    for share in (0.3, 0.6, 0.8, 0.9, 0.95, 0.98):
        if found(share * mass):
            high = bisect(found, share * mass, mass, tolerance=0.002, mean=geometric_mean)
            return ends(high)
    return None


def _top_mass(n_labels: int, band: float, tilt: float, rate: float) -> float:
    """Return the largest mass of a point whose labels are accurate enough; 0 if there is none."""
    wrong = _wrong_labels(n_labels, band)

    def passes(mass: float) -> bool:
        return label_cost(wrong, tilt, mass) <= rate

    if passes(1.0):
        return 1.0
    least = 1e-9
    if not passes(least):
        return 0.0
    return bisect(passes, least, 1.0, tolerance=0.005, mean=geometric_mean)


def _tiers(
    n: int, tilt: float, rate: float, missed: float, membership: float, labels: float
) -> tuple[Tier, ...] | None:
    """Return tiers from the critical mass up to 1, each as far as its labels are accurate."""
    mass = min(1.0, 8.0 * rate / tilt**2 * _MARGIN)
    found: list[Tier] = []
    while len(found) < MAX_TIERS:
        pair = _ends(n, mass, missed, membership)
        if pair is None or (found and pair[0] < found[-1].high):
            return None
        k = min(labels_guaranteed(n, pair[0]), MAX_BLOCKS)
        band = central_binomial(k) / (labels * _MARGIN - ROUNDING)
        if not 0.0 < band <= 1.0:
            return None
        found.append(Tier(mass, *pair, k, band))
        top = _top_mass(k, band, tilt, rate)
        if top >= 1.0:
            return tuple(found)
        if top <= 1.1 * mass:
            return None
        mass = top
    return None


def _agnostic_design(
    n: int, flips: float, alpha: float, beta: float, d: int
) -> dict[str, Any] | None:
    """Split rho, alpha and beta so that n rows are enough; None if no split of the grid is."""
    beta_blocks = _BLOCKS_SHARE * beta
    rest = beta - beta_blocks
    log_rest = -math.log((1.0 - _MISSED_SHARE) * rest)
    for share in _MEMBERSHIP_SHARES:
        membership = share * flips
        labels = (flips - membership) * _MARGIN
        n_blocks = _blocks_for(labels)
        if n_blocks is None or n_blocks > n:
            continue
        spare = alpha * _MARGIN - ROUNDING - mean_excess(n // n_blocks, n_blocks, d, beta_blocks)
        if spare <= 0.0:
            continue
        missed = _MISSED_SHARE * rest / MAX_TIERS
        for tilt_share in _TILT_SHARES:
            tilt = log_rest / (tilt_share * spare)
            rate = tilt * spare - log_rest
            narrow = membership * _MARGIN - MAX_TIERS * ROUNDING
            tiers = _tiers(n, tilt, rate, missed, narrow, labels)
            if tiers is not None:
                return {
                    "n_blocks": n_blocks,
                    "tiers": tiers,
                    "tilt": tilt,
                    "beta_blocks": beta_blocks,
                }
    return None


def _realizable_design(
    n: int, flips: float, alpha: float, beta: float, d: int
) -> dict[str, Any] | None:
    """Do the same where labels are those of the class: one tier, whose labels are never wrong."""
    missed = 2.0 * _MISSED_SHARE * beta
    for share in _MEMBERSHIP_SHARES:
        membership = share * flips
        labels = (flips - membership) * _MARGIN
        n_blocks = _blocks_for(labels)
        k = _labels_for(labels)
        if n_blocks is None or k is None or n_blocks > n:
            continue
        size = n // n_blocks
        factor = error_factor(uniform_law(n_blocks))

        def accurate(mass: float) -> bool:
            error = consistent_error(size, n_blocks, d, mass, factor, beta, missed)  # noqa: B023
            return error <= alpha * _MARGIN

        if not accurate(1e-6):
            continue
        mass = bisect(accurate, 1e-6, 1.0, tolerance=0.005, mean=geometric_mean)
        pair = _ends(n, mass, missed, membership * _MARGIN - ROUNDING)
        if pair is not None and labels_guaranteed(n, pair[0]) >= k:
            tiers = (Tier(mass, *pair, k, 1.0),)
            return {"n_blocks": n_blocks, "tiers": tiers, "tilt": None, "beta_blocks": None}
    return None


@lru_cache(maxsize=64)
def _design(
    n: int, flips: float, alpha: float, beta: float, d: int, label_noise: bool
) -> dict[str, Any] | None:
    search = _agnostic_design if label_noise else _realizable_design
    return search(n, flips, alpha, beta, d)


def _rows_needed(flips: float, alpha: float, beta: float, d: int, label_noise: bool) -> int:
    """Return nearly the smallest number of rows that is enough."""

    def enough(n: float) -> bool:
        return _design(int(n), flips, alpha, beta, d, label_noise) is not None

    n = 16
    while not enough(n):
        n *= 2
        if n > _MAX_ROWS:
            raise ValueError(f"the targets need more than {_MAX_ROWS} rows: weaken one of them.")
    return int(bisect(enough, n, n / 2, tolerance=0.002, mean=geometric_mean))


def _weaker_design(
    n: int, flips: float, alpha: float, beta: float, d: int, label_noise: bool
) -> dict[str, Any]:
    """Return the most accurate design of n rows that keeps the flips; votes alone if none is."""

    def reachable(excess: float) -> bool:
        return _design(n, flips, excess, beta, d, label_noise) is not None

    if reachable(1.0):
        excess = bisect(reachable, 1.0, alpha, tolerance=0.01)
        found = _design(n, flips, excess, beta, d, label_noise)
        assert found is not None
        return found
    n_blocks = min(_blocks_for(flips) or n, n)
    return {"n_blocks": n_blocks, "tiers": (), "tilt": 1.0, "beta_blocks": _BLOCKS_SHARE * beta}


def _solve(
    d: int,
    n: int | None = None,
    rho: float = 0.1,
    gamma: float | None = None,
    alpha: float = 0.1,
    beta: float = 0.05,
    label_noise: bool = True,
) -> dict[str, Any]:
    check_count("d", d)
    check_fractions(rho=rho, alpha=alpha, beta=beta)
    # theorem: approximate-markov
    flips = rho if gamma is None else rho * check_fraction("gamma", gamma)
    targets = (flips, alpha, beta, d, bool(label_noise))
    if n is None:
        n = _rows_needed(*targets)
    design = _design(n, *targets) or _weaker_design(n, *targets)
    return {
        "n": n,
        "d": d,
        **design,
        "tiers": [list(tier) for tier in design["tiers"]],
        "label_noise": bool(label_noise),
        "rho": rho,
        "gamma": gamma,
        "alpha": alpha,
        "beta": beta,
    }


# -- the promise -----------------------------------------------------------------------------------
def _derive(  # noqa: PLR0913
    ledger: Ledger,
    n: int,
    d: int,
    n_blocks: int,
    tiers: list[list[Any]],
    tilt: float | None,
    beta_blocks: float | None,
    label_noise: bool,
    rho: float,
    gamma: float | None,
    alpha: float,
    beta: float,
) -> Promise:
    stages = [Tier(*tier) for tier in tiers]
    masses = tuple(tier.mass for tier in stages)
    flip = _flips(ledger, n, n_blocks, stages)
    promises = [
        f"Two runs on fresh samples of {n} rows predict one fixed point differently with "
        f"probability at most {rounded_up(flip)}, on every countable domain."
    ]
    if gamma is not None:
        flip = ledger.add(markov_rho, pointwise=flip, gamma=gamma)
        promises.append(
            f"The models of two runs differ on a mass above {gamma:g} with probability at most "
            f"{rounded_up(flip)}."
        )
    missed = sum(
        ledger.add(some_missed_point_bound, n=n, law=tier.law, mass=tier.mass) for tier in stages
    )
    size = n // n_blocks
    rest = {"beta": beta, "missed": missed}
    if label_noise:
        mean = ledger.add(mean_excess, m=size, n_blocks=n_blocks, d=d, beta=beta_blocks)
        labels = {
            "n_labels": tuple(tier.n_labels for tier in stages),
            "bands": tuple(tier.band for tier in stages),
        }
        rate = ledger.add(cost_rate, tilt=tilt, masses=masses, **labels)
        spent = {"mean_error": mean, "rate": rate, "tilt": tilt, "beta_blocks": beta_blocks}
        excess = ledger.add(complete_excess, **spent, **rest)
        accuracy = f"the error is at most OPT + {rounded_up(excess)}, OPT the smallest error of"
    else:
        if any(tier.band < 1.0 for tier in stages):
            raise ValueError("without label noise the threshold on labels is uniform on [-1, 1]")
        factor = ledger.add(error_factor, law=uniform_law(n_blocks))
        lightest = masses[0] if masses else 1.0
        votes = {"m": size, "n_blocks": n_blocks, "d": d, "lightest": lightest, "factor": factor}
        excess = ledger.add(consistent_error, **votes, **rest)
        accuracy = f"the error is at most {rounded_up(excess)} if it is 0 for some hypothesis of"
    reasons = above_budget("rho", flip, rho) + above_budget("alpha", excess, alpha)
    if excess < 1.0:
        failure = f"Except with probability {rounded_up(beta)}"
        promises.append(f"{failure} {accuracy} a class of VC dimension {d}.")
    return Promise(
        promises=tuple(promises),
        rho=flip,
        gamma=gamma,
        alpha=excess if excess < 1.0 else None,
        beta=beta if excess < 1.0 else None,
        reasons=reasons,
        assumptions=(*BLOCK_ASSUMPTIONS, "separate-keys", "threshold-rule", "base-learner"),
    )


def _flips(ledger: Ledger, n: int, n_blocks: int, tiers: list[Tier]) -> float:
    """Return how often two runs differ at a point: by tier, by labels, or by votes."""
    votes = ledger.add(flip_supremum, law=uniform_law(n_blocks))
    labels = 0.0
    for tier in tiers:
        if tier.n_labels > ledger.add(labels_guaranteed, n=n, low=tier.low):
            raise ValueError(f"members of {tier} may have fewer labels than are used")
        labels = max(labels, ledger.add(label_flip_bound, k=tier.n_labels, a=tier.band))
    if [tier.mass for tier in tiers] != sorted(tier.mass for tier in tiers):
        raise ValueError("masses of tiers must rise")
    lows = tuple(tier.low for tier in tiers)
    highs = tuple(tier.high for tier in tiers)
    membership = ledger.add(tier_flip_bound, n=n, lows=lows, highs=highs)
    return ledger.add(reuse_flip_bound, membership=membership, labels=labels, votes=votes)


TASKS = (
    Task(
        "complete",
        _derive,
        _solve,
        learners=("CompleteLearner",),
        theorem="complete-learner",
    ),
)


# -- the learner -----------------------------------------------------------------------------------
class CompleteLearner(PaperClassifier):
    """Learn labels of heavy points by their own labels, and of all others by votes of blocks.

    On every countable domain two runs predict a fixed point differently with probability at most
    ``rho``, and the error is at most OPT + ``alpha`` except with probability ``beta``.

    Parameters
    ----------
    estimator : HypothesisClass or classifier, default=None
        The class, whose exact minimiser is trained on each block. If None, decision stumps over all
        features. Of a classifier it is assumed that it minimises the training error over a class of
        VC dimension ``d``.
    rho : float, default=0.1
        Probability that two runs predict one fixed point differently; with ``gamma``, that two
        models differ on a larger mass.
    gamma : float, default=None
        Mass on which two models may differ. If None, nothing is promised about whole models.
    alpha, beta : float, default=0.1, 0.05
        Excess error over the best of the class, and its failure probability.
    d : int, default=None
        VC dimension. If None, that of the class.
    label_noise : bool, default=True
        Whether one point may have different labels. If False, some hypothesis of the class is taken
        to make no error, and far fewer rows are needed.
    classes : array-like, default=None
        The two labels. If None, those in ``y``.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of all randomness. It must be the same in both runs, and fixed before the data
        are seen.
    plan : Plan, default=None
        A plan shared between labs. It sets ``rho``, ``gamma``, ``alpha``, ``beta``, ``d`` and
        ``label_noise``, which must then keep their defaults here, and the number of rows: a surplus
        is left out by key.
    n_jobs : int, default=None
        Number of joblib workers that train a classifier.

    Attributes
    ----------
    heavy_points_ : ndarray of shape (n_heavy, n_features)
        The points that were found to be heavy.
    heavy_labels_ : ndarray of shape (n_heavy,)
        Their labels.
    heavy_tiers_ : ndarray of shape (n_heavy,)
        Their tiers, from 0 on.
    estimators_ : list of Hypothesis or classifier
        The models of the blocks.
    certificate_ : Certificate
        What is promised.
    classes_ : ndarray
        The labels.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.paper.complete import CompleteLearner
    >>> from replearn.paper.hypotheses import Thresholds
    >>> rng = np.random.default_rng(0)
    >>> ages = np.where(rng.random(6000) < 0.5, 0.4, rng.random(6000))[:, np.newaxis]
    >>> model = CompleteLearner(Thresholds(), rho=0.3, alpha=0.4, beta=0.2, shared_key="k")
    >>> model = model.fit(ages, (ages[:, 0] > 0.6) != (rng.random(6000) < 0.1))
    >>> model.heavy_points_.tolist(), model.heavy_labels_.tolist(), model.certificate_.certified
    ([[0.4]], [False], True)
    """

    _private_state: ClassVar[tuple[str, ...]] = ("_ensemble", "_index")
    _derived_state: ClassVar[tuple[str, ...]] = ("_ensemble", "_index")
    _set_by_plan: ClassVar[tuple[str, ...]] = (
        *("rho", "gamma", "alpha", "beta"),
        *("d", "label_noise"),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HypothesisClass, HasMethods(["fit", "predict"]), None],
        **PaperClassifier._parameter_constraints,
        "gamma": [FRACTION, None],
        "d": [COUNT, None],
        "label_noise": ["boolean"],
        "n_jobs": [Integral, None],
    }

    def __init__(  # noqa: PLR0913
        self,
        estimator=None,
        *,
        rho=0.1,
        gamma=None,
        alpha=0.1,
        beta=0.05,
        d=None,
        label_noise=True,
        classes=None,
        shared_key=None,
        plan=None,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.rho = rho
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.d = d
        self.label_noise = label_noise
        self.classes = classes
        self.shared_key = shared_key
        self.plan = plan
        self.n_jobs = n_jobs

    @checked_fit
    def fit(self, X: Any, y: ArrayLike, *, groups: ArrayLike | None = None):
        """Train the blocks, find the heavy points and label them.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The rows.
        y : array-like of shape (n,)
            Labels of two classes.
        groups : array-like of shape (n,), default=None
            One id for each row: rows of one group (one person) are not independent, so that one
            of each group is used, and n counts groups.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            sample = X, y, groups
            X, y = self._check_rows(X, y, groups)
            key = self._key_for_fit()
            estimator = Stumps(X.shape[1]) if self.estimator is None else self.estimator
            inputs = self._inputs(estimator, len(y))
            tiers = [Tier(*tier) for tier in inputs["tiers"]]
            codes = y.astype(np.intp)
            bound, failed = self._train(estimator, X, codes, inputs["n_blocks"], key)
            # theorem: complete-learner (heavy points are labelled in tiers, the others by votes)
            self.heavy_points_, self.heavy_tiers_ = find_tiers(X, tiers, key)
            found = as_points(self.heavy_points_)
            heavy_codes = label_tiers(found, self.heavy_tiers_, tiers, X, codes, key)
            self.heavy_labels_ = self._labels(heavy_codes)
            self._derive_votes(inputs["n_blocks"])
            self._certify("complete", X, y, bound, sample=sample, failed=failed, **inputs)
        warn_if_not_certified(self.certificate_)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        points = as_points(X)
        table = uniform_law(len(self.estimators_)).table
        uniforms = fitted_key(self).child("vote").uniforms(points)
        # theorem: pointwise-threshold
        labels = self._labels(below_levels(uniforms, table[self._votes(X)]))
        member = self._index.locate(points)
        labels[member >= 0] = self.heavy_labels_[member[member >= 0]]
        return labels

    def _inputs(self, estimator: Any, n: int) -> dict[str, Any]:
        """Return the inputs of the plan, or those of the best design for this many rows."""
        own = estimator.vc_dimension if isinstance(estimator, HypothesisClass) else None
        d = self.d if self.plan is None else self.plan.inputs["d"]
        d = own if d is None else d
        if d is None:
            raise ValueError(
                "d is missing: give the VC dimension of the class over which the classifier "
                "minimises the training error, or a HypothesisClass."
            )
        if own is not None and own > d:
            raise ValueError(f"d={d}, but the VC dimension of {estimator!r} is {own}.")
        if self.plan is not None:
            return self.plan.inputs
        names = ("rho", "gamma", "alpha", "beta", "label_noise")
        return _solve(d=d, n=n, **{name: getattr(self, name) for name in names})

    def _train(
        self,
        estimator: Any,
        X: NDArray[np.float64],
        codes: NDArray[np.intp],
        n_blocks: int,
        key: SharedKey,
    ) -> tuple[dict[str, Fingerprint], tuple[str, ...]]:
        """Train one model on each block; return what is bound, and what the blocks refute."""
        blocks = Sample(X, codes).cut(Cut(len(codes), n_blocks), key)
        if isinstance(estimator, HypothesisClass):
            self.estimators_ = [estimator.erm(X[rows], codes[rows]) for rows in blocks.rows]
            return {"hypotheses": fingerprint(estimator)}, ()
        bound = bind_estimator(estimator)
        blocks.train(estimator, n_jobs=self.n_jobs)
        self.estimators_ = blocks.estimators
        return {"learner": bound}, blocks.failed_conditions(estimator)

    def _labels(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Return the labels of codes; a class that no run has seen is never predicted."""
        labels: NDArray[Any] = self.classes_[np.minimum(codes, len(self.classes_) - 1)]
        return labels

    def _votes(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return how many blocks vote for the second class."""
        if self._ensemble is None:
            return np.sum([model.predict(X) for model in self.estimators_], axis=0, dtype=np.int64)
        return self._ensemble.vote_counts(X, n_jobs=self.n_jobs)[:, 0].astype(np.int64)

    def _derive(self, key: SharedKey) -> None:
        self._derive_votes(self.certificate_.inputs["n_blocks"])

    def _derive_votes(self, n_blocks: int) -> None:
        check_n_models(self.estimators_, n_blocks, 1)
        are_rules = isinstance(self.estimators_[0], Hypothesis)
        self._ensemble = None if are_rules else BlockEnsemble(self.estimators_, np.arange(2))
        self._index = PointIndex(as_points(self.heavy_points_))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "certificate_")


def find_tiers(
    X: NDArray[np.float64], tiers: list[Tier], key: SharedKey
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the heavy points, and the highest tier that each belongs to.

    One shared number of a point decides about all tiers: their laws follow each other.

    >>> rows = np.concatenate([np.zeros((40, 1)), np.arange(60.0)[:, np.newaxis]])
    >>> tiers = [Tier(0.2, 0.05, 0.1, 5, 1.0), Tier(0.5, 0.2, 0.3, 20, 0.5)]
    >>> points, numbers = find_tiers(rows, tiers, SharedKey(0))
    >>> points.tolist(), numbers.tolist()
    ([[0.0]], [1])
    """
    if not tiers:
        return X[:0], np.zeros(0, np.intp)
    counted = count_points(X, at_least=labels_guaranteed(len(X), tiers[0].low))
    uniforms = key.child("membership").uniforms(counted.points)
    # theorem: heavy-membership
    reached = [below_levels(uniforms, tier.law.table(counted.counts, len(X))) for tier in tiers]
    number = np.sum(reached, axis=0) - 1
    return counted.values[number >= 0], number[number >= 0]


def label_tiers(
    heavy: Points,
    number: NDArray[np.intp],
    tiers: list[Tier],
    X: NDArray[np.float64],
    codes: NDArray[np.intp],
    key: SharedKey,
) -> NDArray[np.intp]:
    """Label heavy points from exactly as many of their labels as their tier uses."""
    if not tiers:
        return np.zeros(0, np.intp)
    member = PointIndex(heavy).locate(as_points(X))
    used = np.array([tier.n_labels for tier in tiers], dtype=np.int64)[number]
    tallies = first_labels(heavy, count_labels(codes, member, len(number), 2), used, key)
    labels = np.empty(len(number), dtype=np.intp)
    for index, tier in enumerate(tiers):
        at = number == index
        rule = label_points(
            heavy.take(at), tallies[at], tier.n_labels, tier.band, np.arange(2), key
        )
        labels[at] = rule.label_codes
    return labels
