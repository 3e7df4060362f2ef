"""Intervals on the line."""

from dataclasses import dataclass, field

from replearn.hypotheses._tight import Side
from replearn.hypotheses.boxes import BoxFamily


@dataclass(frozen=True)
class Intervals(BoxFamily):
    """All rules "a < x <= b", the two constants and the two rays included.

    VC dimension 2; n(n + 1)/2 + 1 dichotomies of n points, as many as Sauer allows; `erm` is one
    sort and one pass.

    Examples
    --------
    >>> print(Intervals().erm([1, 2, 3, 4, 5], [0, 1, 1, 0, 0]))
    1.5 < x0 <= 3.5
    """

    n_features: int = field(default=1, init=False)

    @property
    def _sides(self) -> tuple[Side, ...]:
        return ("both",)
