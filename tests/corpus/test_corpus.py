"""The library answers as it did when the corpus was recorded."""

import pytest

from .cases import CASES, run
from .fingerprint import differences
from .record import load, versions

RECORDED = load()

OTHERWISE = {
    "bases: mixed columns with a tree": (
        "pandas",
        "a missing text is None before 3.0, and NaN since",
    ),
    "bases: mixed codes with trees": ("pandas", "a missing text is None before 3.0, and NaN since"),
    "bases: mixed codes linear": ("pandas", "a missing text is None before 3.0, and NaN since"),
    "audit: audit of one estimator": (
        "scipy",
        "limits differ by 1e-8: root finding of before 1.15",
    ),
    "audit: audit of several contenders": ("scipy", "as above"),
    "audit: audit of three classes": ("scipy", "as above"),
    "audit: audit of groups": ("scipy", "as above"),
}
"""What older packages answer otherwise, and why. The encoder sees None as a level of its own."""

SINCE = {"pandas": 3, "scipy": 1.15}


@pytest.mark.parametrize("name", CASES)
def test_same_fingerprints(name):
    package, why = OTHERWISE.get(name, (None, ""))
    if package is not None and _is_older(package):
        pytest.skip(f"{package} {versions()[package]}: {why}")
    recorded, found = RECORDED[name], run(name)
    told = [
        f"{item}: {line}"
        for item in dict.fromkeys([*recorded, *found])
        for line in _compared(item, recorded, found)
    ]
    assert not told, "\n".join([f"{name!r} has changed:", *told, _environment()])


def test_every_case_is_recorded():
    assert set(RECORDED) == {*CASES, "recorded with"}


def _is_older(package):
    major, minor = map(int, versions()[package].split(".")[:2])
    since = SINCE[package]
    return (major, minor) < (int(since), round(since % 1 * 100))


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
