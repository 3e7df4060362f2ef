"""A heavy stage beside the votes: what it adds to flips and to the error."""

import math

from replearn.bounds import (
    MembershipLaw,
    heavy_light_tail,
    label_flip_bound,
    membership_flip_bound,
    membership_spread,
    reuse_flip_bound,
    some_missed_point_bound,
    uniform_law,
)
from replearn.bounds.theorem import theorem
from replearn.guarantees.design import Design, HeavyStage
from replearn.guarantees.guarantee import Ledger, rounded_up
from replearn.guarantees.heavy import class_label_errors, class_label_flip, label_errors


# -- numbers that belong to the stage alone --------------------------------------------------------
@theorem("heavy-labels")
def labels_guaranteed(n: int, low: float) -> int:
    """Labels that every member of the heavy set has at least: its count is n low or more."""
    return math.ceil(n * low * (1.0 - 1e-12))


@theorem("training-rows")
def heavy_step(
    n: int, law: MembershipLaw, n_labels: int, band: float, n_classes: int, vote_step: float
) -> float:
    """Flip probability of an estimator with a heavy stage when one row changes."""
    # section "heavy stage"
    member = math.sqrt(membership_spread(n, law, 0.5) / n)
    if n_classes == 2:
        label = uniform_law(n_labels, band).largest_step
    else:
        label = math.tanh(0.5 / (band * n_labels))
    return min(1.0, (member + max(label, vote_step)) * (1.0 + 1e-12))


@theorem("sample-reuse")
def heavy_error(missed_points: float, label_errors: float, light_tail: float) -> float:
    """Probability that any of the three goes wrong."""
    return min(1.0, missed_points + label_errors + light_tail)


# -- what it adds ----------------------------------------------------------------------------------
def stage_flip(ledger: Ledger, design: Design, stage: HeavyStage, flip: float) -> float:
    """Add membership and labels of heavy points to the flip probability of the votes."""
    member = ledger.add(membership_flip_bound, n=design.n, law=stage.law)
    label = label_flip(ledger, stage, design.n_classes)
    return ledger.add(reuse_flip_bound, membership=member, labels=label, votes=flip)


def label_flip(ledger: Ledger, stage: HeavyStage, n_classes: int) -> float:
    """Flip probability of a heavy point's label."""
    if n_classes == 2:
        return ledger.add(label_flip_bound, k=stage.n_labels, a=stage.band)
    items = {"n_labels": stage.n_labels, "n_classes": n_classes, "band": stage.band}
    return ledger.add(class_label_flip, **items)


def stage_step(ledger: Ledger, design: Design, stage: HeavyStage, vote_step: float) -> float:
    """Flip probability when one row of one sample changes."""
    return ledger.add(
        heavy_step,
        n=design.n,
        law=stage.law,
        n_labels=stage.n_labels,
        band=stage.band,
        n_classes=design.n_classes,
        vote_step=vote_step,
    )


def too_few_labels(ledger: Ledger, design: Design) -> list[str]:
    """Say so when a heavy point may have fewer labels than are to be used."""
    stage = design.heavy
    assert stage is not None
    labels = ledger.add(labels_guaranteed, n=design.n, low=stage.low)
    if labels >= stage.n_labels:
        return []
    return [f"a heavy point may have only {labels} of the {stage.n_labels} labels it needs"]


def stage_accuracy(
    ledger: Ledger, design: Design, stage: HeavyStage, factor: float
) -> tuple[bool, str]:
    """Excess over the mean error of the blocks: heavy labels, missed points, light points."""
    assert stage.alpha is not None
    assert stage.beta is not None
    missed = ledger.add(some_missed_point_bound, n=design.n, law=stage.law, mass=stage.mass)
    wrong = wrong_labels(ledger, stage, design.n_classes)
    items = {"alpha": stage.alpha, "clear": stage.clear, "mass": stage.mass}
    light = ledger.add(heavy_light_tail, **items)
    total = ledger.add(heavy_error, missed_points=missed, label_errors=wrong, light_tail=light)
    times = "" if factor <= 1.0 else f"{rounded_up(factor)} times "
    case = " (realizable case)" if stage.clear == 1.0 else ""
    statement = (
        f"the error is at most {times}the mean {design.error_name} of the block models plus "
        f"{stage.alpha:g}{case}"
    )
    if total > stage.beta:
        return False, (
            f"requested beta={stage.beta:g} that {statement}; {design.n} rows give heavy points "
            f"too few labels and certify beta={rounded_up(total)}"
        )
    return True, f"Except with probability {rounded_up(total)} {statement}."


def wrong_labels(ledger: Ledger, stage: HeavyStage, n_classes: int) -> float:
    """Probability that the label of any heavy point costs more than the stage allows."""
    items = {
        "n_labels": stage.n_labels,
        "alpha": stage.clear,
        "band": stage.band,
        "n_points": int((1.0 + 1e-12) / stage.low),
    }
    if n_classes == 2:
        return ledger.add(label_errors, **items)
    return ledger.add(class_label_errors, n_classes=n_classes, **items)
