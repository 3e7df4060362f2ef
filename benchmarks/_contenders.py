"""What is compared: each contender learns from one half and says how likely it answers 1.

A classifier without shared thresholds says 0 or 1. For block votes with a shared threshold it is
the law's value G, the probability over thresholds: two runs differ with probability |G1 - G2|, and
the error is averaged over thresholds as well.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier

from replearn import PointwiseReplicableClassifier, ScoreReplicableClassifier, plan
from replearn.bounds.flips import halves_supremum
from replearn.exceptions import NotCertifiedWarning
from replearn.execution.voting import BlockEnsemble

FEW = 5
MANY = 24
"""As many as a `ScoreReplicableClassifier` fits."""

NOMINAL = (0.1, 0.2)
AT_PREVALENCE = ", at prevalence"
"""Answer 1 from the share of 1 in the sample on, not from 1/2: for rare positives."""

LITERAL_BLOCKS = 32


@dataclass(frozen=True)
class Half:
    """What a contender sees, and what it is asked."""

    X: NDArray[np.float64]
    y: NDArray[np.intp]
    X_test: NDArray[np.float64]
    key: str


@dataclass(frozen=True)
class Outcome:
    """Probability of answer 1 per test row, processor seconds, promise and its limit on halves."""

    scores: NDArray[np.float64]
    seconds: float
    rho: float | None = None
    limit: float | None = None
    blocks: str = ""
    proba: NDArray[np.float64] | None = None

    def as_json(self) -> dict[str, Any]:
        proba = None if self.proba is None else np.round(self.proba, 5).tolist()
        return {**vars(self), "scores": np.round(self.scores, 6).tolist(), "proba": proba}


def single_fit(base: Any, half: Half, *, prevalence: bool = False) -> dict[str, Outcome]:
    start = time.process_time()
    proba = clone(base).fit(half.X, half.y).predict_proba(half.X_test)[:, 1]
    answers = (proba > (half.y.mean() if prevalence else 0.5)).astype(float)
    name = "single fit" + AT_PREVALENCE * prevalence
    return {name: Outcome(answers, time.process_time() - start, proba=proba)}


def bagging_few(base: Any, half: Half) -> dict[str, Outcome]:
    return _bagging(base, half, FEW, "bagging, 5")


def bagging_24(base: Any, half: Half) -> dict[str, Outcome]:
    return _bagging(base, half, MANY, "bagging, 24")


def bagging_many(base: Any, half: Half) -> dict[str, Outcome]:
    n_blocks = plan(n=len(half.y), rho=PointwiseReplicableClassifier().rho).design.n_blocks
    return _bagging(base, half, n_blocks, "bagging, T")


def _bagging(base: Any, half: Half, n_estimators: int, name: str) -> dict[str, Outcome]:
    start = time.process_time()
    model = BaggingClassifier(base, n_estimators=n_estimators, random_state=0)
    proba = model.fit(half.X, half.y).predict_proba(half.X_test)[:, 1]
    answers, seconds = (proba > 0.5).astype(float), time.process_time() - start
    return {name: Outcome(answers, seconds, blocks=str(n_estimators), proba=proba)}


def score_thresholds(
    base: Any, half: Half, *, rho: float = NOMINAL[0], prevalence: bool = False
) -> dict[str, Outcome]:
    """Thresholds in standard errors, with the defaults of this nominal rho."""
    threshold = "prevalence" if prevalence else 0.5
    model = ScoreReplicableClassifier(
        base, rho=rho, threshold=threshold, shared_key=half.key, verbose=-1
    )
    start = time.process_time()
    fitted = model.fit(half.X, half.y)._vote()
    scores = fitted.votes(half.X_test)
    chance, proba = fitted.rule.chance(scores), fitted.rule.share(scores)
    seconds, design = time.process_time() - start, model.certificate_.inputs
    blocks = f"{design['n_blocks']} x {design['n_partitions']}"
    name = f"score, rho {rho}{AT_PREVALENCE * prevalence}"
    return {name: Outcome(chance, seconds, rho=rho, blocks=blocks, proba=proba)}


def plain_mean(half: dict[str, Any]) -> dict[str, Any]:
    """Return what the models of a `score_thresholds` half answer without thresholds of points."""
    return {**half, "scores": [float(share > 0.5) for share in half["proba"]], "rho": None}


def constant_answer(y: NDArray[np.intp]) -> dict[str, Any]:
    """Return the outcome of the answer that is right most often on the test rows."""
    return Outcome(np.full(len(y), float(y.mean() > 0.5)), 0.0).as_json()


def literal_paper(base: Any, half: Half) -> dict[str, Outcome]:
    literal = PointwiseReplicableClassifier(
        base,
        law="uniform",
        width=1,
        n_partitions=1,
        vote="hard",
        n_blocks=LITERAL_BLOCKS,
        shared_key=half.key,
        verbose=-1,
    )
    return {"literal paper": _replicable(literal, half)}


def defaults_and_majority(base: Any, half: Half) -> dict[str, Outcome]:
    """Our defaults, and what the plain majorities of the same blocks would answer."""
    model = PointwiseReplicableClassifier(base, shared_key=half.key, verbose=-1)
    ours = _replicable(model, half)
    design = model.plan_.design
    votes = BlockEnsemble(model.estimators_, [0, 1], design.n_partitions).vote_counts(half.X_test)
    one = votes[:, 0] > design.n_blocks / 2
    all_of_them = votes.mean(axis=1) > design.n_blocks / 2
    share = ours.seconds / design.n_partitions
    return {
        "our defaults": ours,
        "block majority": Outcome(one.astype(float), share, blocks=str(design.n_blocks)),
        "majority, all partitions": Outcome(
            all_of_them.astype(float), ours.seconds, blocks=ours.blocks
        ),
    }


def _replicable(model: PointwiseReplicableClassifier, half: Half) -> Outcome:
    start = time.process_time()
    with warnings.catch_warnings():
        # What cannot be certified stays in the table, marked by its rho.
        warnings.simplefilter("ignore", NotCertifiedWarning)
        model.fit(half.X, half.y)
    scores = model.explain(half.X_test).response
    seconds = time.process_time() - start
    design = model.plan_.design
    return Outcome(
        scores,
        seconds,
        rho=model.certificate_.rho,
        limit=halves_supremum(design.law),
        blocks=f"{design.n_blocks} x {design.n_partitions}",
    )


Contender = Callable[[Any, Half], dict[str, Outcome]]
CONTENDERS: dict[str, Contender] = {
    "single": single_fit,
    "score": score_thresholds,
    "score_loose": partial(score_thresholds, rho=NOMINAL[1]),
    "single_prevalence": partial(single_fit, prevalence=True),
    "score_prevalence": partial(score_thresholds, prevalence=True),
    "bagging24": bagging_24,
    "defaults": defaults_and_majority,
    "literal": literal_paper,
    "bagging5": bagging_few,
    "baggingT": bagging_many,
}
CONSTANT, PLAIN_MEAN = "single class", "mean of blocks, no thresholds"
ROWS = (
    "single fit",
    CONSTANT,
    "bagging, 5",
    "bagging, 24",
    "bagging, T",
    "block majority",
    "majority, all partitions",
    "literal paper",
    "our defaults",
    PLAIN_MEAN,
    "score, rho 0.1",
    "score, rho 0.2",
    f"single fit{AT_PREVALENCE}",
    f"score, rho 0.1{AT_PREVALENCE}",
)
