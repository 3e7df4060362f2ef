"""Without pandas, whoever asks for a DataFrame is told what to install."""

import sys

import numpy as np
import pytest

from replearn.auditing.comparison import compare
from replearn.tables.rows import import_pandas


def test_the_extra_is_named(monkeypatch):
    labels = np.array([0, 1])
    changes = compare(labels, labels[::-1], np.zeros((2, 1)))
    assert changes.changed_frame()["row"].tolist() == [0, 1]
    monkeypatch.setitem(sys.modules, "pandas", None)
    for call in (import_pandas, changes.frame):
        with pytest.raises(ModuleNotFoundError, match=r"replicable-learn\[frames\]"):
            call()
