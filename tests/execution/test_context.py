"""What surrounds a run: two things at the same time, and progress lines."""

import contextlib
import io
import sys
import threading
import types

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from replearn.execution.context import Progress, side_by_side
from replearn.execution.fitting import fit_blocks, make_blocks
from replearn.randomness.key import SharedKey


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


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(stream, seconds_per_step, steps, verbose=0):
    now = [0.0]
    progress = Progress(steps, verbose=verbose, stream=stream, clock=lambda: now[0])
    for _ in range(steps):
        now[0] += seconds_per_step
        progress.advance()
    progress.close()
    return stream.getvalue()


def test_short_work_is_silent_unless_asked():
    assert run(Terminal(), 0.01, 100) == ""
    assert run(io.StringIO(), 0.01, 100) == ""
    assert run(io.StringIO(), 0.01, 100, verbose=1).count("\n") == 1


def test_long_work_on_a_terminal_rewrites_one_line_about_once_a_second():
    text = run(Terminal(), 0.1, 200)
    assert 10 <= text.count("\r") <= 20
    assert text.count("\n") == 1
    assert "about 10 s left" in text
    assert "200 of 200 blocks fitted, 20 s elapsed" in text


def test_long_work_in_a_log_file_writes_plain_rare_lines():
    text = run(io.StringIO(), 1.0, 100)
    assert "\r" not in text
    assert 5 <= text.count("\n") <= 9


def test_negative_verbosity_is_silent():
    assert run(Terminal(), 10.0, 10, verbose=-1) == ""


def test_blocks_are_not_logged_one_by_one(monkeypatch):
    logging, seen = [True], []

    @contextlib.contextmanager
    def disable_autologging():
        logging[0] = False
        yield
        logging[0] = True

    class Logged(GaussianNB):
        def fit(self, X, y):
            seen.append(logging[0])
            return super().fit(X, y)

    fake = types.ModuleType("mlflow.utils.autologging_utils")
    fake.disable_autologging = disable_autologging
    monkeypatch.setitem(sys.modules, fake.__name__, fake)
    X, y, key = np.arange(24.0).reshape(12, 2), np.arange(12) % 2, SharedKey(0)
    fit_blocks(Logged(), X, y, make_blocks(key, X, y, 2, 6), [key.child(t) for t in range(2)])
    assert seen == [False, False]
    assert logging == [True]
