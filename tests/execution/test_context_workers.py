"""Worker processes end with their parent, and leave nothing in shared memory."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from replearn.execution import in_workers

SHARED_MEMORY = Path("/dev/shm")
PATIENCE = 120  # seconds on a machine that does many other things

# Each worker writes its number and sleeps for longer than the test takes.
PARENT = """
import os, time
from pathlib import Path
import numpy as np
from replearn.execution import in_workers

def work(folder, rows):
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(3600)

rows = np.zeros(1_000_000)  # large enough for shared memory
list(in_workers(work, [({folder!r}, rows)] * 2, n_jobs=2))
"""

needs_proc = pytest.mark.skipif(
    not Path("/proc/self").exists() or not SHARED_MEMORY.exists(), reason="looks into /proc"
)


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited for too long"
        time.sleep(0.1)


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def left_behind(parent):
    return [
        name
        for name in os.listdir(SHARED_MEMORY)
        if str(parent) in name.split("_") + name.split("-")
    ]


@needs_proc
@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_workers_end_with_a_parent_that_is_killed(number, tmp_path):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", PARENT.format(folder=str(tmp_path))]
    with subprocess.Popen(command, env=environment) as parent:
        wait_until(lambda: len(os.listdir(tmp_path)) == 2 or parent.poll() is not None)
        workers = os.listdir(tmp_path)
        assert len(workers) == 2
        assert all(map(is_running, workers))
        assert left_behind(parent.pid)
        parent.send_signal(number)
        parent.wait()
    wait_until(lambda: not any(map(is_running, workers)))
    wait_until(lambda: not left_behind(parent.pid))


def _powers(base):
    """Work in workers of a worker: joblib runs them in this process."""
    found = list(in_workers(pow, [(base, 2), (base, 3)], n_jobs=2))
    time.sleep(0.5)  # longer than it would take to end
    return found


def test_a_worker_that_has_workers_does_not_end():
    assert list(in_workers(_powers, [(2,), (3,)], n_jobs=2)) == [[4, 8], [9, 27]]
