"""Trees behind encoders: what reaches them is computed for all blocks from one table of terms.

Codes, levels, filled-in and plain numbers are sums of terms without any rounding (one number, or
whole numbers): the features have the bits that the transformers of the pipeline give them. Asking
hundreds of transformers one by one takes ten milliseconds each, even for a single row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline

from replearn.execution.voters import Member, Voter
from replearn.fastpaths.basis import Basis, Of, Sum, Term
from replearn.fastpaths.folding import MOST_WEIGHTS, Features, encoded_features
from replearn.fastpaths.rowwise import ROWWISE_CLASSIFIERS
from replearn.fastpaths.voting_trees import TreeVoter
from replearn.tables import n_rows, row_chunks

ROWS_PER_CHUNK = 6144
"""Rows encoded at a time: the features of one block must fit into memory."""

CELLS_AT_ONCE = 2**18
"""Cells that one product computes: for few rows, the features of many blocks."""


class EncodedVoter:
    """Pipelines of exact encoders and trees that share one table of terms.

    Parameters
    ----------
    members : list of Member
        Pipelines that `encode_members` chose.
    features : list of Features
        What reaches their last steps.
    last_voter : callable
        Makes the voter of a pipeline's last step.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from replearn.execution.voters import Member
    >>> from replearn.fastpaths.voting_encoded import encode_members
    >>> from replearn.fastpaths.voting_trees import TreeVoter
    >>> X, y = np.array([[0.0], [np.nan], [2.0], [3.0]]), np.array([0, 1, 1, 1])
    >>> model = make_pipeline(SimpleImputer(), DecisionTreeClassifier()).fit(X, y)
    >>> member, counts = Member(model, 0, np.array([0, 1])), np.zeros((4, 1, 2), dtype=np.int32)
    >>> voter, _ = encode_members([member], False, lambda last: TreeVoter([last]))
    >>> voter.add_votes(voter.prepare(X), counts)
    >>> counts[:, 0, 1]
    array([0, 1, 1, 1], dtype=int32)
    """

    def __init__(
        self,
        members: list[Member],
        features: list[Features],
        last_voter: Callable[[Member], Voter],
    ) -> None:
        self._first = members[0].model
        self._basis = Basis(_terms(features), features[0].names)
        self._voters = [last_voter(_last_step(member)) for member in members]
        self._ends = np.cumsum([0, *(len(found.sums) for found in features)])
        sums = [one for found in features for one in found.sums]
        self._weights = self._stacked(sums)
        self._constants = np.array([[one.constant] for one in sums])
        opens = dict.fromkeys(one.open for one in sums if one.open is not None)
        self._opens = [self._basis.places[Term(channel, Of.MISSING)] for channel in opens]
        row_of = {channel: row for row, channel in enumerate([None, *opens])}
        self._gaps = np.array([row_of[one.open] for one in sums])

    def _stacked(self, sums: list[Sum]) -> Any:
        """Put the weights of all features of all pipelines below one another."""
        places = [self._basis.places[term] for one in sums for term in one.terms]
        values = np.array([weight for one in sums for weight in one.terms.values()], dtype=float)
        ends = np.cumsum([0, *(len(one.terms) for one in sums)])
        return sparse.csr_array((values, places, ends), shape=(len(sums), len(self._basis.places)))

    def prepare(self, X: Any) -> Any:
        """Turn the table into terms; what does not fit, a pipeline refuses in its own words."""
        return self._basis.matrix_or_refusal(X, self._first)

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows."""
        for rows, voter, table in self._tables(X):
            voter.add_votes(table, counts[rows])

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the class probabilities of some rows, model by model in a fixed order."""
        for rows, voter, table in self._tables(X):
            voter.add_probabilities(table, totals[rows])

    def _tables(self, X: Any) -> Iterator[tuple[slice, Voter, Any]]:
        """Yield what reaches the last step of each pipeline, some rows at a time."""
        for start, stop in row_chunks(n_rows(X), ROWS_PER_CHUNK):
            features = self._features(sparse.csr_array(X[start:stop]))
            for voter, table in zip(self._voters, features, strict=True):
                yield slice(start, stop), voter, voter.prepare(table)

    def _features(self, terms: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the features of each pipeline."""
        length, widest = n_rows(terms), int(np.diff(self._ends).max())
        gaps = np.zeros((1 + len(self._opens), length))  # the first: nothing is missing
        gaps[1:][terms[:, self._opens].toarray().T == 1.0] = np.nan
        terms = terms.T.tocsr()
        for first, last in row_chunks(len(self._voters), 1 + CELLS_AT_ONCE // (length * widest)):
            part = slice(self._ends[first], self._ends[last])
            found = (self._weights[part] @ terms).toarray() + self._constants[part]
            found += gaps[self._gaps[part]]
            for table in np.split(found, self._ends[first + 1 : last] - self._ends[first]):
                yield table.T


def encode_members(
    members: list[Member], soft: bool, last_voter: Callable[[Member], Voter]
) -> tuple[EncodedVoter | None, list[Member]]:
    """Let those members vote together that are trees behind exact encoders.

    Parameters
    ----------
    members : list of Member
        Models of any kind.
    soft : bool
        Whether probabilities will be asked for.
    last_voter : callable
        Makes the voter of a pipeline's last step.

    Returns
    -------
    EncodedVoter or None
        None if there is no such member, or if there would be too many weights.
    list of Member
        The others.

    Examples
    --------
    >>> from replearn.fastpaths.voting_encoded import encode_members
    >>> encode_members([], False, lambda last: None)
    (None, [])
    """
    features = [_exact_features(member.model, soft) for member in members]
    found = [(one, its) for one, its in zip(members, features, strict=True) if its is not None]
    if not found or len(_terms([its for _, its in found])) * len(found) > MOST_WEIGHTS:
        return None, members
    voter = EncodedVoter([one for one, _ in found], [its for _, its in found], last_voter)
    return voter, [one for one, its in zip(members, features, strict=True) if its is None]


def _last_step(member: Member) -> Member:
    return Member(member.model.steps[-1][1], member.partition, member.codes)


def _exact_features(model: Any, soft: bool) -> Features | None:
    """Return what reaches the trees of a pipeline, unless it might be rounded on the way."""
    if type(model) is not Pipeline:
        return None
    last = model.steps[-1][1]
    is_tree = TreeVoter.recognises(last, soft) or type(last) in ROWWISE_CLASSIFIERS
    if not is_tree or hasattr(last, "feature_names_in_"):  # fitted on a frame, and wants one
        return None
    found = encoded_features(model)
    if found is None or len(found.sums) != getattr(last, "n_features_in_", len(found.sums)):
        return None  # columns of one name are several features
    return found if all(map(_is_exact, found.sums)) else None


def _is_exact(feature: Sum) -> bool:
    """Whether no sum can be rounded: one plain number, or whole numbers."""
    numbers = [weight for term, weight in feature.terms.items() if term.what is Of.NUMBER]
    if numbers:
        return numbers == [1.0] and feature.constant == 0.0
    return all(float(part).is_integer() for part in (*feature.terms.values(), feature.constant))


def _terms(features: list[Features]) -> dict[Term, None]:
    """Return all terms once, in the order of their first use."""
    terms: dict[Term, None] = {}
    for found in features:
        for one in found.sums:
            terms.update(dict.fromkeys(one.terms))
            if one.open is not None:
                terms[Term(one.open, Of.MISSING)] = None
    return terms
