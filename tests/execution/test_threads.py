"""Two things at the same time: results, order of errors."""

import threading

import pytest

from replearn.execution.threads import side_by_side


def fail(message):
    raise ValueError(message)


def test_both_run_at_the_same_time():
    meeting = threading.Barrier(2, timeout=10)  # breaks unless both are there
    places = side_by_side(meeting.wait, meeting.wait)
    assert set(places) == {0, 1}


def test_the_first_runs_in_the_calling_thread():
    first, second = side_by_side(threading.get_ident, threading.get_ident)
    assert first == threading.get_ident() != second


@pytest.mark.parametrize(
    ("work", "beside", "seen"),
    [
        (lambda: fail("work"), lambda: fail("beside"), "work"),
        (lambda: fail("work"), lambda: 2, "work"),
        (lambda: 1, lambda: fail("beside"), "beside"),
    ],
)
def test_no_error_is_lost(work, beside, seen):
    with pytest.raises(ValueError, match=seen):
        side_by_side(work, beside)
