"""Displays: the numbers are right, they can be drawn, and nothing is needed before."""

import sys

import numpy as np
import pytest

from replearn.auditing import FlipCurveDisplay, PromiseDisplay
from replearn.bounds import arcsine_law, uniform_law
from replearn.guarantees import plan


@pytest.fixture
def axes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots()
    yield ax
    pyplot.close(figure)


def test_flip_curve_stays_below_its_bound_and_budget(axes):
    display = FlipCurveDisplay.from_plan(plan(n=6400, rho=0.1))
    assert display.flips.max() <= display.bound <= display.budget == 0.1
    assert display.flips.max() >= 0.99 * display.bound
    assert display.plot(axes) is display
    assert display.ax_ is axes
    assert len(axes.lines) == 3


def test_flip_curve_of_a_law_has_no_budget(axes):
    FlipCurveDisplay.from_law(arcsine_law(20, 0.9)).plot(axes)
    assert len(axes.lines) == 2


def test_several_classes_have_no_curve():
    with pytest.raises(ValueError, match="3 classes"):
        FlipCurveDisplay.from_plan(plan(n=50_000, rho=0.2, n_classes=3))


def test_what_n_can_promise(axes):
    display = PromiseDisplay.from_sizes([100, 450, 1000])
    assert np.all(np.diff(display.rho) < 0)
    assert display.rho[0] > 0.1 >= display.rho[1]
    display.plot(axes)
    assert len(axes.lines) == 1


def test_frames_give_the_numbers_back():
    display = FlipCurveDisplay.from_law(uniform_law(8))
    assert np.array_equal(display.frame()["flip_probability"], display.flips)
    assert list(PromiseDisplay.from_sizes([100], law="uniform").frame()) == ["n", "rho"]


def test_without_pandas_a_frame_is_a_dict_of_arrays(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    frame = FlipCurveDisplay.from_law(uniform_law(8)).frame()
    assert isinstance(frame, dict)
    assert frame["q"].shape == (401,)


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"replicable-learn\[plot\]"):
        FlipCurveDisplay.from_law(uniform_law(8)).plot()


def test_a_new_figure_is_made_when_none_is_given(axes):
    from matplotlib import pyplot

    display = FlipCurveDisplay.from_law(uniform_law(8)).plot()
    assert display.ax_ is not axes
    pyplot.close(display.ax_.figure)
