"""Figures of laws and promises: compute first, draw on request, give the numbers back.

matplotlib is imported when a figure is drawn, pandas when a table is asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.bounds import ThresholdLaw, flip_bound, flip_curve
from replearn.guarantees.plan import Plan
from replearn.guarantees.planner import plan

Floats = NDArray[np.float64]

CURVE_POINTS = 401


def axes_or_new(ax: Any) -> Any:
    """Return the given axes, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "plot() needs matplotlib: pip install 'replicable-learn[plot]'; "
            "frame() gives the numbers without it"
        ) from error
    return pyplot.subplots()[1]


def _table(columns: Mapping[str, Any]) -> Any:
    """Return columns as a pandas frame, or as a dict of arrays where pandas is missing."""
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    try:
        import pandas
    except ImportError:
        return arrays
    return pandas.DataFrame(arrays)


@dataclass
class FlipCurveDisplay:
    """The law of the threshold, and how often two runs differ at each vote chance q.

    Parameters
    ----------
    share, law_values : ndarray
        Vote shares k/T and the law's value there.
    q, flips : ndarray
        Chance of a vote for 1, and H(q).
    bound : float
        The certified worst case over all q.
    budget : float or None
        The rho that was asked for.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> display = FlipCurveDisplay.from_law(uniform_law(32), rho=0.1)
    >>> round(float(display.flips.max()), 4), round(display.bound, 4)
    (0.0993, 0.0993)
    """

    share: Floats
    law_values: Floats
    q: Floats
    flips: Floats
    bound: float
    budget: float | None = None

    @classmethod
    def from_law(cls, law: ThresholdLaw, *, rho: float | None = None) -> "FlipCurveDisplay":
        """Compute the curves of a law; ``rho`` draws the budget line.

        Examples
        --------
        >>> from replearn.bounds import arcsine_law
        >>> FlipCurveDisplay.from_law(arcsine_law(64, 0.66)).budget is None
        True
        """
        q = np.linspace(0.0, 1.0, CURVE_POINTS)
        return cls(
            share=np.arange(law.n_blocks + 1) / law.n_blocks,
            law_values=law.probabilities,
            q=q,
            flips=flip_curve(law, q),
            bound=flip_bound(law, vote="hard"),
            budget=rho,
        )

    @classmethod
    def from_plan(cls, made: Plan) -> "FlipCurveDisplay":
        """Compute the curves of a plan's law.

        Examples
        --------
        >>> FlipCurveDisplay.from_plan(plan(n=3200, rho=0.1)).budget
        0.1
        """
        if made.law is None:
            raise ValueError(f"a plan for {made.n_classes} classes has no threshold law to draw")
        return cls.from_law(made.law, rho=made.inputs["request"]["rho"])

    def frame(self) -> Any:
        """Return q and H(q) as a table.

        Examples
        --------
        >>> from replearn.bounds import uniform_law
        >>> len(FlipCurveDisplay.from_law(uniform_law(32)).frame()["q"])
        401
        """
        return _table({"q": self.q, "flip_probability": self.flips})

    def plot(self, ax: Any = None) -> "FlipCurveDisplay":
        """Draw the law and the flip curve; a second axis carries the law."""
        self.ax_ = axes_or_new(ax)
        self.ax_.plot(self.q, self.flips, label="H(q), two runs differ")
        self.ax_.axhline(self.bound, linestyle=":", color="C0", label="certified worst case")
        if self.budget is not None:
            self.ax_.axhline(self.budget, linestyle="--", color="C3", label="budget rho")
        self.ax_.set(xlabel="q: chance that a block votes 1", ylabel="flip probability")
        law_axis = self.ax_.twinx()
        law_axis.plot(self.share, self.law_values, color="C2", alpha=0.6, label="law G")
        law_axis.set_ylabel("law G(vote share)")
        self.ax_.legend(loc="lower center")
        return self


@dataclass
class BlocksDisplay:
    """The rho that a number of blocks can promise, for several laws.

    Parameters
    ----------
    n_blocks : ndarray
        Numbers of blocks.
    rho : dict of ndarray
        For each law the smallest rho.

    Examples
    --------
    >>> display = BlocksDisplay.from_blocks([16, 32], laws=("uniform",))
    >>> display.rho["uniform"].round(4).tolist()
    [0.1399, 0.0993]
    """

    n_blocks: NDArray[np.int64]
    rho: dict[str, Floats]

    @classmethod
    def from_blocks(
        cls, n_blocks: Sequence[int], *, laws: Sequence[str] = ("uniform", "arcsine")
    ) -> "BlocksDisplay":
        """Compute the smallest rho for each number of blocks and each law.

        Examples
        --------
        >>> BlocksDisplay.from_blocks([18], laws=("arcsine",)).rho["arcsine"].round(3).tolist()
        [0.099]
        """
        rho = {
            law: np.array(
                [plan(n=int(count), n_blocks=int(count), law=law).rho for count in n_blocks]
            )
            for law in laws
        }
        return cls(np.asarray(n_blocks, dtype=np.int64), rho)

    def frame(self) -> Any:
        """Return the numbers as a table, one column per law."""
        return _table({"n_blocks": self.n_blocks, **self.rho})

    def plot(self, ax: Any = None) -> "BlocksDisplay":
        """Draw rho against the number of blocks, both on logarithmic axes."""
        self.ax_ = axes_or_new(ax)
        for law, values in self.rho.items():
            self.ax_.plot(self.n_blocks, values, marker="o", label=law)
        self.ax_.set(xscale="log", yscale="log", xlabel="blocks T", ylabel="smallest rho")
        self.ax_.legend()
        return self


@dataclass
class PromiseDisplay:
    """What a sample of n rows can promise.

    Parameters
    ----------
    n : ndarray
        Sample sizes.
    rho : ndarray
        The smallest rho of each.
    min_block : int
        Rows per block that were kept at least.

    Examples
    --------
    >>> PromiseDisplay.from_sizes([450]).rho.round(3).tolist()
    [0.099]
    """

    n: NDArray[np.int64]
    rho: Floats
    min_block: int

    @classmethod
    def from_sizes(
        cls, n: Sequence[int], *, min_block: int = 25, law: str = "arcsine"
    ) -> "PromiseDisplay":
        """Compute the smallest rho for each sample size.

        Examples
        --------
        >>> PromiseDisplay.from_sizes([1000], min_block=100).rho.round(3).tolist()
        [0.138]
        """
        rho = [plan(n=int(size), law=law, min_block=min_block).rho for size in n]
        return cls(np.asarray(n, dtype=np.int64), np.array(rho), min_block)

    def frame(self) -> Any:
        """Return the numbers as a table."""
        return _table({"n": self.n, "rho": self.rho})

    def plot(self, ax: Any = None) -> "PromiseDisplay":
        """Draw the smallest rho against n, both on logarithmic axes."""
        self.ax_ = axes_or_new(ax)
        label = f"blocks of at least {self.min_block} rows"
        self.ax_.plot(self.n, self.rho, marker="o", label=label)
        self.ax_.set(xscale="log", yscale="log", xlabel="rows n", ylabel="smallest rho")
        self.ax_.legend()
        return self
