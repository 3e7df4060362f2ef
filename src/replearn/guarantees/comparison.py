"""Whether two runs are comparable: whether a promise is about this pair of runs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from replearn.guarantees.block_votes import BlockVotes, compare_votes
from replearn.guarantees.guarantee import Identity
from replearn.guarantees.points import compare_points, has_unique_rows
from replearn.guarantees.probe import Probe, compare_probes
from replearn.guarantees.tasks import guarantee

if TYPE_CHECKING:
    from replearn.guarantees.certificate import Certificate

# Targets of a vote's request: the promise is about what was reached.
_TARGETS = ("rho", "gamma", "alpha", "beta", "d", "realizable")


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
        Conditions that a probe can verify (``replearn probe``) and no two certificates can: the
        runs are comparable if they hold.

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
    votes: tuple[BlockVotes, BlockVotes] | None = None,
) -> Comparison:
    """List the items of two certificates that differ, and what could not be compared."""
    if here.task != there.task:
        return Comparison((f"task: {here.task} here, {there.task} there",))
    mine = here.identity
    yours = there.identity
    differences = differing(_promise_items(here), _promise_items(there))
    points, unknowns, unverified = compare_points(mine.schema, yours.schema)
    if not points and mine.points_digest != yours.points_digest and not unknowns:
        points = ("points: synthetic rows are encoded differently here and there",)
    if probes is not None:
        # What both labs have encoded alike needs no sketch to be compared.
        probe_differences, unknowns = compare_probes(*probes)
        points = points + probe_differences
        unverified = ()
    estimators, versions, remarks = _compare_estimators(mine, yours)
    if votes is not None:
        vote_differences, vote_unknowns, vote_remarks = _compare_votes(here, there, votes)
        estimators = estimators + vote_differences
        unknowns = unknowns + vote_unknowns
        remarks = remarks + vote_remarks
    for side, identity in (("here", mine), ("there", yours)):
        unknowns += tuple(f"not bound {side}: {text}" for text in identity.unbound)
        # Without a promise nothing is known about this pair, even if nothing differs.
        unknowns += tuple(f"not certified {side}: {text}" for text in identity.failed_conditions)
    return Comparison(
        differences + points + estimators,
        unknowns=versions + unknowns,
        remarks=remarks + differing(_side_items(here), _side_items(there)),
        unverified_conditions=unverified,
    )


Texts = tuple[str, ...]


def _compare_votes(
    here: "Certificate", there: "Certificate", votes: tuple[BlockVotes, BlockVotes]
) -> tuple[Texts, Texts, Texts]:
    """Test the votes of two runs, if they belong to these certificates.

    Returns differences, unknowns and remarks. Equal rows of two samples are cut by one hash, so
    that their blocks depend on each other: then the level of the test is not proved.
    """
    sides = zip(("here", "there"), (here, there), votes, strict=True)
    strange = [side for side, run, own in sides if own.certificate != run.digest]
    if strange:
        texts = tuple(f"votes: those {side} belong to another certificate" for side in strange)
        return texts, (), ()
    differences, remarks = compare_votes(*votes)
    # theorem: same-votes, section "Assumptions"
    if not differences or has_unique_rows(here.identity.schema):
        return differences, (), remarks
    reason = ", but rows may occur in both samples, and then the test proves nothing"
    return (), tuple(f"{text}{reason}" for text in differences), ()


def _compare_estimators(mine: Identity, yours: Identity) -> tuple[Texts, Texts, Texts]:
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
    if design is None:
        for name in guarantee(certificate.task).estimates:
            items.pop(name, None)
    else:
        request = items.pop("request")
        items |= {name: value for name, value in request.items() if name not in _TARGETS}
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


def _incumbent_items(identity: Identity) -> dict[str, Any]:
    """Return what is kept of an incumbent; without one its band and threshold say nothing."""
    incumbent = identity.incumbent or {"fingerprint": None}
    names = {"fingerprint": "incumbent"}
    return {names.get(k, f"{k} of the incumbent"): value for k, value in incumbent.items()}


def _side_items(certificate: "Certificate") -> dict[str, Any]:
    if certificate.design is None:
        estimated = guarantee(certificate.task).estimates
        return {name: certificate.inputs.get(name) for name in estimated}
    request = certificate.design.request
    return {f"requested {name}": getattr(request, name) for name in _TARGETS}
