"""Thresholds on the line, in one direction or in both."""

from dataclasses import dataclass, field

from replearn.hypotheses.stumps import Direction, Stumps


@dataclass(frozen=True, init=False)
class Thresholds(Stumps):
    """All rules "x > t" (and "x <= t"), the two constants included.

    Parameters
    ----------
    direction : {"both", ">", "<="}
        ">" is the class of thresholds of learning theory: VC dimension 1, n + 1 dichotomies of n
        points. "both" has VC dimension 2 and 2n dichotomies.

    Examples
    --------
    >>> Thresholds(">").vc_dimension, Thresholds().vc_dimension
    (1, 2)
    >>> print(Thresholds(">").erm([20, 35, 48, 60], [0, 0, 1, 1]).rule(["age"]))
    age > 42
    """

    n_features: int = field(default=1, init=False)
    direction: Direction = "both"

    def __init__(self, direction: Direction = "both") -> None:
        object.__setattr__(self, "n_features", 1)
        object.__setattr__(self, "direction", direction)
        self.__post_init__()
