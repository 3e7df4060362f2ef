"""Whether two runs belong to one promise."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from replearn.guarantees._certificate import Certificate


@dataclass(frozen=True)
class Comparison:
    """The result of comparing two certificates; true if they belong to one promise.

    Parameters
    ----------
    differences : tuple of str
        The items that differ, in words.
    remarks : tuple of str
        What differs without touching the promise.

    Examples
    --------
    >>> bool(Comparison(())), bool(Comparison(("n_blocks: 32 here, 64 there",)))
    (True, False)
    >>> print(Comparison(("n_blocks: 32 here, 64 there",)))
    not comparable: n_blocks: 32 here, 64 there
    """

    differences: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        verdict = (
            f"not comparable: {'; '.join(self.differences)}"
            if self.differences
            else ("comparable: both runs belong to one promise")
        )
        return verdict if not self.remarks else f"{verdict} (also: {'; '.join(self.remarks)})"


def compare(here: "Certificate", there: "Certificate") -> Comparison:
    """List the items of two certificates that differ."""
    mine, yours = _promise_items(here), _promise_items(there)
    remarks = _differences(_side_items(here), _side_items(there))
    return Comparison(_differences(mine, yours), remarks)


def _differences(mine: dict[str, Any], yours: dict[str, Any]) -> tuple[str, ...]:
    return tuple(
        f"{name}: {mine[name]} here, {yours[name]} there"
        for name in mine
        if mine[name] != yours[name]
    )


def _promise_items(certificate: "Certificate") -> dict[str, Any]:
    design = certificate.design
    law = "none" if design.law is None else f"{design.law.name} {design.law.digest[:16]}"
    return {
        "notion": design.request.notion,
        "runs": design.request.runs,
        "n": design.n,
        "n_blocks": design.n_blocks,
        "block_size": design.block_size,
        "unit": design.unit,
        "law": law,
        "vote": design.vote,
        "n_partitions": design.n_partitions,
        "n_classes": design.n_classes,
        "classes": certificate.classes,
        "heavy stage": design.heavy,
        "encoding": design.encoding,
        "decimals": design.decimals,
        "key fingerprint": certificate.key_fingerprint,
        "learner": certificate.learner,
        "learner digest": certificate.learner_digest,
    }


def _side_items(certificate: "Certificate") -> dict[str, Any]:
    return {
        "rho asked for": certificate.requested_rho,
        "gamma asked for": certificate.requested_gamma,
        "library version": certificate.library_version,
    }
