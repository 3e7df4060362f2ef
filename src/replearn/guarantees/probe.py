"""Probes: the same raw rows, encoded by two labs, compared by digests."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np

from replearn.randomness.points import Points, as_points, id_texts
from replearn.records.json import FlatJsonFile


@dataclass(frozen=True)
class Probe(FlatJsonFile):
    """Digests of the shared probe rows, as the whole pipeline of a lab encodes them.

    Two labs whose pipelines encode the same raw rows as the same points have equal probes. The
    order of the rows does not matter.

    Parameters
    ----------
    rows : int
        Number of rows.
    decimals : int or None
        Rounding of the encoding.
    columns : tuple of str
        Names of the columns in canonical order, or their positions.
    cells : tuple of str
        A digest of the cells of each column.
    digest : str
        A digest of the rows.
    mark : str
        What the rows look like, if a transformer seems to have been fitted on the probe itself.
    ids : str
        A digest of the ids of the rows, if ids key the thresholds; empty if features do.

    Examples
    --------
    >>> import numpy as np
    >>> raw = np.array([[150.0, 1.0], [190.0, 0.0]])
    >>> Probe.of(raw) == Probe.of(raw[::-1]), Probe.of(raw) == Probe.of(raw / 100)
    (True, False)
    >>> compare_probes(Probe.of(raw), Probe.of(raw * [0.01, 1]))[0]
    ('probe: column 0 is encoded differently here and there',)
    """

    KIND: ClassVar[str] = "probe"
    FORMAT: ClassVar[str] = "replearn-probe"
    VERSION: ClassVar[int] = 2

    rows: int
    decimals: int | None
    columns: tuple[str, ...]
    cells: tuple[str, ...]
    digest: str
    mark: str = ""
    ids: str = ""

    @classmethod
    def of(cls, X: Any, *, decimals: int | None = None, mark: str = "", ids: Any = None) -> "Probe":
        """Make the probe of rows that a lab's pipeline has encoded.

        Parameters
        ----------
        X : array, frame, sparse matrix or list of text
            The probe rows, as they are passed to the estimator.
        decimals : int, optional
            Rounding of the encoding, as in the plan.
        mark : str
            What the rows look like; see `replearn.checks.points.encode_probe`.
        ids : array-like, optional
            The ids of the rows, if ids key the thresholds.
        """
        points = as_points(X, decimals=decimals)
        cells = _cells(points)
        return cls(
            rows=len(points),
            decimals=decimals,
            columns=tuple(str(name) for name in points.names),
            cells=tuple(_digest(cells[:, [index]]) for index in range(cells.shape[1])),
            digest=_digest(cells),
            mark=mark,
            ids="" if ids is None else _digest(_cells(as_points(id_texts(ids)))),
        )


def compare_probes(here: Probe, there: Probe) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say in words where two probes differ, and what could not be compared."""
    unknowns = tuple(
        f"probe {side}: {probe.mark}; encode it with what was fitted on the training rows"
        for side, probe in (("here", here), ("there", there))
        if probe.mark
    )
    for name in ("rows", "columns", "decimals"):
        mine = getattr(here, name)
        yours = getattr(there, name)
        if mine != yours:
            return (f"probe: {name} {_shown(mine)} here, {_shown(yours)} there",), unknowns
    if here.ids != there.ids:
        return (_ids_differ(here, there),), unknowns
    pairs = zip(here.columns, here.cells, there.cells, strict=True)
    found = [
        f"probe: column {name if name.isdecimal() else repr(name)} is encoded differently here "
        "and there"
        for name, mine, yours in pairs
        if mine != yours
    ]
    if not found and here.digest != there.digest:
        found = ["probe: the cells of each column are the same, but in other rows"]
    return tuple(found), unknowns


def _ids_differ(here: Probe, there: Probe) -> str:
    if here.ids and there.ids:
        return (
            "probe: the ids of the rows are of another kind, or written in another way, here and "
            "there ('7' and '007' are two ids)"
        )
    return f"probe: ids key the thresholds {'here' if here.ids else 'there'} only"


def _cells(points: Points) -> Any:
    """Return the encoded cells of points: word and kind of each."""
    words, kinds = points.encoded()
    return np.stack([words, kinds.astype(np.uint64)], axis=2).astype("<u8")


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _digest(cells: Any) -> str:
    """Return a digest of rows of cells, whatever their order."""
    rows = sorted(row.tobytes() for row in np.ascontiguousarray(cells))
    return sha256(b"".join(rows)).hexdigest()[:16]
