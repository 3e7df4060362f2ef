"""The examples of the guide run and print what the page says."""

import doctest
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"


@pytest.mark.parametrize("page", ["plan.md", "certificates.md"])
def test_examples_of_the_guide(page):
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    result = doctest.testfile(str(GUIDE / page), module_relative=False, optionflags=flags)
    assert result.attempted > 3
    assert result.failed == 0
