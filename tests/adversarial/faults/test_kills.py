"""SIGKILL at any moment: the old file or the new one, nothing lost, the same bits in the end."""

import json
import os
import subprocess
import sys

import pytest

from tests.adversarial.faults.victims import KINDS

LONG = {"fit": 60, "threads": 40, "search": 40, "audit": 60, "save": 60}


def killed(kind, kills, folder, seed=0):
    command = [
        sys.executable,
        "-m",
        "tests.adversarial.faults.victims",
        kind,
        str(kills),
        str(seed),
    ]
    done = subprocess.run(
        [*command, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="victims are forked")
def test_a_few_kills(tmp_path):
    assert killed("fit", 4, tmp_path)["kills"] >= 4


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_kills(kind, tmp_path, record_property):
    told = killed(kind, LONG[kind], tmp_path, seed=1)
    record_property("kills", told)
    assert told["kills"] >= LONG[kind]
    assert 0 < told["at a call"] < told["kills"]  # both ways to be killed
