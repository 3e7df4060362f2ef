"""Attacks with whole samples: rows that repeat, keyed blocks, several partitions, training rows.

A population has a few kinds of rows (features with label). A learner is a table: from the kinds of
the rows of a block, in keyed order, and the parity of the block's number (its seed) to a vote.
Blocks are cut by the library's keyed order, one key for all pairs with the pair as a column.
"""

from typing import NamedTuple

import numpy as np

from replearn.bounds.flips import flip_bound, halves_supremum, runs_bound, training_row_bound
from replearn.bounds.laws import ThresholdLaw
from replearn.bounds.multiclass import class_weights, multiclass_flip_bound

from .attack import Claim, among, between, masses, whole
from .library import fresh_key, gumbel_rule, keyed_places, points_of_pairs, threshold_rule
from .votes import make

KINDS = 4
SEARCH_PAIRS = 1500


class Population(NamedTuple):
    law: ThresholdLaw
    rows: int  # of a block
    partitions: int
    masses: np.ndarray  # of the kinds of rows
    learner: np.ndarray  # votes: (parity of the block, kinds of its rows ...)
    own: np.ndarray  # votes of a block that contains the point itself
    trained: int  # how many of the two runs have the point among their rows


def blocks_of(case, key, kinds, numbers, own):
    """Yield for each partition the votes of all blocks, (pairs, blocks), by the learner's table."""
    n_blocks, m = case.law.n_blocks, case.rows
    pairs, columns = len(kinds), () if numbers is None else (numbers,)
    for j in range(case.partitions):
        order = keyed_places(key.child("partition", j), kinds, *columns)
        blocks = np.take_along_axis(kinds, order, axis=1).reshape(pairs, n_blocks, m)
        parity = np.broadcast_to(np.arange(n_blocks) % 2, (pairs, n_blocks))
        inside = (parity, *np.moveaxis(blocks, 2, 0))
        vote = case.learner[inside]
        if own is not None:
            mine = np.take_along_axis(own, order, axis=1).reshape(pairs, n_blocks, m).any(axis=2)
            vote = np.where(mine, case.own[inside], vote)
        yield vote


def votes_of(case, key, kinds, numbers, own):
    """Return the votes of each pair and partition; ``own`` marks the rows that are the point."""
    return np.column_stack([v.sum(axis=1) for v in blocks_of(case, key, kinds, numbers, own)])


class Rows(Claim):
    """Two runs on samples of one population, compared at one point."""

    exact = False
    size = 5 + KINDS + 2 * 2 * KINDS**2

    def __init__(self, name, theorem, *, repeated, partitions=(1,), trained=(0,)):
        self.name, self.theorem, self.repeated = name, theorem, repeated
        self.most = 0.65 if repeated and trained != (0,) else 0.35
        self.partitions, self.trained = partitions, trained

    def case(self, z):
        n_blocks, m = whole(z[0], 2, 10), among(z[1], (1, 2))
        width = max(round(between(z[2], 0.1, 1.0), 3), 1.0 / n_blocks)
        law = make(among(z[3], ("uniform", "arcsine")), n_blocks, width)
        shape = (2, *[KINDS] * m)
        tables = (z[5 + KINDS :].reshape(2, -1)[:, : 2 * KINDS**m] < 0.5).astype(np.int64)
        sizes = among(z[4], self.partitions)
        trained = among(z[5], self.trained)
        return Population(
            law, m, sizes, masses(z[5 : 5 + KINDS]), *(t.reshape(shape) for t in tables), trained
        )

    def certified(self, case):
        if case.trained == 0:
            return flip_bound(case.law)
        return training_row_bound(case.law, trained=case.trained, repeated=self.repeated)

    def _levels(self, case, rng, pairs):
        """Return the rule, the votes of both runs, and the thresholds."""
        key, n = fresh_key(rng), case.law.n_blocks * case.rows
        runs = []
        for run in range(2):
            kinds = rng.choice(KINDS, (pairs, n), p=case.masses)
            own = None
            if case.trained:
                kinds[:, 0] = 0 if case.trained > run else kinds[:, 0]
                own = np.zeros((pairs, n), dtype=bool)
                own[:, 0] = case.trained > run
                if self.repeated:  # a learner cannot tell the point from an equal row
                    own = kinds == 0
            # Rows that do not repeat have a number of their own; a shared row has the same.
            numbers = None if self.repeated else np.arange(n) + n * run * (np.arange(n) > 0)
            if numbers is not None:
                if case.trained < 2:
                    numbers = numbers + n * run
                numbers = np.broadcast_to(numbers, (pairs, n))
            runs.append(votes_of(case, key, kinds, numbers, own))
        rule = threshold_rule(case.law, n_partitions=case.partitions)
        return rule, runs, key.child("vote").uniforms(points_of_pairs(pairs))

    def value(self, case):
        rng = np.random.default_rng(11)
        _, (one, two), _ = self._levels(case, rng, SEARCH_PAIRS)
        heights = [case.law.probabilities[votes].mean(axis=1) for votes in (one, two)]
        return float(np.abs(heights[0] - heights[1]).mean())

    def simulate(self, case, rng, pairs):
        rule, (one, two), noise = self._levels(case, rng, pairs)
        return (rule.predictions(one, noise) != rule.predictions(two, noise)).sum()


class RollingWindows(Rows):
    """The second sample contains some rows of the first: two runs, one point, votes only."""

    def __init__(self, name, repeated):
        super().__init__(name, "content-keyed-partition", repeated=repeated, partitions=(1, 2))

    def _levels(self, case, rng, pairs):
        key, n = fresh_key(rng), case.law.n_blocks * case.rows
        # the mass of the first kind also says how many rows are shared
        shared = round(n * float(case.masses[0]))
        first, second = (rng.choice(KINDS, (pairs, n), p=case.masses) for _ in range(2))
        second[:, :shared] = first[:, :shared]
        numbers = np.arange(n), np.where(np.arange(n) < shared, np.arange(n), n + np.arange(n))
        runs = []
        for kinds, number in zip((first, second), numbers, strict=True):
            every = None if self.repeated else np.broadcast_to(number, (pairs, n))
            runs.append(votes_of(case, key, kinds, every, None))
        rule = threshold_rule(case.law, n_partitions=case.partitions)
        return rule, runs, key.child("vote").uniforms(points_of_pairs(pairs))


class HalvesOfRows(Rows):
    """One file of distinct rows, cut into two random halves."""

    def __init__(self):
        super().__init__("halves of a file, keyed blocks", "halves-of-one-file", repeated=False)

    def certified(self, case):
        return halves_supremum(case.law)

    def _levels(self, case, rng, pairs):
        key, n = fresh_key(rng), case.law.n_blocks * case.rows
        # the file: kinds in the planned shares, as nearly as can be
        ends = np.searchsorted(np.cumsum(case.masses) - 1e-12, (np.arange(2 * n) + 0.5) / (2 * n))
        places = rng.permuted(np.broadcast_to(np.arange(2 * n), (pairs, 2 * n)), axis=1)
        runs = []
        for half in (places[:, :n], places[:, n:]):
            runs.append(votes_of(case, key, np.minimum(ends, KINDS - 1)[half], half, None))
        rule = threshold_rule(case.law)
        return rule, runs, key.child("vote").uniforms(points_of_pairs(pairs))


class RunsOfRows(Rows):
    """Several runs on samples in which rows repeat."""

    def __init__(self):
        super().__init__("many runs, rows that repeat", "many-runs", repeated=True)

    def certified(self, case):
        return runs_bound(case.law, 4)

    def _levels(self, case, rng, pairs):
        key, n = fresh_key(rng), case.law.n_blocks * case.rows
        samples = [rng.choice(KINDS, (pairs, n), p=case.masses) for _ in range(4)]
        runs = [votes_of(case, key, kinds, None, None) for kinds in samples]
        return threshold_rule(case.law), runs, key.child("vote").uniforms(points_of_pairs(pairs))

    def value(self, case):
        _, runs, _ = self._levels(case, np.random.default_rng(11), SEARCH_PAIRS)
        heights = np.array([case.law.probabilities[votes].mean(axis=1) for votes in runs])
        return float((heights.max(axis=0) - heights.min(axis=0)).mean())

    def simulate(self, case, rng, pairs):
        rule, runs, noise = self._levels(case, rng, pairs)
        answers = np.array([rule.predictions(votes, noise) for votes in runs])
        return (answers != answers[0]).any(axis=0).sum()


class ClassVotes(NamedTuple):
    blocks: int
    classes: int
    sharpness: float
    chances: np.ndarray
    others: np.ndarray  # chances of the blocks with another seed
    share: float


class SeveralClasses(Claim):
    """Several classes: shares, shared Gumbels, seeds that pick one of two vectors of chances."""

    name, theorem, exact, size = "several classes", "multiclass-vote", False, 16

    def case(self, z):
        n_classes = among(z[0], (3, 3, 4, 6))
        sharpness = 2.0 + np.log(n_classes - 1) + 6.0 * z[2] ** 2
        chances = masses(z[3 : 3 + n_classes]), masses(z[9 : 9 + n_classes])
        share = among(z[15], (1.0, float(z[15])))
        return ClassVotes(whole(z[1], 8, 400), n_classes, float(sharpness), *chances, share)

    def certified(self, case):
        return multiclass_flip_bound(case.blocks, case.classes, case.sharpness)

    def _shares(self, case, rng, pairs):
        first = rng.binomial(case.blocks, case.share, pairs)
        for _ in range(2):
            votes = rng.multinomial(first, case.chances)
            yield (votes + rng.multinomial(case.blocks - first, case.others)) / case.blocks

    def value(self, case):
        from replearn.bounds.multiclass import agreement_probability

        rng = np.random.default_rng(5)
        chances = [class_weights(s, case.sharpness) for s in self._shares(case, rng, SEARCH_PAIRS)]
        return float(1.0 - agreement_probability(*chances).mean())

    def simulate(self, case, rng, pairs):
        rule = gumbel_rule(case.blocks, case.classes, case.sharpness)
        noise = rule.noise(fresh_key(rng), points_of_pairs(pairs))
        one, two = (rule.predictions(s[:, None], noise) for s in self._shares(case, rng, pairs))
        return (one != two).sum()


class ClassPartitions(Rows):
    """Several classes, several partitions of rows that repeat."""

    quick = 0.3

    def __init__(self):
        super().__init__(
            "several classes, partitions, rows that repeat",
            "multiclass-vote",
            repeated=True,
            partitions=(1, 2),
        )

    def case(self, z):
        case = super().case(z)
        n_blocks = whole(z[0], 9, 12)
        shape = case.learner.shape
        learner = (z[5 + KINDS :][: case.learner.size] * 3).astype(np.int64).clip(0, 2)
        return case._replace(law=make("uniform", n_blocks, 1.0), learner=learner.reshape(shape))

    def certified(self, case):
        return multiclass_flip_bound(case.law.n_blocks, 3, 2.7)

    def _levels(self, case, rng, pairs):
        key, n = fresh_key(rng), case.law.n_blocks * case.rows
        runs = []
        for _ in range(2):
            kinds = rng.choice(KINDS, (pairs, n), p=case.masses)
            votes = np.stack(list(blocks_of(case, key, kinds, None, None)), axis=1)
            shares = [(votes == label).mean(axis=2) for label in range(3)]
            runs.append(np.stack(shares, axis=2))
        rule = gumbel_rule(case.law.n_blocks, 3, 2.7, case.partitions)
        return rule, runs, rule.noise(key.child("vote"), points_of_pairs(pairs))

    def value(self, case):
        from replearn.bounds.multiclass import agreement_probability

        rule, runs, _ = self._levels(case, np.random.default_rng(11), SEARCH_PAIRS // 4)
        return float(1.0 - agreement_probability(*(rule.key_chances(r) for r in runs)).mean())


CLAIMS = [
    Rows("rows that repeat", "content-keyed-partition", repeated=True),
    Rows("several partitions", "several-partitions", repeated=False, partitions=(2, 3, 5)),
    Rows(
        "several partitions, rows that repeat",
        "several-partitions",
        repeated=True,
        partitions=(2, 3, 5),
    ),
    Rows("training rows", "training-rows", repeated=False, trained=(1, 2)),
    Rows("training rows that repeat", "training-rows", repeated=True, trained=(1, 2)),
    RollingWindows("rolling windows", repeated=False),
    RollingWindows("rolling windows, rows that repeat", repeated=True),
    HalvesOfRows(),
    RunsOfRows(),
    SeveralClasses(),
    ClassPartitions(),
]
