"""Ctrl-C at a known moment."""

import pytest

from replearn.auditing import _runs


@pytest.fixture
def interrupt_after(monkeypatch):
    """Return a function that lets Ctrl-C come after so many runs; it returns the list of runs."""
    real = _runs.run_pair

    def interrupt(calls):
        done = []

        def run_pair(job):
            if len(done) == calls:
                raise KeyboardInterrupt
            done.append(job)
            return real(job)

        monkeypatch.setattr(_runs, "run_pair", run_pair)
        return done

    return interrupt
