import pytest

QUIET = pytest.mark.filterwarnings("ignore::replearn.exceptions.UsefulnessWarning")


def pytest_collection_modifyitems(items):
    """Populations that are made to break a promise are hard to learn: nothing is said of that."""
    for item in items:
        if "statistical" in item.path.parts:
            item.add_marker(QUIET)
