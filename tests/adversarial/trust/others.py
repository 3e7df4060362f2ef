"""Attacks on coins and signs, scores, kept answers, rounded numbers, privacy and plain limits."""

import math
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from replearn.bounds.laws import uniform_law
from replearn.bounds.multiclass import agreement_probability
from replearn.bounds.numeric import binomial_limits
from replearn.bounds.regression import rounding_flip_bound
from replearn.bounds.scores import any_score_flip_bound, worst_score_flip_bound
from replearn.learners.incumbent import IncumbentClassifier
from replearn.paper.coins import CoinLaw, coin_flip_bound
from replearn.paper.heavy_hitters import below_levels
from replearn.paper.semi_private import release_threshold
from replearn.paper.signs import joint_sign_flip_bound, sign_flip_bound

from .attack import Claim, among, between, masses, whole
from .library import ErrorCurve, ScoreRule, fresh_key, points_of_pairs
from .models import OldAnswers, TableOfScores
from .votes import levels


class Coin(NamedTuple):
    n: int
    law: CoinLaw
    chance: float


class Coins(Claim):
    name, theorem, size = "coins", "coin-testing", 4

    def case(self, z):
        low = between(z[1], 0.0, 0.9)
        law = CoinLaw("arcsine", low, between(z[2], low + 0.02, 1.0))
        return Coin(whole(z[0], 2, 500), law, float(z[3]))

    def certified(self, case):
        return coin_flip_bound(case.n, case.law)

    def value(self, case):
        counts = np.arange(case.n + 1)
        below = np.minimum(np.cumsum(binom.pmf(counts, case.n, case.chance))[:-1], 1.0)
        return float(np.diff(case.law.probabilities(counts, case.n)) @ (2 * below * (1 - below)))

    def simulate(self, case, rng, pairs):
        noise = fresh_key(rng).child("coin").uniforms(points_of_pairs(pairs))
        heads = rng.binomial(case.n, case.chance, (2, pairs))
        one, two = (below_levels(noise, case.law.table(h, case.n)) for h in heads)
        return (one != two).sum()


class SignsOf(NamedTuple):
    n: int
    width: float
    chances: np.ndarray


class SignsOneByOne(Claim):
    """A threshold for each coin; the vectors differ if any sign does."""

    name, theorem, size = "signs, a threshold each", "coins-at-once", 7
    slack = "sharp for one coin; a union over independent coins otherwise"

    def case(self, z):
        return SignsOf(whole(z[0], 20, 1000), between(z[1], 0.1, 1.0), z[2 : 2 + whole(z[6], 1, 4)])

    def certified(self, case):
        return sign_flip_bound(case.n, len(case.chances), case.width)

    def value(self, case):
        law, counts = uniform_law(case.n, case.width), np.arange(case.n + 1)
        flips = [levels(binom.pmf(counts, case.n, q), law) for q in case.chances]
        return float(1.0 - np.prod(1.0 - np.array(flips)))

    def simulate(self, case, rng, pairs):
        key, differ = fresh_key(rng).child("sign"), np.zeros(pairs, dtype=bool)
        law = uniform_law(case.n, case.width)
        for coin, q in enumerate(case.chances):
            noise = key.child(coin).uniforms(points_of_pairs(pairs))
            heads = rng.binomial(case.n, q, (2, pairs))
            one, two = (below_levels(noise, law.table[h]) for h in heads)
            differ |= one != two
        return differ.sum()


class SignsAtOnce(Claim):
    """The vector drawn by correlated sampling from a product of coins."""

    name, theorem, exact, size = "signs, drawn at once", "coins-at-once", False, 8
    slack = "total variation of products by Hellinger distance, then 2 t / (1 + t)"

    def case(self, z):
        d = whole(z[7], 1, 5)
        return SignsOf(whole(z[0], 20, 20_000), between(z[1], 0.1, 1.0), 0.2 + 0.6 * z[2 : 2 + d])

    def certified(self, case):
        return joint_sign_flip_bound(case.n, len(case.chances), case.width)

    def _weights(self, case, rng, pairs):
        means = 2.0 * rng.binomial(case.n, case.chances, (2, pairs, len(case.chances))) / case.n - 1
        up = np.sin(np.pi / 4.0 * (1.0 + np.clip(means / case.width, -1.0, 1.0))) ** 2
        vectors = np.array(list(product([0, 1], repeat=len(case.chances))))
        return np.where(vectors, up[:, :, None], 1.0 - up[:, :, None]).prod(axis=3)

    def value(self, case):
        weights = self._weights(case, np.random.default_rng(1), 1000)
        return float(1.0 - agreement_probability(*weights).mean())

    def simulate(self, case, rng, pairs):
        weights = self._weights(case, rng, pairs)
        noise = fresh_key(rng).gumbels(points_of_pairs(pairs), list(range(weights.shape[2])))
        with np.errstate(divide="ignore"):
            one, two = (np.log(weights) + noise).argmax(axis=2)
        return (one != two).sum()


class Scored(NamedTuple):
    half_width: float
    level: float  # standard error in use
    excess: float  # the true one, in these units
    center: float
    places: np.ndarray
    chances: np.ndarray


class ScoreThresholds(Claim):
    """Conditional on the standard error: any distribution of the score with this spread."""

    name, theorem, size = "score thresholds (given the standard error)", "score-thresholds", 14
    most = 0.6

    def case(self, z):
        chances, places = masses(z[4:9]), np.linspace(-1.0, 1.0, 5) + 0.2 * (z[9:14] - 0.5)
        spread = math.sqrt(max(chances @ places**2 - (chances @ places) ** 2, 1e-6))
        level, excess = 0.005, between(z[1], 0.2, 1.0)
        places = (places - chances @ places) / spread * level * excess
        return Scored(between(z[0], 1.5, 6.0), level, excess, between(z[2], -2, 2), places, chances)

    def certified(self, case):
        return any_score_flip_bound(case.half_width, case.excess)

    def _rule(self, case):
        return ScoreRule(ErrorCurve(case.level, 0.5), case.half_width, 1, 2)

    def _scores(self, case):
        return np.clip(0.5 + case.center * case.level + case.places, 0.0, 1.0)

    def value(self, case):
        heights = self._rule(case).chance(self._scores(case)[:, None])
        gaps = np.abs(np.subtract.outer(heights, heights))
        return float(case.chances @ gaps @ case.chances)

    def simulate(self, case, rng, pairs):
        rule = self._rule(case)
        noise = rule.noise(fresh_key(rng), points_of_pairs(pairs))
        drawn = rng.choice(5, (2, pairs), p=case.chances)
        one, two = (rule.predictions(self._scores(case)[d][:, None], noise) for d in drawn)
        return (one != two).sum()


class Worst(NamedTuple):
    blocks: int
    half_width: float
    level: float
    chance: float


class WorstScores(Claim):
    """Whatever the scores do: blocks that score 0 or 1, thresholds fixed beforehand."""

    name, theorem, size = "score thresholds (any learner)", "score-thresholds", 4

    def case(self, z):
        half_width = between(z[1], 1.0, 6.0)
        level = between(z[2], 0.01, 0.5) / half_width
        return Worst(whole(z[0], 2, 60), half_width, level, float(z[3]))

    def certified(self, case):
        return worst_score_flip_bound(case.blocks, case.half_width, case.level)

    def _rule(self, case):
        return ScoreRule(ErrorCurve(case.level, 0.5), case.half_width, 1, 2)

    def value(self, case):
        shares = np.arange(case.blocks + 1) / case.blocks
        heights = self._rule(case).chance(shares[:, None])
        below = np.minimum(
            np.cumsum(binom.pmf(np.arange(case.blocks + 1), case.blocks, case.chance))[:-1], 1.0
        )
        return float(np.diff(heights) @ (2.0 * below * (1.0 - below)))

    def simulate(self, case, rng, pairs):
        rule = self._rule(case)
        noise = rule.noise(fresh_key(rng), points_of_pairs(pairs))
        votes = rng.binomial(case.blocks, case.chance, (2, pairs)) / case.blocks
        one, two = (rule.predictions(v[:, None], noise) for v in votes)
        return (one != two).sum()


class Kept(NamedTuple):
    band: float
    places: np.ndarray
    chances: np.ndarray


class Incumbent(Claim):
    """Changes of one answer in the long run, for scores on four values."""

    name, theorem, size = "incumbent band", "incumbent-band", 9

    def case(self, z):
        return Kept(between(z[0], 0.02, 0.4), z[1:5], masses(z[5:9]))

    def _chances(self, case):
        """Chance that one retraining is clearly below, clearly above."""
        far = case.places - 0.5
        return float(case.chances @ (far < -case.band)), float(case.chances @ (far > case.band))

    def certified(self, case):
        mean = case.chances @ case.places
        variance = float(case.chances @ (case.places - mean) ** 2)
        return min(0.5, variance / (2.0 * case.band**2))  # section 2 of incumbent-band

    def value(self, case):
        below, above = self._chances(case)
        return 2.0 * below * above / (below + above) if below + above else 0.0

    def simulate(self, case, rng, pairs):
        below, above = self._chances(case)
        old = (rng.random(pairs) < above / max(below + above, 1e-300)).astype(np.int64)
        new = case.places[rng.choice(4, pairs, p=case.chances)]
        X = np.column_stack([new, old])
        model = IncumbentClassifier(
            TableOfScores(), OldAnswers().fit(X), memory=0.5, band=case.band
        )
        told = model.fit(np.array([[0.0, 0.0], [1.0, 1.0]]), [0, 1]).predict(X)
        return (told != old).sum()


class Rounded(NamedTuple):
    blocks: int
    resolution: float  # the range of the predictions is 1
    chance: float
    middle: float  # chance of a prediction in the middle of the range


class Regression(Claim):
    name, theorem, size = "rounded regression", "rounded-regression", 4

    def case(self, z):
        return Rounded(whole(z[0], 2, 60), between(z[1], 0.1, 2.0), float(z[2]), float(z[3] ** 3))

    def certified(self, case):
        return rounding_flip_bound(case.blocks, 1.0, case.resolution)

    def _chances(self, case):
        rest = 1.0 - case.middle
        return np.array([rest * (1.0 - case.chance), case.middle, rest * case.chance])

    def value(self, case):
        pmf = np.ones(1)
        for _ in range(case.blocks):
            pmf = np.convolve(pmf, self._chances(case))
        means = np.linspace(0.0, 1.0, len(pmf))
        gaps = np.minimum(np.abs(np.subtract.outer(means, means)) / case.resolution, 1.0)
        return float(pmf @ gaps @ pmf)

    def simulate(self, case, rng, pairs):
        offsets = fresh_key(rng).child("grid").uniforms(points_of_pairs(pairs))
        chances = self._chances(case)
        means = rng.multinomial(case.blocks, chances / chances.sum(), (2, pairs)) @ [0.0, 0.5, 1.0]
        one, two = np.floor(means / case.blocks / case.resolution - offsets)
        return (one != two).sum()


class Private(NamedTuple):
    epsilon: float
    delta: float
    counts: tuple


@lru_cache(maxsize=256)
def _releases(epsilon, threshold, counts):
    """Chance of each answer: (item, noisy count), or nothing; ties go to the later name."""
    ratio, reach = math.exp(-epsilon / 2.0), int(80 / epsilon) + 20
    noise = (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-reach, reach + 1))
    top = max(counts) + reach
    seen = np.zeros((len(counts), top + 1))  # chance of each noisy count that is released
    for item, count in enumerate(counts):
        if count:
            place = count + np.arange(-reach, reach + 1)
            inside = (place >= threshold) & (place <= top)
            seen[item, place[inside]] = noise[inside]
    hidden = 1.0 - seen.sum(axis=1)
    upto = hidden[:, None] + np.cumsum(seen, axis=1)
    before = upto - seen
    answers = np.array(
        [
            seen[item]
            * np.prod(
                [upto[i] if i < item else before[i] for i in range(len(counts)) if i != item],
                axis=0,
            )
            for item in range(len(counts))
        ]
    )
    return np.append(answers.ravel(), hidden.prod())


class PrivateSelection(Claim):
    """Two lists that differ in one item: the delta that this epsilon needs, exactly."""

    name, theorem, size = "private selection", "private-selection", 6

    def case(self, z):
        epsilon, delta = among(z[0], (0.3, 1.0, 2.0)), among(z[1], (0.01, 0.05, 0.2))
        return Private(epsilon, delta, (*(whole(c, 1, 40) - 1 for c in z[2:5]), int(z[5] < 0.5)))

    def certified(self, case):
        return case.delta

    def value(self, case):
        *counts, way = case.counts
        if not counts[0]:
            return 0.0
        top = max(counts) + 1
        other = (counts[0] - 1, counts[1] + 1, counts[2])
        threshold = release_threshold(case.epsilon, case.delta)
        both = [_padded(case.epsilon, threshold, tuple(c), top) for c in (counts, other)]
        one, two = both if way else both[::-1]
        return float(np.maximum(one - math.exp(case.epsilon) * two, 0.0).sum())

    def simulate(self, case, rng, pairs):
        """Draw the noise afresh; count the excess of the event on which the lists differ most."""
        *counts, way = case.counts
        other = (counts[0] - 1, counts[1] + 1, counts[2])
        threshold, top = release_threshold(case.epsilon, case.delta), max(counts) + 1
        both = [_padded(case.epsilon, threshold, tuple(c), top) for c in (counts, other)]
        one, two = both if way else both[::-1]
        # the event "one - exp(epsilon) two is positive", thinned so that its chance is the excess
        excess = np.maximum(one - math.exp(case.epsilon) * two, 0.0)
        mine = np.array(counts if way else other)
        noise = rng.geometric(1 - math.exp(-case.epsilon / 2), (2, pairs, 3)) - 1
        noisy = np.where(mine > 0, mine + noise[0] - noise[1], -1)
        noisy = np.where((noisy >= threshold) & (mine > 0), noisy, -1)
        item = 2 - noisy[:, ::-1].argmax(axis=1)
        best = noisy[np.arange(pairs), item]
        width = (len(one) - 1) // 3
        place = np.where(best < 0, len(one) - 1, item * width + np.minimum(best, width - 1))
        keep = np.divide(excess, one, out=np.zeros_like(one), where=one > 0)
        return (rng.random(pairs) < keep[place]).sum()


def _padded(epsilon, threshold, counts, top):
    """Return the answers of lists whose largest counts may differ, on one lattice."""
    made = _releases(epsilon, threshold, (*counts, top))  # a fourth item fixes the lattice
    width = (len(made) - 1) // 4
    alone = _releases(epsilon, threshold, counts)
    small = (len(alone) - 1) // 3
    grid = np.zeros((3, width))
    grid[:, :small] = alone[:-1].reshape(3, small)
    return np.append(grid.ravel(), alone[-1])


class Limits(NamedTuple):
    n: int
    chance: float
    delta: float


class BinomialLimits(Claim):
    name, theorem, size = "binomial limits", "binomial-limits", 3

    def case(self, z):
        return Limits(whole(z[0], 1, 400), float(z[1]), among(z[2], (0.01, 0.05, 0.2)))

    def certified(self, case):
        return case.delta

    def _missed(self, case):
        low, high = binomial_limits(np.arange(case.n + 1), case.n, case.delta)
        return (case.chance < low - 1e-12) | (case.chance > high + 1e-12)

    def value(self, case):
        return float(binom.pmf(np.arange(case.n + 1), case.n, case.chance) @ self._missed(case))

    def simulate(self, case, rng, pairs):
        return self._missed(case)[rng.binomial(case.n, case.chance, pairs)].sum()


CLAIMS = [
    Coins(),
    SignsOneByOne(),
    SignsAtOnce(),
    ScoreThresholds(),
    WorstScores(),
    Incumbent(),
    Regression(),
    PrivateSelection(),
    BinomialLimits(),
]
