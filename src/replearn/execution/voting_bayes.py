"""Gaussian naive Bayes models vote together, feature by feature.

The log likelihoods of all models and classes are summed element by element in the order of the
features, so a row's votes depend on the row alone, and not on the machine's linear algebra. The
order of summation is not scikit-learn's: the votes agree with ``predict`` except where two
likelihoods are equal up to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.validation import validate_data

from replearn.execution.voters import Member, Tally, add_codes
from replearn.tables import n_rows, row_chunks

CELLS_PER_CHUNK = 2**14
"""Likelihoods summed at a time: they and their work space stay in the cache."""


class GaussianVoter:
    """Gaussian naive Bayes models that vote together.

    Parameters
    ----------
    members : list of Member
        Members that `recognises` accepts.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from replearn.execution.voters import Member
    >>> from replearn.execution.voting_bayes import GaussianVoter
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> voter = GaussianVoter([Member(GaussianNB().fit(X, y), 0, np.array([0, 1]))])
    >>> counts = np.zeros((4, 1, 2), dtype=np.int32)
    >>> voter.add_votes(voter.prepare(X), counts)
    >>> counts[:, 0, 1]
    array([0, 0, 1, 1], dtype=int32)
    """

    def __init__(self, members: list[Member]) -> None:
        # First classes of all binary models, then their second classes, then everybody else's.
        self.binary = [member for member in members if len(member.codes) == 2]
        self.wide = [member for member in members if len(member.codes) > 2]
        self._first = members[0].model
        columns = [(member.model, place) for place in (0, 1) for member in self.binary]
        columns += [(m.model, place) for m in self.wide for place in range(len(m.codes))]
        self._means = np.stack([model.theta_[place] for model, place in columns], axis=1)
        variances = np.stack([model.var_[place] for model, place in columns], axis=1)
        self._precisions = 1.0 / variances
        priors = np.array([model.class_prior_[place] for model, place in columns])
        with np.errstate(divide="ignore"):  # a prior of zero: never that class
            self._offsets = np.log(priors) - 0.5 * np.log(2.0 * np.pi * variances).sum(axis=0)

    @staticmethod
    def recognises(model: Any, soft: bool) -> bool:
        """Tell whether the model is a Gaussian naive Bayes that votes hard."""
        return type(model) is GaussianNB and not soft

    def prepare(self, X: Any) -> Any:
        """Validate the table once, as any of the models would."""
        return validate_data(self._first, X, reset=False, dtype=np.float64, order="C")

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows: the first of the most likely classes."""
        tally = Tally(self.binary, counts.shape[1:])
        n_binary = len(self.binary)
        size = max(1, CELLS_PER_CHUNK // len(self._offsets))
        for start, stop in row_chunks(n_rows(X), size):
            scores = self._log_likelihoods(X[start:stop])
            part = counts[start:stop]
            tally.add(scores[:, n_binary : 2 * n_binary] > scores[:, :n_binary], part)
            begin = 2 * n_binary
            for member in self.wide:
                end = begin + len(member.codes)
                add_codes(part, member, member.codes[scores[:, begin:end].argmax(axis=1)])
                begin = end

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Refuse: probabilities take the plain loop (`recognises` says so)."""
        raise NotImplementedError("soft votes of naive Bayes take the plain loop")

    def _log_likelihoods(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.zeros((len(rows), len(self._offsets)))
        term = np.empty_like(total)
        for values, mean, precision in zip(
            rows.T[:, :, np.newaxis], self._means, self._precisions, strict=True
        ):
            np.subtract(values, mean, out=term)
            np.square(term, out=term)
            term *= precision
            total += term
        total *= -0.5
        total += self._offsets
        return total
