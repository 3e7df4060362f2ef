"""The one place of this room that looks into certificates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from replearn.auditing._design import AuditDesign
from replearn.bounds import halves_supremum
from replearn.guarantees import Certificate, plan


def certificate_of(model: Any) -> tuple[str | None, tuple[str, ...]]:
    """Return a fitted vote's certificate as JSON; of other tasks only the promises."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    certificate = getattr(last, "certificate_", None)
    if isinstance(certificate, Certificate) and certificate.design is not None:
        return certificate.to_json(), ()
    return None, tuple(map(str, getattr(certificate, "promises", ())))


def read_certificate(text: str) -> Certificate:
    """Read what `certificate_of` wrote."""
    return Certificate.from_json(text)


def differences(pairs: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return why the runs of some pair are not comparable, each reason once."""
    reasons: dict[str, None] = {}
    for one, two in pairs:
        if one != two:
            verdict = read_certificate(one).comparable(read_certificate(two))
            reasons.update(dict.fromkeys(verdict.differences))
    return tuple(reasons)


def comparability(model_a: Any, model_b: Any) -> tuple[str, bool]:
    """Tell, in words and as a truth value, whether two fitted models are comparable runs."""
    if not (hasattr(model_a, "certificate_") and hasattr(model_b, "certificate_")):
        return "unknown: not both models have a certificate", False
    verdict = model_a.certificate_.comparable(model_b.certificate_)
    return str(verdict), bool(verdict)


def row_limit(certificate: Certificate | None, design: AuditDesign) -> float | None:
    """Return the largest flip probability of a row that a certificate allows for such pairs.

    Two random halves of one file are not independent: their limit is a little larger than rho
    (theorem: halves-of-one-file).
    """
    if certificate is None or certificate.task != "pointwise":
        return None
    assert certificate.design is not None
    vote = certificate.design
    if vote.request.runs != 2:
        return None
    if design.sample == "bootstrap" or design.independent_pairs:
        return certificate.rho
    if vote.law is None or vote.heavy is not None:
        return None  # halves of one file: no limit is known
    return max(certificate.rho or 0.0, halves_supremum(vote.law, vote.vote))


def shortfall(certificate: Certificate) -> str:
    """Say why a request is not certified, and where possible which n would do."""
    vote = certificate.design
    if certificate.task != "pointwise" or vote is None:
        return certificate.reason
    planned = plan(
        n=vote.n, rho=vote.request.rho, n_classes=vote.n_classes, vote=vote.vote, unit=vote.unit
    )
    return planned.reason or f"{certificate.reason}; the planner's own choice of blocks would do"


def certificate_items(certificate: Certificate) -> dict[str, Any]:
    """Return what a report tells of a certificate, as JSON values."""
    vote = certificate.design
    assert vote is not None
    return {
        "certified": certificate.certified,
        "reason": certificate.reason,
        "promise": certificate.promises[0],
        "notion": certificate.task,
        "rho": certificate.rho,
        "gamma": certificate.gamma,
        "n": vote.n,
        "unit": vote.unit,
        "n_blocks": vote.n_blocks,
        "block_size": vote.block_size,
        "n_partitions": vote.n_partitions,
        "key_fingerprint": certificate.key_fingerprint,
        "digest": certificate.digest,
        "assumptions": [item.text for item in certificate.assumptions],
    }
