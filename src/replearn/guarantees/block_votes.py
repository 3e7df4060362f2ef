"""Votes of single blocks on rows that two labs share: a test of everything else they share."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from replearn.bounds import sign_test
from replearn.exceptions import CertificateError
from replearn.randomness import SharedKey
from replearn.records import FlatJsonFile

DELTA = 0.01
"""Probability that runs whose conditions all hold are said to differ."""

_ROWS = SharedKey(0).child("rows of votes")
"""Names rows by a public hash: labs may have them in another order."""


@dataclass(frozen=True)
class BlockVotes(FlatJsonFile):
    """Votes of the blocks of the first partition of a run on rows that two labs share.

    Parameters
    ----------
    certificate : str
        Digest of the run's certificate.
    n_blocks : int
        Number of blocks.
    rows : tuple of str
        A hash of each row.
    votes : tuple of str
        For each row one digit per block: 1 if it votes for the second class.

    Examples
    --------
    >>> here = BlockVotes("a", 3, ("r",), ("101",))
    >>> BlockVotes.from_json(here.to_json()) == here
    True
    """

    KIND: ClassVar[str] = "votes"
    FORMAT: ClassVar[str] = "replearn-votes"
    VERSION: ClassVar[int] = 1

    certificate: str
    n_blocks: int
    rows: tuple[str, ...]
    votes: tuple[str, ...]

    @classmethod
    def of(cls, certificate: str, X: Any, votes: NDArray[np.integer]) -> "BlockVotes":
        """Make the record of votes, (rows, blocks), on the rows of a table."""
        names = tuple(f"{value:016x}" for value in _ROWS.hashes(X).tolist())
        digits = tuple("".join(map(str, row)) for row in votes.tolist())
        return cls(certificate, votes.shape[1], names, digits)

    def _check(self) -> None:
        is_binary = set("".join(self.votes)) <= {"0", "1"}
        is_complete = all(len(row) == self.n_blocks for row in self.votes)
        if len(self.rows) != len(self.votes) or not (is_binary and is_complete):
            raise CertificateError(
                f"votes: {self.n_blocks} digits 0 or 1 are expected for each of "
                f"{len(self.rows)} rows."
            )

    def matrix(self, rows: list[str]) -> NDArray[np.bool_]:
        """Return the votes on some rows, (rows, blocks)."""
        known = dict(zip(self.rows, self.votes, strict=True))
        return np.array([[digit == "1" for digit in known[row]] for row in rows])


def compare_votes(
    here: BlockVotes, there: BlockVotes, *, delta: float = DELTA
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return differences and remarks: whether votes on shared rows have the same probabilities.

    >>> one = BlockVotes("a", 20, ("r",), ("1" * 20,))
    >>> compare_votes(one, BlockVotes("b", 20, ("r",), ("0" * 20,)))[0]
    ('votes: on 1 of 1 rows blocks vote with other probabilities (p = 1.9e-06)',)
    """
    if here.n_blocks != there.n_blocks:
        return (f"votes: {here.n_blocks} blocks here, {there.n_blocks} there",), ()
    shared = sorted(set(here.rows) & set(there.rows))
    if len(shared) < len(set(here.rows) | set(there.rows)):
        n_others = len(set(here.rows) ^ set(there.rows))
        return (f"votes: {n_others} rows are voted on by one run only",), ()
    one = here.matrix(shared)
    two = there.matrix(shared)
    values = sign_test((one & ~two).sum(axis=1), (two & ~one).sum(axis=1))
    # theorem: same-votes (a union over the rows)
    found = values * len(shared) <= delta
    if found.any():
        return (
            f"votes: on {int(found.sum())} of {len(shared)} rows blocks vote with other "
            f"probabilities (p = {float(values.min() * len(shared)):.2g})",
        ), ()
    remark = f"votes on {len(shared)} rows show no difference at level {delta:g}"
    return (), (remark,)
