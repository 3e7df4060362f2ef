"""Processor seconds beside the plain loop: printed at the end, and a few times as many at most.

Both are measured in one process, so that a slow machine is slow for both.
"""

import time

import pytest

LINES = []
MAX_RATIO, GRANTED_SECONDS = 4.0, 2.0
"""Blocks that are logged, copied or sent one by one cost ten times as much as their fits."""


class Speed:
    """Processor seconds of a replicable fit beside those of as many plain fits."""

    def beside_plain_loop(self, name, learner, X, y):
        """Return seconds of the estimator, and what as many plain fits of as many rows allow."""
        from sklearn.base import clone

        from replearn.persistence._trust import why_not_packed

        fitted, ours = _timed(lambda: clone(learner).fit(X, y))
        design = fitted.certificate_.design
        fits, size = design.n_blocks * design.n_partitions, design.block_size

        def loop():
            for block in range(fits):
                rows = slice(block * size % (len(y) - size), None)
                clone(learner.estimator).fit(X[rows][:size], y[rows][:size])

        _, plain = _timed(loop)
        saved = why_not_packed(fitted.estimators_[0]) if hasattr(fitted, "estimators_") else ""
        LINES.append(
            f"{name}: {fits} fits of {size} rows: {ours:.2f} s, plain loop {plain:.2f} s, "
            f"ratio {ours / plain:.2f}{'; ' + saved if saved else ''}"
        )
        return ours, MAX_RATIO * plain + GRANTED_SECONDS


def _timed(call):
    begin = time.process_time()
    return call(), time.process_time() - begin


@pytest.fixture(scope="session")
def speed():
    return Speed()


def pytest_terminal_summary(terminalreporter):
    if LINES:
        terminalreporter.section("processor seconds beside the plain loop")
        for line in LINES:
            terminalreporter.line(line)
