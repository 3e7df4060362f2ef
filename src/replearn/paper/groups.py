"""Rows of one group (one patient, one household) are not independent: one of them is used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.learners.inputs import check_groups
from replearn.primitives.candidates import sample_order
from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points


def one_of_each_group(key: SharedKey, X: Any, y: ArrayLike, groups: ArrayLike) -> NDArray[np.intp]:
    """Return one row of each group, at random and in an order that depends on the sample.

    Every row of a group is as likely as any other, and two samples choose independently, so that
    the rows are independent draws where groups are.

    Examples
    --------
    >>> visits, answers = np.array([1.0, 2.0, 3.0]), np.array([0, 1, 1])
    >>> rows = one_of_each_group(SharedKey(0), visits, answers, ["ann", "ann", "bob"])
    >>> sorted(np.array(["ann", "ann", "bob"])[rows].tolist())
    ['ann', 'bob']
    """
    labels = np.asarray(y)
    names = check_groups(groups, len(labels))
    assert names is not None
    beside = as_points(X).beside(as_points(names))
    order = sample_order(key.child("one row of each group"), beside, labels)
    _, first = np.unique(names[order], return_index=True)
    return np.asarray(order[np.sort(first)], dtype=np.intp)
