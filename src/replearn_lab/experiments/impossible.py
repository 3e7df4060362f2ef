"""What looks replicable and is not: each breaks its claim on a named distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import BaggingClassifier

from replearn.bounds.flips import flip_supremum
from replearn.bounds.laws import uniform_law
from replearn.paper.hypotheses import Thresholds
from replearn_lab.distributions import shattered
from replearn_lab.drawing import COLORS, legend, panel
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.learning import OnePointLearner, TableLearner, keyed, vote_learner
from replearn_lab.measuring import share, shown

N_BLOCKS = 32


def measure(bench: Bench, *, pairs: int, n: int) -> Numbers:
    """Count failures of each claim."""
    promised = flip_supremum(uniform_law(N_BLOCKS))
    attempts: list[tuple[str, str, str, float, Callable[[Bench, int, int], bool]]] = [
        ("ERM thresholds", "labels are fair coins", "two runs differ on > 0.1", 0.1, _erm),
        (
            "plain bagging, one seed",
            "one point, a fair coin",
            "the point flips",
            promised,
            _bagging,
        ),
        (
            "averaging without heavy points",
            "two points of mass 1/2",
            "error above the best rule's by 0.2",
            0.05,
            _averaging,
        ),
        ("a fresh key per run", "one point, a fair coin", "the point flips", promised, _fresh),
        ("numbers by position", "one point, a fair coin", "the point flips", promised, _position),
        ("our learner, one key", "one point, a fair coin", "the point flips", promised, _shared),
    ]
    rows = []
    for name, where, event, claim, fails in attempts:
        bench.say(name)
        count = sum(fails(bench, pair, n) for pair in range(pairs))
        rows.append(
            {
                "name": name,
                "where": where,
                "event": event,
                "claim": claim,
                "seen": share(count, pairs),
            }
        )
    return {"pairs": pairs, "n": n, "rows": rows}


def _erm(bench: Bench, pair: int, n: int) -> bool:
    """Two best cuts of the same noise: the minimum of the error is flat."""
    grid = np.linspace(0.0, 1.0, 501)[:, np.newaxis]
    cuts = []
    for run in (0, 1):
        rng = bench.rng("erm", pair, run)
        X = rng.random((n, 1))
        cuts.append(np.asarray(Thresholds().erm(X, rng.integers(0, 2, n)).predict(grid)))
    return bool(np.mean(cuts[0] != cuts[1]) > 0.1)


def _bagging(bench: Bench, pair: int, n: int) -> bool:
    learn = keyed(BaggingClassifier(TableLearner(), N_BLOCKS))
    return _flips(bench, pair, n, "bagging", lambda X, y, run: learn(X, y, bench.key))


def _fresh(bench: Bench, pair: int, n: int) -> bool:
    key = bench.key.child("fresh", pair)
    learn = vote_learner(n, N_BLOCKS)
    return _flips(bench, pair, n, "fresh", lambda X, y, run: learn(X, y, key.child(run)))


def _shared(bench: Bench, pair: int, n: int) -> bool:
    key = bench.key.child("shared", pair)
    learn = vote_learner(n, N_BLOCKS)
    return _flips(bench, pair, n, "shared", lambda X, y, run: learn(X, y, key))


def _flips(bench: Bench, pair: int, n: int, name: str, train: Any) -> bool:
    """Whether two models of one fair coin answer its point differently."""
    coins = shattered([0.0])
    answers = []
    for run in (0, 1):
        X, y = coins.draw(bench.rng(name, pair, run), n)
        answers.append(int(train(X, y, run).predict(coins.points)[0]))
    return answers[0] != answers[1]


def _position(bench: Bench, pair: int, n: int) -> bool:
    """The point stands first in one lab's batch and second in the other's."""
    coins = shattered([0.0])
    answers = []
    for run in (0, 1):
        X, y = coins.draw(bench.rng("position", pair, run), n)
        model = vote_learner(n, N_BLOCKS)(X, y, bench.key.child("position", pair))
        answers.append(int(model.predict(np.zeros((2, 1)), ids=[0, 1])[run]))
    return answers[0] != answers[1]


def _averaging(bench: Bench, pair: int, n: int) -> bool:
    """The footnote's counterexample: two rules that each call one of two positive points -1.

    Labels are noisy, so that blocks see both: our learners do not train on a block of one label.
    """
    coins = shattered([0.5, 0.5])
    X, y = coins.draw(bench.rng("averaging", pair), n)
    learn = vote_learner(n, N_BLOCKS, base=OnePointLearner)
    labels = learn(X, y, bench.key.child("averaging", pair)).predict(coins.points)
    return coins.error(labels) > coins.error([1, 0]) + 0.2


def draw(data: Numbers, figure: Any) -> None:
    """Draw the failures beside the claims."""
    axes = panel(figure, "share of pairs of runs", "")
    rows = data["rows"]
    places = np.arange(len(rows))[::-1]
    seen = [row["seen"] for row in rows]
    middle = [row[0] for row in seen]
    spread = [[row[0] - row[1] for row in seen], [row[2] - row[0] for row in seen]]
    axes.errorbar(middle, places, xerr=spread, fmt="o", ms=4, color=COLORS[1], label="failures")
    axes.plot([row["claim"] for row in rows], places, "|", ms=14, color=COLORS[0], label="claim")
    axes.set_yticks(places, [row["name"] for row in rows])
    axes.set_xlim(-0.02, 1.02)
    legend(axes)


def read(data: Numbers) -> str:
    """Say which claims break."""
    parts = [
        f"{row['name']} ({row['where']}): {row['event']} in {shown(row['seen'])}, claimed at most "
        f"{row['claim']:.3f}, {'broken' if row['seen'][1] > row['claim'] else 'not refuted'}"
        for row in data["rows"]
    ]
    return (
        f"{data['pairs']} pairs of runs with {data['n']} rows each. {'; '.join(parts)}. All but "
        f"the last should break: nothing but a random number that both runs share for the same "
        f"point keeps a point that is labelled by a fair coin."
    )


LABELS = ("thm:non-uniform-repl-lb", "def:non-uniform-repl")
SUMMARY = "plain ERM, bagging, averaging without heavy points, wrong keys: each breaks a claim"
SIZES = {
    "tiny": {"pairs": 2, "n": 96},
    "small": {"pairs": 100, "n": 320},
    "full": {"pairs": 1000, "n": 640},
}
