"""Ctrl-C at a known moment, and a real browser."""

import shutil

import pytest

from replearn.auditing import pairs

SWITCHES = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture
def interrupt_after(monkeypatch):
    """Return a function that lets Ctrl-C come after so many runs; it returns the list of runs."""
    real = pairs.run_pair

    def interrupt(calls):
        done = []

        def run_pair(job):
            if len(done) == calls:
                raise KeyboardInterrupt
            done.append(job)
            return real(job)

        monkeypatch.setattr(pairs, "run_pair", run_pair)
        return done

    return interrupt


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium; tests that need it are skipped where there is none."""
    where = shutil.which("chromium")
    if where is None:
        pytest.skip("no chromium on this machine: pages are not tested in a browser")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=where, args=SWITCHES)
        yield found
        found.close()
