"""Whether two runs are comparable: whether a promise is about this pair of runs.

Part of it is whether they mean the same by a point: names of the columns, rounding, and coarse
sketches. A sketch of a column is a handful of quantiles and counts. Two sketches of one population
are called different with probability at most `FALSE_ALARM` for all columns of both runs together:
quantiles by the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (theorem:
dkw), counts by the hypergeometric law (theorem: equal-shares).
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from replearn.bounds import equal_share_tail
from replearn.guarantees.design import TARGETS
from replearn.guarantees.probe import Probe, compare_probes

if TYPE_CHECKING:
    from replearn.guarantees.certificate import Certificate, Identity


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
        Conditions that no two certificates can verify: the runs are comparable if they hold. A
        probe (``replearn probe``) verifies those about columns.

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
    points, unknowns, unverified = compare_points(mine.schema, yours.schema)
    if not points and mine.points_digest != yours.points_digest and not unknowns:
        points = ("points: synthetic rows are encoded differently here and there",)
    if probes is not None:
        # What both labs have encoded alike needs no sketch to be compared.
        probe_differences, unknowns = compare_probes(*probes)
        points = points + probe_differences
        unverified = ()
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
FALSE_ALARM = 1e-9
"""Probability that the sketches of two runs on one population are called different."""

MIN_ROWS = 200
"""Fewer rows are not sketched: quantiles would be the cells of persons, and prove nothing."""

RARE = 0.01
MAX_LEVELS = 15
"""Values that are rarer are not listed, nor are more than this many."""

ROUNDED_ROWS = 1024
"""Rows whose decimals are counted."""

SHORT = "numbers of 8 decimals"
DAYS = "whole days"

_STATEMENTS = 24  # per column at most: kinds, decimals, quantiles, levels; texts and labels
_MIN_CODES = 3
_RARE_BINS = 2
_LISTED = 0.95
_A_PROBE = "check with `replearn probe`"


class PointsCompared(NamedTuple):
    """What differs, what could not be compared, and what only a probe can tell, in words."""

    differences: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()


def compare_points(here: dict[str, Any] | None, there: dict[str, Any] | None) -> PointsCompared:
    """Say in words where two descriptions of points differ, and what could not be compared.

    >>> array = {"encoding": "1", "decimals": None, "columns": None, "n_columns": 2, "rows": 0}
    >>> frame = {**array, "columns": ["age", "sex"]}
    >>> compare_points(array, frame).differences
    ("columns: by position here, by name ('age', 'sex') there",)
    """
    if here is None and there is None:
        return PointsCompared()
    if here is None or there is None:
        return PointsCompared(unknowns=("the points are described on one certificate only",))
    differences = [
        f"{name} of the points: {here[name]} here, {there[name]} there"
        for name in ("encoding", "decimals", "n_columns")
        if here[name] != there[name]
    ]
    if here["columns"] != there["columns"]:
        differences.append(f"columns: {_order(here)} here, {_order(there)} there")
    if differences:
        return PointsCompared(tuple(differences))
    few = [side for side, schema in (("here", here), ("there", there)) if not schema["rows"]]
    if few:
        small = f"columns could not be compared: fewer than {MIN_ROWS} rows {' and '.join(few)}"
        return PointsCompared(unknowns=(f"{small}; {_A_PROBE}",))
    return _compare_sketches(here, there)


def has_unique_rows(schema: dict[str, Any] | None) -> bool:
    """Whether a sketch shows a column of unrounded numbers, in which hardly two cells are equal.

    >>> column = {"kinds": {"number": 500}, "steps": {"numbers of 8 decimals": 3}}
    >>> has_unique_rows({"rows": 500, "sketch": [column]}), has_unique_rows(None)
    (True, False)
    """
    if not schema:
        return False
    looked_at = min(schema["rows"], ROUNDED_ROWS)
    return any(
        2 * column["kinds"].get("number", 0) > schema["rows"]
        and 2 * column["steps"].get(SHORT, looked_at) < looked_at
        for column in schema["sketch"]
    )


def _compare_sketches(here: dict[str, Any], there: dict[str, Any]) -> PointsCompared:
    pairs = list(zip(here["sketch"], there["sketch"], strict=False))
    width = _Width(here, there)
    found = [text for one, two in pairs for text in _column(one, two, width)]
    labels = width.differ(here["second"], there["second"])
    if labels:
        found.append(f"labels: {labels} of the rows are of the second class")
    unknowns = [_without_zone(one, two, width) for one, two in pairs]
    if here["order"] != there["order"]:
        unknowns.append("columns: the frames have them in different orders here and there")
    full = [one["name"] for one, two in pairs if width.is_full(one, two) or _are_codes(one, two)]
    return PointsCompared(
        (*found, *_texts(here, there, width)), tuple(filter(None, unknowns)), _unverified(full)
    )


def _are_near(one: float, two: float, size: float) -> bool:
    """Whether shares differ by less than two standard deviations."""
    spread = max(one * (1 - one), two * (1 - two))
    return size * (one - two) ** 2 <= 4 * spread


def _unverified(full: list[Any]) -> tuple[str, ...]:
    if not full:
        return ()
    shown = ", ".join(repr(name) for name in full[:3]) + (", ..." if len(full) > 3 else "")
    noun = "column" if len(full) == 1 else "columns"
    return (
        f"both labs prepared {noun} {shown} in the same way, with nothing fitted on the sample "
        f"({_A_PROBE})",
    )


class _Width:
    """How far sketches of one population may be apart."""

    def __init__(self, here: dict[str, Any], there: dict[str, Any]) -> None:
        self._columns = here["n_columns"]
        self._rows = (here["rows"], there["rows"])
        self._second = (here["second"], there["second"])

    def sizes(self, group: str) -> tuple[int, int]:
        """Return the rows of both sketches: all, those of the second class, or the first ones."""
        if group == "first":
            return min(self._rows[0], ROUNDED_ROWS), min(self._rows[1], ROUNDED_ROWS)
        return self._second if group == "second" else self._rows

    def of_quantiles(self, group: str) -> float:
        """Return by how much empirical distribution functions may differ."""
        return slack(*self.sizes(group), self._columns)

    def differ(
        self, mine: int, yours: int, group: str = "all", *, listed: float | None = None
    ) -> str:
        """Return both shares in words if no population has them both, else an empty text."""
        n, m = self.sizes(group)
        if _are_near(mine / n, yours / m, n * m / (n + m)):
            return ""  # an alarm takes three times as much
        # theorem: equal-shares (a union over the columns, the statements, and the listed values)
        alarm = FALSE_ALARM / (_STATEMENTS * max(self._columns, 1))
        alarm /= 1.0 if listed is None else (n + m) / (listed * min(n, m))
        if equal_share_tail(mine, n, yours, m) >= alarm:
            return ""
        return f"{mine / n:.0%} here, {yours / m:.0%} there"

    def is_full(self, one: dict[str, Any], two: dict[str, Any]) -> bool:
        """Whether a column holds times, or numbers that no short text can print."""
        if DAYS in one["steps"]:
            return True
        shares = [
            col["steps"][SHORT] / n
            for col, n in zip((one, two), self.sizes("first"), strict=True)
            if SHORT in col["steps"]
        ]
        return bool(shares) and min(shares) < 0.5


def _are_codes(one: dict[str, Any], two: dict[str, Any]) -> bool:
    """Whether both columns hold the numbers 0, 1, 2, ... and no others: categories, or bins.

    Bins at the ends may be too rare to be listed.

    >>> bins = {"kinds": {"number": 900}, "steps": {"numbers of 0 decimals": 900}}
    >>> bins["all"] = {"quantiles": [0.0, 1.0, 2.0], "levels": {"a": 300, "b": 300, "c": 300}}
    >>> _are_codes(bins, bins), _are_codes(bins, {**bins, "kinds": {"number": 1000}})
    (True, False)
    """
    return all(map(_has_codes, (one, two)))


def _has_codes(column: dict[str, Any]) -> bool:
    levels = column["all"]["levels"]
    first, *_, last = column["all"]["quantiles"]
    n = column["kinds"].get("number", 0)
    listed = sum(levels.values())
    if len(levels) < _MIN_CODES or listed < _LISTED * n or last is None:
        return False
    n_beyond = len(levels) - (last - first + 1)  # levels that are rarer than quantiles show
    n_hidden = 0 if listed == n else _RARE_BINS
    return bool(n_beyond >= 0 and 0 <= first <= n_beyond + n_hidden)


def slack(n_here: int, n_there: int, n_columns: int) -> float:
    """Return by how much two empirical distribution functions of one population may differ.

    >>> round(slack(8000, 8000, 20), 3)
    0.084
    """
    # theorem: dkw (a union over the columns and statements of both runs)
    logs = math.log(2 * 2 * _STATEMENTS * max(n_columns, 1) / FALSE_ALARM)
    return math.sqrt(logs / (2 * n_here)) + math.sqrt(logs / (2 * n_there))


def _order(schema: dict[str, Any]) -> str:
    names = schema["columns"]
    if names is None:
        return "by position"
    shown = [*map(repr, names[:5]), *(["..."] if len(names) > 5 else [])]
    return f"by name ({', '.join(shown)})"


def _column(one: dict[str, Any], two: dict[str, Any], width: _Width) -> list[str]:
    """Name what differs between two sketches of one column; the first finding is enough."""
    column = f"column {one['name']!r}"
    for name in {**one["kinds"], **two["kinds"]}:
        shares = width.differ(one["kinds"].get(name, 0), two["kinds"].get(name, 0))
        if shares:
            return [f"{column}: {name} cells: {shares}"]
    for group, where in (("all", ""), ("second", " among rows of the second class")):
        if group not in one or group not in two:
            continue
        mine = one[group]["quantiles"]
        yours = two[group]["quantiles"]
        if quantiles_differ(mine, yours, width.of_quantiles(group)):
            medians = f"median {_middle(mine)} here, {_middle(yours)} there"
            return [f"{column}: other values{where} ({medians})"]
        shares = _levels_differ(one[group]["levels"], two[group]["levels"], width, group)
        if shares:
            return [f"{column}: other values{where}: one has {shares}"]
    for name in {**one["steps"], **two["steps"]}:
        shares = width.differ(one["steps"].get(name, 0), two["steps"].get(name, 0), "first")
        if shares:
            return [f"{column}: {name}: {shares}"]
    return []


def _levels_differ(here: dict[str, int], there: dict[str, int], width: _Width, group: str) -> str:
    """Return the shares of the first value that differs; a value that is not listed is rare."""
    n, m = width.sizes(group)
    for mine, yours, size, other, turned in ((here, there, n, m, False), (there, here, m, n, True)):
        most = max(int(RARE * other), min(yours.values()) if len(yours) >= MAX_LEVELS else 0)
        for name, count in mine.items():
            # theorem: equal-shares (the count of an unlisted value that speaks least against it)
            fitting = min(most, round(count * other / size))
            pair = (count, yours.get(name, fitting))
            shares = width.differ(*(pair[::-1] if turned else pair), group, listed=RARE)
            if shares:
                return shares
    return ""


def _without_zone(one: dict[str, Any], two: dict[str, Any], width: _Width) -> str:
    """Say that times of day without a zone may be another lab's by some hours."""
    days = [
        column["steps"][DAYS] < n
        for column, n in zip((one, two), width.sizes("first"), strict=True)
        if DAYS in column["steps"]
    ]
    if not any(days) or (one["zoned"] and two["zoned"]):
        return ""
    return f"column {one['name']!r}: times without a time zone; {_A_PROBE}"


def _texts(here: dict[str, Any], there: dict[str, Any], width: _Width) -> list[str]:
    """Name what texts look like in one run only: texts that differ in form are other points."""
    mine = here["texts"]
    yours = there["texts"]
    found = {
        name: width.differ(mine.get(name, 0), yours.get(name, 0), "first")
        for name in {**mine, **yours}
    }
    return [f"texts: rows with some {name}: {shares}" for name, shares in found.items() if shares]


def quantiles_differ(here: list[Any], there: list[Any], width: float) -> bool:
    """Whether no distribution is within ``width`` of both lists of quantiles.

    A quantile at level p lies below one at level q of the other list although p exceeds q by more
    than ``width``: impossible for two samples of one population. None counts as plus infinity.

    >>> quantiles_differ([1, 2, 3], [1, 2, 4], 0.3), quantiles_differ([1, 2, 3], [10, 20, 30], 0.3)
    (False, True)
    """
    mine, yours = ([math.inf if q is None else q for q in items] for items in (here, there))
    step = 1 / (len(mine) + 1)
    far = [
        (high, low)
        for high in range(len(mine))
        for low in range(min(high + 1, len(yours)))
        if (high - low) * step > width
    ]
    return any(mine[h] < yours[w] or yours[h] < mine[w] for h, w in far)


def _middle(quantiles: list[Any]) -> str:
    middle = quantiles[len(quantiles) // 2]
    return "none" if middle is None else f"{middle:g}"
