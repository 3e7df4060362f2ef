"""The model of a block that has seen one class only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.tables.rows import n_rows


class ConstantVote:
    """Predict the one class of its block for every row.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.execution.constant import ConstantVote
    >>> ConstantVote(1).predict(np.zeros((2, 3)))
    array([1, 1])
    """

    def __init__(self, label: Any) -> None:
        self.classes_: NDArray[Any] = np.asarray([label])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class for each row of ``X``."""
        return np.repeat(self.classes_, n_rows(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probability one for each row of ``X``."""
        return np.ones((n_rows(X), 1))

    def __repr__(self) -> str:
        return f"ConstantVote({self.classes_[0]!r})"
