"""Certificates and plans as tables, and in plain language."""

from typing import TYPE_CHECKING, Any

from replearn.guarantees.assumptions import ASSUMPTIONS
from replearn.guarantees.design import TARGETS, VoteDesign
from replearn.guarantees.promise import LETTERS, Promise, rounded_up
from replearn.guarantees.theorems import theorem
from replearn.randomness.key import SharedKey

if TYPE_CHECKING:
    from replearn.guarantees.certificate import Certificate
    from replearn.guarantees.plan import Plan


def certificate_rows(certificate: "Certificate") -> list[tuple[str, str]]:
    """Return a certificate as rows of a table."""
    identity = certificate.identity
    rows = [("verdict", _verdict(certificate)), ("task", certificate.task)]
    rows += [*number_rows(certificate), *input_rows(certificate)]
    if identity.classes is not None:
        rows.append(("classes", ", ".join(map(str, identity.classes))))
    if identity.learner:
        rows.append(("learner", identity.learner))
    if identity.schema is not None:
        rows.append(("points", _points(identity.schema)))
    if identity.incumbent is not None:
        kept = (f"{name} {value}" for name, value in identity.incumbent.items())
        rows.append(("incumbent", ", ".join(kept)))
    if identity.unbound:
        rows.append(("not bound", "; ".join(identity.unbound)))
    return [
        *rows,
        ("key fingerprint", identity.key_fingerprint + _about_key(identity.key_fingerprint)),
        ("promise", _without_promise(certificate) + " ".join(certificate.promises)),
        ("theorems", ", ".join(certificate.theorems)),
        ("assumptions", ", ".join(certificate.assumptions)),
        ("replearn", identity.library_version),
        ("versions", ", ".join(f"{k} {v}" for k, v in identity.versions.items()) or "none"),
        ("digest", certificate.digest[:16]),
    ]


def _verdict(promise: "Certificate | Plan") -> str:
    named = promise.verdict.replace("not", "NOT")
    return named if promise.certified else f"{named}: {promise.reason}"


def _without_promise(certificate: "Certificate") -> str:
    """Say that nothing is promised where the data refute a condition."""
    return _NO_PROMISE if certificate.failed_conditions else ""


_NO_PROMISE = "Nothing is promised, because a condition does not hold. If it did: "


def _about_key(fingerprint: str) -> str:
    """Say so where nobody chose a key."""
    if fingerprint != SharedKey(0).fingerprint:
        return ""
    return " (the default key 0, which everybody knows; agree on one: shared_key=...)"


def _points(schema: dict[str, Any]) -> str:
    order = "by position" if schema["columns"] is None else "by name"
    return f"{schema['n_columns']} columns {order}"


def plan_rows(plan: "Plan") -> list[tuple[str, str]]:
    """Return a plan as rows of a table."""
    design = plan.design
    rows = [
        ("verdict", _verdict(plan)),
        ("task", f"{plan.task} ({', '.join(plan.learners)})"),
        ("promise", " ".join(plan.promises)),
        *number_rows(plan),
        *input_rows(plan),
    ]
    if design is not None:
        classes = "not fixed" if design.classes is None else ", ".join(map(str, design.classes))
        rows.append(("classes", f"{design.n_classes} ({classes})"))
    rows.append(("solved", ", ".join(plan.solved) or "nothing"))
    return [*rows, ("digest", plan.digest[:16])]


def number_rows(promise: Promise) -> list[tuple[str, str]]:
    """Return the promised numbers beside what was requested."""
    rows = []
    for name in LETTERS:
        value = getattr(promise, name)
        target = promise.inputs.get(name)
        if value is not None:
            requested = "" if target is None else f" (requested {target:g})"
            rows.append((name, f"{rounded_up(value)}{requested}"))
    return rows


def input_rows(promise: Promise) -> list[tuple[str, str]]:
    """Return what all runs share as rows of a table."""
    if promise.design is not None:
        return design_rows(promise.design)
    return [
        (name, f"{value:.6g}" if isinstance(value, float) else str(value))
        for name, value in promise.inputs.items()
        if name not in TARGETS and value is not None
    ]


def design_rows(design: VoteDesign) -> list[tuple[str, str]]:
    """Return the items of a vote that two labs share as rows of a table."""
    used = "" if design.n_used == design.n else f" ({design.n_used} used)"
    law = design.law
    width = "" if law is None or law.width is None else f", half-width {law.width:.4g}"
    runs = [] if design.runs == 2 else [("runs", str(design.runs))]
    kept = design.small_blocks == "keep"
    small_blocks = [("small blocks", design.small_blocks)] if kept else []
    return [
        *runs,
        ("n", f"{design.n} {design.unit}{used}"),
        ("blocks", f"{design.n_blocks} of {design.block_size} {design.unit}"),
        ("partitions", str(design.n_partitions)),
        (
            ("sharpness", f"{design.sharpness:.4g}")
            if law is None
            else ("law", f"{law.name}{width} [{law.digest[:16]}]")
        ),
        ("vote", design.vote),
        *small_blocks,
        ("encoding", f"{design.encoding}, decimals {design.decimals}"),
    ]


def explain(certificate: "Certificate") -> str:
    """Return a certificate in plain words."""
    first, *others = certificate.promises
    parts = [_without_promise(certificate) + first]
    if certificate.verdict == "estimated":
        parts.append(f"This is an estimate, not a certificate: {certificate.reason}.")
    elif not certificate.certified:
        words = (
            "The condition" if certificate.failed_conditions else "This is not what was requested"
        )
        parts.append(f"{words}: {certificate.reason}.")
    if certificate.design is not None:
        parts.append(_mechanism(certificate.design))
    parts += others
    parts.append("The promise holds if:")
    parts += [f"- {ASSUMPTIONS[code]}" for code in certificate.assumptions]
    parts.append("The numbers and where they come from:")
    for step in certificate.steps:
        values = step.value if isinstance(step.value, tuple) else (step.value,)
        text = ", ".join("none" if value is None else f"{value:.6g}" for value in values)
        parts.append(f"- {step.name} = {text}: {theorem(step.theorem).statement}")
    if certificate.verdict != "estimated":
        parts.append(_WORST_CASE)
    return "\n".join(parts)


_WORST_CASE = (
    "This is a statement about the worst case. How often predictions change on your own data is "
    "a measurement, and usually a smaller number."
)


def _mechanism(design: VoteDesign) -> str:
    cut = (
        f"The sample is cut into {design.n_blocks} blocks of {design.block_size} {design.unit}"
        + (f", in {design.n_partitions} ways" if design.n_partitions > 1 else "")
        + "; one model is trained on each block, and the models vote."
    )
    if design.law is None:
        return (
            f"{cut} Each point has a random number for every label that all runs share through "
            "the key. They decide between the labels whose vote shares are close; a label that is "
            "far enough ahead is always the prediction."
        )
    return (
        f"{cut} Each point has a random threshold that all runs share through the key; the vote "
        "share is compared with it. Two runs differ only if the threshold happens to fall between "
        "their vote shares."
    )
