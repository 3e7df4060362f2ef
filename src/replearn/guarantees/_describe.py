"""A certificate in words: table, notebook, plain language."""

from typing import TYPE_CHECKING

from replearn.guarantees._design import Design
from replearn.guarantees.registry import theorem
from replearn.records.text import rounded_up, two_columns

if TYPE_CHECKING:
    from replearn.guarantees._certificate import Certificate


def rows(certificate: "Certificate") -> list[tuple[str, str]]:
    """Return the certificate as rows of a table."""
    claim = certificate.claim
    verdict = "certified" if certificate.certified else f"NOT certified: {certificate.reason}"
    table = [
        ("verdict", verdict),
        ("notion", claim.notion + ("" if claim.runs == 2 else f", {claim.runs} runs")),
        ("rho", _with_request(claim.rho, certificate.requested_rho)),
    ]
    if claim.gamma is not None:
        table.append(("gamma", _with_request(claim.gamma, certificate.requested_gamma)))
    table += design_rows(certificate.design)
    table += [
        (
            "classes",
            "-" if certificate.classes is None else ", ".join(map(str, certificate.classes)),
        ),
        ("learner", certificate.learner),
        ("key fingerprint", certificate.key_fingerprint),
        ("accuracy", certificate.accuracy),
        ("theorems", ", ".join(dict.fromkeys(step.theorem for step in certificate.steps))),
        ("assumptions", ", ".join(item.code for item in claim.assumptions)),
        ("replearn", certificate.library_version),
        ("digest", certificate.digest[:16]),
    ]
    return table


def design_rows(design: Design) -> list[tuple[str, str]]:
    """Return the items two labs share as rows of a table."""
    used = "" if design.n_used == design.n else f" ({design.n_used} used)"
    law = design.law
    width = "" if law is None or law.width is None else f", half-width {law.width:.4g}"
    return [
        ("n", f"{design.n} {design.unit}{used}"),
        ("blocks", f"{design.n_blocks} of {design.block_size} {design.unit}"),
        ("partitions", str(design.n_partitions)),
        ("law", "none" if law is None else f"{law.name}{width} [{law.digest[:16]}]"),
        ("vote", design.vote),
        *_heavy_rows(design),
        ("encoding", f"{design.encoding}, decimals {design.decimals}"),
    ]


def _heavy_rows(design: Design) -> list[tuple[str, str]]:
    stage = design.heavy
    if stage is None:
        return []
    law = f"threshold {stage.kind} on [{stage.low:.4g}, {stage.high:.4g}]"
    return [("heavy points", f"{law}, {stage.n_labels} labels each, band {stage.band:.4g}")]


def _with_request(value: float, requested: float | None) -> str:
    asked = "" if requested is None else f" (asked for {requested:g})"
    return f"{rounded_up(value)}{asked}"


def as_text(certificate: "Certificate") -> str:
    """Return the certificate as an aligned text table."""
    return "Certificate\n" + two_columns(rows(certificate))


def explain(certificate: "Certificate") -> str:
    """Return the certificate in plain words."""
    claim, design = certificate.claim, certificate.design
    parts = [claim.sentence()]
    if not certificate.certified:
        parts.append(f"This is not what was asked for: {certificate.reason}.")
    parts.append(_mechanism(design))
    parts.append(certificate.accuracy)
    parts.append("The promise holds if:")
    parts += [f"- {item.text}" for item in claim.assumptions]
    parts.append("The numbers and where they come from:")
    for step in certificate.steps:
        value = "none" if step.value is None else f"{step.value:.6g}"
        parts.append(f"- {step.name} = {value}: {theorem(step.theorem).statement}")
    parts.append(
        "This is a statement about the worst case. How often answers change on your own data is "
        "a measurement, and usually a smaller number."
    )
    return "\n".join(parts)


def _mechanism(design: Design) -> str:
    cut = (
        f"The sample is cut into {design.n_blocks} blocks of {design.block_size} {design.unit}"
        + (f", in {design.n_partitions} ways" if design.n_partitions > 1 else "")
        + "; one model is trained on each block, and the models vote."
    )
    if design.heavy is not None:
        cut += (
            " Points that occur often are answered from labels of their own: which points these "
            f"are is decided by a shared threshold on their frequency, and {design.heavy.n_labels} "
            "of their labels decide against another one."
        )
    if design.law is None:
        return f"{cut} The label is drawn from the vote shares with random numbers all runs share."
    return (
        f"{cut} Each point has a random threshold that all runs share through the key; the vote "
        "share is compared with it. Two runs differ only if the threshold happens to fall between "
        "their vote shares."
    )
