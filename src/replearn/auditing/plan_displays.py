"""Displays of threshold laws and plans: what n rows or a number of blocks can guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing.displays import Display
from replearn.bounds import ThresholdLaw, flip_bound, flip_curve
from replearn.guarantees import Design, Plan, plan

Floats = NDArray[np.float64]

CURVE_POINTS = 401


@dataclass(eq=False)
class FlipCurveDisplay(Display):
    """The threshold law, and the flip probability as a function of the vote probability q.

    Parameters
    ----------
    share, law_values : ndarray
        Vote shares k/T and the law's value there.
    q, flips : ndarray
        Probability that a block votes 1, and the flip probability H(q).
    bound : float
        The certified worst case over all q.
    budget : float or None
        The rho that was requested.

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
    legend_location: str = "lower center"

    @classmethod
    def from_law(cls, law: ThresholdLaw, *, rho: float | None = None) -> FlipCurveDisplay:
        """Compute the curves of a law; ``rho`` draws the budget line."""
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
    def from_plan(cls, planned: Plan) -> FlipCurveDisplay:
        """Compute the curves of a plan's law."""
        vote = planned.design
        if not isinstance(vote, Design):
            raise ValueError(f"a plan of the task {planned.task!r} has no blocks that vote")
        if vote.law is None:
            raise ValueError(f"a plan for {vote.n_classes} classes has no threshold law to draw")
        return cls.from_law(vote.law, rho=vote.request.rho)

    def _columns(self) -> dict[str, Any]:
        return {"q": self.q, "flip_probability": self.flips}

    def _draw(self, ax: Any) -> None:
        ax.plot(self.q, self.flips, label="H(q), two runs differ")
        ax.axhline(self.bound, linestyle=":", color="C0", label="certified worst case")
        if self.budget is not None:
            ax.axhline(self.budget, linestyle="--", color="C3", label="budget rho")
        ax.set(xlabel="q: probability that a block votes 1", ylabel="flip probability")
        law_axis = ax.twinx()
        law_axis.plot(self.share, self.law_values, color="C2", alpha=0.6, label="law G")
        law_axis.set_ylabel("law G(vote share)")


@dataclass(eq=False)
class PromiseDisplay(Display):
    """The smallest certified rho by sample size.

    Parameters
    ----------
    n : ndarray
        Sample sizes.
    rho : ndarray
        The smallest rho of each.
    min_block : int
        Smallest number of rows per block.

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
    ) -> PromiseDisplay:
        """Compute the smallest rho for each sample size."""
        rho = [plan(n=int(size), law=law, min_block=min_block).rho for size in n]
        return cls(np.asarray(n, dtype=np.int64), np.array(rho), min_block)

    def _columns(self) -> dict[str, Any]:
        return {"n": self.n, "rho": self.rho}

    def _draw(self, ax: Any) -> None:
        label = f"blocks of at least {self.min_block} rows"
        ax.plot(self.n, self.rho, marker="o", label=label)
        ax.set(xscale="log", yscale="log", xlabel="rows n", ylabel="smallest rho")
