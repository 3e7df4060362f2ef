"""Blocks that vote: the flip probability of one point, and what it says about the error.

This file decides which theorem applies to a design. Plans and certificates are made by it and
checked by running it again.
"""

from functools import partial
from typing import Any

from replearn.bounds.accuracy import light_point_slack
from replearn.bounds.approximate import (
    disagreement_bound,
    disagreement_tail,
    markov_gamma,
    markov_rho,
)
from replearn.bounds.flips import (
    flip_supremum,
    repeated_row_bound,
    runs_bound,
    soft_flip_bound,
    training_row_bound,
)
from replearn.bounds.laws import error_factor
from replearn.bounds.multiclass import (
    class_disagreement_bound,
    class_disagreement_tail,
    class_error_factor,
    multiclass_flip_bound,
)
from replearn.bounds.theorem import theorem
from replearn.bounds.vc import mean_sample_size, realizable_sample_size
from replearn.bounds.whole_models import jensen_bound, jensen_tail
from replearn.exceptions import CertificateError
from replearn.guarantees.design import VoteDesign
from replearn.guarantees.promise import Ledger, Promise, Task, rounded_up


# -- numbers that belong to votes alone ------------------------------------------------------------
@theorem("content-keyed-partition")
def block_size(n: int, n_blocks: int) -> int:
    """Rows per block: equal blocks, the surplus is left out."""
    return n // n_blocks


@theorem("several-partitions")
def flip_bound_partitions(flip_bound: float, n_partitions: int) -> float:
    """Flip probability of the average over partitions: that of one partition."""
    if n_partitions < 1:
        raise ValueError(f"n_partitions must be at least 1, got {n_partitions}")
    return flip_bound


@theorem("many-runs")
def runs_bound_union(flip_bound: float, runs: int) -> float:
    """Probability that some run differs from the first: the union bound, for any rule."""
    return min(1.0, (runs - 1) * flip_bound)


@theorem("training-rows")
def class_step(n_blocks: int, sharpness: float) -> float:
    """Flip probability of class votes when one block changes its mind."""
    return min(1.0, sharpness / (2.0 * n_blocks) * (1.0 + 1e-15))


@theorem("training-rows")
def training_row_stage(flip_bound: float, step: float, runs: int) -> float:
    """Probability that runs differ at a row on which one of them was trained."""
    return min(1.0, (runs - 1) * (flip_bound + step))


@theorem("training-rows")
def repeated_row_stage(flip_bound: float, step: float, runs: int) -> float:
    """Return the same for data in which equal rows occur."""
    return min(1.0, (runs - 1) * (2.0 * flip_bound + step))


@theorem("light-point-deviation")
def error_slack(beta: float, max_point_mass: float) -> float:
    """How far the error may exceed its mean over the thresholds: half of beta pays for it."""
    return light_point_slack(beta / 2, max_point_mass)


@theorem("vc-sample-size")
def block_size_needed(
    d: int,
    alpha: float,
    beta: float,
    n_blocks: int,
    n_partitions: int,
    realizable: bool,
    slack: float,
) -> int | None:
    """Rows per block that make the mean of all blocks accurate; None if no number is enough.

    If points carry mass, half of beta and ``slack`` of alpha are spent on the thresholds. Without
    label noise all block models are accurate, and beta is divided among them.
    """
    rest = alpha - slack
    if rest <= 0:
        return None
    share = beta if slack == 0 else beta / 2
    if realizable:
        return realizable_sample_size(d, rest, share / (n_blocks * n_partitions))
    return mean_sample_size(d, rest, share, n_blocks)


# -- the promise -----------------------------------------------------------------------------------
def derive_votes(task: str, ledger: Ledger, **inputs: Any) -> Promise:
    """Derive what blocks that vote promise, from their design as JSON values.

    >>> from replearn.bounds.laws import uniform_law
    >>> design = VoteDesign.of(rho=0.1, n=3200, n_blocks=32, n_partitions=1, law=uniform_law(32))
    >>> promise = derive_votes("pointwise", Ledger(), **design.to_dict())
    >>> promise.certified, round(promise.rho, 4)
    (True, 0.0993)
    """
    design = VoteDesign.from_dict(inputs)
    size = ledger.add(block_size, n=design.n, n_blocks=design.n_blocks)
    rho, gamma = promised(task, ledger, design)
    enough, accuracy = _accuracy(ledger, design, size)
    reasons = _shortfalls(design, rho, gamma)
    reasons += [] if enough else [accuracy]
    kept = design.wants_accuracy and enough
    promise = sentence(task, rho, gamma, design.runs)
    return Promise(
        promises=(promise, accuracy) if enough else (promise,),
        rho=rho,
        gamma=gamma,
        alpha=design.alpha if kept else None,
        beta=design.beta if kept else None,
        reasons=tuple(reasons),
        assumptions=tuple(_assumptions(task, design)),
    )


def sentence(task: str, rho: float, gamma: float | None, runs: int) -> str:
    """Return the promise in one sentence.

    >>> sentence("pointwise", 0.1, None, 2).endswith("with probability at most 0.1.")
    True
    """
    if task == "approximate":
        return (
            f"Except with probability {rounded_up(rho)}, two models trained on fresh samples "
            f"disagree on at most a share of {rounded_up(gamma or 0.0)} of the population."
        )
    if runs == 2:
        return (
            "Two runs on fresh samples give one fixed point different predictions with "
            "probability at "
            f"most {rounded_up(rho)}."
        )
    return (
        f"{runs} runs on fresh samples do not all give one fixed point the same prediction with "
        f"probability at most {rounded_up(rho)}."
    )


def promised(task: str, ledger: Ledger, design: VoteDesign) -> tuple[float, float | None]:
    """Return only rho and gamma of what a design promises: the predicate of the planner."""
    flip = pair_flip(ledger, design)
    if task == "approximate":
        return _approximate(ledger, design, flip)
    if design.law is None:
        items = {"flip_bound": flip, "runs": design.runs}
        step = ledger.add(class_step, n_blocks=design.n_blocks, sharpness=design.sharpness)
        # the numbers for a row that was trained on are no claim, but they will be wanted
        ledger.add(training_row_stage, step=step, **items)
        ledger.add(repeated_row_stage, step=step, **items)
        return ledger.add(runs_bound_union, **items), None
    rows = {"law": design.law, "runs": design.runs, "vote": design.vote}
    ledger.add(training_row_bound, **rows)
    ledger.add(repeated_row_bound, **rows)
    return (flip if design.runs == 2 else ledger.add(runs_bound, **rows)), None


def pair_flip(ledger: Ledger, design: VoteDesign) -> float:
    """Flip probability of one fixed point between two runs."""
    if design.law is None:
        flip = ledger.add(
            multiclass_flip_bound,
            n_blocks=design.n_blocks,
            n_classes=design.n_classes,
            sharpness=design.sharpness,
        )
    else:
        bound = flip_supremum if design.vote == "hard" else soft_flip_bound
        flip = ledger.add(bound, law=design.law)
    return ledger.add(flip_bound_partitions, flip_bound=flip, n_partitions=design.n_partitions)


# -- whole models: the mass on which two of them differ, by the better of two routes ---------------
def _approximate(ledger: Ledger, design: VoteDesign, flip: float) -> tuple[float, float]:
    """Return (rho, gamma): the best of the direct bounds and the Markov route.

    Of rho and gamma the one that was not requested is solved.
    """
    if design.rho is not None:
        rho = design.rho
        mass = ledger.add(markov_gamma, pointwise=flip, rho=rho)
        return rho, min(1.0, mass, *_direct(ledger, design, rho=rho))
    gamma = design.gamma
    if gamma is None:
        raise CertificateError("design: task approximate needs rho or gamma")
    chance = ledger.add(markov_rho, pointwise=flip, gamma=gamma)
    return min(chance, *_direct(ledger, design, gamma=gamma)), gamma


def _direct(ledger: Ledger, design: VoteDesign, **target: float) -> list[float]:
    """Return the numbers of the direct route."""
    solve_mass = "rho" in target
    known: dict[str, Any] = {"max_point_mass": design.max_point_mass, **target}
    if design.law is None:
        bound = class_disagreement_bound if solve_mass else class_disagreement_tail
        sizes = {"n_blocks": design.n_blocks, "n_classes": design.n_classes}
        return [float(ledger.add(bound, **known, **sizes, sharpness=design.sharpness))]
    bounds = (disagreement_bound, jensen_bound) if solve_mass else (disagreement_tail, jensen_tail)
    votes = {"law": design.law, "vote": design.vote}
    return [float(ledger.add(bound, **known, **votes)) for bound in bounds]


def _shortfalls(design: VoteDesign, rho: float, gamma: float | None) -> list[str]:
    """Say which target is missed."""
    size = f"of {design.block_size} {design.unit}"
    certify = f"1 block {size} certifies"
    if design.n_blocks > 1:
        certify = f"{design.n_blocks} blocks {size} certify"
    masses = " if single points may have any mass" if design.max_point_mass == 1 else ""
    reasons = []
    if design.rho is not None and rho > design.rho:
        reasons.append(f"requested rho={design.rho:g}; {certify} rho={rounded_up(rho)}")
    if design.gamma is not None and gamma is not None and gamma > design.gamma:
        requested = f"requested gamma={design.gamma:g} at rho={rho:g}"
        reasons.append(f"{requested}; {certify} gamma={rounded_up(gamma)}{masses}")
    return reasons


# -- accuracy: which statement about the error holds; the certificate never says more --------------
def _accuracy(ledger: Ledger, design: VoteDesign, size: int) -> tuple[bool, str]:
    """Return whether the requested accuracy is reached, and the statement that holds."""
    factor = _error_factor(ledger, design)
    if not design.wants_accuracy:
        return True, _mean_error_statement(design, factor)
    slack = 0.0
    if design.max_point_mass > 0:
        slack = ledger.add(error_slack, beta=design.beta, max_point_mass=design.max_point_mass)
    needed = ledger.add(
        block_size_needed,
        d=design.d,
        alpha=design.alpha,
        beta=design.beta,
        n_blocks=design.n_blocks,
        n_partitions=design.n_partitions,
        realizable=not design.label_noise,
        slack=slack,
    )
    requested = f"alpha={design.alpha:g}, beta={design.beta:g}, d={design.d}"
    if needed is None:
        return False, f"no block size reaches {requested} when points carry this much mass"
    if needed > size:
        return False, f"{requested} needs {needed} {design.unit} per block, there are {size}"
    return True, _excess_statement(design, factor)


def _error_factor(ledger: Ledger, design: VoteDesign) -> float:
    """How many times the mean error of the block models the error can be, averaged over keys."""
    if design.law is not None:
        return ledger.add(error_factor, law=design.law)
    items = {"n_classes": design.n_classes, "sharpness": design.sharpness}
    return ledger.add(class_error_factor, **items)


def _mean_error_statement(design: VoteDesign, factor: float) -> str:
    error = "error" if design.vote == "hard" else "absolute error of the scores"
    noise = "random numbers" if design.law is None or factor <= 1.0 else "thresholds"
    if factor <= 1.0:
        return (
            f"Averaged over the shared {noise} the error is at most the mean error of the "
            "block models."
        )
    return (
        f"Averaged over the shared {noise} the error is at most {rounded_up(factor)} times the "
        f"mean {error} of the block models (worst case; usually it is smaller than "
        "their error)."
    )


def _excess_statement(design: VoteDesign, factor: float) -> str:
    sure = f"Except with probability {rounded_up(design.beta or 0.0)}"
    alpha = f"{design.alpha:g}"
    excess = rounded_up(factor - 1)
    if not design.label_noise:
        return f"{sure} the error is at most {rounded_up(factor)} x {alpha} (realizable case)."
    if factor <= 1.0:
        return f"{sure} the error is at most OPT + {alpha}."
    return (
        f"{sure} the error is at most OPT + {alpha} + {excess} (OPT + {alpha} - R*), "
        "R* the Bayes risk."
    )


def _assumptions(task: str, design: VoteDesign) -> list[str]:
    """List the conditions that apply to this design."""
    codes = ["equal-design", "learned-inside-blocks"]
    if design.classes is None:
        codes.append("classes-agree")
    codes += ["key-before-data", "point-not-in-sample", "same-point", "separate-keys"]
    codes.append("threshold-rule" if design.law is not None else "label-rule")
    codes += ["number-of-runs", "no-drift", "independent-samples", "independent-rows"]
    codes.append("random-function")
    if task == "pointwise" and design.runs == 2:
        codes.append("rolling-windows")  # theorem: content-keyed-partition (section "shared rows")
    if design.wants_accuracy:
        codes.append("base-learner")
    if (design.wants_accuracy or task == "approximate") and design.max_point_mass < 1:
        codes.append("point-masses")
    return codes


TASKS = (
    Task(
        "pointwise",
        partial(derive_votes, "pointwise"),
        learners=("PointwiseReplicableClassifier",),
        theorem="pointwise-threshold",
    ),
    Task(
        "approximate",
        partial(derive_votes, "approximate"),
        learners=("PointwiseReplicableClassifier",),
        theorem="approximate-direct",
    ),
)
