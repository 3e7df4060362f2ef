"""Settings shared by all tests."""

import gc
import os

from hypothesis import settings

from tests.optional_packages import (  # noqa: F401
    ABSENT,
    pytest_make_collect_report,
    pytest_runtest_makereport,
)

# The same examples at every run, so that a red test is a change of ours; set
# HYPOTHESIS_PROFILE=explore to look for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_configure():
    gc.disable()  # collecting makes a few hundred thousand objects and no garbage


def pytest_collection_finish():
    # What is there now stays to the end: full collections need not walk through it again. Tests
    # make many small objects and few cycles.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()
