"""Whole models: the mass of points on which two of them differ, by the better of two routes."""

from typing import Any

from replearn.bounds import (
    class_disagreement_bound,
    class_disagreement_tail,
    class_mean_and_spread,
    disagreement_bound,
    disagreement_tail,
    heavy_disagreement_bound,
    heavy_disagreement_tail,
    jensen_bound,
    jensen_tail,
    markov_gamma,
    markov_rho,
    vote_mean_and_spread,
)
from replearn.exceptions import CertificateError
from replearn.guarantees.design import Design
from replearn.guarantees.guarantee import Ledger


def approximate_promise(ledger: Ledger, design: Design, flip: float) -> tuple[float, float]:
    """Return (rho, gamma): the best of the direct bounds and the Markov route.

    Of rho and gamma the one that was not requested is solved.
    """
    request = design.request
    if request.rho is not None:
        rho = request.rho
        mass = ledger.add(markov_gamma, pointwise=flip, rho=rho)
        return rho, min(1.0, mass, *_direct(ledger, design, rho=rho))
    gamma = request.gamma
    if gamma is None:
        raise CertificateError("request: the approximate notion needs rho or gamma")
    chance = ledger.add(markov_rho, pointwise=flip, gamma=gamma)
    return min(chance, *_direct(ledger, design, gamma=gamma)), gamma


def _direct(ledger: Ledger, design: Design, **target: float) -> list[float]:
    """Return the numbers of the direct route: for votes alone, or beside a heavy stage."""
    bounds: Any
    if design.law is None:
        sizes = {"n_blocks": design.n_blocks, "n_classes": design.n_classes}
        votes: dict[str, Any] = {**sizes, "sharpness": design.sharpness}
        bounds = class_mean_and_spread, class_disagreement_bound, class_disagreement_tail
    else:
        votes = {"law": design.law, "vote": design.vote}
        bounds = vote_mean_and_spread, disagreement_bound, disagreement_tail
    mean_and_spread, mass_bound, tail_bound = bounds
    stage = design.heavy
    solve_mass = "rho" in target
    if stage is None:
        bound = mass_bound if solve_mass else tail_bound
        known = {"max_point_mass": design.max_point_mass, **target, **votes}
        numbers = [float(ledger.add(bound, **known))]
        if design.law is not None:
            sharper = jensen_bound if solve_mass else jensen_tail
            numbers.append(float(ledger.add(sharper, **known)))
        return numbers
    label = "label_flip_bound" if design.n_classes == 2 else "class_label_flip"
    value = ledger.add(
        heavy_disagreement_bound if solve_mass else heavy_disagreement_tail,
        votes=ledger.add(mean_and_spread, **votes),
        n=design.n,
        law=stage.law,
        membership_flip=ledger.value("membership_flip_bound"),
        label_flip=ledger.value(label),
        **target,
    )
    return [min(1.0, value)]
