"""Whole models: the mass of points on which two of them differ, by the better of two routes."""

from typing import Any

from replearn.bounds import (
    class_disagreement_bound,
    class_disagreement_tail,
    disagreement_bound,
    disagreement_tail,
    jensen_bound,
    jensen_tail,
    markov_gamma,
    markov_rho,
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
