"""Numerical libraries must not wait for their threads on a busy machine."""

import pytest

from replearn.execution.voting import one_thread


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield
