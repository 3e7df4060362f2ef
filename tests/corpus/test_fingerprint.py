"""A fingerprint notices what it should, and no more."""

import json

import numpy as np
import pytest

from .fingerprint import close, differences, fingerprint, within

NUMBERS = np.arange(1, 40) / 7


def _compared(old, new):
    """Compare as the corpus does: the old one went through JSON."""
    return differences(json.loads(json.dumps(fingerprint(old))), fingerprint(new))


def _moved(place, by):
    numbers = NUMBERS.copy()
    numbers[place] *= 1 + by
    return numbers


@pytest.mark.parametrize("place", [0, 20, 38])
def test_numbers_are_compared_exactly_or_closely(place):
    assert _compared(NUMBERS, _moved(place, 1e-10))
    assert not _compared(close(NUMBERS), close(_moved(place, 1e-12)))
    assert _compared(close(NUMBERS), close(_moved(place, 1e-6)))
    assert not _compared(close(NUMBERS[place]), close(_moved(place, 1e-10)[place]))
    assert _compared(close(NUMBERS[place]), close(_moved(place, 1e-8)[place]))


@pytest.mark.parametrize("index", [0, 20, 38])
def test_a_stated_tolerance_must_be_recorded(index):
    def solved(numbers):
        return within(1e-4, {"shares": close(numbers)})["shares"]

    moved = _moved(index, 1e-6)
    assert not _compared(solved(NUMBERS), solved(moved))
    assert _compared(solved(NUMBERS), solved(_moved(index, 0.1)))
    assert _compared(close(NUMBERS), solved(moved))
    assert _compared(solved(NUMBERS), close(moved))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (NUMBERS, NUMBERS[::-1]),
        (close(NUMBERS), close(NUMBERS[::-1])),
        (close(NUMBERS), close(NUMBERS[:-1])),
        (close(NUMBERS), close(np.append(NUMBERS[:-1], np.nan))),
        (close(NUMBERS), close(0.5)),
        (np.array(["a", "b"]), np.array(["a", "c"])),
        (np.array([1, 0]), np.array([True, False])),
        ([("step", 1.0)], [("step", 1.0), ("step", 2.0)]),
        ("yes", "no"),
        (None, 0.1),
    ],
)
def test_other_results_differ(old, new):
    assert not _compared(old, old)
    assert _compared(old, new)


def test_the_type_that_holds_a_value_does_not_matter():
    assert not _compared(np.array([1, 2], dtype=np.int32), [1, 2])
    assert not _compared(np.array(["no", "yes"]), np.array(["no", "yes"], dtype=object))
    assert not _compared(np.float64(0.1), 0.1)
    assert not _compared([0.0], [-0.0])
