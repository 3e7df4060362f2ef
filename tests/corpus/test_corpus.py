"""The library answers as it did when the corpus was recorded."""

import pytest

from .cases import CASES, run
from .fingerprint import differences
from .record import load, versions

RECORDED = load()


@pytest.mark.parametrize("name", CASES)
def test_same_fingerprints(name):
    recorded, found = RECORDED[name], run(name)
    told = [
        f"{item}: {line}"
        for item in dict.fromkeys([*recorded, *found])
        for line in _compared(item, recorded, found)
    ]
    assert not told, "\n".join([f"{name!r} has changed:", *told, _environment()])


def test_every_case_is_recorded():
    assert set(RECORDED) == {*CASES, "recorded with"}


def _compared(item, recorded, found):
    if item not in found:
        return ["is recorded, but did not come out"]
    if item not in recorded:
        return ["came out, but is not recorded"]
    return differences(recorded[item], found[item])


def _environment():
    then, now = RECORDED["recorded with"], versions()
    other = [f"{name} {then[name]} (now {now[name]})" for name in now if then[name] != now[name]]
    return f"recorded with {', '.join(other)}" if other else "recorded with the same packages"
