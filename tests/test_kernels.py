"""Set-ups of other CPUs are checked before they are trusted, and skipped where they cannot run."""

import pytest

from tools.kernels import SET_UPS, SetUp, cpu_features, kernels_in_force, openblas, passes


def test_kernels_that_are_not_in_force_are_noticed():
    found = kernels_in_force()
    if not found:
        pytest.skip("numpy and scipy do not use OpenBLAS")
    SetUp("own", {}, kernels=frozenset(found)).check()
    with pytest.raises(SystemExit, match="not Cray"):
        openblas("Cray").check()


def test_features_that_are_not_disabled_are_noticed():
    enabled = [name for name, there in cpu_features().items() if there]
    with pytest.raises(SystemExit, match="numpy still dispatches"):
        SetUp("without", {}, disabled=(enabled[0],)).check()


def test_what_the_cpu_lacks_is_skipped_with_a_line(capsys):
    assert passes(SetUp("future", {}, requires=("AVX9",)), workers=1)
    assert "future: SKIPPED, this CPU lacks" in capsys.readouterr().out


def test_every_set_up_states_how_it_shows():
    assert all(set_up.kernels or set_up.disabled for set_up in SET_UPS.values())
