"""Checks of arguments: what is allowed passes, everything else is named in the message."""

import numpy as np
import pytest

from replearn.records.checks import (
    check_choice,
    check_count,
    check_fraction,
    check_number,
    check_positive,
    if_given,
)


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, np.inf])
def test_fractions_are_checked(value):
    with pytest.raises(ValueError, match="rho="):
        check_fraction("rho", value)


def test_ends_are_allowed_where_asked_for():
    assert check_fraction("rho", 0.0, zero=True) == 0.0
    assert check_fraction("rho", 1) == 1.0
    for value, options in ((0.0, {}), (1.0, {"one": False})):
        with pytest.raises(ValueError, match="rho="):
            check_fraction("rho", value, **options)
    assert check_positive("t", 0.0, zero=True) == 0.0
    for value in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="t="):
            check_positive("t", value)


@pytest.mark.parametrize("value", [True, "0.1", None, [0.1], 1j])
@pytest.mark.parametrize("check", [check_number, check_fraction, check_positive])
def test_what_is_no_number_is_refused(check, value):
    with pytest.raises(TypeError, match="rho must be a number, got "):
        check("rho", value)


def test_numbers_of_numpy_become_plain_ones():
    assert type(check_fraction("rho", np.float32(0.5))) is float
    assert type(check_count("n", np.int16(5))) is int


@pytest.mark.parametrize("value", [True, 2.0, "2", None])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(TypeError, match="n must be a whole number, got "):
        check_count("n", value)


def test_counts_have_ends():
    assert check_count("n", 1) == 1
    assert check_count("n", 0, least=0) == 0
    with pytest.raises(ValueError, match=r"n=0 must be at least 1$"):
        check_count("n", 0)
    with pytest.raises(ValueError, match="n=9 must be at least 2 and at most 8"):
        check_count("n", 9, least=2, most=8)


def test_choices_are_listed():
    assert check_choice("vote", "soft", ("hard", "soft")) == "soft"
    for value in ("Hard", None, 1):
        with pytest.raises(ValueError, match=r"vote=.* must be one of 'hard', 'soft'"):
            check_choice("vote", value, ("hard", "soft"))


def test_nothing_is_checked_only_where_something_is_given():
    assert if_given(check_fraction, "rho", None) is None
    assert if_given(check_fraction, "rho", 0, zero=True) == 0.0
    with pytest.raises(ValueError, match="rho=2"):
        if_given(check_fraction, "rho", 2)
