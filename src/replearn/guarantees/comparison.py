"""Whether two runs are comparable: whether a promise is about this pair of runs.

What two certificates can tell is compared: tasks, inputs, keys, estimators, versions, columns. What
they cannot tell is listed as a condition. A probe tells whether both labs encode rows alike.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from replearn.guarantees.design import TARGETS
from replearn.guarantees.probe import Probe, compare_probes

if TYPE_CHECKING:
    from replearn.guarantees.certificate import Certificate, Identity

PREPARED = (
    "both labs prepared the columns in the same way, with nothing fitted on the sample (a probe "
    "tells)"
)
"""What only a probe can tell."""

DRAWN = (
    "labels mean the same in both samples, whose rows are independent draws from one population "
    "(several rows of one person are one group)"
)
"""What neither a certificate nor a probe can tell."""


@dataclass(frozen=True)
class Comparison:
    """Whether two runs are comparable; true in a condition only if they are.

    Parameters
    ----------
    differences : tuple of str
        Items that differ, in words: the runs are not comparable.
    unknowns : tuple of str
        What could not be compared, and what voids the promise of one run by itself, in words:
        without differences it is unknown whether the runs are comparable.
    remarks : tuple of str
        What differs without touching the promise.
    unverified_conditions : tuple of str
        Conditions that no two certificates can verify: the runs are comparable if they hold.

    Examples
    --------
    >>> Comparison().comparable, Comparison(("n_blocks: 32 here, 64 there",)).comparable
    ('yes', 'no')
    >>> print(Comparison(("n_blocks: 32 here, 64 there",)))
    not comparable: the runs differ in n_blocks: 32 here, 64 there
    """

    differences: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    unverified_conditions: tuple[str, ...] = ()

    @property
    def comparable(self) -> str:
        """Return "yes", "no" or "unknown"."""
        if self.differences:
            return "no"
        return "unknown" if self.unknowns else "yes"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the runs are not comparable, or why that is unknown."""
        return self.differences or self.unknowns

    def __bool__(self) -> bool:
        return self.comparable == "yes"

    def __str__(self) -> str:
        conditions = self.unverified_conditions
        condition = f", provided {'; '.join(conditions)}" if conditions else ""
        verdicts = {
            "yes": f"comparable{condition}: the promise is about this pair of runs",
            "no": f"not comparable: the runs differ in {'; '.join(self.differences)}",
            "unknown": f"unknown whether comparable: {'; '.join(self.unknowns)}",
        }
        verdict = verdicts[self.comparable]
        return verdict if not self.remarks else f"{verdict} (also: {'; '.join(self.remarks)})"


def compare(
    here: "Certificate",
    there: "Certificate",
    probes: tuple[Probe, Probe] | None = None,
) -> Comparison:
    """List the items of two certificates that differ, and what could not be compared."""
    if here.task != there.task:
        return Comparison((f"task: {here.task} here, {there.task} there",))
    mine = here.identity
    yours = there.identity
    differences = differing(_promise_items(here), _promise_items(there))
    points, unknowns = compare_points(mine.schema, yours.schema)
    unverified = (DRAWN,) if "independent-rows" in here.assumptions else ()
    if probes is not None:
        # what both labs have encoded says more than names and orders
        probe_differences, unknowns = compare_probes(*probes)
        points = points + probe_differences
    elif mine.schema is not None:
        unverified = (PREPARED, *unverified)
    estimators, versions, remarks = _compare_estimators(mine, yours)
    for side, identity in (("here", mine), ("there", yours)):
        unknowns += tuple(f"not bound {side}: {text}" for text in identity.unbound)
        # Without a promise nothing is known about this pair, even if nothing differs.
        unknowns += tuple(f"not certified {side}: {text}" for text in identity.failed_conditions)
    return Comparison(
        differences + points + estimators,
        unknowns=versions + unknowns,
        remarks=remarks + differing(_side_items(here), _side_items(there)),
        unverified_conditions=unverified + _conditions_of_candidates(here),
    )


CONDITIONS_OF_CANDIDATES = {
    "candidates-fixed": "no candidate was trained, tuned or picked on rows of either sample",
    "candidates-near": "errors of candidates of one name differ by at most tau",
}


def _conditions_of_candidates(certificate: "Certificate") -> tuple[str, ...]:
    """Return what must be true of the candidates of a choice, which no certificate shows."""
    return tuple(
        text for code, text in CONDITIONS_OF_CANDIDATES.items() if code in certificate.assumptions
    )


Texts = tuple[str, ...]


def _compare_estimators(mine: "Identity", yours: "Identity") -> tuple[Texts, Texts, Texts]:
    """Return differences, unknowns and remarks about estimators and versions."""
    digests = differing({"estimator": mine.learner}, {"estimator": yours.learner}) or differing(
        {"estimator digest": mine.learner_digest}, {"estimator digest": yours.learner_digest}
    )
    known = {name for name in mine.versions if name in yours.versions}
    versions = differing(
        {f"version of {name}": mine.versions[name] for name in sorted(known)},
        {f"version of {name}": yours.versions[name] for name in sorted(known)},
    )
    ours = mine.library_version
    theirs = yours.library_version
    library = differing({"version of replearn": ours}, {"version of replearn": theirs})
    if ours.split(".")[:2] != theirs.split(".")[:2]:  # releases of one series have the same bits
        versions = versions + library
        library = ()
    if versions and mine.learner == yours.learner:
        # Bytecode and fitted state may differ because the versions do.
        return (), versions + digests, library
    return digests, versions, library


def differing(mine: dict[str, Any], yours: dict[str, Any]) -> tuple[str, ...]:
    """Name the items that differ between two mappings.

    Examples
    --------
    >>> differing({"n": 1, "m": 2}, {"n": 3, "m": 2})
    ('n: 1 here, 3 there',)
    """
    return tuple(
        f"{name}: {mine.get(name)} here, {yours.get(name)} there"
        for name in {**mine, **yours}
        if mine.get(name) != yours.get(name)
    )


def _promise_items(certificate: "Certificate") -> dict[str, Any]:
    identity = certificate.identity
    design = certificate.design
    items = dict(certificate.inputs)
    for name in certificate.estimates if design is None else TARGETS:
        items.pop(name, None)
    if design is not None:
        law = design.law
        items["law"] = "none" if law is None else f"{law.name} {law.digest[:16]}"
    return {
        **items,
        "classes": identity.classes,
        "key fingerprint": identity.key_fingerprint,
        "digest of the candidates": identity.candidates,
        "digest of the shared pool": identity.pool,
        "digest of the hypothesis class": identity.hypotheses,
        **_incumbent_items(identity),
    }


def _incumbent_items(identity: "Identity") -> dict[str, Any]:
    """Return what is kept of an incumbent; without one its band and threshold say nothing."""
    incumbent = identity.incumbent or {"fingerprint": None}
    names = {"fingerprint": "incumbent"}
    return {names.get(k, f"{k} of the incumbent"): value for k, value in incumbent.items()}


def _side_items(certificate: "Certificate") -> dict[str, Any]:
    if certificate.design is None:
        return {name: certificate.inputs.get(name) for name in certificate.estimates}
    return {f"requested {name}": certificate.inputs[name] for name in TARGETS}


# -- whether two runs mean the same by a point -----------------------------------------------------
def compare_points(
    here: dict[str, Any] | None, there: dict[str, Any] | None
) -> tuple[Texts, Texts]:
    """Say in words where two descriptions of points differ, and what could not be compared.

    >>> array = {"encoding": "1", "decimals": None, "columns": None, "n_columns": 2, "order": ""}
    >>> compare_points(array, {**array, "columns": ["age", "sex"]})[0]
    ("columns: by position here, by name ('age', 'sex') there",)
    """
    if here is None and there is None:
        return (), ()
    if here is None or there is None:
        return (), ("the points are described on one certificate only",)
    differences = [
        f"{name} of the points: {here[name]} here, {there[name]} there"
        for name in ("encoding", "decimals", "n_columns")
        if here[name] != there[name]
    ]
    if here["columns"] != there["columns"]:
        differences.append(f"columns: {_order(here)} here, {_order(there)} there")
    elif here["order"] != there["order"]:
        return (), ("columns: the frames have them in different orders here and there",)
    return tuple(differences), ()


def _order(schema: dict[str, Any]) -> str:
    names = schema["columns"]
    if names is None:
        return "by position"
    shown = [*map(repr, names[:5]), *(["..."] if len(names) > 5 else [])]
    return f"by name ({', '.join(shown)})"
